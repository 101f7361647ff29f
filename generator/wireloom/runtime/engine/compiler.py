"""A layout, bound to one root, its parameters and the columns asked for, becomes a program of the engine.

Whatever the engine cannot do raises `Uncovered`; the construct parser then reads the format.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from wireloom.runtime.engine.assembly import Assembly, Edge, Label, Register, Uncovered
from wireloom.runtime.engine.expressions import Compiled, Constant, Expressions, Tree
from wireloom.runtime.engine.outline import Column, links, outline
from wireloom.runtime.logical import List, Record

Node = tuple[Any, ...]

_FAMILIES = {
    "null": 0,
    "bool": 1,
    "int": 2,
    "float": 3,
    "text": 4,
    "bytes": 5,
    "list": 6,
    "struct": 6,
    "map": 7,
    "ext": 8,
}
_FAMILY_COUNT = 9
_TAKES = {"int": "int", "bool": "bool", "float": "float", "text": "str", "bytes": "bytes", "list": "list"}
_DENSE = 1 << 12
_ALWAYS = Constant(True)  # noqa: FBT003 - a value
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


@dataclass(eq=False)
class Scope:
    """The names of one struct, and where it stands."""

    encoding: str
    parent: "Scope | None" = None
    into: "Scope | None" = None  # the struct that this one's members melt into
    place: Register | None = None  # its place in the list that it is an element of
    names: dict[str, Register] = field(default_factory=dict)
    marks: dict[str, Register] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    checksums: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    start_register: Register | None = None
    size_register: Register | None = None
    reach: Register | None = None  # the farthest position, where fields stand at offsets
    listed: bool = False  # a list of its own has been read, whose last index `index` would see

    def field(self, up: int, name: str) -> Register:
        """The register of a field."""
        scope = self.outward(up)
        if name not in scope.names:
            raise Uncovered(f"the field {name!r} in an expression")
        return scope.names[name]

    def outward(self, up: int) -> "Scope":
        """The scope so many structs outward."""
        scope: Scope | None = self
        for _ in range(up):
            scope = scope.parent if scope is not None else None
        if scope is None:
            raise Uncovered("a field outside the record")
        return scope

    def mark(self, name: str) -> Register:
        """The register of a mark."""
        if name not in self.marks:
            raise Uncovered(f"the mark {name!r} before it is set")
        return self.marks[name]

    def start(self) -> Register:
        """The register of the struct's first byte."""
        if self.start_register is None:
            raise Uncovered("a position outside a struct")
        return self.start_register.read()

    def size(self) -> Register:
        """The register of the size of the struct's region."""
        if self.size_register is None:
            raise Uncovered("a size outside a struct")
        return self.size_register.read()

    def index(self) -> Register:
        """The register of the place in the innermost list."""
        scope: Scope | None = self
        while scope is not None and not scope.listed:
            if scope.place is not None:
                return scope.place
            scope = scope.parent
        raise Uncovered("an index behind a list of the same struct")


@dataclass(frozen=True, slots=True)
class Sink:
    """Where a value goes: to expressions, to readers, or nowhere."""

    register: Register | None = None
    column: Column | None = None


NOWHERE = Sink()


@dataclass(frozen=True, slots=True)
class Item:
    """A field being compiled: what the layout says of it, where it stands, and the column that shows it."""

    name: str
    type: Node
    attributes: dict[str, Any]
    scope: Scope
    record: Column | None
    column: Column | None


