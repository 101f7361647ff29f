"""The rows for the spans of a record, from which the text, the JSON and the page are rendered."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from difflib import get_close_matches
from itertools import pairwise
from typing import TYPE_CHECKING

from wireloom.inspection import changes
from wireloom.runtime.errors import DecodeError, shown
from wireloom.runtime.spans import ABSENT, Explained, Space, Span

if TYPE_CHECKING:
    from wireloom.inspection.lines import SpecLines

LONGEST = 48
"""Most characters or bytes of a value in a row."""
LENGTHS = 3
"""Most lengths before a fault that are shown."""
AUXILIARY = ("length", "head", "tag", "name", "content", "syntax", "delimiter", "terminator", "padding")
"""Kinds of spans that hold no values themselves."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a record is bad: the byte, the expected and found values, and the line of the spec.

    The bytes from `start` to `end` are wrong.
    """

    code: str
    meaning: str
    path: str
    space: int
    offset: int
    start: int
    end: int
    expected: str
    actual: str
    line: str
    lengths: str = ""
    hint: str = ""
    suspect: int | None = None
    """The one byte whose change would explain a wrong checksum."""


def fault_of(explained: Explained, lines: "SpecLines") -> Fault | None:
    """The fault of a record; None if it is good."""
    error = explained.error
    if error is None or explained.fault is None:
        return None
    hint, suspect = damage_of(explained)
    return Fault(
        error.code,
        error.meaning,
        error.path,
        *explained.fault,
        error.expected,
        error.actual,
        lines.of_error(explained),
        lengths_of(explained),
        hint or _slip(explained),
        suspect,
    )


def lengths_of(explained: Explained) -> str:
    """Lengths and counts before a fault: a wrong one makes later bytes be read as the wrong fields.

    The length of the value at fault comes first, then those of values that reach the fault, then the last before it.
    """
    fault = explained.fault
    if fault is None or changes.unverified(explained) is not None:
        return ""
    at = explained.error.components[-1:] if explained.error else ()
    said, ranks = dict[int, str](), dict[int, int]()  # by offset
    for holder, span, path, number in _lengths(explained.span):
        is_own = holder.failed or holder.name in at
        if span.space == fault.space and (is_own or (span.start < fault.offset and holder.kind != "computed")):
            said[span.start] = f"{path} at byte {span.start} says {number}"
            rank = 0 if is_own else 1 if holder.end >= fault.offset else 2
            ranks[span.start] = min(rank, ranks.get(span.start, rank))
    return "; ".join(said[place] for place in sorted(said, key=lambda each: (ranks[each], -each))[:LENGTHS])


def _lengths(record: Span) -> Iterator[tuple[Span, Span, str, int]]:
    """The lengths and counts of a record: the value that each belongs to, its span, its path, and its number."""
    known = dict[str, Span]()
    for span in record.walk():
        for name in span.measures & known.keys():
            yield from _length(span, known[name], known[name].path)
        if span.kind in ("field", "bits"):
            known[span.name] = span
        for bound in (each for each in span.children if each.name in span.bounds):
            yield from _length(bound, bound, bound.path)
        for before, part in pairwise((None, *span.children)):
            if part is not None and part.kind == "length":
                is_tagged = before is not None and before.kind == "tag"
                yield from _length(span, part, _after(span, part) if is_tagged else span.path)
            elif part is not None and part.kind == "head" and span.failed and not span.struct:
                yield from _length(span, part, span.path)


def _length(holder: Span, span: Span, path: str) -> Iterator[tuple[Span, Span, str, int]]:
    number = span.value if span.wire is ABSENT else span.wire
    if isinstance(number, int) and not isinstance(number, bool):
        yield holder, span, path, number


def _after(span: Span, part: Span) -> str:
    """The path of the value after a tag and a length."""
    return next((each.path for each in span.children if each.path and each.start >= part.end), span.path)


def _slip(explained: Explained) -> str:
    """If a member is missing, a member with a similar name, which may be a misspelling."""
    error = explained.error
    if error is None or error.code != "missing_key" or not error.components:
        return ""
    unknown = [each for each in explained.span.walk() if each.kind in ("ignored", "unread") and each.name]
    near = get_close_matches(str(error.components[-1]), [each.name for each in unknown], 1)
    found = next((each for each in unknown if near and each.name == near[0]), None)
    return "" if found is None else f"there is a member {shown(found.name)}, whose value is at byte {found.start}"


def damage_of(explained: Explained) -> tuple[str, int | None]:
    """If a checksum is wrong: where the damage may be, and the changed byte if exactly one explains it."""
    span = changes.unverified(explained)
    if span is None or span.covers is None:
        return "", None
    covered = f"bytes {span.covers.start} to {span.covers.end - 1}"
    found = changes.change(explained, span)
    if found is None:
        return f"{covered} or the checksum itself were changed", None
    within = explained.at(found.offset, span.space)
    field = f" ({within.path})" if within is not None and within.path else ""
    is_now = f"byte {found.offset}{field} is {found.found:02x}; the checksum of {covered} is right if it is"
    return f"{is_now} {found.before:02x}", found.offset


def value_text(value: object) -> str:
    """A value on one line; empty without a value."""
    if value is ABSENT:
        return ""
    match value:
        case datetime() | date():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return f"{value.total_seconds()} s"
        case list() if len(value) <= LONGEST // 4:
            return f"[{', '.join(map(value_text, value))}]"
        case bool() | int() | float() | str() | bytes() | dict() | list() | None:
            return shown(value, LONGEST)
        case _:
            return str(value)


def value_of(span: Span) -> str:
    """The value of a span, after the wire value if that differs."""
    value = value_text(span.value)
    if span.kind == "bits":
        value = f"{value_text(span.wire)} = {value}" if span.wire is not ABSENT and value else value
        return value or value_text(span.wire)
    if span.wire is ABSENT or isinstance(span.wire, bytes | list):
        return value
    return f"{value_text(span.wire)} = {value}" if value else value_text(span.wire)


def name_of(span: Span) -> str:
    """The name of a span in its row; for other bytes, their kind in brackets."""
    if span.kind == "record":
        return span.struct or "record"
    if span.kind in ("element", "entry", "key") and span.name.isdecimal():
        return f"[{span.name}]" if span.kind != "key" else f"[{span.name}] key"
    if span.kind in ("ignored", "unread"):
        return f"({span.kind}) {span.name}".rstrip()
    return span.name or f"({span.kind})"


def meaning_of(span: Span) -> str:
    """Remarks on a span besides its value."""
    said = [
        f"bits {span.low}..{span.low + span.width - 1}" if span.width > 1 else f"bit {span.low}" if span.width else "",
        span.unit,
        "constant" if span.constant else "",
        "hidden" if span.hidden else "",
        _checked(span),
        f"-> byte {span.leads}" if span.leads is not None else "",
        "computed" if span.kind == "computed" else "",
        "its bytes are shown above, too" if span.shared else "",
        span.note,
        span.doc,
    ]
    return "; ".join(" ".join(each.split()) for each in said if each)


def _checked(span: Span) -> str:
    if span.covers is None:
        return ""
    words = {True: "right", False: "WRONG", None: "not verified"}
    last = max(span.covers.end - 1, span.covers.start)
    return f"checksum of bytes {span.covers.start} to {last}: {words[span.covers.holds]}"


def space_text(space: Space) -> str:
    """A description of a space."""
    return f"unpacked by {space.codec}: {len(space.data)} bytes of bytes {space.start} to {space.end - 1}"


def chain(span: Span, wanted: Span) -> tuple[Span, ...]:
    """The spans from one down to an inner one; empty if it is not inside."""
    if span is wanted:
        return (span,)
    for child in span.children:
        found = chain(child, wanted)
        if found:
            return (span, *found)
    return ()


def paths(explained: Explained) -> Iterator[str]:
    """The paths of a record."""
    return (span.path for span in explained.span.walk() if span.path)


def error_line(error: DecodeError) -> str:
    """An error on one line, without the format's name."""
    return str(error).partition(": ")[2]
