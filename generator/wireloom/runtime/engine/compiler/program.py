"""The compiler as a whole: from a root of the layout to a program.

`parts` takes the name of a root and returns the words of a program: instructions, expressions, tables and texts. Each
part of the compiler knows one thing (records, structs, fields, an encoding) and emits instructions to one assembly. It
raises `Uncovered` for what it cannot compile, and the construct parser reads the format. Before the words are final,
`register_checks` proves that each register is filled before it is read, and `fusion` joins instructions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wireloom.runtime.columns.logical import ExtensionType, List, Record
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler import register_checks
from wireloom.runtime.engine.compiler.arrays import Arrays
from wireloom.runtime.engine.compiler.binary import Binary
from wireloom.runtime.engine.compiler.core import Core
from wireloom.runtime.engine.compiler.fields import Fields
from wireloom.runtime.engine.compiler.fusion import Fusion
from wireloom.runtime.engine.compiler.json import Json
from wireloom.runtime.engine.compiler.msgpack import MessagePack
from wireloom.runtime.engine.compiler.protobuf import Protobuf
from wireloom.runtime.engine.compiler.records import Records
from wireloom.runtime.engine.compiler.scope import Node, Scope, Sink
from wireloom.runtime.engine.compiler.structs import Structs
from wireloom.runtime.engine.compiler.sums import Sums
from wireloom.runtime.engine.programs.assembly import Assembly, Encodings, Uncovered
from wireloom.runtime.engine.programs.columns import links, outline
from wireloom.runtime.engine.programs.conditions import Conditions
from wireloom.runtime.engine.programs.expressions import Expressions
from wireloom.runtime.parameters import limit_of

if TYPE_CHECKING:
    from wireloom.runtime.engine.compiler.protocols import Encoding

OTHERS: dict[str, Callable[["Compiler"], "Encoding"]] = {}
"""Compilers of encodings from other packages, by name."""


class Compiler(Core):
    """Compiles one root of a layout."""

    fields: Fields
    sums: Sums
    json: Json
    msgpack: MessagePack

    def __init__(  # noqa: PLR0913 - what is compiled, and how it is shown
        self,
        engine: Any,
        layout: nodes.Layout,
        settings: Mapping[str, Any],
        type: Record | List,
        open_values: str = "variant",
        extensions: Sequence[ExtensionType] = (),
        *,
        writes: bool = False,
    ) -> None:
        self.engine, self.layout, self.settings = engine, layout, dict(settings)
        self.open_values, self.extensions = open_values, extensions
        self.columns = outline(type, open_values)
        decimals = frozenset(column.index for column in self.columns if column.kind == "decimal")
        self.assembly = Assembly(engine.OPCODES, engine.EXPRESSION_CODES, decimals=decimals)
        self.expressions = Expressions(self.assembly, self.settings, layout["ranges"])
        self.conditions = Conditions(self.assembly)
        self.crcs = list(layout["crcs"])
        self.big, self.writes = True, writes
        self.records, self.structs, self.fields = Records(self), Structs(self), Fields(self)
        self.arrays, self.sums, self.msgpack, self.json = Arrays(self), Sums(self), MessagePack(self), Json(self)
        self.encodings: Mapping[str, Encoding] = Encodings(
            {
                "binary": Binary(self),
                "msgpack": self.msgpack,
                "json": self.json,
                "protobuf": Protobuf(self),
                **{name: made(self) for name, made in OTHERS.items()},
            }
        )

    def program(self, root: str) -> Any:
        """The program of a root."""
        positional, keywords = self.parts(root)
        return self.engine.Program(*positional, **keywords)

    def parts(self, root: str) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the engine's Program, which validates them."""
        entries = [self._entry(root, order) for order in self._orders()]
        assembly = self.assembly
        assembly.emit("RETURN", None)
        register_checks.check(assembly, self.engine)
        assembly.number_registers()
        entries = Fusion(assembly, entries, self.engine).apply()
        positional = [
            assembly.numbers([word for row in assembly.rows for word in row]),
            assembly.numbers(assembly.expressions) or [0, 0],
            assembly.numbers(assembly.tables),
            bytes(assembly.texts),
            list(self.layout["crcs"].values()),
            list(links(self.columns, self.engine.KINDS)),
        ]
        keywords = {
            "registers": max(assembly.register_count, 1),
            "slots": assembly.slots,
            "entries": entries,
            "depth": self._depth(),
        }
        return positional, keywords

    def _orders(self) -> tuple[str, ...]:
        match self.layout["order"]:
            case str(fixed):
                return (fixed,)
            case (str(parameter), _) if self.settings[parameter] == "auto":
                return ("big", "little")
            case (str(parameter), _):
                return (self.settings[parameter],)
            case _:
                return ("big",)

    def _depth(self) -> int:
        limit = limit_of(self.layout["depth"], self.settings)
        assert limit is not None, "every layout has a depth"
        return max(0, min(limit, 1 << 20))

    def _entry(self, root: str, order: str) -> int:
        self.big = order == "big"
        if isinstance(self.layout["order"], tuple):  # expressions see the order that the record is read in
            self.settings[self.layout["order"][0]] = order
        entry, node, column = len(self.assembly.rows), self.layout["roots"][root], self.columns[0]
        scope = Scope(self._encoding(node))
        if scope.encoding == "json":
            self.json.document(root)
        if column.kind == "list":
            self.value(node, scope, Sink(None, column))
        else:
            self.records.members(node, scope, column, None)
            self.assembly.emit("FINISH", column.index)
        self.assembly.emit("RETURN", None)
        self.assembly.complete()
        return entry

    def _encoding(self, node: Node) -> str:
        """The encoding of the first struct in a type."""
        match self.resolved(node):
            case nodes.Struct(encoding=encoding):
                return encoding
            case nodes.Tagged():
                return "json"
            case nodes.Peek(cases=(nodes.Case(_, first), *_)) | nodes.Select(cases=(nodes.Case(_, first), *_)) if (
                not isinstance(first, nodes.Refuse)
            ):
                return self._encoding(first)
            case nodes.Attempt(trials):
                return self._encoding(trials[0].type)
            case nodes.ListOf(element):
                return self._encoding(element)
            case _:
                raise Uncovered("a root without a struct")
