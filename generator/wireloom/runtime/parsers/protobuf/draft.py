"""A protobuf message while it is built: protobuf's own object, filled field by field.

The protobuf library is imported when the first message is built, so that readers do not need it. Tables (repeated
fields that other fields refer to) are filled by those fields, each entry once, in the order of first use, after the
entries in the value itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from construct import Container

from wireloom.runtime.errors import EncodeError
from wireloom.runtime.parsers.fields import Field


def message_class(descriptor_set: bytes, name: str) -> Any:
    """The class of the message called `name` (with its package) in a serialised FileDescriptorSet."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def serialized(message: Any) -> bytes:
    """The message's bytes: fields by number, the shortest varints."""
    from google.protobuf.message import EncodeError as ProtobufEncodeError

    try:
        return bytes(message.SerializeToString(deterministic=True))
    except (ProtobufEncodeError, ValueError) as error:
        raise EncodeError("a message that protobuf can write", str(error)) from error


@dataclass(frozen=True)
class Root:
    """The slot of the outermost message."""

    message: Any
    tables: Mapping[str, "Table"] = field(default_factory=dict)

    def open(self) -> Any:
        """The message itself."""
        return self.message


@dataclass
class Table:
    """A repeated field that is filled by the fields that refer to it; entries are built in the scope of its message."""

    slot: "Element"
    subcon: Any
    scope: Container
    places: dict[Any, int] = field(default_factory=dict)

    @property
    def entries(self) -> Any:
        """The entries in the message so far."""
        return getattr(self.slot.draft.message, self.slot.name)

    def begin(self, entries: Any) -> None:
        """Add the entries of the value, even if nothing refers to them."""
        for place, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            self.places.setdefault(self._put(entry), place)

    def place(self, obj: object) -> int:
        """The index of the entry `obj`, which is added if it is new."""
        place = self.places.setdefault(self._put(obj), len(self.entries) - 1)
        if place < len(self.entries) - 1:
            del self.entries[-1]
        return place

    def _put(self, obj: object) -> Any:
        """Append an entry; returns its identity."""
        self.subcon._build(obj, self.slot, self.scope, "")
        return _identity(self.entries[-1])


def _identity(entry: Any) -> Any:
    """What makes entries of one type equal: 0.0 and -0.0 differ, NaN equals NaN, a message is its bytes."""
    if isinstance(entry, float):
        return repr(entry)
    return serialized(entry) if hasattr(entry, "SerializeToString") else entry


class Draft:
    """An opened message: the sink of a struct. `outer` are the tables of the enclosing message."""

    def __init__(self, message: Any, fields: Sequence[Field], outer: Mapping[str, Table], scope: Container) -> None:
        self.message, self.outer = message, outer
        self.groups = {step.name: step.one_of for step in fields if step.one_of}
        self.chosen: dict[str, str] = {}  # the present field of each oneof
        self.tables = {
            step.name: Table(Element(self, step.name), step.subcon.elements.element, scope)
            for step in fields
            if step.table
        }
        for step in fields:
            if step.table:
                self.tables[step.name].begin(step.given_in(scope._value))

    def place(self, step: Field) -> "Slot":
        """The slot of the field."""
        if step.table:
            return Filled(self, step.name)
        if step.refers is not None:
            return Referring(self, step.name, self.outer[step.refers.table])
        return Slot(self, step.name)

    def choose(self, name: str) -> None:
        """Note that the field is present; another field of its oneof is an EncodeError."""
        group = self.groups.get(name)
        if group is not None and (other := self.chosen.setdefault(group, name)) != name:
            raise EncodeError(f"one field of {group}", f"{other} and {name}")

    def close(self) -> None:
        """Nothing to do: the fields are in the message."""


@dataclass(frozen=True)
class Entry:
    """An opened map entry; `tables` are those of the message that has the map."""

    message: Any
    tables: Mapping[str, Table]

    def choose(self, name: str) -> None:
        """Nothing to do: both of its fields are always present."""


@dataclass(frozen=True)
class Slot:
    """A field of a draft."""

    draft: Draft | Entry
    name: str

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables of the message that has the field."""
        return self.draft.tables

    def meant(self, obj: Any, context: Container) -> Any:
        """The value to write for `obj`."""
        return obj

    def put(self, value: Any) -> None:
        """Set the field to a scalar."""
        self.draft.choose(self.name)
        setattr(self.draft.message, self.name, value)

    def open(self) -> Any:
        """The message in the field."""
        self.draft.choose(self.name)
        message = getattr(self.draft.message, self.name)
        message.SetInParent()
        return message

    def elements(self) -> Iterator["Slot"]:
        """A slot for each element, endlessly."""
        element = Element(self.draft, self.name)
        while True:
            yield element

    def entries(self) -> Iterator[tuple["Slot", "Slot"]]:
        """The slots of the key and the value of each map entry, endlessly."""
        while True:
            entry = Entry(getattr(self.draft.message, self.name).add(), self.tables)
            yield Slot(entry, "key"), Slot(entry, "value")


class Element(Slot):
    """The next element of a repeated field."""

    def put(self, value: Any) -> None:
        """Append a scalar."""
        getattr(self.draft.message, self.name).append(value)

    def open(self) -> Any:
        """A new message at the end."""
        return getattr(self.draft.message, self.name).add()


class Filled(Slot):
    """A table, whose entries were added at the beginning, or by the fields that refer to it."""

    def elements(self) -> Iterator[Slot]:
        """None."""
        return iter(())


@dataclass(frozen=True)
class Referring(Slot):
    """An index into a table; the value being built has the entry."""

    table: Table

    def meant(self, obj: Any, context: Container) -> int:
        """The entry's index."""
        return self.table.place(obj)
