"""Which framing the first bytes of a file fit, where they do not fit the one that it is read by.

A file that is read by another framing than it was written by is one bad record, or, where a format takes any bytes, one
good record of nonsense. So a guess is made from the first bytes, and only ever told: nobody reads otherwise for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from wireloom.runtime.errors import ParameterError
from wireloom.runtime.streams.framed import Framed
from wireloom.runtime.streams.framing import Prefixed

HEAD = 1 << 16
"""Bytes that are looked at."""
SEVERAL = 20
"""Records that have to be right where a way to read is told from others."""
_SIZES = Prefixed()
_TURNED = bytes(255 - byte for byte in range(256))
LIKELIEST = ("length-prefixed", "concatenated", "array", "lines", "none")

Read = Callable[[bytes, str], Iterator[Framed]]
"""The records of bytes by a framing, up to the first bad one; raises ParameterError where the format has none such."""


def likely_framing(read: Read, head: bytes, size: int | None, framing: str) -> str | None:
    """Another framing that a file fits, which begins so and has so many bytes, if that is known; None where none does.

    Files that fit `framing` are not looked at further, but for prefixes of lengths in a file that is to be one record:
    formats that take any bytes take those, too.
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
    """Whether the first records of a file are right, and would not be whatever its bytes were."""
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
        """Whether these bytes are all of the file."""
        return self.size == len(self.data)

    def begins(self, framing: str) -> bool:
        """Whether the first record is right, or is not all there to tell."""
        first = next(iter(self._first(framing)), None)
        return first is not None and self._is_right(first)

    def fits(self, framing: str) -> bool:
        """Whether the first records are right: two of them, or one that is all there is."""
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
        """Whether nothing is wrong with several records."""
        return all(map(self._is_right, self._first(framing, SEVERAL)))

    def _first(self, framing: str, count: int = 2) -> list[Framed]:
        try:
            return list(islice(self.read(self.data, framing), count))
        except ParameterError:
            return []

    def _is_right(self, record: Framed) -> bool:
        """Whether nothing is wrong with a record as far as these bytes tell."""
        return record.error is None or (not self.whole and record.error.cut_off)

    def _is_one_record(self, lines: list[Framed]) -> bool:
        """Whether lines are one record as well, so that they say nothing."""
        both = self.data[: lines[1].offset + lines[1].size]
        return any(record.error is None for record in self.read(both, "none"))

    def _has_prefixes(self) -> bool:
        """Whether lengths follow one another: to the end of the file, or two within these bytes."""
        place = count = 0
        while (measured := _SIZES.measured(self.data, place)) is not None:
            width, length = measured
            if not length:
                return False
            place += width + length
            count += 1
        return place == self.size or (not self.whole and count > 1)
