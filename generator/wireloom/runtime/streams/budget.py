"""How many bytes of input are decoded at once: as many as become columns of a bounded size.

A record of a kilobyte may become a megabyte of columns, which is known only after it was decoded. So the first window
is small. Each later window is as large as the records before suggest, up to a limit of the input. If records suddenly
expand more than those before, the window is decoded in several parts: a part ends after the record that fills the
columns to their limit.
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
        """A budget of at most so many bytes of input, before anything was decoded."""
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
