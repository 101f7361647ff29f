"""Structs: names first, then the fields in their container, then the values that depend on positions.

`struct` loads the members, determines version and conditions, writes the fields in the order that `writing_order`
gives, and fills in derived values and checksums. A struct whose own size decides what is written is written in passes,
with assumed positions, until the resulting positions are the assumed ones.
"""

from collections.abc import Sequence
from typing import Any

import msgpack

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import ALWAYS, member
from wireloom.runtime.engine.encoder.absence import GIVEN, Absence
from wireloom.runtime.engine.encoder.members import asks_for_place
from wireloom.runtime.engine.encoder.scope import Item, Node, Placed, Scope, is_never
from wireloom.runtime.engine.programs.assembly import Edge, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import (
    Code,
    Compiled,
    Constant,
    Term,
    Tree,
    looks_at,
    number_of,
    stated,
)
from wireloom.runtime.writing_order import FOLLOWS, PLACED, REST, Stand, Turns

_PASSES = 4  # the most nested structs in passes: each pass repeats the passes inside
_NOTHING = nodes.Formula(nodes.BytesConstant(b""))
_NOWHERE = Constant(False)  # noqa: FBT003 - a value
_ONE = Term("CONST", (), 1)
_BYTE = 8
_HERE = "\0here"  # the mark for `here`


