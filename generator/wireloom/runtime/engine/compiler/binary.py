"""Values of binary bodies: one instruction each, with the sink that the value fills.

`value` takes a type and a sink. Numbers become `INTEGER` or `FLOAT` with their form, texts and bytes `BYTES` with the
source of their size, and lists `REPEAT` with the source of their count.
"""

from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import (
    Item,
    Last,
    Node,
    Scope,
    Sink,
    endless,
    is_bits,
    number_form,
    ordered,
    taken,
    word_of,
)
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.expressions import Constant, Tree

_GREATEST = (1 << 63) - 1
_MANY = 1 << 16  # the greatest constant count of elements that may be empty; beyond it, each takes a byte at least


class Binary(Part):
    """Reads fields one after another, or at their offsets."""

    stated = frozenset({"at", "from", "size", "packing"})

    def open(self, node: nodes.Struct, arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Do nothing: a binary struct has no container."""

    def close(self, scope: Scope) -> None:
        """Do nothing: a binary struct ends with its last step."""

    def field(self, item: Item, when: Tree) -> None:
        """Read a field at the current position, or at its offset."""
        self.compiler.fields.placed(item)

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value."""
        match node:
            case nodes.Int():
                written = number_form(node, self.compiler.big)
                self.compiler.put(node, sink, "INTEGER", *written, after=(sink.word,))
            case nodes.Float(16):
                raise Uncovered("`float16`")
            case nodes.Float(bits, form):
                with self.compiler.into(sink.column, "float") as column:
                    big = ordered(form, self.compiler.big)
                    self.assembly.emit("FLOAT", bits // 8, big, column and column.index)
            case nodes.Bool():
                self.compiler.put(node, sink, "BOOLEAN", after=(self.assembly.refusal("unknown_value"),))
            case nodes.Text(size) | nodes.Bytes(size):
                no_text = self.compiler.no_text() if isinstance(node, nodes.Text) else 0
                operands, named = (*self.compiler.size(size, scope), no_text), endless(size)
                self.compiler.put(node, sink, "BYTES", *operands, after=(self.assembly.refusal(named) if named else 0,))
            case nodes.Nullable(inner):
                if sink.column is not None and sink.column.takes == "":
                    raise Uncovered("a nullable value in a column with several types")
                self.compiler.value(inner, scope, sink)
            case nodes.ListOf(element, unique=None, salvage=None) if is_bits(element):
                raise Uncovered("a list whose elements are not whole bytes")
            case nodes.ListOf(element, count, unique, _, None):
                with self.compiler.into(sink.column, taken(node)) as column:
                    head, last = self._head(count, scope)
                    self.compiler.repeated(
                        "REPEAT", head, element, scope, column, unique, count=sink.register, name=sink.name, last=last
                    )
            case _:
                raise Uncovered(f"a binary {word_of(node)}")

    def _head(self, count: nodes.Amount, scope: Scope) -> tuple[tuple[Any, Any], Last | None]:
        """How the list's instruction finds the end, and the condition for the last element, if elements decide that."""
        match count:
            case nodes.Last(holds):
                register = self.assembly.register("bool").read()
                return (5, register), Last(holds, register)
            case nodes.Terminator(data, nodes.Jump(number, least, most, start, bound)):
                width, _, big = number_form(number, self.compiler.big)
                if most >> 63:
                    raise Uncovered("a pointer of more than 63 bits")
                limit = _GREATEST if bound is None else min(bound, _GREATEST)
                words = [self.assembly.text(data), width, int(big), least, most, start, limit]
                return (6, self.assembly.table(words)), None
            case nodes.Terminated(data, _):
                return (7, self.assembly.text(data)), None
            case _:
                form, operand = self.compiler.size(count, scope)
                if form == 1 and (operand > _MANY or not isinstance(count, int)):
                    return (2, self.expressions.place(Constant(operand))), None
                return (form, operand), None
