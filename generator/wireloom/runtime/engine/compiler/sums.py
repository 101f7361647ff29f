"""Sums over lists: registers that are increased while the elements are read.

The expressions of the layout determine which sums are needed, by the name of the list. The registers are set to 0
before the list; each element is added after it is read; an expression that uses a sum loads its register.
"""

from collections.abc import Mapping
from functools import cached_property

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import UNBOUNDED, Node, Scope
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.expressions import NUMBER, Code, Constant, Term, sum_name

Totals = Mapping[str, Register]
"""The sums over a list, by member; the empty name is the sum of the elements themselves."""


class Sums(Part):
    """Computes the sums that the format's expressions use."""

    def begin(self, name: str, element: Node, scope: Scope) -> Totals:
        """Before the list in the field `name`: set the registers of its sums to 0."""
        record, kind, sums = self.compiler.is_record(element), self.compiler.kind(element), {}
        for member in sorted(self.asked(name)):
            if record == bool(member) and (record or kind == "int"):
                total = sums[member] = self.compiler.define(scope, sum_name(name, member), "int").read()
                self._compute(Constant(0), total)
        return sums

    def addend(self, element: Node, totals: Totals) -> Register | None:
        """Before an element that is not a struct: the register for its value, which is null if the element is."""
        if not totals:
            return None
        register = self.assembly.register("int").read()
        if isinstance(self.compiler.resolved(element), nodes.Nullable):
            self._compute(Constant(None), register)
        return register

    def add(self, totals: Totals, addend: Register | None, element: Scope | None) -> None:
        """Add an element to the sums, after it is read."""
        for member, total in totals.items():
            found = element.names.get(member) if element is not None else addend
            if found is None or found.kind not in ("int", "null"):
                raise Uncovered(f"a sum over {member or 'elements'} that are not all integers")
            if found.kind == "int":
                number = Term("zero", (Term("LOAD", (), found.read()),))
                self._compute(Code("int", Term("+", (number, Term("LOAD", (), total)))), total)

    def emptied(self, name: str, scope: Scope, elements: Register) -> None:
        """Set the sums to 0 if a step has emptied the list."""
        none = Term("==", (Term("LOAD", (), elements.read()), Term("CONST", (), 0)))
        for member in sorted(self.asked(name)):
            total = scope.names.get(sum_name(name, member))
            if total is not None:
                kept = Term("if", (none, Term("CONST", (), 0), Term("LOAD", (), total)))
                self._compute(Code("int", kept), total)

    def asked(self, name: str) -> set[str]:
        """The members whose sums over lists of that name expressions use."""
        return self._needed.get(name, set())

    @cached_property
    def _needed(self) -> dict[str, set[str]]:
        """The members whose sums expressions use, by the name of the list."""
        found: dict[str, set[str]] = {}
        layout = self.compiler.layout
        for each in nodes.within([*layout["types"].values(), *layout["roots"].values()]):
            match each:
                case nodes.Sum(nodes.FieldRef(_, first, members), member):
                    found.setdefault((first, *members)[-1], set()).add(member)
                case _:
                    pass
        return found

    def _compute(self, compiled: Constant | Code, register: Register) -> None:
        place = self.expressions.place(compiled)
        self.assembly.emit("COMPUTE", place, NUMBER, register, None, *UNBOUNDED)