class Structs(Absence):
    """Writes a struct of any encoding."""

    def struct(self, node: nodes.Struct, parent: Scope, record: Column | None, place: Register | None) -> None:
        """Write a struct from the current row of `record`."""
        scope = Scope(node.encoding, record, parent, place, struct=node.name, fields=node.fields)
        if node.name not in self.compiler.passes or node.encoding != "binary":
            self._laid_out(node, scope)
            return
        scope.in_passes, words = True, list[Any]()
        if sum(each.in_passes for each in scope.outward()) > _PASSES:
            raise Uncovered("offsets that depend on each other in more than four nested structs")
        marks = ["", *dict.fromkeys(step.name for step in node.steps if isinstance(step, nodes.Mark))]
        for mark in marks:
            assumed, reached = (self.assembly.register("int").read() for _ in range(2))
            scope.marks[mark], scope.reached[mark] = assumed, reached
            words += [assumed, reached]
        scope.size_register = scope.marks.pop("")
        body = self.assembly.later(lambda: self._laid_out(node, scope))
        self.assembly.emit("PASSES", body, self.assembly.table([len(marks), *words]))

    def _laid_out(self, node: nodes.Struct, scope: Scope) -> None:
        steps, record = node.steps, scope.record
        start = self.assembly.register("position")
        first = len(self.assembly.registers)
        enter = self.assembly.emit("ENTER", start, Edge(first), Edge(first))
        scope.start_register = start
        self.compiler.names.load(steps, scope)
        version = self._version(node)
        self.compiler.sentinels.load(steps, scope, version)
        self.compiler.determined.struct(steps, node.encoding, record)
        self.compiler.given.load(steps, scope, version)
        items = self._items(version, steps, scope)
        match node.encoding, node.form:
            case _, "sequence":
                self._sequence(steps, scope, items)
            case "msgpack", "array":
                self._array(items)
            case "msgpack", "object":
                self._object(version, items)
            case "json", form:
                self.compiler.json.struct(form, items, scope)
            case "protobuf", "message":
                self.compiler.protobuf.message(items)
            case encoding, form:
                raise Uncovered(f"a struct of form {form} in {encoding}")
        self.compiler.certainty.struct(node, scope)
        enter[3] = Edge(len(self.assembly.registers))
        scope.is_closed = True

    def _items(self, version: tuple[list[str], Tree], steps: Sequence[nodes.Step], scope: Scope) -> list[Item]:
        """The fields on the wire, in order, each with its condition."""
        items, titled = list[Item](), dict[str, list[Tree]]()
        for field in _written(steps):
            same = titled.setdefault(field.title, [])
            when = self.compiler.reader.fields.condition(field, version)
            present = self._presence(when, field, scope, () if field.renamed is None else same)
            same.append(True if present is None else present)
            if (field.hidden or field.derive is not None) and asks_for_place(when):
                raise Uncovered("a hidden or derived field whose `when` uses offsets")
            self._check_null(field)
            column = self.compiler.sentinels.written(field.name, self._column(field, scope), scope)
            items.append(Item(field, scope, column, self._condition(present, scope)))
        return items

    def _condition(self, present: Tree, scope: Scope) -> Compiled:
        return ALWAYS if present is None else self.expressions.condition(present, scope)

    def _presence(self, when: Tree, field: nodes.Field, scope: Scope, before: Sequence[Tree] = ()) -> Tree:
        """The condition for a field; if it depends on a position, whether the value has the field (then read back).

        Among fields with the same name for readers, the value has the first one: none of those `before` it.
        """
        if when is None:
            return None
        guessed = scope.is_assumed(when) and not looks_at(when, {"here"})
        if not guessed and not asks_for_place(when):
            return when
        wanted = self._has_value(field, scope)
        for other in before:
            wanted = nodes.both(wanted, nodes.negated(other))
        return _guessed(when, wanted) if guessed else wanted

    def _has_value(self, field: nodes.Field, scope: Scope) -> Tree:
        """Whether there is a value to write."""
        if field.derive is None:
            return False if field.hidden else nodes.present(nodes.own(field.name))
        present = self._is_something(field.derive.tree, scope)
        column = self._column(field, scope)
        if column is not None:
            given = f"\0{field.name}"
            scope.names[given] = self.compiler.names.value(column, textual=field.values is not None)
            present = nodes.Binary("or", nodes.present(nodes.own(given)), present)
        return present

    def _is_something(self, derive: Tree, scope: Scope) -> Tree:
        """Whether a derived value is more than null, 0 or false."""
        match self.expressions.compiled(derive, scope):
            case Constant(value):
                return value not in (None, 0, False)
            case Code("bool", _):
                return derive
            case Code("int" | "float", _):
                return nodes.both(nodes.present(derive), nodes.Binary("!=", derive, 0))
            case _:
                return nodes.present(derive)

    def _column(self, field: nodes.Field, scope: Scope) -> Column | None:
        """The column of a field, if readers see it."""
        return None if field.hidden else member(scope.record, field.title)

    def _version(self, node: nodes.Struct) -> tuple[list[str], Tree]:
        """The names of the versions, and the expression for the one to build: first, a version that a parameter names.

        If arities determine the version, it is the newest. Others do not read back equal, so builders write them.
        """
        names = [version.name for version in node.versions]
        chosen = [value for value in self.compiler.settings.values() if isinstance(value, str) and value in names]
        index: Tree = names.index(chosen[0]) if chosen else len(names) - 1
        by_arity = not chosen and any(version.arity is not None for version in node.versions)
        if by_arity and any(field.flatten and field.since for field in node.fields):
            raise Uncovered("a field with `flatten` and `since`, where an arity gives the version")
        for place, version in reversed(list(enumerate(node.versions))):
            if version.when is not None:
                index = nodes.If(version.when, place, index)
        return names, index

    def _check_null(self, field: nodes.Field) -> None:
        """Raise Uncovered for null that must be written because the field's absence means another value."""
        default = field.default
        if not field.has_default or default is None or field.values is None:
            return
        known = [(each.wire, self.expressions.compiled(each.means, Scope("", None))) for each in field.values]
        null = [wire for wire, meaning in known if isinstance(meaning, Constant) and meaning.value is None]
        if null and not any(wire == default and type(wire) is type(default) for wire in null):
            raise Uncovered("a value that means null, in a field whose `default` does not")

    def _array(self, items: Sequence[Item]) -> None:
        """Write a MessagePack array with an element for each field."""
        items = [item for item in items if not item.is_never_there]
        if any(item.field.optional for item in items):
            raise Uncovered("an optional field in an array")
        unsure = [_where(item.present.term) for item in items if isinstance(item.present, Code)]
        if unsure:
            self.assembly.emit("PACK_COUNT", self._number(len(items) - len(unsure), unsure))
        else:
            self.assembly.constant(msgpack.Packer().pack_array_header(len(items)))
        for item in items:
            with self.compiler.during(item.present):
                self.compiler.fields.field(item)

    def _number(self, certain: int, unsure: Sequence[Term]) -> Register:
        """A register with the number of present fields: certain ones, and those whose terms are 1."""
        count = Term("CONST", (), certain)
        for term in unsure:
            count = Term("+", (count, term))
        register = self.assembly.register("int").read()
        self.compiler.compute(Code("int", count), register)
        return register

    def _object(self, version: tuple[list[str], Tree], fields: Sequence[Item]) -> None:
        """Write a MessagePack map of the members that are not omitted, each after its name."""
        packer = msgpack.Packer()
        items, unsure, certain = list[tuple[Item, Register | None]](), list[Term](), 0
        for item in fields:
            present = self._member_present(item, version)
            if is_never(present):
                continue
            register = None
            if isinstance(present, Code):
                register = self.assembly.register("bool").read()
                self.compiler.compute(present, register)
            items.append((item, register))
            if item.field.besides is not None:
                raise Uncovered("an `inline` map in MessagePack")
            if register is not None:
                unsure.append(_where(Term("LOAD", (), register)))
            else:
                certain += 1
        if unsure:
            self.assembly.emit("PACK_MEMBERS", self._number(certain, unsure))
        else:
            self.assembly.constant(packer.pack_map_header(certain))
        for item, register in items:
            is_written: Compiled = ALWAYS if register is None else Code("bool", Term("LOAD", (), register))
            with self.compiler.during(is_written):
                self.assembly.constant(packer.pack(item.member))
                self.compiler.fields.field(item)

    def _member_present(self, item: Item, version: tuple[list[str], Tree]) -> Compiled:
        """Whether a member is written: its condition holds and, if it is optional, its value is not the default."""
        field = item.field
        when = self.compiler.reader.fields.condition(field, version)
        if not field.optional:
            return self._condition(self._presence(when, field, item.scope), item.scope)
        if field.stated.keys() & {"const", "derive", "bits", "flatten"}:
            raise Uncovered("an optional member with `const`, `derive`, `bits` or `flatten`")
        says = self._says(item)
        return self.expressions.condition(says if when is None else nodes.both(when, says), item.scope)

    def _says(self, item: Item) -> Tree:
        """Whether a member's value differs from what its absence means."""
        field, node = item.field, self.compiler.reader.resolved(item.type)
        default, given = field.default, nodes.present(nodes.own(GIVEN))
        textual = field.values is not None
        register = item.scope.names[GIVEN] = self.compiler.names.value(item.column, textual=textual)
        if not field.has_default or default is None:
            return given
        if field.values is not None:
            meant = self._meant(field.values, default, register)
            other: Tree = nodes.negated(nodes.Binary("==", nodes.own(GIVEN), meant))
        else:
            other = nodes.negated(self.is_default(item, node, default))
        return other if isinstance(node, nodes.Nullable) else nodes.both(given, other)

    def _meant(self, values: Sequence[nodes.Meaning], default: Any, register: Register) -> Tree:
        """The meaning of a default, as an expression."""
        known = self.compiler.fields.meanings(values, register.kind)
        meaning = next((meaning for wire, meaning in known if wire == default and type(wire) is type(default)), None)
        if meaning is None or next(wire for wire, other in known if other == meaning) != default:
            raise Uncovered("a `default` that the engine cannot compare")
        return stated(meaning)

    def _sequence(self, steps: Sequence[nodes.Step], scope: Scope, items: Sequence[Item]) -> None:
        """Write binary fields and marks in order; those that count from the end come last."""
        placed: list[Placed] = []
        turns, reached, fields = Turns[tuple[nodes.Step, Item | None]](), 0, iter(items)
        for step in steps:
            item = next(fields) if isinstance(step, nodes.Field) and step.is_written else None
            present = _NOWHERE if item is None else item.present
            stand = _stand(step, present)
            if (stand == REST or isinstance(stand, int)) and not isinstance(present, Constant):
                raise Uncovered("a field at the end of the struct that may be absent")
            if not (turns.waits and stand == FOLLOWS):
                reached = _reached(reached, step, stand, present)
            if turns.comes((step, item), stand):
                placed += self._step(step, item, scope)
        for step, item in list(turns.kept()):
            placed += self._step(step, item, scope)
        if scope.in_passes:
            self._mark("", scope)
            known = self.expressions.condition(nodes.present(nodes.Position("size")), scope)
            scope.marks, scope.size_register = scope.marks | scope.reached, scope.reached[""]
            with self.compiler.during(known):
                self.compiler.fields.settle(placed, scope)
        elif placed:
            scope.size_register = self.marked(scope)
            self.compiler.fields.settle(placed, scope)

    def _step(self, step: nodes.Step, item: Item | None, scope: Scope) -> list[Placed]:
        """Take a step at the current position; returns the fields to fill in later."""
        if isinstance(step, nodes.Mark):
            self._mark(step.name, scope)
        return [] if item is None else self._placed(item)

    def _mark(self, name: str, scope: Scope) -> None:
        """Set a mark to the current position; in passes, expressions still see the assumed one."""
        if not scope.in_passes:
            scope.marks[name] = self.marked(scope)
            return
        assert scope.start_register is not None
        self.assembly.emit("MARK", scope.reached[name], scope.start_register.read())

    def from_here(self, tree: Tree, scope: Scope, mark: str = _HERE) -> Tree:
        """Replace `here` in an expression by a mark at the current position."""
        scope.marks[mark] = self.marked(scope)
        return _from_mark(tree, mark)

    def marked(self, scope: Scope) -> Register:
        """A register with the current position, relative to the struct's start."""
        assert scope.start_register is not None
        register = self.assembly.register("int")
        self.assembly.emit("MARK", register.read(), scope.start_register.read())
        return register

    def _placed(self, item: Item) -> list[Placed]:
        """Write a field if it is present; returns the fields to fill in after the struct is written."""
        if is_never(item.present):
            return []
        with self.compiler.during(item.present):
            if item.field.base:
                raise Uncovered("a field with `at` and `from`")
            at = item.field.at
            if at is not None and _from_the_end(item.field) is None:
                if not isinstance(at, int):
                    raise Uncovered("a field with a computed `at`")
                assert item.scope.start_register is not None
                self.assembly.emit("PAD", at, item.scope.start_register.read())
            return self.compiler.fields.field(item)


