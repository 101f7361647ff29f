"""The compiler for writing as a whole: from a root of the layout to a program, and what its parts share.

`compiled` compiles a root. If a struct turns out to need passes (its own size decides what is written), compilation
starts again with that struct marked. `Compiler` holds the parts: records, structs, fields, one for each encoding.
Unless the record is certain (`certainty.py`), a reading program for the read-back is made, too (`readback.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, assert_never

from wireloom.runtime.columns.logical import Record
from wireloom.runtime.engine import compiler as reading
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.compiler.switches import hashed
from wireloom.runtime.engine.encoder import readback
from wireloom.runtime.engine.encoder.assembly import Assembly
from wireloom.runtime.engine.encoder.certainty import Certainty
from wireloom.runtime.engine.encoder.encodings.binary import Binary
from wireloom.runtime.engine.encoder.encodings.json import Json
from wireloom.runtime.engine.encoder.encodings.msgpack import MessagePack
from wireloom.runtime.engine.encoder.encodings.protobuf import Protobuf
from wireloom.runtime.engine.encoder.fields import Fields
from wireloom.runtime.engine.encoder.implied_values import Given
from wireloom.runtime.engine.encoder.members import Names
from wireloom.runtime.engine.encoder.peephole import Tightening
from wireloom.runtime.engine.encoder.records import Records
from wireloom.runtime.engine.encoder.scope import Node, Scope, UnsettledError
from wireloom.runtime.engine.encoder.sentinels import Sentinels, with_filled
from wireloom.runtime.engine.encoder.structs import Structs
from wireloom.runtime.engine.programs.assembly import Encodings, Label, Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column, links, outline
from wireloom.runtime.engine.programs.conditions import Conditions
from wireloom.runtime.engine.programs.expressions import Code, Compiled, Constant, Expressions, compares_wide

if TYPE_CHECKING:
    from wireloom.runtime.engine.encoder.protocols import Encoding

_ORDERS = ("big", "little")


def orders(layout: nodes.Layout, settings: Mapping[str, Any], root: str) -> tuple[str, ...]:
    """The byte orders to write in: both if a member states it; "" for the fixed one."""
    match layout["order"]:
        case (str(parameter), _) if settings[parameter] == "auto":
            return _ORDERS if _order_member(layout, parameter, root) else _ORDERS[:1]
        case _:
            return ("",)


def _order_member(layout: nodes.Layout, parameter: str, root: str) -> str:
    """The name for readers of the member that is computed as the byte order's parameter; empty if there is none."""
    node, computed = layout["roots"][root], nodes.Formula(nodes.ParameterRef(parameter, ()))
    while isinstance(node, nodes.Ref):
        node = layout["types"][node.name]
    fields = node.fields if isinstance(node, nodes.Struct) else ()
    return next((field.title for field in fields if field.compute == computed and not field.hidden), "")


def compiled(  # noqa: PLR0913 - what a compiler is made of
    native: Any,
    layout: nodes.Layout,
    settings: Mapping[str, Any],
    type: Record,
    order: str,
    root: str,
    *,
    drafts: bool = False,
) -> tuple["Compiler", Any]:
    """The compiler of a root, and its program; retries with one more struct in passes until no more is needed."""
    passes = frozenset[str]()
    while True:
        compiler = Compiler(native, layout, settings, type, order, passes=passes, drafts=drafts)
        try:
            return compiler, compiler.program(root)
        except UnsettledError as unsettled:
            if unsettled.struct in passes:
                raise Uncovered("offsets that depend on each other, outside of binary") from unsettled
            passes |= {unsettled.struct}


OTHERS: dict[str, Callable[["Compiler"], "Encoding"]] = {}
"""Compilers of encodings from other packages, by name."""


