"""Values of binary structs."""

import struct
from collections.abc import Callable
from typing import Any

from wireloom.runtime import numerals
from wireloom.runtime.engine import ended, nodes
from wireloom.runtime.engine.assembly import Register, Uncovered
from wireloom.runtime.engine.compiler.scope import (
    blocks_of,
    ending_of,
    front_word,
    is_bits,
    is_prefix,
    most,
    number_form,
    ordered,
    padded_word,
    prefix_word,
    taken,
    unit_of,
)
from wireloom.runtime.engine.encoder.part import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.expressions import Compiled
from wireloom.runtime.engine.outline import Column
from wireloom.runtime.values import FLOATS


class Binary(Part):
    """Values whose size and place the layout says."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""
        if node[0] == "nullable":
            if column is not None and column.takes == "":
                raise Uncovered("null among alternatives")
            self.value(self.compiler.reader.resolved(node[1]), scope, column)
            return
        found = self.compiler.only(column, taken(node))
        if found is None:
            return
        emit, big = self.assembly.emit, self.compiler.big
        match node:
            case ("int", *_):
                emit("INTEGER", found.index, *number_form(node, big))
            case ("float", bits, *form):
                emit("FLOAT", found.index, bits // 8, ordered(form, big))
            case ("bool",):
                emit("BOOLEAN", found.index)
            case ("text" | "bytes", size, *_):
                if (ending := ended.ending(size)) is not None:
                    table = ended.written(self.assembly, ending)
                    emit("ENDED", found.index, self.assembly.text(ending.delimiters[0]), table)
                    return
                if (front := self._blocks(size)) is not None:
                    emit("BLOCKS", found.index, *front)
                    return
                behind, padded = self._behind(size), _padded(size)
                emit("BYTES", found.index, _fixed(size), self._front(size), behind, padded, unit_of(size))
            case ("list", element, _, None, _, None, _) if is_bits(element):
                raise Uncovered("a list of what is no whole number of bytes")
            case ("list", element, count, _, _, None, _):
                body, place = self.compiler.repeated(element, scope, found)
                if (front := self._blocks(count)) is not None:
                    emit("REPEAT_BLOCKS", found.index, *front, body, place)
                    return
                emit("REPEAT", found.index, _fixed(count), body, place, self._front(count))
                if (data := ending_of(count)) is not None:
                    with self.compiler.during(self._ended(count, scope)):
                        self.assembly.constant(data)
            case _:
                raise Uncovered(f"a binary {node[0]}")

    def _ended(self, count: Any, scope: Scope) -> Compiled:
        """Whether the bytes that end a list are written."""
        return self.expressions.condition(count[2] if count[0] == "terminated" else True, scope)

    def _front(self, amount: Any) -> int:
        """The number that stands in front; 0 where none does."""
        return prefix_word(amount, self.compiler.big) if is_prefix(amount) else 0

    def _blocks(self, amount: Any) -> tuple[int, int] | None:
        """The number in front of each part of a value, and the most that it says; None of what is in one piece."""
        blocks = blocks_of(amount)
        return blocks and (front_word(blocks[0], self.compiler.big), most(blocks[0]))

    def _behind(self, amount: Any) -> int | None:
        """The bytes that stand behind; none where the value does not end so."""
        data = ending_of(amount)
        return None if data is None else self.assembly.text(data)

    def region(self, size: Any, write: Callable[[], None]) -> None:
        """Write a region behind its size."""
        word, register = self._front(size), self.assembly.register("int").read()
        self.assembly.emit("SIZE_BEGIN", word, register)
        write()
        self.assembly.emit("SIZE_END", word, register)

    def number(self, register: Register, node: Node) -> None:
        """Write the integer in a register."""
        self.assembly.emit("PUT", register, *number_form(node, self.compiler.big))

    def _numeral(self, node: Node) -> numerals.Numeral:
        """The form of an integer that is not written as its two's complement."""
        match node:
            case nodes.Int(detail=nodes.Markers(first, widths, order)):
                return numerals.extended(first, widths, "big" if ordered(order, self.compiler.big) else "little")
            case nodes.Int(signed=signed, detail=nodes.Ending(digits, ending)):
                return numerals.ended(digits, ending, signed=signed)
            case nodes.Int(signed=signed, form=form, detail=int() | None as digits):
                return numerals.of(form, digits or 0, signed=signed)
            case _:
                raise Uncovered(f"the digits of {node[0]}")

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""
        match node, const:
            case ("int", *_), int():
                width, signed, big = number_form(node, self.compiler.big)
                self.assembly.constant(
                    int(const).to_bytes(width, "big" if big else "little", signed=signed)
                    if width
                    else self._numeral(node).write(const)
                )
            case ("bool",), bool():
                self.assembly.constant(bytes([const]))
            case ("float", bits, *form), int() | float():
                order = ">" if ordered(form, self.compiler.big) else "<"
                self.assembly.constant(struct.pack(f"{order}{FLOATS[bits]}", const))
            case ("bytes", size, _), bytes():
                self._constant_bytes(const, size)
            case ("text", size), str():
                self._constant_bytes(const.encode(), size)
            case _:
                raise Uncovered("a constant of this kind")

    def _constant_bytes(self, data: bytes, size: Any) -> None:
        if (ending := ended.ending(size)) is not None:
            self._constant_ended(ending.written(data))
            return
        if (blocks := blocks_of(size)) is not None:
            self._constant_blocks(data, blocks[0])
            return
        if is_prefix(size):
            self.constant(len(data), size[1])
        elif isinstance(size, tuple) and size[0] == "padded":
            data += size[2] * ((size[1] - len(data)) // len(size[2]))
        self.assembly.constant(data + (ending_of(size) or b""))

    def _constant_blocks(self, data: bytes, number: Node) -> None:
        limit = most(number)
        for first in range(0, len(data), limit):
            part = data[first : first + limit]
            self.constant(len(part), number)
            self.assembly.constant(part)
        self.constant(0, number)

    def _constant_ended(self, data: bytes | None) -> None:
        if data is None:
            self.compiler.fail()  # readers would find the delimiter earlier
        else:
            self.assembly.constant(data)


def _padded(size: Any) -> int | None:
    """What is filled up, as instructions have it; none where nothing is."""
    return padded_word(size) if isinstance(size, tuple) and size[0] == "padded" else None


def _fixed(size: Any) -> int:
    """A size that the layout fixes; -1 where it is computed, and what was written is read back to see."""
    if isinstance(size, tuple) and size[0] == "negative":
        raise Uncovered("a negative size")
    return size if isinstance(size, int) and not isinstance(size, bool) else -1
