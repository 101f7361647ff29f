"""Structs: names first, then the fields in their container, then what follows from their positions.

`struct` loads the members, decides version and conditions, writes the fields in the order that `writing_order` gives,
and fills in derived values and checksums. A struct whose own size decides what is written runs in passes: it is
written with assumed positions, until the positions that come out are the assumed ones.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import msgpack

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import ALWAYS, member
from wireloom.runtime.engine.encoder.absence import GIVEN, Absence
from wireloom.runtime.engine.encoder.members import asks_for_place
from wireloom.runtime.engine.encoder.scope import Item, Node, Placed, Scope, UnsettledError, is_never
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

_ELEMENTS = "\0elements"
_PASSES = 4  # each goes several times over those within
_NOTHING = nodes.Formula(nodes.BytesConstant(b""))
_NOWHERE = Constant(False)  # noqa: FBT003 - a value
_ONE = Term("CONST", (), 1)
_BYTE = 8
_VERSION = "\0version"
_HERE = "\0here"  # the mark that is set where an expression asks how far the struct has come


class Structs(Absence):
    """A struct of any encoding."""

    def struct(self, node: nodes.Struct, parent: Scope, record: Column | None, place: Register | None) -> None:
        """Write a struct from the row of `record` that is in force."""
        scope = Scope(node.encoding, record, parent, place, struct=node.name, fields=node.fields)
        if node.name not in self.compiler.passes or node.encoding != "binary":
            self._laid_out(node, scope)
            return
        scope.in_passes, words = True, list[Any]()
        if sum(each.in_passes for each in scope.outward()) > _PASSES:
            raise Uncovered("places found in passes, more than four in one another")
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
        version = self._version(node.versions, steps, scope)
        self.compiler.sentinels.load(steps, scope, version)
        self.compiler.determined.struct(steps, node.encoding, record)
        if node.encoding == "json":
            self.compiler.given.load(steps, scope, version)
        else:
            waiting = self.compiler.given.fill(steps, scope, version)
            self.compiler.fields.derive_early(steps, scope, version, waiting)
        items = self._items(version, steps, scope)
        match node.encoding, node.form:
            case _, "sequence":
                self._sequence(steps, scope, items)
            case "msgpack", "array":
                self._array(items, scope)
            case "msgpack", "object":
                self._object(version, items)
            case "json", form:
                self.compiler.json.struct(form, items, scope)
            case "protobuf", "message":
                self.compiler.protobuf.message(items)
            case encoding, form:
                raise Uncovered(f"a {form} in {encoding}")
        self.compiler.certainty.struct(node, scope)
        enter[3] = Edge(len(self.assembly.registers))
        scope.is_closed = True

    def _items(self, version: tuple[list[str], Tree], steps: Sequence[nodes.Step], scope: Scope) -> list[Item]:
        """The fields that stand on the wire, in their order, each with whether it is there."""
        items, titled = list[Item](), dict[str, list[Tree]]()
        for field in _written(steps):
            same = titled.setdefault(field.title, [])
            when = self.compiler.reader.fields.condition(field, version)
            there = self._there(when, field, scope, () if field.renamed is None else same)
            same.append(True if there is None else there)
            if _is_told_in_place(when, field):
                present: Compiled = _InPlace("bool", _ONE, when, there)
            else:
                present = self._condition(there, scope)
            self._check_null(field)
            column = self.compiler.sentinels.written(field.name, self._column(field, scope), scope)
            items.append(Item(field, scope, column, present))
        return items

    def _holds(self, when: Tree, field: nodes.Field, scope: Scope) -> Compiled:
        """Whether a field is there that no other one shares its name with."""
        return self._condition(self._there(when, field, scope), scope)

    def _condition(self, there: Tree, scope: Scope) -> Compiled:
        return ALWAYS if there is None else self.expressions.condition(there, scope)

    def _there(self, when: Tree, field: nodes.Field, scope: Scope, before: Sequence[Tree] = ()) -> Tree:
        """Whether a condition holds; where it asks for a position, whether the value has the field: it is read back.

        What the value has is the first of several fields of one reader's name: none of those `before` it.
        """
        if when is None:
            return None
        guessed = scope.is_assumed(when) and not looks_at(when, {"here"})
        if not guessed and not asks_for_place(when):
            return when
        wanted = self._wanted(field, scope)
        for other in before:
            wanted = nodes.both(wanted, nodes.negated(other))
        return _guessed(when, wanted) if guessed else wanted

    def _wanted(self, field: nodes.Field, scope: Scope) -> Tree:
        """Whether there is something to write."""
        if field.derive is None:
            return False if field.hidden else nodes.present(nodes.own(field.name))
        there = self._is_something(field.derive.tree, scope)
        column = self._column(field, scope)
        if column is not None:
            given = f"\0{field.name}"
            scope.names[given] = self.compiler.names.value(column, textual=field.values is not None)
            there = nodes.Binary("or", nodes.present(nodes.own(given)), there)
        return there

    def _is_something(self, derive: Tree, scope: Scope) -> Tree:
        """Whether there is more to write than nothing: what is derived is not given."""
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
        """The column of a field that readers see."""
        return None if field.hidden else member(scope.record, field.title)

    def _version(
        self, versions: Sequence[nodes.Version], steps: Sequence[nodes.Step], scope: Scope
    ) -> tuple[list[str], Tree]:
        """The names of the versions, and the expression that tells which is built: one that a parameter names first."""
        names = [version.name for version in versions]
        chosen = [value for value in self.compiler.settings.values() if isinstance(value, str) and value in names]
        index: Tree = names.index(chosen[0]) if chosen else len(names) - 1
        if any(version.arity is not None for version in versions):
            return names, index if chosen else self._fitting(names, steps, scope)
        for place, version in reversed(list(enumerate(versions))):
            if version.when is not None:
                index = nodes.If(version.when, place, index)
        return names, index

    def _fitting(self, names: Sequence[str], steps: Sequence[nodes.Step], scope: Scope) -> Tree:
        """The newest version that has a place for what the row gives, and is given what it cannot do without.

        Where the columns do not say that of fields which only some versions have, the newest.
        """
        newest = len(names) - 1
        fields = [field for field in _written(steps) if field.since or field.until]
        if not fields or any(field.hidden or field.bits for field in fields):
            return newest
        titles, lasting = Counter(field.title for field in _written(steps)), _lasting(names, fields)
        if any(titles[field.title] > lasting.get(field.title, 1) for field in fields):
            return newest
        shown = [list(self._shown(field, scope)) for field in fields]
        if any(each.filled for columns in shown for each in columns):
            return newest
        fits: list[Tree] = [True for _ in names]
        needed = self.compiler.reader.layout.get("needs", {}).get(scope.struct, ())
        for field, columns in zip(fields, shown, strict=True):
            there = self._any_given(field.name, columns, scope)
            has = _places(names, field)
            for place, fit in enumerate(fits):
                if place not in has:
                    fits[place] = fit if field.title in lasting else _both(fit, nodes.negated(there))
                elif columns and (field.flatten or field.title in needed):
                    fits[place] = _both(fit, there)
        if fits[newest] is True:
            return newest
        index: Tree = newest
        for place, fit in enumerate(fits):
            index = nodes.If(fit, place, index)
        register = scope.names[_VERSION] = self.assembly.register("int")
        self.compiler.compute(self.expressions.compiled(index, scope), register)
        return nodes.own(_VERSION)

    def _shown(self, field: nodes.Field, scope: Scope) -> Iterator[Column]:
        """The columns of a field that readers see: of a record that melts in, those of its members."""
        if field.flatten:
            known = [name for name, said in self.compiler.names.members([field]) if not said.get("hidden")]
            columns = [member(scope.record, name) for name in dict.fromkeys(known)]
        else:
            columns = [self._column(field, scope)]
        yield from (column for column in columns if column is not None)

    def _any_given(self, name: str, columns: Sequence[Column], scope: Scope) -> Tree:
        """Whether the row has something of a field, which is in these columns."""
        there: Tree = False
        for place, column in enumerate(columns):
            given = f"\0{name} given {place}"
            scope.names[given] = self.compiler.names.value(column, textual=False)
            present: Tree = nodes.present(nodes.own(given))
            there = present if there is False else nodes.Binary("or", there, present)
        return there

    def _check_null(self, field: nodes.Field) -> None:
        """Null that must be written out, since the absence of the field means another value, is the parser's."""
        default = field.default
        if not field.has_default or default is None or field.values is None:
            return
        known = [(each.wire, self.expressions.compiled(each.means, Scope("", None))) for each in field.values]
        null = [wire for wire, meaning in known if isinstance(meaning, Constant) and meaning.value is None]
        if null and not any(wire == default and type(wire) is type(default) for wire in null):
            raise Uncovered("a value that means null beside a default that does not")

    def _array(self, items: Sequence[Item], scope: Scope) -> None:
        """MessagePack: as many elements as there are fields, but for the last ones that say nothing."""
        items = [item for item in items if not item.is_never_there]
        last = [item for item in items if item.field.optional]
        if last:
            told = iter(self._last(last, scope))
            items = [next(told) if item.field.optional else item for item in items]
            items = [item for item in items if not item.is_never_there]
        unsure = [_where(item.present.term) for item in items if isinstance(item.present, Code)]
        if unsure:
            self.assembly.emit("PACK_COUNT", self._number(len(items) - len(unsure), unsure))
        else:
            self.assembly.constant(msgpack.Packer().pack_array_header(len(items)))
        for item in items:
            with self.compiler.during(item.present):
                self.compiler.fields.field(item)

    def _number(self, certain: int, unsure: Sequence[Term]) -> Register:
        """The register of how many fields are there: some always, others as many as expressions say."""
        count = Term("CONST", (), certain)
        for term in unsure:
            count = Term("+", (count, term))
        register = self.assembly.register("int").read()
        self.compiler.compute(Code("int", count), register)
        return register

    def _object(self, version: tuple[list[str], Tree], fields: Sequence[Item]) -> None:
        """MessagePack: a map of the members that say something, each behind its name."""
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
                raise Uncovered("the rest of a MessagePack object")
            if register is not None:
                unsure.append(_where(Term("LOAD", (), register)))
            else:
                certain += 1
        if unsure:
            self.assembly.emit("PACK_MEMBERS", self._number(certain, unsure))
        else:
            self.assembly.constant(packer.pack_map_header(certain))
        for item, register in items:
            there: Compiled = ALWAYS if register is None else Code("bool", Term("LOAD", (), register))
            with self.compiler.during(there):
                self.assembly.constant(packer.pack(item.member))
                self.compiler.fields.field(item)

    def _member_present(self, item: Item, version: tuple[list[str], Tree]) -> Compiled:
        """Whether a member is written: its condition holds and, where it may be left out, it says something."""
        field = item.field
        when = self.compiler.reader.fields.condition(field, version)
        if not field.optional:
            return self._holds(when, field, item.scope)
        if field.stated.keys() & {"const", "derive", "bits", "flatten"}:
            raise Uncovered("a member that may be left out, and follows from others")
        says = self._says(item)
        return self.expressions.condition(says if when is None else nodes.both(when, says), item.scope)

    def _last(self, last: Sequence[Item], scope: Scope) -> list[Item]:
        """The elements that may be left out, each of which is there where it says something, or one behind it does."""
        register = scope.names[_ELEMENTS] = self.assembly.register("int").read()
        self.compiler.compute(Constant(0), register)
        for place, item in enumerate(last, 1):
            says = self.expressions.condition(self._says(item), scope)
            if not is_never(says):
                with self.compiler.during(says):
                    self.compiler.compute(Constant(place), register)
        length: Tree = nodes.own(_ELEMENTS)
        conditions = (
            self.expressions.compiled(nodes.Binary(">=", length, place), scope) for place in range(1, len(last) + 1)
        )
        return [replace(item, present=present) for item, present in zip(last, conditions, strict=True)]

    def _says(self, item: Item) -> Tree:
        """Whether an element says more than its absence would."""
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
        """What a default means, as an expression."""
        known = self.compiler.fields.meanings(values, register.kind)
        meaning = next((meaning for wire, meaning in known if wire == default and type(wire) is type(default)), None)
        if meaning is None or next(wire for wire, other in known if other == meaning) != default:
            raise Uncovered("a default of this kind")
        return stated(meaning)

    def _sequence(self, steps: Sequence[nodes.Step], scope: Scope, items: Sequence[Item]) -> None:
        """Binary: fields and marks in their order, those that count from the end last."""
        placed: list[Placed] = []
        turns, doubt, reached, fields = Turns[tuple[nodes.Step, Item | None]](), _Doubt(), 0, iter(items)
        for step in steps:
            item = next(fields) if isinstance(step, nodes.Field) and step.is_written else None
            there = _NOWHERE if item is None else item.present
            stand = _stand(step, there)
            doubt.comes(stand, turns, certain=isinstance(there, Constant))
            if not (turns.waits and stand == FOLLOWS):
                reached = _reached(reached, step, stand, there)
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
        """Do what a step says at the place that has been reached; what is to be written over later."""
        if isinstance(step, nodes.Mark):
            self._mark(step.name, scope)
        return [] if item is None else self._placed(item)

    def _mark(self, name: str, scope: Scope) -> None:
        """Note the place that has been reached; in passes beside that of the one before, which expressions have."""
        if not scope.in_passes:
            scope.marks[name] = self.marked(scope)
            return
        assert scope.start_register is not None
        self.assembly.emit("MARK", scope.reached[name], scope.start_register.read())

    def _in_place(self, told: "_InPlace", item: Item) -> Compiled:
        """Whether a condition holds at this place; a first pass that does not know guesses whether it is wanted."""
        scope = item.scope
        if scope.waits(told.when):
            if item.field.hidden:
                raise UnsettledError(scope.struct)
            return self._condition(told.wanted, scope)
        is_assumed = scope.is_assumed(told.when)
        holds = self.from_here(told.when, scope)
        return self._condition(_guessed(holds, told.wanted) if is_assumed else holds, scope)

    def from_here(self, tree: Tree, scope: Scope, mark: str = _HERE) -> Tree:
        """An expression that looks at a mark for how far the struct has come, which is set at this place."""
        scope.marks[mark] = self.marked(scope)
        return _from_mark(tree, mark)

    def marked(self, scope: Scope) -> Register:
        """A register with the place that has been reached, counted from the struct's start."""
        assert scope.start_register is not None
        register = self.assembly.register("int")
        self.assembly.emit("MARK", register.read(), scope.start_register.read())
        return register

    def _placed(self, item: Item) -> list[Placed]:
        """Write a field where it is there; what is to be written over once the struct is laid out."""
        told = item.present
        present = self._in_place(told, item) if isinstance(told, _InPlace) else told
        if is_never(present):
            return []
        with self.compiler.during(present):
            if item.field.base:
                raise Uncovered("a field at an offset from a mark")
            at = item.field.at
            if at is not None and _from_the_end(item.field) is None:
                if not isinstance(at, int):
                    raise Uncovered("a field at a computed offset")
                assert item.scope.start_register is not None
                self.assembly.emit("PAD", at, item.scope.start_register.read())
            return self.compiler.fields.field(item)


