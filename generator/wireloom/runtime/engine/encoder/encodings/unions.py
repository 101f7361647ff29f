"""Null, and unions whose alternatives differ by the kind of value: the same in MessagePack and JSON.

The encoding determines how null is written, and which containers are open values. The column with a value selects the
alternative; if several have one, the row is left to the builders.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import taken, word_of
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.programs.assembly import Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column

_TOLD = {"null", "bool", "int", "float", "str", "bytes"}
"""Kinds of values that readers and writers tell apart in the same way."""


class Unions(Part):
    """An encoding whose values tell their kind."""

    null: ClassVar[bytes]
    """The bytes of null."""

    @abstractmethod
    def _rules(self, node: nodes.OneOf | nodes.ListOf | nodes.MapOf) -> list[int] | None:
        """The rules of an open value, as far as writers need them; None for stated types."""

    @abstractmethod
    def opened(self, node: nodes.OneOf | nodes.ListOf | nodes.MapOf, column: Column | None) -> None:
        """Write an open value from the two parts of a VARIANT."""

    @abstractmethod
    def stated(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write a value of one kind."""

    def _is_open(self, node: nodes.ListOf | nodes.MapOf) -> bool:
        """Whether a list or map may contain values of any kind, which share one column."""
        return self._rules(node) is not None

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""
        match node:
            case nodes.Nullable(inner):
                self.nullable(column, lambda: self.compiler.value(inner, scope, column))
            case nodes.Null():
                self.nullable(column, self.compiler.fail)
            case nodes.OneOf(open=True):
                self.opened(node, column)
            case nodes.OneOf(_, alternatives):
                self.one_of(alternatives, scope, column)
            case nodes.ListOf() | nodes.MapOf() if self._is_open(node):
                self.opened(node, column)
            case _:
                self.stated(node, scope, column)

    def entries(self, node: nodes.MapOf, scope: Scope, column: Column, between: bytes = b"") -> tuple[Label, Register]:
        """The body that writes a map entry, and the register of the entry's index."""

        def write(entry: Column, _: Register) -> None:
            self.compiler.value(node.key, scope, entry.children["key"])
            if between:
                self.assembly.constant(between)
            self.compiler.value(node.value, scope, entry.children["value"])

        self.assembly.doubt("a map")
        return self.compiler.repeated(node.value, scope, column, write=write)

    def nullable(self, column: Column | None, write: Callable[[], None]) -> None:
        """Write null if the column is null."""
        if column is None:
            self.assembly.constant(self.null)
            return
        end = Label()
        self.compiler.null(column, end, self.null)
        write()
        self.assembly.place(end)

    def one_of(self, alternatives: Sequence[Node], scope: Scope, column: Column | None) -> None:
        """Write the alternative of the value's kind."""
        kinds: dict[str, Node] = {}
        for alternative in map(self.compiler.reader.resolved, alternatives):
            takes = self.takes(alternative)
            if takes in kinds:
                raise Uncovered("two alternatives with the same type of column")
            kinds[takes] = alternative
        if not kinds.keys() <= _TOLD or {"str", "bytes"} <= kinds.keys():
            self.assembly.doubt("alternatives that are told by more than their kinds")
        null = kinds.pop("null", None) is not None
        if column is None or column.takes != "":
            raise Uncovered("alternatives that share one column")
        self._chosen(kinds, scope, column, null=null)

    def _chosen(self, kinds: dict[str, Node], scope: Scope, column: Column, *, null: bool) -> None:
        """Write the alternative whose column has a value."""
        labels = {takes: Label() for takes in kinds if takes in column.children}
        none = Label()
        words: list[Any] = [none if null else None, len(labels)]
        for takes, label in labels.items():
            words += [column.children[takes].index, label]
        self.assembly.emit("KINDS", column.index, self.assembly.table(words))
        arms: list[tuple[Label, Callable[[], object]]] = [
            (label, partial(self.compiler.value, kinds[takes], scope, column.children[takes]))
            for takes, label in labels.items()
        ]
        self.assembly.arms([*arms, (none, partial(self.assembly.constant, self.null))] if null else arms)

    def takes(self, node: Node) -> str:
        """The kind of column for an alternative."""
        if isinstance(node, nodes.ListOf | nodes.MapOf) and self._is_open(node):
            return "variant"
        if self.compiler.reader.is_record(node):
            return "record"
        if found := taken(node):
            return found
        raise Uncovered(f"an alternative that is a {word_of(node)}")
