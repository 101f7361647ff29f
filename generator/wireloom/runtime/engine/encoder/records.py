"""Records: a struct, or one of several, selected by a tag, by the members of the value, or by name.

A choice by a known field becomes a switch. A choice by bytes that are read ahead is made by the value: a case accepts
if the value has its required members and agrees with its constants; of those, the case with the most members is
written.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import ALWAYS, member, word_of
from wireloom.runtime.engine.compiler.switches import hashed, is_beyond
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.encoder.tags import Ahead, Tag
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Constant, Tree, encoded, stated

_ALTERNATIVES = 1 << 32
_FITTING = 63  # the most structs in a choice: each has a bit of a register
_GIVEN = {"given", "build", "values"}


class Records(Part):
    """Writes records: values with members."""

    _first: Scope | None = None  # encloses the alternative that readers try first

    def outermost(self, scope: Scope) -> bool:
        """Whether a struct is the whole record, and readers try it before any other alternative."""
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
        """Write a record from the current row of `record`."""
        resolved = self.compiler.reader.resolved
        match resolved(node):
            case nodes.Struct() as struct:
                self.compiler.structs.struct(struct, scope, record, place)
            case nodes.Select(tag, cases):
                self.selected(
                    tag,
                    cases,
                    scope,
                    lambda case: self.members(case, scope, record, place),
                )
            case nodes.Tagged(cases=cases) as tagged:
                self._fitting(cases, scope, record, place, Tag.of(tagged, [*self._all(cases)], resolved))
            case nodes.Peek(tag, cases):
                self._fitting(cases, scope, record, place, Ahead(resolved(tag), scope.encoding, cases, resolved))
            case nodes.Attempt() as attempt:
                self._part(attempt, scope, record, place)
            case other:
                raise Uncovered(f"a record that is a {word_of(other)}")

    def word(self, value: Any) -> int:
        """A tag's value, as a number."""
        match value:
            case str() | bytes():
                return self.assembly.text(encoded(value))
            case bool() | int() if not is_beyond(value):
                return int(value)
            case int():
                raise Uncovered("a number beyond 64 bits in `values` or as a case")
            case _:
                raise Uncovered("a case that is not a number or text")

    # --- by a tag --------------------------------------------------------------------------------------------------

    def selected(
        self,
        tag: Tree,
        cases: Sequence[nodes.Case],
        scope: Scope,
        write: Callable[[Node], None],
    ) -> None:
        """Branch on the value of an expression."""
        self.compiler.certainty.looks(tag, scope)
        compiled, rest = self.expressions.compiled(tag, scope), None if cases[-1].values else cases[-1].type
        if isinstance(compiled, Constant):
            known = (case.type for case in cases if compiled.value in case.values)
            self._case(next(known, rest or nodes.Refuse("")), write)
            return
        compiled = self.expressions.named(compiled, [value for case in cases for value in case.values])
        if compiled.kind == "bytes":
            raise Uncovered("a choice by text of the record")
        register = self.assembly.register("int").read()
        self.compiler.compute(compiled, register)
        labels = [Label() for _ in cases]
        targets: dict[int | None, Label] = {}
        for case, label in zip(cases, labels, strict=True):
            for value in case.values:
                if not is_beyond(value):  # registers have no number beyond 63 bits
                    targets.setdefault(None if value is None else self.word(value), label)
        if scope.is_assumed(tag):
            raise Uncovered("a choice by a value computed from offsets")
        table = self.assembly.table(hashed(targets, None if rest is None else labels[-1]))
        self.assembly.emit("SWITCH", table, register)
        self.assembly.arms(
            (label, partial(self._case, case.type, write)) for label, case in zip(labels, cases, strict=True)
        )

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
        tag: Tag | Ahead,
    ) -> None:
        arms = [(Label(), node) for node in _ways(cases)]
        self._fit(arms, scope, record, tag)

        def write(case: Node) -> None:
            for struct in self.structs(case):
                if not tag.leads(case, struct):
                    self.assembly.doubt(f"{struct.name} may be taken for another case")
            self.members(case, scope, record, place)

        self.assembly.arms((label, partial(self._case, case, write)) for label, case in arms)

    def _all(self, cases: Sequence[nodes.Case]) -> Iterator[nodes.Struct]:
        for way in _ways(cases):
            yield from self.structs(way)

    def _fit(
        self,
        arms: Sequence[tuple[Label, Node]],
        scope: Scope,
        record: Column | None,
        tag: Tag | Ahead | None = None,
    ) -> None:
        """Jump to the first struct, in the order of the spec, that accepts the value, as builders do.

        A struct accepts if its constants and words agree with the value, the value has what the struct needs, and no
        other struct has more of the value's members. If it lacks some of them, the record does not read back equal.
        """
        fitting = [(label, node, list(self.structs(node))) for label, node in arms]
        count = sum(len(group) for *_, group in fitting)
        if not count:  # all cases are refused, as at the end of a recursion
            self.compiler.fail()
            return
        has_member = self._jump_by_member([(struct, label) for label, _, group in fitting for struct in group], record)
        if count > _FITTING:
            if not has_member:
                raise Uncovered("a choice of more than 63 structs that no single member tells apart")
            self.compiler.fail()
            return
        mask = self.assembly.register("int").read()
        self.compiler.compute(Constant(0), mask)
        words: list[Any] = [count]
        bit = 0
        for label, node, group in fitting:  # a nested choice counts the members of its best struct
            bits = range(bit, bit + len(group))
            bit = bits.stop
            for struct in group:
                tells = [] if tag is None else tag.tells(node, struct)
                self._accepting(struct, scope, record, mask, bits, tells)
                words += [label, self.assembly.table(self._counted(struct, record))]
        self.assembly.emit("CHOOSE", mask, self.assembly.table(words))

    def structs(self, node: Node) -> Iterator[nodes.Struct]:
        """The struct, or all structs of a choice."""
        match self.compiler.reader.resolved(node):
            case nodes.Struct() as struct:
                yield struct
            case nodes.Tagged(cases=cases):
                for way in _ways(cases):
                    yield from self.structs(way)
            case _:
                raise Uncovered("a choice whose cases are not structs")

    def _jump_by_member(self, structs: Sequence[tuple[nodes.Struct, Label]], record: Column | None) -> bool:
        """If one member tells all structs apart, jump to the struct of its value; returns whether one does.

        Other members need not be compared: the read-back compares them.
        """
        known = [(dict(_constants(struct)), label) for struct, label in structs]
        for title, value in known[0][0].items():
            column = member(record, title)
            values = [constants.get(title) for constants, _ in known]
            if column is None or column.takes not in ("int", "str"):
                continue
            if any(isinstance(each, str) != (column.takes == "str") or each is None for each in values):
                continue
            leading = {(each, label) for each, (_, label) in zip(values, known, strict=True)}
            if len(leading) > len(set(values)) or len({label for _, label in leading}) == 1:
                continue
            unsaid, given = Label(), self.compiler.names.value(column, textual=isinstance(value, str)).read()
            targets: dict[int | None, Label] = {None: unsaid}
            targets |= {self.word(each): label for each, (_, label) in zip(values, known, strict=True)}
            self.compiler.switch(targets, given)
            self.assembly.place(unsaid)
            return True
        return False

    def _counted(self, struct: nodes.Struct, record: Column | None) -> list[int]:
        """The columns of a struct's members that readers see."""
        titles = {name for name, keys in self.compiler.names.members(struct.steps) if not keys.get("hidden")}
        members = record.children if record is not None else {}
        columns = [column for name, column in members.items() if name in titles]
        return [len(columns), *(column.index | (_ALTERNATIVES if column.takes == "" else 0) for column in columns)]

    def _accepting(  # noqa: PLR0913 - a struct, its columns, and further conditions
        self,
        struct: nodes.Struct,
        outer: Scope,
        record: Column | None,
        mask: Register,
        bits: Sequence[int],
        conditions: Sequence[tuple[str, Tree]],
    ) -> None:
        """Set the bits if the value can be of the struct; `conditions` are further ones on its members."""
        scope, refused = Scope(struct.encoding, record, outer), Label()
        for title, _ in conditions:
            scope.names[f"\0{title}"] = self.compiler.names.value(member(record, title), textual=True)
        trees = (tree for _, tree in conditions)
        for tree in (*trees, *self._required(struct, record, scope), *self._agreements(struct, record, scope)):
            self.compiler.unless(self.expressions.condition(tree, scope), refused)
        for bit in bits:
            self.assembly.emit("ACCEPT", mask, bit)
        self.assembly.place(refused)

    def _required(self, struct: nodes.Struct, record: Column | None, scope: Scope) -> Iterator[Tree]:
        """Conditions that the value has the members that the struct requires in all its versions."""
        versioned = {field.title for field in struct.fields if field.since or field.until}
        for title in self.compiler.reader.layout.get("needs", {}).get(struct.name, ()):
            if title not in versioned:
                scope.names[f"\0{title} there"] = self.compiler.names.value(member(record, title), textual=False)
                yield nodes.present(nodes.own(f"\0{title} there"))

    def _agreements(self, struct: nodes.Struct, record: Column | None, scope: Scope) -> Iterator[Tree]:
        """Conditions that the value agrees with the struct's constants and words.

        Builders also compare computed members; the engine leaves that to the read-back.
        """
        for field in struct.fields:
            column, known = member(record, field.title), None if field.hidden else self._known(field)
            if column is not None and known is not None:
                scope.names[f"\0{field.title} given"] = self.compiler.names.value(column, textual=True)
                given = nodes.own(f"\0{field.title} given")
                yield nodes.Binary("or", nodes.negated(nodes.present(given)), nodes.Among(given, known))

    def _known(self, field: nodes.Field) -> tuple[Tree, ...] | None:
        """The values that a member may have, except null; None if the format does not list them."""
        if isinstance(field.const, bytes):
            raise Uncovered("a choice by a `const` of bytes")
        if field.const is not None:
            return (stated(field.const),)
        if field.values is not None:
            meanings = [self.expressions.compiled(each.means, Scope("", None)) for each in field.values]
            known = [each.value for each in meanings if isinstance(each, Constant)]
            return tuple(stated(each) for each in known if each is not None) if len(known) == len(meanings) else None
        computed = None if field.given or field.build is not None or field.compute is None else field.compute.tree
        return (computed,) if isinstance(computed, int | nodes.TextConstant) else None

    # --- by name ---------------------------------------------------------------------------------------------------

    def _attempt(self, node: nodes.Attempt, scope: Scope, record: Column) -> None:
        """Write the alternative that the value names, else the first whose condition holds."""

        def write(trial: nodes.Trial) -> None:
            enclosing = Scope("", None)
            self._first = self._first or enclosing
            self.members(trial.type, enclosing, record, None)

        self._named(node, scope, record, write)

    def _part(self, node: nodes.Attempt, scope: Scope, record: Column | None, place: Register | None) -> None:
        """Write the alternative of a nested record that the value names; for others, builders try."""
        if scope is self._first:
            self._first = None  # readers try these structs after others

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
        """Write the alternative that the value names, else the first one that builders may choose."""
        self.assembly.doubt("alternatives that are tried")
        trials = node.trials
        for name in (node.kind, node.reason):
            self.compiler.determined.note(member(record, name), determined=True)
        labels, other = [Label() for _ in trials], Label()
        kind = member(record, node.kind)
        if kind is not None:
            targets: dict[int | None, Label] = {None: other}
            for trial, label in zip(trials, labels, strict=True):
                targets.setdefault(self.word(trial.name), label)
            named = self.compiler.names.value(kind, textual=True).read()
            self.assembly.emit("SWITCH", self.assembly.table(hashed(targets)), named)
            self.assembly.place(other)
        if kind is not None or any(trial.build_when is not None for trial in trials):
            self._unnamed(trials, labels, scope, record)
        else:
            self._fit([(label, trial.type) for label, trial in zip(labels, trials, strict=True)], scope, record)
        self.assembly.arms((label, partial(write, trial)) for trial, label in zip(trials, labels, strict=True))

    def _unnamed(
        self, trials: Sequence[nodes.Trial], labels: Sequence[Label], outer: Scope, record: Column | None
    ) -> None:
        """Jump to the first alternative whose condition holds; if it gives up the row, builders write it."""
        scope = Scope("", record, outer)
        self.compiler.names.load_record(scope)
        for trial, label in zip(trials, labels, strict=True):
            when = trial.build_when
            with self.compiler.during(ALWAYS if when is None else self.expressions.condition(when, scope)):
                self.assembly.emit("JUMP", label)
        self.compiler.fail()


def _ways(cases: Sequence[nodes.Case]) -> Sequence[Node]:
    """The distinct types that cases select."""
    return [*dict.fromkeys(case.type for case in cases if not isinstance(case.type, nodes.Refuse))]


def _constants(struct: nodes.Struct) -> Iterator[tuple[str, int | str]]:
    """The members of a struct, by their names for readers, that are always present with the same value."""
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
