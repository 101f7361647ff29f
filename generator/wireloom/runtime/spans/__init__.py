"""A parse that explains every byte of a record; `spans` describes its result.

The constructs of a format are copied once, so that the copies report to a tracer (`traced`, `tracer`); the reports
become spans (`covering`). None of this is imported, or costs time, before a record is explained.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from wireloom.runtime.checkpoints import Checkpoints, Unread
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.record import Record
from wireloom.runtime.root import Root
from wireloom.runtime.spans.covering import Claims, fault_of
from wireloom.runtime.spans.spans import Explained, Span
from wireloom.runtime.spans.traced import traced
from wireloom.runtime.spans.tracer import ABSENT, BODILESS, TRACER, Covered, Fault, Folding, Space, Tracer

__all__ = ["ABSENT", "BODILESS", "Covered", "Explained", "Fault", "Space", "Span", "Trace"]

KEPT = 8
"""The number of first elements of a long list that are never folded."""
MANY = 1000
"""The number of elements from which a record's long lists are folded."""
LARGE = 1 << 16
"""The same, in bytes, for a record whose elements were not counted."""
_DEEPER = 4  # factor on the recursion limit of the parser


@dataclass(frozen=True, slots=True)
class Trace:
    """The parse of a record that is all of `data`, good or bad. `label` adds the format's description to an error."""

    format: str
    root: Root
    data: bytes
    settings: Mapping[str, Any]
    label: Callable[[DecodeError], DecodeError]

    def explained(self) -> Explained:
        """The spans of the record."""
        return self._with_room(None)

    def summarized(self, checkpoints: "tuple[bytes, Any] | None", indices: frozenset[int] = frozenset()) -> Explained:
        """The spans; in a large record the elements of long lists are folded, except the first ones and a bad one.

        Elements that the engine has read, as `checkpoints` say, are skipped, unless elements are requested by
        `indices`.
        """
        is_long = len(self.data) >= LARGE if checkpoints is None else Checkpoints.elements(checkpoints[0]) >= MANY
        if not is_long:
            return self.explained()
        if checkpoints is not None and not indices:
            with suppress(Unread):
                found = self._explained(Folding(KEPT, set()), *checkpoints)
                if found.error is None or found.error.code != "size_limit":  # the engine counts that differently
                    return found
        return self._with_room(Folding(KEPT, set(indices)))

    def _with_room(self, folding: Folding | None) -> Explained:
        """The spans; if tracing exceeds the stack, the parser decides if the record does, else the limit is raised."""
        found = self._explained(folding)
        if found.error is None or found.error.code != "depth_limit":
            return found
        try:
            self.root.complete(self.root.construct.read_all(Cursor(self.data), self.settings))
        except DecodeError as error:
            if error.code == "depth_limit":
                fault = Fault(0, error.offset, error.offset, error.offset + 1)
                known = found.fault if _same(found.error, error) else fault
                return replace(found, error=self.label(error).bare(), fault=known)
        with _deeper():
            return self._explained(folding)

    def _explained(self, folding: Folding | None, checkpoints: bytes | None = None, native: Any = None) -> Explained:
        tracer, value, error = Tracer(self.data, folding), None, None
        cursor = tracer.cursor(self.data)
        if checkpoints is not None:
            cursor.checkpoints = Checkpoints.passes(checkpoints, native)
        construct = _traced(self.root.construct)
        try:
            read = construct.read_all(cursor, {**self.settings, TRACER: tracer})
            value = self.root.complete(read) if checkpoints is None else None
        except DecodeError as raised:
            error = self.label(raised).bare()
        node, spaces, fault, _ = next(
            (each for each in tracer.roots if error is not None and each[3] is error),
            tracer.roots[-1] if tracer.roots else (tracer.root, tracer.spaces, None, None),
        )
        Claims(spaces).settle(node, failed=error is not None)
        place = fault or (0, 0 if error is None else error.offset)
        found = None if error is None else fault_of(node, place, error, spaces[place[0]].data)
        span = Span(node, self.root.logical)
        refused = tuple(Span(each, None) for each in tracer.refused)
        return Explained(self.format, tuple(spaces), span, value, error, found, refused)


def _same(one: DecodeError, other: DecodeError) -> bool:
    return (one.offset, one.components) == (other.offset, other.components)


@contextmanager
def _deeper() -> Iterator[None]:
    """Raise Python's recursion limit temporarily."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit * _DEEPER)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@lru_cache(maxsize=64)
def _traced(record: Record) -> Record:
    return traced(record)
