"""The constructs of MessagePack that generated parsers declare."""

from wireloom.runtime.parsers.msgpack.alternatives import Nullable, OneOf
from wireloom.runtime.parsers.msgpack.containers import Array, Entries, Map
from wireloom.runtime.parsers.msgpack.scalars import Boolean, Bytes, Carried, Extension, Float, Integer, Null, Text
from wireloom.runtime.parsers.msgpack.structs import Members, Positional, Rest

__all__ = [
    "Array",
    "Boolean",
    "Bytes",
    "Carried",
    "Entries",
    "Extension",
    "Float",
    "Integer",
    "Map",
    "Members",
    "Null",
    "Nullable",
    "OneOf",
    "Positional",
    "Rest",
    "Text",
]
