"""The protobuf messages of a format: `descriptor.py` for building them, and the same as a .proto file to read."""

from wireloom.emit.protobuf.module import emit
from wireloom.emit.protobuf.text import proto_text

__all__ = ["emit", "proto_text"]
