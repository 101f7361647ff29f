"""Structs: a container and its steps in order.

`struct` takes a struct of the layout and the column of its record. It enters the struct, opens the container of its
encoding, compiles each step in the order of the spec, and closes the container. A step whose condition cannot hold
under these parameters is not compiled. The condition of a `discard` is evaluated while the list is read.
"""

from collections.abc import Sequence
from typing import assert_never

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import (
    FRONT,
    MD5,
    UNBOUNDED,
    Discard,
    Item,
    Last,
    Scope,
    Version,
    held_width,
    member,
)
from wireloom.runtime.engine.programs.assembly import Edge, Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Code, Compiled, Constant, Term, Tree, number_of


class Structs(Part):
    """Compiles a struct, step by step."""

    def struct(self, node: nodes.Struct, scope: Scope, record: Column | None) -> Scope:
        """Read a struct into the open row of `record`."""
        steps = node.steps
        scope.start_register = self.assembly.register("position")
        scope.size_register = self.assembly.register("position")
        first = len(self.assembly.registers)
        enter = self.assembly.emit("ENTER", scope.start_register, scope.size_register, Edge(first))
        self._note_discards(steps, scope)
        version = self._open(node, scope)
        frames: list[Register] = []
        tail = _require_tails(node.fields)
        if any(field.at is not None for field in node.fields):
            scope.reach = self.assembly.register("position").read()
            self.assembly.emit("REACH", scope.reach)
        for step in steps:
            if tail and isinstance(step, nodes.Field) and step.name == tail:
                self._note_front(steps[: steps.index(step)], scope)
            self._step(step, scope, record, version, frames)
        if scope.reach is not None:
            self.assembly.emit("LEAVE", scope.reach)
        self.compiler.encodings[node.encoding].close(scope)
        for save in reversed(frames):
            self.assembly.emit("UNFRAME", save)
        enter[4] = Edge(len(self.assembly.registers))
        return scope

    def _note_front(self, before: Sequence[nodes.Step], scope: Scope) -> None:
        """Mark the farthest position that fields have reached; fields with offsets may have gone back from it."""
        here = scope.marks[FRONT] = self.assembly.register("int")
        self.assembly.emit("MARK", here.read(), scope.start())
        if any(isinstance(step, nodes.Field) and step.at is not None for step in before):
            scope.marks[FRONT] = self.assembly.register("int")
            self.assembly.emit("LEAVE", scope.reach)
            self.assembly.emit("MARK", scope.marks[FRONT].read(), scope.start())
            back = self.expressions.place(Code("int", Term("LOAD", (), here)))
            self.assembly.emit("SEEK", 2, back, scope.start(), scope.reach)

    def _open(self, node: nodes.Struct, scope: Scope) -> Version:
        """Open the container; the names of the versions, and the expression for the index of the current one."""
        register = self.assembly.register("int")
        arities = {each.arity: place for place, each in enumerate(node.versions) if each.arity is not None}
        self.compiler.encodings[node.encoding].open(node, arities, scope, register)
        scope.names["\0version"] = register
        names = [each.name for each in node.versions]
        if arities:
            return names, nodes.own("\0version")
        index: Tree = len(names) - 1
        for place, each in reversed(list(enumerate(node.versions))):
            if each.when is not None:
                index = nodes.If(each.when, place, index)
        return names, index

    def _step(
        self, step: nodes.Step, scope: Scope, record: Column | None, version: Version, frames: list[Register]
    ) -> None:
        match step:
            case nodes.Field():
                column = None if step.hidden else member(record, step.title)
                self.compiler.fields.field(Item(step, scope, record, column), version)
            case nodes.Check(when=when) | nodes.Verify(when=when) | nodes.Discard(when=when) if self.compiler.never(
                when, scope
            ):
                pass
            case nodes.Check(that, code, when):
                with self.compiler.during(when, scope):
                    self.check(self.expressions.condition(that, scope), code)
            case nodes.Verify(name, when):
                with self.compiler.during(when, scope):
                    self._verify(name, scope)
            case nodes.Mark(name):
                scope.marks[name] = self.assembly.register("int")
                self.assembly.emit("MARK", scope.marks[name].read(), scope.start())
            case nodes.Need(size):
                self.assembly.emit("NEED", self.compiler.placed(size, scope), scope.start())
            case nodes.Frame(size):
                frames.append(self.assembly.register("position", 2).read())
                kept, number = (scope.size(), frames[-1]), self.assembly.refusal("bad_region")
                self.assembly.emit("FRAME", self.compiler.placed(size, scope), scope.start(), *kept, number)
            case nodes.End(code):
                self.assembly.emit("END", self.assembly.refusal(code))
            case nodes.Discard(name, _, counter, when):
                with self.compiler.during(when, scope):
                    self._discard(name, counter, scope, record)
            case _:
                assert_never(step)

    def check(self, that: Compiled, code: str) -> None:
        """Emit a check that refuses the record with `code` unless the condition holds."""
        if isinstance(that, Constant) and that.value:
            return
        refused = Label()
        if isinstance(that, Code) and self.compiler.conditions.branch(that, refused):
            self.assembly.later(lambda: self.assembly.emit("FAIL", self.assembly.refusal(code)), refused)
            return
        self.assembly.emit("CHECK", self.expressions.place(that), self.assembly.refusal(code))

    # --- lists that are emptied unless a condition holds for each element -------------------------------------------

    def _note_discards(self, steps: Sequence[nodes.Step], scope: Scope) -> None:
        """Note the lists that a later step may empty, because their elements are checked while they are read."""
        for step in steps:
            if isinstance(step, nodes.Discard) and not self._surely_never(step.when, scope):
                if step.field in scope.discards:
                    raise Uncovered("a list with two `discard` steps")
                scope.discards[step.field] = Discard(step.keep, self.assembly.register("int"))

    def _surely_never(self, when: Tree, scope: Scope) -> bool:
        """Whether a condition is already known never to hold, before the struct is read."""
        try:
            return self.compiler.never(when, scope)
        except Uncovered:
            return False

    def discarding(self, name: str, scope: Scope, column: Column | None) -> Discard | None:
        """The discard of a list, if any; note that the list is read into `column`."""
        discard = scope.discard(name) if name else None
        if discard is not None:
            discard.listed, discard.column = True, column
        return discard

    def kept(self, discard: Discard, element: Scope | None) -> None:
        """Note whether the discard's condition holds for the element just read."""
        if element is None or not _looks_inside(discard.keep):
            raise Uncovered("a `discard` that uses fields outside of the element, or elements of several structs")
        holds = self.expressions.condition(discard.keep, element)
        if isinstance(holds, Constant) and holds.value:
            self._note(discard.dropped, None)  # otherwise nothing would write the register
            return
        dropped, end = Label(), Label()
        if isinstance(holds, Code):
            self.compiler.unless(holds, dropped)
            self.assembly.jump(end)
        self.assembly.place(dropped)
        self._note(discard.dropped)
        self.assembly.place(end)

    def ended(self, last: Last, element: Scope | None) -> None:
        """Note whether the element just read is the last of its list."""
        assert element is not None, "elements are of one struct"
        holds = self.expressions.condition(last.holds, element)
        end = Label()
        if isinstance(holds, Code):
            self.compiler.unless(holds, end)
        if isinstance(holds, Code) or holds.value:
            self._note(last.register)
        self.assembly.place(end)

    def _note(self, register: Register, value: bool | None = True) -> None:  # noqa: FBT001, FBT002 - what it is
        """Set a register to true or, with None, to null."""
        place = self.expressions.place(Constant(value))
        self.assembly.emit("COMPUTE", place, 2, register.read(), None, *UNBOUNDED)

    def _discard(self, name: str, count: str, scope: Scope, record: Column | None) -> None:
        discard, elements, counted = scope.discards[name], scope.names.get(name), scope.names.get(count)
        if not discard.listed or elements is None or elements.kind != "list" or counted is None:
            raise Uncovered("`discard` on a list that the engine does not count, or whose count comes later")
        shown, column = member(record, count), discard.column
        if column is not None and column.parent is not record:
            raise Uncovered("`discard` on a list that is one of several alternatives")
        places = column and column.index, counted.read(), shown and shown.index
        self.assembly.emit("DISCARD", discard.dropped.read(), elements.read(), *places)
        self.compiler.sums.emptied(name, scope, elements)

    def _verify(self, name: str, scope: Scope) -> None:
        if scope.names[name].kind == "null":  # the checksum is never present
            return
        field = scope.checksums[name].field
        node, sum = self.compiler.resolved(field.type), field.checksum
        assert sum is not None, "what is verified is a checksum"
        if field.stored is not None or field.covers:
            raise Uncovered("a checksum with `stored`, or over several ranges or expressions")
        algorithm = sum.algorithm
        bounds = self.compiler.placed(sum.start, scope), self.compiler.placed(sum.end, scope)
        stored = (scope.words.get(name) or scope.names[name]).read()
        if algorithm in self.compiler.crcs:
            place, op = self.compiler.crcs.index(algorithm), "VERIFY_CRC"
        elif isinstance(node, nodes.Text):
            raise Uncovered("a digest in hexadecimal digits")
        elif algorithm == MD5:
            place, op = 0, "VERIFY_DIGEST"
        else:
            raise Uncovered(f"the checksum {algorithm}")
        if sum.hole:
            size = node.size if isinstance(node, nodes.Text | nodes.Bytes) else None
            width = size if isinstance(size, int) else held_width(node)
            self.assembly.emit("HOLE", self.expressions.place(_place(sum.at, name, scope)), scope.start(), width)
        self.assembly.emit(op, place, *bounds, scope.start(), stored, self.assembly.refusal(sum.code))


