"""How many bytes of input are decoded at once, so that the resulting columns have a bounded size.

A record of a kilobyte may become a megabyte of columns, which is known only after it was decoded. So the first window
is small. Each later window is as large as the records before suggest, up to a limit of the input. If records suddenly
expand more than those before, the window is decoded in several parts: a part ends after the record that fills the
columns to their limit.
"""

from collections.abc import Mapping
from dataclasses import dataclass

FIRST, GROWTH = 1 << 18, 4
MADE = 64 << 20
"""Bytes of columns to make at once, if records keep expanding as they did so far."""

NUMBER = 8
"""Bytes that a value takes in columns besides its text or bytes, estimated."""


@dataclass(slots=True)
class Budget:
    """The bytes of input to take now, the most to take ever, and the bytes of columns that they may become."""

    bytes: int
    most: int
    made: int = MADE

    @classmethod
    def of(cls, most: int, first: int = FIRST, made: int = MADE) -> "Budget":
        """A budget of at most `most` bytes of input, before anything was decoded."""
        return cls(min(first, most), most, made)

    def learned(self, taken: int, made: int) -> None:
        """Adjust the next window: `taken` bytes of input became `made` bytes of columns."""
        fitting = self.made * max(taken, 1) // max(made, 1)
        self.bytes = max(1, min(fitting, self.bytes * GROWTH, self.most))


def weight(value: object) -> int:
    """The bytes that a value of the construct parser takes in columns, estimated."""
    if isinstance(value, Mapping):
        return sum(map(weight, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(weight, value))
    return NUMBER + (len(value) if isinstance(value, bytes | str) else 0)
