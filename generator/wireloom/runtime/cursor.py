"""The one way to read binary input: a bounds-checked position in a record.

Every read is checked against the end of the innermost region before anything is touched or reserved. A region that is
too small is an error of the region (`overrun`), the end of the input is `truncated`.
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
"""How often alternatives and checksums may go over a record, the bytes that always may be gone over again, and those
that following a pointer counts for."""


class Cursor(io.BytesIO):
    """A record's bytes, a position, and the end of the region in force. Offsets are bytes from the record's start."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.total = len(data)
        self.begin()
        self.checkpoints: Iterator[Checkpoints] = iter(())  # what the engine says of each reading of the record
        self.is_unpacked = False  # whether these are the bytes that a region unpacked to
        self.goes_on = False  # whether bytes may come after these that decide in which way a record reads
        self.keeps_open = False  # whether open values are given as their bytes
        self.reader: Callable[[bytes, int, int], Any] | None = None  # of JSON texts, where not the parser's own
        self.document: Any = None  # the nodes of the JSON text that the record is, once it has been read
        # Lists and maps that were keys, by their ids, and what makes them equal to others.
        self.keys: dict[int, tuple[object, tuple[str, object]]] = {}

    def begin(self) -> None:
        """A record is about to be read from here on."""
        self.limit = self.total
        self.overrun = "truncated"
        self.depth = 0
        self.frame_end: int | None = None
        self.origin = self.furthest = self.tell()
        self.again = 0
        self.retried = 0  # stretches around that are read again, or that may be
        self.checksums = self.constants = 0  # bits that were verified, of either
        self.frame_proof = (0, 0)  # the same, as far as the frame

    def go_over_again(self, start: int, end: int, count: int | None = None) -> None:
        """Count bytes that are read more than once, those from `start` to `end` or so many; `size_limit` if too many.

        Alternatives that fail, checksums and what pointers and lists find elsewhere go over bytes that others read. Of
        each stretch AGAIN_FREE bytes are free, and of the rest AGAIN times what the record has. Nothing is free of a
        stretch within another one: stretches of a few bytes within one another would be read without end.
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
        """The next `count` bytes; raises DecodeError where they are not all there."""
        start = self.tell()
        if count > self.limit - start:
            raise self.short(start, count)
        return self.read(count)

    def ending(self, ending: "Ending") -> tuple[int, int] | None:
        """Where the value that begins here ends within the region, and where its delimiter does; None if nowhere."""
        return ending.find(self.getvalue(), self.tell(), self.limit)

    def starts_with(self, data: bytes) -> bool:
        """Whether `data` stands here, within the region."""
        start = self.tell()
        return self.getvalue().startswith(data, start, self.limit)

    def short(self, start: int, count: int) -> DecodeError:
        """The error of `count` bytes wanted at `start` and not there."""
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