class Compiler:
    """Compiles one root of a layout. `native` is the compiled engine, `type` the type of the records in the columns.

    Structs named in `passes` are written repeatedly until the positions agree with the values.

    If the settings leave the byte order to the value, records are written in `order`, and read back in either. `drafts`
    are not read back.
    """

    def __init__(  # noqa: PLR0913 - what a compiler is made of
        self,
        native: Any,
        layout: nodes.Layout,
        settings: Mapping[str, Any],
        type: Record,
        order: str = "",
        *,
        passes: AbstractSet[str] = frozenset(),
        drafts: bool = False,
    ) -> None:
        self.drafts = drafts
        self.native, self.layout = native, layout
        self.passes = passes
        self.reader_settings = dict(settings)
        self.settings = dict(settings) | ({layout["order"][0]: order} if order else {})
        self.columns = outline(type)
        with_filled(self.columns, type)
        self.reader = reading.Compiler(native, layout, self.settings, type, writes=True)
        self.assembly = Assembly(native.ENCODE_OPCODES, native.EXPRESSION_CODES)
        self.expressions = Expressions(self.assembly, self.settings, layout["ranges"])
        self.conditions = Conditions(self.assembly, self.expressions.place)
        self.refused = Label()
        self.crcs = list(layout["crcs"])
        self.type = type
        self.determined = readback.Determined()
        self.names, self.records, self.structs, self.fields = Names(self), Records(self), Structs(self), Fields(self)
        self.binary, self.msgpack, self.protobuf = Binary(self), MessagePack(self), Protobuf(self)
        self.json, self.given = Json(self), Given(self)
        self.encodings: Mapping[str, Encoding] = Encodings(
            {
                "binary": self.binary,
                "msgpack": self.msgpack,
                "json": self.json,
                "protobuf": self.protobuf,
                **{name: made(self) for name, made in OTHERS.items()},
            }
        )
        self.assembly.certain = not drafts and not order
        self.certainty = Certainty(self)
        self.sentinels = Sentinels(self)

    @property
    def big(self) -> bool:
        """Whether integers are big-endian."""
        match self.layout["order"]:
            case (str(parameter), _):
                return bool(self.settings[parameter] == "big")
            case order:
                return bool(order != "little")

    def program(self, root: str) -> Any:
        """The program of a root."""
        positional, keywords = self.parts(root)
        return self.native.WritingProgram(*positional, **keywords)

    def parts(self, root: str) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the engine's WritingProgram, which validates them."""
        node = self.layout["roots"][root]
        self._require_order(root)
        self.records.root(node, self.columns[0])
        assembly = self.assembly
        assembly.emit("RETURN")
        assembly.complete()
        assembly.place(self.refused)
        self.fail()
        assembly.emit("RETURN")
        registers = assembly.number_registers()
        (entry,) = Tightening(assembly, [0]).apply()
        reader = reading.Compiler(self.native, self.layout, self.reader_settings, self.type, "binary")
        positional = [
            assembly.numbers([word for row in assembly.rows for word in row]),
            assembly.numbers(assembly.expressions) or [0, 0],
            assembly.numbers(assembly.tables),
            bytes(assembly.texts),
            list(self.layout["crcs"].values()),
            list(links(self.columns, self.native.KINDS)),
            assembly.symbols(),
            reader.program(root),
            list(readback.matches(self.columns, reader.columns, self.determined, self.sentinels.come_back)),
        ]
        numbers = {"registers": registers, "slots": assembly.slots, "entry": entry}
        return positional, numbers | {
            "certain": self.assembly.certain or self.drafts,
        }

    def _require_order(self, root: str) -> None:
        """Give up records that state the other byte order; a record that states none is big-endian."""
        match self.layout["order"]:
            case (str(parameter), _) if self.reader_settings[parameter] == "auto":
                column = member(self.columns[0], _order_member(self.layout, parameter, root))
            case _:
                return
        if column is not None:
            scope, is_little = Scope("", None), nodes.Binary("==", nodes.own("order"), nodes.TextConstant("little"))
            scope.names["order"] = self.names.value(column, textual=True)
            expected = nodes.negated(is_little) if self.big else is_little
            self.unless(self.expressions.condition(expected, scope), self.refused)

    # --- what the parts share --------------------------------------------------------------------------------------

    def compute(self, compiled: Compiled, register: Register) -> None:
        """Put the value of an expression into a register."""
        self.assembly.emit("COMPUTE", self.expressions.place(compiled), register)

    @contextmanager
    def during(self, holds: Compiled) -> Iterator[None]:
        """The code compiled in this context runs only while a condition holds."""
        if isinstance(holds, Constant) and holds.value:
            yield
            return
        end = Label()
        self.unless(holds, end)
        yield
        self.assembly.place(end)

    def unless(self, holds: Compiled, otherwise: Label) -> None:
        """Continue if a condition holds, else jump forward to a label."""
        match holds:
            case Constant(value):
                if not value:
                    self.assembly.emit("JUMP", otherwise)
            case Code(_, term):
                if compares_wide(term) or not self.conditions.branch(holds, otherwise):
                    self.assembly.emit("WHEN", self.expressions.place(holds), otherwise)
            case _:
                assert_never(holds)

    def fail(self) -> None:
        """Give up the record: construct reports the error, or writes what the engine cannot."""
        self.assembly.emit("FAIL")

    def only(self, column: Column | None, takes: str) -> Column | None:
        """The column for a kind of value; None, and the record is given up, if the value is of another kind."""
        if column is not None and column.takes == takes:
            return column
        child = column.children.get(takes) if column is not None and column.takes == "" else None
        if column is None or child is None:
            self.fail()
            return None
        self.assembly.emit("ONLY", column.index, child.index)
        return child

    def null(self, column: Column, target: Label, written: bytes) -> None:
        """If the column is null, write these bytes and jump to the target."""
        text = self.assembly.text(written)
        self.assembly.emit("NULL", column.index, column.takes == "", target, text >> 16, text & 0xFFFF)

    def switch(self, targets: dict[int | None, Label], register: Register) -> None:
        """Jump by the value in a register; give up the record if it has no target."""
        self.assembly.emit("SWITCH", self.assembly.table(hashed(targets)), register)

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""
        node = self.reader.resolved(node)
        if self.reader.is_record(node):
            self.record(node, scope, column)
        elif isinstance(node, nodes.Held):
            self.fields.meant(node, scope, column)
        elif isinstance(node, nodes.Select):
            self.records.selected(node.tag, node.cases, scope, lambda case: self.value(case, scope, column))
        else:
            self.encodings[scope.encoding].value(node, scope, column)

    def record(self, node: Node, scope: Scope, column: Column | None, place: Register | None = None) -> None:
        """Write a record with a column of its own."""
        found = self.only(column, "record")
        if found is None:
            return
        if found is column:
            self.assembly.emit("PRESENT", found.index)
        self.records.members(node, scope, found, place)

    def repeated(self, element: Node, scope: Scope, column: Column, *, write: Any = None) -> tuple[Label, Register]:
        """The body that writes an element, and the register of the element's index."""
        place = self.assembly.register("int").read()
        inner = column.element

        def body() -> None:
            if write is not None:
                write(inner, place)
            elif self.reader.is_record(element):
                self.record(element, scope, inner, place)
            else:
                self.value(element, scope, inner)

        return self.assembly.later(body), place
