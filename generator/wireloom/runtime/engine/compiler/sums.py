"""Sums over lists: registers that grow while the elements are read."""

from collections.abc import Iterator, Mapping
from typing import Any

from wireloom.runtime.engine.assembly import Register, Uncovered
from wireloom.runtime.engine.compiler.part import Part
from wireloom.runtime.engine.compiler.scope import UNBOUNDED, Node, Scope
from wireloom.runtime.engine.expressions import NUMBER, Code, Constant, Term, sum_name

Totals = Mapping[str, Register]  # by the member of the elements; the empty one for the elements themselves


class Sums(Part):
    """The sums that expressions of the format ask for."""

    _asked: dict[str, set[str]] | None = None

    def begin(self, name: str, element: Node, scope: Scope) -> Totals:
        """Before a list that a field called `name` is: the registers of the sums over it, at 0."""
        record, totals = self.compiler.is_record(element), dict[str, Register]()
        for member in sorted(self.asked(name)):
            if record == bool(member) and (record or self.compiler.kind(element) == "int"):
                total = totals[member] = self.compiler.define(scope, sum_name(name, member), "int").read()
                self._compute(Constant(0), total)
        return totals

    def addend(self, element: Node, totals: Totals) -> Register | None:
        """Before an element that is no struct: the register that it goes to, which is null where the element is."""
        if not totals:
            return None
        register = self.assembly.register("int").read()
        if self.compiler.resolved(element)[0] == "nullable":
            self._compute(Constant(None), register)
        return register

    def add(self, totals: Totals, addend: Register | None, element: Scope | None) -> None:
        """Behind an element: what it adds."""
        for member, total in totals.items():
            found = element.names.get(member) if element is not None else addend
            if found is None or found.kind not in ("int", "null"):
                raise Uncovered(f"a sum over {member or 'elements'} of several kinds")
            if found.kind == "int":
                number = Term("zero", (Term("LOAD", (), found.read()),))
                self._compute(Code("int", Term("+", (number, Term("LOAD", (), total)))), total)

    def emptied(self, name: str, scope: Scope, elements: Register) -> None:
        """Behind a step that may have emptied a list: there is nothing to add then."""
        for member in sorted(self.asked(name)):
            total = scope.names.get(sum_name(name, member))
            if total is not None:
                zero, loaded = Term("CONST", (), 0), Term("LOAD", (), elements.read())
                kept = Term("if", (Term("==", (loaded, zero)), zero, Term("LOAD", (), total)))
                self._compute(Code("int", kept), total)

    def asked(self, name: str) -> set[str]:
        """The members that expressions sum up over lists of that name."""
        if self._asked is None:
            self._asked = {}
            layout = self.compiler.layout
            for listed, member in sums_of([*layout["types"].values(), *layout["roots"].values()]):
                self._asked.setdefault(listed, set()).add(member)
        return self._asked.get(name, set())

    def _compute(self, compiled: Constant | Code, register: Register) -> None:
        place = self.expressions.place(compiled)
        self.assembly.emit("COMPUTE", place, NUMBER, register, None, *UNBOUNDED)


def sums_of(tree: Any) -> Iterator[tuple[str, str]]:
    """The sums within a layout: the name of each list, and the member of its elements or nothing."""
    match tree:
        case ("sum", ("field", int(), str(name), *members), *member):
            yield members[-1] if members else name, member[0] if member else ""
        case dict():
            for each in tree.values():
                yield from sums_of(each)
        case tuple() | list():
            for each in tree:
                yield from sums_of(each)
        case _:
            pass
