"""How much of a stream was lost because the next record could not be located, and how to recover it.

Without a search that is the rest of the stream after its last record, which is bad. With `resync` it is what the search
skipped, in one or more places.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireloom.runtime.errors import amount

if TYPE_CHECKING:
    from collections.abc import Collection

    from wireloom.runtime.streams.parts import DecodedPart


@dataclass(slots=True)
class GivenUp:
    """The loss so far: `bytes` in `places`; the first one is record `record` at byte `offset`."""

    searched: bool = False
    bytes: int = 0
    places: int = 0
    record: int = 0
    offset: int = 0

    def add(self, part: "DecodedPart", bad: "Collection[int]") -> None:
        """Count the loss in a part; `bad` are the indices of its bad records."""
        for place in sorted(bad) if self.searched else [len(part.offsets) - 1] if part.rest else []:
            if not self.places:
                self.record, self.offset = part.first + place, part.offsets[place].as_py()
            self.places += 1
            self.bytes += part.sizes[place].as_py()

    def line(self, file: str, remedy: str) -> str:
        """The loss of a file, its position and the remedy, as one line; empty if nothing was lost."""
        if not self.places:
            return ""
        after = f"after record {self.record - 1}" if self.record else "from the first record on"
        if self.searched:
            where = "1 place" if self.places == 1 else f"{self.places} places"
            return f"{file}: gave up {amount(self.bytes)} in {where}, the first {after} (byte {self.offset})"
        return f"{file}: gave up the last {amount(self.bytes)}, {after} (byte {self.offset}): {remedy}"
