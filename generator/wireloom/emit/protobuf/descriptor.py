"""A format's protobuf messages as a FileDescriptorSet, equal to what protoc makes of the .proto file."""

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    OneofDescriptorProto,
)
from google.protobuf.text_encoding import CEscape

from wireloom.emit.protobuf.messages import (
    entry_names,
    json_names,
    labels,
    map_type,
    messages,
    one_ofs,
    type_name,
    wire_fields,
)
from wireloom.model.format import Format
from wireloom.model.types import Field, Map, Scalar, Struct


def descriptor_set(format: Format) -> FileDescriptorSet:
    """The set of one proto2 file whose package is the format's name."""
    file = FileDescriptorProto(name=f"{format.name}.proto", package=format.name, syntax="proto2")
    structs = messages(format)
    names = frozenset(struct.name for struct in structs)
    file.message_type.extend(_message(struct, format, names) for struct in structs)
    return FileDescriptorSet(file=[file])


def _message(struct: Struct, format: Format, names: frozenset[str]) -> DescriptorProto:
    fields, groups, entries = wire_fields(struct), one_ofs(struct), entry_names(struct, format)
    stated, field_labels = json_names(field.wire_name for field in fields), labels(struct, format)
    message = DescriptorProto(name=struct.name)
    message.oneof_decl.extend(OneofDescriptorProto(name=name) for name in groups)
    for field in fields:
        proto = _field(field, field_labels[field.wire_name], format, names)
        if field.wire_name in stated:
            proto.json_name = stated[field.wire_name]
        if field.one_of:
            proto.oneof_index = groups.index(field.one_of)
        if (entry := map_type(field.type, format)) is not None:
            name = entries[field.wire_name]
            proto.type, proto.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".{format.name}.{struct.name}.{name}"
            message.nested_type.append(_entry(name, entry, format, names))
        message.field.append(proto)
    return message


def _entry(name: str, type: Map, format: Format, names: frozenset[str]) -> DescriptorProto:
    """A map entry as an ordinary message: protobuf does not keep the order of entries that are declared as a map."""
    halves = {"key": type.key, "value": type.value}
    entry = DescriptorProto(name=name)
    for number, (title, half) in enumerate(halves.items(), 1):
        proto = entry.field.add(name=title, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
        _set_type(proto, type_name(half, format), format, names)
    return entry


def _field(field: Field, label: str, format: Format, names: frozenset[str]) -> FieldDescriptorProto:
    proto = FieldDescriptorProto(
        name=field.wire_name, number=field.tag, label=FieldDescriptorProto.Label.Value(f"LABEL_{label.upper()}")
    )
    if map_type(field.type, format) is None:
        _set_type(proto, type_name(field.type, format), format, names)
    if field.group:
        proto.type = FieldDescriptorProto.TYPE_GROUP
    if field.has_default and field.default is not None:
        proto.default_value = default_text(field.default)
    return proto


def _set_type(proto: FieldDescriptorProto, name: str, format: Format, messages: frozenset[str]) -> None:
    if name in messages:
        proto.type = FieldDescriptorProto.TYPE_MESSAGE
        proto.type_name = f".{format.name}.{name}"
    else:
        proto.type = FieldDescriptorProto.Type.Value(f"TYPE_{name.upper()}")


def default_text(value: Scalar) -> str:
    """A default as descriptors write it."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            return CEscape(value, as_utf8=False)
        case _:
            return str(value)
