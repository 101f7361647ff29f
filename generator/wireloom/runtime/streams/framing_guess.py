"""Guesses the framing of a file from its first bytes, if they do not fit the framing that is used.

A file that is read with the wrong framing is one bad record or, if the format accepts any bytes, one good record of
nonsense. A guess is only ever shown to the user; it never changes how the file is read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from wireloom.runtime.errors import ParameterError
from wireloom.runtime.streams.framed import Framed
from wireloom.runtime.streams.framing import Prefixed

HEAD = 1 << 16
"""Bytes to look at."""
SEVERAL = 20
"""Records that must be good to prefer one way of reading."""
_SIZES = Prefixed()
_TURNED = bytes(255 - byte for byte in range(256))
LIKELIEST = ("length-prefixed", "concatenated", "array", "lines", "none")

Read = Callable[[bytes, str], Iterator[Framed]]
"""The records of bytes in a framing, up to the first bad one; raises ParameterError if the format cannot have it."""


def likely_framing(read: Read, head: bytes, size: int | None, framing: str) -> str | None:
    """Another framing that a file fits, by its first bytes and its size, if that is known; None if none fits.

    A file that fits `framing` is not examined further, except for length prefixes in a file read as one record: a
    format that accepts any bytes accepts those too.
    """
    found = _Head(read, head, size)
    if not head:
        return None
    if framing == "none":
        if found.fits("length-prefixed"):
            return "length-prefixed"
        if found.whole and found.fits("none"):
            return None
    elif found.begins(framing):
        return None
    return next((each for each in LIKELIEST if each != framing and found.fits(each)), None)


def fits(read: Read, head: bytes, size: int | None, framing: str) -> bool:
    """Whether the first records of a file are good, and would not be if its bytes were inverted."""
    found = _Head(read, head, size)
    return (
        found.fits(framing)
        and found.all_right(framing)
        and not _Head(read, head.translate(_TURNED), size).fits(framing)
    )


@dataclass(frozen=True, slots=True)
class _Head:
    read: Read
    data: bytes
    size: int | None

    @property
    def whole(self) -> bool:
        """Whether these bytes are the whole file."""
        return self.size == len(self.data)

    def begins(self, framing: str) -> bool:
        """Whether the first record is good, or incomplete."""
        first = next(iter(self._first(framing)), None)
        return first is not None and self._is_right(first)

    def fits(self, framing: str) -> bool:
        """Whether the first records are good: two of them, or the only one."""
        if framing == "none" and not self.whole:
            return False
        if framing == "length-prefixed" and not self._has_prefixes():
            return False
        found = self._first(framing)
        if not found or found[0].error is not None:
            return False
        if framing == "lines" and len(found) > 1 and self._is_one_record(found):
            return False
        if len(found) > 1:
            return self._is_right(found[1])
        return self.whole

    def all_right(self, framing: str) -> bool:
        """Whether several records are all good."""
        return all(map(self._is_right, self._first(framing, SEVERAL)))

    def _first(self, framing: str, count: int = 2) -> list[Framed]:
        try:
            return list(islice(self.read(self.data, framing), count))
        except ParameterError:
            return []

    def _is_right(self, record: Framed) -> bool:
        """Whether a record is good, or cut off by the end of these bytes."""
        return record.error is None or (not self.whole and record.error.cut_off)

    def _is_one_record(self, lines: list[Framed]) -> bool:
        """Whether the lines also parse as one record, in which case they prove nothing."""
        both = self.data[: lines[1].offset + lines[1].size]
        return any(record.error is None for record in self.read(both, "none"))

    def _has_prefixes(self) -> bool:
        """Whether length prefixes lead to the end of the file, or over two records within these bytes."""
        place = count = 0
        while (measured := _SIZES.measured(self.data, place)) is not None:
            width, length = measured
            if not length:
                return False
            place += width + length
            count += 1
        return place == self.size or (not self.whole and count > 1)
