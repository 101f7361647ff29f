"""Measures contestants in turns.

Each round times every contestant once, so that other work of the machine affects all alike. Ratios are computed within
a round; the median of the rounds counts. Slow contestants work on a part of the messages, and their time is scaled.
"""

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A contestant that does all or a part of the work.

    `target` is the desired ratio to the time of `base`, `most` the highest allowed one; `base` is the name of another
    contestant, by default the first.
    """

    name: str
    action: Action
    share: float = 1
    target: float | None = None
    most: float | None = None
    base: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """Work for contestants: `messages` messages of `size` bytes."""

    title: str
    messages: int
    size: float
    contestants: Sequence[Contestant]


@dataclass(frozen=True, slots=True)
class Result:
    """The time of a contestant for all messages, and its ratio to the contestant it is compared with."""

    contestant: Contestant
    seconds: float
    ratio: float
    base: str

    @property
    def verdict(self) -> str:
        """The ratio compared with its target."""
        target, most = self.contestant.target, self.contestant.most
        if target is not None:
            return "met" if self.ratio >= target else f"missed by {100 * (1 - self.ratio / target):.0f} %"
        if most is not None:
            return "met" if self.ratio <= most else f"missed by {100 * (self.ratio / most - 1):.0f} %"
        return ""

    @property
    def wanted(self) -> str:
        """The target."""
        target, most = self.contestant.target, self.contestant.most
        return f"{target:g} or more" if target is not None else f"{most:.3g} or less" if most is not None else ""


def results(work: Work, rounds: int) -> list[Result]:
    """Times and ratios of all contestants, in order."""
    for contestant in work.contestants:
        contestant.action()
    times: list[Mapping[str, float]] = []
    for number in range(rounds):
        progress(f"{work.title}: round {number + 1} of {rounds}")
        times.append({each.name: timed(each.action) / each.share for each in work.contestants})
    progress("")
    return [_result(each, each.base or work.contestants[0].name, times) for each in work.contestants]


def _result(contestant: Contestant, base: str, times: Sequence[Mapping[str, float]]) -> Result:
    return Result(
        contestant,
        statistics.median(found[contestant.name] for found in times),
        statistics.median(found[contestant.name] / found[base] for found in times),
        base,
    )


def timed(action: Action) -> float:
    """The duration of an action in seconds."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def progress(text: str) -> None:
    """Show progress on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
