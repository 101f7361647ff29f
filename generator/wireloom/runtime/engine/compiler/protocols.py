"""What the parts of the compiler may ask of each other, as protocols.

The parts call each other, nested like the layout. They import only these protocols and `core.py`, so no two modules
import each other.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, TypeVar

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import UNBOUNDED, Discard, Item, Last, Node, Scope, Sink, Version
from wireloom.runtime.engine.compiler.switches import Choice
from wireloom.runtime.engine.programs.assembly import Label, Register
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Compiled, Tree

_Way = TypeVar("_Way")


class Records(Protocol):
    """Records and choices among them."""

    def members(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None = None
    ) -> Scope | None:
        """Read a record into the open row of `record`."""

    def flattened_names(self, node: Node) -> frozenset[str]:
        """The names, in expressions, of the members of a flattened record."""

    def selected(
        self, tag: Tree, cases: Sequence[nodes.Case], code: str, scope: Scope, read: Callable[[Node], object]
    ) -> None:
        """Select a type by an expression."""

    def chosen(self, tag: Tree, cases: Choice[_Way], code: str, scope: Scope, read: Callable[[_Way], object]) -> None:
        """Select one of several cases by an expression."""

    def word(self, value: Any) -> int:
        """The machine's number for a value in a comparison."""


class Structs(Protocol):
    """Structs and their steps."""

    def struct(self, node: nodes.Struct, scope: Scope, record: Column | None) -> Scope:
        """Read a struct into the open row of `record`."""

    def check(self, that: Compiled, code: str) -> None:
        """Emit a check that refuses the record with `code` unless the condition holds."""

    def discarding(self, name: str, scope: Scope, column: Column | None) -> Discard | None:
        """The discard of a list, if any; note that the list is read into `column`."""

    def kept(self, discard: Discard, element: Scope | None) -> None:
        """Note whether the discard's condition holds for the element just read."""

    def ended(self, last: Last, element: Scope | None) -> None:
        """Note whether the element just read is the last of its list."""


class Sums(Protocol):
    """Sums over lists."""

    def begin(self, name: str, element: Node, scope: Scope) -> Any:
        """Before a list: set the registers of its sums to 0."""

    def addend(self, element: Node, totals: Any) -> Register | None:
        """Before an element that is not a struct: the register for its value."""

    def add(self, totals: Any, addend: Register | None, element: Scope | None) -> None:
        """Add an element to the sums, after it is read."""

    def emptied(self, name: str, scope: Scope, elements: Register) -> None:
        """Set the sums to 0 if a step has emptied the list."""


class Fields(Protocol):
    """Fields and their constraints."""

    def held(self, node: nodes.Held, scope: Scope, sink: Sink, read: Callable[[Sink], None]) -> None:
        """Read an element and check it against its constraints."""

    def computed(self, compiled: Compiled, sink: Sink, within: tuple[int, int] = UNBOUNDED) -> None:
        """Deliver the value of an expression."""

    def defaulted(self, item: Item, label: Label, *, has_default: bool) -> None:
        """After a field: if the field is missing, the program continues at `label`, which delivers the default."""

    def field(self, item: Item, version: Version) -> None:
        """Read or compute a field, if it is present."""

    def spelled(self, spelling: nodes.Spelling, code: str, charset: str, register: Register) -> None:
        """Check the text in a register against a length and a pattern."""

    def placed(self, item: Item) -> None:
        """Read a binary field at its offset and in its region."""

    def read(self, item: Item) -> None:
        """Read the value and check it against the field's own constraints."""

    def scalar(self, item: Item, read: Callable[[Sink], None]) -> None:
        """Read a value that is not a record, and check it against the field's own constraints."""


class Encoding(Protocol):
    """An encoding: how its structs begin and end, and how it finds fields and reads values.

    The other parts use only this protocol; a new encoding is a new class.
    """

    @property
    def stated(self) -> AbstractSet[str]:
        """The keys that a field may have in this encoding, besides those of all encodings."""

    def open(self, node: nodes.Struct, arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open the container of a struct; fill `version` if the lengths of arrays determine it."""

    def close(self, scope: Scope) -> None:
        """After the last step: check that no part of the container is unread."""

    def field(self, item: Item, when: Tree) -> None:
        """Find a field, which is present if `when` holds, and read it."""

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value that is not a record."""


class Arrays(Protocol):
    """MessagePack structs that are arrays."""

    def open(self, fields: Sequence[nodes.Field], arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open an array, whose length may determine the version."""

    def element(self, item: Item, when: Tree) -> None:
        """Read the next element."""

    def close(self, scope: Scope) -> None:
        """After the last step: check that no element is left."""


class Json(Protocol):
    """JSON objects that share members with others."""

    def inline(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None
    ) -> Scope | None:
        """Read a record from the members of the enclosing object."""

    def tagged(self, node: nodes.Tagged, scope: Scope, read: Callable[[Node], object]) -> None:
        """Read the current object by the case that one of its members selects."""
