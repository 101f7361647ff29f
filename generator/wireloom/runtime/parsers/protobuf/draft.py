"""A protobuf message while it is built: protobuf's own object, filled field by field.

The protobuf library is imported where the first message is built, so that readers do not need it. Tables (repeated
fields that other fields refer to) are filled by those fields, each entry once, in the order of first use, after the
entries that the value says itself.
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
    """Where the outermost message is built."""

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
        """The entries that are in the message."""
        return getattr(self.slot.draft.message, self.slot.name)

    def begin(self, entries: Any) -> None:
        """Put the entries that the value has, whether or not something refers to them."""
        for place, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            self.places.setdefault(self._put(entry), place)

    def place(self, obj: object) -> int:
        """The index of the entry `obj`, added where it is new."""
        place = self.places.setdefault(self._put(obj), len(self.entries) - 1)
        if place < len(self.entries) - 1:
            del self.entries[-1]
        return place

    def _put(self, obj: object) -> Any:
        """Put an entry after the others; what tells it apart."""
        self.subcon._build(obj, self.slot, self.scope, "")
        return _identity(self.entries[-1])


def _identity(entry: Any) -> Any:
    """What tells entries of one type apart: zeros of either sign are two, NaN is one value, a message is its bytes."""
    if isinstance(entry, float):
        return repr(entry)
    return serialized(entry) if hasattr(entry, "SerializeToString") else entry


class Draft:
    """An opened message: the sink of a struct. `outer` are the tables of the message around it."""

    def __init__(self, message: Any, fields: Sequence[Field], outer: Mapping[str, Table], scope: Container) -> None:
        self.message, self.outer = message, outer
        self.groups = {step.name: step.one_of for step in fields if step.one_of}
        self.chosen: dict[str, str] = {}  # of each group the field that is there
        self.tables = {
            step.name: Table(Element(self, step.name), step.subcon.elements.element, scope)
            for step in fields
            if step.table
        }
        for step in fields:
            if step.table:
                self.tables[step.name].begin(step.given_in(scope._value))

    def place(self, step: Field) -> "Slot":
        """Where the field goes."""
        if step.table:
            return Filled(self, step.name)
        if step.refers is not None:
            return Referring(self, step.name, self.outer[step.refers.table])
        return Slot(self, step.name)

    def choose(self, name: str) -> None:
        """The field is there, and no other one of its group."""
        group = self.groups.get(name)
        if group is not None and (other := self.chosen.setdefault(group, name)) != name:
            raise EncodeError(f"one field of {group}", f"{other} and {name}")

    def close(self) -> None:
        """Nothing is left to do: the fields are in the message."""


@dataclass(frozen=True)
class Entry:
    """An entry of a map, opened; what its value refers to is in `tables` of the message that has the map."""

    message: Any
    tables: Mapping[str, Table]

    def choose(self, name: str) -> None:
        """Both of its fields are there."""


@dataclass(frozen=True)
class Slot:
    """The place of a field in a draft."""

    draft: Draft | Entry
    name: str

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables of the message that has the field."""
        return self.draft.tables

    def meant(self, obj: Any, context: Container) -> Any:
        """What is written for `obj`."""
        return obj

    def put(self, value: Any) -> None:
        """Set the field to a scalar."""
        self.draft.choose(self.name)
        setattr(self.draft.message, self.name, value)

    def open(self) -> Any:
        """The message that is the field's value."""
        self.draft.choose(self.name)
        message = getattr(self.draft.message, self.name)
        message.SetInParent()
        return message

    def elements(self) -> Iterator["Slot"]:
        """A slot for each element, without end."""
        element = Element(self.draft, self.name)
        while True:
            yield element

    def entries(self) -> Iterator[tuple["Slot", "Slot"]]:
        """The places of the key and of the value of each entry of a map, without end."""
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
    """A table: its entries were there from the beginning, or come from the fields that refer to it."""

    def elements(self) -> Iterator[Slot]:
        """None."""
        return iter(())


@dataclass(frozen=True)
class Referring(Slot):
    """An index into a table, given by the entry that it means."""

    table: Table

    def meant(self, obj: Any, context: Container) -> int:
        """The entry's index."""
        return self.table.place(obj)
