"""Find the structs of a format that are protobuf messages, and the protobuf types of their fields."""

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

_MOST_REQUIRED = 63  # required fields of a message that protobuf libraries accept
_NARROW = 32  # bits; types of up to this width use half the size
_INTEGERS = {
    (NumberForm.OWN, True): "int",
    (NumberForm.OWN, False): "uint",
    (NumberForm.VARINT, False): "uint",
    (NumberForm.ZIGZAG, True): "sint",
    (NumberForm.FIXED, True): "sfixed",
    (NumberForm.FIXED, False): "fixed",
}


def messages(format: Format) -> tuple[Struct, ...]:
    """The protobuf structs that the roots use, in the order of the spec."""
    whole = {root.type.name for root in format.roots if isinstance(root.type, Struct)}
    names = whole.union(*(reached(root.type, format.named) for root in format.roots))
    structs = (type for name, type in format.types if name in names and isinstance(type, Struct))
    return tuple(struct for struct in structs if struct.encoding.numbered)


def has_groups(format: Format) -> bool:
    """Whether any message has a group field."""
    return any(field.group for message in messages(format) for field in wire_fields(message))


def wire_fields(message: Struct) -> tuple[Field, ...]:
    """The fields that are on the wire, neither computed nor counted."""
    return tuple(field for field in message.fields if field.on_wire)


def json_names(fields: Iterable[str]) -> dict[str, str]:
    """Explicit JSON names for fields to which protobuf would give the same name (`a_b` and `aB`), which it refuses."""
    names = list(fields)
    counts = Counter(map(_json_name, names))
    return {name: name for name in names if counts[_json_name(name)] > 1}


def _json_name(name: str) -> str:
    """The JSON name that protobuf derives: underscores are dropped, and the letter after each becomes a capital."""
    first, _, others = name.partition("_")
    return first + capitalised(others)


def one_ofs(message: Struct) -> list[str]:
    """The `oneof` groups of a message, in the order of the spec."""
    return list(dict.fromkeys(field.one_of for field in wire_fields(message) if field.one_of))


def map_type(type: Type, format: Format) -> Map | None:
    """The map type of a field; None if it is not a map."""
    resolved = plain(type, format.named)
    return resolved if isinstance(resolved, Map) else None


def entry_names(message: Struct, format: Format) -> dict[str, str]:
    """The names of the entry messages of map fields, different from all other names in the message."""
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
    """Whether each field is required, optional or repeated.

    Fields with a condition or a version are optional, since protobuf knows neither. If there are more required fields
    than libraries accept, all are declared optional; parsers and builders of Wireloom still require them.
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
    """The scalar type's name in a .proto file, or the message's name; for a list, that of its elements."""
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
