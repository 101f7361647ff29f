"""Avro schemas of the values that readers see.

An Avro reader finds members by name. So the schema of a later spec reads data of an earlier one, within Avro's rules
for schema evolution. For that, members that may be null have the default null. Words are strings, not enums: a reader
whose enum lacks a word would refuse the record.
"""

from typing import assert_never

from wireloom.escapes import json_text
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
_UNSIGNED_DIGITS = 20  # of an unsigned 64-bit integer
_LOGICAL = {"timestamp": ("long", "timestamp-micros"), "date": ("int", "date"), "uuid": ("string", "uuid")}
_PLAIN = {"bool": "boolean", "text": "string", "bytes": "bytes", "duration": "long"}


def avsc(messages: tuple[Message, ...], namespace: str, doc: str) -> str:
    """The schema of the first of the messages."""
    schemas = _Schemas(messages)
    record = schemas.record(messages[0].name, messages[0].members)
    heads = {"type": record.pop("type"), "name": record.pop("name"), "namespace": namespace}
    return json_text({**heads, **({"doc": doc} if doc else {}), **record}, indent=2) + "\n"


class _Schemas:
    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.messages = {each.name: each for each in messages}
        self.names = Names(self.messages)
        self.defined: set[str] = set()
        self.entries: dict[tuple[Member, ...], str] = {}

    def record(self, name: str, members: tuple[Member, ...]) -> dict[str, object]:
        """A record: its definition at the first use, later its name."""
        self.defined.add(name)
        return {"type": "record", "name": name, "fields": [self._field(each) for each in members]}

    def _field(self, member: Member) -> dict[str, object]:
        doc = {"doc": member.doc} if member.doc else {}
        default = {"default": None} if member.slot.nullable else {}
        return {"name": member.name, **doc, "type": self._slot(member.slot), **default}

    def _slot(self, slot: Slot) -> object:
        found = self._shape(slot.shape)
        return ["null", found] if slot.nullable else found

    def _shape(self, shape: Shape) -> object:
        match shape:
            case Scalar():
                return _scalar(shape)
            case Reference(name):
                return name if name in self.defined else self.record(name, self.messages[name].members)
            case Listed(_, element):
                return {"type": "array", "items": self._slot(element)}
            case Mapped(_, Scalar("text"), value):
                return {"type": "map", "values": self._slot(value)}
            case Mapped():
                return {"type": "array", "items": self._entry(shape), "logicalType": "map"}
            case _:
                assert_never(shape)

    def _entry(self, map: Mapped) -> object:
        """The entry of a map with keys that are not text, which Avro maps cannot have."""
        if map.entry in self.entries:
            return self.entries[map.entry]
        name = self.entries[map.entry] = self.names.free(f"{capitalised(map.name)}Entry")
        return self.record(name, map.entry)


def _scalar(scalar: Scalar) -> object:
    match scalar.kind:
        case "int" if scalar.bits == _LONG and not scalar.signed:
            return _decimal(_UNSIGNED_DIGITS, 0)
        case "int":
            return "int" if scalar.bits < _INT + scalar.signed else "long"
        case "float":
            return "float" if scalar.bits < _LONG else "double"
        case "decimal":
            return _decimal(scalar.precision, scalar.digits)
        case "timestamp" | "date" | "uuid" as kind:
            plain, logical = _LOGICAL[kind]
            return {"type": plain, "logicalType": logical}
        case "bool" | "text" | "bytes" | "duration" as kind:
            return _PLAIN[kind]
        case _:
            assert_never(scalar.kind)


def _decimal(precision: int, digits: int) -> object:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": digits}
