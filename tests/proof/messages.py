"""Damages protobuf messages by structure: fields removed, repeated, moved, split, or of another wire type."""

from collections.abc import Sequence
from typing import Any

from proof.chance import Chance

_VARINT, _FIXED64, _LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)
_Field = tuple[int, int, Any]  # number, wire type, and content: an integer, bytes, or the fields of a group


def message_mutant(record: bytes, chance: Chance) -> bytes:
    """The message with one of its fields changed; unchanged if it is no message."""
    fields = _fields(record)
    return record if fields is None else _written(_other(fields, chance))


def _fields(data: bytes) -> list[_Field] | None:
    """The fields of a message; None if the bytes are no message."""
    found, at = _group(data, 0, 0)
    return found if at == len(data) else None


def _group(data: bytes, at: int, around: int) -> tuple[list[_Field], int]:
    """The fields up to the end of a group or of the data, and the offset after it; offset -1 for invalid data."""
    fields: list[_Field] = []
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if at < 0 or not number:
            return [], -1
        if wire == _GROUP_END:
            return (fields, at) if number == around else ([], -1)
        size = {_FIXED64: 8, _FIXED32: 4}.get(wire, 0)
        value: Any = None
        if wire == _GROUP:
            value, at = _group(data, at, number)
        elif wire in (_VARINT, _LENGTH):
            value, at = _varint(data, at)
            size = value if wire == _LENGTH else 0
        elif not size:
            return [], -1
        if at < 0 or size > len(data) - at:
            return [], -1
        value, at = (data[at : at + size], at + size) if wire not in (_VARINT, _GROUP) else (value, at)
        fields.append((number, wire, value))
    return (fields, at) if not around else ([], -1)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at
    return 0, -1


def _written(fields: Sequence[_Field]) -> bytes:
    return b"".join(_written_field(*each) for each in fields)


def _written_field(number: int, wire: int, value: Any) -> bytes:
    tag = _packed_varint(number << 3 | wire)
    match wire:
        case _ if wire == _VARINT:
            return tag + _packed_varint(value)
        case _ if wire == _LENGTH:
            return tag + _packed_varint(len(value)) + bytes(value)
        case _ if wire == _GROUP:
            return tag + _written(value) + _packed_varint(number << 3 | _GROUP_END)
        case _:
            return tag + bytes(value)


def _packed_varint(value: int) -> bytes:
    written = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        written.append(low | 0x80 if value else low)
        if not value:
            return bytes(written)


def _other(fields: list[_Field], chance: Chance) -> list[_Field]:
    """The fields with one change: removed, repeated, moved, split, unknown, of another wire type."""
    if not fields:
        return [(chance.one((1, 2, 3, 99)), _VARINT, chance.one((0, 1, 300)))]
    place = chance.randrange(len(fields))
    number, wire, value = field = fields[place]
    before, behind = fields[:place], fields[place + 1 :]
    match chance.randrange(8):
        case 0:
            return before + behind
        case 1:
            return [*fields, field]
        case 2:
            return [field, *before, *behind]
        case 3:
            return [*before, (chance.one((1, 2, 3, 15, 99)), wire, value), *behind]
        case 4 if wire in (_LENGTH, _GROUP) and isinstance(inner := _inside(wire, value), list) and inner:
            cut = chance.randrange(len(inner) + 1)
            return [*before, _around(field, inner[:cut]), _around(field, inner[cut:]), *behind]
        case 5:
            return [*before, _retyped(number, wire, value, chance), *behind]
        case _:
            return [*before, _revalued(field, chance), *behind]


def _inside(wire: int, value: Any) -> list[_Field] | None:
    return value if wire == _GROUP else _fields(value)


def _around(field: _Field, inner: list[_Field]) -> _Field:
    number, wire, _ = field
    return number, wire, inner if wire == _GROUP else _written(inner)


def _retyped(number: int, wire: int, value: Any, chance: Chance) -> _Field:
    """The field with another wire type: numbers packed, messages as groups."""
    if wire == _VARINT:
        return number, _LENGTH, _packed_varint(value) * chance.one((1, 2))
    inner = _inside(wire, value) if wire in (_LENGTH, _GROUP) else None
    if inner is not None:
        return (number, _GROUP, inner) if wire == _LENGTH else (number, _LENGTH, _written(inner))
    return number, _VARINT, chance.one((0, 1, 2**63))


def _revalued(field: _Field, chance: Chance) -> _Field:
    number, wire, value = field
    if wire == _VARINT:
        return number, wire, chance.one((0, 1, 2, value + 1, 127, 300, 2**31, 2**32, 2**63, 2**64 - 1))
    inner = _inside(wire, value) if wire in (_LENGTH, _GROUP) else None
    if inner is not None and (wire == _GROUP or chance.often(0.7)):
        return _around(field, _other(inner, chance))
    return number, wire, _damaged(value, chance) if wire == _LENGTH else bytes(len(value))


def _damaged(data: bytes, chance: Chance) -> bytes:
    """The bytes with one of them changed, removed or added."""
    if not data or chance.often(0.2):
        return data + b"\xff"
    if chance.often(0.2):
        return data[:-1]
    place = chance.randrange(len(data))
    return data[:place] + bytes([chance.one((0, 1, 0x7F, 0x80, 0xFF))]) + data[place + 1 :]
