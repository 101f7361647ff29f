"""MessagePack values, each with the shortest head. Unions and null are in `unions.py`.

An array or map begins with its number of elements, which is counted from the columns before anything is written.
"""

from typing import Any

import msgpack

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import limits, taken, word_of
from wireloom.runtime.engine.encoder.encodings.unions import Unions
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column

_NIL = b"\xc0"
_WIDE = 64


class MessagePack(Unions):
    """Writes values whose first byte determines their family."""

    null = _NIL

    def stated(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write a value of one kind."""
        found = self.compiler.only(column, self.takes(node) if isinstance(node, nodes.Ext) else taken(node))
        if found is None:
            return
        emit = self.assembly.emit
        match node:
            case nodes.Int(bits, signed) if bits - signed <= _WIDE:
                emit("PACK_INTEGER", found.index, *limits(bits, signed), bits - signed == _WIDE)
            case nodes.Float(bits):
                emit("PACK_FLOAT", found.index, bits)
            case nodes.Bool():
                emit("PACK_BOOLEAN", found.index)
            case nodes.Text():
                emit("PACK_BYTES", found.index, -1, 1)
            case nodes.Bytes(size):
                if not isinstance(size, int | None):
                    self.assembly.doubt("a computed size of a bin")
                emit("PACK_BYTES", found.index, size if isinstance(size, int) else -1, 0)
            case nodes.ListOf(element, _, unique):
                if unique is not None:
                    self.compiler.certainty.unique(unique, element, found)
                body, place = self.compiler.repeated(element, scope, found)
                emit("PACK_REPEAT", found.index, body, place, 0)
            case nodes.MapOf():
                emit("PACK_REPEAT", found.index, *self.entries(node, scope, found), 1)
            case nodes.Ext(code):
                emit("PACK_EXT", found.index, code)
            case _:
                raise Uncovered(f"a MessagePack {word_of(node)}")

    def takes(self, node: Node) -> str:
        """The kind of column for an alternative; for an ext value, that of its content."""
        if isinstance(node, nodes.Ext):
            return "str" if node.content == "text" else "bytes"
        return super().takes(node)

    def _rules(self, node: nodes.OneOf | nodes.ListOf | nodes.MapOf) -> list[int] | None:
        """The rules of an open value, as far as writers need them; None for stated types."""
        match node:
            case nodes.MapOf(key, value):
                return self._map_rules(key, value)
            case nodes.ListOf(element):
                return self.compiler.reader.msgpack.open_rules(element)
            case _:
                return self.compiler.reader.msgpack.open_rules(node)

    def _map_rules(self, key: Node, value: Node) -> list[int] | None:
        """The same for a map."""
        reader = self.compiler.reader.msgpack
        own, rules = reader.open_rules(key), reader.open_rules(value)
        if own is None and rules is None:
            return None
        first, other = own or reader.closed_rules(key), rules or reader.closed_rules(value)
        if own is None:
            first, other = other, first
        ranges = [each[1:3] for each in (first, other) if each[1] <= each[2]]
        low, high = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else (0, -1)
        return [first[0] | other[0], low, high, *first[3:]]

    def opened(self, node: nodes.OneOf | nodes.ListOf | nodes.MapOf, column: Column | None) -> None:
        """Write an open value from the two parts of a VARIANT."""
        stated = self._rules(node)
        assert stated is not None
        rules, null = self.assembly.table(stated), isinstance(node, nodes.OneOf) and bool(stated[0] & 1)

        def write() -> None:
            found = self.compiler.only(column, "variant")
            if found is not None:
                parts = (found.children[name].index for name in ("value", "metadata"))
                self.assembly.emit("PACK_OPEN", found.index, *parts, rules, null)

        if null and (column is None or column.takes == ""):
            self.nullable(column, write)
        else:
            write()

    def number(self, register: Register, node: nodes.Int) -> None:
        """Write the integer in a register."""
        self.assembly.emit("PACK_PUT", register, *limits(node.bits, node.signed))

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""
        match node, const:
            case nodes.Int(), bool():
                raise Uncovered("a `const` that the engine cannot write")
            case (nodes.Int(), int()) | (nodes.Bool(), bool()) | (nodes.Text(), str()) | (nodes.Bytes(), bytes()):
                self.assembly.constant(msgpack.packb(const, use_bin_type=True))
            case _:
                raise Uncovered("a `const` that the engine cannot write")
