"""Offsets that count from a mark of a struct around: which scope has it, and what they are in a scope of their own."""

from collections.abc import Iterator, MutableMapping
from typing import Any, Protocol, Self, TypeVar

from wireloom.runtime.engine.assembly import Register, Uncovered
from wireloom.runtime.engine.expressions import Tree

_BASE = "\0base"  # the mark of another struct, where it is called from


class Marked(Protocol):
    """A struct that is being compiled: the marks that it has come to, and the struct around."""

    @property
    def marks(self) -> MutableMapping[str, Register]:
        """Registers of the places, by their names."""

    @property
    def parent(self) -> Self | None:
        """The struct around; None where there is none."""


M = TypeVar("M", bound=Marked)


def based(scope: M, mark: str, at: Tree) -> tuple[M, Tree]:
    """The innermost scope, here or outward, that has come to the mark, and the offset from its start."""
    around: M | None = scope
    while around is not None and mark not in around.marks:
        around = around.parent
    if around is None:
        raise Uncovered(f"the mark {mark!r} before it is set")
    scope.marks[_BASE] = around.marks[mark]
    return around, ("+", ("mark", _BASE), at)


def bases(tree: Any) -> Iterator[str]:
    """The marks from which offsets count, anywhere in a layout."""
    match tree:
        case ("field", _, _, {"from": str(mark)}):
            yield mark
        case tuple() | list():
            for each in tree:
                yield from bases(each)
        case _:
            return
