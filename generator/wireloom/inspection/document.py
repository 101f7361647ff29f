"""A record as JSON for tools: its bytes, its spaces, the tree of its spans, and its fault."""

from typing import Any

from wireloom.inspection.lines import SpecLines
from wireloom.inspection.records import Found
from wireloom.inspection.rows import Fault, meaning_of, value_of, value_text
from wireloom.runtime.spans import ABSENT, BODILESS, Explained, Span


def document(found: Found, explained: Explained, fault: Fault | None, lines: SpecLines, span: Span) -> dict[str, Any]:
    """The JSON document of a record, with the spans from `span` on."""
    return {
        "format": explained.format,
        "root": found.root,
        "file": found.name,
        "record": found.index,
        "offset": found.offset,
        "size": len(explained.data),
        "spaces": [
            {"hex": space.data.hex()}
            if not space.number
            else {
                "hex": space.data.hex(),
                "codec": space.codec,
                "in": space.parent,
                "start": space.start,
                "end": space.end,
            }
            for space in explained.spaces
        ],
        "fault": None if fault is None else _fault(fault),
        "span": tree(explained, span, lines, {}),
    }


def _fault(fault: Fault) -> dict[str, Any]:
    named = {
        "code": fault.code,
        "meaning": fault.meaning,
        "path": fault.path,
        "space": fault.space,
        "offset": fault.offset,
        "start": fault.start,
        "end": fault.end,
        "expected": fault.expected,
        "actual": fault.actual,
        "spec": fault.line,
        "lengths": fault.lengths,
        "hint": fault.hint,
        "suspect": fault.suspect,
    }
    return {name: value for name, value in named.items() if value not in ("", None)}


def tree(explained: Explained, span: Span, lines: SpecLines, known: dict[tuple[str, str], str]) -> dict[str, Any]:
    """A span and its inner spans, without empty members. `known` caches the lines of fields."""
    field = (span.holder, span.name if not span.name.isdecimal() else "")
    if field not in known:
        known[field] = lines.of(span) if field[1] and span.kind in ("field", "bits", "computed") else ""
    is_leaf = all(child.kind in BODILESS for child in span.children) and span.kind not in BODILESS
    said: dict[str, Any] = {
        "kind": span.kind,
        "name": span.name,
        "path": span.path,
        "start": span.start,
        "end": span.end,
        "space": span.space,
        "hex": explained.bytes_of(span).hex() if is_leaf else "",
        "value": None if span.value is ABSENT else plain(span.value),
        "wire": None if span.wire is ABSENT else plain(span.wire),
        "text": value_of(span),
        "meaning": meaning_of(span),
        "unit": span.unit,
        "bits": [span.low, span.width] if span.width else None,
        "leads": span.leads,
        "hidden": span.hidden,
        "shared": span.shared,
        "failed": span.failed,
        "type": span.struct,
        "spec": known[field],
        "children": [tree(explained, child, lines, known) for child in span.children],
    }
    kept = ("start", "end", "kind")
    return {
        name: value
        for name, value in said.items()
        if name in kept or (value is not None and value not in ("", False, [], 0))
    }


def plain(value: object) -> object:
    """A value for JSON: bytes in hexadecimal, times and other types as text."""
    match value:
        case bytes():
            return value.hex()
        case bool() | str() | None:
            return value
        case int():
            return value if abs(value) < 1 << 53 else str(value)
        case float():
            return value if value - value == 0 else str(value)
        case list():
            return [plain(each) for each in value]
        case _:
            return value_text(value)
