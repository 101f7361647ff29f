"""How many bytes of input are decoded at once: as many as become columns of a bounded size.

A record of a kilobyte may become a megabyte; how much one becomes is known only once it was decoded. So few bytes are
taken at first, and each time as many as would fit by what was learned from those before, up to a limit of the input.
Where records suddenly become more than those before did, what was taken is decoded in several parts: each ends after
the record with which the columns have as many bytes as they may.
"""

from collections.abc import Mapping
from dataclasses import dataclass

FIRST, GROWTH = 1 << 18, 4
MADE = 64 << 20
"""Bytes of columns that are made at once, if what was learned holds."""

NUMBER = 8
"""Bytes that a value without any of its own takes in columns, about."""


@dataclass(slots=True)
class Budget:
    """Bytes of input that are taken now, and at most; bytes of columns that they may become."""

    bytes: int
    most: int
    made: int = MADE

    @classmethod
    def of(cls, most: int, first: int = FIRST, made: int = MADE) -> "Budget":
        """A budget of at most so many bytes of input, of which nothing is known yet."""
        return cls(min(first, most), most, made)

    def learned(self, taken: int, made: int) -> None:
        """So many bytes became so many."""
        fitting = self.made * max(taken, 1) // max(made, 1)
        self.bytes = max(1, min(fitting, self.bytes * GROWTH, self.most))


def weight(value: object) -> int:
    """Bytes that a value of the construct parser takes in columns, about."""
    if isinstance(value, Mapping):
        return sum(map(weight, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(weight, value))
    return NUMBER + (len(value) if isinstance(value, bytes | str) else 0)
