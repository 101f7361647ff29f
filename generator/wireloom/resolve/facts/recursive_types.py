"""What types lead to, and which of them lead back."""

from collections.abc import Mapping

from wireloom.model.traversal import reached
from wireloom.model.types import Type

Levels = tuple[tuple[str, int], ...]  # how deep each type with a depth stands


def circle_of(named: Mapping[str, Type], name: str) -> frozenset[str]:
    """The types that a type leads to and that lead back to it; none where it does not hold itself."""
    return frozenset(each for each in reached(named[name], named) if name in reached(named[each], named))
