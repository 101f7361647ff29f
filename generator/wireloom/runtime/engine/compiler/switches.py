"""Tables that choose a target by a value."""

import random
from collections.abc import Mapping
from typing import Any

from wireloom.runtime.engine.assembly import Label, Uncovered


def hashed(targets: Mapping[int | None, Label | int]) -> list[Any]:
    """A table in which each value has a place of its own: the product with a multiplier, its highest bits."""
    values = [value for value in targets if value is not None]
    source = random.Random(len(values))  # noqa: S311 - no secret: the same table each time
    for bits in range(1, 13):
        for _ in range(64):
            multiplier = source.getrandbits(63) | 1
            places = {value: (value * multiplier & (1 << 64) - 1) >> 64 - bits for value in values}
            if len(set(places.values())) == len(values):
                return _laid_out(targets, places, bits, multiplier)
    raise Uncovered("a choice among too many values")


def _laid_out(
    targets: Mapping[int | None, Label | int], places: dict[int, int], bits: int, multiplier: int
) -> list[Any]:
    entries: list[Any] = [0, -1] * (1 << bits)
    for value, place in places.items():
        entries[2 * place : 2 * place + 2] = [value, targets[value]]
    return [targets.get(None), 64 - bits, multiplier, 1 << bits, *entries]
