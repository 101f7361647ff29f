"""The emitters of construct declarations for each encoding."""

from wireloom.emit.construct.encodings.base import Elements, Parsers
from wireloom.emit.construct.encodings.binary import Binary
from wireloom.emit.construct.encodings.json import Json
from wireloom.emit.construct.encodings.msgpack import Msgpack
from wireloom.emit.construct.encodings.protobuf import Protobuf

__all__ = ["PARSERS", "Elements", "Parsers"]

PARSERS: dict[str, Parsers] = {
    name: kind(name)
    for name, kind in (("binary", Binary), ("json", Json), ("msgpack", Msgpack), ("protobuf", Protobuf))
}
"""The emitter of each encoding, by the encoding's name."""
