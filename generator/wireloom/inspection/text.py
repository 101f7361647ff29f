"""Rows as lines of text: offset, length, bytes, name, value, meaning.

A line consists of pieces, each with the name of a style; the code that prints them decides about colours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireloom.inspection.records import Found
from wireloom.inspection.rows import AUXILIARY, Fault, damage_of, meaning_of, name_of, space_text, value_of
from wireloom.runtime.errors import amount
from wireloom.runtime.spans import Explained, Space, Span

Piece = tuple[str, str]
Line = tuple[Piece, ...]

SHOWN = 8
"""Bytes in a row, and elements of a long list that are always shown."""
DUMPED = 16
"""Bytes per line of a dump."""
_AROUND = 2  # lines of a dump before and after the faulty byte
_WIDEST = 44


@dataclass(frozen=True, slots=True)
class View:
    """The part of a record to show: a span, with so many levels below it."""

    span: Span
    depth: int | None = None
    whole: bool = False  # show all bytes of the span


@dataclass(frozen=True, slots=True)
class _Row:
    level: int
    span: Span | None
    text: str = ""


def lines(explained: Explained, fault: Fault | None, view: View) -> Iterator[Line]:
    """The lines of the record's rows, and of its fault."""
    rows = list(_rows(view.span, 0, view.depth, fault))
    width = min(max((len(_name(row)) for row in rows), default=0), _WIDEST)
    yield ((f"{'offset':>8} {'length':>6}  {'bytes':{3 * SHOWN}} {'field':{width}}  value", "head"),)
    space = view.span.space
    marked = frozenset() if fault is None else frozenset(map(id, _at_fault(view.span, fault)))
    for row in rows:
        if row.span is not None and row.span.space != space:
            space = row.span.space
            yield ((f"{'':16} {_space_line(explained.spaces[space])}", "space"),)
        yield _line(explained, row, width, marked=id(row.span) in marked)
    if view.whole:
        yield ()
        yield from dump(explained.bytes_of(view.span), view.span.start)
    if fault is not None:
        yield ()
        yield from fault_lines(explained, fault)
    elif hint := damage_of(explained)[0]:
        yield ()
        yield ((f"another alternative was given up, for its checksum {explained.refused[0].name} is wrong", "fault"),)
        yield (("  hint      ", "dim"), (hint, ""))


def fault_lines(explained: Explained, fault: Fault) -> Iterator[Line]:
    """A dump around the faulty byte, and the reason of the fault."""
    space = explained.spaces[fault.space]
    where = "" if fault.space == 0 else f" of what {space.codec} unpacked from bytes {space.start} to {space.end - 1}"
    yield (
        (f"fault at byte {fault.offset}{where}{_other(fault)}: {fault.code}", "fault"),
        (f" ({fault.meaning})" if fault.meaning else "", ""),
    )
    for name, text in (
        ("path", fault.path),
        ("expected", fault.expected),
        ("found", fault.actual),
        ("spec", fault.line),
        ("lengths", fault.lengths),
        ("hint", fault.hint),
    ):
        if text:
            yield ((f"  {name:8}  ", "dim"), (text, ""))
    marked = [(fault.start, fault.end)]
    if fault.suspect is not None:
        marked.append((fault.suspect, fault.suspect + 1))
    near = {start // DUMPED + each for start, _ in marked for each in range(-_AROUND, _AROUND + 1)}
    for line in sorted(each for each in near if 0 <= each * DUMPED < len(space.data)):
        if line - 1 not in near and line and line != min(near):
            yield ((f"{'':8}  ...", "dim"),)
        yield from dump(space.data[line * DUMPED : (line + 1) * DUMPED], line * DUMPED)
        for start, end in marked:
            yield from _marks(start, min(end, len(space.data)), line * DUMPED)
    if fault.start >= len(space.data):
        yield (
            (f"{'':8}  the {'record' if space.number == 0 else 'content'} ends here, at byte {fault.offset}", "fault"),
        )


def _other(fault: Fault) -> str:
    """Where the wrong bytes begin, if not at the fault."""
    return "" if fault.start == fault.offset else f" (byte {fault.start} is the first that is wrong)"


def _marks(start: int, end: int, line: int) -> Iterator[Line]:
    """A line below the dump, with marks under the wrong bytes."""
    first, last = max(start, line), min(end, line + DUMPED)
    if first < last:
        name = f" byte {start}" if start >= line else ""
        yield ((f"{'':8}  {'   ' * (first - line)}{' '.join(['^^'] * (last - first))}{name}", "fault"),)


def dump(data: bytes, start: int = 0) -> Iterator[Line]:
    """A dump of bytes, sixteen per line, in hexadecimal and as text."""
    for place in range(0, len(data), DUMPED):
        part = data[place : place + DUMPED]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)
        yield (f"{start + place:8}", "dim"), (f"  {part.hex(' '):{3 * DUMPED}} ", ""), (text, "dim")


