"""What types lead to, and which of them lead back."""

from collections.abc import Collection, Mapping

from wireloom.model.traversal import closure
from wireloom.model.traversal import references as names_of
from wireloom.model.types import Type

Levels = tuple[tuple[str, int], ...]  # how deep each type with a depth stands


def circle_of(named: Mapping[str, Type], name: str) -> frozenset[str]:
    """The types that a type leads to and that lead back to it; none where it does not hold itself."""
    return frozenset(each for each in reached(named, name) if name in reached(named, each))


def reached(named: Mapping[str, Type], name: str, without: Collection[str] = ()) -> set[str]:
    """The types that a type leads to, but for what only those that are left out lead to."""

    def inner(name: str) -> list[str]:
        return [each for each in names_of(named[name]) if each not in without]

    return set(closure(inner(name), inner))
