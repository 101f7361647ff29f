"""The order in which the steps of a binary struct are written.

Readers run steps in the order of the spec, and a field may be at any offset. Builders know the end of the struct only
when everything else is written. So fields whose offsets count from the end are written last, in the order of their
bytes, with the steps that continue after them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

T = TypeVar("T")

FOLLOWS: Final = "follows"  # after the step before it
PLACED: Final = "placed"  # at an offset from the start
APART: Final = "apart"  # at an offset that reading comes back from
REST: Final = "rest"  # up to the end of all that others put there
UNKNOWN: Final = "unknown"  # at an offset that the size of all has a say in

Stand = Literal["follows", "placed", "apart", "rest", "unknown"] | int
"""How a step stands; a negative number counts from the end."""


@dataclass(slots=True)
class _Group(Generic[T]):
    """Steps that are written one after another, once all that is placed from the start has been."""

    offset: int | None  # from the end; none of what stands before all that counts from there
    steps: list[T]

    @property
    def order(self) -> tuple[bool, int]:
        """What groups are ordered by."""
        return self.offset is not None, self.offset or 0


@dataclass(slots=True)
class Turns(Generic[T]):
    """Which steps are written as they come, and which wait."""

    waits: bool = False  # what follows goes on after a step that waits
    _groups: list[_Group[T]] = field(default_factory=list)

    def comes(self, step: T, stand: Stand) -> bool:
        """Whether the next step of the list is written now; else it is kept."""
        if stand in (REST, UNKNOWN) or isinstance(stand, int):
            self.waits = True
            self._groups.append(_Group(stand if isinstance(stand, int) else None, [step]))
        elif stand == FOLLOWS and self.waits:
            self._groups[-1].steps.append(step)
        else:
            self.waits = self.waits and stand == APART
            return True
        return False

    def kept(self) -> Iterator[T]:
        """What was kept, in the order of the bytes."""
        return (step for group in sorted(self._groups, key=lambda group: group.order) for step in group.steps)
