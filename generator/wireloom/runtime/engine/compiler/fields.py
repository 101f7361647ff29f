"""Fields: whether they are there, where they stand, and what their values are held against."""

import builtins
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from wireloom.runtime.charsets import TWO_BYTES
from wireloom.runtime.engine.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.compiler.part import Part
from wireloom.runtime.engine.compiler.scope import (
    FRONT,
    NOWHERE,
    UNBOUNDED,
    Item,
    Node,
    Scope,
    Sink,
    bit_title,
    is_prefix,
    limits,
    member,
    need_width,
    number_form,
    ordered,
)
from wireloom.runtime.engine.compiler.switches import hashed_entries, is_beyond, pattern
from wireloom.runtime.engine.expressions import KINDS, Code, Compiled, Constant, Term, Tree, compares_wide, makes_text
from wireloom.runtime.engine.outline import Column
from wireloom.runtime.packing import NAMES
from wireloom.runtime.patterns import automaton

_DENSE = 1 << 12
_GREATEST = (1 << 63) - 1
_WIDEST = 64  # bits of an integer
_NAMED = {"as", "hidden", "flatten", "when", "since", "until"}
_HELD = {"code", "const", "values", "minimum", "maximum", "spelling", "bits", "shared", "checksum", "stored", "covers"}
_KNOWN = frozenset(_NAMED | _HELD | {"compute", "given", "build", "derive", "counted"})
_OF_ENCODINGS = {
    "binary": frozenset({"at", "from", "size", "packing"}),
    "msgpack": frozenset({"member", "besides", "optional", "default"}),
    "protobuf": frozenset({"tag", "oneOf", "group", "optional", "default", "refers", "table"}),
    "json": frozenset({"member", "besides", "optional", "default"}),
}
_BYTES, _UTF8 = 2, 3  # how a text is written, behind the two orders of UTF-16
_WORD = 8  # bytes of a register
_NONE = (1, 0)  # the limits of what no number is within
_FLOAT = 4  # the kind of a number that becomes a float
_TAKES = {"text": "str"}  # what columns of a kind of meaning take


