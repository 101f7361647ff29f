"""How many bytes of input are decoded at once: as many as become columns of a bounded size.

A record of a kilobyte may become a megabyte; how much one becomes is known only once it was decoded. So few bytes are
taken at first, and each time as many as would fit by what was learned from those before, up to a limit of the input.
"""

from dataclasses import dataclass

FIRST, GROWTH = 1 << 18, 4
MADE = 64 << 20
"""Bytes of columns that are made at once, if what was learned holds."""


@dataclass(slots=True)
class Room:
    """Bytes of input that are taken now, and at most; bytes of columns that they may become."""

    bytes: int
    most: int
    made: int = MADE

    @classmethod
    def of(cls, most: int, first: int = FIRST, made: int = MADE) -> "Room":
        """Room of at most so many bytes of input, of which nothing is known yet."""
        return cls(min(first, most), most, made)

    def learned(self, taken: int, made: int) -> None:
        """So many bytes became so many."""
        fitting = self.made * max(taken, 1) // max(made, 1)
        self.bytes = max(1, min(fitting, self.bytes * GROWTH, self.most))
