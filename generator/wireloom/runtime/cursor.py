"""The one way to read binary input: a bounds-checked position in a record.

Every read is checked against the end of the innermost region before it touches or allocates anything. Reading past a
region is the region's error (`overrun`), reading past the input is `truncated`.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wireloom.runtime.errors import DecodeError, amount

if TYPE_CHECKING:
    from wireloom.runtime.checkpoints import Checkpoints
    from wireloom.runtime.primitives.delimiters import Ending

AGAIN, AGAIN_FREE, HOP = 64, 64, 16
"""The limit on rereading: how many times a record's bytes may be read again, how many bytes of each stretch are free,
and how many bytes a followed pointer counts for."""


class Cursor(io.BytesIO):
    """A record's bytes, a position, and the end of the current region. Offsets count from the record's start."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.total = len(data)
        self.begin()
        self.checkpoints: Iterator[Checkpoints] = iter(())  # the engine's notes on each reading of the record
        self.is_unpacked = False  # whether these are the bytes of an unpacked region
        self.goes_on = False  # whether later bytes could change how the record is read
        self.keeps_open = False  # whether open values are returned as their bytes
        self.reader: Callable[[bytes, int, int], Any] | None = None  # replaces the parser's reader of JSON texts
        self.document: Any = None  # the nodes of a JSON record, once it has been read
        # Lists and maps used as map keys, by their ids, each with its form for comparison.
        self.keys: dict[int, tuple[object, tuple[str, object]]] = {}

    def begin(self) -> None:
        """Start reading a record at the current position."""
        self.limit = self.total
        self.overrun = "truncated"
        self.depth = 0
        self.frame_end: int | None = None
        self.origin = self.furthest = self.tell()
        self.again = 0
        self.retried = 0  # how many enclosing stretches are, or may be, read again
        self.checksums = self.constants = 0  # bits that were verified, of each kind
        self.frame_proof = (0, 0)  # the same, up to the `frame` step

    def go_over_again(self, start: int, end: int, count: int | None = None) -> None:
        """Count bytes that are read more than once (from `start` to `end`, or `count`); may raise `size_limit`.

        Failed alternatives, checksums, pointers and jumping lists read bytes that other steps read too. Of each stretch
        AGAIN_FREE bytes are free; the rest may add up to AGAIN times the bytes of the record. A stretch within another
        one has no free bytes, or nested stretches of a few bytes could be read without limit.
        """
        self.furthest = max(self.furthest, self.tell(), end)
        size = end - start if count is None else count
        self.again += max(size, 1) if self.retried else max(size - AGAIN_FREE, 0)
        if self.again > AGAIN * max(self.furthest - self.origin, 1):
            expected = f"bytes that are read {AGAIN} times at most"
            raise DecodeError("size_limit", offset=start, expected=expected, actual="more readings of them")

    @property
    def left(self) -> int:
        """Bytes left in the region."""
        return self.limit - self.tell()

    def take(self, count: int) -> bytes:
        """The next `count` bytes; raises DecodeError if fewer are left."""
        start = self.tell()
        if count > self.limit - start:
            raise self.short(start, count)
        return self.read(count)

    def ending(self, ending: "Ending") -> tuple[int, int] | None:
        """Where the value that begins here ends within the region, and where its delimiter ends; None if nowhere."""
        return ending.find(self.getvalue(), self.tell(), self.limit)

    def starts_with(self, data: bytes) -> bool:
        """Whether the next bytes are `data`, within the region."""
        start = self.tell()
        return self.getvalue().startswith(data, start, self.limit)

    def short(self, start: int, count: int) -> DecodeError:
        """The error for `count` missing bytes at `start`."""
        return DecodeError(
            self.overrun, offset=start, expected=amount(count), actual=f"{max(self.limit - start, 0)} left"
        )

    @contextmanager
    def region(self, count: int | None, code: str) -> Iterator[None]:
        """Bound reads to the next `count` bytes; they must be used up (else `code`)."""
        start = self.tell()
        if not isinstance(count, int) or count < 0:
            actual = "null" if count is None else str(count)
            raise DecodeError(code, offset=start, expected="a size of at least 0", actual=actual)
        if count > self.limit - start:
            raise self.short(start, count)
        outer = self.limit, self.overrun
        self.limit, self.overrun = start + count, code
        try:
            yield
            if self.tell() != self.limit:
                raise DecodeError(
                    code, offset=self.tell(), expected="the end of its region", actual=f"{amount(self.left)} more"
                )
        finally:
            self.limit, self.overrun = outer
