"""Protobuf messages: fields are written in the order of the spec, then sorted by their numbers.

The order of the spec matters for side effects: a field that refers to a table adds entries to it, so tables are written
last. If the numbers do not ascend in that order, the parts of the message are sorted at its end.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import limits, taken, word_of
from wireloom.runtime.engine.compiler.switches import has_beyond, is_beyond
from wireloom.runtime.engine.encoder.absence import Absence
from wireloom.runtime.engine.encoder.scope import Item, Node, Scope
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import stated
from wireloom.runtime.primitives import leb128
from wireloom.runtime.values import is_other_zero

_VARINT, _FIXED64, _LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)
_NARROW, _WIDE = 32, 64
_MAY_LACK, _NEEDED, _NOT_NOTHING = range(3)  # how instructions treat null, and 0 or empty values
_WIRE = "\0wire"
_WIRE_TYPE = 7  # the bits of the wire type in a tag


class Protobuf(Absence):
    """Writes a message and its fields."""

    def message(self, items: Sequence[Item]) -> None:
        """Write the fields of a message; tables last, since others fill them."""
        items = [item for item in items if not item.is_never_there]
        tables = [item for item in items if item.field.table]
        for item in tables:
            item.scope.tables[item.name] = slot = self.assembly.slot()
            self.assembly.emit("PROTO_TABLES", slot)
        order = [*(item for item in items if item not in tables), *tables]
        scattered = any(earlier.field.tag > later.field.tag for earlier, later in pairwise(order))
        bounds = [self._bound()] if scattered else []
        for item in order:
            with self.compiler.during(item.present):
                self._field(item)
            if scattered:
                bounds.append(self._bound())
        if scattered:
            if any(self.compiler.reader.msgpack.shows_open(item.type) for item in items):
                raise Uncovered("open values in a message whose field numbers are not in ascending order")
            parts = sorted(zip(order, pairwise(bounds), strict=True), key=lambda part: part[0].field.tag)
            words = [register for _, part in parts for register in part]
            self.assembly.emit("PROTO_ORDER", self.assembly.table([len(parts), *words]))

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Raise Uncovered: only fields have values in protobuf."""
        raise Uncovered(f"a value that is not a field, in {scope.encoding}")

    def constant(self, const: Any, node: Node) -> None:
        """Raise Uncovered: only fields have values in protobuf."""
        raise Uncovered("a constant that is not a field, in protobuf")

    def number(self, register: Register, node: nodes.Int) -> None:
        """Raise Uncovered: only fields have values in protobuf."""
        raise Uncovered("a constant that is not a field, in protobuf")

    def _bound(self) -> Register:
        register = self.assembly.register("int").read()
        self.assembly.emit("PROTO_SEGMENT", register)
        return register

    def _field(self, item: Item) -> None:
        field, scope, column = item.field, item.scope, item.column
        node = self.compiler.reader.resolved(item.type)
        if {"bits", "checksum"} & field.stated.keys():
            raise Uncovered("a protobuf field with `bits` or `checksum`")
        tag, required = field.tag << 3, not field.optional
        opening = tag | (_GROUP if field.group else _LENGTH)
        if field.flatten:
            if not required or not self.compiler.reader.is_record(node):
                raise Uncovered("an optional field with `flatten` or `inline`")
            self._enclosed(opening, lambda: self.compiler.records.members(node, scope, scope.record, None))
        elif field.const is not None:
            self._constant(item, node, tag)
        elif field.values is not None:
            self._mapped(item, node, tag)
        elif field.derive is not None and field.default_value is not None:
            raise Uncovered("a `derive` field that has a `default` or may be null")
        elif field.default_value is not None:
            self._defaulted(item, node, tag)
        elif field.table:
            self._dump(item, node, tag)
        elif field.refers is not None:
            self._reference(item, node, tag, required=required)
        elif field.derive is not None:
            self._derived(item, node, tag, required=required)
        elif isinstance(node, nodes.ListOf):
            self._list(node, opening, scope, column)
        elif isinstance(node, nodes.MapOf):
            self._map(node, tag, scope, column)
        elif self.compiler.reader.is_record(node):
            self._submessage(node, opening, scope, column, required=required)
        else:
            self._scalar(node, tag, column, need=_NEEDED if required else _MAY_LACK)

    # --- constraints -----------------------------------------------------------------------------------------------

    def _constant(self, item: Item, node: Node, tag: int) -> None:
        if self.may_be_written(item.field):
            self.assembly.constant(_literal(item.field.const, node, tag))

    def _mapped(self, item: Item, node: Node, tag: int) -> None:
        """Write the first wire value with the column's meaning; omit the default."""
        field, absent, default = item.field, Label(), item.field.default_value
        if not isinstance(node, nodes.Int) or field.derive is not None:
            raise Uncovered("`values` of a type that is not an integer")
        if field.optional:
            if item.column is None:
                return
            self.compiler.null(item.column, absent, b"")
        if has_beyond(field.values or ()):
            self.compiler.fields.stated(
                item, lambda wire: None if wire == default else self.assembly.constant(_literal(wire, node, tag))
            )
            self.assembly.place(absent)
            return
        register = self.compiler.fields.mapped(item)
        need = _NOT_NOTHING if default == 0 else _NEEDED
        if default and not is_beyond(default):  # no register holds a number beyond 63 bits
            item.scope.names[_WIRE] = register
            self.unless(nodes.Binary("==", nodes.own(_WIRE), stated(default)), item.scope, absent)
        self.assembly.emit("PROTO_PUT", tag | _wire(node), register, *_form(node), need)
        self.assembly.place(absent)

    def _defaulted(self, item: Item, node: Node, tag: int) -> None:
        """Write a value unless it is the default."""
        default, column, absent = item.field.default, item.column, Label()
        if column is None:
            return
        is_nothing = not default and not is_other_zero(default, 0.0)
        if not is_nothing:
            self.unless(self.is_default(item, node, default), item.scope, absent)
        self._scalar(node, tag, column, need=_NOT_NOTHING if is_nothing else _MAY_LACK)
        self.assembly.place(absent)

    # --- values ----------------------------------------------------------------------------------------------------

    def _scalar(self, node: Node, tag: int, column: Column | None, *, need: int) -> None:
        if column is None and need != _NEEDED:
            return
        found = self.compiler.only(column, taken(node))
        if found is None:
            return
        emit = self.assembly.emit
        match node:
            case nodes.Int(bits) if bits <= _WIDE:
                emit("PROTO_INTEGER", tag | _wire(node), found.index, *_form(node), need)
            case nodes.Bool():
                register = self.compiler.names.value(found, textual=False).read()
                emit("PROTO_PUT", tag, register, 0, 0, 1, need)
            case nodes.Float(bits):
                emit("PROTO_FLOAT", tag | _wire(node), bits, found.index, need)
            case nodes.Text(None | int() as size) | nodes.Bytes(None | int() as size):
                emit("PROTO_BYTES", tag | _LENGTH, found.index, -1 if size is None else size, need)
            case _:
                raise Uncovered(f"a protobuf {word_of(node)}")

    def _derived(self, item: Item, node: Node, tag: int, *, required: bool) -> None:
        compiled = self.expressions.compiled(item.field.derived, item.scope)
        if not isinstance(node, nodes.Int) or compiled.kind not in ("int", "list"):
            raise Uncovered("a derived value that is not an integer")
        register = self.assembly.register("int").read()
        self.compiler.compute(compiled, register)
        self.assembly.emit("PROTO_PUT", tag | _wire(node), register, *_form(node), required)

    def _submessage(self, node: Node, opening: int, scope: Scope, column: Column | None, *, required: bool) -> None:
        if column is None and not required:
            return
        end = Label()
        if column is not None and not required:
            self.assembly.emit("ABSENT", column.index, end)
        self._enclosed(opening, lambda: self.compiler.record(node, scope, column))
        self.assembly.place(end)

    def _enclosed(self, opening: int, write: Any) -> None:
        """Write a message after its tag and its length, or between the two tags of a group."""
        if opening & _WIRE_TYPE == _GROUP:
            self.assembly.constant(leb128.encoded(opening))
            write()
            self.assembly.constant(leb128.encoded(opening ^ _GROUP ^ _GROUP_END))
            return
        place, width = self.assembly.register("int").read(), self.assembly.register("int").read()
        self.assembly.emit("PROTO_BEGIN", opening, place, width)
        write()
        self.assembly.emit("PROTO_END", place, width)

    def _list(self, node: nodes.ListOf, opening: int, scope: Scope, column: Column | None) -> None:
        if column is None:
            return
        if column.takes != taken(node):
            raise Uncovered("a repeated field in a column with several types")
        element = self.compiler.reader.resolved(node.element)

        def write(inner: Column, place: Register) -> None:
            if self.compiler.reader.is_record(element):
                self._enclosed(opening, lambda: self.compiler.record(element, scope, inner, place))
            elif isinstance(element, nodes.Held):
                item = Item(nodes.Field("", element.type, code=element.code, values=element.values), scope, inner)
                self._mapped(item, self.compiler.reader.resolved(element.type), opening ^ _LENGTH)
            else:
                self._scalar(element, opening ^ _LENGTH, inner, need=_NEEDED)

        body, place = self.compiler.repeated(element, scope, column, write=write)
        self.assembly.emit("PROTO_REPEAT", column.index, body, place)

    def _map(self, node: nodes.MapOf, tag: int, scope: Scope, column: Column | None) -> None:
        """Write entries, which are messages of a key and a value."""
        if column is None:
            return
        if column.takes != "map":
            raise Uncovered("a repeated field in a column with several types")
        halves = [self.compiler.reader.resolved(half) for half in (node.key, node.value)]

        def write_halves(inner: Column) -> None:
            for number, (name, half) in enumerate(zip(("key", "value"), halves, strict=True), 1):
                found = inner.children[name]
                if self.compiler.reader.is_record(half):
                    self._submessage(half, number << 3 | _LENGTH, scope, found, required=True)
                else:
                    self._scalar(half, number << 3, found, need=_NEEDED)

        def write(inner: Column, _: Register) -> None:
            self._enclosed(tag | _LENGTH, lambda: write_halves(inner))

        body, place = self.compiler.repeated(halves[1], scope, column, write=write)
        self.assembly.emit("PROTO_REPEAT", column.index, body, place)

    # --- tables ----------------------------------------------------------------------------------------------------

    def _reference(self, item: Item, node: Node, tag: int, *, required: bool) -> None:
        """Write an index into a table of the enclosing message; a new entry is added to the table."""
        outer = item.scope.parent
        table = item.field.refers.table if item.field.refers is not None else ""
        held = item.field.minimum is not None or item.field.maximum is not None
        plain = isinstance(node, nodes.Int) and node.form not in ("fixed", "zigzag")
        if outer is None or table not in outer.tables or held or not plain:
            raise Uncovered("a `refers` field with `range`, with `wire`, or outside of the message with its table")
        found = self.compiler.only(item.column, "str") if item.column is not None or required else None
        if found is not None:
            self.assembly.emit("PROTO_ENTRY", tag, outer.tables[table], found.index, required)

    def _dump(self, item: Item, node: Node, tag: int) -> None:
        if item.column is not None:
            raise Uncovered("a `table` that is not hidden")
        texts = isinstance(node, nodes.ListOf) and self.compiler.reader.resolved(node.element)
        if not isinstance(texts, nodes.Text):
            raise Uncovered("a `table` that does not contain texts")
        self.assembly.emit("PROTO_DUMP", tag | _LENGTH, item.scope.tables[item.name])


