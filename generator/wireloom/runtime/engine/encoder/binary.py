"""Values of binary structs."""

from typing import Any

from wireloom.runtime import leb128
from wireloom.runtime.engine.assembly import Register, Uncovered
from wireloom.runtime.engine.compiler.scope import TAKES, number_form, ordered
from wireloom.runtime.engine.encoder.part import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.outline import Column


class Binary(Part):
    """Values whose size and place the layout says."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""
        found = self.compiler.only(column, TAKES.get(node[0], ""))
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
                emit("BYTES", found.index, _fixed(size))
            case ("list", element, count, _, _, None):
                body, place = self.compiler.repeated(element, scope, found)
                emit("REPEAT", found.index, _fixed(count), body, place)
            case _:
                raise Uncovered(f"a binary {node[0]}")

    def number(self, register: Register, node: Node) -> None:
        """Write the integer in a register."""
        self.assembly.emit("PUT", register, *number_form(node, self.compiler.big))

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""
        match node, const:
            case ("int", *_), int():
                width, signed, big = number_form(node, self.compiler.big)
                self.assembly.constant(
                    int(const).to_bytes(width, "big" if big else "little", signed=signed)
                    if width
                    else leb128.encoded(leb128.to_zigzag(const) if signed else const)
                )
            case ("bool",), bool():
                self.assembly.constant(bytes([const]))
            case ("bytes", size, _), bytes() if size in (None, len(const)):
                self.assembly.constant(const)
            case ("text", size), str() if size in (None, len(const.encode())):
                self.assembly.constant(const.encode())
            case _:
                raise Uncovered("a constant of this kind")


def _fixed(size: Any) -> int:
    """A size that the layout fixes; -1 where it is computed, and what was written is read back to see."""
    if isinstance(size, tuple) and size[0] == "negative":
        raise Uncovered("a negative size")
    return size if isinstance(size, int) and not isinstance(size, bool) else -1
