"""The encoding's compilers for the native engine."""

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler import binary as reading
from wireloom.runtime.engine.encoder.encodings import binary as writing


def _padded(node):
    return nodes.Text(nodes.Padded(node.size, b" ")) if isinstance(node, nodes.Text) else node


class Reading(reading.Binary):
    """Like binary, except for texts; fields have no header."""

    stated = frozenset()

    def value(self, node, scope, sink):
        """Read one value."""
        super().value(_padded(node), scope, sink)


class Writing(writing.Binary):
    """Like binary, except for texts."""

    def value(self, node, scope, column):
        """Write the value of a column."""
        super().value(_padded(node), scope, column)

    def constant(self, const, node):
        """Write a constant."""
        super().constant(const, _padded(node))
