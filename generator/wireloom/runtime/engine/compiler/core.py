"""What all parts of the compiler share: registers, sinks, sizes, lists and records.

A part of the compiler emits instructions to one assembly, and calls other parts, nested like the layout. It sees
them through the protocols of `protocols.py`, so no two modules import each other. `program.py` makes the parts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from wireloom.runtime.columns.logical import ExtensionType
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.protocols import (
    Arrays,
    Encoding,
    Fields,
    Json,
    Records,
    Structs,
    Sums,
)
from wireloom.runtime.engine.compiler.scope import (
    ALWAYS,
    UNBOUNDED,
    Discard,
    Last,
    Node,
    Scope,
    Sink,
    front_word,
    need_width,
    padded_word,
    prefix_word,
    taken,
)
from wireloom.runtime.engine.programs import delimiters
from wireloom.runtime.engine.programs.assembly import IRREGULAR, Assembly, Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.conditions import Conditions
from wireloom.runtime.engine.programs.expressions import Code, Compiled, Constant, Expressions, Tree
from wireloom.runtime.parameters import limit_of
from wireloom.runtime.primitives.charsets import TWO_BYTES, meaningful

_NO_LIMIT = (1 << 63) - 1
_OPEN_FORMS = {"variant": 0, "json": 1, "binary": 2}
_WORDS = {"wide": 2}  # the number of registers that a value of a kind takes, if not one


class Core:
    """Compiles one root of a layout; subclasses add the parts for structs, fields and encodings."""

    engine: Any
    layout: nodes.Layout
    settings: dict[str, Any]
    open_values: str
    extensions: Sequence[ExtensionType]
    assembly: Assembly
    expressions: Expressions
    conditions: Conditions
    crcs: list[str]
    big: bool
    writes: bool
    records: Records
    structs: Structs
    fields: Fields
    arrays: Arrays
    sums: Sums
    json: Json
    encodings: Mapping[str, Encoding]

    def limit(self, name: Literal["expansion", "ratio"]) -> int:
        """The value of the limit `expansion` or `ratio`."""
        limit = limit_of(self.layout[name], self.settings)
        return _NO_LIMIT if limit is None else max(0, min(limit, _NO_LIMIT))

    def resolved(self, node: Node) -> Node:
        """The type that references and checks lead to. Writers skip character sets, which the reading back checks."""
        while True:
            match node:
                case nodes.Ref(name):
                    node = self.layout["types"][name]
                case nodes.Spelled(inner, _, _):
                    node = inner
                case nodes.Charset(inner, _) | nodes.Held(inner, values=None) if self.writes:
                    node = inner  # only readers check these
                case _:
                    return node

    def is_record(self, node: Node) -> bool:
        """Whether all values of a type are records."""
        match self.resolved(node):
            case nodes.Struct() | nodes.Attempt() | nodes.Tagged() | nodes.Inline():
                return True
            case nodes.Peek(cases=cases) | nodes.Select(cases=cases):
                return all(self.is_record(case.type) for case in cases if not isinstance(case.type, nodes.Refuse))
            case _:
                return False

    def kind(self, node: Node) -> str:
        """The kind of register for values of a type; a "mixed" one only tells whether the value is present."""
        match self.resolved(node):
            case nodes.Int():
                return "int"
            case nodes.Bool():
                return "bool"
            case nodes.Text() | nodes.Bytes():
                return "bytes"
            case nodes.ListOf() | nodes.MapOf():
                return "list"
            case nodes.Nullable(inner) | nodes.Charset(inner, _) | nodes.Held(inner, values=None):
                return self.kind(inner)
            case _:
                return "mixed"

    def define(self, scope: Scope, name: str, kind: str) -> Register:
        """The register of a name, shared by all fields of that name, also with the struct to be flattened into."""
        if name not in scope.names:
            scope.names[name] = self._begun(scope, name, kind)
        found = scope.names[name]
        if found.kind == "null":
            found.kind, found.words = kind, _WORDS.get(kind, 1)
        elif found.kind != kind:
            if found.used:
                raise Uncovered(f"the name {name!r} in an expression, for fields of different types")
            found.kind = "several"
        return found

    def _begun(self, scope: Scope, name: str, kind: str) -> Register:
        """Make the register of a name that is new in the struct."""
        if scope.into is None:
            return self.assembly.register(kind, _WORDS.get(kind, 1))
        known = scope.into.names.get(name)
        if not scope.into.joint or known is None or known.kind in (kind, "null"):
            return self.define(scope.into, name, kind)
        scope.into.names[name] = self.assembly.register("several")  # outside of the record its value is unknown
        return self.assembly.register(kind, _WORDS.get(kind, 1))

    def absent(self, scope: Scope, name: str) -> None:
        """Note that the field is never present under these parameters, unless another field has the name."""
        if name not in scope.names and scope.into is not None:
            self.absent(scope.into, name)
            scope.names[name] = scope.into.names[name]
        elif name not in scope.names:
            scope.names[name] = self.assembly.register("null")

    @contextmanager
    def filling(self, register: Register | None) -> Iterator[None]:
        """Note that the code compiled in this context fills the register on every path, unless the value is nil."""
        first = len(self.assembly.rows)
        yield
        if register is not None:
            self.assembly.regions.append((register, first, len(self.assembly.rows)))

    def mark_present(self, register: Register | None) -> None:
        """Mark a value as present that registers cannot hold."""
        if register is not None and register.kind == "mixed":
            place = self.expressions.place(Constant(True))  # noqa: FBT003 - a value
            self.assembly.emit("COMPUTE", place, 2, register, None, *UNBOUNDED)

    def never(self, when: Tree, scope: Scope) -> bool:
        """Whether a condition cannot hold under these parameters."""
        if when is None:
            return False
        holds = self.expressions.condition(when, scope)
        return isinstance(holds, Constant) and not holds.value

    @contextmanager
    def during(self, when: Tree, scope: Scope) -> Iterator[None]:
        """The code compiled in this context runs only while `when` holds."""
        holds = ALWAYS if when is None else self.expressions.condition(when, scope)
        if isinstance(holds, Constant):
            assert holds.value, "what can never hold is not compiled"
            yield
            return
        end = Label()
        self.unless(holds, end)
        yield
        self.assembly.place(end)

    def unless(self, holds: Code, otherwise: Label) -> None:
        """Continue if a condition holds, else jump forward to a label."""
        if not self.conditions.branch(holds, otherwise):
            self.assembly.emit("WHEN", self.expressions.place(holds), otherwise)

    @contextmanager
    def into(self, column: Column | None, takes: str) -> Iterator[Column | None]:
        """The column for a value of a kind: the column itself, or its alternative; None if it was not requested."""
        if column is None:
            yield None
        elif column.takes == "":
            self.assembly.emit("BEGIN", column.index)
            yield column.children.get(takes)
            self.assembly.emit("FINISH", column.index)
        elif column.takes != takes:
            raise Uncovered(f"a column of type {column.takes} for a value of type {takes}")
        else:
            yield column

    def put(self, node: Node, sink: Sink, op: str, *operands: Any, after: tuple[Any, ...] = ()) -> None:
        """Read an integer, boolean, text or bytes with one instruction into the sink."""
        with self.into(sink.column, taken(node)) as column:
            if isinstance(node, nodes.Int):
                need_width(column, node.bits, node.signed)
            self.assembly.emit(op, *operands, sink.register, column and column.index, *after)

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value into its sink."""
        node = self.resolved(node)
        if self.is_record(node):
            with self.filling(sink.register):
                self.record(node, scope, sink.column, name=sink.name)
                self.mark_present(sink.register)
            return
        match node:
            case nodes.Select(tag, cases, code):
                self.records.selected(tag, cases, code, scope, lambda case: self.value(case, scope, sink))
            case nodes.Charset(type):
                number = self.assembly.refusal("invalid_text") if scope.encoding == "binary" else IRREGULAR
                self.encoded(node, sink, lambda inner: self.value(type, scope, inner), number)
            case nodes.Held(type):
                self.fields.held(node, scope, sink, lambda inner: self.value(type, scope, inner))
            case _:
                self._plain(node, scope, sink)

    def _plain(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value that is not a record, in the encoding of the scope."""
        choice = isinstance(node, nodes.Nullable | nodes.OneOf)
        mixed = sink.register is not None and sink.register.kind == "mixed"
        given = replace(sink, register=None) if mixed and not choice else sink
        with self.filling(sink.register):
            self.encodings[scope.encoding].value(node, scope, given)
            if not choice and not isinstance(node, nodes.Null):
                self.mark_present(sink.register)

    def no_text(self) -> int:
        """The number of the code for invalid UTF-8; if the caller replaces it, the parser reads the record."""
        replaced = self.settings.get(self.layout.get("replaced", "")) == "replace"
        return IRREGULAR if replaced else self.assembly.refusal("invalid_utf8")

    def encoded(self, node: nodes.Charset, sink: Sink, read: Callable[[Sink], None], code: int = IRREGULAR) -> None:
        """Read the bytes of a text and check its character set; without `code`, the parser reports errors."""
        if node.charset in TWO_BYTES:
            raise Uncovered(f"the character set {node.charset}")
        register = sink.register if sink.register is not None and sink.register.kind == "bytes" else None
        charset, found = node.charset, register or self.assembly.register("bytes")
        read(replace(sink, register=found))
        if (bits := meaningful(charset)) is not None:
            self.assembly.emit("CHARSET", found.read(), self.assembly.table(list(bits)), code)
        self.mark_present(sink.register)

    def record(
        self, node: Node, scope: Scope, column: Column | None, place: Register | None = None, *, name: str = ""
    ) -> Scope | None:
        """Read a record into a column; `name` is that of its field. Returns the scope if it is a single struct."""
        with self.into(column, "record") as record:
            if record is not None and record.parent is not None and record.parent.kind == "struct":
                self.assembly.emit("BEGIN", record.index)
            inner = self.records.members(node, scope, record, scope.within(name) if name else None, place)
            if record is not None:
                self.assembly.emit("FINISH", record.index)
        return inner

    def placed(self, tree: Tree, scope: Scope) -> int:
        """The address of an expression that yields a number."""
        return self.expressions.place(self.expressions.number(tree, scope))

    def size(self, size: nodes.Amount, scope: Scope) -> tuple[int, int]:
        """The form of a size, and its operand.

        0: the rest of the region; 1: a constant; 2: the address of an expression; 3: the form of a number before the
        data; 4: the bytes that end it; 5: of a text, its padded size and the fill byte; of a list, the register that
        the body fills after the last element; 7: the table of a text with several delimiters or with escapes; 8: the
        table of the numbers before each part.
        """
        match size:
            case None:
                return 0, 0
            case nodes.Prefix():
                return 3, prefix_word(size, self.big)
            case nodes.Blocks(number, after):
                both = (0 if each is None else front_word(each, self.big) for each in (number, after))
                return 8, self.assembly.table([*both])
            case nodes.Padded():
                return 5, padded_word(size)
            case nodes.Delimited():
                return 7, delimiters.read(self.assembly, delimiters.ending(size))
            case nodes.Delimiter(data) | nodes.Terminator(data, _) | nodes.Terminated(data, _):
                return 4, self.assembly.text(data)
            case nodes.Last():
                raise AssertionError("only the elements of lists say which is the last")
            case _:
                return self._computed_size(self.expressions.number(size, scope))

    def _computed_size(self, size: Compiled) -> tuple[int, int]:
        """The form and operand of a size that an expression computes."""
        if isinstance(size, Constant) and isinstance(size.value, int) and 0 <= size.value < 1 << 40:
            return 1, size.value
        return 2, self.expressions.place(size)

    def repeated(  # noqa: PLR0913 - the instruction, the element, and where it goes
        self,
        op: str,
        head: tuple[Any, ...],
        element: Node,
        scope: Scope,
        column: Column | None,
        unique: str | None = None,
        entry: tuple[Node, Register] | None = None,
        count: Register | None = None,
        name: str = "",
        last: Last | None = None,
    ) -> None:
        """Emit a list and the body that reads an element; for a map, `entry` is the key and its register."""
        scope.listed = True
        discard = self.structs.discarding(name, scope, column)
        place = self.assembly.register("int").read()
        inner = column.element if column is not None else None
        totals = self.sums.begin(name, element, scope)

        def body() -> None:
            if entry is not None:
                self.entry(*entry, element, scope, inner)
                return
            found = self.element(element, scope, Sink(None, inner), place, totals, discard)
            if unique is not None and not self.is_record(element):
                raise Uncovered("`unique` on a list whose elements are not structs")
            if unique is not None:
                self._unique(row, found, unique, names)
            if last is not None:
                self.structs.ended(last, found)

        label = self.assembly.later(body)
        names = self.assembly.register("names") if unique is not None and op == "REPEAT" else None
        if names is not None:
            self.assembly.emit("UNIQUE_OPEN", names.read())
        row = self.assembly.emit(op, *head, label, column and column.index, place, count)
        if names is not None:
            self.assembly.emit("UNIQUE_CLOSE", names)
        if op == "PACK_REPEAT":
            row[5:7] = [entry is not None, None]
            if entry is not None:
                row[4 if entry[1].kind == "bytes" else 6] = entry[1]

    def element(  # noqa: PLR0913 - an element, and what its list has
        self,
        node: Node,
        scope: Scope,
        sink: Sink,
        place: Register | None,
        totals: Any,
        discard: Discard | None = None,
        read: Callable[[Sink], None] | None = None,
    ) -> Scope | None:
        """Read an element, with `read` if given; add it to the sums and note whether `discard` keeps it."""
        if self.is_record(node):
            found = self.record(node, scope, sink.column, place)
            if discard is not None:
                self.structs.kept(discard, found)
            self.sums.add(totals, None, found)
            return found
        if discard is not None:
            raise Uncovered("`discard` on a list whose elements are not structs")
        addend = self.sums.addend(node, totals)
        given = replace(sink, register=addend)
        if read is None:
            self.value(node, scope, given)
        else:
            read(given)
        self.sums.add(totals, addend, None)
        return None

    def entry(  # noqa: PLR0913 - both halves, and where they go
        self, key: Node, found: Register | None, value: Node, scope: Scope, column: Column | None, between: str = ""
    ) -> None:
        """Read a key, also into its register, and its value; `between` is an instruction between them."""
        keys, values = (None, None) if column is None else (column.children["key"], column.children["value"])
        self.value(key, scope, Sink(found, keys))
        if found is not None:
            self.held_key(key, found)
        if between:
            self.assembly.emit(between)
        self.value(value, scope, Sink(None, values))
        if column is not None:
            self.assembly.emit("FINISH", column.index)

    def held_key(self, key: Node, found: Register) -> None:
        """Check a map key against its allowed length and pattern."""
        if isinstance(key, nodes.Spelled):
            self.fields.spelled(key.spelling, key.code, "", found)

    def unique_register(self, scope: Scope | None, member: str) -> Register:
        """The register of the `unique` member of an element with this scope."""
        register = scope.names.get(member) if scope is not None else None
        if register is None or register.kind not in ("bytes", "int"):
            raise Uncovered("a `unique` member that is not text, bytes or an integer")
        return register

    def _unique(self, row: list[Any], scope: Scope | None, member: str, names: Register | None) -> None:
        """Compare a `unique` member after each element: by an instruction if `names` is given, else by the list's."""
        register = self.unique_register(scope, member)
        pair = (register.read(), None) if register.kind == "bytes" else (None, register.read())
        if names is not None:
            self.assembly.emit("UNIQUE", names, *pair)
        else:
            row[4], row[6] = pair

    # --- open values ---

    def open_value(self, op: str, rules: int, kinds: int, sink: Sink, names: int = 0) -> None:
        """Read an open value of some kinds; `names` is the table of ext types for tagged JSON."""
        with self.into(sink.column, "variant") as column:
            if column is None:
                self.assembly.emit(op, rules, kinds, None, None, 0, 0)
            elif column.kind == "bytes":
                form = _OPEN_FORMS[self.open_values]
                self.assembly.emit(op, rules, kinds, column.index, None, form, names)
            else:
                self.assembly.emit("BEGIN", column.index)
                parts = (column.children[name].index for name in ("value", "metadata"))
                self.assembly.emit(op, rules, kinds, *parts, 0, 0)
                self.assembly.emit("FINISH", column.index)

    def any_value(
        self, jump: str, rules: list[int], sink: Sink, read: Callable[[list[int], int, Sink], object]
    ) -> None:
        """Read an open value, or null where the rules allow it, for which the instruction `jump` skips the value."""
        end = Label()
        if rules[0] & 1:
            self.assembly.emit(jump, end)
        read(rules, rules[0] & ~1, sink)
        self.mark_present(sink.register)
        self.assembly.place(end)

    def holds_open(self, node: Node) -> bool:
        """Whether a type shows open values, also in its lists and maps."""
        match self.resolved(node):
            case nodes.OneOf(is_open):
                return is_open
            case nodes.Nullable(inner) | nodes.ListOf(inner):
                return self.holds_open(inner)
            case nodes.MapOf(key, value):
                return self.holds_open(key) or self.holds_open(value)
            case _:
                return False

    def note_members(self, names: Iterable[str], scope: Scope) -> None:
        """Give each member of an object a slot, and make the table of names and slots."""
        scope.tables.update((name, self.assembly.slot()) for name in dict.fromkeys(names))
        words = [word for name, slot in scope.tables.items() for word in (self.assembly.text(name.encode()), slot)]
        scope.members = self.assembly.table([len(scope.tables), *words])

    def unknown(self) -> object:
        """How to treat unknown members: "ignore" them, or (any other value) report an error."""
        parameter = self.layout.get("unknown")
        return None if parameter is None else self.settings[parameter]


class Part:
    """A part of the compiler; it emits to the compiler's assembly."""

    def __init__(self, compiler: Core) -> None:
        self.compiler = compiler
        self.assembly = compiler.assembly
        self.expressions = compiler.expressions
