"""Compares two records: the fields that differ, and the bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from wireloom.inspection.rows import value_of
from wireloom.inspection.text import DUMPED, Line
from wireloom.runtime.errors import amount
from wireloom.runtime.spans import Explained, Span


@dataclass(frozen=True, slots=True)
class Changed:
    """A field that differs between two records; None on a side that lacks it."""

    path: str
    left: Span | None
    right: Span | None


def changed(left: Explained, right: Explained) -> list[Changed]:
    """The innermost fields that differ, in the order of the first record, then those that only the second has."""
    before, after = _fields(left), _fields(right)
    found = []
    for path, span in before.items():
        other = after.get(path)
        if other is None or _content(left, span) != _content(right, other):
            found.append(Changed(path, span, other))
    return found + [Changed(path, None, span) for path, span in after.items() if path not in before]


def _fields(explained: Explained) -> dict[str, Span]:
    """The spans with a value and no inner fields, by path and kind."""
    found = dict[str, Span]()
    for span in explained.span.walk():
        if span.kind in ("computed", "mark") or (span.path == "" and span.kind != "ignored"):
            continue
        inner = [child for child in span.children if child.path and child.path != span.path and child.kind != "bits"]
        if not inner and (span.value or span.start < span.end):
            key = span.path or f"({span.kind} at byte {span.start})"
            found.setdefault(f"{key} {span.kind}" if span.kind in ("key", "bits") else key, span)
    return found


def _content(explained: Explained, span: Span) -> tuple[bytes, str]:
    return (b"" if span.kind == "bits" else explained.bytes_of(span)), value_of(span)


def lines(names: tuple[str, str], left: Explained, right: Explained) -> Iterator[Line]:
    """The lines of the difference: fields, then bytes."""
    found = changed(left, right)
    for name, explained, mark in ((names[0], left, "-"), (names[1], right, "+")):
        state = "good" if explained.error is None else f"bad: {explained.error.code}, byte {explained.error.offset}"
        yield ((f"{mark} {name}: {amount(len(explained.data))}, {state}", "removed" if mark == "-" else "added"),)
    if left.data == right.data:
        yield (("the same bytes", ""),)
        return
    yield ((f"{len(found)} fields differ" if len(found) != 1 else "1 field differs", "head"),)
    for each in found:
        yield ()
        yield ((each.path, "name"),)
        yield from _side("-", left, each.left)
        yield from _side("+", right, each.right)
    yield ()
    yield from _bytes(left.data, right.data)


def _side(mark: str, explained: Explained, span: Span | None) -> Iterator[Line]:
    style = "removed" if mark == "-" else "added"
    if span is None:
        yield ((f"  {mark} not there", style),)
        return
    data = explained.bytes_of(span)
    said = data[:DUMPED].hex(" ") + (" .." if len(data) > DUMPED else "")
    yield ((f"  {mark} byte {span.start:<6} {said:{3 * DUMPED}} {value_of(span)}".rstrip(), style),)


def _bytes(left: bytes, right: bytes) -> Iterator[Line]:
    """Lines with bytes that differ; equal bytes at the start and end are skipped."""
    first = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    limit = min(len(left), len(right)) - first
    tail = next((at for at in range(limit) if left[-1 - at] != right[-1 - at]), limit)
    of_first, of_second = (_range(first, len(data) - tail) for data in (left, right))
    said = f"{of_first} in both" if of_first == of_second else f"{of_first} in the first, {of_second} in the second"
    yield ((f"different bytes: {said}", "head"),)
    if len(left) != len(right):
        return
    for start in range(first // DUMPED * DUMPED, len(left) - tail, DUMPED):
        a, b = left[start : start + DUMPED], right[start : start + DUMPED]
        if a != b:
            marks = "".join("^^ " if x != y else "   " for x, y in zip(a, b, strict=True))
            yield ((f"- {start:8}  {a.hex(' ')}", "removed"),)
            yield ((f"+ {start:8}  {b.hex(' ')}", "added"),)
            yield ((f"  {'':8}  {marks.rstrip()}", "fault"),)


def _range(start: int, end: int) -> str:
    return f"bytes {start} to {end - 1}" if end > start + 1 else f"byte {start}" if end > start else "no byte"
