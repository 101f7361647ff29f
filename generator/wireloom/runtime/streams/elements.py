"""Splits one JSON array into its elements, by brackets and quotes alone; elements are not parsed here.

So a bad element costs only itself, if its brackets and quotes show where it ends; otherwise the rest of the stream is
lost. The window grows until it contains the whole element, and each byte is looked at once. A stream that is not an
array is one bad record; so are bytes after the end of the array. A stream of white space has no records.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from wireloom.runtime import engine

Read = Callable[[int], bytes]
"""Reads the next bytes of a stream: as many as requested, or all that are left."""
TOO_LARGE = "size_limit"
_WINDOW = 1 << 20
_WHITE = b" \t\n\r"
_SPACE = re.compile(rb"[ \t\n\r]*+")
# a repeated group is not possessive: Python 3.11.2 then forgets where a failed alternative began
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*")*', re.DOTALL)
"""The text between two brackets; strings are matched whole, as brackets in them do not count."""
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|"[^"\\]*+(?:\\.[^"\\]*+)*")*', re.DOTALL)
"""The same, also ended by a comma, which ends an element at the top level."""
_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*', re.DOTALL)
_OPENING, _COMMA, _QUOTE, _END = b"[{", b",", b'"', b"]"


@dataclass(frozen=True, slots=True)
class Piece:
    """An element, or a fault with its code in `problem`. After a fault there are no elements, unless one was too large.

    `size` counts all bytes; `data` of a bad element has at most `Limits.kept` of them.
    """

    offset: int
    size: int
    data: bytes
    problem: str = ""
    expected: str = ""

    @property
    def last(self) -> bool:
        """Whether no element can be found after it."""
        return bool(self.problem) and self.problem != TOO_LARGE


@dataclass(frozen=True, slots=True)
class Limits:
    """The bytes of the largest element, and the bytes to keep of a bad one."""

    largest: int
    kept: int


@dataclass(slots=True)
class _Scan:
    """The position and the bracket depth of the search for the end of an element."""

    position: int = 0
    depth: int = 0
    quoted: bool = False

    def end(self, data: bytes, native: Any) -> int:
        """The offset of the comma or bracket after the element; -1 if it is not in the data."""
        if native is None:
            return self._end(data)
        found: int
        found, self.position, self.depth, self.quoted = native.element_end(data, self.position, self.depth, self.quoted)
        return found

    def _end(self, data: bytes) -> int:
        """`end` without the engine."""
        while self.position < len(data):
            if self.quoted:
                self._pass_string(data)
                if self.quoted:
                    return -1
                continue
            found = (_WITHIN if self.depth else _BETWEEN).match(data, self.position)
            assert found is not None
            self.position = found.end()
            mark = data[self.position : self.position + 1]
            if not mark:
                return -1
            if not self.depth and mark in (_COMMA, _END):
                return self.position
            self._enter(mark)
        return -1

    def _enter(self, mark: bytes) -> None:
        self.position += 1
        if mark == _QUOTE:  # of an incomplete string
            self.quoted = True
        elif mark in _OPENING:
            self.depth += 1
        elif self.depth:
            self.depth -= 1

    def _pass_string(self, data: bytes) -> None:
        found = _STRING.match(data, self.position)
        assert found is not None
        self.position = found.end()
        if data[self.position : self.position + 1] == _QUOTE:
            self.position += 1
            self.quoted = False


@dataclass(slots=True)
class _Window:
    """The bytes held of a stream: `data` begins at offset `base`."""

    read: Read
    limits: Limits
    native: Any  # the engine, which finds the ends of elements faster, or None
    data: bytes = b""
    base: int = 0

    def load(self, position: int) -> bool:
        """Drop the bytes before `position` and read on; whether there was more."""
        held = len(self.data) - position
        addition = self.read(max(_WINDOW, held))
        self.data, self.base = self.data[position:] + addition, self.base + position
        return bool(addition)

    def byte(self, position: int) -> tuple[bytes, int]:
        """The next byte that is not white space (empty at the end), and its position; the window may have moved."""
        while True:
            found = _SPACE.match(self.data, position)
            assert found is not None
            position = found.end()
            if position < len(self.data):
                return self.data[position : position + 1], position
            more = self.load(position)
            position = 0
            if not more:
                return b"", 0

    def rest(self, position: int) -> tuple[bytes, int]:
        """The remaining bytes, as far as they are kept, and their size."""
        kept = self.limits.kept
        data = self.data[position : position + kept]
        size = len(self.data) - position
        while part := self.read(kept):
            data += part[: kept - len(data)]
            size += len(part)
        return data, size


def elements(read: Read, limits: Limits) -> Iterator[Piece]:
    """The elements of the array in a stream."""
    window = _Window(read, limits, engine.module() if engine.available() else None)
    mark, position = window.byte(0)
    if mark != b"[":
        if mark:
            yield _wrong(window, position, "json_syntax", "an array")
        return
    mark, position = window.byte(position + 1)
    while mark != _END:
        piece, position = _element(window, position)
        yield piece
        if piece.last:
            return
        mark = window.data[position : position + 1]
        if mark == _COMMA:
            _, position = window.byte(position + 1)
    mark, position = window.byte(position + 1)
    if mark:
        yield _wrong(window, position, "trailing_bytes", "the end of the stream after its array")


def _element(window: _Window, position: int) -> tuple[Piece, int]:
    """The element at a position, and the position of its end mark; without one, it is the last element."""
    scan, dropped, kept, limits = _Scan(position), 0, b"", window.limits
    while (end := scan.end(window.data, window.native)) < 0:
        if dropped + len(window.data) - position > limits.largest:  # too large: keep no more of it
            kept = kept or window.data[position : position + limits.kept]
            dropped, position = dropped + scan.position - position, scan.position
        scan.position -= position
        more = window.load(position)
        position = 0
        if not more:
            data = kept or window.data[: limits.kept]
            size = dropped + len(window.data)
            return Piece(window.base - dropped, size, data, "truncated", "the rest of the array"), 0
    start, size = window.base + position - dropped, dropped + end - position
    if size > limits.largest:
        return Piece(start, size, kept or window.data[position : position + limits.kept], TOO_LARGE), end
    data = window.data[position:end].rstrip(_WHITE)
    return Piece(start, len(data), data), end


def _wrong(window: _Window, position: int, problem: str, expected: str) -> Piece:
    start = window.base + position
    data, size = window.rest(position)
    return Piece(start, size, data, problem, expected)
