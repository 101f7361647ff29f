"""Fields: whether they are present, where they are, and what their values are checked against.

`field` takes an `Item`: a field of the layout with its scope and its column. It compiles the condition, the offset and
the region, hands the value to the encoding, and adds the checks of the value: constants, ranges, patterns, mappings,
bits. A computed field is an expression. A field that is never present under these parameters compiles to nothing.
"""

import builtins
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import (
    FRONT,
    NOWHERE,
    UNBOUNDED,
    Item,
    Node,
    Scope,
    Sink,
    Version,
    limits,
    member,
    number_form,
    ordered,
    word_of,
)
from wireloom.runtime.engine.compiler.switches import hashed_entries, is_beyond, pattern
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import (
    KINDS,
    Code,
    Compiled,
    Constant,
    Term,
    Tree,
    compares_wide,
    makes_text,
)
from wireloom.runtime.patterns import automaton
from wireloom.runtime.primitives.packing import NAMES

_MAPPED = 3  # the form of bits with `values`
_GREATEST = (1 << 63) - 1
_WIDEST = 64  # bits of an integer
_NAMED = {"as", "hidden", "flatten", "when", "since", "until"}
_HELD = {"code", "const", "values", "minimum", "maximum", "spelling", "bits", "shared", "checksum", "stored", "covers"}
_KNOWN = frozenset(_NAMED | _HELD | {"compute", "given", "build", "derive", "counted"})
_NONE = (1, 0)  # limits that no number is within
_TAKES = {"text": "str"}  # the kind of value that a column takes, if it is named differently


