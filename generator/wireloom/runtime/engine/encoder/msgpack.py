"""MessagePack values."""

from collections.abc import Sequence
from typing import Any

import msgpack

from wireloom.runtime.engine.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.compiler.scope import TAKES, limits
from wireloom.runtime.engine.encoder.part import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.outline import Column

_NIL = b"\xc0"
_WIDE = 64


class MessagePack(Part):
    """Values that say their family in their first byte."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""
        match node:
            case ("nullable", inner):
                self._nullable(column, lambda: self.compiler.value(inner, scope, column))
            case ("null",):
                self._nullable(column, self.compiler.fail)
            case ("oneOf", True, _):
                self._open(node, column, null=bool(self._rules(node)[0] & 1))
            case ("oneOf", _, alternatives):
                self._one_of(alternatives, scope, column)
            case ("map", _, value):
                self._open(value, column, null=False)
            case ("list", element, *_) if self.compiler.reader.msgpack.open_rules(element) is not None:
                self._open(element, column, null=False)
            case _:
                self._scalar(node, scope, column)

    def _scalar(self, node: Node, scope: Scope, column: Column | None) -> None:
        found = self.compiler.only(column, TAKES.get(node[0], ""))
        if found is None:
            return
        emit = self.assembly.emit
        match node:
            case ("int", bits, signed, *_) if bits <= _WIDE:
                emit("PACK_INTEGER", found.index, *limits(bits, signed), not signed and bits == _WIDE)
            case ("float", _):
                emit("PACK_FLOAT", found.index)
            case ("bool",):
                emit("PACK_BOOLEAN", found.index)
            case ("text", _):
                emit("PACK_BYTES", found.index, -1, 1)
            case ("bytes", size, _):
                emit("PACK_BYTES", found.index, size if isinstance(size, int) else -1, 0)
            case ("list", element, *_):
                body, place = self.compiler.repeated(element, scope, found)
                emit("PACK_REPEAT", found.index, body, place)
            case _:
                raise Uncovered(f"a MessagePack {node[0]}")

    def _nullable(self, column: Column | None, write: Any) -> None:
        if column is None:
            self.assembly.constant(_NIL)
            return
        end = Label()
        self.assembly.emit("PACK_NIL", column.index, column.takes == "", end)
        write()
        self.assembly.place(end)

    def _one_of(self, alternatives: Sequence[Node], scope: Scope, column: Column | None) -> None:
        """The alternative of the kind that the value has."""
        kinds = {self._takes(each): each for each in map(self.compiler.reader.resolved, alternatives)}
        null = kinds.pop("null", None)
        if column is None or column.takes != "":
            chosen = kinds.get(column.takes) if column is not None else None

            def write() -> None:
                if chosen is None:
                    self.compiler.fail()
                else:
                    self.compiler.value(chosen, scope, column)

            if null is None:
                write()
            else:
                self._nullable(column, write)
            return
        labels = {takes: Label() for takes in kinds if takes in column.children}
        nil, end = Label(), Label()
        words: list[Any] = [nil if null is not None else None, len(labels)]
        for takes, label in labels.items():
            words += [column.children[takes].index, label]
        self.assembly.emit("KINDS", column.index, self.assembly.table(words))
        for takes, label in labels.items():
            self.assembly.place(label)
            self.compiler.value(kinds[takes], scope, column.children[takes])
            self.assembly.emit("JUMP", end)
        if null is not None:
            self.assembly.place(nil)
            self.assembly.constant(_NIL)
        self.assembly.place(end)

    def _takes(self, node: Node) -> str:
        """The kind of column that an alternative stands in."""
        if node[0] == "null":
            return "null"
        if self.compiler.reader.is_record(node):
            return "record"
        if node[0] == "map" or (node[0] == "list" and self.compiler.reader.msgpack.open_rules(node[1]) is not None):
            return "variant"
        if node[0] not in TAKES:
            raise Uncovered(f"an alternative that is a {node[0]}")
        return TAKES[node[0]]

    def _rules(self, node: Node) -> list[int]:
        rules = self.compiler.reader.msgpack.open_rules(node)
        if rules is None:
            raise Uncovered("maps of stated types")
        return rules

    def _open(self, node: Node, column: Column | None, *, null: bool) -> None:
        """An open value, from the two parts of a VARIANT."""
        rules = self.assembly.table(self._rules(node))

        def write() -> None:
            found = self.compiler.only(column, "variant")
            if found is not None:
                parts = (found.children[name].index for name in ("value", "metadata"))
                self.assembly.emit("PACK_OPEN", found.index, *parts, rules, null)

        if null and (column is None or column.takes == ""):
            self._nullable(column, write)
        else:
            write()

    def number(self, register: Register, node: Node) -> None:
        """Write the integer in a register."""
        _, bits, signed, *_ = node
        self.assembly.emit("PACK_PUT", register, *limits(bits, signed))

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""
        match node[0], const:
            case ("int", bool()):
                raise Uncovered("a constant of this kind")
            case ("int", int()) | ("bool", bool()) | ("text", str()) | ("bytes", bytes()):
                self.assembly.constant(msgpack.packb(const, use_bin_type=True))
            case _:
                raise Uncovered("a constant of this kind")