class Fields(Part):
    """A field of a struct: its condition, its place, its value, its constraints."""

    def field(self, item: Item, version: Any) -> None:
        """Read or compute a field, where it is there."""
        name, attributes, scope, column = item.name, item.attributes, item.scope, item.column
        unknown = attributes.keys() - _KNOWN - _OF_ENCODINGS[scope.encoding]
        if unknown:
            raise Uncovered(f"{', '.join(sorted(unknown))} of a field in {scope.encoding}")
        if "checksum" in attributes:
            scope.checksums[name] = item
        when = self.condition(attributes, version)
        if "counted" in attributes:
            self.computed(Constant(0), Sink(self.compiler.define(scope, name, "int"), column))
            return
        if self.compiler.never(when, scope):
            self.compiler.absent(scope, name)
            for bit in attributes.get("bits", ()):
                self.compiler.absent(scope, bit[0])
            return
        with self.compiler.during(when, scope):
            if "compute" in attributes:
                self._derived(item)
            elif scope.encoding == "msgpack" and scope.members is not None:
                self.compiler.msgpack.member(item)
            elif scope.encoding == "msgpack":
                self.compiler.arrays.element(item, when)
            else:
                self._located(item)

    def condition(self, attributes: dict[str, Any], version: Any) -> Tree:
        """Whether a field is there, by its own condition and by the versions that have it."""
        names, index = version
        when = attributes.get("when")
        if "until" in attributes:
            bound = ("<=", index, names.index(attributes["until"]))
            when = bound if when is None else ("and", bound, when)
        if "since" in attributes:
            bound = (">=", index, names.index(attributes["since"]))
            when = bound if when is None else ("and", bound, when)
        return when

    def field_kind(self, type: Node, attributes: dict[str, Any]) -> str:
        """The kind of register that a field's value goes to."""
        if "refers" in attributes:
            return "bytes"
        if "values" in attributes:
            kinds = {self.expressions.compiled(value, Scope("")).kind for _, value in attributes["values"]} - {"null"}
            return kinds.pop() if len(kinds) == 1 else "mixed"
        return self.compiler.kind(type)

    def _derived(self, item: Item) -> None:
        """A field that is computed, and held against its own type."""
        if "values" in item.attributes:
            raise Uncovered("a computed field with values of its own")
        tree = item.attributes["compute"][1]
        compiled = self.expressions.compiled(tree, item.scope)
        if compiled.kind == "null":
            self.compiler.absent(item.scope, item.name)
            return
        counted = makes_text(tree)
        if (counted or compiled.kind in ("made", "bytes")) and self._value_type(item.type)[0] in ("text", "bytes"):
            self._made(compiled, item, counted=counted)
            return
        match self.compiler.resolved(item.type), compiled.kind:
            case ("int", bits, signed, *_), "int" | "wide" if (
                bits > _WIDEST and not signed and isinstance(compiled, Code)
            ):
                known = self.compiler.define(item.scope, item.name, "wide")
                register = known.read() if known.kind == "wide" else self.assembly.register("wide", 2).read()
                self._wide(compiled, register)
                _need_one_kind(item.column)
                with self.compiler.into(item.column, "big") as column:
                    if column is not None:
                        self.assembly.emit("WIDE_TEXT", register, column.index)
            case ("int", bits, signed, *_), "wide":
                assert isinstance(compiled, Code)
                wide = self.assembly.register("wide", 2).read()
                self._wide(compiled, wide)
                register = self.compiler.define(item.scope, item.name, "int")
                _need_one_kind(item.column)
                with self.compiler.into(item.column, "int") as column:
                    need_width(column, bits, signed)
                    self.assembly.emit("WIDE_NARROW", wide, *limits(bits, signed), register, column and column.index)
            case ("int", bits, signed, *_), "int" if bits <= _WIDEST:
                sink = Sink(self.compiler.define(item.scope, item.name, "int"), item.column)
                self.computed(compiled, sink, limits(bits, signed))
            case ("float", *_), "int":
                register = self.compiler.define(item.scope, item.name, "mixed")
                _need_one_kind(item.column)
                with self.compiler.into(item.column, "float") as column:
                    place = self.expressions.place(compiled)
                    self.assembly.emit("COMPUTE", place, _FLOAT, register, column and column.index, *UNBOUNDED)
            case (("bool", *_), "bool") | (("text", *_), "text"):
                self.computed(compiled, Sink(self.compiler.define(item.scope, item.name, compiled.kind), item.column))
            case declared, kind:
                raise Uncovered(f"a field of type {declared[0]} computed from {KINDS.get(kind, kind)}")

    def _made(self, compiled: Compiled, item: Item, *, counted: bool) -> None:
        """A text that is computed; one that may be of the record counts among what a record may expand to."""
        place = self.expressions.place(Code("made", self.expressions.text(compiled)))
        register = self.compiler.define(item.scope, item.name, "bytes")
        most = self.compiler.limit("expansion") if counted else None
        takes = "str" if self._value_type(item.type)[0] == "text" else "bytes"
        _need_one_kind(item.column)
        with self.compiler.into(item.column, takes) as column:
            self.assembly.emit("MAKE", place, register, column and column.index, most)

    def _wide(self, compiled: Code, register: Register) -> None:
        """Put a number of up to 128 bits into two registers, which are null where it is."""
        if compiled.kind == "int":
            self.assembly.emit("WIDE_NUMBER", self.expressions.place(compiled), register)
            return
        match compiled.term:
            case Term("DECIMAL", (Term("LOAD", _, text),), most):
                self.assembly.emit("WIDE_DECIMAL", text, most, register)
            case Term("MD5", (Term("LOAD", _, text),)):
                self.assembly.emit("WIDE_MD5", text, register)
            case Term("DECIMAL" | "MD5" as word, (made,), most):
                text = self.assembly.register("bytes").read()
                self.assembly.emit("MAKE", self.expressions.place(Code("made", made)), text, None, None)
                bits = (most,) if word == "DECIMAL" else ()
                self.assembly.emit(f"WIDE_{word}", text, *bits, register)
            case Term("if", (condition, then, otherwise)):
                with self._either(condition) as other:
                    self._wide(replace(compiled, term=then), register)
                    other()
                    self._wide(replace(compiled, term=otherwise), register)
            case Term("NULL"):
                pass
            case _:
                raise Uncovered("an integer of 128 bits that is another field's")

    def computed(self, compiled: Compiled, sink: Sink, within: tuple[int, int] = UNBOUNDED) -> None:
        """Deliver what an expression gives; a number beyond the limits is for the parser to refuse."""
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
        """Deliver a number, a truth or a word that may be null: of alternatives none is there then."""
        self._taken(sink, kind, takes, give)()

    def _taken(
        self, sink: Sink, kind: str, takes: str, give: Callable[[Register | None, Column | None], object]
    ) -> Callable[[], None]:
        """The same as far as the machine's value is what it was; the rest is done by a call of what this gives."""
        if sink.column is None or sink.column.takes:
            with self.compiler.into(sink.column, takes) as column:
                give(sink.register, column)
            return lambda: None
        register = self.assembly.register(kind).read()
        give(register, None)
        return lambda: self._chosen(register, sink, kind, takes)

    def _chosen(self, register: Register, sink: Sink, kind: str, takes: str) -> None:
        """Deliver what is in a register to one of several alternatives, or to none."""
        loaded, absent = Code(kind, Term("LOAD", (), register)), Label()
        if sink.register is not None:
            self._into(loaded, Sink(sink.register, None), UNBOUNDED)
        self.compiler.unless(Code("bool", Term("present", (loaded.term,))), absent)
        with self.compiler.into(sink.column, takes) as column:
            if column is not None:
                self._into(loaded, Sink(None, column), UNBOUNDED)
        self.assembly.place(absent)

    def _into(self, compiled: Compiled, sink: Sink, within: tuple[int, int]) -> None:
        """The value of an expression; by jumps where numbers of 128 bits decide, which no expression compares."""
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
        """What is compiled within is executed while the condition holds; behind a call of what it gives, where not."""
        no, end, holds = Label(), Label(), Code("bool", condition)
        self.compiler.unless(holds, no)

        def other() -> None:
            self.assembly.jump(end)
            self.assembly.place(no)

        yield other
        self.assembly.place(end)

    def _located(self, item: Item) -> None:
        attributes, scope = item.attributes, item.scope
        if scope.encoding == "protobuf":
            self.compiler.protobuf.field(item)
            return
        if scope.encoding == "json":
            self.compiler.json.field(item)
            return
        if "from" in attributes:
            raise Uncovered("a field at an offset from a mark")
        if "at" in attributes:
            self._seek(attributes["at"], scope)
        sum = attributes.get("checksum")
        if sum is not None and sum.hole and sum.at is None:
            place = scope.places[item.name] = self.assembly.register("int")
            self.assembly.emit("MARK", place.read(), scope.start())
        self._in_region(item)

    def _in_region(self, item: Item) -> None:
        """Read a field, of all of its region if it has one."""
        attributes, scope = item.attributes, item.scope
        if "size" not in attributes:
            self.read(item)
            return
        save = self.assembly.register("position", 2).read()
        code = self.assembly.code(attributes["code"])
        self.assembly.emit("REGION", self._region(attributes["size"], scope), code, save)
        if "packing" in attributes:
            self._unpacked(item, *attributes["packing"])
        else:
            self.read(item)
        self.assembly.emit("UNREGION", save)

    def _unpacked(self, item: Item, tag: Tree, cases: Sequence[Any], unknown: str) -> None:
        """Read what the bytes of the region unpack to."""
        register = None if tag is None else self.assembly.register("int").read()

        def chosen(case: Node) -> None:
            place = self.expressions.place(Constant(NAMES.index(case[1])))
            self.assembly.emit("COMPUTE", place, 1, register, None, *UNBOUNDED)

        if tag is not None:
            if isinstance(self.expressions.compiled(tag, item.scope), Constant):
                chosen(("packing", NAMES[0]))  # no case may be left, which nothing else would write
            packings = [(values, ("packing", codec)) for values, codec in cases]
            self.compiler.records.selected(tag, packings, unknown, item.scope, chosen)
        codec = NAMES.index(cases[0][1]) if tag is None else 0
        self.assembly.emit("UNPACK", codec, register, self.compiler.limit("expansion"), self.compiler.limit("ratio"))
        with self.assembly.within("unpacked"):
            self.read(item)
        self.assembly.emit("UNPACKED")

    def _region(self, size: Tree, scope: Scope) -> int:
        """The place of the expression that says how many bytes a region has; a number in front is read first."""
        if not is_prefix(size):
            return self.compiler.placed(size, scope)
        assert isinstance(size, tuple)
        register = self.assembly.register("int").read()
        self.assembly.emit("INTEGER", *number_form(size[1], self.compiler.big), register, None, None)
        return self.expressions.place(Code("int", Term("LOAD", (), register)))

    def _from_the_end(self, number: int, scope: Scope) -> None:
        """So many bytes before the end, which stand behind everything else."""
        self.assembly.emit("NEED", self.compiler.placed(("+", ("mark", FRONT), number), scope), scope.start())
        self.assembly.emit("SEEK", 1, -number, scope.start(), scope.reach)

    def _seek(self, at: Tree, scope: Scope) -> None:
        match at:
            case ("negative", int(number)):
                self._from_the_end(number, scope)
            case int(number) if number < 0:
                self._from_the_end(-number, scope)
            case int(number):
                self.assembly.emit("SEEK", 0, number, scope.start(), scope.reach)
            case _:
                self.assembly.emit("SEEK", 2, self.compiler.placed(at, scope), scope.start(), scope.reach)

    def read(self, item: Item) -> None:
        """Read the value and hold it against the field's own constraint."""
        name, type, attributes, scope = item.name, item.type, item.attributes, item.scope
        if self.compiler.is_record(type) and attributes.get("flatten"):
            is_lent = name in self.compiler.records.lent(type)  # then the name is that of a member
            register = None if is_lent else self.compiler.define(scope, name, "mixed")
            with self.compiler.filling(register):
                self.compiler.records.members(type, scope, item.record, scope)
                self.compiler.there(register)
            return
        if self.compiler.is_record(type):
            register = self.compiler.define(scope, name, "mixed")
            self.compiler.value(type, scope, Sink(register, item.column, name))
            return
        self.scalar(item, lambda sink: self.compiler.value(type, scope, sink))

    def scalar(self, item: Item, read: Callable[[Sink], None]) -> None:
        """Read a value that is no record and hold it against the field's own constraint."""
        name, type, attributes, scope, column = item.name, item.type, item.attributes, item.scope, item.column
        clash = attributes.keys() & {"const", "minimum", "maximum", "bits"}
        if "values" in attributes and clash:
            raise Uncovered(f"values beside {', '.join(sorted(clash))}")
        kind = self.field_kind(type, attributes)
        register = self.compiler.define(scope, name, kind)
        sink = Sink(register if register.kind == kind else None, column, name)
        if "values" in attributes:
            self._meant(item, read, sink, kind)
            return
        if "bits" in attributes and type[1] > 8 * _WORD:
            self._run(type[1] // 8, ordered(type[3:], self.compiler.big), item)
            return
        word = self._word(item) if "checksum" in attributes else None
        with self.compiler.filling(register), self.compiler.filling(word):
            read(replace(sink, word=word))
        if "const" in attributes:
            self._constant(attributes["const"], attributes["code"], type, register)
        if "minimum" in attributes or "maximum" in attributes:
            self.ranged(attributes, type)
        if "spelling" in attributes:
            self._spelled(attributes, type, register)
        self._bits(attributes.get("bits", ()), item)

    def _word(self, item: Item) -> Register | None:
        """The register of a checksum of 64 bits, which may be beyond the numbers that expressions have."""
        if item.type[0] != "int" or item.type[1:3] != (_WIDEST, False) or item.scope.encoding != "binary":
            return None
        item.scope.words[item.name] = self.assembly.register("int")
        return item.scope.words[item.name]

    def held(self, node: Node, scope: Scope, sink: Sink, read: Callable[[Sink], None]) -> None:
        """Read an element, and hold it against what is said of it."""
        _, type, attributes = node
        if "values" in attributes:
            item = Item("", type, attributes, scope, None, sink.column)
            self._meant(item, read, sink, self.field_kind(type, attributes))
            return
        text = self.assembly.register("bytes") if "spelling" in attributes and sink.register is None else sink.register
        read(replace(sink, register=text))
        if "minimum" in attributes or "maximum" in attributes:
            self.ranged(attributes, type)
        if "spelling" in attributes and text is not None:
            self._spelled(attributes, type, text)

    def _run(self, size: int, big: bool, item: Item) -> None:  # noqa: FBT001 - as the compiler has it
        """Bits of more bytes than a register has: each is read from those bytes that it has a part of."""
        for name, low, width, *rest in item.attributes["bits"]:
            first, last = low // 8, (low + width - 1) // 8
            offset = size - 1 - last if big else first
            self.assembly.emit("WINDOW", size, offset, last - first + 1, low % 8 | big << 8)
            self._bits(((name, 0, width, *rest),), item)
        self.assembly.emit("BYTES", 1, size, 0, None, None)

    def _meant(self, item: Item, read: Callable[[Sink], None], sink: Sink, kind: str) -> None:
        """Read a value that means another."""
        code, type = item.attributes["code"], self.compiler.resolved(item.type)
        if item.scope.encoding == "json" and type[0] == "nullable":
            null, end = Label(), Label()
            self.assembly.emit("JSON_NULL_JUMP", null)
            self._meant(replace(item, type=type[1]), read, sink, kind)
            self.assembly.jump(end)
            self.assembly.place(null)
            self._null_meant(item, sink, kind)
            self.assembly.place(end)
            return
        match type[0]:
            case "int" | "bool" as wire:
                read(NOWHERE)
                op, _, table = self._mapping(wire, _without_null(item.attributes["values"]), item.scope)
                head: tuple[str, *tuple[Any, ...]] = op, table, self.assembly.refusal(code)
            case "text" | "bytes" | "charset":
                found = self.assembly.register("bytes").read()
                read(Sink(found, None))
                table = self._texts(_without_null(item.attributes["values"]), item.scope)
                head = "MATCH", found, table, self.assembly.refusal(code)
            case other:
                raise Uncovered(f"a mapping of a {other}")
        self._given(
            sink,
            kind,
            _TAKES.get(kind, kind),
            lambda register, column: self.assembly.emit(*head, register, column and column.index),
        )

    def _null_meant(self, item: Item, sink: Sink, kind: str) -> None:
        """What null means."""
        meanings = [value for wire, value in item.attributes["values"] if wire is None]
        if not meanings:
            self.assembly.emit("FAIL", self.assembly.refusal(item.attributes["code"]))
            return
        compiled = self._stated_meaning(meanings[0], item.scope)
        if compiled.kind not in ("null", kind):
            raise Uncovered("a mapping to several kinds of values")
        self.computed(compiled, sink)

    def _stated_meaning(self, tree: Tree, scope: Scope) -> Constant:
        """What a value means, where nothing in the record decides that, and none of its texts may be it."""
        found = self.expressions.compiled(tree, scope)
        if not isinstance(found, Constant) or (found.kind == "text" and makes_text(tree)):
            raise Uncovered("a mapping that depends on the record")
        return found

    def _texts(self, values: Sequence[Any], scope: Scope) -> int:
        """A table of texts and what they mean."""
        words: list[int] = []
        for wire, value in values:
            meaning = self._stated_meaning(value, scope)
            if not isinstance(wire, str | bytes):
                raise Uncovered(f"a mapping of {wire!r} as text")
            word = self.assembly.text(wire.encode() if isinstance(wire, str) else wire)
            words += [word, *self._meaning(meaning)]
        return self.assembly.table([len(values), *words])

    def defaulted(self, item: Item, label: Label, *, has_default: bool) -> None:
        """Behind a field: where it is not there, the program goes on at the label, with what its default means."""
        if not has_default:
            self.assembly.place(label)
            return
        end = Label()
        self.assembly.jump(end)
        self.assembly.place(label)
        self._default(item)
        self.assembly.place(end)

    def _default(self, item: Item) -> None:
        """What the field means where it is not there."""
        attributes, wire = item.attributes, item.attributes["default"]
        meaning = Constant(wire)
        if "values" in attributes:
            meanings = [value for known, value in attributes["values"] if known == wire and type(known) is type(wire)]
            if not meanings:
                raise Uncovered("a default that has no meaning")
            meaning = self._stated_meaning(meanings[0], item.scope)
        kind = self.field_kind(item.type, attributes)
        register = self.compiler.define(item.scope, item.name, kind)
        sink = Sink(register if register.kind == kind else None, item.column)
        match self._value_type(item.type)[0], meaning.value:
            case "text", str(text) if "values" not in attributes:
                self._stated("str", text.encode(), sink)
            case "bytes", bytes(data) if "values" not in attributes:
                self._stated("bytes", data, sink)
            case "float", float() | int() as number if not isinstance(number, bool):
                (bits,) = struct.unpack("<q", struct.pack("<d", number))
                with self.compiler.into(sink.column, "float") as column:
                    self.assembly.emit("REAL", bits, column and column.index)
                self.compiler.there(sink.register)
            case "int", int(number) if is_beyond(number):  # no instruction states one: the parser does
                self.computed(Constant(0), sink, within=_NONE)
            case _:
                self.computed(meaning, sink)

    def _value_type(self, type: Node) -> Node:
        """The type of a value that is not null."""
        found = self.compiler.resolved(type)
        return self._value_type(found[1]) if found[0] in ("nullable", "charset") else found

    def _stated(self, takes: str, data: bytes, sink: Sink) -> None:
        """A text or bytes that the format states."""
        text = self.assembly.text(data)
        with self.compiler.into(sink.column, takes) as column:
            self.assembly.emit("TEXT", text >> 16, text & 0xFFFF, sink.register, column and column.index)

    def _constant(self, const: Any, code: str, type: Node, register: Register) -> None:
        number = self.assembly.refusal(code)
        match self._value_type(type)[0], const:
            case ("int", int()) | ("bool", bool()):
                self.assembly.emit("CONSTANT", pattern(const), number, is_beyond(const))
            case ("bytes", bytes()) | ("text", str()):
                text = self.assembly.text(const.encode() if isinstance(const, str) else const)
                self.assembly.emit("CONSTANT_BYTES", register.read(), text >> 16, text & 0xFFFF, number)
            case _:
                raise Uncovered("a constant of what is neither integer, boolean, text nor bytes")

    def ranged(self, attributes: dict[str, Any], type: Node) -> None:
        """Hold the machine's value against a minimum and a maximum."""
        if self.compiler.kind(type) != "int":
            raise Uncovered("a range of what is no integer")
        low, high = attributes.get("minimum"), attributes.get("maximum")
        code = self.assembly.refusal(attributes["code"])
        ends = (each for end in (low, high) for each in ((0, 0) if end is None else (1 + is_beyond(end), pattern(end))))
        self.assembly.emit("RANGE", *ends, code)

    def _spelled(self, attributes: dict[str, Any], type: Node, register: Register) -> None:
        """Hold a text against a length and a pattern."""
        self.spelled(attributes["spelling"], attributes["code"], self._charset(type), register)

    def spelled(self, spelling: Sequence[Any], code: str, charset: str, register: Register) -> None:
        """Hold the text in a register against a length and a pattern."""
        low, high, pattern = spelling
        form = TWO_BYTES.index(charset) if charset in TWO_BYTES else _BYTES if charset else _UTF8
        table = self.assembly.table(automaton(pattern).table(charset)) if pattern else None
        ends = 0 if low is None else low, _GREATEST if high is None else high
        self.assembly.emit("SPELLING", register.read(), form, *ends, table, self.assembly.refusal(code))

    def _charset(self, type: Node) -> str:
        """The character set of a text; empty for UTF-8."""
        found = self.compiler.resolved(type)
        if found[0] == "nullable":
            return self._charset(found[1])
        return found[2] if found[0] == "charset" else ""

    def _bits(self, bits: Sequence[Node], item: Item) -> None:
        """The bits of the machine's value."""
        for rest in [self._bit(bit, item.scope, item.record) for bit in bits]:
            rest()

    def _bit(self, bit: Node, scope: Scope, record: Column | None) -> Callable[[], None]:
        """Some bits of the machine's value; what is left to do once all of them are read."""
        name, low, width, signed, values, code, hidden, *_ = bit
        column = None if hidden else member(record, bit_title(bit))
        place, number = low << 8 | width, self.assembly.refusal(code)
        if values is None:
            kind = "bool" if width == 1 else "int"
            form = 0 if width == 1 else 2 if signed else 1
            with self.compiler.into(column, kind) as target:
                self.assembly.emit(
                    "BITS", place, form, 0, number, self.compiler.define(scope, name, kind), target and target.index
                )
            return lambda: None
        op, kind, table = self._mapping("int", values, scope)
        form = 3 if op == "MAPPING" else 4
        return self._taken(
            Sink(self.compiler.define(scope, name, kind), column),
            kind,
            _TAKES.get(kind, kind),
            lambda register, target: self.assembly.emit(
                "BITS", place, form, table, number, register, target and target.index
            ),
        )

    def _mapping(self, type: str, values: Sequence[Any], scope: Scope) -> tuple[str, str, int]:
        """How wire values are looked up, the kind of what they mean, and the table.

        It has an entry for each wire value between the extremes or, where these are far apart, a place for each by a
        hash without collisions.
        """
        wanted, meanings, wide = {"int": int, "bool": bool}[type], dict[int, Constant](), set[int]()
        for wire, value in values:
            meaning = self._stated_meaning(value, scope)
            number = wire if builtins.type(wire) is wanted and isinstance(wire, int) else None
            if number is None or number <= -_GREATEST:
                raise Uncovered(f"a mapping of {wire!r} as {type}")
            if is_beyond(number):
                wide.add(pattern(number))
            meanings.setdefault(pattern(number), meaning)
        if wide & {wire for wire, _ in values}:
            raise Uncovered("a mapping of two numbers that have the same 64 bits")
        kinds = {meaning.kind for meaning in meanings.values()} - {"null"}
        if len(kinds) > 1:
            raise Uncovered("a mapping to several kinds of values")
        kind, low, high = kinds.pop() if kinds else "int", min(meanings), max(meanings)
        if wide or high - low > _DENSE:
            entries = hashed_entries(
                {wire: self._meaning(meaning, wide=wire in wide) for wire, meaning in meanings.items()}
            )
            return "MAPPING_FAR", kind, self.assembly.table(entries)
        words: list[int] = [low, high - low + 1]
        for wire in range(low, high + 1):
            words += self._meaning(meanings.get(wire))
        return "MAPPING", kind, self.assembly.table(words)

    def _meaning(self, meaning: Constant | None, *, wide: bool = False) -> tuple[int, int]:
        """The kind of what a wire value means, with 8 of one that is wide, and that."""
        if meaning is None:
            return -1, 0
        if isinstance(meaning.value, int) and not -_GREATEST <= meaning.value <= _GREATEST:
            raise Uncovered("a mapping to a number beyond 64 bits")
        kind = {"null": 0, "int": 1, "bool": 2, "text": 3}[meaning.kind]
        return kind + 8 * wide, self.compiler.records.word(meaning.value)


def _need_one_kind(column: Column | None) -> None:
    """Of alternatives none is there where a value is null, which nothing says of those that no register holds."""
    if column is not None and not column.takes:
        raise Uncovered("a computed value that may be null, and that no register holds, among alternatives")


def _without_null(values: Sequence[Any]) -> list[Any]:
    return [(wire, value) for wire, value in values if wire is not None]
