"""A format's protobuf messages as a .proto file, with the documents of the spec as comments."""

import textwrap
from collections.abc import Iterator

from google.protobuf.text_encoding import CEscape

from wireloom.emit.protobuf.descriptor import default_text
from wireloom.emit.protobuf.messages import label, messages, type_name, wire_fields
from wireloom.model.format import Format
from wireloom.model.types import Field, Struct

_WIDTH = 116


def proto_text(format: Format) -> str:
    """The text of the .proto file."""
    return "\n".join(_lines(format)) + "\n"


def _lines(format: Format) -> Iterator[str]:
    yield 'syntax = "proto2";'
    yield ""
    yield f"package {format.name};"
    for struct in messages(format):
        yield ""
        yield from _message(struct, format)


def _message(struct: Struct, format: Format) -> Iterator[str]:
    yield from _comment(struct.doc, "")
    yield f"message {struct.name} {{"
    for field in wire_fields(struct):
        yield from _comment(_document(field), "  ")
        declared = f"{label(field, format)} {type_name(field.type, format)} {field.wire_name}"
        yield f"  {declared} = {field.tag}{_default(field)};"
    yield "}"


def _document(field: Field) -> str:
    return f"{field.doc} (unit: {field.unit})" if field.unit else field.doc


def _default(field: Field) -> str:
    if not field.has_default or field.default is None:
        return ""
    match field.default:
        case str() as text:
            return f' [default = "{CEscape(text.encode(), as_utf8=False)}"]'
        case bytes() as data:
            return f' [default = "{CEscape(data, as_utf8=False)}"]'
        case _:
            return f" [default = {default_text(field.default)}]"


def _comment(doc: str, indent: str) -> list[str]:
    return textwrap.wrap(
        " ".join(doc.split()),
        _WIDTH,
        initial_indent=f"{indent}// ",
        subsequent_indent=f"{indent}// ",
        break_long_words=False,
    )
