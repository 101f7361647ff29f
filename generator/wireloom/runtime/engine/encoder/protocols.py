"""What the parts of the compiler may ask of each other, as protocols.

A part calls others as deep as a layout nests. It sees the protocols only, so no two modules import each other.
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
    """The names that expressions see, as other parts ask for them."""

    def load(self, steps: Sequence[nodes.Step], scope: Scope) -> None:
        """Give each name of the struct a register with its value."""

    def load_record(self, scope: Scope) -> None:
        """Give each member of a record, whatever struct it is of, a register with its value."""

    def members(self, steps: Sequence[nodes.Step]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The fields of a struct by the names that readers know, and the bits among them, with what is said of them."""

    def fields(self, steps: Sequence[nodes.Step]) -> Iterator[Known]:
        """The fields of a struct, those of structs that melt into it in place of these, and the bits among them."""

    def value(self, column: Column | None, *, textual: bool) -> Register:
        """A register with the value of a column; a text is the number that the format has for it."""

    def bits(self, column: Column | None) -> Register:
        """A register with the 64 bits of the float that a column has."""


class Records(Protocol):
    """Records and what they are chosen by, as other parts ask for them."""

    def members(self, node: Node, scope: Scope, record: Column | None, place: Register | None) -> None:
        """Write a record whose members are those of the row of `record` that is in force."""

    def structs(self, node: Node) -> Iterator[nodes.Struct]:
        """A struct, or those that a choice has."""

    def outermost(self, scope: Scope) -> bool:
        """Whether a struct is the whole record, and readers come to it before they try any other alternative."""

    def word(self, value: Any) -> int:
        """A value that is chosen by, as a number."""


class Structs(Protocol):
    """Structs, as other parts ask for them."""

    def struct(self, node: nodes.Struct, parent: Scope, record: Column | None, place: Register | None) -> None:
        """Write a struct from the row of `record` that is in force."""

    def marked(self, scope: Scope) -> Register:
        """A register with the place that has been reached, counted from the struct's start."""

    def from_here(self, tree: Tree, scope: Scope, mark: str = ...) -> Tree:
        """An expression that looks at a mark for how far the struct has come, which is set at this place."""


class Fields(Protocol):
    """Fields, as other parts ask for them."""

    def field(self, item: Item) -> list[Placed]:
        """Write a field; where its value follows from places, hold room for it."""

    def settle(self, placed: Sequence[Placed], scope: Scope) -> None:
        """Derived values first, in their order; then the checksums, each after those that it covers."""

    def derived(self, tree: Tree, scope: Scope) -> Register:
        """A register with the value of a derived field, where it is written."""

    def stated(self, item: Item, write: Callable[[Any], None]) -> None:
        """Write the first value on the wire that means what the column says, where no register has such values."""

    def mapped(self, item: Item) -> Register:
        """A register with the first integer on the wire that means what the column says."""

    def meanings(self, values: Sequence[nodes.Meaning], kind: str) -> list[tuple[Any, Any]]:
        """Wire values and what they mean; meanings are of the kind of the column's value, or null."""


class Encoding(Protocol):
    """An encoding: how its values are written. One more is one more class."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value of a column that is no record."""

    def constant(self, const: Any, node: Node) -> None:
        """Write a constant."""

    def number(self, register: Register, node: nodes.Int) -> None:
        """Write the integer in a register."""


class Binary(Protocol):
    """Binary values, as other parts ask for them."""

    def region(self, size: nodes.Prefix, write: Callable[[], None]) -> None:
        """Write a region behind its size."""


class Protobuf(Protocol):
    """protobuf messages, as other parts ask for them."""

    def message(self, items: Sequence[Item]) -> None:
        """Write the fields of a message; tables last, since others fill them."""


class Given(Protocol):
    """Names whose values do not stand in their columns alone, as other parts ask for them."""

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Give the names of a struct the values that builders see, each after those that it follows from."""

    def asked(self) -> frozenset[str]:
        """The names in any expression of the format."""


class Sentinels(Protocol):
    """Nulls that have a value on the wire, as other parts ask for them."""

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Give the names of a struct what is on the wire for null, where they are certain to be there."""

    def see(self, column: Column, known: Known) -> None:
        """An expression looks at a member of a record within."""

    def is_refused(self, column: Column | None) -> bool:
        """Whether expressions look at a column and do not know what is written for its nulls."""

    def written(self, name: str, column: Column | None, scope: Scope) -> Column | None:
        """The column that a field is written from."""


class Certainty(Protocol):
    """Whether what is written reads back equal, as other parts tell it what they write."""

    def struct(self, node: nodes.Struct, scope: Scope) -> None:
        """A struct, once it is written."""

    def looks(self, tree: Tree, scope: Scope) -> None:
        """A choice by an expression."""

    def counted(self, count: Tree, column: Column, scope: Scope) -> None:
        """A value of a computed size, or a list of a computed length, at this place."""

    def last(self, scope: Scope) -> None:
        """A value that reaches to the end of its region, and was just written."""

    def region(self, item: Item) -> AbstractContextManager[None]:
        """A field of a computed size is written."""

    def summed(self, placed: Placed) -> None:
        """A checksum was written."""

    def unique(self, name: str, element: Node, listed: Column) -> None:
        """A list in which a member is unlike in each element."""


class Json(Protocol):
    """JSON values, as other parts ask for them."""

    def struct(self, form: str, items: Sequence[Item], scope: Scope) -> None:
        """Write an object or an array, or the members that an inline struct has of the object around it."""


class Compiler(Protocol):
    """The compiler as its parts see it."""

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
        """Records and what they are chosen by."""

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
        """What expressions see of a struct."""

    @property
    def sentinels(self) -> Sentinels:
        """Nulls that have a value on the wire."""

    @property
    def certainty(self) -> Certainty:
        """Whether what is written reads back equal."""

    @property
    def big(self) -> bool:
        """Whether integers are big-endian."""

    def compute(self, compiled: Compiled, register: Register) -> None:
        """Put the value of an expression into a register."""

    def during(self, holds: Compiled) -> AbstractContextManager[None]:
        """What is compiled within is executed while a condition holds."""

    def unless(self, holds: Compiled, otherwise: Label) -> None:
        """Go on where a condition holds, else to a label further on."""

    def fail(self) -> None:
        """Give the record up: the construct path says what is wrong, or does what the engine does not."""

    def null(self, column: Column, target: Label, written: bytes) -> None:
        """Where the column has no value, write this and go on at the target."""

    def switch(self, targets: dict[int | None, Label], register: Register) -> None:
        """Go where the value in the register leads; the record is given up where it leads nowhere."""

    def only(self, column: Column | None, takes: str) -> Column | None:
        """The column of a value of a kind; None, and the record is given up, where the value is of another kind."""

    def value(self, node: Node, scope: Scope, column: Column | None) -> None:
        """Write the value that a column has."""

    def record(self, node: Node, scope: Scope, column: Column | None, place: Register | None = None) -> None:
        """Write a record that has a column of its own."""

    def repeated(self, element: Node, scope: Scope, column: Column, *, write: Any = None) -> tuple[Label, Register]:
        """The body that writes an element, and the register of the element's place."""


class Part:
    """A part of the compiler: what it emits goes to the compiler's assembly."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.assembly = compiler.assembly
        self.expressions = compiler.expressions
