"""A format's protobuf messages as a .proto file, with the spec's documentation as comments.

In proto2 a group field declares its own message, so two fields cannot share a group; formats with groups therefore use
edition 2023.
"""

import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby

from google.protobuf.text_encoding import CEscape

from wireloom.emit.protobuf.descriptor import default_text
from wireloom.emit.protobuf.messages import has_groups, json_names, labels, map_type, messages, type_name, wire_fields
from wireloom.escapes import visible
from wireloom.model.format import Format
from wireloom.model.types import Field, Struct

_WIDTH = 116


def proto_text(format: Format) -> str:
    """Generate the text of the .proto file."""
    return "\n".join(_lines(format)) + "\n"


def _lines(format: Format) -> Iterator[str]:
    in_edition = has_groups(format)
    yield 'edition = "2023";' if in_edition else 'syntax = "proto2";'
    yield ""
    yield f"package {format.name};"
    if in_edition:
        yield ""
        yield "option features.repeated_field_encoding = EXPANDED;"
        yield "option features.utf8_validation = NONE;"
    for struct in messages(format):
        yield ""
        yield from _message(struct, format, in_edition=in_edition)


def _message(struct: Struct, format: Format, *, in_edition: bool) -> Iterator[str]:
    yield from comment(struct.doc, "")
    yield f"message {struct.name} {{"
    stated, field_labels = json_names(field.wire_name for field in wire_fields(struct)), labels(struct, format)
    for group, fields in groupby(_together(struct), key=lambda field: field.one_of):
        indent = "    " if group else "  "
        if group:
            yield f"  oneof {group} {{"
        for field in fields:
            yield from comment(_document(field), indent)
            label = field_labels[field.wire_name]
            options = _options(field, stated, required=in_edition and label == "required")
            yield f"{indent}{_declared(field, label, format, in_edition=in_edition)} = {field.tag}{options};"
        if group:
            yield "  }"
    yield "}"


def _together(struct: Struct) -> list[Field]:
    """The fields, with those of a `oneof` group directly after the group's first one."""
    fields = wire_fields(struct)
    first: dict[str, int] = {}
    for index, field in enumerate(fields):
        first.setdefault(field.one_of, index)
    places = (first[field.one_of] if field.one_of else index for index, field in enumerate(fields))
    return [fields[index] for _, index in sorted((place, index) for index, place in enumerate(places))]


def _declared(field: Field, label: str, format: Format, *, in_edition: bool) -> str:
    """The declaration of a field up to its number; in editions only lists have labels, in a `oneof` none."""
    plain = f"{type_name(field.type, format)} {field.wire_name}"
    bare = field.one_of or map_type(field.type, format) or (label != "repeated" and in_edition)
    return plain if bare else f"{label} {plain}"


def _document(field: Field) -> str:
    return f"{field.doc} (unit: {field.unit})" if field.unit else field.doc


def _options(field: Field, stated: Mapping[str, str], *, required: bool) -> str:
    name = stated.get(field.wire_name)
    options = [*_default(field), *([] if name is None else [f'json_name = "{CEscape(name.encode(), as_utf8=True)}"'])]
    if field.group:
        options.append("features.message_encoding = DELIMITED")
    if required:
        options.append("features.field_presence = LEGACY_REQUIRED")
    return f" [{', '.join(options)}]" if options else ""


def _default(field: Field) -> Iterator[str]:
    if not field.has_default or field.default is None:
        return
    match field.default:
        case str() as text:
            yield f'default = "{CEscape(text.encode(), as_utf8=False)}"'
        case bytes() as data:
            yield f'default = "{CEscape(data, as_utf8=False)}"'
        case _:
            yield f"default = {default_text(field.default)}"


def comment(doc: str, indent: str) -> list[str]:
    """The lines of a comment."""
    return textwrap.wrap(
        visible(" ".join(doc.split())),
        _WIDTH,
        initial_indent=f"{indent}// ",
        subsequent_indent=f"{indent}// ",
        break_long_words=False,
    )
