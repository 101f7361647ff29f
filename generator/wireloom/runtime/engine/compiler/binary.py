"""Values of binary bodies."""

from wireloom.runtime.engine.assembly import Uncovered
from wireloom.runtime.engine.compiler.part import Part
from wireloom.runtime.engine.compiler.scope import TAKES, Node, Scope, Sink, need_width, number_form, ordered
from wireloom.runtime.engine.expressions import Constant

_MANY = 1 << 16  # elements that may be none of them bytes; of more there must be a byte each


class Binary(Part):
    """Fixed and computed sizes, one after the other."""

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value."""
        match node:
            case ("int", bits, signed, *_):
                with self.compiler.into(sink.column, "int") as column:
                    need_width(column, bits, signed)
                    written = number_form(node, self.compiler.big)
                    self.assembly.emit("INTEGER", *written, sink.register, column and column.index)
            case ("float", bits, *stated):
                with self.compiler.into(sink.column, "float") as column:
                    big = ordered(stated, self.compiler.big)
                    self.assembly.emit("FLOAT", bits // 8, big, column and column.index)
            case ("bool",):
                with self.compiler.into(sink.column, "bool") as column:
                    self.assembly.emit("BOOLEAN", sink.register, column and column.index)
            case ("text" | "bytes" as kind, size, *_):
                with self.compiler.into(sink.column, TAKES[kind]) as column:
                    form, operand = self.compiler.size(size, scope)
                    self.assembly.emit("BYTES", form, operand, kind == "text", sink.register, column and column.index)
            case ("nullable", inner):
                if sink.column is not None and sink.column.takes == "":
                    raise Uncovered("null among alternatives")
                self.value(self.compiler.resolved(inner), scope, sink)
            case ("list", element, count, unique, _, None):
                with self.compiler.into(sink.column, "list") as column:
                    form, operand = self.compiler.size(count, scope)
                    if form == 1 and operand > _MANY:
                        form, operand = 2, self.expressions.place(Constant(operand))
                    head, count = (form, operand), sink.register
                    self.compiler.repeated("REPEAT", head, element, scope, column, unique, count=count, name=sink.name)
            case _:
                raise Uncovered(f"a binary {node[0]}")