@dataclass(frozen=True, slots=True)
class _InPlace(Code):
    """A condition that is only asked where the field stands, since it looks at places."""

    when: Tree
    wanted: Tree  # whether there is something to write, as far as the value says


def _is_told_in_place(when: Tree, field: nodes.Field) -> bool:
    """Whether places have a say in that a field is there of which a value says nothing."""
    return (field.hidden or field.derive is not None) and asks_for_place(when)


def _guessed(when: Tree, wanted: Tree) -> Tree:
    """A condition; in a first pass, which knows no places, whether there is something to write."""
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
    """The fields that are on the wire."""
    return [field for field in nodes.fields(steps) if field.is_written]


def _stand(step: nodes.Step, present: Compiled) -> Stand:
    """How a step stands among the others; one that is not there goes with what is before it."""
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
    """How far a struct reaches at least; raises Uncovered where a constant offset goes back from there."""
    if not isinstance(step, nodes.Field) or stand not in (FOLLOWS, PLACED) or is_never(present):
        return least
    at = least if step.at is None else step.at
    if isinstance(at, int) and at < least:
        raise Uncovered("a field at an offset before that of another")
    if not isinstance(present, Constant):
        return least
    return (at if isinstance(at, int) else least) + (_least_size(step.type) if step.size is None else 0)


