"""Structs: the container, and its steps one after the other."""

from collections.abc import Sequence
from typing import Any

from wireloom.runtime.engine.assembly import Edge, Label, Register, Uncovered
from wireloom.runtime.engine.compiler.arrays import depends, possible
from wireloom.runtime.engine.compiler.part import Part
from wireloom.runtime.engine.compiler.scope import (
    FRONT,
    UNBOUNDED,
    Discard,
    Item,
    Last,
    Node,
    Scope,
    held_width,
    member,
)
from wireloom.runtime.engine.digests import digest_word
from wireloom.runtime.engine.expressions import Code, Compiled, Constant, Term, Tree, number_of
from wireloom.runtime.engine.outline import Column

_UNPLACED = {"compute", "counted", "from"}


class Structs(Part):
    """A struct as a run of steps."""

    def struct(  # noqa: PLR0913 - the parts of a struct, and where it goes
        self,
        encoding: str,
        form: str,
        versions: Sequence[Any],
        steps: Sequence[Any],
        scope: Scope,
        record: Column | None,
    ) -> Scope:
        """Read a struct into the row of `record` that is open."""
        scope.start_register = self.assembly.register("position")
        scope.size_register = self.assembly.register("position")
        first = len(self.assembly.registers)
        enter = self.assembly.emit("ENTER", scope.start_register, scope.size_register, Edge(first))
        self._note_discards(steps, scope)
        version = self._open(encoding, form, versions, steps, scope)
        frames: list[Register] = []
        tail = _require_tails(steps)
        if any(step[0] == "field" and "at" in step[3] for step in steps):
            scope.reach = self.assembly.register("position").read()
            self.assembly.emit("REACH", scope.reach)
        for step in steps:
            if tail and step[:2] == ("field", tail):
                self._note_front(steps[: steps.index(step)], scope)
            self._step(step, scope, record, version, frames)
        if scope.reach is not None:
            self.assembly.emit("LEAVE", scope.reach)
        if encoding == "json":
            self.compiler.json.close(scope)
        elif encoding == "msgpack":
            self.compiler.msgpack.close(scope)
            self.compiler.arrays.close(scope)
        for save in reversed(frames):
            self.assembly.emit("UNFRAME", save)
        enter[4] = Edge(len(self.assembly.registers))
        return scope

    def _note_front(self, before: Sequence[Any], scope: Scope) -> None:
        """Note how far fields reach: as far as they have come, or where one that stands at an offset went back from."""
        here = scope.marks[FRONT] = self.assembly.register("int")
        self.assembly.emit("MARK", here.read(), scope.start())
        if any(step[0] == "field" and "at" in step[3] for step in before):
            scope.marks[FRONT] = self.assembly.register("int")
            self.assembly.emit("LEAVE", scope.reach)
            self.assembly.emit("MARK", scope.marks[FRONT].read(), scope.start())
            back = self.expressions.place(Code("int", Term("LOAD", (), here)))
            self.assembly.emit("SEEK", 2, back, scope.start(), scope.reach)

    def _open(self, encoding: str, form: str, versions: Sequence[Any], steps: Sequence[Any], scope: Scope) -> Any:
        """Open the container; the versions by name, and the expression that tells which it is."""
        fields = [
            step for step in steps if step[0] == "field" and "compute" not in step[3] and "counted" not in step[3]
        ]
        register = self.assembly.register("int")
        arities = {arity: place for place, (_, arity, _) in enumerate(versions) if arity is not None}
        match encoding, form:
            case "binary", "sequence":
                pass
            case "msgpack", "array":
                self.compiler.arrays.open(fields, arities, scope, register)
            case "msgpack", "object":
                self.compiler.msgpack.open(fields, scope)
            case "json", "object" | "array":
                lengths = possible(fields) if depends(fields, arities) else [len(fields)]
                self.compiler.json.open(form, arities or dict.fromkeys(lengths, 0), steps, scope, register)
            case "protobuf", "message":
                self.compiler.protobuf.open(fields, scope)
            case _:
                raise Uncovered(f"a {form} in {encoding}")
        scope.names["\0version"] = register
        names = [name for name, _, _ in versions]
        if arities:
            return names, ("field", 0, "\0version")
        index: Tree = len(versions) - 1
        for place, (_, _, when) in reversed(list(enumerate(versions))):
            if when is not None:
                index = ("if", when, place, index)
        return names, index

    def _step(self, step: Node, scope: Scope, record: Column | None, version: Any, frames: list[Register]) -> None:
        match step:
            case ("field", name, type, attributes):
                column = None if attributes.get("hidden") else member(record, attributes.get("as", name))
                self.compiler.fields.field(Item(name, type, attributes, scope, record, column), version)
            case ("check" | "verify", *_, when) if self.compiler.never(when, scope):
                pass
            case ("check", that, code, when):
                with self.compiler.during(when, scope):
                    self.check(self.expressions.condition(that, scope), code)
            case ("verify", name, when):
                with self.compiler.during(when, scope):
                    self._verify(name, scope)
            case ("mark", name):
                scope.marks[name] = self.assembly.register("int")
                self.assembly.emit("MARK", scope.marks[name].read(), scope.start())
            case ("need", count):
                self.assembly.emit("NEED", self.compiler.placed(count, scope), scope.start())
            case ("frame", count):
                frames.append(self.assembly.register("position", 2).read())
                kept, code = (scope.size(), frames[-1]), self.assembly.refusal("bad_region")
                self.assembly.emit("FRAME", self.compiler.placed(count, scope), scope.start(), *kept, code)
            case ("end", code):
                self.assembly.emit("END", self.assembly.refusal(code))
            case ("discard", *_, when) if self.compiler.never(when, scope):
                pass
            case ("discard", name, _, count, when):
                with self.compiler.during(when, scope):
                    self._discard(name, count, scope, record)
            case _:
                raise Uncovered(f"the step {step[0]}")

    def check(self, that: Compiled, code: str) -> None:
        """Refuse what a condition does not hold for."""
        if isinstance(that, Constant) and that.value:
            return
        refused = Label()
        if isinstance(that, Code) and self.compiler.conditions.branch(that, refused):
            self.assembly.later(lambda: self.assembly.emit("FAIL", self.assembly.refusal(code)), refused)
            return
        self.assembly.emit("CHECK", self.expressions.place(that), self.assembly.refusal(code))

    # --- lists that are emptied unless a condition holds for each element -------------------------------------------

    def _note_discards(self, steps: Sequence[Any], scope: Scope) -> None:
        """Which lists a step further on may empty: that is decided while their elements are read."""
        for step in steps:
            if step[0] == "discard" and not self._surely_never(step[4], scope):
                if step[1] in scope.discards:
                    raise Uncovered("a list that is discarded twice")
                scope.discards[step[1]] = Discard(step[2], self.assembly.register("int"))

    def _surely_never(self, when: Tree, scope: Scope) -> bool:
        """Whether a condition cannot hold, as far as that is known before the struct is read."""
        try:
            return self.compiler.never(when, scope)
        except Uncovered:
            return False

    def discarding(self, name: str, scope: Scope, column: Column | None) -> Discard | None:
        """What empties a list of the struct that is read into a column."""
        discard = scope.discard(name) if name else None
        if discard is not None:
            discard.listed, discard.column = True, column
        return discard

    def kept(self, discard: Discard, element: Scope | None) -> None:
        """Note whether an element that has been read is to be kept."""
        if element is None or not _looks_inside(discard.keep):
            raise Uncovered("a discard by what stands outside of the element, or of elements of several structs")
        holds = self.expressions.condition(discard.keep, element)
        if isinstance(holds, Constant) and holds.value:
            self._note(discard.dropped, None)  # nothing else may write it
            return
        dropped, end = Label(), Label()
        if isinstance(holds, Code):
            self.compiler.unless(holds, dropped)
            self.assembly.jump(end)
        self.assembly.place(dropped)
        self._note(discard.dropped)
        self.assembly.place(end)

    def ended(self, last: Last, element: Scope | None) -> None:
        """Note whether an element that has been read is the last of its list."""
        assert element is not None, "elements are of one struct"
        holds = self.expressions.condition(last.holds, element)
        end = Label()
        if isinstance(holds, Code):
            self.compiler.unless(holds, end)
        if isinstance(holds, Code) or holds.value:
            self._note(last.register)
        self.assembly.place(end)

    def _note(self, register: Register, value: bool | None = True) -> None:  # noqa: FBT001, FBT002 - what it is
        """Fill a register: it is true from here on, or nothing again."""
        place = self.expressions.place(Constant(value))
        self.assembly.emit("COMPUTE", place, 2, register.read(), None, *UNBOUNDED)

    def _discard(self, name: str, count: str, scope: Scope, record: Column | None) -> None:
        discard, elements, counted = scope.discards[name], scope.names.get(name), scope.names.get(count)
        if not discard.listed or elements is None or elements.kind != "list" or counted is None:
            raise Uncovered("a discard of what is no list of the engine's, or whose count comes later")
        shown, column = member(record, count), discard.column
        if column is not None and column.parent is not record:
            raise Uncovered("a discard of a list that is one of several alternatives")
        places = column and column.index, counted.read(), shown and shown.index
        self.assembly.emit("DISCARD", discard.dropped.read(), elements.read(), *places)
        self.compiler.sums.emptied(name, scope, elements)

    def _verify(self, name: str, scope: Scope) -> None:
        if scope.names[name].kind == "null":  # it is never there
            return
        item = scope.checksums[name]
        if item.attributes.keys() & {"stored", "covers"}:
            raise Uncovered("a checksum that something else stands for, or that covers what stands elsewhere")
        algorithm, first, last, code, hole, at = _checksum(item)
        bounds = self.compiler.placed(first, scope), self.compiler.placed(last, scope)
        stored, kind = (scope.words.get(name) or scope.names[name]).read(), self.compiler.resolved(item.type)[0]
        if algorithm in self.compiler.crcs:
            place, op = self.compiler.crcs.index(algorithm), "VERIFY_CRC"
        else:
            digits, moves = kind == "text", "unpacked" in self.assembly.around  # what it covers does not stay there
            place = digest_word(
                algorithm, self.compiler.layout, self.compiler.engine.DIGESTS, digits=digits, at_once=moves
            )
            op = "VERIFY_DIGEST"
        if hole:
            node = self.compiler.resolved(item.type)
            width = held_width(node) if node[0] == "int" else int(node[1])
            self.assembly.emit("HOLE", self.expressions.place(_place(at, name, scope)), scope.start(), width)
        self.assembly.emit(op, place, *bounds, scope.start(), stored, self.assembly.refusal(code))


