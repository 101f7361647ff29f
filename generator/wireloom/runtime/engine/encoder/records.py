"""Records: a struct, or one of several, by a tag, by what the value has, or by the alternative that it names."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.assembly import Edge, Label, Register, Uncovered
from wireloom.runtime.engine.compiler.scope import ALWAYS, member, word_of
from wireloom.runtime.engine.compiler.switches import hashed, is_beyond
from wireloom.runtime.engine.encoder.names import own_fields
from wireloom.runtime.engine.encoder.part import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.encoder.tags import Ahead, Tag
from wireloom.runtime.engine.expressions import Code, Constant, Tree, encoded, stated
from wireloom.runtime.engine.outline import Column

_ALTERNATIVES = 1 << 32
_FITTING = 63  # structs, each of which has a bit of a register
_GIVEN = {"given", "build", "values"}


_Told = Callable[[Sequence[nodes.Struct]], Tag | Ahead]  # what tells some structs apart
_Fit = Callable[[Sequence[tuple[Label, Node]]], None]  # goes to the one of several structs that fits the value best


class Records(Part):
    """What has members."""

    _first: Scope | None = None  # around what readers try before anything else

    def outermost(self, scope: Scope) -> bool:
        """Whether a struct is the whole record, and readers come to it before they try any other alternative."""
        return scope.parent is not None and scope.parent is self._first

    def root(self, node: Node, record: Column) -> None:
        """Write a whole record."""
        node = self.compiler.reader.resolved(node)
        scope = Scope("", None)
        if isinstance(node, nodes.Attempt):
            self._attempt(node, scope, record)
        else:
            self._first = scope
            self.members(node, scope, record, None)

    def members(self, node: Node, scope: Scope, record: Column | None, place: Register | None) -> None:
        """Write a record whose members are those of the row of `record` that is in force."""
        resolved = self.compiler.reader.resolved
        match resolved(node):
            case nodes.Struct(encoding=encoding) as struct if encoding != scope.encoding in ("msgpack", "json"):
                around = self.compiler.json if scope.encoding == "json" else self.compiler.msgpack
                around.carried(lambda: self.compiler.structs.struct(struct, scope, record, place))
            case nodes.Struct() as struct:
                self.compiler.structs.struct(struct, scope, record, place)
            case nodes.Select(tag, cases):
                self.compiler.certainty.doubts("a choice by what other members say")
                self.selected(
                    tag,
                    cases,
                    scope,
                    lambda case: self.members(case, scope, record, place),
                    lambda arms: self._fit(arms, scope, record),
                )
            case nodes.Tagged(cases=cases) as tagged:
                self.compiler.certainty.tagged(tagged)
                self._fitting(cases, scope, record, place, lambda structs: Tag.of(tagged, structs, resolved))
            case nodes.Peek(tag, cases):
                ahead = Ahead(resolved(tag), scope.encoding, cases, resolved)
                self._fitting(cases, scope, record, place, lambda _: ahead)
            case nodes.Attempt() as attempt:
                self._part(attempt, scope, record, place)
            case other:
                raise Uncovered(f"a record that is a {word_of(other)}")

    def word(self, value: Any) -> int:
        """A value that is chosen by, as a number."""
        match value:
            case str() | bytes():
                return self.assembly.text(encoded(value))
            case bool() | int() if not is_beyond(value):
                return int(value)
            case int():
                raise Uncovered("a mapping to a number beyond 64 bits")
            case _:
                raise Uncovered("a case that is neither number nor text")

    # --- by a tag --------------------------------------------------------------------------------------------------

    def selected(
        self,
        tag: Tree,
        cases: Sequence[nodes.Case],
        scope: Scope,
        write: Callable[[Node], None],
        fit: _Fit | None = None,
    ) -> None:
        """Branch on the value of an expression; where it is a guess yet, by what fits the value."""
        compiled, rest = self.expressions.compiled(tag, scope), None if cases[-1].values else cases[-1].type
        if isinstance(compiled, Constant):
            known = (case.type for case in cases if compiled.value in case.values)
            self._case(next(known, rest or nodes.Refuse("")), write)
            return
        compiled = self.expressions.named(compiled, [value for case in cases for value in case.values])
        if compiled.kind == "bytes":
            raise Uncovered("a choice by text")
        register = self.assembly.register("int").read()
        self.compiler.compute(compiled, register)
        labels = [Label() for _ in cases]
        targets: dict[int | None, Label] = {}
        for case, label in zip(cases, labels, strict=True):
            for value in case.values:
                if not is_beyond(value):  # registers have no number beyond 63 bits
                    targets.setdefault(None if value is None else self.word(value), label)
        if scope.is_assumed(tag):
            self._guessed(cases, labels, fit)
        table = self.assembly.table(hashed(targets, None if rest is None else labels[-1]))
        self.assembly.emit("SWITCH", table, register)
        self._arms([(label, case.type) for label, case in zip(labels, cases, strict=True)], write)

    def _guessed(self, cases: Sequence[nodes.Case], labels: Sequence[Label], fit: _Fit | None) -> None:
        """In the first of several passes, which does not know the tag, the case that fits the value best."""
        if fit is None:
            raise Uncovered("a choice of values by what follows from places")
        found = {node: label for label, node in zip(labels, (case.type for case in cases), strict=True)}
        told = Label()
        self.assembly.emit("GUESSING", told)
        fit([(label, node) for node, label in found.items() if not isinstance(node, nodes.Refuse)])
        self.assembly.place(told)

    def _arms(self, arms: Sequence[tuple[Label, nodes.Arm]], write: Callable[[Node], None]) -> None:
        end = Label()
        for label, case in arms:
            self.assembly.place(label)
            self._case(case, write)
            self.assembly.emit("JUMP", end)
        self.assembly.place(end)

    def _case(self, case: nodes.Arm, write: Callable[[Node], None]) -> None:
        if isinstance(case, nodes.Refuse):
            self.compiler.fail()
        else:
            write(case)

    # --- by the value ----------------------------------------------------------------------------------------------

    def _fitting(
        self,
        cases: Sequence[nodes.Case],
        scope: Scope,
        record: Column | None,
        place: Register | None,
        told: _Told,
    ) -> None:
        arms = [(Label(), node) for node in _ways(cases)]
        self._fit(arms, scope, record, told)
        self._arms(arms, lambda node: self.members(node, scope, record, place))

    def _fit(
        self,
        arms: Sequence[tuple[Label, Node]],
        scope: Scope,
        record: Column | None,
        told: _Told | None = None,
    ) -> None:
        """Go to the first struct, in the order of the spec, that takes the value, as builders do.

        Its constants and words agree with the value, which has what the struct needs, and it has most members of the
        value: all of them, else what is written does not come back.
        """
        fitting = [(label, node, list(self._structs(node))) for label, node in arms]
        count = sum(len(group) for *_, group in fitting)
        if not count:  # all cases are refused, as where a recursion ends
            self.compiler.fail()
            return
        is_told = self._told([(struct, label) for label, _, group in fitting for struct in group], record)
        if count > _FITTING:
            if not is_told:
                raise Uncovered("a choice among more than 63 structs that no one member tells apart")
            self.compiler.fail()
            return
        structs = [struct for *_, group in fitting for struct in group]
        tag = None if told is None else told(structs)
        mask = self.assembly.register("int").read()
        self.compiler.compute(Constant(0), mask)
        words: list[Any] = [count]
        bit = 0
        for label, node, group in fitting:  # one that is a choice itself has as many members as the best of its structs
            bits = range(bit, bit + len(group))
            bit = bits.stop
            for struct in group:
                tells = [] if tag is None else tag.tells(node, struct)
                self._accepting(struct, scope, record, mask, bits, tells)
                words += [label, self.assembly.table(self._counted(struct, record))]
        self.assembly.emit("CHOOSE", mask, self.assembly.table(words))

    def _structs(self, node: Node) -> Iterator[nodes.Struct]:
        """A struct, or those that a choice has."""
        match self.compiler.reader.resolved(node):
            case nodes.Struct() as struct:
                yield struct
            case nodes.Tagged(cases=cases):
                for way in _ways(cases):
                    yield from self._structs(way)
            case _:
                raise Uncovered("a choice among what are no structs")

    def _told(self, structs: Sequence[tuple[nodes.Struct, Label]], record: Column | None) -> bool:
        """Whether one member tells them apart, each value of it leading to one: where the record gives it, go there.

        What else the record says of the struct need not be looked at: it has to come back.
        """
        told = [(dict(_constants(struct)), label) for struct, label in structs]
        for title, value in told[0][0].items():
            column = member(record, title)
            values = [constants.get(title) for constants, _ in told]
            if column is None or column.takes not in ("int", "str"):
                continue
            if any(isinstance(each, str) != (column.takes == "str") or each is None for each in values):
                continue
            leading = {(each, label) for each, (_, label) in zip(values, told, strict=True)}
            if len(leading) > len(set(values)) or len({label for _, label in leading}) == 1:
                continue
            unsaid, given = Label(), self.compiler.names.value(column, textual=isinstance(value, str)).read()
            targets: dict[int | None, Label] = {None: unsaid}
            targets |= {self.word(each): label for each, (_, label) in zip(values, told, strict=True)}
            self.compiler.switch(targets, given)
            self.assembly.place(unsaid)
            return True
        return False

    def _counted(self, struct: nodes.Struct, record: Column | None) -> list[int]:
        """The columns that are members of the struct, as readers see it."""
        titles = {name for name, said in self.compiler.names.members(struct.steps) if not said.get("hidden")}
        members = record.children if record is not None else {}
        columns = [column for name, column in members.items() if name in titles]
        return [len(columns), *(column.index | (_ALTERNATIVES if column.takes == "" else 0) for column in columns)]

    def _accepting(  # noqa: PLR0913 - a struct, where it stands, and what becomes known
        self,
        struct: nodes.Struct,
        outer: Scope,
        record: Column | None,
        mask: Register,
        bits: Sequence[int],
        told: Sequence[tuple[str, Tree]],
    ) -> None:
        """Set the bits where the value can be of the struct; `told` must hold of members of it."""
        scope, steps = Scope(struct.encoding, record, outer), struct.steps
        first = len(self.assembly.registers)
        enter = self.assembly.emit("ENTER", None, Edge(first), Edge(first))
        version = self.compiler.structs.newest(struct.versions)
        self.compiler.names.load(steps, scope)
        self.compiler.sentinels.load(steps, scope, version)
        if scope.encoding == "json":
            self.compiler.given.load(steps, scope, version)
        elif self._looks_at_what_follows(steps):
            waiting = self.compiler.given.fill(steps, scope, version)
            self.compiler.fields.derive_early(steps, scope, version, waiting)
        unknown = self._unknown(steps, scope)
        refused = Label()
        for title, _ in told:
            scope.names[f"\0{title}"] = self.compiler.names.value(member(record, title), textual=True)
        for tree in (
            *(tree for _, tree in told),
            *self._required(struct, record),
            *self._agreements(steps, scope, record, unknown),
        ):
            self.compiler.unless(self.expressions.condition(tree, scope), refused)
        for bit in bits:
            self.assembly.emit("ACCEPT", mask, bit)
        self.assembly.place(refused)
        enter[3] = Edge(len(self.assembly.registers))

    def _required(self, struct: nodes.Struct, record: Column | None) -> Iterator[Tree]:
        """That the value has what it must have of the struct, in any of its versions."""
        for title in self.compiler.reader.layout.get("needs", {}).get(struct.name, ()):
            fields = [field for field in struct.fields if field.title == title]
            if not any(field.since or field.until for field in fields):
                column = member(record, title)
                yield False if column is None else nodes.present(nodes.own(fields[0].name))

    def _agreements(
        self, steps: Sequence[nodes.Step], scope: Scope, record: Column | None, unknown: Mapping[str, bool]
    ) -> list[Tree]:
        """What must hold of a value of the struct: where it says what is constant, mapped or computed, it agrees.

        Unless the value says what is `unknown`, too, what is computed of it agrees, or the row is left to the builders.
        """
        trees: list[Tree] = []
        for field in nodes.fields(steps):
            if field.hidden:
                continue
            column = member(record, field.title)
            computed = None if field.given or field.build is not None else field.compute
            if column is None or (computed is None and field.const is None and field.values is None):
                continue
            given = f"\0{field.title}"
            is_word = computed is None or not self._is_free(computed.tree, scope)
            scope.names[given] = self.compiler.names.value(column, textual=is_word)
            agrees = self._agrees(field, given)
            self._give_up_unsettled(given, agrees, scope)
            for name in sorted(own_fields(agrees) & unknown.keys()):
                if not unknown[name]:
                    self._give_up(given, name, scope)
                agrees = nodes.Binary("or", nodes.negated(nodes.present(nodes.own(name))), agrees)
            trees.append(nodes.Binary("or", nodes.negated(nodes.present(nodes.own(given))), agrees))
        return trees

    def _is_free(self, tree: Tree, scope: Scope) -> bool:
        """Whether a text is computed that may be any, none of those that the format names."""
        compiled = self.expressions.compiled(tree, scope)
        return isinstance(compiled, Code) and compiled.kind in ("bytes", "made")

    def _give_up_unsettled(self, given: str, agrees: Tree, scope: Scope) -> None:
        """Where a member is given that follows from a null of which it is not known whether it has a value."""
        for name in sorted(own_fields(agrees) & (scope.unfilled | scope.early.keys() | scope.late.keys())):
            self._give_up(given, name, scope)

    def _give_up(self, given: str, name: str, scope: Scope) -> None:
        """Leave the rows to the builders that say one member, but not another that it follows from."""
        unsettled: Tree = nodes.both(nodes.present(nodes.own(given)), nodes.negated(nodes.present(nodes.own(name))))
        with self.compiler.during(self.expressions.condition(unsettled, scope)):
            self.compiler.fail()

    def _unknown(self, steps: Sequence[nodes.Step], scope: Scope) -> dict[str, bool]:
        """What is not known yet of fields unless the value says it, and whether builders do not know it either.

        They do not where a field follows from where things stand, or from the bytes; they do of an integer of bits.
        """
        found: dict[str, bool] = {}
        for field in nodes.fields(steps):
            name = field.name
            if name in scope.pending:
                if name in scope.following or field.checksum is not None:
                    found[name] = True
                elif field.bits and not field.hidden:
                    found[name] = False
        scope.pending -= found.keys()
        scope.following.clear()  # what is unknown here is so in passes, too
        return found

    def _looks_at_what_follows(self, steps: Sequence[nodes.Step]) -> bool:
        """Whether something is computed of what has a value though its column has none."""
        following = self.compiler.names.following(steps)
        computed = [field.compute for field in nodes.fields(steps) if field.compute is not None]
        return any(own_fields(each.tree) & following for each in computed)

    def _agrees(self, field: nodes.Field, name: str) -> Tree:
        given = nodes.own(name)
        if field.const is not None:
            if isinstance(field.const, bytes):
                raise Uncovered("a choice by a constant of bytes")
            return nodes.Binary("==", given, stated(field.const))
        if field.compute is not None:
            return nodes.Binary("==", field.compute.tree, given)
        meanings = [self.expressions.compiled(each.means, Scope("", None)) for each in field.values or ()]
        if not all(isinstance(meaning, Constant) for meaning in meanings):
            raise Uncovered("a mapping that depends on the record")
        values = [meaning.value for meaning in meanings if meaning.value is not None]  # type: ignore[union-attr]
        return nodes.Among(given, tuple(map(stated, values)))

    # --- by name ---------------------------------------------------------------------------------------------------

    def _attempt(self, node: nodes.Attempt, scope: Scope, record: Column) -> None:
        """The alternative that the value names, else the first whose condition holds."""

        def write(trial: nodes.Trial) -> None:
            if member(record, node.kind) is not None:
                text = self.word(trial.name)
                self.assembly.emit("TRIAL", text >> 16, text & 0xFFFF)
            around = Scope("", None)
            self._first = self._first or around
            self.members(trial.type, around, record, None)

        self._named(node, scope, record, write)

    def _part(self, node: nodes.Attempt, scope: Scope, record: Column | None, place: Register | None) -> None:
        """The alternative of a part of a record that the value names; which one it is elsewhere builders try."""
        if scope is self._first:
            self._first = None  # what readers try after others is not what they come to first

        def write(trial: nodes.Trial) -> None:
            self.members(trial.type, scope, record, place)

        self._named(node, scope, record, write)

    def _named(
        self,
        node: nodes.Attempt,
        scope: Scope,
        record: Column | None,
        write: Callable[[nodes.Trial], None],
    ) -> None:
        """Write the alternative that the value names, else the first that takes it of those that builders may take."""
        self.compiler.certainty.doubts("alternatives that are tried")
        trials = node.trials
        for name in (node.kind, node.reason):
            self.compiler.determined.note(member(record, name), determined=True)
        labels, other, end = [Label() for _ in trials], Label(), Label()
        if member(record, node.kind) is not None:
            targets: dict[int | None, Label] = {None: other}
            for trial, label in zip(trials, labels, strict=True):
                targets.setdefault(self.word(trial.name), label)
            named = self.compiler.names.value(member(record, node.kind), textual=True).read()
            self.assembly.emit("SWITCH", self.assembly.table(hashed(targets)), named)
            self.assembly.place(other)
            self._unnamed(trials, labels, scope, record)
        else:
            self._fit([(label, trial.type) for label, trial in zip(labels, trials, strict=True)], scope, record)
        for trial, label in zip(trials, labels, strict=True):
            self.assembly.place(label)
            write(trial)
            self.assembly.emit("JUMP", end)
        self.assembly.place(end)

    def _unnamed(
        self, trials: Sequence[nodes.Trial], labels: Sequence[Label], outer: Scope, record: Column | None
    ) -> None:
        """Go to the first alternative that is meant: where it does not take a row, builders do."""
        scope = Scope("", record, outer)
        self.compiler.names.load_record(scope)
        for trial, label in zip(trials, labels, strict=True):
            when = trial.build_when
            with self.compiler.during(ALWAYS if when is None else self.expressions.condition(when, scope)):
                self.assembly.emit("JUMP", label)
        self.compiler.fail()


def _ways(cases: Sequence[nodes.Case]) -> Sequence[Node]:
    """The types that cases select, each once."""
    return [*dict.fromkeys(case.type for case in cases if not isinstance(case.type, nodes.Refuse))]


def _constants(struct: nodes.Struct) -> Iterator[tuple[str, int | str]]:
    """The members of a struct, as readers know them, that are always there and always say the same."""
    for field in struct.fields:
        if field.hidden or field.is_conditional or field.optional:
            continue
        match field:
            case nodes.Field(const=int() | str() as value) if not isinstance(value, bool):
                yield field.title, value
            case nodes.Field(compute=nodes.Formula(int() | nodes.TextConstant() as tree)) if (
                not isinstance(tree, bool) and not _GIVEN & field.stated.keys()
            ):
                yield field.title, tree.text if isinstance(tree, nodes.TextConstant) else tree
            case nodes.Field(values=(nodes.Meaning(_, int() | nodes.TextConstant() as tree),)) if not isinstance(
                tree, bool
            ):
                yield field.title, tree.text if isinstance(tree, nodes.TextConstant) else tree
            case _:
                pass
