"""A format's protobuf messages as a FileDescriptorSet: what protoc would make of the .proto file."""

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.text_encoding import CEscape

from wireloom.emit.protobuf.messages import label, messages, type_name, wire_fields
from wireloom.model.format import Format
from wireloom.model.types import Field, Scalar, Struct


def descriptor_set(format: Format) -> FileDescriptorSet:
    """The set of one file, in proto2, whose package is the format's name."""
    file = FileDescriptorProto(name=f"{format.name}.proto", package=format.name, syntax="proto2")
    file.message_type.extend(_message(struct, format) for struct in messages(format))
    return FileDescriptorSet(file=[file])


def _message(struct: Struct, format: Format) -> DescriptorProto:
    return DescriptorProto(name=struct.name, field=[_field(field, format) for field in wire_fields(struct)])


def _field(field: Field, format: Format) -> FieldDescriptorProto:
    name = type_name(field.type, format)
    proto = FieldDescriptorProto(
        name=field.wire_name,
        number=field.tag,
        label=FieldDescriptorProto.Label.Value(f"LABEL_{label(field, format).upper()}"),
    )
    if name in {struct.name for struct in messages(format)}:
        proto.type = FieldDescriptorProto.TYPE_MESSAGE
        proto.type_name = f".{format.name}.{name}"
    else:
        proto.type = FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}")
    if field.has_default and field.default is not None:
        proto.default_value = default_text(field.default)
    return proto


def default_text(value: Scalar) -> str:
    """A default as a descriptor has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return CEscape(value, as_utf8=False)
        case _:
            return str(value)
