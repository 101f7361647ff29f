"""Logical types as generated code declares them: what readers see of a record, whatever its encoding.

They are defined here because generated code must not need the generator; the model uses them too. Python values, Arrow
columns, Spark types and the canonical JSON rendering all follow from them.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Union


@dataclass(frozen=True, slots=True)
class Boolean:
    """true or false."""


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer of 8, 16, 32 or 64 bits; signed 65 bits mean any value of int64 or uint64."""

    bits: int
    signed: bool

    @property
    def minimum(self) -> int:
        """The smallest value."""
        return -(1 << min(self.bits, 64) - 1) if self.signed else 0

    @property
    def maximum(self) -> int:
        """The largest value."""
        return (1 << (self.bits - 1 if self.signed else self.bits)) - 1


@dataclass(frozen=True, slots=True)
class BigInteger:
    """An integer beyond 64 bits, shown as decimal text."""


@dataclass(frozen=True, slots=True)
class Float:
    """An IEEE 754 number of 32 or 64 bits."""

    bits: int


@dataclass(frozen=True, slots=True)
class Text:
    """Text; `symbols` are the only possible values, if they are known."""

    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Binary:
    """Bytes; `size` is their fixed size, if it is known."""

    size: int | None = None


@dataclass(frozen=True, slots=True)
class List:
    """Elements of one type."""

    element: "LogicalType"
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """Entries in wire order, keys unique."""

    key: "LogicalType"
    value: "LogicalType"
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class LogicalField:
    """A member of a Record."""

    name: str
    type: "LogicalType"
    nullable: bool = False
    doc: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """Named members, in order."""

    fields: tuple[LogicalField, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several types, at most one of each kind, told apart by the kind of the value (`kind_name`).

    `without` are the kinds that a projection left out: a value of such a kind shows as a struct of nulls.
    """

    options: tuple["LogicalType", ...]
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Open:
    """Any value of the encoding, recursively: null, bool, int, float, text, bytes, list, map, extension.

    `kinds` are the kinds of its values, if a wire type tells.
    """

    kinds: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class Scaled:
    """Integers that mean a quantity: the wire value times `multiplier`, plus `offset`, in units that `kind` gives.

    A timestamp counts microseconds since 1970 in UTC, a date days since 1970, a duration microseconds. A decimal counts
    units of its last digit; it has `precision` digits, `digits` of them after the point.
    """

    kind: Literal["timestamp", "date", "duration", "decimal", "integer"]
    multiplier: int = 1
    offset: int = 0
    precision: int = 0
    digits: int = 0


@dataclass(frozen=True, slots=True)
class Measured:
    """Integers that mean floats: the wire value times `scale`, plus `offset`."""

    scale: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes with a usual text form: UUIDs and addresses."""

    kind: Literal["uuid", "ipv4", "ipv6", "mac"]


@dataclass(frozen=True, slots=True)
class Said:
    """Texts that contain an integer, a decimal, a timestamp or a date (RFC 3339), or floats that are a timestamp.

    The member `raw` has the texts or floats. `counted` is the readers' type, as if integers counted it; the
    `multiplier` of a decimal is that of the last digit that texts may have. For floats, 1.0 is so many `microseconds`,
    counted from `epoch` (in microseconds since 1970).
    """

    counted: Union[Integer, Scaled]
    raw: str = ""
    microseconds: int = 0
    epoch: int = 0

    @property
    def plain(self) -> "Union[Integer, Meant]":
        """The type that the same column would have if it came from integers."""
        return self.counted if isinstance(self.counted, Integer) else Meant(Integer(64, signed=True), self.counted)


@dataclass(frozen=True, slots=True)
class Encoded:
    """Bytes that are text in a character set."""

    charset: str


@dataclass(frozen=True)
class Named:
    """Names of values, which are not complete: a value without a name is null; the member `raw` has each value itself.

    The lookup tables are cached per object, not by equality: the names of 0 and 1 would equal those of false and true.
    """

    names: tuple[tuple[int | str | bytes, str], ...]
    raw: str = ""

    @cached_property
    def name_of(self) -> dict[object, str]:
        """The names by value."""
        return dict(self.names)

    @cached_property
    def value_of(self) -> dict[str, int | str | bytes]:
        """The first value of each name."""
        return {name: value for value, name in reversed(self.names)}


@dataclass(frozen=True, slots=True)
class Meant:
    """The wire type and the readers' type: the meaning of a wire value, null for the sentinel `null`."""

    wire: Union[Boolean, Integer, Float, Text, Binary]
    shown: Union[Scaled, Measured, Written, Said, Encoded, Named, None] = None
    null: int | float | str | bytes | None = None

    @property
    def seen(self) -> "Union[Scaled, LogicalType]":
        """The readers' type: a quantity, or another logical type."""
        match self.shown:
            case None:
                return self.wire
            case Scaled():
                return self.shown
            case Said(counted):
                return counted
            case Measured():
                return Float(64)
            case Written() | Encoded() | Named():
                return Text()

    @property
    def raw(self) -> str:
        """The member that has the wire value, if several wire values mean the same; empty if there is none."""
        return self.shown.raw if isinstance(self.shown, Named | Said) else ""


LogicalType = Union[Boolean, Integer, BigInteger, Float, Text, Binary, List, Map, Record, Alternatives, Open, Meant]


@dataclass(frozen=True, slots=True)
class ExtensionType:
    """An extension that open values may hold: its type code, its name in renderings, and whether it holds text."""

    code: int
    name: str
    text: bool


KINDS = ("bool", "int", "float", "str", "bytes", "list", "map", "record", "variant")
"""The names of the kinds, in the order that the columns of an Alternatives have."""


def kind_name(type: LogicalType) -> str:
    """The name of the kind of `type`: the column of an Alternatives, the tag of its JSON rendering."""
    match type:
        case Boolean():
            return "bool"
        case Integer() | BigInteger():
            return "int"
        case Float():
            return "float"
        case Text():
            return "str"
        case Binary():
            return "bytes"
        case List():
            return "list"
        case Map():
            return "map"
        case Record():
            return "record"
        case Open():
            return "variant"
        case Meant(wire=wire):
            return kind_name(wire)
        case Alternatives():
            raise ValueError("alternatives have no kind of their own")


def alternatives(type: Alternatives) -> list[tuple[str, LogicalType]]:
    """The columns of alternatives with their names, in the order of `KINDS`."""
    return sorted(((kind_name(option), option) for option in type.options), key=lambda named: KINDS.index(named[0]))