def _rows(span: Span, level: int, depth: int | None, fault: Fault | None) -> Iterator[_Row]:
    yield _Row(level, span)
    if depth is not None and level >= depth:
        if span.children:
            yield _Row(level + 1, None, f"... {_count(span)} within; --depth shows more")
        return
    shown = [each for each in span.children if each.kind != "syntax" and not _is_name(each)]
    elements, left = 0, list[Span]()
    for child in shown:
        is_element = child.kind in ("element", "entry", "key", "folded")
        elements += is_element
        is_left = child.kind == "folded" or (elements > SHOWN and is_element and not _has(child, fault))
        if is_left or (left and child.kind in AUXILIARY):
            left.append(child)
            continue
        yield from _left(left, level)
        left = []
        yield from _rows(child, level + 1, depth, fault)
    yield from _left(left, level)


def _is_name(span: Span) -> bool:
    return span.kind == "name"


def _left(spans: Sequence[Span], level: int) -> Iterator[_Row]:
    elements = [each for each in spans if each.path]
    if elements:
        first, last = elements[0], elements[-1]
        paths = list(dict.fromkeys((first.path, _last_path(last))))
        places = f"{' to '.join(paths)}, bytes {first.start} to {max(last.end - 1, first.start)}"
        count = sum(len(each.elements) or 1 for each in elements)
        text = f"... {count} more, {places}; --path shows one"
        yield _Row(level + 1, None, text)


def _last_path(span: Span) -> str:
    """The path of an element; of folded ones, that of the last."""
    if span.kind != "folded":
        return span.path
    return f"{span.path.removesuffix(f'[{span.elements.start}]')}[{span.elements.stop - 1}]"


def _count(span: Span) -> int:
    return sum(1 for _ in span.walk()) - 1


def _has(span: Span, fault: Fault | None) -> bool:
    """Whether a span contains the fault, or is directly before it."""
    return span.failed or (fault is not None and span.space == fault.space and span.start <= fault.offset <= span.end)


def _name(row: _Row) -> str:
    return "  " * row.level + (row.text or "" if row.span is None else name_of(row.span))


def _line(explained: Explained, row: _Row, width: int, *, marked: bool) -> Line:
    if row.span is None:
        return ((f"{'':16}  {'':{3 * SHOWN}} {'  ' * row.level}{row.text}", "dim"),)
    span = row.span
    style = "fault" if marked else "dim" if span.kind in (*AUXILIARY, "ignored", "unread") else "name"
    value, meaning = value_of(span), meaning_of(span)
    place = f"{'>' if marked else ' '}{span.start:7} {span.end - span.start:6}  "
    return (
        (place, "fault" if marked else "dim"),
        (f"{_bytes(explained, span):{3 * SHOWN}} ", "fault" if marked else "bytes" if style == "name" else "dim"),
        (f"{_name(row):{width}}" if value or meaning else _name(row), style),
        (f"  {value}" if value else "", "value"),
        (f"  {meaning}" if meaning else "", "dim"),
    )


def _at_fault(span: Span, fault: Fault) -> Iterator[Span]:
    """The innermost spans that contain the faulty byte."""
    within = [found for child in span.children for found in _at_fault(child, fault)]
    yield from within
    if within or span.space != fault.space or span.kind in ("computed", "mark", "bits"):
        return
    if span.start <= fault.start < span.end or (span.start == span.end == fault.start and span.failed):
        yield span


def _bytes(explained: Explained, span: Span) -> str:
    if any(child.kind not in ("bits", "computed", "mark") for child in span.children) or span.kind in (
        "mark",
        "computed",
        "bits",
    ):
        is_text = [child for child in span.children if child.kind not in AUXILIARY]
        if is_text or span.kind in ("mark", "computed", "bits", "record"):
            return ""
    data = explained.spaces[span.space].data[span.start : min(span.end, span.start + SHOWN)]
    if span.end - span.start > SHOWN:
        return f"{data[: SHOWN - 1].hex(' ')} .."
    return data.hex(" ")


def _space_line(space: Space) -> str:
    return f"--- {space_text(space)}; offsets count from their start" if space.number else "--- the record again"


def summary(found: Found, format: str) -> str:
    """A summary line: `events.log: record 3 at byte 1234, 61 bytes of heartbeat (the first bad one)`."""
    why = f" ({found.why})" if found.why else ""
    place = "" if found.is_alone else f"record {found.index} at byte {found.offset}, "
    return f"{found.name}: {place}{amount(len(found.data))} of {format}{why}"
