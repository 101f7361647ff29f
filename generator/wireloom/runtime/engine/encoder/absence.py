"""Fields that a message or an object omits: those without a value, and those with the default value for absence.

Encodings that name their fields share this. A field is omitted if its condition fails, or if its column is null or
has the default; builders omit exactly the same fields.
"""

import math
import struct
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.switches import is_beyond
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Item, Node, Scope
from wireloom.runtime.engine.programs.assembly import Label, Uncovered
from wireloom.runtime.engine.programs.expressions import Tree

GIVEN = "\0given"
"""The name for the value of the current field."""


class Absence(Part):
    """For encodings that name their fields: omits optional ones."""

    def unless(self, tree: Tree, scope: Scope, absent: Label) -> None:
        """Skip the field if an expression holds."""
        compiled = self.expressions.condition(nodes.negated(tree), scope)
        self.compiler.unless(compiled, absent)

    def is_default(self, item: Item, node: Node, default: Any) -> Tree:
        """Whether the column has the default value."""
        if isinstance(node, nodes.Nullable):
            node = self.compiler.reader.resolved(node.type)
        match node, default:
            case (nodes.Int(), int()) | (nodes.Bool(), bool()) if isinstance(node, nodes.Bool) == isinstance(
                default, bool
            ):
                constant: Tree = default
                register = self.compiler.names.value(item.column, textual=False)
            case nodes.Text(), str():
                constant = nodes.TextConstant(default)
                register = self.compiler.names.value(item.column, textual=True)
            case nodes.Bytes() | nodes.Charset(), bytes():
                constant = nodes.BytesConstant(default)
                register = self.compiler.names.value(item.column, textual=True)
            case nodes.Float(), float() | int() if not isinstance(default, bool) and not math.isnan(default):
                (constant,) = struct.unpack("<q", struct.pack("<d", default))  # in which the two zeros differ
                register = self.compiler.names.bits(item.column)
            case _:
                raise Uncovered("a `default` that the engine cannot compare")
        if register.kind not in ("int", "bool", "text"):
            raise Uncovered("a `default` that the engine cannot compare")
        item.scope.names[GIVEN] = register
        given: Tree = nodes.own(GIVEN)
        if is_beyond(constant):  # no register holds it: the row is given up when the number is loaded
            return nodes.both(nodes.Binary("<", given, 0), nodes.Binary(">", given, 0))
        return nodes.both(nodes.present(given), nodes.Binary("==", given, constant))

    def may_be_written(self, field: nodes.Field) -> bool:
        """Whether a constant is written at all; one that absence means is not."""
        if not field.optional:
            return True
        if field.has_default and field.const == field.default:
            return False
        raise Uncovered("an optional field with `const`")
