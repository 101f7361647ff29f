"""The recently used programs of a codec. The number is bounded, since each set of parameters and columns needs its own.

The least recently used program is dropped first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

MOST = 64
"""The number of programs that a cache keeps; one takes some hundred KiB."""

Program = TypeVar("Program")


@dataclass(slots=True)
class Kept(Generic[Program]):
    """Programs by their keys, the least recently used first."""

    _found: dict[tuple[object, ...], Program] = field(default_factory=dict)

    def get(self, key: tuple[object, ...], make: Callable[[], Program]) -> Program:
        """The program for a key, made if it is not cached; if two threads make it at once, the cache keeps one."""
        found = self._found.pop(key, None)
        if found is None:
            found = make()
        self._found[key] = found
        for oldest in list(self._found)[:-MOST]:
            self._found.pop(oldest, None)
        return found

    def __len__(self) -> int:
        return len(self._found)
