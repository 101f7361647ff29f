"""Messages of the official library with random values, and the values that a spec must read from them."""

import struct
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from wireloom.importing.proto.compiling import compiled
from wireloom.importing.proto.descriptions import loaded
from wireloom.runtime.values import Pairs

F = FieldDescriptor
_SIGNED = {F.TYPE_INT32: 32, F.TYPE_SINT32: 32, F.TYPE_SFIXED32: 32, F.TYPE_INT64: 64, F.TYPE_SINT64: 64}
_SIGNED |= {F.TYPE_SFIXED64: 64}
_UNSIGNED = {F.TYPE_UINT32: 32, F.TYPE_FIXED32: 32, F.TYPE_UINT64: 64, F.TYPE_FIXED64: 64}
_TEXTS = ("", "a", "text", "ä€😀", "\0", "x" * 200)


def pool_of(file: Path, folders: Sequence[Path] = ()) -> DescriptorPool:
    """The descriptors of a .proto file."""
    source = compiled(file, folders)
    return loaded(source.descriptors, source.shown, str(file))[0]


def message_class(pool: DescriptorPool, name: str) -> type[Message]:
    """The official library's class of a message."""
    return GetMessageClass(pool.FindMessageTypeByName(name))


def _integer(random: Random, least: int, most: int) -> int:
    edges = [each for each in (least, -1, 0, 1, 127, 128, most) if least <= each <= most]
    return random.choice(edges) if random.random() < 0.5 else random.randint(least, most)


def _listed(field: Any, random: Random) -> Any:
    """A value in a list or a map; for an enum, always one with a word."""
    return random.choice(field.enum_type.values).number if field.enum_type else _scalar(field, random)


def _scalar(field: Any, random: Random) -> Any:
    if bits := _SIGNED.get(field.type):
        return _integer(random, -(1 << bits - 1), (1 << bits - 1) - 1)
    if bits := _UNSIGNED.get(field.type):
        return _integer(random, 0, (1 << bits) - 1)
    match field.type:
        case F.TYPE_BOOL:
            return random.random() < 0.5
        case F.TYPE_STRING:
            return random.choice(_TEXTS)
        case F.TYPE_BYTES:
            return random.randbytes(random.choice((0, 1, 5)))
        case F.TYPE_FLOAT:
            return struct.unpack(
                "f", struct.pack("f", random.choice((0.0, -0.0, 1.5, float("inf"), random.gauss(0, 9))))
            )[0]
        case F.TYPE_DOUBLE:
            return random.choice((0.0, -0.0, float("-inf"), random.gauss(0, 1e9)))
        case F.TYPE_ENUM:
            numbers = [each.number for each in field.enum_type.values]
            return random.choice(numbers if field.enum_type.is_closed else [*numbers, 77_777])
        case _:
            raise AssertionError(field.full_name)


def _fields(message: Message) -> Any:
    return message.DESCRIPTOR.fields


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return bool(field.message_type is not None and field.is_repeated and field.message_type.GetOptions().map_entry)


def fill(message: Message, random: Random, depth: int = 0, *, deepest: int = 3) -> Message:
    """The message, with random values in some of its fields."""
    for field in _fields(message):
        often = 0.7 if depth < 2 else 0.4
        if random.random() > often and not field.is_required:
            continue
        if field.message_type is not None and not is_map(field) and depth >= deepest and not field.is_required:
            continue
        times = random.randint(0, 3)
        if is_map(field):
            key, value = (field.message_type.fields_by_name[each] for each in ("key", "value"))
            for _ in range(times):
                place = getattr(message, field.name)
                if value.message_type is None:
                    place[_scalar(key, random)] = _listed(value, random)
                elif depth < deepest:
                    fill(place[_scalar(key, random)], random, depth + 1, deepest=deepest)
        elif field.is_repeated and field.message_type is not None:
            for _ in range(times):
                fill(getattr(message, field.name).add(), random, depth + 1, deepest=deepest)
        elif field.is_repeated:
            getattr(message, field.name).extend(_listed(field, random) for _ in range(times))
        elif field.message_type is not None:
            inner = getattr(message, field.name)
            inner.SetInParent()
            fill(inner, random, depth + 1, deepest=deepest)
        else:
            setattr(message, field.name, _scalar(field, random))
    return message


def expected(message: Message) -> dict[str, Any]:
    """The values that a spec of the message reads: for enums, the word and the raw number."""
    found: dict[str, Any] = {}
    for field in _fields(message):
        value = getattr(message, field.name)
        if is_map(field):
            inner = field.message_type.fields_by_name["value"]
            found[field.name] = {key: _element(inner, value[key]) for key in value}
        elif field.is_repeated:
            found[field.name] = [_element(field, each) for each in value]
        elif field.has_presence and not message.HasField(field.name) and not _has_own_default(field):
            found |= dict.fromkeys((field.name, *([f"{field.name}_number"] if field.enum_type else [])))
        elif field.message_type is not None:
            found[field.name] = expected(value)
        elif field.enum_type is not None:
            word = field.enum_type.values_by_number.get(value)
            found |= {field.name: word and _first_word(field, value), f"{field.name}_number": value}
        else:
            found[field.name] = value
    return found


def _element(field: Any, value: Any) -> Any:
    """The value that a spec reads from a list or map."""
    if field.message_type is not None:
        return expected(value)
    return value if field.enum_type is None else _first_word(field, value)


def _has_own_default(field: Any) -> bool:
    """Whether the field states a default of its own, which readers see if it is absent."""
    group = field.containing_oneof
    return bool(field.has_default_value and (group is None or len(group.fields) == 1))


def _first_word(field: Any, number: int) -> Any:
    return next(each.name for each in field.enum_type.values if each.number == number)


def plain(value: Any) -> Any:
    """A value as read, with maps as dictionaries."""
    match value:
        case Pairs():
            return {key: plain(each) for key, each in value}
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case _:
            return value
