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
APART: Final = "apart"  # at an offset from which reading returns to where it was
REST: Final = "rest"  # up to the end of the region
UNKNOWN: Final = "unknown"  # at an offset that depends on the size of the whole

Stand = Literal["follows", "placed", "apart", "rest", "unknown"] | int
"""The position of a step; a negative number counts from the end."""


@dataclass(slots=True)
class _Group(Generic[T]):
    """Steps that are written one after another, after all steps with offsets from the start."""

    offset: int | None  # from the end; None for steps that come before all such offsets
    steps: list[T]

    @property
    def order(self) -> tuple[bool, int]:
        """The sort key of groups."""
        return self.offset is not None, self.offset or 0


@dataclass(slots=True)
class Turns(Generic[T]):
    """Decides which steps are written immediately, and which wait until the rest is written."""

    waits: bool = False  # whether the next steps continue after a step that waits
    _groups: list[_Group[T]] = field(default_factory=list)

    def comes(self, step: T, stand: Stand) -> bool:
        """Whether the next step of the list is written now; otherwise it is kept for later."""
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
        """The kept steps, in the order of their bytes."""
        return (step for group in sorted(self._groups, key=lambda group: group.order) for step in group.steps)
