"""Records: structs, and choices among them by the next bytes, by a field, or by trial.

`members` takes a type whose values are records, and the column whose row is open. It compiles each case after a
`SWITCH` on the tag. The alternatives of an attempt become bodies: `ATTEMPT` runs them in order until one succeeds, or
fails with an error that is not in its fallbacks.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import ALWAYS, UNBOUNDED, Node, Scope, Sink, member, number_form, word_of
from wireloom.runtime.engine.compiler.switches import Choice, hashed, is_beyond, otherwise, pattern
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import NUMBER, Constant, Tree, encoded
from wireloom.runtime.expressions import among

_WIDEST = 64  # bits of an integer

_Read = Callable[[Node], object]
_Way = TypeVar("_Way")


def _choice(cases: Sequence[nodes.Case]) -> Choice[nodes.Arm]:
    return [(case.values, case.type) for case in cases]


class Records(Part):
    """Compiles records, which are read into an open row of a struct column."""

    def members(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None = None
    ) -> Scope | None:
        """Read a record into the open row of `record`."""
        found = self.compiler.resolved(node)

        def read(case: Node) -> Scope | None:
            return self.members(case, scope, record, into, place)

        match found:
            case nodes.Struct(encoding=encoding):
                if encoding != scope.encoding and (scope.encoding != "binary" or encoding == "json"):
                    raise Uncovered(f"a body of {encoding} in {scope.encoding}")
                return self.compiler.structs.struct(found, Scope(encoding, scope, into, place), record)
            case nodes.Inline(inner):
                return self.compiler.json.inline(inner, scope, record, into, place)
            case nodes.Tagged():
                self.compiler.json.tagged(found, scope, read)
            case nodes.Peek() | nodes.Attempt() if scope.encoding == "json":
                raise Uncovered(f"a JSON {word_of(found)}")
            case nodes.Peek(tag, cases, code):
                if not isinstance(tag, nodes.Int) or tag.bits > _WIDEST:
                    raise Uncovered("a `peek` at a type that is not an integer")
                self.assembly.emit("PEEK", *number_form(tag, self.compiler.big))
                self._cases(_choice(cases), code, lambda arm: self._arm(arm, read))
            case nodes.Select(expression, cases, code):
                self.selected(expression, cases, code, scope, read)
            case nodes.Attempt():
                self._attempt(found, scope, record)
            case other:
                raise Uncovered(f"a record that is a {word_of(other)}")
        return None

    def selected(self, tag: Tree, cases: Sequence[nodes.Case], code: str, scope: Scope, read: _Read) -> None:
        """Select a type by an expression."""
        self.chosen(tag, _choice(cases), code, scope, lambda arm: self._arm(arm, read))

    def chosen(self, tag: Tree, cases: Choice[_Way], code: str, scope: Scope, read: Callable[[_Way], object]) -> None:
        """Select one of several cases by an expression."""
        compiled = self.expressions.compiled(tag, scope)
        if isinstance(compiled, Constant):
            known = (way for values, way in cases if among(compiled.value, values))
            found = next(known, otherwise(cases))
            if found is None:
                self._refuse(code)
            else:
                read(found)
            return
        values = [value for values, _ in cases for value in values]
        compiled = self.expressions.named(compiled, values)
        if any(value is not None and Constant(value).kind != compiled.kind for value in values):
            raise Uncovered("a choice whose cases have another type than the tag")
        if compiled.term.word == "LOAD":
            register = compiled.term.argument
        else:
            register = self.assembly.register("int").read()
            self.expressions.result(compiled)  # raises if the tag has another kind
            self.assembly.emit("COMPUTE", self.expressions.place(compiled), NUMBER, register, None, *UNBOUNDED)
        self._cases(cases, code, read, register)

    def _cases(
        self,
        cases: Choice[_Way],
        code: str,
        read: Callable[[_Way], object],
        register: Register | None = None,
    ) -> None:
        """Branch on a register, or on the last value read."""
        labels = [Label() for _ in cases]
        targets: dict[int | None, Label] = {}
        for (values, _), label in zip(cases, labels, strict=True):
            for value in values:
                if register is None or not is_beyond(value):  # registers have no number beyond 63 bits
                    targets.setdefault(None if value is None else self.word(value), label)
        table = self.assembly.table(hashed(targets, labels[-1] if otherwise(cases) else None))
        self.assembly.emit("SWITCH", table, self.assembly.refusal(code), register)
        end = Label()
        for (_, way), label in zip(cases, labels, strict=True):
            self.assembly.place(label)
            read(way)
            self.assembly.jump(end)
        self.assembly.place(end)

    def _arm(self, arm: nodes.Arm, read: _Read) -> None:
        if isinstance(arm, nodes.Refuse):
            self._refuse(arm.code)
        else:
            read(arm)

    def _refuse(self, code: str) -> None:
        self.assembly.emit("FAIL", self.assembly.refusal(code))

    def word(self, value: Any) -> int:
        """The machine's number for a value in a comparison."""
        match value:
            case None:
                return 0
            case str() | bytes():
                return self.assembly.text(encoded(value))
            case bool() | int():
                return pattern(value)
            case _:
                raise Uncovered("a choice whose tag is not a number, boolean or text")

    def _attempt(self, node: nodes.Attempt, scope: Scope, record: Column | None) -> None:
        trials, kind, reason = node.trials, node.kind, node.reason
        refused = self.assembly.register("text").read()
        none = self.expressions.place(Constant(None))
        self.assembly.emit("COMPUTE", none, 1, refused, None)
        end, titles = Label(), {kind, reason, *(title for trial in trials for _, title in self._members(trial.type))}
        own = [column.index for name, column in (record.children.items() if record else ()) if name in titles]
        written = self.assembly.table([len(own), *own])

        def tried(trial: nodes.Trial) -> None:
            self.members(trial.type, scope, record, None)
            self.compiler.fields.computed(Constant(trial.name), Sink(None, member(record, kind)))
            column = member(record, reason)
            if column is not None:
                place = len(self.assembly.expressions)
                operations = self.assembly.operations
                self.assembly.expressions += [operations["LOAD"], refused, operations["END"], 0]
                self.assembly.emit("COMPUTE", place, 3, None, column.index)

        for trial in trials[:-1]:
            body = self.assembly.later(partial(tried, trial))
            late = set(self._late(trial.type, set()))
            if not self._is_binary(trial.type, set()):
                late.add("truncated")
            codes = [code for code in self._fallbacks(trial.fallbacks, scope) if code not in late]
            table = self.assembly.table(
                [
                    len(codes),
                    *(word for code in codes for word in (self.assembly.code(code), self.assembly.text(code.encode()))),
                ]
            )
            self.assembly.emit("ATTEMPT", body, table, end, written, refused)
        tried(trials[-1])
        self.assembly.place(end)

    def _late(self, node: Any, seen: set[str], *, inside: bool = False) -> Iterator[str]:
        """The codes that protobuf messages state; the parser reports them only after it scanned the whole message.

        So such a code may lead to the next trial only if the rest of the message is valid; the engine leaves that to
        the parser.
        """
        match node:
            case str() if inside:
                yield node
            case nodes.Ref(name) if name not in seen:
                yield from self._late(self.compiler.resolved(node), seen | {name}, inside=inside)
            case tuple() | dict():
                inside = inside or (isinstance(node, nodes.Struct) and node.encoding == "protobuf")
                for part in node if isinstance(node, tuple) else node.values():
                    yield from self._late(part, seen, inside=inside)
            case _:
                pass

    def _is_binary(self, node: Any, seen: set[str]) -> bool:
        """Whether all structs inside are binary. In other encodings, truncation may hide an earlier error."""
        for each in nodes.within(node):
            match each:
                case nodes.Ref(name) if name not in seen:
                    seen.add(name)
                    if not self._is_binary(self.compiler.resolved(each), seen):
                        return False
                case nodes.Struct(encoding=encoding) if encoding != "binary":
                    return False
                case _:
                    pass
        return True

    def flattened_names(self, node: Node) -> frozenset[str]:
        """The names, in expressions, of the members of a flattened record."""
        return frozenset(name for name, _ in self._members(node))

    def _members(self, node: Node) -> Iterator[tuple[str, str | None]]:
        """The names of a record's members, including those of flattened records, in expressions and for readers.

        Readers have no name for the flattened field itself (None).
        """
        match self.compiler.resolved(node):
            case nodes.Struct() as struct:
                for field in struct.fields:
                    if field.flatten:
                        yield field.name, None
                        yield from self._members(field.type)
                    else:
                        yield field.name, field.title
                    yield from ((bit.name, bit.title) for bit in field.bits)
            case nodes.Inline(inner):
                yield from self._members(inner)
            case nodes.Peek(cases=cases) | nodes.Select(cases=cases) | nodes.Tagged(cases=cases):
                for case in cases:
                    if not isinstance(case.type, nodes.Refuse):
                        yield from self._members(case.type)
            case nodes.Attempt(trials, kind, reason):
                yield from ((kind, kind), (reason, reason))
                for trial in trials:
                    yield from self._members(trial.type)
            case other:
                raise Uncovered(f"an `attempt` with an alternative that is a {word_of(other)}")

    def _fallbacks(self, fallbacks: Sequence[nodes.Fallback], scope: Scope) -> list[str]:
        codes: list[str] = []
        for fallback in fallbacks:
            holds = ALWAYS if fallback.when is None else self.expressions.condition(fallback.when, scope)
            if not isinstance(holds, Constant):
                raise Uncovered("an `attempt` with a condition that depends on the record")
            codes += fallback.codes if holds.value else ()
        return codes
