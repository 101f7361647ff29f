"""The constructs of protobuf that generated parsers declare."""

from wireloom.runtime.parsers.protobuf.types import (
    Body,
    Boolean,
    Bytes,
    Carried,
    Entries,
    Float,
    Integer,
    Map,
    MessageForm,
    Repeated,
    Text,
)

__all__ = [
    "Body",
    "Boolean",
    "Bytes",
    "Carried",
    "Entries",
    "Float",
    "Integer",
    "Map",
    "MessageForm",
    "Repeated",
    "Text",
]
