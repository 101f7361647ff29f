"""Values of binary bodies."""

from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.assembly import Uncovered
from wireloom.runtime.engine.compiler.part import Part
from wireloom.runtime.engine.compiler.scope import (
    TAKES,
    Last,
    Node,
    Scope,
    Sink,
    endless,
    is_bits,
    need_width,
    number_form,
    ordered,
    taken,
)
from wireloom.runtime.engine.expressions import Constant, Tree

_GREATEST = (1 << 63) - 1
_MANY = 1 << 16  # elements, stated as a number, that may have no bytes; of others there must be a byte each


class Binary(Part):
    """Fixed and computed sizes, one after the other."""

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value."""
        match node:
            case ("int", bits, signed, *_):
                with self.compiler.into(sink.column, "int") as column:
                    need_width(column, bits, signed)
                    written = number_form(node, self.compiler.big)
                    self.assembly.emit("INTEGER", *written, sink.register, column and column.index, sink.word)
            case ("float", bits, *stated):
                with self.compiler.into(sink.column, "float") as column:
                    big = ordered(stated, self.compiler.big)
                    self.assembly.emit("FLOAT", bits // 8, big, column and column.index)
            case ("bool",):
                with self.compiler.into(sink.column, "bool") as column:
                    code = self.assembly.refusal("unknown_value")
                    self.assembly.emit("BOOLEAN", sink.register, column and column.index, code)
            case ("text" | "bytes" as kind, size, *_):
                with self.compiler.into(sink.column, TAKES[kind]) as column:
                    operands = *self.compiler.size(size, scope), self.compiler.no_text() if kind == "text" else 0
                    named = endless(size)
                    code = self.assembly.refusal(named) if named else 0
                    self.assembly.emit("BYTES", *operands, sink.register, column and column.index, code)
            case ("nullable", inner):
                if sink.column is not None and sink.column.takes == "":
                    raise Uncovered("null among alternatives")
                self.compiler.value(inner, scope, sink)
            case ("list", element, _, None, _, None, _) if is_bits(element):
                raise Uncovered("a list of what is no whole number of bytes")
            case ("list", element, count, unique, _, None, _):
                with self.compiler.into(sink.column, taken(node)) as column:
                    head, last = self._head(count, scope)
                    self.compiler.repeated(
                        "REPEAT", head, element, scope, column, unique, count=sink.register, name=sink.name, last=last
                    )
            case _:
                raise Uncovered(f"a binary {node[0]}")

    def _head(self, count: Tree, scope: Scope) -> tuple[tuple[Any, Any], Last | None]:
        """How an instruction knows the elements of a list, and what tells the last one where the elements do."""
        match count:
            case ("last", holds):
                register = self.assembly.register("bool").read()
                return (5, register), Last(holds, register)
            case nodes.Terminator(data, nodes.Jump(number, least, most, start, bound)):
                width, _, big = number_form(number, self.compiler.big)
                if most >> 63:
                    raise Uncovered("a place beyond 63 bits")
                limit = _GREATEST if bound is None else min(bound, _GREATEST)
                words = [self.assembly.text(data), width, int(big), least, most, start, limit]
                return (6, self.assembly.table(words)), None
            case ("terminated", data, _):
                return (7, self.assembly.text(data)), None
            case _:
                form, operand = self.compiler.size(count, scope)
                if form == 1 and (operand > _MANY or not isinstance(count, int)):
                    return (2, self.expressions.place(Constant(operand))), None
                return (form, operand), None
