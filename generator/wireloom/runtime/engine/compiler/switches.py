"""Tables that choose a target by a value.

Values are hashed by one multiplication. The compiler searches a multiplier without collisions, so the machine looks at
one entry of the table and compares once.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.programs.assembly import Label, Uncovered

_Way = TypeVar("_Way")
Choice = Sequence[tuple[Sequence[nodes.Scalar], _Way]]
"""Ways, each with the values that select it, or none if all others do."""


def hashed(targets: Mapping[int | None, Label | int], otherwise: Label | None = None) -> list[Any]:
    """A table of targets in which each value has its own place, after the targets of null and of any other value."""
    given = {value: (target,) for value, target in targets.items() if value is not None}
    return [targets.get(None, otherwise), otherwise, *hashed_entries(given, nothing=(0, -1))]


def pattern(number: int) -> int:
    """A number of 64 bits as the machine has it: beyond 63 bits as the negative one of the same bits."""
    return int(number) - (1 << 64 if number >> 63 > 0 else 0)


def is_beyond(value: object) -> bool:
    """Whether a value is a number beyond 63 bits."""
    return isinstance(value, int) and value >> 63 > 0


def has_beyond(values: Sequence[nodes.Meaning]) -> bool:
    """Whether some of the values on the wire that mean something are numbers that no register has."""
    return any(is_beyond(each.wire) for each in values)


def otherwise(cases: "Choice[_Way]") -> "_Way | None":
    """What a value of no case selects; None if that is an error."""
    values, way = cases[-1]
    return None if values else way


def hashed_entries(given: Mapping[int, tuple[Any, ...]], nothing: tuple[int, ...] = (0, -1, 0)) -> list[Any]:
    """A table in which each value has a place of its own: the product with a multiplier, its highest bits.

    Shift, multiplier and number of places, then the value and what is given for it; `nothing` where there is no value.
    """
    source = random.Random(len(given))  # noqa: S311 - no secret: the same table each time
    for bits in range(1, 13):
        for tries in range(64):
            drawn = source.getrandbits(63) | 1
            multiplier = drawn if tries else pattern(1 << 64 - bits)  # which gives the lowest bits
            places = {value: (value * multiplier & (1 << 64) - 1) >> 64 - bits for value in given}
            if len(set(places.values())) == len(given):
                entries = [nothing] * (1 << bits)
                for value, place in places.items():
                    entries[place] = (value, *given[value])
                return [64 - bits, multiplier, 1 << bits, *(word for entry in entries for word in entry)]
    raise Uncovered("a choice among too many values")
