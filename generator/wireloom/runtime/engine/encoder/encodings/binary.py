"""Values of binary structs: one instruction each, from the column of the value.

The layout gives the size of a value: it is fixed, an expression that the value must agree with, or a number written
before it. A value that does not fit is left to the builders.
"""

import struct
from collections.abc import Callable
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import (
    ending_of,
    front_word,
    is_bits,
    most,
    number_form,
    ordered,
    padded_word,
    prefix_word,
    taken,
    word_of,
)
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.programs import delimiters
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Compiled
from wireloom.runtime.primitives import numerals
from wireloom.runtime.values import FLOATS


class Binary(Part):
    """Writes values whose size and position the layout determines."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""
        if isinstance(node, nodes.Nullable):
            if column is not None and column.takes == "":
                raise Uncovered("a nullable value in a column with several types")
            self.value(self.compiler.reader.resolved(node.type), scope, column)
            return
        found = self.compiler.only(column, taken(node))
        if found is None:
            return
        emit, big = self.assembly.emit, self.compiler.big
        match node:
            case nodes.Int():
                emit("INTEGER", found.index, *number_form(node, big))
            case nodes.Float(bits, form):
                emit("FLOAT", found.index, bits // 8, ordered(form, big))
            case nodes.Bool():
                emit("BOOLEAN", found.index)
            case nodes.Text(size) | nodes.Bytes(size):
                if not isinstance(size, nodes.Counted | int | None):
                    self.compiler.certainty.counted(size, found, scope)
                self._bytes(size, found, is_text=isinstance(node, nodes.Text))
                if size is None:
                    self.compiler.certainty.last(scope)
            case nodes.ListOf(element, unique=None, salvage=None) if is_bits(element):
                raise Uncovered("a list whose elements are not whole bytes")
            case nodes.ListOf(element, count, unique, salvage=None):
                if unique is not None:
                    self.compiler.certainty.unique(unique, element, found)
                body, place = self.compiler.repeated(element, scope, found)
                if isinstance(count, nodes.Blocks):
                    emit("REPEAT_BLOCKS", found.index, *self._blocks(count), body, place)
                    return
                if not isinstance(count, nodes.Counted | int | None):
                    self.compiler.certainty.counted(count, found, scope)
                elif not isinstance(count, nodes.Prefix | int):
                    self.assembly.doubt("a list that ends by its elements, or where its region does")
                emit("REPEAT", found.index, _fixed(count), body, place, self._front(count))
                if (data := ending_of(count)) is not None:
                    with self.compiler.during(self._ended(count, scope)):
                        self.assembly.constant(data)
            case _:
                raise Uncovered(f"a binary {word_of(node)}")

    def _bytes(self, size: nodes.Amount, column: Column, *, is_text: bool) -> None:
        """Write a text or bytes with the given size."""
        match size:
            case nodes.Delimited(ends):
                table = delimiters.written(self.assembly, delimiters.ending(size))
                self.assembly.emit("ENDED", column.index, self.assembly.text(ends[0]), table)
            case nodes.Blocks():
                self.assembly.emit("BLOCKS", column.index, *self._blocks(size))
            case _:
                after, padded = self._after(size), padded_word(size) if isinstance(size, nodes.Padded) else None
                self.assembly.emit("BYTES", column.index, _fixed(size), self._front(size), after, padded, is_text)

    def _ended(self, count: nodes.Amount, scope: Scope) -> Compiled:
        """Whether the bytes that end a list are written."""
        return self.expressions.condition(count.when if isinstance(count, nodes.Terminated) else True, scope)

    def _front(self, amount: nodes.Amount) -> int:
        """The operand for a number before the data; 0 if there is none."""
        return prefix_word(amount, self.compiler.big) if isinstance(amount, nodes.Prefix) else 0

    def _blocks(self, blocks: nodes.Blocks) -> tuple[int, int]:
        """The form of the number before each part of a value, and the greatest part."""
        return front_word(blocks.number, self.compiler.big), most(blocks.number)

    def _after(self, amount: nodes.Amount) -> int | None:
        """The bytes after a value; None if there are none."""
        data = ending_of(amount)
        return None if data is None else self.assembly.text(data)

    def region(self, size: nodes.Prefix, write: Callable[[], None]) -> None:
        """Write a region after its size."""
        word, register = self._front(size), self.assembly.register("int").read()
        self.assembly.emit("SIZE_BEGIN", word, register)
        write()
        self.assembly.emit("SIZE_END", word, register)

    def number(self, register: Register, node: Node) -> None:
        """Write the integer in a register."""
        self.assembly.emit("PUT", register, *number_form(node, self.compiler.big))

    def _numeral(self, node: Node) -> numerals.Numeral:
        """The form of an integer that is not plain two's complement."""
        match node:
            case nodes.Int(detail=nodes.Markers(first, widths, order)):
                return numerals.extended(first, widths, "big" if ordered(order, self.compiler.big) else "little")
            case nodes.Int(signed=signed, detail=nodes.Ending(digits, ending)):
                return numerals.ended(digits, ending, signed=signed)
            case nodes.Int(signed=signed, form=form, detail=int() | None as digits):
                return numerals.of(form, digits or 0, signed=signed)
            case _:
                raise AssertionError(f"the digits of a {word_of(node)}")

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""
        match node, const:
            case nodes.Int(), int():
                width, signed, big = number_form(node, self.compiler.big)
                self.assembly.constant(
                    int(const).to_bytes(width, "big" if big else "little", signed=signed)
                    if width
                    else self._numeral(node).write(const)
                )
            case nodes.Bool(), bool():
                self.assembly.constant(bytes([const]))
            case nodes.Float(bits, form), int() | float():
                order = ">" if ordered(form, self.compiler.big) else "<"
                self.assembly.constant(struct.pack(f"{order}{FLOATS[bits]}", const))
            case nodes.Bytes(size), bytes():
                self._constant_bytes(const, size)
            case nodes.Text(size), str():
                self._constant_bytes(const.encode(), size)
            case _:
                raise Uncovered("a `const` that the engine cannot write")

    def _constant_bytes(self, data: bytes, size: nodes.Amount) -> None:
        match size:
            case nodes.Delimited():
                self._constant_ended(delimiters.ending(size).written(data))
            case nodes.Blocks(number):
                self._constant_blocks(data, number)
            case nodes.Prefix(number):
                self.constant(len(data), number)
                self.assembly.constant(data)
            case nodes.Padded(width, fill):
                self.assembly.constant(data + fill * ((width - len(data)) // len(fill)))
            case _:
                self.assembly.constant(data + (ending_of(size) or b""))

    def _constant_blocks(self, data: bytes, number: nodes.Int) -> None:
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


def _fixed(size: nodes.Amount) -> int:
    """A size that the layout fixes; -1 if it is computed, and checked otherwise."""
    if isinstance(size, nodes.Unary):
        raise Uncovered("a negative size")
    return size if isinstance(size, int) and not isinstance(size, bool) else -1