class Fields(Part):
    """Compiles a field of a struct: its condition, offset, value and constraints."""

    def field(self, item: Item, version: Version) -> None:
        """Read or compute a field, if it is present."""
        name, field, scope, column = item.name, item.field, item.scope, item.column
        encoding = self.compiler.encodings[scope.encoding]
        unknown = field.stated.keys() - _KNOWN - encoding.stated
        if unknown:
            raise Uncovered(f"`{', '.join(sorted(unknown))}` in a field of {scope.encoding}")
        if field.checksum is not None:
            scope.checksums[name] = item
        when = self.condition(field, version)
        if field.counted:
            self.computed(Constant(0), Sink(self.compiler.define(scope, name, "int"), column))
            return
        if self.compiler.never(when, scope):
            self.compiler.absent(scope, name)
            for bit in field.bits:
                self.compiler.absent(scope, bit.name)
            return
        with self.compiler.during(when, scope):
            if field.compute is not None:
                self._derived(item, field.compute.tree)
            else:
                encoding.field(item, when)

    def condition(self, field: nodes.Field, version: Version) -> Tree:
        """The condition for a field's presence: its own, and its versions."""
        names, index = version
        when = field.when
        if field.until:
            bound = nodes.Binary("<=", index, names.index(field.until))
            when = bound if when is None else nodes.both(bound, when)
        if field.since:
            bound = nodes.Binary(">=", index, names.index(field.since))
            when = bound if when is None else nodes.both(bound, when)
        return when

    def field_kind(self, field: nodes.Field) -> str:
        """The kind of register for a field's value."""
        if field.refers is not None:
            return "bytes"
        if field.values is not None:
            kinds = {self.expressions.compiled(each.means, Scope("binary")).kind for each in field.values} - {"null"}
            return kinds.pop() if len(kinds) == 1 else "mixed"
        return self.compiler.kind(field.type)

    def _derived(self, item: Item, tree: Tree) -> None:
        """Compute a field, and check that its type can hold the result."""
        if item.field.values is not None:
            raise Uncovered("a computed field with `values`")
        compiled = self.expressions.compiled(tree, item.scope)
        if compiled.kind == "null":
            self.compiler.absent(item.scope, item.name)
            return
        counted = makes_text(tree)
        if (counted or compiled.kind in ("made", "bytes")) and self._is_text(item.type):
            self._made(compiled, item, counted=counted)
            return
        match self.compiler.resolved(item.type), compiled.kind:
            case nodes.Int(bits, signed=False), "wide" if bits > _WIDEST and isinstance(compiled, Code):
                known = self.compiler.define(item.scope, item.name, "wide")
                if not item.field.hidden:
                    raise Uncovered("a computed 128-bit integer that is not hidden")
                if known.kind == "wide":
                    self._wide(compiled, known.read())
            case nodes.Int(bits, signed), "int" if bits <= _WIDEST:
                sink = Sink(self.compiler.define(item.scope, item.name, "int"), item.column)
                self.computed(compiled, sink, limits(bits, signed))
            case (nodes.Bool(), "bool") | (nodes.Text(), "text"):
                self.computed(compiled, Sink(self.compiler.define(item.scope, item.name, compiled.kind), item.column))
            case declared, kind:
                raise Uncovered(f"a field of type {word_of(declared)} computed from {KINDS.get(kind, kind)}")

    def _made(self, compiled: Compiled, item: Item, *, counted: bool) -> None:
        """Compute a text; with `counted`, it may copy text of the record and counts towards the expansion limit."""
        place = self.expressions.place(Code("made", self.expressions.text(compiled)))
        register = self.compiler.define(item.scope, item.name, "bytes")
        most = self.compiler.limit("expansion") if counted else None
        takes = "str" if isinstance(self._value_type(item.type), nodes.Text) else "bytes"
        _need_one_kind(item.column)
        with self.compiler.into(item.column, takes) as column:
            self.assembly.emit("MAKE", place, register, column and column.index, most)

    def _wide(self, compiled: Code, register: Register) -> None:
        """Compute an unsigned 128-bit number in two registers, which stay null if the number is null."""
        match compiled.term:
            case Term("DECIMAL", (Term("LOAD", _, text),), most):
                self.assembly.emit("WIDE_DECIMAL", text, most, register)
            case Term("MD5", (Term("LOAD", _, text),)):
                self.assembly.emit("WIDE_MD5", text, register)
            case Term("if", (condition, then, otherwise)):
                with self._either(condition) as other:
                    self._wide(replace(compiled, term=then), register)
                    other()
                    self._wide(replace(compiled, term=otherwise), register)
            case Term("NULL"):
                pass
            case _:
                raise Uncovered("a 128-bit integer that is copied from another field")

    def computed(self, compiled: Compiled, sink: Sink, within: tuple[int, int] = UNBOUNDED) -> None:
        """Deliver the value of an expression; the parser refuses a number beyond the limits."""
        if compiled.kind == "null":
            return
        takes = {"int": "int", "bool": "bool", "text": "str"}.get(compiled.kind)
        if takes is None:
            raise Uncovered(f"a field computed from {KINDS.get(compiled.kind, compiled.kind)}")
        self._given(
            sink, compiled.kind, takes, lambda register, column: self._into(compiled, Sink(register, column), within)
        )

    def _given(
        self, sink: Sink, kind: str, takes: str, give: Callable[[Register | None, Column | None], object]
    ) -> None:
        """Deliver a number, boolean or text that may be null; among alternatives, null selects none."""
        self._taken(sink, kind, takes, give)()

    def _taken(
        self, sink: Sink, kind: str, takes: str, give: Callable[[Register | None, Column | None], object]
    ) -> Callable[[], None]:
        """As `_given`, but deliver to alternatives only when the result is called: it changes the last value read."""
        if sink.column is None or sink.column.takes:
            with self.compiler.into(sink.column, takes) as column:
                give(sink.register, column)
            return lambda: None
        register = self.assembly.register(kind).read()
        give(register, None)
        return lambda: self._chosen(register, sink, kind, takes)

    def _chosen(self, register: Register, sink: Sink, kind: str, takes: str) -> None:
        """Deliver the value of a register to one of several alternatives, or to none if it is null."""
        loaded, absent = Code(kind, Term("LOAD", (), register)), Label()
        if sink.register is not None:
            self._into(loaded, Sink(sink.register, None), UNBOUNDED)
        self.compiler.unless(Code("bool", Term("present", (loaded.term,))), absent)
        with self.compiler.into(sink.column, takes) as column:
            if column is not None:
                self._into(loaded, Sink(None, column), UNBOUNDED)
        self.assembly.place(absent)

    def _into(self, compiled: Compiled, sink: Sink, within: tuple[int, int]) -> None:
        """Compute a value; by jumps if it depends on 128-bit numbers, which expressions cannot compare."""
        match compiled:
            case Code(result, Term("if", (condition, then, otherwise)) as term) if compares_wide(term):
                with self._either(condition) as other:
                    self._into(Code(result, then), sink, within)
                    other()
                    self._into(Code(result, otherwise), sink, within)
            case Code("bool", term) if compares_wide(term):
                with self._either(term) as other:
                    self._into(Constant(True), sink, within)  # noqa: FBT003 - a value
                    other()
                    with self._either(Term("not", (term,))) as none:
                        self._into(Constant(False), sink, within)  # noqa: FBT003 - a value
                        none()
            case Code(_, Term("NULL")):
                pass
            case _:
                place, kind = self.expressions.place(compiled), self.expressions.result(compiled)
                self.assembly.emit("COMPUTE", place, kind, sink.register, sink.column and sink.column.index, *within)

    @contextmanager
    def _either(self, condition: Term) -> Iterator[Callable[[], None]]:
        """Compile two branches: one for a condition that holds and, after a call of the yielded function, the other."""
        no, end, holds = Label(), Label(), Code("bool", condition)
        self.compiler.unless(holds, no)

        def other() -> None:
            self.assembly.jump(end)
            self.assembly.place(no)

        yield other
        self.assembly.place(end)

    def placed(self, item: Item) -> None:
        """Read a binary field at its offset and in its region."""
        field, scope = item.field, item.scope
        if field.base:
            raise Uncovered("a field with `at` and `from`")
        if field.at is not None:
            self._seek(field.at, scope)
        sum = field.checksum
        if sum is not None and sum.hole and sum.at is None:
            place = scope.places[item.name] = self.assembly.register("int")
            self.assembly.emit("MARK", place.read(), scope.start())
        self._in_region(item)

    def _in_region(self, item: Item) -> None:
        """Read a field; if it has a size, from a region of that size."""
        field, scope = item.field, item.scope
        if field.size is None:
            self.read(item)
            return
        save = self.assembly.register("position", 2).read()
        code = self.assembly.code(field.code)
        self.assembly.emit("REGION", self._region(field.size, scope), code, save)
        if field.packing is not None:
            self._unpacked(item, field.packing)
        else:
            self.read(item)
        self.assembly.emit("UNREGION", save)

    def _unpacked(self, item: Item, packing: nodes.Packing) -> None:
        """Decompress the region and read the field from the result."""
        tag, cases = packing.tag, packing.cases
        register = None if tag is None else self.assembly.register("int").read()

        def chosen(codec: str) -> None:
            place = self.expressions.place(Constant(NAMES.index(codec)))
            self.assembly.emit("COMPUTE", place, 1, register, None, *UNBOUNDED)

        if tag is not None:
            if isinstance(self.expressions.compiled(tag, item.scope), Constant):
                chosen(NAMES[0])  # the constant may select no case, and then nothing else would write the register
            self.compiler.records.chosen(tag, cases, packing.unknown, item.scope, chosen)
        codec = NAMES.index(cases[0][1]) if tag is None else 0
        self.assembly.emit("UNPACK", codec, register, self.compiler.limit("expansion"), self.compiler.limit("ratio"))
        self.read(item)
        self.assembly.emit("UNPACKED")

    def _region(self, size: nodes.Amount, scope: Scope) -> int:
        """The address of the expression for a region's size; a number before the region is read first."""
        match size:
            case nodes.Prefix(number):
                register = self.assembly.register("int").read()
                self.assembly.emit("INTEGER", *number_form(number, self.compiler.big), register, None, None)
                return self.expressions.place(Code("int", Term("LOAD", (), register)))
            case _:
                assert not isinstance(size, nodes.Counted), "the size of a region is a number"
                return self.compiler.placed(size, scope)

    def _from_the_end(self, number: int, scope: Scope) -> None:
        """Go to an offset from the end; the fields before must not reach it."""
        self.assembly.emit(
            "NEED", self.compiler.placed(nodes.Binary("+", nodes.MarkRef(FRONT), number), scope), scope.start()
        )
        self.assembly.emit("SEEK", 1, -number, scope.start(), scope.reach)

    def _seek(self, at: Tree, scope: Scope) -> None:
        match at:
            case nodes.Unary("negative", int(number)):
                self._from_the_end(number, scope)
            case int(number) if number < 0:
                self._from_the_end(-number, scope)
            case int(number):
                self.assembly.emit("SEEK", 0, number, scope.start(), scope.reach)
            case _:
                self.assembly.emit("SEEK", 2, self.compiler.placed(at, scope), scope.start(), scope.reach)

    def read(self, item: Item) -> None:
        """Read the value and check it against the field's own constraints."""
        name, type, scope = item.name, item.type, item.scope
        if self.compiler.is_record(type) and item.field.flatten:
            is_lent = name in self.compiler.records.flattened_names(type)  # a member has the name of the field
            register = None if is_lent else self.compiler.define(scope, name, "mixed")
            with self.compiler.filling(register):
                self.compiler.records.members(type, scope, item.record, scope)
                self.compiler.mark_present(register)
            return
        if self.compiler.is_record(type):
            register = self.compiler.define(scope, name, "mixed")
            self.compiler.value(type, scope, Sink(register, item.column, name))
            return
        self.scalar(item, lambda sink: self.compiler.value(type, scope, sink))

    def scalar(self, item: Item, read: Callable[[Sink], None]) -> None:
        """Read a value that is not a record, and check it against the field's own constraints."""
        name, type, field, scope = item.name, item.type, item.field, item.scope
        clash = field.stated.keys() & {"const", "minimum", "maximum", "bits"}
        if field.values is not None and clash:
            raise Uncovered(f"`values` together with {', '.join(sorted(clash))}")
        kind = self.field_kind(field)
        register = self.compiler.define(scope, name, kind)
        sink = Sink(register if register.kind == kind else None, item.column, name)
        if field.values is not None:
            self._meant(item, read, sink, kind)
            return
        if field.bits and isinstance(type, nodes.Int) and type.bits > _WIDEST:
            self._wide_bits(type.bits // 8, ordered(type.form, self.compiler.big), item)
            return
        word = self._word(item) if field.checksum is not None else None
        with self.compiler.filling(register), self.compiler.filling(word):
            read(replace(sink, word=word))
        if field.const is not None:
            self._constant(field.const, field.code, type, register)
        self._checked(field, register)
        self._bits(field.bits, item)

    def _word(self, item: Item) -> Register | None:
        """The register for the raw bits of an unsigned 64-bit checksum, which expressions cannot hold."""
        match item.type:
            case nodes.Int(bits, signed=False) if bits == _WIDEST and item.scope.encoding == "binary":
                pass
            case _:
                return None
        item.scope.words[item.name] = self.assembly.register("int")
        return item.scope.words[item.name]

    def held(self, node: nodes.Held, scope: Scope, sink: Sink, read: Callable[[Sink], None]) -> None:
        """Read an element and check it against its constraints."""
        if node.values is not None:
            item = Item(nodes.Field("", node.type, code=node.code, values=node.values), scope, None, sink.column)
            self._meant(item, read, sink, self.field_kind(item.field))
            return
        needs_text = node.spelling is not None and sink.register is None
        text = self.assembly.register("bytes") if needs_text else sink.register
        read(replace(sink, register=text))
        self._checked(node, text)

    def _checked(self, constraints: nodes.Field | nodes.Held, register: Register | None) -> None:
        """Check the last value read against a range, and the text in a register against a length and a pattern."""
        if constraints.minimum is not None or constraints.maximum is not None:
            self._ranged(constraints)
        if constraints.spelling is not None and register is not None:
            self.spelled(constraints.spelling, constraints.code, self._charset(constraints.type), register)

    def _wide_bits(self, size: int, big: bool, item: Item) -> None:  # noqa: FBT001 - as the compiler has it
        """Read bits of more bytes than a register holds: each from the bytes that it is part of."""
        for bit in item.field.bits:
            first, last = bit.low // 8, (bit.low + bit.width - 1) // 8
            offset = size - 1 - last if big else first
            self.assembly.emit("WINDOW", size, offset, last - first + 1, bit.low % 8 | big << 8)
            self._bits((bit.with_parts(low=0),), item)
        self.assembly.emit("BYTES", 1, size, 0, None, None)

    def _meant(self, item: Item, read: Callable[[Sink], None], sink: Sink, kind: str) -> None:
        """Read a value and replace it with its meaning in `values`."""
        values, type = item.field.values or (), self.compiler.resolved(item.type)
        if item.scope.encoding == "json" and isinstance(type, nodes.Nullable):
            null, end = Label(), Label()
            self.assembly.emit("JSON_NULL_JUMP", null)
            self._meant(replace(item, field=item.field.with_parts(type=type.type)), read, sink, kind)
            self.assembly.jump(end)
            self.assembly.place(null)
            self._null_meant(item, sink, kind)
            self.assembly.place(end)
            return
        stated = [each for each in values if each.wire is not None]
        match type:
            case nodes.Int() | nodes.Bool():
                read(NOWHERE)
                _, table = self._mapping(word_of(type), stated, item.scope)
                head: tuple[str, *tuple[Any, ...]] = "MAPPING", table, self.assembly.refusal(item.field.code)
            case nodes.Text() | nodes.Bytes() | nodes.Charset():
                found = self.assembly.register("bytes").read()
                read(Sink(found, None))
                head = "MATCH", found, self._texts(stated, item.scope), self.assembly.refusal(item.field.code)
            case _:
                raise Uncovered(f"`values` of a {word_of(type)}")
        self._given(
            sink,
            kind,
            _TAKES.get(kind, kind),
            lambda register, column: self.assembly.emit(*head, register, column and column.index),
        )

    def _null_meant(self, item: Item, sink: Sink, kind: str) -> None:
        """Deliver the meaning of null."""
        meanings = [each.means for each in item.field.values or () if each.wire is None]
        if not meanings:
            self.assembly.emit("FAIL", self.assembly.refusal(item.field.code))
            return
        compiled = self._stated_meaning(meanings[0], item.scope)
        if compiled.kind not in ("null", kind):
            raise Uncovered("`values` whose meanings have several types")
        self.computed(compiled, sink)

    def _stated_meaning(self, tree: Tree, scope: Scope) -> Constant:
        """The meaning of a value; raises Uncovered if it depends on the record."""
        found = self.expressions.compiled(tree, scope)
        if not isinstance(found, Constant) or (found.kind == "text" and makes_text(tree)):
            raise Uncovered("`values` whose meanings depend on the record")
        return found

    def _texts(self, values: Sequence[nodes.Meaning], scope: Scope) -> int:
        """The table of texts and their meanings."""
        words: list[int] = []
        for each in values:
            wire, meaning = each.wire, self._stated_meaning(each.means, scope)
            if not isinstance(wire, str | bytes):
                raise Uncovered(f"the wire value {wire!r} in `values` of a text")
            word = self.assembly.text(wire.encode() if isinstance(wire, str) else wire)
            words += [word, *self._meaning(meaning)]
        return self.assembly.table([len(values), *words])

    def defaulted(self, item: Item, label: Label, *, has_default: bool) -> None:
        """After a field: if the field is missing, the program continues at `label`, which delivers the default."""
        if not has_default:
            self.assembly.place(label)
            return
        end = Label()
        self.assembly.jump(end)
        self.assembly.place(label)
        self._default(item)
        self.assembly.place(end)

    def _default(self, item: Item) -> None:
        """Deliver the meaning of a missing field's default."""
        field, wire = item.field, item.field.default
        meaning = Constant(wire)
        if field.values is not None:
            meanings = [each.means for each in field.values if each.wire == wire and type(each.wire) is type(wire)]
            if not meanings:
                raise Uncovered("a `default` that `values` does not list")
            meaning = self._stated_meaning(meanings[0], item.scope)
        kind = self.field_kind(field)
        register = self.compiler.define(item.scope, item.name, kind)
        sink = Sink(register if register.kind == kind else None, item.column)
        match self._value_type(item.type), meaning.value:
            case nodes.Text(), str(text) if field.values is None:
                self._stated("str", text.encode(), sink)
            case nodes.Bytes(), bytes(data) if field.values is None:
                self._stated("bytes", data, sink)
            case nodes.Float(), float() | int() as number if not isinstance(number, bool):
                (bits,) = struct.unpack("<q", struct.pack("<d", number))
                with self.compiler.into(sink.column, "float") as column:
                    self.assembly.emit("REAL", bits, column and column.index)
                self.compiler.mark_present(sink.register)
            case nodes.Int(), int(number) if is_beyond(number):  # no instruction has one: left to the parser
                self.computed(Constant(0), sink, within=_NONE)
            case _:
                self.computed(meaning, sink)

    def _value_type(self, type: Node) -> Node:
        """The type of the values that are not null."""
        found = self.compiler.resolved(type)
        return self._value_type(found.type) if isinstance(found, nodes.Nullable | nodes.Charset) else found

    def _is_text(self, type: Node) -> bool:
        """Whether the values that are not null are texts or bytes."""
        return isinstance(self._value_type(type), nodes.Text | nodes.Bytes)

    def _stated(self, takes: str, data: bytes, sink: Sink) -> None:
        """Deliver a text or bytes constant."""
        text = self.assembly.text(data)
        with self.compiler.into(sink.column, takes) as column:
            self.assembly.emit("TEXT", text >> 16, text & 0xFFFF, sink.register, column and column.index)

    def _constant(self, const: Any, code: str, type: Node, register: Register) -> None:
        number = self.assembly.refusal(code)
        match self._value_type(type), const:
            case (nodes.Int(), int()) | (nodes.Bool(), bool()):
                self.assembly.emit("CONSTANT", pattern(const), number, is_beyond(const))
            case (nodes.Bytes(), bytes()) | (nodes.Text(), str()):
                text = self.assembly.text(const.encode() if isinstance(const, str) else const)
                self.assembly.emit("CONSTANT_BYTES", register.read(), text >> 16, text & 0xFFFF, number)
            case _:
                raise Uncovered("a `const` that is not an integer, boolean, text or bytes")

    def _ranged(self, constraints: nodes.Field | nodes.Held) -> None:
        """Check the last value read against a minimum and a maximum."""
        if self.compiler.kind(constraints.type) != "int":
            raise Uncovered("a `range` or a time of a value that is not an integer")
        stated, code = (constraints.minimum, constraints.maximum), self.assembly.refusal(constraints.code)
        ends = (each for end in stated for each in ((0, 0) if end is None else (1 + is_beyond(end), pattern(end))))
        self.assembly.emit("RANGE", *ends, code)

    def spelled(self, spelling: nodes.Spelling, code: str, charset: str, register: Register) -> None:
        """Check the text in a register against a length and a pattern."""
        low, high, pattern = spelling.minimum, spelling.maximum, spelling.pattern
        table = self.assembly.table(automaton(pattern).table(charset)) if pattern else None
        ends = 0 if low is None else low, _GREATEST if high is None else high
        self.assembly.emit("SPELLING", register.read(), not charset, *ends, table, self.assembly.refusal(code))

    def _charset(self, type: Node) -> str:
        """The character set of a text; empty for UTF-8."""
        match self.compiler.resolved(type):
            case nodes.Nullable(inner):
                return self._charset(inner)
            case nodes.Charset(_, charset):
                return charset
            case _:
                return ""

    def _bits(self, bits: Sequence[nodes.Bits], item: Item) -> None:
        """Read the bits of the last value."""
        for rest in [self._bit(bit, item.scope, item.record) for bit in bits]:
            rest()

    def _bit(self, bit: nodes.Bits, scope: Scope, record: Column | None) -> Callable[[], None]:
        """Read some bits of the last value; returns what to do after all bits are read."""
        name, width, values = bit.name, bit.width, bit.values
        column = None if bit.hidden else member(record, bit.title)
        place, number = bit.low << 8 | width, self.assembly.refusal(bit.code)
        if values is None:
            kind = "bool" if width == 1 else "int"
            form = 0 if width == 1 else 2 if bit.signed else 1
            with self.compiler.into(column, kind) as target:
                self.assembly.emit(
                    "BITS", place, form, 0, number, self.compiler.define(scope, name, kind), target and target.index
                )
            return lambda: None
        kind, table = self._mapping("int", values, scope)
        return self._taken(
            Sink(self.compiler.define(scope, name, kind), column),
            kind,
            _TAKES.get(kind, kind),
            lambda register, target: self.assembly.emit(
                "BITS", place, _MAPPED, table, number, register, target and target.index
            ),
        )

    def _mapping(self, type: str, values: Sequence[nodes.Meaning], scope: Scope) -> tuple[str, int]:
        """The kind of the meanings of wire values, and the table of both."""
        wanted, meanings, wide = {"int": int, "bool": bool}[type], dict[int, Constant](), set[int]()
        for each in values:
            wire, meaning = each.wire, self._stated_meaning(each.means, scope)
            number = wire if builtins.type(wire) is wanted and isinstance(wire, int) else None
            if number is None or number <= -_GREATEST:
                raise Uncovered(f"the wire value {wire!r} in `values` of type {type}")
            if is_beyond(number):
                wide.add(pattern(number))
            meanings.setdefault(pattern(number), meaning)
        if wide & {each.wire for each in values}:
            raise Uncovered("`values` with two numbers that have the same 64 bits")
        kinds = {meaning.kind for meaning in meanings.values()} - {"null"}
        if len(kinds) > 1:
            raise Uncovered("`values` whose meanings have several types")
        entries = {wire: self._meaning(meaning, wide=wire in wide) for wire, meaning in meanings.items()}
        return kinds.pop() if kinds else "int", self.assembly.table(hashed_entries(entries))

    def _meaning(self, meaning: Constant, *, wide: bool = False) -> tuple[int, int]:
        """The kind of a meaning (plus 8 if its wire value is beyond 63 bits), and its value."""
        if isinstance(meaning.value, int) and not -_GREATEST <= meaning.value <= _GREATEST:
            raise Uncovered("a number beyond 64 bits in `values` or as a case")
        kind = {"null": 0, "int": 1, "bool": 2, "text": 3}[meaning.kind]
        return kind + 8 * wide, self.compiler.records.word(meaning.value)


def _need_one_kind(column: Column | None) -> None:
    """Raise Uncovered for alternatives: only values in registers can be delivered to none of them if they are null."""
    if column is not None and not column.takes:
        raise Uncovered("a computed value that may be null, in a column with several types")
