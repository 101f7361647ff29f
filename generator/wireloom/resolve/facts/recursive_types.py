"""Find the types that contain one another."""

from collections.abc import Mapping

from wireloom.model.traversal import reached
from wireloom.model.types import Type

Levels = tuple[tuple[str, int], ...]  # for each type with a depth, its level


def circle_of(named: Mapping[str, Type], name: str) -> frozenset[str]:
    """The types that both lead to a type and are reached from it; empty if it is not recursive."""
    return frozenset(each for each in reached(named[name], named) if name in reached(named[each], named))
