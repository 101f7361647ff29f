"""Records: structs, and what chooses among them by the bytes ahead, by a field, or by trial."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from wireloom.runtime.engine.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.compiler.part import Part
from wireloom.runtime.engine.compiler.scope import ALWAYS, UNBOUNDED, Node, Scope, Sink, bit_title, member, number_form
from wireloom.runtime.engine.compiler.switches import hashed, is_beyond, otherwise, pattern
from wireloom.runtime.engine.expressions import NUMBER, Constant, Tree, encoded
from wireloom.runtime.engine.outline import Column
from wireloom.runtime.expressions import among

_WIDEST = 64  # bits of an integer


class Records(Part):
    """What reads into an open row of a struct column."""

    def members(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None = None
    ) -> Scope | None:
        """Read a record into the row of `record` that is open."""
        match self.compiler.resolved(node):
            case ("struct", name, encoding, form, versions, steps):
                with self._carried(name, encoding, scope):
                    return self.compiler.structs.struct(
                        encoding, form, versions, steps, Scope(encoding, scope, into, place), record
                    )
            case ("inline", inner):
                return self.compiler.json.inline(inner, scope, record, into, place)
            case ("tagged", *told):
                self.compiler.json.tagged(told, scope, lambda case: self.members(case, scope, record, into, place))
            case ("peek" | "attempt" as kind, *_) if scope.encoding == "json":
                raise Uncovered(f"a JSON {kind}")
            case ("peek", tag, cases, code):
                if tag[0] != "int" or tag[1] > _WIDEST:
                    raise Uncovered("a choice by bytes ahead that are no integer")
                self.assembly.emit("PEEK", *number_form(tag, self.compiler.big))
                self._cases(cases, code, lambda case: self.members(case, scope, record, into, place))
            case ("select", tag, cases, code):
                self.selected(tag, cases, code, scope, lambda case: self.members(case, scope, record, into, place))
            case ("attempt", trials, kind, reason):
                self._attempt(trials, kind, reason, scope, record)
            case other:
                raise Uncovered(f"a record that is a {other[0]}")
        return None

    @contextmanager
    def _carried(self, name: str, encoding: str, scope: Scope) -> Iterator[None]:
        """A body of another encoding is all of a bin, of what base64 says, of the bytes of protobuf, or of a region."""
        if encoding == scope.encoding or (scope.encoding == "binary" and encoding != "json"):
            yield
            return
        if scope.encoding == "json":
            self.assembly.emit("JSON_CARRIED")
        elif encoding == "json":
            self.compiler.json.body(name, is_bin=scope.encoding == "msgpack")
        else:
            self.assembly.emit("CARRIED", scope.encoding == "msgpack")
        yield
        self.assembly.emit("LEFT")

    def selected(self, tag: Tree, cases: Sequence[Any], code: str, scope: Scope, read: Any) -> None:
        """Choose by an expression."""
        compiled = self.expressions.compiled(tag, scope)
        if isinstance(compiled, Constant):
            known = (case for values, case in cases if among(compiled.value, values))
            found = next(known, otherwise(cases) or ("refuse", code))
            self._refuse(found[1]) if found[0] == "refuse" else read(found)
            return
        compiled = self.expressions.named(compiled, [value for values, _ in cases for value in values])
        if any(value is not None and Constant(value).kind != compiled.kind for values, _ in cases for value in values):
            raise Uncovered("a choice by values of another kind")
        if compiled.term.word == "LOAD":
            register = compiled.term.argument
        else:
            register = self.assembly.register("int").read()
            self.expressions.result(compiled)  # nothing else is chosen by
            self.assembly.emit("COMPUTE", self.expressions.place(compiled), NUMBER, register, None, *UNBOUNDED)
        self._cases(cases, code, read, register)

    def _cases(self, cases: Sequence[Any], code: str, read: Any, register: Register | None = None) -> None:
        """Branch on a register, or on the machine's value."""
        labels = [Label() for _ in cases]
        targets: dict[int | None, Label] = {}
        for (values, _), label in zip(cases, labels, strict=True):
            for value in values:
                if register is None or not is_beyond(value):  # registers have no number beyond 63 bits
                    targets.setdefault(None if value is None else self.word(value), label)
        table = self.assembly.table(hashed(targets, labels[-1] if otherwise(cases) else None))
        self.assembly.emit("SWITCH", table, self.assembly.refusal(code), register)
        end = Label()
        for (_, case), label in zip(cases, labels, strict=True):
            self.assembly.place(label)
            self._refuse(case[1]) if case[0] == "refuse" else read(case)
            self.assembly.jump(end)
        self.assembly.place(end)

    def _refuse(self, code: str) -> None:
        self.assembly.emit("FAIL", self.assembly.refusal(code))

    def word(self, value: Any) -> int:
        """A value that is compared, as the number that the machine has for it."""
        match value:
            case None:
                return 0
            case str() | bytes():
                return self.assembly.text(encoded(value))
            case bool() | int():
                return pattern(value)
            case _:
                raise Uncovered("a choice by what is neither number, boolean nor text")

    def _attempt(self, trials: Sequence[Any], kind: str, reason: str, scope: Scope, record: Column | None) -> None:
        refused = self.assembly.register("text").read()
        none = self.expressions.place(Constant(None))
        self.assembly.emit("COMPUTE", none, 1, refused, None)
        end, titles = Label(), {kind, reason, *(title for trial in trials for _, title in self._members(trial[1]))}
        own = [column.index for name, column in (record.children.items() if record else ()) if name in titles]
        written = self.assembly.table([len(own), *own])

        def tried(name: str, node: Node) -> None:
            self.members(node, scope, record, None)
            self.compiler.fields.computed(Constant(name), Sink(None, member(record, kind)))
            column = member(record, reason)
            if column is not None:
                place = len(self.assembly.expressions)
                operations = self.assembly.operations
                self.assembly.expressions += [operations["LOAD"], refused, operations["END"], 0]
                self.assembly.emit("COMPUTE", place, 3, None, column.index)

        for name, node, fallbacks, _ in trials[:-1]:
            body = self.assembly.later(partial(tried, name, node))
            late = set(self._late(node, set()))
            if not self._is_binary(node, set()):
                late.add("truncated")
            codes = [code for code in self._fallbacks(fallbacks, scope) if code not in late]
            table = self.assembly.table(
                [
                    len(codes),
                    *(word for code in codes for word in (self.assembly.code(code), self.assembly.text(code.encode()))),
                ]
            )
            self.assembly.emit("ATTEMPT", body, table, end, written, refused)
        tried(*trials[-1][:2])
        self.assembly.place(end)

    def _late(self, node: Any, seen: set[str], *, inside: bool = False) -> Iterator[str]:
        """The codes that protobuf messages state: parsers come to them once all of a message has been scanned.

        Where one leads to another way, what is wrong with the rest of the message must be known first: that is the
        parser's to say.
        """
        match node:
            case str() if inside:
                yield node
            case ("ref", str(name)) if name not in seen:
                yield from self._late(self.compiler.resolved(node), seen | {name}, inside=inside)
            case tuple() | dict():
                inside = inside or node[:3:2] == ("struct", "protobuf") if isinstance(node, tuple) else inside
                for part in node if isinstance(node, tuple) else node.values():
                    yield from self._late(part, seen, inside=inside)
            case _:
                pass

    def _is_binary(self, node: Any, seen: set[str]) -> bool:
        """Whether structs within are read from front to back: others lack bytes before what is wrong with some."""
        match node:
            case ("ref", str(name)):
                known = name in seen
                seen.add(name)
                return known or self._is_binary(self.compiler.resolved(node), seen)
            case ("struct", _, encoding, *_) if encoding != "binary":
                return False
            case tuple() | list():
                return all(self._is_binary(part, seen) for part in node)
            case dict():
                return all(self._is_binary(part, seen) for part in node.values())
            case _:
                return True

    def lent(self, node: Node) -> frozenset[str]:
        """What expressions call the members of a record that melts into the one around."""
        return frozenset(name for name, _ in self._members(node))

    def _members(self, node: Node) -> Iterator[tuple[str, str | None]]:
        """What expressions and readers call the members of a record, those of what melts into it among them.

        Readers have no name for what melts itself.
        """
        match self.compiler.resolved(node):
            case ("struct", _, _, _, _, steps):
                for _, name, type, attributes in (step for step in steps if step[0] == "field"):
                    if attributes.get("flatten"):
                        yield name, None
                        yield from self._members(type)
                    else:
                        yield name, attributes.get("as", name)
                    yield from ((bit[0], bit_title(bit)) for bit in attributes.get("bits", ()))
            case ("inline", inner):
                yield from self._members(inner)
            case ("peek" | "select", _, cases, _) | ("tagged", _, _, _, _, cases, _):
                for _, case in cases:
                    yield from self._members(case)
            case ("attempt", trials, kind, reason):
                yield from ((kind, kind), (reason, reason))
                for trial in trials:
                    yield from self._members(trial[1])
            case ("refuse", _):
                pass
            case other:
                raise Uncovered(f"a way of an attempt that is a {other[0]}")

    def _fallbacks(self, fallbacks: Sequence[Any], scope: Scope) -> list[str]:
        codes: list[str] = []
        for names, when in fallbacks:
            holds = ALWAYS if when is None else self.expressions.condition(when, scope)
            if not isinstance(holds, Constant):
                raise Uncovered("a fallback that depends on the record")
            codes += names if holds.value else ()
        return codes
