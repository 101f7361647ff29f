"""A format's page: what it is, its parameters, the fields that readers see, its error codes and its examples."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from wireloom.emit.docs.fields import tables
from wireloom.emit.frames import described, framed
from wireloom.emit.jsonschema.beyond import Gap, gaps
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
        title=format.title,
        doc=format.doc.strip(),
        origin=format.source,
        encoding=format.encoding.value,
        framing=format.framing.text,
        parameters=_table(("parameter", "values", "default", "meaning"), map(_parameter, format.parameters)),
        roots=[(root.name, root.doc, _records(tables(root.logical))) for root in format.roots],
        schema=_OF_DOCUMENTS if format.encoding is Encoding.JSON else _OF_RENDERINGS,
        gaps=_table(("the JSON Schema does not say", "of", "decoders then give"), map(_gap, gaps(format))),
        errors=_table(("code", "meaning"), ((f"`{error.code}`", error.doc) for error in format.errors)),
        examples=[_example(example) for example in format.examples],
    )


def _gap(gap: Gap) -> Sequence[str]:
    codes = "any code" if gap.codes is None else ", ".join(f"`{code}`" for code in gap.codes)
    return gap.what, ", ".join(f"`{field}`" for field in gap.fields), codes


def _records(found: Iterator[tuple[str, list[Sequence[str]]]]) -> str:
    head = ("field", "type", "null", "meaning")
    parts = ((f"`{path}`\n" if path else "", _table(head, rows)) for path, rows in found)
    return "\n\n".join("\n".join(part for part in pair if part) for pair in parts)


def _parameter(parameter: Parameter) -> Sequence[str]:
    values = ", ".join(f"`{option}`" for option in parameter.options) or parameter.kind.value
    default = f"`{_shown(parameter.default)}`"
    return f"`{parameter.name}`", values, default, described(parameter.doc, parameter.unit)


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
    settings = ", ".join(f"`{name}={_shown(value)}`" for name, value in example.parameters)
    return example.name + (f" ({settings})" if settings else ""), "\n\n".join((_bytes(example.data), _meaning(example)))


def _bytes(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    return _code("text", text if text.isprintable() and text else "\n".join(_hex_lines(data)))


def _hex_lines(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), 16):
        yield f"{start:06x}  {data[start : start + 16].hex(' ')}"


def _meaning(example: Example) -> str:
    if not example.stated:
        return "What they mean is not stated yet."
    if example.error is None:
        return _code("json", json.dumps(example.value, indent=2, ensure_ascii=False))
    place = f" at `{example.path}`" if example.path else ""
    offset = "" if example.offset is None else f", byte {example.offset}"
    return f"Error `{example.error}`{place}{offset}."


def _code(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; empty where there are no rows."""
    lines = [" | ".join(_cell(cell) for cell in row) for row in rows]
    rule = " | ".join("---" for _ in head)
    return "\n".join(f"| {line} |" for line in chain((" | ".join(head), rule), lines)) if lines else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
