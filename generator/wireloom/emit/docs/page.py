"""A format's page: what it is, its parameters, the fields that readers see, its error codes and its examples."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from wireloom.emit.docs.fields import tables
from wireloom.emit.frames import described, framed
from wireloom.emit.jsonschema.beyond import Gap, gaps
from wireloom.escapes import cell, code_block, code_span, inline, json_text, paragraphs
from wireloom.model.format import Example, Format, Parameter
from wireloom.model.types import Encoding

_OF_DOCUMENTS = "`schema.json` describes documents. It takes what decoders take and refuses what they refuse, save for:"
_OF_RENDERINGS = "`schema.json` describes the canonical JSON rendering of records. Each record fits. It does not say:"


def emit(format: Format) -> str:
    """The text of `<format>.md`."""
    return framed(
        __file__,
        "page.md.jinja",
        format,
        id=format.name,
        title=_text(format.title),
        doc=paragraphs(format.doc),
        origin=cell(_text(format.source)),
        encoding=format.encoding.value,
        framing=cell(_text(format.framing.text)),
        parameters=_table(("parameter", "values", "default", "meaning"), map(_parameter, format.parameters)),
        roots=[(root.name, paragraphs(root.doc), _records(tables(root.logical))) for root in format.roots],
        schema=_OF_DOCUMENTS if format.encoding is Encoding.JSON else _OF_RENDERINGS,
        gaps=_table(("the JSON Schema does not say", "of", "decoders then give"), map(_gap, gaps(format))),
        errors=_table(("code", "meaning"), ((code_span(error.code), _text(error.doc)) for error in format.errors)),
        examples=[_example(example) for example in format.examples],
    )


def _gap(gap: Gap) -> Sequence[str]:
    codes = "any code" if gap.codes is None else ", ".join(map(code_span, gap.codes))
    return gap.what, ", ".join(map(code_span, gap.fields)), codes


def _records(found: Iterator[tuple[str, list[Sequence[str]]]]) -> str:
    head = ("field", "type", "Spark", "null", "meaning")
    parts = ((f"{code_span(path)}\n" if path else "", _table(head, rows)) for path, rows in found)
    return "\n\n".join("\n".join(part for part in pair if part) for pair in parts)


def _parameter(parameter: Parameter) -> Sequence[str]:
    values = ", ".join(map(code_span, parameter.options)) or parameter.kind.value
    default = code_span(_shown(parameter.default))
    return code_span(parameter.name), values, default, inline(described(parameter.doc, parameter.unit))


def _shown(value: object) -> str:
    """A parameter's value as a command line takes it."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case list() | tuple() if len(value) == 2:
            return f"{value[0]}..{value[1]}"
        case _:
            return str(value)


def _example(example: Example) -> tuple[str, str]:
    """An example's heading, and its bytes and what they mean as blocks of code."""
    settings = ", ".join(code_span(f"{name}={_shown(value)}") for name, value in example.parameters)
    heading = _text(example.name) + (f" ({settings})" if settings else "")
    return heading, "\n\n".join((_bytes(example.data), _meaning(example)))


def _bytes(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    return code_block("text", text if text and text.isprintable() else "\n".join(_hex_lines(data)))


def _hex_lines(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), 16):
        yield f"{start:06x}  {data[start : start + 16].hex(' ')}"


def _meaning(example: Example) -> str:
    if not example.stated:
        return "What they mean is not stated yet."
    if example.error is None:
        return code_block("json", json_text(example.value, indent=2))
    place = f" at {code_span(example.path)}" if example.path else ""
    offset = "" if example.offset is None else f", byte {example.offset}"
    return f"Error {code_span(example.error)}{place}{offset}."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; empty where there are no rows."""
    lines = [" | ".join(map(cell, row)) for row in rows]
    rule = " | ".join("---" for _ in head)
    return "\n".join(f"| {line} |" for line in chain((" | ".join(head), rule), lines)) if lines else ""


def _text(text: str) -> str:
    """A text of the spec on one line of Markdown."""
    return inline(" ".join(text.split()))
