"""A .proto file of the values that readers see: proto3, with members numbered in the order of the columns.

The messages of a format that is protobuf on the wire are described elsewhere, with their own numbers
(`emit.protobuf`). Values that one field of proto3 cannot hold become messages: null elements of a list, a list within
a list or a map, and map keys that are neither integers nor text.
"""

from collections.abc import Iterator
from itertools import count
from typing import assert_never

from wireloom.emit.protobuf.messages import json_names
from wireloom.emit.protobuf.text import comment
from wireloom.exporting.differences import Difference, Exported
from wireloom.exporting.values import (
    Listed,
    Mapped,
    Member,
    Message,
    Names,
    Reference,
    Scalar,
    Shape,
    Slot,
)
from wireloom.names import capitalised

_INT, _LONG = 32, 64  # bits
_RESERVED = range(19_000, 20_000)  # numbers that protobuf reserves
_TIMESTAMP, _DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"
_KEYS = ("int", "bool", "text", "uuid", "decimal", "date")
_TEXTS = {"text": "", "uuid": "", "decimal": "a decimal number", "date": "a date, as 2026-11-28"}


def proto(messages: tuple[Message, ...], package: str, doc: str) -> Exported:
    """The file of the messages, with the record first."""
    made = _File(messages, package)
    blocks = [block for each in messages for block in made.message(each.name, each.members, each.path)]
    heads = [*comment(doc, ""), 'syntax = "proto3";', "", f"package {package};"]
    imports = [f'import "google/protobuf/{name}.proto";' for name in sorted(made.imports)]
    lines = [*heads, *(["", *imports] if imports else []), *blocks]
    return Exported("\n".join(lines) + "\n", tuple(made.differences))


class _File:
    def __init__(self, messages: tuple[Message, ...], package: str) -> None:
        self.package = package
        self.fields = {field.name for message in messages for field in message.members}
        self.names = Names(each.name for each in messages)
        self.wrappers: dict[tuple[Member, ...], str] = {}
        self.waiting: list[tuple[str, tuple[Member, ...]]] = []
        self.imports: set[str] = set()
        self.differences: list[Difference] = []

    def message(self, name: str, members: tuple[Member, ...], path: str) -> Iterator[str]:
        """The lines of a message, and of the messages that only it uses."""
        yield from ("", f"message {name} {{")
        own_names = json_names(each.name for each in members)
        if own_names:
            yield "  option deprecated_legacy_json_field_conflicts = true;  // each has a JSON name of its own"
        numbers = (each for each in count(1) if each not in _RESERVED)
        for number, member in zip(numbers, members, strict=False):
            where = f"{path}.{member.name}" if path else member.name
            said = "; ".join(filter(None, (member.doc, _form(member.slot.shape))))
            yield from comment(said, "  ")
            own = f' [json_name = "{member.name}"]' if member.name in own_names else ""
            yield f"  {self._declared(member, where)} = {number}{own};"
        yield "}"
        while self.waiting:
            wrapper, inner = self.waiting.pop(0)
            yield from self.message(wrapper, inner, path)

    def _declared(self, member: Member, where: str) -> str:
        shape, nullable = member.slot.shape, member.slot.nullable
        if nullable and isinstance(shape, Listed | Mapped):
            noun = "list" if isinstance(shape, Listed) else "map"
            self.differences.append(
                Difference(
                    "null",
                    where,
                    f"the {noun} may be null, which repeated fields cannot be",
                    f"null is an empty {noun}",
                )
            )
        match shape:
            case Listed(name, element):
                return f"repeated {self._single(element, name)} {member.name}"
            case Mapped(name, Scalar(kind=kind) as key, value) if kind in _KEYS:
                return f"map<{self._scalar(key)}, {self._single(value, name)}> {member.name}"
            case Mapped(name):
                return f"repeated {self._wrapper(f'{capitalised(name)}Entry', shape.entry)} {member.name}"
            case Reference(name):
                return f"{self._named(name)} {member.name}"
            case Scalar():
                return f"{'optional ' if nullable else ''}{self._scalar(shape)} {member.name}"
            case _:
                assert_never(shape)

    def _single(self, slot: Slot, name: str) -> str:
        """The type of an element, or of a value in a map."""
        match slot.shape:
            case Scalar() if not slot.nullable:
                return self._scalar(slot.shape)
            case Reference(named) if not slot.nullable:
                return self._named(named)
            case Scalar() | Reference() | Listed() | Mapped():
                return self._wrapper(f"{capitalised(name)}Element", (Member("value", slot),))
            case _:
                assert_never(slot.shape)

    def _wrapper(self, name: str, members: tuple[Member, ...]) -> str:
        if members not in self.wrappers:
            self.wrappers[members] = self.names.free(name)
            self.waiting.append((self.wrappers[members], members))
        return self._named(self.wrappers[members])

    def _named(self, name: str) -> str:
        """The name of a message at its use: fully qualified if a field of the same name would hide it."""
        return f".{self.package}.{name}" if name in self.fields else name

    def _scalar(self, scalar: Scalar) -> str:
        match scalar.kind:
            case "int":
                return f"{'' if scalar.signed else 'u'}int{_INT if scalar.bits <= _INT else _LONG}"
            case "float":
                return "float" if scalar.bits < _LONG else "double"
            case "bool" | "bytes":
                return scalar.kind
            case "text" | "uuid" | "decimal" | "date":
                return "string"
            case "timestamp" | "duration":
                self.imports.add(scalar.kind)
                return _TIMESTAMP if scalar.kind == "timestamp" else _DURATION
            case _:
                assert_never(scalar.kind)


def _form(shape: Shape) -> str:
    """A note on what a string contains if the value is not text; otherwise empty."""
    return _TEXTS.get(shape.kind, "") if isinstance(shape, Scalar) else ""
