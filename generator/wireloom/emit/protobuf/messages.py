"""Which structs of a format are protobuf messages, and what protobuf calls the types of their fields."""

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from wireloom.encodings import Encoding
from wireloom.model.format import Format
from wireloom.model.traversal import plain, reached
from wireloom.model.types import (
    Array,
    Attempt,
    Boolean,
    Bytes,
    Extension,
    Field,
    Float,
    Integer,
    JsonText,
    Map,
    Null,
    Nullable,
    NumberForm,
    OneOf,
    Presence,
    Reference,
    Select,
    Struct,
    Text,
    Type,
)
from wireloom.names import capitalised

_MOST_REQUIRED = 63  # of a message, in the protobuf library of Python and others that build on its core
_NARROW = 32  # bits; what fits is written in half the width
_INTEGERS = {
    (NumberForm.OWN, True): "int",
    (NumberForm.OWN, False): "uint",
    (NumberForm.VARINT, False): "uint",
    (NumberForm.ZIGZAG, True): "sint",
    (NumberForm.FIXED, True): "sfixed",
    (NumberForm.FIXED, False): "fixed",
}


def messages(format: Format) -> tuple[Struct, ...]:
    """The protobuf structs that the roots lead to, in the order of the spec."""
    whole = {root.type.name for root in format.roots if isinstance(root.type, Struct)}
    names = whole.union(*(reached(root.type, format.named) for root in format.roots))
    structs = (type for name, type in format.types if name in names and isinstance(type, Struct))
    return tuple(struct for struct in structs if struct.encoding.numbered)


def has_groups(format: Format) -> bool:
    """Whether a field of its messages is a group."""
    return any(field.group for message in messages(format) for field in wire_fields(message))


def wire_fields(message: Struct) -> tuple[Field, ...]:
    """The fields that stand in the message: not those that are computed or counted."""
    return tuple(field for field in message.fields if field.on_wire)


def json_names(fields: Iterable[str]) -> dict[str, str]:
    """The JSON names of fields that protobuf would give the same one (`a_b` and `aB`), which it refuses: their own."""
    names = list(fields)
    counts = Counter(map(_json_name, names))
    return {name: name for name in names if counts[_json_name(name)] > 1}


def _json_name(name: str) -> str:
    """What protobuf calls a field in JSON: underscores go, and what follows one is a capital letter."""
    first, _, others = name.partition("_")
    return first + capitalised(others)


def one_ofs(message: Struct) -> list[str]:
    """The groups of fields of which one is there alone, in the order of the spec."""
    return list(dict.fromkeys(field.one_of for field in wire_fields(message) if field.one_of))


def map_type(type: Type, format: Format) -> Map | None:
    """The map that a field is; None where it is none."""
    resolved = plain(type, format.named)
    return resolved if isinstance(resolved, Map) else None


def entry_names(message: Struct, format: Format) -> dict[str, str]:
    """What protobuf calls the messages that are entries of maps, by the field; none has the name of anything else."""
    fields = wire_fields(message)
    taken = {*(field.wire_name for field in fields), *one_ofs(message)}
    names: dict[str, str] = {}
    for field in fields:
        if map_type(field.type, format) is not None:
            name = f"{capitalised(field.wire_name)}Entry"
            while name in taken:
                name += "_"
            taken.add(name)
            names[field.wire_name] = name
    return names


def labels(message: Struct, format: Format) -> dict[str, str]:
    """Of each field whether it is required, optional or repeated.

    What a condition or a version decides is optional, since protobuf knows neither. So are all where more would be
    required than libraries take: readers and builders of ours ask for them all the same.
    """
    stated = {field.wire_name: _label(field, format) for field in wire_fields(message)}
    if sum(label == "required" for label in stated.values()) <= _MOST_REQUIRED:
        return stated
    return {name: "optional" if label == "required" else label for name, label in stated.items()}


def _label(field: Field, format: Format) -> str:
    if isinstance(plain(field.type, format.named), Array | Map):
        return "repeated"
    return "optional" if field.presence is Presence.OPTIONAL or field.is_conditional else "required"


def type_name(type: Type, format: Format) -> str:
    """The scalar type in the words of a .proto file, or the name of the message; of a list, its element's."""
    match type:
        case Reference():
            return type_name(plain(type, format.named), format)
        case Array(element):
            return type_name(element, format)
        case Integer(bits, signed, form):
            return f"{_INTEGERS[form, signed]}{_NARROW if bits <= _NARROW else 64}"
        case Float(bits):
            return "float" if bits == _NARROW else "double"
        case Boolean():
            return "bool"
        case Text():
            return "string"
        case Bytes():
            return "bytes"
        case Struct(name, Encoding(numbered=True)):
            return name
        case Struct():
            return "bytes"
        case Map(key, value):
            return f"map<{type_name(key, format)}, {type_name(value, format)}>"
        case Null() | JsonText() | Extension() | Nullable() | OneOf() | Select() | Attempt():
            raise AssertionError(f"{type} in a protobuf message")
        case _:
            assert_never(type)
