"""What the parts of the compiler may ask of each other, as protocols.

A part calls others as deep as a layout nests. It sees these protocols and `core.py`, so no two modules import each
other.
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
    """Records and what they are chosen by, as other parts ask for them."""

    def members(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None = None
    ) -> Scope | None:
        """Read a record into the row of `record` that is open."""

    def lent(self, node: Node) -> frozenset[str]:
        """What expressions call the members of a record that melts into the one around."""

    def selected(
        self, tag: Tree, cases: Sequence[nodes.Case], code: str, scope: Scope, read: Callable[[Node], object]
    ) -> None:
        """Choose by an expression."""

    def chosen(self, tag: Tree, cases: Choice[_Way], code: str, scope: Scope, read: Callable[[_Way], object]) -> None:
        """Choose one of several ways by an expression."""

    def word(self, value: Any) -> int:
        """A value that is compared, as the number that the machine has for it."""


class Structs(Protocol):
    """Structs, as other parts ask for them."""

    def struct(self, node: nodes.Struct, scope: Scope, record: Column | None) -> Scope:
        """Read a struct into the row of `record` that is open."""

    def check(self, that: Compiled, code: str) -> None:
        """Refuse what a condition does not hold for."""

    def discarding(self, name: str, scope: Scope, column: Column | None) -> Discard | None:
        """What empties a list of the struct that is read into a column."""

    def kept(self, discard: Discard, element: Scope | None) -> None:
        """Note whether an element that has been read is to be kept."""

    def ended(self, last: Last, element: Scope | None) -> None:
        """Note whether an element that has been read is the last of its list."""


class Sums(Protocol):
    """Sums over lists, as other parts ask for them."""

    def begin(self, name: str, element: Node, scope: Scope) -> Any:
        """Before a list: the registers of the sums over it, at 0."""

    def addend(self, element: Node, totals: Any) -> Register | None:
        """Before an element that is no struct: the register that it goes to."""

    def add(self, totals: Any, addend: Register | None, element: Scope | None) -> None:
        """After an element: what it adds."""

    def emptied(self, name: str, scope: Scope, elements: Register) -> None:
        """After a step that may have emptied a list."""


class Fields(Protocol):
    """Fields, as other parts ask for them."""

    def held(self, node: nodes.Held, scope: Scope, sink: Sink, read: Callable[[Sink], None]) -> None:
        """Read an element, and hold it against what is said of it."""

    def computed(self, compiled: Compiled, sink: Sink, within: tuple[int, int] = UNBOUNDED) -> None:
        """Deliver what an expression gives."""

    def defaulted(self, item: Item, label: Label, *, has_default: bool) -> None:
        """After a field: where it is not there, the program goes on at the label, with what its default means."""

    def field(self, item: Item, version: Version) -> None:
        """Read or compute a field, where it is there."""

    def spelled(self, spelling: nodes.Spelling, code: str, charset: str, register: Register) -> None:
        """Check the text in a register against a length and a pattern."""

    def placed(self, item: Item) -> None:
        """Read a field of binary: at its offset, in its region."""

    def read(self, item: Item) -> None:
        """Read the value and hold it against the field's own constraint."""

    def scalar(self, item: Item, read: Callable[[Sink], None]) -> None:
        """Read a value that is no record and hold it against the field's own constraint."""


class Encoding(Protocol):
    """An encoding: how its structs begin and end, how their fields are found, and how values are read.

    The other parts know no encoding by its name in these; one more is one more class.
    """

    @property
    def stated(self) -> AbstractSet[str]:
        """What a field may state in this encoding alone."""

    def open(self, node: nodes.Struct, arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open the container of a struct; where the lengths of arrays tell the version, its register is filled."""

    def close(self, scope: Scope) -> None:
        """After the last step: nothing is left in the container that no field has looked at."""

    def field(self, item: Item, when: Tree) -> None:
        """Find a field, which is there where its condition holds, and read it."""

    def value(self, node: Node, scope: Scope, sink: Sink) -> None:
        """Read one value that is no record."""


class Arrays(Protocol):
    """Structs of MessagePack as arrays, as other parts ask for them."""

    def open(self, fields: Sequence[nodes.Field], arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open an array, whose length may tell the version."""

    def element(self, item: Item, when: Tree) -> None:
        """Read the next element."""

    def close(self, scope: Scope) -> None:
        """After the last step: there is no element that no field has read."""


class Json(Protocol):
    """JSON, as other parts ask for it."""

    def inline(
        self, node: Node, scope: Scope, record: Column | None, into: Scope | None, place: Register | None
    ) -> Scope | None:
        """Read a record from the members of the object around it."""

    def tagged(self, node: nodes.Tagged, scope: Scope, read: Callable[[Node], object]) -> None:
        """Read the object at hand by the case that a member of it tells."""