def _checksum(item: Item) -> tuple[str, Tree, Tree, str, bool, int | None]:
    sum = item.attributes["checksum"]
    return sum.algorithm, sum.start, sum.end, sum.code, sum.hole, sum.at


def _place(stated: int | None, name: str, scope: Scope) -> Compiled:
    """Where a checksum stands: where it always does, or where it was read."""
    return Code("int", Term("LOAD", (), scope.places[name].read())) if stated is None else Constant(stated)


def _looks_inside(tree: Tree) -> bool:
    """Whether an expression looks at parameters and at the struct's own fields alone."""
    match tree:
        case ("here" | "size" | "index" | "mark", *_):
            return False
        case ("field", up, *_):
            return bool(up == 0)
        case tuple():
            return all(_looks_inside(each) for each in tree)
        case _:
            return True


def _require_tails(steps: Sequence[Any]) -> str:
    """What counts from the end stands behind everything else: of fields that come later, that must be certain.

    The name of the first of them in the list; none where there is none.
    """
    first, placed = "", [each for each in steps if each[0] == "field" and not _UNPLACED & each[3].keys()]
    behind = max((-at for each in placed if (at := number_of(each[3].get("at"))) is not None), default=0)
    for _, name, _, attributes in placed:
        at = number_of(attributes.get("at"))
        if at is not None and at < 0:
            first = first or name
        elif first and not _ends_before(behind, at, attributes.get("size")):
            raise Uncovered("a field behind one that counts from the end")
    return first


def _ends_before(behind: int, at: int | None, size: Tree) -> bool:
    match size:
        case ("-", ("size",), int(left)):
            return at is not None and left - at >= behind
        case _:
            return False