def _literal(const: Any, node: Node, tag: int) -> bytes:
    """The bytes of a field with a constant."""
    match node, const:
        case nodes.Int(bits, _, wire), int() if not isinstance(const, bool):
            number = const & ((1 << _WIDE) - 1)
            if wire == "fixed":
                width = _NARROW if bits <= _NARROW else _WIDE
                return leb128.encoded(tag | _wire(node)) + (const & ((1 << width) - 1)).to_bytes(width // 8, "little")
            return leb128.encoded(tag) + leb128.encoded(leb128.to_zigzag(const) if wire == "zigzag" else number)
        case nodes.Bool(), bool():
            return leb128.encoded(tag) + leb128.encoded(int(const))
        case nodes.Text(), str():
            return _literal(const.encode(), nodes.Bytes(None, ""), tag)
        case nodes.Bytes(size), bytes() if size in (None, len(const)):
            return leb128.encoded(tag | _LENGTH) + leb128.encoded(len(const)) + const
        case _:
            raise Uncovered("a `const` that the engine cannot write")


def _form(node: nodes.Int) -> tuple[int, int, int]:
    """The form of an integer, and its range."""
    form = node.signed | (node.form == "zigzag") << 1 | (node.form == "fixed") << 2 | (node.bits <= _NARROW) << 3
    return form, *limits(node.bits, node.signed)


def _wire(node: Node) -> int:
    match node:
        case nodes.Int(bits, _, "fixed"):
            return _FIXED32 if bits <= _NARROW else _FIXED64
        case nodes.Float(bits):
            return _FIXED32 if bits == _NARROW else _FIXED64
        case _:
            return _VARINT
