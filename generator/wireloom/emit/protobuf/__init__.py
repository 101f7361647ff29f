"""Emit the protobuf messages of a format: `descriptor.py` for the code, and a .proto file for people."""

from wireloom.emit.protobuf.module import emit
from wireloom.emit.protobuf.text import proto_text

__all__ = ["emit", "proto_text"]
