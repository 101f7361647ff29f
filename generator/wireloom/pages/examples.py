"""The examples of a page: some with every byte explained, the others as table rows, the invalid ones with their errors.

An example is explained if it contains a type that no earlier one does, so that each case is shown with its bytes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from wireloom.escapes import code_block, code_span, visible_json
from wireloom.inspection.rows import name_of, space_text, value_of
from wireloom.model.format import Example
from wireloom.pages.markdown import blocks, table, text
from wireloom.runtime.codec import Codec
from wireloom.runtime.parameters import parameter_text
from wireloom.runtime.spans import Explained, Span

_LONGEST = 16
"""Most bytes of a span in a row."""
_WHOLE = 256
"""Most bytes of an example in the table, enough for all examples that are not large on purpose."""
_MOST_ROWS = 120
_WIDTH = 110
Traces = Mapping[str, Explained]
"""The explained bytes of valid examples, by name."""


def traces(codec: Codec, found: Sequence[Example]) -> Traces:
    """Explain the valid examples."""
    good = (each for each in found if each.stated and each.error is None and _as_text(each.data) is None)
    return {each.name: codec.explain_bytes(each.data, root=each.root, **dict(each.parameters)) for each in good}


def examples(found: Sequence[Example], traces: Traces) -> str:
    """All examples of a format."""
    good = [each for each in found if each.stated and each.error is None]
    shown = list(_shown(good, traces))
    others = [each for each in good if each not in shown]
    refused = [each for each in found if each.stated and each.error is not None]
    return blocks(
        *(_explained(each, traces.get(each.name)) for each in shown),
        _others(others),
        _refused(refused),
    )


def _shown(good: Sequence[Example], traces: Traces) -> Iterator[Example]:
    """The examples with a type or root that no earlier one has; always the first one."""
    seen = set[str]()
    for example in good:
        types = {f"root {example.root}"}
        trace = traces.get(example.name)
        if trace is not None:
            types |= {span.struct for span in trace.span.walk() if span.struct}
        if types - seen:
            seen |= types
            yield example


def settings(example: Example) -> str:
    """The parameters of an example."""
    return ", ".join(code_span(f"{name}={parameter_text(value)}") for name, value in example.parameters)


def _explained(example: Example, trace: Explained | None) -> str:
    given = settings(example)
    heading = f"### {text(example.name)}{f' ({given})' if given else ''}"
    as_text = _as_text(example.data)
    if as_text is not None or trace is None:
        body = code_block("text", as_text if as_text is not None else example.data.hex(" "))
    else:
        body = blocks(*(_bytes_table(trace, space.number) for space in trace.spaces))
    return blocks(heading, text(example.doc), body, code_block("json", _json(example.value)))


def _as_text(data: bytes) -> str | None:
    """The bytes as text, if all of them are printable."""
    try:
        found = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return found if found and found.isprintable() else None


def _bytes_table(trace: Explained, number: int) -> str:
    rows = list(_rows(trace, number))
    space = trace.spaces[number]
    title = "" if not number else f"{space_text(space)[:1].upper()}{space_text(space)[1:]}:"
    more = f"And {len(rows) - _MOST_ROWS} more rows." if len(rows) > _MOST_ROWS else ""
    return blocks(title, table(("offset", "bytes", "field", "value"), rows[:_MOST_ROWS]), more)


def _rows(trace: Explained, number: int) -> Iterator[Sequence[str]]:
    for span in trace.leaves(number):
        yield str(span.start), _hex(trace.bytes_of(span), _LONGEST), _name(span), _value(span)
        for part in span.children:
            if part.kind == "bits":
                where = f"bit {part.low}" if part.width == 1 else f"bits {part.low}-{part.low + part.width - 1}"
                yield "", where, _name(part), _value(part)


def _name(span: Span) -> str:
    return code_span(span.path) if span.path else text(name_of(span))


def _value(span: Span) -> str:
    led = "" if span.leads is None else f"leads to offset {span.leads}"
    value = value_of(span)
    return " ".join(filter(None, (code_span(value) if value else "", led)))


def _hex(data: bytes, most: int) -> str:
    if len(data) <= most:
        return code_span(data.hex(" ")) if data else ""
    return f"{code_span(data[:most].hex(' '))} … ({len(data)} bytes)"


def _json(value: object) -> str:
    """The value as JSON, with as many members of the outermost object per line as fit."""
    if not isinstance(value, dict):
        return visible_json(json.dumps(value, ensure_ascii=False))
    parts = [
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(each, ensure_ascii=False)}"
        for name, each in value.items()
    ]
    lines = [""]
    for place, part in enumerate(parts):
        item = part + ("," if place < len(parts) - 1 else "")
        if lines[-1] and len(lines[-1]) + len(item) >= _WIDTH:
            lines.append(item)
        else:
            lines[-1] += f" {item}" if lines[-1] else item
    return "\n".join(("{", *(f"  {visible_json(line)}" for line in lines), "}"))


def _others(good: Sequence[Example]) -> str:
    rows = [(text(each.name), settings(each), _hex(each.data, _WHOLE)) for each in good]
    return blocks("### More examples", table(("example", "parameters", "bytes"), rows)) if rows else ""


def _refused(bad: Sequence[Example]) -> str:
    rows = [
        (
            text(each.name),
            settings(each),
            code_span(each.error or ""),
            code_span(each.path) if each.path else "",
            "" if each.offset is None else str(each.offset),
        )
        for each in bad
    ]
    head = ("example", "parameters", "error", "at", "byte")
    return blocks("### Records that decoders refuse", table(head, rows)) if rows else ""
