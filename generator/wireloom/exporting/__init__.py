"""Describes formats in other languages: Avro schemas, .proto files, Kaitai Struct.

`values` turns the columns of a record into messages for `avro` and `protobuf`; `kaitai` describes the bytes. Each part
that the other language cannot express is a Difference: the part of the spec, and what the description has instead.
"""

from wireloom.emit.protobuf.messages import messages as wire_messages
from wireloom.emit.protobuf.text import proto_text
from wireloom.exporting import avro, protobuf
from wireloom.exporting.differences import Difference, Exported
from wireloom.exporting.kaitai import ksy
from wireloom.exporting.values import Message, messages
from wireloom.model.format import Format, Root
from wireloom.names import capitalised

__all__ = ["Difference", "Exported", "Format", "Root", "as_avsc", "as_proto", "is_protobuf", "ksy", "wire_proto"]


def as_avsc(format: Format, root: Root, *, explode: bool = False) -> Exported:
    """The Avro schema of a root's columns, or of its flattened rows."""
    doc = " ".join(filter(None, (format.title, root.doc)))
    return Exported(avro.avsc(_messages(format, root, explode=explode), format.name, doc))


def as_proto(format: Format, root: Root, *, explode: bool = False) -> Exported:
    """The .proto file of a root's columns, or of its flattened rows."""
    doc = f"The columns of {format.name}: {format.title}"
    return protobuf.proto(_messages(format, root, explode=explode), format.name, doc)


def is_protobuf(format: Format) -> bool:
    """Whether records are, or contain, protobuf messages."""
    return bool(wire_messages(format))


def wire_proto(format: Format) -> Exported:
    """The .proto file of the protobuf messages on the wire, with their field numbers."""
    return Exported(proto_text(format))


def _messages(format: Format, root: Root, *, explode: bool) -> tuple[Message, ...]:
    name = capitalised(format.name) + ("" if root is format.roots[0] else capitalised(root.name))
    return messages(root.logical, name, root.rows if explode else ())
