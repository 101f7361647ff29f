"""The constructs of JSON that generated parsers declare."""

from wireloom.runtime.parsers.json.scalars import Base64, Boolean, Carried, Float, Integer, JsonText, Null, Text
from wireloom.runtime.parsers.json.structs import Object, Positions, SelectMember
from wireloom.runtime.parsers.json.types import Array, Body, Document, Entries, Map, Nullable, OneOf, Rest

__all__ = [
    "Array",
    "Base64",
    "Body",
    "Boolean",
    "Carried",
    "Document",
    "Entries",
    "Float",
    "Integer",
    "JsonText",
    "Map",
    "Null",
    "Nullable",
    "Object",
    "OneOf",
    "Positions",
    "Rest",
    "SelectMember",
    "Text",
]