def _guessed(when: Tree, wanted: Tree) -> Tree:
    """The condition; in the first pass, which knows no positions, whether there is a value to write."""
    return nodes.If(nodes.present(nodes.Position("size")), when, wanted)


def _from_mark(tree: Tree, mark: str) -> Tree:
    match tree:
        case nodes.Position("here"):
            return nodes.MarkRef(mark)
        case nodes.Node():
            return tree.changed(lambda part: _from_mark(part, mark))
        case _:
            return tree


def _written(steps: Sequence[nodes.Step]) -> list[nodes.Field]:
    """The fields on the wire."""
    return [field for field in nodes.fields(steps) if field.is_written]


def _stand(step: nodes.Step, present: Compiled) -> Stand:
    """A step's place in the writing order; a field that is never present follows the step before it."""
    if not isinstance(step, nodes.Field) or is_never(present):
        return FOLLOWS
    tail = _from_the_end(step)
    if tail is not None:
        return tail
    if step.at is not None:
        return PLACED
    is_rest = isinstance(step.type, nodes.Bytes) and step.type.size is None and step.size is None and step.hidden
    return REST if is_rest and step.derive == _NOTHING else FOLLOWS


def _reached(least: int, step: nodes.Step, stand: Stand, present: Compiled) -> int:
    """The least size of the struct so far; raises Uncovered if a constant offset is before it."""
    if not isinstance(step, nodes.Field) or stand not in (FOLLOWS, PLACED) or is_never(present):
        return least
    at = least if step.at is None else step.at
    if isinstance(at, int) and at < least:
        raise Uncovered("a field whose `at` is before the end of an earlier field")
    if not isinstance(present, Constant):
        return least
    return (at if isinstance(at, int) else least) + (_least_size(step.type) if step.size is None else 0)


def _least_size(node: Node) -> int:
    """The least size of a type in bytes, if it is easily known; else 0."""
    match node:
        case nodes.Int(bits, _, "") | nodes.Float(bits, ""):
            return bits // _BYTE
        case nodes.Bytes(int(size)) | nodes.Text(int(size)):
            return size
        case _:
            return 0


def _where(holds: Term) -> Term:
    """1 if a condition holds, else 0."""
    return Term("if", (holds, _ONE, Term("CONST")))


def _from_the_end(field: nodes.Field) -> int | None:
    """The negative offset of a field that counts from the end; None for others."""
    at = number_of(field.at)
    return at if at is not None and at < 0 else None
