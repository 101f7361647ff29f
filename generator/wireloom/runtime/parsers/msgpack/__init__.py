"""The constructs of MessagePack that generated parsers declare."""

from wireloom.runtime.parsers.msgpack.types import (
    Array,
    Boolean,
    Bytes,
    Extension,
    Float,
    Integer,
    Map,
    Members,
    Null,
    Nullable,
    OneOf,
    Positional,
    Text,
)

__all__ = [
    "Array",
    "Boolean",
    "Bytes",
    "Extension",
    "Float",
    "Integer",
    "Map",
    "Members",
    "Null",
    "Nullable",
    "OneOf",
    "Positional",
    "Text",
]
