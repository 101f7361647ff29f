"""What `compat` says: findings, each with its places, what it breaks, the way out, and a record that shows it."""

from dataclasses import dataclass
from typing import Literal

from wireloom.compat.rules import RULES, Direction
from wireloom.problems import Location

Severity = Literal["error", "warning", "note"]
"""It breaks something; it may, by what the specs say; it may, though no record that was tried shows it."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A record that one spec reads, and what each makes of it."""

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
    message: str  # what is different
    consequence: str
    old: Location | None = None
    new: Location | None = None
    witness: Witness | None = None

    @property
    def way_out(self) -> str:
        """What to do in place of it."""
        return RULES[self.rule].way_out

    @property
    def part(self) -> str:
        """Wire, columns, schema or source."""
        return RULES[self.rule].part

    @property
    def breaks(self) -> bool:
        """Whether something breaks for certain."""
        return self.severity == "error"
