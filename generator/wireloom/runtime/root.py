"""A root of a format: what ties a construct to what readers see of its values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from wireloom.runtime.parameters import limit_of

if TYPE_CHECKING:
    from wireloom.runtime.boundary_evidence import Proof
    from wireloom.runtime.columns.arrow import Tabulation
    from wireloom.runtime.columns.logical import List, Record
    from wireloom.runtime.parsers.record import Record as WireRecord


@dataclass(frozen=True)
class Root:
    """An entry point: how it is read, and what readers see of it (of each element, where `elements`).

    `home` is the generated package that declares both; its modules are imported when first asked for, so that whoever
    reads columns natively loads no parser. `size` is the most bytes that a record may have: a number, or the parameter
    that says it. `kinds` names the columns of its flat rows that tell kinds of records apart; their values are few.
    `endless` names what takes all bytes there are, so that records cannot stand back to back; empty where each tells
    its own end.
    """

    home: str
    name: str
    size: int | str | None = None
    elements: bool = False
    rows: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    unplaced: tuple[str, ...] = ()
    endless: str = ""

    @cached_property
    def construct(self) -> "WireRecord":
        """How it is read and built."""
        found: WireRecord = import_module(f"{self.home}.parser").CONSTRUCTS[self.name]
        return found

    @cached_property
    def logical(self) -> "Record":
        """What readers see of a record, or of each element."""
        found: Record = import_module(f"{self.home}.shape").ROOTS[self.name]
        return found

    def size_limit(self, settings: Mapping[str, Any]) -> int | None:
        """The most bytes that a record may have; None where there is no limit."""
        return limit_of(self.size, settings)

    @property
    def is_text(self) -> bool:
        """Whether its records are JSON texts."""
        from wireloom.runtime.parsers.json import Document

        return isinstance(self.construct.subcon, Document)

    @cached_property
    def complete(self) -> Callable[[Any], Any]:
        """Give a parsed value all its members, in order."""
        from wireloom.runtime.columns.shape import filling

        fill = filling(self.logical)
        return (lambda values: [fill(value) for value in values]) if self.elements else fill

    @cached_property
    def wired(self) -> Callable[[Any], Any]:
        """What readers give as what is on the wire; raises EncodeError."""
        from wireloom.runtime.columns.meanings import wiring

        change = wiring(self.type)
        return (lambda given: given) if change is None else change

    def proof(self, settings: Mapping[str, Any]) -> "Proof":
        """The most that a record can prove of itself under these parameters."""
        from wireloom.runtime.parsers.start_evidence import strongest

        return strongest(self.construct.subcon, settings)

    @cached_property
    def beginnings(self) -> frozenset[bytes] | None:
        """The bytes that records begin with, one of these; None where that is not known."""
        from wireloom.runtime.parsers.start_evidence import beginnings

        return beginnings(self.construct.subcon)

    @cached_property
    def type(self) -> "Record | List":
        """The logical type of a whole record."""
        from wireloom.runtime.columns.logical import List

        return List(self.logical) if self.elements else self.logical

    @cached_property
    def tabulation(self) -> "Tabulation":
        """How values become rows."""
        from wireloom.runtime.columns.arrow import Tabulation

        return Tabulation(self.logical, self.rows, self.elements)
