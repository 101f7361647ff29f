"""Protobuf messages: a scan finds the fields, then each field is read from its slot.

`open` emits the scan, with the number, wire type and slot of each field; the last value of a field wins, as the wire
format requires. Then the fields are read in the order of the spec, each from its slot. Repeated fields and maps are
bodies that run once for each occurrence.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import NOWHERE, Item, Node, Scope, Sink, limits, taken, word_of
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Tree

_VARINT, _FIXED64, _LENGTH, _GROUP, _FIXED32 = 0, 1, 2, 3, 5
_MESSAGE = 2  # the form of a singular message
_KEY, _VALUE = 1, 2  # the field numbers in a map entry
_BOOLEAN = 1 << 4  # the form of an integer that is a boolean


class Protobuf(Part):
    """Reads fields by number."""

    stated = frozenset({"tag", "oneOf", "group", "optional", "default", "refers", "table"})

    def close(self, scope: Scope) -> None:
        """Do nothing: the scan has read the message to its end."""

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Raise Uncovered: only fields have values in protobuf."""
        raise Uncovered(f"a value that is not a field, in {scope.encoding}")

    def open(self, node: nodes.Struct, arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Scan the message for its fields; each has a slot."""
        self._scan_for([field for field in node.fields if field.is_written], scope)

    def _scan_for(self, fields: Sequence[nodes.Field], scope: Scope) -> None:
        found: list[tuple[int, int, int, int, str]] = []
        kept: set[int] = set()
        for field in fields:
            scope.tables[field.name] = slot = self.assembly.slot()
            node = self.compiler.resolved(field.type)
            if isinstance(node, nodes.ListOf) and isinstance(self.compiler.resolved(node.element), nodes.Text):
                scope.texts.add(field.name)
            if field.is_conditional and self._holds_messages(node):
                raise Uncovered("a protobuf message field with `when`, `since` or `until`")
            if field.is_conditional and field.table:
                raise Uncovered("a protobuf `table` with `when`, `since` or `until`")
            wire, form = self._form(node)
            found.append((field.tag, _GROUP if field.group else wire, slot, form, field.one_of))
            kept |= {slot} if _is_kept(node) else set()
        words: list[int] = []
        for tag, wire, slot, form, group in found:
            rivals = [other[2:4] for other in found if group and other[4] == group and other[0] != tag]
            words += [tag, wire, slot, form, self._rivals([*rivals, *_pieces(slot, kept=slot in kept)])]
        self._scan(words)

    def _rivals(self, rivals: Sequence[tuple[int, int]]) -> int:
        """The address of a table of slots, with their forms, that are cleared when a field is present; -1 if empty."""
        return self.assembly.table([len(rivals), *(word for rival in rivals for word in rival)]) if rivals else -1

    def _holds_messages(self, node: Node) -> bool:
        """Whether the wire value is a message, or several, as for a map."""
        element = self.compiler.resolved(node.element) if isinstance(node, nodes.ListOf) else node
        return isinstance(node, nodes.MapOf) or self.compiler.is_record(element)

    def _scan(self, words: Sequence[int]) -> None:
        """Scan a message; `words` are tag, wire type, slot, form and rivals of each field."""
        self.assembly.emit("PROTO_MESSAGE", self.assembly.table([self.assembly.deep, len(words) // 5, *words]))

    def _form(self, node: Node) -> tuple[int, int]:
        """The wire type of a field or of its elements, and its form: one value, many, or one message."""
        if isinstance(node, nodes.MapOf):
            return _LENGTH, 1
        if isinstance(node, nodes.ListOf):
            element = self.compiler.resolved(node.element)
            element = self.compiler.resolved(element.type) if isinstance(element, nodes.Held) else element
            return _wire_type(element), 1
        return _wire_type(node), _MESSAGE if self.compiler.is_record(node) else 0

    def field(self, item: Item, when: Tree) -> None:
        """Read a field from its slot."""
        name, field, scope, column = item.name, item.field, item.scope, item.column
        node, slot = self.compiler.resolved(item.type), scope.tables[name]
        absent = Label()
        if isinstance(node, nodes.ListOf | nodes.MapOf):
            if field.stated.keys() & {"default", "const", "values", "minimum", "maximum"}:
                raise Uncovered("a repeated protobuf field with `const`, `values`, `range` or `default`")
            if field.optional:
                self.assembly.emit("PROTO_ABSENT", slot, absent, 0)
            if isinstance(node, nodes.ListOf):
                self._proto_list(name, node, slot, scope, column)
            else:
                self._proto_map(name, node, slot, scope, column)
            self.assembly.place(absent)
            return
        self.assembly.emit("PROTO_ABSENT", slot, absent, not field.optional)
        if field.flatten:
            if not self.compiler.is_record(node):
                raise Uncovered("`flatten` on a protobuf field that is not a message")
            with self._message(slot):
                self.compiler.fields.read(item)
        elif self.compiler.is_record(node):
            register = self.compiler.define(scope, name, "mixed")
            with self._message(slot):
                self.compiler.record(node, scope, column, name=name)
                self.compiler.mark_present(register)
        elif field.refers is not None:
            if field.minimum is not None or field.maximum is not None:
                raise Uncovered("a `refers` field with `range`")
            table, code = field.refers.table, field.refers.code
            assert scope.parent is not None
            if table not in scope.parent.texts:
                raise Uncovered("a `refers` field whose table does not contain texts")
            self._proto_scalar(node, slot, NOWHERE)
            with self.compiler.into(column, "str") as target:
                register = self.compiler.define(scope, name, "bytes")
                self.assembly.emit(
                    "PROTO_ENTRY",
                    scope.parent.tables[table],
                    self.assembly.code(code),
                    register,
                    target and target.index,
                    self.compiler.limit("expansion"),
                )
        else:
            self.compiler.fields.scalar(item, lambda sink: self._proto_scalar(node, slot, sink))
        self.compiler.fields.defaulted(item, absent, has_default=field.has_default and field.default is not None)

    @contextmanager
    def _message(self, slot: int) -> Iterator[None]:
        """The code compiled in this context reads the message in the slot."""
        save = self.assembly.register("position", 2).read()
        self.assembly.emit("PROTO_SUB", slot, save)
        with self.assembly.inside():
            yield
        self.assembly.emit("PROTO_UNSUB", save)

    def _proto_scalar(self, node: Node, slot: int, sink: Sink) -> None:
        if isinstance(node, nodes.Charset):
            type = node.type
            self.compiler.encoded(node, sink, lambda inner: self._proto_scalar(type, slot, inner))
            return
        emit = self.assembly.emit
        match node:
            case nodes.Int(bits, signed, wire) if bits <= 64:
                form = signed | (wire == "zigzag") << 1 | (wire == "fixed") << 2 | (bits <= 32) << 3
                self.compiler.put(node, sink, "PROTO_INTEGER", slot, form, *limits(bits, signed))
            case nodes.Bool():
                self.compiler.put(node, sink, "PROTO_INTEGER", slot, _BOOLEAN, 0, 0)
            case nodes.Float(bits, ""):
                with self.compiler.into(sink.column, "float") as column:
                    emit("PROTO_FLOAT", slot, bits, 0, column and column.index)
                self.compiler.mark_present(sink.register)
            case nodes.Text(None | int() as size) | nodes.Bytes(None | int() as size):
                is_text = isinstance(node, nodes.Text)
                fixed = -1 if is_text or size is None else size
                self.compiler.put(node, sink, "PROTO_BYTES", slot, is_text, after=(fixed,))
            case _:
                raise Uncovered(f"a protobuf {word_of(node)}")

    def _proto_list(self, name: str, node: nodes.ListOf, slot: int, scope: Scope, column: Column | None) -> None:
        element = self.compiler.resolved(node.element)
        count = self.compiler.define(scope, name, "list")
        if node.unique is not None:
            self._unique_messages(node, node.unique, slot, scope, column, count)
            return
        if isinstance(element, nodes.Text) and column is None and not count.used:
            self.assembly.emit("PROTO_TABLE", slot)
            count.kind = "several"
            return
        scope.listed = True
        place = self.assembly.register("int").read()
        with self.compiler.into(column, taken(node)) as target:
            inner = target.element if target is not None else None
            entry = None if self.compiler.is_record(element) else self.assembly.slot()
            discard = self.compiler.structs.discarding(name, scope, target)

            def read(sink: Sink) -> None:
                assert entry is not None
                self._element(element, entry, scope, sink)

            def body() -> None:
                self.compiler.element(element, scope, Sink(None, inner), place, totals, discard, read)

            totals = self.compiler.sums.begin(name, element, scope)
            with self.assembly.inside():
                label = self.assembly.later(body)
            self.assembly.emit("PROTO_REPEAT", slot, label, target and target.index, place, entry, count)

    def _unique_messages(  # noqa: PLR0913 - a list, and where it goes
        self, node: nodes.ListOf, unique: str, slot: int, scope: Scope, column: Column | None, count: Register
    ) -> None:
        """Read messages that differ in the member `unique`; its register is compared like a map key."""
        scope.listed = True
        with self.compiler.into(column, taken(node)) as target:
            inner = target.element if target is not None else None

            def body() -> None:
                register = self.compiler.unique_register(self.compiler.record(node.element, scope, inner, None), unique)
                row[4 if register.kind == "bytes" else 5] = register.read()

            with self.assembly.inside():
                label = self.assembly.later(body)
            row = self.assembly.emit("PROTO_ENTRIES", slot, label, target and target.index, None, None, count)

    def _element(self, node: Node, slot: int, scope: Scope, sink: Sink) -> None:
        """Read an element of a list, which may have constraints."""
        if isinstance(node, nodes.Held):
            inner = self.compiler.resolved(node.type)
            self.compiler.fields.held(node, scope, sink, lambda found: self._proto_scalar(inner, slot, found))
        else:
            self._proto_scalar(node, slot, sink)

    def _proto_map(self, name: str, node: nodes.MapOf, slot: int, scope: Scope, column: Column | None) -> None:
        """Read entries, which are messages of a key and a value; the parser reads an entry that lacks one of them."""
        spelled, (key, value) = node.key, map(self.compiler.resolved, (node.key, node.value))
        count, found = self.compiler.define(scope, name, "list"), self.assembly.register(self.compiler.kind(key)).read()
        with self.compiler.into(column, "map") as target:
            inner = target.element if target is not None else None

            def body() -> None:
                slots = self.assembly.slot(), self.assembly.slot()
                fields = zip((_KEY, _VALUE), (key, value), slots, strict=True)
                self._scan([word for tag, half, place in fields for word in (tag, *self._placed(half, place))])
                halves = (None, None) if inner is None else (inner.children["key"], inner.children["value"])
                lacking = Label()
                for place in slots:
                    self.assembly.emit("PROTO_ABSENT", place, lacking, 1)
                self._proto_scalar(key, slots[0], Sink(found, halves[0]))
                self.compiler.held_key(spelled, found)
                self._proto_value(value, slots[1], scope, halves[1])
                self.assembly.place(lacking)
                if inner is not None:
                    self.assembly.emit("FINISH", inner.index)

            with self.assembly.inside():
                label = self.assembly.later(body)
            keys = (found, None) if found.kind == "bytes" else (None, found)
            self.assembly.emit("PROTO_ENTRIES", slot, label, target and target.index, *keys, count)

    def _placed(self, node: Node, slot: int) -> tuple[int, int, int, int]:
        wire, form = self._form(node)
        return wire, slot, form, self._rivals([*_pieces(slot, kept=_is_kept(node))])

    def _proto_value(self, node: Node, slot: int, scope: Scope, column: Column | None) -> None:
        """Read a scalar or message into a column only."""
        if not self.compiler.is_record(node):
            self._proto_scalar(node, slot, Sink(None, column))
            return
        with self._message(slot):
            self.compiler.record(node, scope, column)


def _is_kept(node: Node) -> bool:
    """Whether a value is a message that is kept as bytes."""
    return isinstance(node, nodes.Bytes) and node.pieces


def _pieces(slot: int, *, kept: bool) -> Iterator[tuple[int, int]]:
    """Make a kept message a rival of itself: if it occurs twice, the parser must merge the pieces."""
    if kept:
        yield slot, _MESSAGE


def _wire_type(node: Node) -> int:
    match node:
        case nodes.Int(bits, _, "fixed"):
            return _FIXED32 if bits <= 32 else _FIXED64
        case nodes.Float(bits, ""):
            return _FIXED32 if bits == 32 else _FIXED64
        case nodes.Int() | nodes.Bool():
            return _VARINT
        case _:
            return _LENGTH
