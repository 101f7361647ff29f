"""The findings of `compat`: the places, what breaks, the way out, and a record that shows it."""

from dataclasses import dataclass
from typing import Literal

from wireloom.compat.rules import RULES, Direction
from wireloom.problems import Location

Severity = Literal["error", "warning", "note"]
"""error: it breaks something. warning: the specs say it may. note: it may, but no record tried shows it."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A record that one of the specs reads, and what each spec makes of it."""

    data: bytes
    root: str
    parameters: tuple[tuple[str, object], ...]
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A change that breaks something, or may."""

    rule: str
    severity: Severity
    format: str
    direction: Direction
    subject: str  # the field, column or name
    message: str  # the difference, in words
    consequence: str
    old: Location | None = None
    new: Location | None = None
    witness: Witness | None = None

    @property
    def way_out(self) -> str:
        """What to do instead."""
        return RULES[self.rule].way_out

    @property
    def part(self) -> str:
        """The part that the rule is about: wire, columns, schema or source."""
        return RULES[self.rule].part

    @property
    def breaks(self) -> bool:
        """Whether it certainly breaks something."""
        return self.severity == "error"
