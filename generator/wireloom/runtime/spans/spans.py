"""What a traced parse gives: a tree of spans, each a range of bytes with its place, name, value and meaning."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from wireloom.runtime.errors import Component, DecodeError, render_path

ABSENT: Any = object()
"""The value of a span that has none, such as a container."""

BODILESS = ("computed", "mark", "bits")
"""Kinds of spans that have no bytes of their own."""


class Fault(NamedTuple):
    """The byte that an error is about, by its space and its offset there, and the bytes that are wrong.

    Those are, from `start` to `end`, all of a value that was read and refused; of a constant the ones that differ.
    """

    space: int
    offset: int
    start: int
    end: int


class Covered(NamedTuple):
    """The bytes that a checksum covers, and whether it held; None where it was not verified.

    `fits` says of other bytes in their place whether it would hold.
    """

    start: int
    end: int
    holds: bool | None
    fits: Callable[[bytes], bool] | None = None


class Source(Protocol):
    """What a span is worked out of: a node of the trace, and what readers see of it."""

    @property
    def node(self) -> Any:
        """What the tracer noted."""

    @property
    def has_path(self) -> bool:
        """Whether it is a value with a path of its own."""

    @property
    def path(self) -> tuple[Component, ...]:
        """Its path, or that of the value that it is part of."""

    @property
    def name(self) -> str:
        """The last component of its own path."""

    @property
    def doc(self) -> str:
        """What the spec says of it."""

    @property
    def unit(self) -> str:
        """The unit of its value."""

    @property
    def hidden(self) -> bool:
        """Whether readers do not see it."""

    @property
    def measures(self) -> frozenset[str]:
        """The names of the fields from which its size, count or offset is derived."""

    @property
    def bounds(self) -> frozenset[str]:
        """The names of its fields that state where it ends."""

    @property
    def seen(self) -> str:
        """What readers call it; empty for what they do not see, and what melts into the struct around."""

    @property
    def constant(self) -> bool:
        """Whether the spec fixes its value."""

    def values(self) -> tuple[Any, Any]:
        """Its value for readers, and on the wire."""

    def children(self, holder: str) -> tuple["Span", ...]:
        """The spans within, which are of a field of the type `holder`."""


class Span:
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
    | `folded` | the elements `elements` of a list, or entries of a map, as one |
    | `ignored` | read by no field |
    | `unread` | what follows a fault |

    `value` is what readers see and `wire` the number or text on the wire, where that is another. `space` 0 is the
    record; every unpacked region has a space of its own, with offsets from 0. `shared` spans have bytes that an earlier
    span has too. `leads` is the offset that a pointer leads to. `struct` is the type of the spec that the fields within
    belong to, and `holder` the type that the span itself is a field of.

    What a span says is worked out when it is asked for: a record of a megabyte has a hundred thousand of them.
    """

    __slots__ = ("__dict__", "_source", "end", "failed", "holder", "kind", "shared", "space", "start")

    def __init__(self, source: "Source", holder: str) -> None:
        self._source, self.holder = source, holder
        node = source.node
        self.kind: str = node.kind
        self.start: int = node.start
        self.end: int = node.end
        self.space: int = node.space
        self.shared: bool = node.shared
        self.failed: bool = node.failed

    def __repr__(self) -> str:
        return f"Span({self.kind} {self.path or self.name!r}, {self.start}..{self.end}, space {self.space})"

    @cached_property
    def name(self) -> str:
        """The field's name, or the index of an element; empty where it has no path of its own."""
        return self._source.name

    @cached_property
    def path(self) -> str:
        """The path, as errors have it; empty for the record itself, and for what is no value."""
        return render_path(self._source.path) if self._source.has_path else ""

    @cached_property
    def _values(self) -> tuple[Any, Any]:
        return self._source.values()

    @property
    def value(self) -> Any:
        """The value for readers; ABSENT where there is none, as for containers."""
        return self._values[0]

    @property
    def wire(self) -> Any:
        """What is on the wire, where that is another value; else ABSENT."""
        return self._values[1]

    @property
    def doc(self) -> str:
        """What the spec says of the field."""
        return self._source.doc

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return self._source.unit

    @property
    def measures(self) -> frozenset[str]:
        """The names of the fields that the size, count or offset follows from."""
        return self._source.measures

    @property
    def bounds(self) -> frozenset[str]:
        """The names of the fields of a struct that say where it ends."""
        return self._source.bounds

    @property
    def hidden(self) -> bool:
        """Whether readers do not see the field."""
        return self._source.hidden

    @property
    def seen(self) -> str:
        """What readers call the member; empty for what they do not see, and what melts into the struct around."""
        return self._source.seen

    @property
    def constant(self) -> bool:
        """Whether the spec fixes the value."""
        return self._source.constant

    @property
    def struct(self) -> str:
        """The type of the spec whose fields are within; empty for what is no struct."""
        return str(self._source.node.struct)

    @property
    def elements(self) -> range:
        """The indices of what a folded span stands for."""
        node = self._source.node
        return range(node.first, node.entries)

    @property
    def low(self) -> int:
        """The lowest of the bits."""
        return self._source.node.bits[0] if self._source.node.bits else 0

    @property
    def width(self) -> int:
        """How many bits there are; 0 for what is whole bytes."""
        return self._source.node.bits[1] if self._source.node.bits else 0

    @property
    def leads(self) -> int | None:
        """The offset that a pointer leads to."""
        led: int | None = self._source.node.leads
        return led

    @property
    def covers(self) -> Covered | None:
        """The bytes that a checksum covers."""
        covered: Covered | None = self._source.node.covers
        return covered

    @property
    def note(self) -> str:
        """What else is to be said: why nobody reads it, which alternative holds."""
        return str(self._source.node.note)

    @cached_property
    def children(self) -> tuple["Span", ...]:
        """The spans within."""
        return self._source.children(self.holder)

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
        if self.kind in BODILESS or self.shared or self.start == self.end:
            return False
        return all(
            each.start == each.end or each.kind in BODILESS or each.space != self.space for each in self.children
        )


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
    """One record: its bytes, the tree of its spans, and its value, or the error of the first byte that is wrong.

    `refused` are checksums that were wrong, so that the record is read as something else. `is_folded`: elements of long
    lists are folded, and there is no value.
    """

    format: str
    spaces: tuple[Space, ...]
    span: Span
    value: Any
    error: DecodeError | None
    fault: Fault | None
    refused: tuple[Span, ...] = ()
    is_folded: bool = False

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

    def member(self, name: str) -> Span | None:
        """The span of a member of the record, as readers call it; None where the record has none."""
        return next((span for span in _members(self.span) if span.seen == name), None)

    def bytes_of(self, span: Span) -> bytes:
        """The bytes of a span."""
        return self.spaces[span.space].data[span.start : span.end]


def _members(span: Span) -> Iterator[Span]:
    """The members of a struct, those that melt into it and the bits of its integers among them."""
    for each in span.children:
        if each.seen:
            yield each
            yield from (part for part in each.children if part.kind == "bits")
        else:
            yield from _members(each)
