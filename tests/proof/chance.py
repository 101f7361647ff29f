"""Seeded random choices: the same seed gives the same choices."""

import random
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

_Option = TypeVar("_Option")
_LEANING, _RARE = 0.08, 0.5  # the share of choices that lean; an option with less than this share is rare
_AS_OFTEN, _TIMES = 0.6, 12

_leans: list[int] = []  # the seeds of leaning, innermost last


@contextmanager
def leaning(seed: int) -> Iterator[None]:
    """Within the block, some choices take their rare options far more often; the seed decides which choices.

    Such a spec is full of a few features, which so meet each other and the rest of the language.
    """
    _leans.append(seed)
    try:
        yield
    finally:
        _leans.pop()


def _leans_to(frame: FrameType, option: int) -> bool:
    """Whether the choice at a place in the code leans to one of its options."""
    if not _leans:
        return False
    place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}:{option}"
    return zlib.crc32(f"{_leans[-1]}:{place}".encode()) < _LEANING * 2**32


class Chance(random.Random):
    """The random choices for a spec, its values and its records."""

    def often(self, share: float) -> bool:
        """True with the given probability."""
        if 0 < share < _RARE and _leans_to(sys._getframe(1), 0):
            share = _AS_OFTEN
        return self.random() < share

    def one(self, options: Sequence[_Option]) -> _Option:
        """One of the options."""
        return options[int(self.random() * len(options))]

    def some(self, options: Sequence[_Option], least: int = 0) -> list[_Option]:
        """Some of the options, in order."""
        count = self.randint(min(least, len(options)), len(options))
        return [options[place] for place in sorted(self.sample(range(len(options)), count))]

    def weighted(self, options: Sequence[tuple[float, _Option]]) -> _Option:
        """One of the options, by weight."""
        return self._weighted(options, sys._getframe(1))

    def does(self, options: Sequence[tuple[float, Callable[[], Any]]]) -> Any:
        """The result of one of the makers, chosen by weight."""
        return self._weighted(options, sys._getframe(1))()

    def _weighted(self, options: Sequence[tuple[float, _Option]], frame: FrameType) -> _Option:
        weights = [weight * (_TIMES if _leans_to(frame, place) else 1) for place, (weight, _) in enumerate(options)]
        (chosen,) = self.choices([option for _, option in options], weights)
        return chosen
