"""A root of a format: joins a construct with what readers see of its values."""

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
    """An entry point: how a record is read, and what readers see of it (of each element, with `elements`).

    `home` is the generated package that declares both. Its modules are imported on first use, so reading columns
    natively loads no parser. `size` is the most bytes of a record: a number or the name of a parameter. `kinds` are the
    columns of flat rows that tell kinds of records apart; they have few distinct values. `endless` names the part that
    reads to the end of the input, so that records cannot be concatenated; it is empty if records tell their own end.
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
        """The construct that parses and builds it."""
        found: WireRecord = import_module(f"{self.home}.parser").CONSTRUCTS[self.name]
        return found

    @cached_property
    def logical(self) -> "Record":
        """What readers see of a record, or of each element."""
        found: Record = import_module(f"{self.home}.shape").ROOTS[self.name]
        return found

    def size_limit(self, settings: Mapping[str, Any]) -> int | None:
        """The most bytes of a record; None if there is no limit."""
        return limit_of(self.size, settings)

    @property
    def is_text(self) -> bool:
        """Whether its records are JSON texts."""
        from wireloom.runtime.parsers.json import Document

        return isinstance(self.construct.subcon, Document)

    @cached_property
    def complete(self) -> Callable[[Any], Any]:
        """A function that adds all missing members to a parsed value, in order."""
        from wireloom.runtime.columns.shape import filling

        fill = filling(self.logical)
        return (lambda values: [fill(value) for value in values]) if self.elements else fill

    @cached_property
    def wired(self) -> Callable[[Any], Any]:
        """A function from readers' values to wire values; raises EncodeError."""
        from wireloom.runtime.columns.meanings import wiring

        change = wiring(self.type)
        return (lambda given: given) if change is None else change

    def proof(self, settings: Mapping[str, Any]) -> "Proof":
        """The strongest evidence that a record can give of its own start under these parameters."""
        from wireloom.runtime.parsers.start_evidence import strongest

        return strongest(self.construct.subcon, settings)

    @cached_property
    def beginnings(self) -> frozenset[bytes] | None:
        """The possible first bytes of records; None if they are not known."""
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