class Compiler:
    """Compiles one root of a layout."""

    def __init__(
        self, engine: Any, layout: Mapping[str, Any], settings: Mapping[str, Any], type: Record | List
    ) -> None:
        self.engine, self.layout, self.settings = engine, layout, dict(settings)
        self.columns = outline(type)
        self.assembly = Assembly(engine.OPCODES, engine.EXPRESSION_CODES)
        self.expressions = Expressions(self.assembly, self.settings, layout["ranges"])
        self.crcs = list(layout["crcs"])
        self.big = True

    def program(self, root: str) -> Any:
        """The program of a root."""
        positional, keywords = self.parts(root)
        return self.engine.Program(*positional, **keywords)

    def parts(self, root: str) -> tuple[list[Any], dict[str, Any]]:
        """What the engine makes the program of, and validates."""
        entries = [self._entry(root, order) for order in self._orders()]
        assembly = self.assembly
        assembly.emit("RETURN")
        registers = assembly.number_registers()
        entries = assembly.tighten(entries)
        positional = [
            assembly.numbers([word for row in assembly.rows for word in row]),
            assembly.numbers(assembly.expressions) or [0, 0],
            assembly.numbers(assembly.tables),
            bytes(assembly.texts),
            list(self.layout["crcs"].values()),
            list(links(self.columns, self.engine.KINDS)),
        ]
        keywords = {
            "registers": registers,
            "slots": assembly.slots,
            "entries": entries,
            "other_codes": self._wrong_codes() if len(entries) > 1 else (),
            "depth": self._depth(),
        }
        return positional, keywords

    def _orders(self) -> tuple[str, ...]:
        match self.layout["order"]:
            case str(fixed):
                return (fixed,)
            case (str(parameter), _) if self.settings[parameter] == "auto":
                return ("big", "little")
            case (str(parameter), _):
                return (self.settings[parameter],)
            case _:
                return ("big",)

    def _wrong_codes(self) -> list[int]:
        return [self.assembly.code(name) for name in self.layout["order"][1]]

    def _depth(self) -> int:
        depth = self.layout["depth"]
        limit = self.settings[depth] if isinstance(depth, str) else depth
        return max(0, min(int(limit), 1 << 20))

    def _entry(self, root: str, order: str) -> int:
        self.big = order == "big"
        entry, node, column = len(self.assembly.rows), self.layout["roots"][root], self.columns[0]
        scope = Scope(self._encoding(node))
        if column.kind == "list":
            self.value(node, scope, Sink(None, column))
        else:
            self.members(node, scope, column, None)
            self.assembly.emit("FINISH", column.index)
        self.assembly.emit("RETURN")
        self.assembly.complete()
        return entry

    # --- types -----------------------------------------------------------------------------------------------------

    def resolved(self, node: Node) -> Node:
        """The type that a reference means."""
        while node[0] == "ref":
            node = self.layout["types"][node[1]]
        return node

    def _encoding(self, node: Node) -> str:
        """The encoding of the first struct found."""
        match self.resolved(node):
            case ("struct", _, encoding, *_):
                return str(encoding)
            case ("peek", _, cases, _) | ("select", _, cases, _):
                return self._encoding(cases[0][1])
            case ("attempt", trials, _, _):
                return self._encoding(trials[0][1])
            case ("list", element, *_):
                return self._encoding(element)
            case _:
                raise Uncovered("a root without a struct")

    def is_record(self, node: Node) -> bool:
        """Whether values are records."""
        match self.resolved(node):
            case ("struct" | "attempt", *_):
                return True
            case ("peek" | "select", _, cases, _):
                return all(self.is_record(case) for _, case in cases if case[0] != "refuse")
            case _:
                return False

    def kind(self, node: Node) -> str:
        """The kind of register that a value goes to."""
        match self.resolved(node):
            case ("int" | "bool" | "bytes" | "list" as kind, *_):
                return str(kind)
            case ("text", _):
                return "bytes"
            case ("nullable", inner):
                return self.kind(inner)
            case _:
                return "mixed"

    # --- records ---------------------------------------------------------------------------------------------------

    def members(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None = None
    ) -> Scope | None:
        """Read a record into the row of `record` that is open."""
        match self.resolved(node):
            case ("struct", _, encoding, form, versions, steps):
                return self._struct(encoding, form, versions, steps, Scope(encoding, scope, into, place), record)
            case ("peek", tag, cases, code):
                self.assembly.emit("PEEK", tag[1] // 8, tag[2], self.big)
                self._cases(cases, code, lambda case: self.members(case, scope, record, into, place))
            case ("select", tag, cases, code):
                self._selected(tag, cases, code, scope, lambda case: self.members(case, scope, record, into, place))
            case ("attempt", trials, kind, reason):
                self._attempt(trials, kind, reason, scope, record)
            case other:
                raise Uncovered(f"a record that is a {other[0]}")
        return None

    def _selected(self, tag: Tree, cases: Sequence[Any], code: str, scope: Scope, read: Any) -> None:
        compiled = self.expressions.compiled(tag, scope)
        if isinstance(compiled, Constant):
            found = next((case for values, case in cases if compiled.value in values), ("refuse", code))
            self._refuse(found[1]) if found[0] == "refuse" else read(found)
            return
        if len(compiled.operations) == 1 and compiled.operations[0][0] == "LOAD":
            register = compiled.operations[0][1]
        else:
            register = self.assembly.register("int").read()
            self.assembly.emit(
                "COMPUTE", self.expressions.place(compiled), self.expressions.result(compiled), register, None
            )
        self._cases(cases, code, read, register)

    def _cases(self, cases: Sequence[Any], code: str, read: Any, register: Register | None = None) -> None:
        """Branch on a register, or on the machine's value."""
        labels = [Label() for _ in cases]
        targets: dict[int | None, Label] = {}
        for (values, _), label in zip(cases, labels, strict=True):
            for value in values:
                targets.setdefault(None if value is None else self._word(value), label)
        self.assembly.emit("SWITCH", self.assembly.table(_hashed(targets)), self.assembly.refusal(code), register)
        end = Label()
        for (_, case), label in zip(cases, labels, strict=True):
            self.assembly.place(label)
            self._refuse(case[1]) if case[0] == "refuse" else read(case)
            self.assembly.emit("JUMP", end)
        self.assembly.place(end)

    def _refuse(self, code: str) -> None:
        self.assembly.emit("FAIL", self.assembly.refusal(code))

    def _word(self, value: Any) -> int:
        match value:
            case None:
                return 0
            case str():
                return self.assembly.text(value.encode())
            case bool() | int():
                return int(value)
            case _:
                raise Uncovered("a case that is neither number nor text")

    def _attempt(self, trials: Sequence[Any], kind: str, reason: str, scope: Scope, record: Column | None) -> None:
        refused = self.assembly.register("text").read()
        none = self.expressions.place(Constant(None))
        self.assembly.emit("COMPUTE", none, 1, refused, None)
        end = Label()

        def tried(name: str, node: Node) -> None:
            self.members(node, scope, record, None)
            self._computed(Constant(name), Sink(None, _member(record, kind)))
            column = _member(record, reason)
            if column is not None:
                place = len(self.assembly.expressions)
                operations = self.assembly.operations
                self.assembly.expressions += [operations["LOAD"], refused, operations["END"], 0]
                self.assembly.emit("COMPUTE", place, 3, None, column.index)

        for name, node, fallbacks in trials[:-1]:
            body = self.assembly.later(partial(tried, name, node))
            codes = self._fallbacks(fallbacks, scope)
            table = self.assembly.table(
                [
                    len(codes),
                    *(word for code in codes for word in (self.assembly.code(code), self.assembly.text(code.encode()))),
                ]
            )
            self.assembly.emit("ATTEMPT", body, table, end, record.index if record else None, refused)
        tried(*trials[-1][:2])
        self.assembly.place(end)

    def _fallbacks(self, fallbacks: Sequence[Any], scope: Scope) -> list[str]:
        codes: list[str] = []
        for names, when in fallbacks:
            holds = _ALWAYS if when is None else self.expressions.compiled(when, scope)
            if not isinstance(holds, Constant):
                raise Uncovered("a fallback that depends on the record")
            codes += [name for name in names if holds.value and name != "truncated"]
        return codes

    # --- structs ---------------------------------------------------------------------------------------------------

    def _struct(  # noqa: PLR0913 - the parts of a struct, and where it goes
        self,
        encoding: str,
        form: str,
        versions: Sequence[Any],
        steps: Sequence[Any],
        scope: Scope,
        record: Column | None,
    ) -> Scope:
        scope.start_register = self.assembly.register("position")
        scope.size_register = self.assembly.register("position")
        first = len(self.assembly.registers)
        enter = self.assembly.emit("ENTER", scope.start_register, scope.size_register, Edge(first))
        version = self._open(encoding, form, versions, steps, scope)
        frames: list[Register] = []
        if any(step[0] == "field" and "at" in step[3] for step in steps):
            scope.reach = self.assembly.register("position").read()
            self.assembly.emit("REACH", scope.reach)
        for step in steps:
            self._step(step, scope, record, version, frames)
        if scope.reach is not None:
            self.assembly.emit("LEAVE", scope.reach)
        for save in reversed(frames):
            self.assembly.emit("UNFRAME", save)
        enter[4] = Edge(len(self.assembly.registers))
        return scope

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
                table = arities or {len(fields): 0}
                words = [word for entry in table.items() for word in entry]
                self.assembly.emit("PACK_ARITY", self.assembly.table([len(table), *words]), register)
            case "protobuf", "message":
                self._message(fields, scope)
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
                column = None if attributes.get("hidden") else _member(record, attributes.get("as", name))
                self._field(Item(name, type, attributes, scope, record, column), version)
            case ("check" | "verify", *_, when) if self._never(when, scope):
                pass
            case ("check", that, code, when):
                with self._while(when, scope):
                    self._check(self.expressions.compiled(that, scope), code)
            case ("verify", name, when):
                with self._while(when, scope):
                    self._verify(name, scope)
            case ("mark", name):
                scope.marks[name] = self.assembly.register("int")
                self.assembly.emit("MARK", scope.marks[name].read(), scope.start())
            case ("need", count):
                self.assembly.emit("NEED", self._placed(count, scope), scope.start())
            case ("frame", count):
                frames.append(self.assembly.register("position", 2).read())
                self.assembly.emit("FRAME", self._placed(count, scope), scope.start(), scope.size(), frames[-1])
            case ("end", code):
                self.assembly.emit("END", self.assembly.refusal(code))
            case ("discard", when):
                if not self._never(when, scope):
                    raise Uncovered("discarding rows")
            case _:
                raise Uncovered(f"the step {step[0]}")

    def _placed(self, tree: Tree, scope: Scope) -> int:
        return self.expressions.place(self.expressions.compiled(tree, scope))

    def _check(self, that: Compiled, code: str) -> None:
        if isinstance(that, Constant) and that.value:
            return
        self.assembly.emit("CHECK", self.expressions.place(that), self.assembly.refusal(code))

    @contextmanager
    def _while(self, when: Tree, scope: Scope) -> Iterator[None]:
        """What is compiled within is executed while `when` holds."""
        holds = _ALWAYS if when is None else self.expressions.compiled(when, scope)
        end = Label()
        if not isinstance(holds, Constant):
            self.assembly.emit("WHEN", self.expressions.place(holds), end)
        yield
        self.assembly.place(end)

    def _never(self, when: Tree, scope: Scope) -> bool:
        """Whether a condition cannot hold under these parameters."""
        if when is None:
            return False
        holds = self.expressions.compiled(when, scope)
        return isinstance(holds, Constant) and not holds.value

    def _verify(self, name: str, scope: Scope) -> None:
        algorithm, first, last, code = scope.checksums[name]
        bounds = self._placed(first, scope), self._placed(last, scope)
        stored = scope.names[name].read()
        if algorithm in self.crcs:
            place, op = self.crcs.index(algorithm), "VERIFY_CRC"
        elif algorithm == "md5":
            place, op = 0, "VERIFY_MD5"
        else:
            raise Uncovered(f"the digest {algorithm}")
        self.assembly.emit(op, place, *bounds, scope.start(), stored, self.assembly.refusal(code))

    # --- fields ----------------------------------------------------------------------------------------------------

    def define(self, scope: Scope, name: str, kind: str) -> Register:
        """The register of a name; one name, one kind, shared with the struct that this one melts into."""
        if name in scope.names:
            found = scope.names[name]
        elif scope.into is not None:
            found = scope.names[name] = self.define(scope.into, name, kind)
        else:
            found = scope.names[name] = self.assembly.register(kind)
        if found.kind != kind:
            if found.used:
                raise Uncovered(f"{name!r} has two kinds")
            found.kind = "mixed"
        return found

    def _field(self, item: Item, version: Any) -> None:
        name, type, attributes, scope, column = item.name, item.type, item.attributes, item.scope, item.column
        if "checksum" in attributes:
            scope.checksums[name] = attributes["checksum"]
        when = self._condition(attributes, version)
        if "counted" in attributes:
            self._computed(Constant(0), Sink(self.define(scope, name, "int"), column))
            return
        if "compute" in attributes:
            if self._never(when, scope):
                self.define(scope, name, "int")
                return
            with self._while(when, scope):
                compiled = self.expressions.compiled(attributes["compute"][1], scope)
                kind = compiled.kind if compiled.kind != "null" else "int"
                self._computed(compiled, Sink(self.define(scope, name, kind), column))
            return
        if self._never(when, scope):
            self.define(scope, name, self._field_kind(type, attributes))
            return
        with self._while(when, scope):
            self._located(item)

    def _condition(self, attributes: dict[str, Any], version: Any) -> Tree:
        names, index = version
        when = attributes.get("when")
        if "until" in attributes:
            bound = ("<=", index, names.index(attributes["until"]))
            when = bound if when is None else ("and", bound, when)
        if "since" in attributes:
            bound = (">=", index, names.index(attributes["since"]))
            when = bound if when is None else ("and", bound, when)
        return when

    def _field_kind(self, type: Node, attributes: dict[str, Any]) -> str:
        if "refers" in attributes:
            return "bytes"
        if "values" in attributes:
            kinds = {self.expressions.compiled(value, Scope("")).kind for _, value in attributes["values"]} - {"null"}
            return kinds.pop() if len(kinds) == 1 else "mixed"
        return self.kind(type)

    def _computed(self, compiled: Compiled, sink: Sink) -> None:
        if compiled.kind == "null":
            return
        takes = {"int": "int", "bool": "bool", "text": "str"}.get(compiled.kind)
        if takes is None:
            raise Uncovered(f"a field computed as {compiled.kind}")
        with self._into(sink.column, takes) as column:
            self.assembly.emit(
                "COMPUTE",
                self.expressions.place(compiled),
                self.expressions.result(compiled),
                sink.register,
                column and column.index,
            )

    def _located(self, item: Item) -> None:
        attributes, scope = item.attributes, item.scope
        if scope.encoding == "protobuf":
            self._proto_field(item)
            return
        if "at" in attributes:
            self._seek(attributes["at"], scope)
        if "size" not in attributes:
            self._read(item)
            return
        save = self.assembly.register("position", 2).read()
        code = self.assembly.refusal(attributes.get("code") or "bad_region")
        self.assembly.emit("REGION", self._placed(attributes["size"], scope), code, save)
        self._read(item)
        self.assembly.emit("UNREGION", save)

    def _seek(self, at: Tree, scope: Scope) -> None:
        match at:
            case ("negative", int(number)):
                self.assembly.emit("SEEK", 1, -number, scope.start(), scope.reach)
            case int(number):
                self.assembly.emit("SEEK", 1 if number < 0 else 0, number, scope.start(), scope.reach)
            case _:
                self.assembly.emit("SEEK", 2, self._placed(at, scope), scope.start(), scope.reach)

    def _read(self, item: Item) -> None:
        """Read the value and hold it against the field's own constraint."""
        name, type, attributes, scope, column = item.name, item.type, item.attributes, item.scope, item.column
        if self.is_record(type):
            if attributes.get("flatten"):
                self.members(type, scope, item.record, scope)
                self.define(scope, name, "mixed")
            else:
                self.define(scope, name, "mixed")
                self.value(type, scope, Sink(None, column))
            return
        kind = self._field_kind(type, attributes)
        register = self.define(scope, name, kind)
        sink = Sink(register if register.kind == kind else None, column)
        if "values" in attributes:
            if self.resolved(type)[0] not in ("int", "bool"):
                raise Uncovered("a mapping of texts or of null")
            self.value(type, scope, NOWHERE)
            self._mapped(attributes["values"], attributes.get("code") or "unknown_value", sink, kind, scope)
            return
        self.value(type, scope, sink)
        if "const" in attributes:
            self._constant(attributes["const"], attributes.get("code") or "bad_constant", type, register)
        if "minimum" in attributes or "maximum" in attributes:
            self._range(attributes, type)
        for bit in attributes.get("bits", ()):
            self._bit(bit, scope, item.record)

    def _constant(self, const: Any, code: str, type: Node, register: Register) -> None:
        number = self.assembly.refusal(code)
        match self.resolved(type)[0], const:
            case ("int", int()) | ("bool", bool()):
                self.assembly.emit("CONSTANT", int(const), number)
            case ("bytes", bytes()) | ("text", str()):
                text = self.assembly.text(const.encode() if isinstance(const, str) else const)
                self.assembly.emit("CONSTANT_BYTES", register.read(), text >> 16, text & 0xFFFF, number)
            case _:
                raise Uncovered("a constant of this kind")

    def _range(self, attributes: dict[str, Any], type: Node) -> None:
        if self.kind(type) != "int":
            raise Uncovered("a range of what is no integer")
        low, high = attributes.get("minimum"), attributes.get("maximum")
        code = self.assembly.refusal(attributes.get("code") or "out_of_range")
        self.assembly.emit("RANGE", low is not None, low or 0, high is not None, high or 0, code)

    def _bit(self, bit: Node, scope: Scope, record: Column | None) -> None:
        name, low, width, signed, values, code, hidden = bit
        column = None if hidden else _member(record, name)
        place, number = low << 8 | width, self.assembly.refusal(code)
        if values is None:
            kind = "bool" if width == 1 else "int"
            form = 0 if width == 1 else 2 if signed else 1
            with self._into(column, kind) as target:
                self.assembly.emit(
                    "BITS", place, form, 0, number, self.define(scope, name, kind), target and target.index
                )
            return
        kind, table = self._mapping(values, scope)
        with self._into(column, {"text": "str"}.get(kind, kind)) as target:
            self.assembly.emit("BITS", place, 3, table, number, self.define(scope, name, kind), target and target.index)

    def _mapped(self, values: Sequence[Any], code: str, sink: Sink, kind: str, scope: Scope) -> None:
        _, table = self._mapping(values, scope)
        with self._into(sink.column, {"text": "str"}.get(kind, kind)) as column:
            self.assembly.emit("MAPPING", table, self.assembly.refusal(code), sink.register, column and column.index)

    def _mapping(self, values: Sequence[Any], scope: Scope) -> tuple[str, int]:
        """The kind of the mapped values, and a table with an entry for each wire value between the extremes."""
        meanings: dict[int, Constant] = {}
        for wire, value in values:
            meaning = self.expressions.compiled(value, scope)
            if not isinstance(meaning, Constant) or not isinstance(wire, int):
                raise Uncovered("a mapping that depends on the record")
            meanings.setdefault(int(wire), meaning)
        kinds = {meaning.kind for meaning in meanings.values()} - {"null"}
        low, high = min(meanings), max(meanings)
        if high - low > _DENSE or len(kinds) > 1:
            raise Uncovered("a mapping over a wide range, or to several kinds")
        words: list[int] = [low, high - low + 1]
        for wire in range(low, high + 1):
            words += self._meaning(meanings.get(wire))
        return (kinds.pop() if kinds else "int"), self.assembly.table(words)

    def _meaning(self, meaning: Constant | None) -> tuple[int, int]:
        if meaning is None:
            return -1, 0
        return {"null": 0, "int": 1, "bool": 2, "text": 3}[meaning.kind], self._word(meaning.value)

    # --- values ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _into(self, column: Column | None, takes: str) -> Iterator[Column | None]:
        """The column for a value of a kind: the column itself, or its alternative (None: not asked for)."""
        if column is None:
            yield None
        elif column.takes == "":
            self.assembly.emit("BEGIN", column.index)
            yield column.children.get(takes)
            self.assembly.emit("FINISH", column.index)
        elif column.takes != takes:
            raise Uncovered(f"a column of {column.takes} for {takes}")
        else:
            yield column

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value."""
        node = self.resolved(node)
        if self.is_record(node):
            self._record(node, scope, sink.column)
            return
        if node[0] == "select":
            self._selected(node[1], node[2], node[3], scope, lambda case: self.value(case, scope, sink))
            return
        if scope.encoding == "msgpack":
            self._packed(node, scope, sink)
        elif scope.encoding == "binary":
            self._binary(node, scope, sink)
        else:
            raise Uncovered(f"values in {scope.encoding}")

    def _record(self, node: Node, scope: Scope, column: Column | None, place: Register | None = None) -> Scope | None:
        with self._into(column, "record") as record:
            if record is not None and record.parent is not None and record.parent.kind == "struct":
                self.assembly.emit("BEGIN", record.index)
            inner = self.members(node, scope, record, None, place)
            if record is not None:
                self.assembly.emit("FINISH", record.index)
        return inner

    def _binary(self, node: Node, scope: Scope, sink: Sink) -> None:
        match node:
            case ("int", bits, signed, *_) if bits <= 64 and bits % 8 == 0:
                with self._into(sink.column, "int") as column:
                    _need_width(column, bits, signed)
                    self.assembly.emit("INTEGER", bits // 8, signed, self.big, sink.register, column and column.index)
            case ("float", bits):
                with self._into(sink.column, "float") as column:
                    self.assembly.emit("FLOAT", bits // 8, self.big, column and column.index)
            case ("bool",):
                with self._into(sink.column, "bool") as column:
                    self.assembly.emit("BOOLEAN", sink.register, column and column.index)
            case ("text" | "bytes" as kind, size, *_):
                with self._into(sink.column, _TAKES[kind]) as column:
                    form, operand = self._size(size, scope)
                    self.assembly.emit("BYTES", form, operand, kind == "text", sink.register, column and column.index)
            case ("list", element, count, None, _, None):
                with self._into(sink.column, "list") as column:
                    form, operand = self._size(count, scope)
                    self._repeated("REPEAT", (form, operand), element, scope, column)
            case _:
                raise Uncovered(f"a binary {node[0]}")

    def _size(self, size: Tree, scope: Scope) -> tuple[int, int]:
        if size is None:
            return 0, 0
        compiled = self.expressions.compiled(size, scope)
        if isinstance(compiled, Constant) and isinstance(compiled.value, int) and 0 <= compiled.value < 1 << 40:
            return 1, compiled.value
        return 2, self.expressions.place(compiled)

    def _repeated(  # noqa: PLR0913 - the instruction, the element, and where it goes
        self,
        op: str,
        head: tuple[int, ...],
        element: Node,
        scope: Scope,
        column: Column | None,
        unique: str | None = None,
    ) -> None:
        """A list: the instruction, and the body that reads an element."""
        scope.listed = True
        place = self.assembly.register("int").read()
        inner = column.element if column is not None else None

        def body() -> None:
            if self.is_record(element):
                found = self._record(element, scope, inner, place)
                if unique is not None:
                    self._unique(row, found, unique)
            elif unique is not None:
                raise Uncovered("unique elements that are no records")
            else:
                self.value(element, scope, Sink(None, inner))

        label = self.assembly.later(body)
        row = self.assembly.emit(op, *head, label, column and column.index, place, None)

    def _unique(self, row: list[Any], scope: Scope | None, member: str) -> None:
        register = scope.names.get(member) if scope is not None else None
        if register is None or register.kind != "bytes":
            raise Uncovered("a unique member that is neither text nor bytes")
        row[4] = register.read()

    # --- MessagePack -----------------------------------------------------------------------------------------------

    def _packed(self, node: Node, scope: Scope, sink: Sink) -> None:
        emit = self.assembly.emit
        match node:
            case ("int", bits, signed, *_) if bits <= 64:
                low, high = (
                    (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, min((1 << bits) - 1, (1 << 63) - 1))
                )
                with self._into(sink.column, "int") as column:
                    _need_width(column, bits, signed)
                    emit("PACK_INTEGER", low, high, not signed and bits == 64, sink.register, column and column.index)
            case ("float", _):
                with self._into(sink.column, "float") as column:
                    emit("PACK_FLOAT", 0, column and column.index)
            case ("bool",):
                with self._into(sink.column, "bool") as column:
                    emit("PACK_BOOLEAN", sink.register, column and column.index)
            case ("null",):
                emit("PACK_NIL")
            case ("text", _):
                with self._into(sink.column, "str") as column:
                    emit("PACK_TEXT", -1, sink.register, column and column.index)
            case ("bytes", size, _):
                form, operand = self._size(size, scope)
                if form == 2:
                    raise Uncovered("a computed size of a bin")
                with self._into(sink.column, "bytes") as column:
                    emit("PACK_BYTES", operand if form else -1, sink.register, column and column.index)
            case ("nullable", inner):
                end = Label()
                emit("PACK_NIL_JUMP", end)
                self.value(inner, scope, sink)
                self.assembly.place(end)
            case ("list", element, _, unique, _, _):
                rules = self._open_rules(element)
                if rules is not None and unique is None:
                    self._open_value(rules, 1 << _FAMILIES["list"], sink)
                elif rules is None:
                    with self._into(sink.column, "list") as column:
                        self._repeated("PACK_REPEAT", (), element, scope, column, unique)
                else:
                    raise Uncovered("unique open values")
            case ("map", key, value):
                rules = self._open_rules(value)
                if rules is None or rules != self._open_rules(key):
                    raise Uncovered("maps of stated types")
                self._open_value(rules, 1 << _FAMILIES["map"], sink)
            case ("oneOf", is_open, alternatives):
                self._one_of(node, is_open, alternatives, scope, sink)
            case _:
                raise Uncovered(f"a MessagePack {node[0]}")

    def _one_of(self, node: Node, is_open: bool, alternatives: Sequence[Node], scope: Scope, sink: Sink) -> None:  # noqa: FBT001 - as in the layout
        if is_open:
            rules = self._open_rules(node)
            assert rules is not None
            end = Label()
            if rules[0] & 1:
                self.assembly.emit("PACK_NIL_JUMP", end)
            self._open_value(rules, rules[0] & ~1, sink)
            self.assembly.place(end)
            return
        targets: list[Any] = [-1] * _FAMILY_COUNT
        labels = [Label() for _ in alternatives]
        for alternative, label in zip(alternatives, labels, strict=True):
            family = _FAMILIES.get(self.resolved(alternative)[0])
            if family is None or family == _FAMILIES["ext"]:
                raise Uncovered("an alternative of several families, or an ext value")
            targets[family] = label
        self.assembly.emit("PACK_FAMILY", self.assembly.table(targets))
        end = Label()
        for alternative, label in zip(alternatives, labels, strict=True):
            self.assembly.place(label)
            self.value(alternative, scope, Sink(None, sink.column))
            self.assembly.emit("JUMP", end)
        self.assembly.place(end)

    def _open_rules(self, node: Node) -> list[int] | None:
        """What an open value may be: families, the range of integers, ext types; None where it is not open."""
        node = self.resolved(node)
        if node[0] != "oneOf" or not node[1]:
            return None
        families, low, high, extensions = 0, 0, -1, []
        for alternative in (self.resolved(each) for each in node[2]):
            families |= 1 << _FAMILIES[alternative[0]]
            match alternative:
                case ("int", bits, signed, *_):
                    low, high = (
                        (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, min((1 << bits) - 1, (1 << 63) - 1))
                    )
                    if not signed and bits == 64:
                        raise Uncovered("open values with unsigned integers of 64 bits")
                case ("ext", code, content):
                    extensions += [code, content == "text"]
                case ("list", element, None, None, _, None) if self.resolved(element) is node:
                    pass
                case ("map", key, value) if self.resolved(key) is node and self.resolved(value) is node:
                    pass
                case ("bytes", None, _) | ("null",) | ("bool",) | ("float", _) | ("text", None):
                    pass
                case _:
                    raise Uncovered("open values that are not one type throughout")
        return [families, low, high, len(extensions) // 2, *extensions]

    def _open_value(self, rules: list[int], families: int, sink: Sink) -> None:
        with self._into(sink.column, "variant") as column:
            table = self.assembly.table(rules)
            if column is None:
                self.assembly.emit("PACK_OPEN", table, families, None, None)
                return
            self.assembly.emit("BEGIN", column.index)
            parts = (column.children[name].index for name in ("value", "metadata"))
            self.assembly.emit("PACK_OPEN", table, families, *parts)
            self.assembly.emit("FINISH", column.index)

    # --- protobuf --------------------------------------------------------------------------------------------------

    def _message(self, fields: Sequence[Node], scope: Scope) -> None:
        words: list[int] = []
        for _, name, type, attributes in fields:
            scope.tables[name] = slot = self.assembly.slot()
            node = self.resolved(type)
            repeated = node[0] == "list"
            element = self.resolved(node[1]) if repeated else node
            form = 1 if repeated else 2 if self.is_record(element) else 0
            words += [attributes["tag"], _wire_type(element), slot, form]
        self.assembly.emit("PROTO_MESSAGE", self.assembly.table([len(fields), *words]))

    def _proto_field(self, item: Item) -> None:
        name, attributes, scope, column = item.name, item.attributes, item.scope, item.column
        node, slot = self.resolved(item.type), scope.tables[name]
        if "bits" in attributes or "values" in attributes or "const" in attributes or attributes.get("flatten"):
            raise Uncovered("a protobuf field with a constraint")
        if node[0] == "list":
            self._proto_list(name, node, slot, scope, column)
            return
        end = Label()
        self.assembly.emit("PROTO_ABSENT", slot, end, not attributes.get("optional"))
        if attributes.get("default") is not None:
            raise Uncovered("a protobuf field with a default")
        if self.is_record(node):
            self.define(scope, name, "mixed")
            save = self.assembly.register("position", 2).read()
            self.assembly.emit("PROTO_SUB", slot, save)
            self._record(node, scope, column)
            self.assembly.emit("PROTO_UNSUB", save)
        elif "refers" in attributes:
            table, code = attributes["refers"]
            assert scope.parent is not None
            self._proto_scalar(node, slot, NOWHERE)
            with self._into(column, "str") as target:
                register = self.define(scope, name, "bytes")
                self.assembly.emit(
                    "PROTO_ENTRY",
                    scope.parent.tables[table],
                    self.assembly.code(code),
                    register,
                    target and target.index,
                )
        else:
            kind = self.kind(node)
            self._proto_scalar(node, slot, Sink(self.define(scope, name, kind), column))
            if "minimum" in attributes or "maximum" in attributes:
                self._range(attributes, node)
        self.assembly.place(end)

    def _proto_scalar(self, node: Node, slot: int, sink: Sink) -> None:
        emit = self.assembly.emit
        match node:
            case ("int", bits, signed, *wire) if bits <= 64:
                form = signed | (wire == ["zigzag"]) << 1 | (wire == ["fixed"]) << 2 | (bits <= 32) << 3
                low, high = (
                    (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, min((1 << bits) - 1, (1 << 63) - 1))
                )
                with self._into(sink.column, "int") as column:
                    _need_width(column, bits, signed)
                    emit("PROTO_INTEGER", slot, form, low, high, sink.register, column and column.index)
            case ("float", bits):
                with self._into(sink.column, "float") as column:
                    emit("PROTO_FLOAT", slot, bits, 0, column and column.index)
            case ("text" | "bytes" as kind, size, *_) if size is None or isinstance(size, int):
                with self._into(sink.column, _TAKES[kind]) as column:
                    fixed = -1 if kind == "text" or size is None else size
                    emit("PROTO_BYTES", slot, kind == "text", sink.register, column and column.index, fixed)
            case _:
                raise Uncovered(f"a protobuf {node[0]}")

    def _proto_list(self, name: str, node: Node, slot: int, scope: Scope, column: Column | None) -> None:
        _, element, _, unique, _, _ = node
        element = self.resolved(element)
        if unique is not None:
            raise Uncovered("unique elements in protobuf")
        count = self.define(scope, name, "list")
        if element[0] == "text" and column is None and not count.used:
            self.assembly.emit("PROTO_TABLE", slot)
            count.kind = "mixed"
            return
        scope.listed = True
        place = self.assembly.register("int").read()
        with self._into(column, "list") as target:
            inner = target.element if target is not None else None
            entry = None if self.is_record(element) else self.assembly.slot()

            def body() -> None:
                if entry is None:
                    self._record(element, scope, inner, place)
                else:
                    self._proto_scalar(element, entry, Sink(None, inner))

            label = self.assembly.later(body)
            self.assembly.emit("PROTO_REPEAT", slot, label, target and target.index, place, entry, count)


def _hashed(targets: dict[int | None, Label]) -> list[Any]:
    """A table in which each value has a place of its own: the product with a multiplier, its highest bits."""
    values = [value for value in targets if value is not None]
    source = random.Random(len(values))  # noqa: S311 - no secret: the same table each time
    for bits in range(1, 13):
        for _ in range(64):
            multiplier = source.getrandbits(63) | 1
            places = {value: (value * multiplier & (1 << 64) - 1) >> 64 - bits for value in values}
            if len(set(places.values())) == len(values):
                return _laid_out(targets, places, bits, multiplier)
    raise Uncovered("a choice among too many values")


def _laid_out(targets: dict[int | None, Label], places: dict[int, int], bits: int, multiplier: int) -> list[Any]:
    entries: list[Any] = [0, -1] * (1 << bits)
    for value, place in places.items():
        entries[2 * place : 2 * place + 2] = [value, targets[value]]
    return [targets.get(None), 64 - bits, multiplier, 1 << bits, *entries]


def _wire_type(node: Node) -> int:
    match node:
        case ("int", bits, _, "fixed"):
            return _FIXED32 if bits <= 32 else _FIXED64
        case ("float", bits):
            return _FIXED32 if bits == 32 else _FIXED64
        case ("int" | "bool", *_):
            return _VARINT
        case _:
            return _LENGTH


def _member(record: Column | None, name: str) -> Column | None:
    return None if record is None else record.children.get(name)


def _need_width(column: Column | None, bits: int, signed: bool) -> None:  # noqa: FBT001 - as in the layout
    """The column must hold every value of the type."""
    if column is not None and column.kind != "decimal" and column.bits < (bits if signed else bits + 1):
        raise Uncovered(f"an integer of {bits} bits in a column of {column.bits}")
