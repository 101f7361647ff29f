"""The programs that were used last: callers may ask with ever new parameters and columns, so the number is bounded.

A program is made once for each request; the one used longest ago is dropped first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

MOST = 64
"""Programs that are kept at once, of each sort and codec; one takes some hundred KiB."""

Program = TypeVar("Program")


@dataclass(slots=True)
class Kept(Generic[Program]):
    """Programs by what they depend on, the one that was not asked for the longest first."""

    _found: dict[tuple[object, ...], Program] = field(default_factory=dict)

    def get(self, key: tuple[object, ...], make: Callable[[], Program]) -> Program:
        """The program for a key, made where it is not kept; of two that threads make at once one is kept."""
        found = self._found.pop(key, None)
        if found is None:
            found = make()
        self._found[key] = found
        for oldest in list(self._found)[:-MOST]:
            self._found.pop(oldest, None)
        return found

    def __len__(self) -> int:
        return len(self._found)