def _place(stated: int | None, name: str, scope: Scope) -> Compiled:
    """The position of a checksum: a stated one, or the one where it was read."""
    return Code("int", Term("LOAD", (), scope.places[name].read())) if stated is None else Constant(stated)


def _looks_inside(tree: Tree) -> bool:
    """Whether an expression uses only parameters and the struct's own fields."""
    return not any(
        isinstance(each, nodes.Position | nodes.MarkRef) or (isinstance(each, nodes.FieldRef) and each.up > 0)
        for each in nodes.within(tree)
    )


def _require_tails(fields: Sequence[nodes.Field]) -> str:
    """Raise Uncovered if a field after one with a negative `at` may overlap it.

    The name of the first field with a negative `at`; empty if there is none.
    """
    first, placed = "", [field for field in fields if field.is_written and not field.base]
    reserved = max((-at for field in placed if (at := number_of(field.at)) is not None), default=0)
    for field in placed:
        at = number_of(field.at)
        if at is not None and at < 0:
            first = first or field.name
        elif first and not _ends_before(reserved, at, field.size):
            raise Uncovered("a field after one with a negative `at`")
    return first


def _ends_before(reserved: int, at: int | None, size: nodes.Amount) -> bool:
    match size:
        case nodes.Binary("-", nodes.Position("size"), int(left)):
            return at is not None and left - at >= reserved
        case _:
            return False
