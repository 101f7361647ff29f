"""Tables that choose a target by a value.

Values are hashed by one multiplication. The compiler searches for a multiplier without collisions, so the machine looks
up one entry of the table and compares once.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.programs.assembly import Label, Uncovered

_Way = TypeVar("_Way")
Choice = Sequence[tuple[Sequence[nodes.Scalar], _Way]]
"""Cases, each with the values that select it; the case without values takes all others."""


def hashed(targets: Mapping[int | None, Label | int], otherwise: Label | None = None) -> list[Any]:
    """A table of targets, hashed by value, after the targets of null and of any other value."""
    given = {value: (target,) for value, target in targets.items() if value is not None}
    return [targets.get(None, otherwise), otherwise, *hashed_entries(given, nothing=(0, -1))]


def pattern(number: int) -> int:
    """A 64-bit number as a signed one with the same bits."""
    return int(number) - (1 << 64 if number >> 63 > 0 else 0)


def is_beyond(value: object) -> bool:
    """Whether a value is a number beyond 63 bits."""
    return isinstance(value, int) and value >> 63 > 0


def has_beyond(values: Sequence[nodes.Meaning]) -> bool:
    """Whether some wire values are numbers beyond 63 bits, which no register holds."""
    return any(is_beyond(each.wire) for each in values)


def otherwise(cases: "Choice[_Way]") -> "_Way | None":
    """The case for all other values; None if they are an error."""
    values, way = cases[-1]
    return None if values else way


def hashed_entries(given: Mapping[int, tuple[Any, ...]], nothing: tuple[int, ...] = (0, -1, 0)) -> list[Any]:
    """A table in which each value has its own place: the highest bits of its product with a multiplier.

    It holds the shift, the multiplier and the number of places, then each value with its words, or `nothing`.
    """
    source = random.Random(len(given))  # noqa: S311 - no secret: a fixed seed gives the same table each time
    for bits in range(1, 13):
        for tries in range(64):
            drawn = source.getrandbits(63) | 1
            multiplier = drawn if tries else pattern(1 << 64 - bits)  # this one selects the lowest bits
            places = {value: (value * multiplier & (1 << 64) - 1) >> 64 - bits for value in given}
            if len(set(places.values())) == len(given):
                entries = [nothing] * (1 << bits)
                for value, place in places.items():
                    entries[place] = (value, *given[value])
                return [64 - bits, multiplier, 1 << bits, *(word for entry in entries for word in entry)]
    raise Uncovered("a choice among too many values")
