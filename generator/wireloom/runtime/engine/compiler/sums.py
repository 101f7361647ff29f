"""Sums over lists, and joined texts of lists: registers that grow while the elements are read.

The expressions of the layout say which sums and joins are needed, by the name of the list. The registers are cleared
before the list; each element is added after it is read; an expression that asks for a sum loads its register.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import UNBOUNDED, Node, Scope
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.expressions import NUMBER, Code, Constant, Term, encoded, join_name, sum_name


@dataclass(frozen=True, slots=True)
class Totals:
    """What grows while the elements of a list are read."""

    sums: Mapping[str, Register]  # by the member of the elements; the empty one for the elements themselves
    texts: Sequence["Joined"] = ()
    element: Register | None = None  # of a list of texts: one of them


@dataclass(frozen=True, slots=True)
class Joined:
    """The texts of a list that are joined: of which member, with what between, and where they stand."""

    member: str
    separator: int
    text: Register
    count: Register  # of the texts; negative where they are too long


class Sums(Part):
    """The sums that expressions of the format ask for, and the texts that they join."""

    def begin(self, name: str, element: Node, scope: Scope) -> Totals:
        """Before a list that a field called `name` is: the registers of the sums over it, at 0, and of no texts yet."""
        record, kind, sums, texts = self.compiler.is_record(element), self.compiler.kind(element), {}, []
        for member in sorted(self.asked(name)):
            if record == bool(member) and (record or kind == "int"):
                total = sums[member] = self.compiler.define(scope, sum_name(name, member), "int").read()
                self._compute(Constant(0), total)
        for member, separator in sorted(self.joined(name), key=repr):
            if record == bool(member) and (record or kind == "bytes"):
                text = self.compiler.define(scope, join_name(name, separator, member), "bytes").read()
                count = self.assembly.register("int").read()
                texts.append(Joined(member, self.assembly.text(encoded(separator)), text, count))
        one = self.assembly.register("bytes").read() if texts and not record else None
        for joined in texts:
            self.assembly.emit("GATHER_BEGIN", joined.text, joined.count, one)
        return Totals(sums, texts, one)

    def addend(self, element: Node, totals: Totals) -> Register | None:
        """Before an element that is no struct: the register that it goes to, which is null where the element is."""
        if not totals.sums:
            return totals.element
        register = self.assembly.register("int").read()
        if isinstance(self.compiler.resolved(element), nodes.Nullable):
            self._compute(Constant(None), register)
        return register

    def add(self, totals: Totals, addend: Register | None, element: Scope | None) -> None:
        """After an element: what it adds."""
        for member, total in totals.sums.items():
            found = element.names.get(member) if element is not None else addend
            if found is None or found.kind not in ("int", "null"):
                raise Uncovered(f"a sum over {member or 'elements'} that are not all integers")
            if found.kind == "int":
                number = Term("zero", (Term("LOAD", (), found.read()),))
                self._compute(Code("int", Term("+", (number, Term("LOAD", (), total)))), total)
        for joined in totals.texts:
            found = element.names.get(joined.member) if element is not None else addend
            if found is None or found.kind not in ("bytes", "null"):
                raise Uncovered(f"joining {joined.member or 'elements'} that are not all text")
            if found.kind == "bytes":
                last = element is None and joined is totals.texts[-1]
                self.assembly.emit("GATHER", joined.text, joined.count, found.read(), joined.separator, last)

    def emptied(self, name: str, scope: Scope, elements: Register) -> None:
        """After a step that may have emptied a list: there is nothing to add then."""
        none = Term("==", (Term("LOAD", (), elements.read()), Term("CONST", (), 0)))
        for member in sorted(self.asked(name)):
            total = scope.names.get(sum_name(name, member))
            if total is not None:
                kept = Term("if", (none, Term("CONST", (), 0), Term("LOAD", (), total)))
                self._compute(Code("int", kept), total)
        for member, separator in sorted(self.joined(name), key=repr):
            text = scope.names.get(join_name(name, separator, member))
            if text is not None:
                empty = Term("CONST", (), self.assembly.text(b""))
                kept = Term("if", (none, empty, Term("TEXT", (), text)))
                self.assembly.emit("MAKE", self.expressions.place(Code("made", kept)), text, None, None)

    def asked(self, name: str) -> set[str]:
        """The members that expressions sum up over lists of that name."""
        return {member for member, separator in self._needed.get(name, ()) if separator is None}

    def joined(self, name: str) -> set[tuple[str, str | bytes]]:
        """The members that expressions join over lists of that name, each with what stands between."""
        return {(member, separator) for member, separator in self._needed.get(name, ()) if separator is not None}

    @cached_property
    def _needed(self) -> dict[str, set[tuple[str, str | bytes | None]]]:
        """By the name of a list the members that expressions sum up or join over it, with what stands between."""
        found: dict[str, set[tuple[str, str | bytes | None]]] = {}
        layout = self.compiler.layout
        for each in nodes.within([*layout["types"].values(), *layout["roots"].values()]):
            match each:
                case nodes.Sum(nodes.FieldRef(_, first, members), member):
                    found.setdefault((first, *members)[-1], set()).add((member, None))
                case nodes.Join(
                    nodes.FieldRef(_, first, members),
                    nodes.TextConstant(separator) | nodes.BytesConstant(separator),
                    member,
                ):
                    found.setdefault((first, *members)[-1], set()).add((member, separator))
                case _:
                    pass
        return found

    def _compute(self, compiled: Constant | Code, register: Register) -> None:
        place = self.expressions.place(compiled)
        self.assembly.emit("COMPUTE", place, NUMBER, register, None, *UNBOUNDED)
