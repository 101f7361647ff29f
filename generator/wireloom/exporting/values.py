"""The columns of a record, in the terms that Avro and Protocol Buffers share: scalars, lists, maps and named records.

Records inside of columns have no names in a format, so each gets the name of its column; equal records share a name.
Columns are those of Arrow, with open values as JSON text, as `decode(..., open_values="json")` returns them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Union, assert_never

from wireloom.names import capitalised
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Encoded,
    Float,
    Integer,
    List,
    LogicalField,
    LogicalType,
    Map,
    Meant,
    Measured,
    Named,
    Open,
    Record,
    Said,
    Scaled,
    Text,
    Written,
    alternatives,
)
from wireloom.runtime.columns.rows import row_record

Kind = Literal["bool", "int", "float", "text", "bytes", "uuid", "decimal", "timestamp", "date", "duration"]

_COUNTED: Mapping[str, Kind] = {"timestamp": "timestamp", "date": "date", "duration": "duration"}


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. An integer has `bits`, a float too; a decimal has `precision` digits, `digits` after the point."""

    kind: Kind
    bits: int = 64
    signed: bool = True
    precision: int = 0
    digits: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A list: values of one type, in a column called `name`."""

    name: str
    element: "Slot"


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map: values by their keys, in a column called `name`."""

    name: str
    key: "Shape"
    value: "Slot"

    @property
    def entry(self) -> tuple["Member", "Member"]:
        """The members of an entry, for languages whose maps cannot have such keys or values."""
        return Member("key", Slot(self.key, nullable=False)), Member("value", self.value)


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a message by name."""

    name: str


Shape = Union[Scalar, Listed, Mapped, Reference]


@dataclass(frozen=True, slots=True)
class Slot:
    """A type that may also be null."""

    shape: Shape
    nullable: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a message."""

    name: str
    slot: Slot
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message: named members in order. `path` is the column where it first occurs."""

    name: str
    members: tuple[Member, ...]
    path: str = ""


def messages(record: Record, name: str, rows: Sequence[str] = ()) -> tuple[Message, ...]:
    """The message `name` for a record, or for its flattened rows, followed by its inner messages."""
    naming = _Naming()
    naming.message(row_record(record, rows), name, "")
    return tuple(naming.made.values())


class Names:
    """Names of messages in use. Case does not matter: some languages write a file for each message."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {each.lower() for each in taken}

    def free(self, name: str) -> str:
        """The name, with a number if it is in use; marks it as used."""
        found, number = name, 1
        while found.lower() in self.taken:
            number += 1
            found = f"{name}{number}"
        self.taken.add(found.lower())
        return found


class _Naming:
    def __init__(self) -> None:
        self.made: dict[str, Message] = {}
        self.names: dict[Record, str] = {}
        self.taken = Names()

    def message(self, record: Record, name: str, path: str) -> Reference:
        """The message for a record."""
        if record not in self.names:
            self.names[record] = name = self.taken.free(name)
            self.made[name] = Message(name, ())  # reserves its position
            members = (self._member(each, f"{path}.{each.name}" if path else each.name) for each in record.fields)
            self.made[name] = Message(name, tuple(members), path)
        return Reference(self.names[record])

    def _member(self, field: LogicalField, path: str) -> Member:
        doc = " ".join(field.doc.split())
        unit = f"unit: {field.unit}" if field.unit else ""
        words = f"one of: {', '.join(found)}" if (found := _words(field.type)) else ""
        said = "; ".join(filter(None, (doc, unit, words)))
        return Member(field.name, Slot(self.shape(field.type, field.name, path), field.nullable), said)

    def shape(self, type: LogicalType, name: str, path: str) -> Shape:
        """The type of a value in a column of that name."""
        match type:
            case Record():
                return self.message(type, capitalised(name), path)
            case Alternatives():
                fields = tuple(LogicalField(kind, option, nullable=True) for kind, option in alternatives(type))
                return self.message(Record(fields), capitalised(name), path)
            case List(element, nullable):
                return Listed(name, Slot(self.shape(element, name, f"{path}[]"), nullable))
            case Map(key, value, nullable):
                keys = self.shape(key, f"{name}_key", f"{path}{{}}")
                return Mapped(name, keys, Slot(self.shape(value, name, f"{path}[]"), nullable))
            case Boolean():
                return Scalar("bool")
            case Integer(bits, signed):
                # 65 bits are those that int64 or uint64 holds
                return Scalar("int", bits, signed) if bits <= 64 else Scalar("decimal", precision=20)
            case Float(bits):
                return Scalar("float", bits)
            case Text() | BigInteger() | Open():
                return Scalar("text")
            case Binary():
                return Scalar("bytes")
            case Meant():
                return self._meant(type, name, path)
            case _:
                assert_never(type)

    def _meant(self, type: Meant, name: str, path: str) -> Shape:
        match type.shown:
            case None:
                return self.shape(type.wire, name, path)
            case Said():
                return self.shape(type.shown.plain, name, path)
            case Scaled("integer"):
                return Scalar("int")
            case Scaled("decimal", precision=precision, digits=digits):
                return Scalar("decimal", precision=precision, digits=digits)
            case Scaled(kind):
                return Scalar(_COUNTED[kind])
            case Measured():
                return Scalar("float")
            case Written("uuid"):
                return Scalar("uuid")
            case Written() | Encoded() | Named():
                return Scalar("text")
            case _:
                assert_never(type.shown)


def _words(type: LogicalType) -> tuple[str, ...]:
    """The possible values of a text column, if they are few and known."""
    match type:
        case Text(symbols):
            return symbols
        case Meant(shown=Named(names)):
            return tuple(dict.fromkeys(name for _, name in names))
        case _:
            return ()
