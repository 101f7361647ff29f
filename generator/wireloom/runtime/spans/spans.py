"""What a traced parse gives: a tree of spans, each a range of bytes with its place, name, value and meaning."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from wireloom.runtime.errors import DecodeError

ABSENT: Any = object()
"""The value of a span that has none, such as a container."""

BODILESS = ("computed", "mark", "bits")
"""Kinds of spans that have no bytes of their own."""


class Fault(NamedTuple):
    """The byte that an error is about: its space, and its offset there."""

    space: int
    offset: int


class Covered(NamedTuple):
    """The bytes that a checksum covers, and whether it held; None where it was not verified."""

    start: int
    end: int
    holds: bool | None


class Span(NamedTuple):
    """Bytes `start` to `end` of a space, and what they are.

    `kind` says what the span is:

    | kind | bytes that are |
    |---|---|
    | `record`, `field`, `element`, `entry`, `key` | a value that has a path |
    | `bits` | some bits of the integer around, `low` the lowest of them and `width` their number |
    | `computed`, `mark` | none: a value derived from others, or a named offset |
    | `length`, `head`, `tag`, `name`, `pointer` | what tells where or how large other bytes are, or their name |
    | `content`, `delimiter`, `terminator`, `padding`, `syntax` | the rest of a value |
    | `packed` | a region whose content is another space; its one child has the content |
    | `ignored` | read by no field |
    | `unread` | what follows a fault |

    `value` is what readers see and `wire` the number or text on the wire, where that is another. `space` 0 is the
    record; every unpacked region has a space of its own, with offsets from 0. `shared` spans have bytes that an earlier
    span has too. `leads` is the offset that a pointer leads to. `struct` is the type of the spec that the fields within
    belong to, and `holder` the type that the span itself is a field of.
    """

    kind: str
    name: str
    path: str
    start: int
    end: int
    space: int = 0
    value: Any = ABSENT
    wire: Any = ABSENT
    doc: str = ""
    unit: str = ""
    hidden: bool = False
    constant: bool = False
    struct: str = ""
    holder: str = ""
    low: int = 0
    width: int = 0
    leads: int | None = None
    covers: Covered | None = None
    shared: bool = False
    failed: bool = False
    note: str = ""
    children: tuple["Span", ...] = ()

    def walk(self) -> Iterator["Span"]:
        """This span and all within it, in order."""
        waiting = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(span.children))

    @property
    def owns(self) -> bool:
        """Whether it is one of the spans of which each byte of a space has exactly one."""
        if self.kind in BODILESS or self.shared:
            return False
        parts = [each for each in self.children if each.kind not in BODILESS and each.space == self.space]
        return self.start < self.end and all(each.start == each.end for each in parts)


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes with offsets of their own: the record, or what a region of another space unpacked to."""

    number: int
    data: bytes
    codec: str = ""
    parent: int = 0
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Explained:
    """One record: its bytes, the tree of its spans, and its value, or the error of the first byte that is wrong."""

    format: str
    spaces: tuple[Space, ...]
    span: Span
    value: Any
    error: DecodeError | None
    fault: Fault | None

    @property
    def data(self) -> bytes:
        """The bytes of the record."""
        return self.spaces[0].data

    def leaves(self, space: int = 0) -> list[Span]:
        """The spans of which each byte of a space has exactly one, in the order of the bytes."""
        found = [span for span in self.span.walk() if span.space == space and span.owns]
        return sorted(found, key=lambda span: span.start)

    def at(self, offset: int, space: int = 0) -> Span | None:
        """The innermost span of a byte."""
        return next((span for span in self.leaves(space) if span.start <= offset < span.end), None)

    def find(self, path: str) -> Span | None:
        """The first span of a path; None where the record has none."""
        return next((span for span in self.span.walk() if span.path == path), None)

    def bytes_of(self, span: Span) -> bytes:
        """The bytes of a span."""
        return self.spaces[span.space].data[span.start : span.end]
