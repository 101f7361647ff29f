"""What the parts of the compiler may ask of each other, as protocols.

The parts call each other, nested like the layout. They import only these protocols, so none imports another.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from typing import Any, Protocol

from wireloom.runtime.engine import compiler as reading
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.encoder.assembly import Assembly
from wireloom.runtime.engine.encoder.readback import Determined
from wireloom.runtime.engine.encoder.scope import Item, Known, Node, Placed, Scope
from wireloom.runtime.engine.programs.assembly import Label, Register
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Compiled, Expressions, Tree


class Names(Protocol):
    """The names that expressions see."""

    def load(self, steps: Sequence[nodes.Step], scope: Scope) -> None:
        """Load the value of each name of the struct into a register."""

    def load_record(self, scope: Scope) -> None:
        """Load each member of a record, whatever its struct is."""

    def members(self, steps: Sequence[nodes.Step]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The fields and bits of a struct, by their names for readers, with their keys in the spec."""

    def fields(self, steps: Sequence[nodes.Step]) -> Iterator[Known]:
        """The fields of a struct and their bits; flattened structs are replaced by their members."""

    def value(self, column: Column | None, *, textual: bool) -> Register:
        """A register with the value of a column; a text becomes the number of the constant that it equals."""

    def bits(self, column: Column | None) -> Register:
        """A register with the 64 bits of a float column."""


class Records(Protocol):
    """Records and choices among them."""

    def members(self, node: Node, scope: Scope, record: Column | None, place: Register | None) -> None:
        """Write a record from the current row of `record`."""

    def structs(self, node: Node) -> Iterator[nodes.Struct]:
        """The struct, or all structs of a choice."""

    def outermost(self, scope: Scope) -> bool:
        """Whether a struct is the whole record, and readers try it before any other alternative."""

    def word(self, value: Any) -> int:
        """A tag's value, as a number."""


class Structs(Protocol):
    """Structs and their steps."""

    def struct(self, node: nodes.Struct, parent: Scope, record: Column | None, place: Register | None) -> None:
        """Write a struct from the current row of `record`."""

    def marked(self, scope: Scope) -> Register:
        """A register with the current position, relative to the struct's start."""

    def from_here(self, tree: Tree, scope: Scope, mark: str = ...) -> Tree:
        """Replace `here` in an expression by a mark at the current position."""


class Fields(Protocol):
    """Fields and their constraints."""

    def field(self, item: Item) -> list[Placed]:
        """Write a field; reserve bytes for a value that depends on positions."""

    def settle(self, placed: Sequence[Placed], scope: Scope) -> None:
        """Fill in the derived values in the order of their dependencies, then the checksums, inner ones first."""

    def derived(self, tree: Tree, scope: Scope) -> Register:
        """A register with a derived value, computed at this point."""

    def stated(self, item: Item, write: Callable[[Any], None]) -> None:
        """Write the first wire value with the column's meaning, as constants, since no register can hold it."""

    def mapped(self, item: Item) -> Register:
        """A register with the first wire integer that has the column's meaning."""

    def meanings(self, values: Sequence[nodes.Meaning], kind: str) -> list[tuple[Any, Any]]:
        """The wire values and their meanings, which must be of the column's kind or null."""


class Encoding(Protocol):
    """An encoding: how its values are written. A new encoding is a new class."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column that is not a record."""

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""

    def number(self, register: Register, node: nodes.Int) -> None:
        """Write the integer in a register."""


class Binary(Protocol):
    """Binary values."""

    def region(self, size: nodes.Prefix, write: Callable[[], None]) -> None:
        """Write a region after its size."""


class Protobuf(Protocol):
    """Protobuf messages."""

    def message(self, items: Sequence[Item]) -> None:
        """Write the fields of a message; tables last, since others fill them."""


