"""A root of a format: what ties a construct to what readers see of its values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from wireloom.runtime.columns.logical import List, Record
from wireloom.runtime.columns.meanings import wiring
from wireloom.runtime.columns.shape import filling
from wireloom.runtime.parsers.record import Record as WireRecord

if TYPE_CHECKING:
    from wireloom.runtime.columns.arrow import Tabulation
    from wireloom.runtime.proof import Proof


@dataclass(frozen=True)
class Root:
    """An entry point: how it is read, and what readers see of it (of each element, where `elements`).

    `kinds` names the columns of its flat rows that tell kinds of records apart; their values are few. `endless` names
    what takes all bytes there are, so that records cannot stand back to back; empty where each tells its own end.
    """

    construct: WireRecord
    logical: Record
    elements: bool = False
    rows: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unplaced: tuple[str, ...] = ()
    endless: str = ""

    @property
    def is_text(self) -> bool:
        """Whether its records are JSON texts."""
        from wireloom.runtime.parsers.json import Document

        return isinstance(self.construct.subcon, Document)

    @cached_property
    def complete(self) -> Callable[[Any], Any]:
        """Give a parsed value all its members, in order."""
        fill = filling(self.logical)
        return (lambda values: [fill(value) for value in values]) if self.elements else fill

    @cached_property
    def wired(self) -> Callable[[Any], Any]:
        """What readers give as what is on the wire; raises EncodeError."""
        change = wiring(self.type)
        return (lambda given: given) if change is None else change

    def proof(self, settings: Mapping[str, Any]) -> "Proof":
        """The most that a record can prove of itself under these parameters."""
        from wireloom.runtime.parsers.places import strongest

        return strongest(self.construct.subcon, settings)

    def refusing(self, member: str) -> "Root | None":
        """The root whose records are an error at one of their members; None where that is read in no struct of them."""
        from wireloom.runtime.parsers.refusing import refusing

        construct = refusing(self.construct, member)
        return None if construct is None else replace(self, construct=construct)

    @cached_property
    def beginnings(self) -> frozenset[bytes] | None:
        """The bytes that records begin with, one of these; None where that is not known."""
        from wireloom.runtime.parsers.places import beginnings

        return beginnings(self.construct.subcon)

    @cached_property
    def type(self) -> Record | List:
        """The logical type of a whole record."""
        return List(self.logical) if self.elements else self.logical

    @cached_property
    def tabulation(self) -> "Tabulation":
        """How values become rows."""
        from wireloom.runtime.columns.arrow import Tabulation

        return Tabulation(self.logical, self.rows, self.elements)
