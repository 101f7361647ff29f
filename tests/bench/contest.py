"""Contestants that take turns: what is measured, and how.

Each round times every contestant once, so that what else the machine does hits all alike; a ratio is taken within a
round, and of the ratios the median. Who is slow works on a part of the messages and is scaled by it.
"""

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Contestant:
    """Somebody who does the work, or a part of it.

    `target` is the least ratio to the first contestant's time that is aimed at, `most` the highest.
    """

    name: str
    action: Action
    share: float = 1
    target: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """Work that contestants do: `messages` messages of `size` bytes."""

    title: str
    messages: int
    size: float
    contestants: Sequence[Contestant]


@dataclass(frozen=True, slots=True)
class Result:
    """What a contestant needs for all messages, and how many times the first contestant's time that is."""

    contestant: Contestant
    seconds: float
    ratio: float

    @property
    def verdict(self) -> str:
        """How the ratio stands to its target."""
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
        return f"{target:g} or more" if target is not None else f"{most:.2g} or less" if most is not None else ""


def results(work: Work, rounds: int) -> list[Result]:
    """Times and ratios of everybody, in their order."""
    for contestant in work.contestants:
        contestant.action()
    times: list[Mapping[str, float]] = []
    for number in range(rounds):
        progress(f"{work.title}: round {number + 1} of {rounds}")
        times.append({each.name: timed(each.action) / each.share for each in work.contestants})
    base = work.contestants[0].name
    progress("")
    return [
        Result(
            each,
            statistics.median(found[each.name] for found in times),
            statistics.median(found[each.name] / found[base] for found in times),
        )
        for each in work.contestants
    ]


def timed(action: Action) -> float:
    """The seconds that something takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def progress(text: str) -> None:
    """What is being done, on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