class Given(Protocol):
    """Names whose values are not only in their columns."""

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Load the values that builders see, in the order of their dependencies."""

    def asked(self) -> frozenset[str]:
        """The names in all expressions of the format."""


class Sentinels(Protocol):
    """Nulls with a value on the wire."""

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Let names see the wire values of nulls, if their fields are certainly present."""

    def see(self, column: Column, known: Known) -> None:
        """Note that an expression uses a member of a nested record."""

    def is_refused(self, column: Column | None) -> bool:
        """Whether an expression uses a column without knowing what is written for its nulls."""

    def written(self, name: str, column: Column | None, scope: Scope) -> Column | None:
        """The column from which a field is written."""


class Certainty(Protocol):
    """Whether rows read back equal; the other parts report what they write."""

    def struct(self, node: nodes.Struct, scope: Scope) -> None:
        """Add the checks of a struct, after its instructions."""

    def looks(self, tree: Tree, scope: Scope) -> None:
        """Note a choice by an expression, before its cases."""

    def counted(self, count: Tree, column: Column, scope: Scope) -> None:
        """Note a value with a computed size, or a list with a computed length, before it is written."""

    def last(self, scope: Scope) -> None:
        """Note a value that extends to the end of its region, after it was written."""

    def region(self, item: Item) -> AbstractContextManager[None]:
        """Note a field with a computed size while it is written."""

    def summed(self, placed: Placed) -> None:
        """Note a checksum after it was written."""

    def unique(self, name: str, element: Node, listed: Column) -> None:
        """Add the check that the elements of a list differ in a member."""


class Json(Protocol):
    """JSON values."""

    def struct(self, form: str, items: Sequence[Item], scope: Scope) -> None:
        """Write an object or an array, or the members of an inline struct into the enclosing object."""


class Compiler(Protocol):
    """The compiler, as its parts see it."""

    native: Any
    settings: dict[str, Any]
    passes: AbstractSet[str]
    crcs: list[str]
    assembly: Assembly
    expressions: Expressions
    reader: reading.Compiler
    determined: Determined

    @property
    def names(self) -> Names:
        """The names that expressions see."""

    @property
    def records(self) -> Records:
        """Records and choices among them."""

    @property
    def structs(self) -> Structs:
        """Structs."""

    @property
    def fields(self) -> Fields:
        """Fields."""

    @property
    def encodings(self) -> Mapping[str, Encoding]:
        """The encodings by name."""

    @property
    def binary(self) -> Binary:
        """Binary values."""

    @property
    def protobuf(self) -> Protobuf:
        """Protobuf messages."""

    @property
    def json(self) -> Json:
        """JSON values."""

    @property
    def given(self) -> Given:
        """The values that the format implies."""

    @property
    def sentinels(self) -> Sentinels:
        """Nulls with a value on the wire."""

    @property
    def certainty(self) -> Certainty:
        """Whether rows read back equal."""

    @property
    def big(self) -> bool:
        """Whether integers are big-endian."""

    def compute(self, compiled: Compiled, register: Register) -> None:
        """Put the value of an expression into a register."""

    def during(self, holds: Compiled) -> AbstractContextManager[None]:
        """The code compiled in this context runs only while a condition holds."""

    def unless(self, holds: Compiled, otherwise: Label) -> None:
        """Continue if a condition holds, else jump forward to a label."""

    def fail(self) -> None:
        """Give up the record: construct reports the error, or writes what the engine cannot."""

    def null(self, column: Column, target: Label, written: bytes) -> None:
        """If the column is null, write these bytes and jump to the target."""

    def switch(self, targets: dict[int | None, Label], register: Register) -> None:
        """Jump by the value in a register; give up the record if it has no target."""

    def only(self, column: Column | None, takes: str) -> Column | None:
        """The column for a kind of value; None, and the record is given up, if the value is of another kind."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column."""

    def record(self, node: Node, scope: Scope, column: Column | None, place: Register | None = None) -> None:
        """Write a record with a column of its own."""

    def repeated(self, element: Node, scope: Scope, column: Column, *, write: Any = None) -> tuple[Label, Register]:
        """The body that writes an element, and the register of the element's index."""


class Part:
    """A part of the compiler; it emits to the compiler's assembly."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.assembly = compiler.assembly
        self.expressions = compiler.expressions
