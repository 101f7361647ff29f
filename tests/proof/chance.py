"""Chance with a seed: what one seed makes, it makes again."""

import random
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

_Option = TypeVar("_Option")
_LEANING, _RARE = 0.08, 0.5  # of the places that choose, those that lean; what is chosen less often than that is rare
_AS_OFTEN, _TIMES = 0.6, 12

_leans: list[int] = []  # by which seeds places lean, the innermost last


@contextmanager
def leaning(seed: int) -> Iterator[None]:
    """Within it some of the places that choose take what is rare far oftener, for each seed others.

    A spec is then full of a few things, which so meet one another and the rest of the language.
    """
    _leans.append(seed)
    try:
        yield
    finally:
        _leans.pop()


def _leans_to(frame: FrameType, option: int) -> bool:
    """Whether what is chosen at a place in the code leans to one of its options."""
    if not _leans:
        return False
    place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}:{option}"
    return zlib.crc32(f"{_leans[-1]}:{place}".encode()) < _LEANING * 2**32


class Chance(random.Random):
    """The choices that a spec, its values and its records are made by."""

    def often(self, share: float) -> bool:
        """True in that share of cases."""
        if 0 < share < _RARE and _leans_to(sys._getframe(1), 0):
            share = _AS_OFTEN
        return self.random() < share

    def one(self, options: Sequence[_Option]) -> _Option:
        """One of the options."""
        return options[int(self.random() * len(options))]

    def some(self, options: Sequence[_Option], least: int = 0) -> list[_Option]:
        """Some of the options, in their order."""
        count = self.randint(min(least, len(options)), len(options))
        return [options[place] for place in sorted(self.sample(range(len(options)), count))]

    def weighted(self, options: Sequence[tuple[float, _Option]]) -> _Option:
        """One of the options, by weight."""
        return self._weighted(options, sys._getframe(1))

    def does(self, options: Sequence[tuple[float, Callable[[], Any]]]) -> Any:
        """What one of the makers makes."""
        return self._weighted(options, sys._getframe(1))()

    def _weighted(self, options: Sequence[tuple[float, _Option]], frame: FrameType) -> _Option:
        weights = [weight * (_TIMES if _leans_to(frame, place) else 1) for place, (weight, _) in enumerate(options)]
        (chosen,) = self.choices([option for _, option in options], weights)
        return chosen