def _least_size(node: Node) -> int:
    """The bytes that a value of a type has at least, as far as that is easily said."""
    match node:
        case nodes.Int(bits, _, "") | nodes.Float(bits, ""):
            return bits // _BYTE
        case nodes.Bytes(int(size)) | nodes.Text(int(size)):
            return size
        case _:
            return 0


@dataclass(slots=True)
class _Doubt:
    """Whether steps follow one that waits for the others, and only the record tells whether that is there.

    Where it is not, they go on behind what is before it in the list: that must come to the same place.
    """

    _is_unsure: bool = False
    _hangs: bool = False

    def comes(self, stand: Stand, turns: Turns[Any], *, certain: bool) -> None:
        """Look at the next step; raises Uncovered where its place, or that of one before, is in doubt."""
        if stand == REST or isinstance(stand, int):
            self._is_unsure = not certain
        follows = stand == FOLLOWS and turns.waits and self._is_unsure
        if (follows and not turns.is_last()) or (self._hangs and stand == PLACED):
            raise Uncovered("what follows a field that counts from the end and need not be there")
        self._hangs = self._hangs or follows


def _lasting(names: Sequence[str], fields: Sequence[nodes.Field]) -> dict[str, int]:
    """What readers call members that each version has, each as another field; of how many fields they are."""
    found: dict[str, list[range]] = {}
    for field in fields:
        if not field.flatten:
            found.setdefault(field.title, []).append(_places(names, field))
    every = [*range(len(names))]
    return {title: len(ranges) for title, ranges in found.items() if sorted(chain(*ranges)) == every}


def _places(names: Sequence[str], field: nodes.Field) -> range:
    """The versions that have a field."""
    return range(names.index(field.since or names[0]), names.index(field.until or names[-1]) + 1)


def _both(one: Tree, other: Tree) -> Tree:
    return other if one is True else nodes.both(one, other)


def _where(holds: Term) -> Term:
    """One where a condition holds, else nothing."""
    return Term("if", (holds, _ONE, Term("CONST")))


def _from_the_end(field: nodes.Field) -> int | None:
    """The offset, below zero, of a field that counts from the end; None of others."""
    at = number_of(field.at)
    return at if at is not None and at < 0 else None
