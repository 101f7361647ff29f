"""What the parts of the compiler pass to each other: scopes, items, and fields that are placed.

A `Scope` has the names of one struct that is written, an `Item` is a field, `Placed` a field whose value follows from
positions. Names mean members of the value, loaded where the struct begins. A name that is not known yet is `pending`:
asking for it raises `Uncovered`, or `UnsettledError` if writing the struct in passes would make it known.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import ALWAYS
from wireloom.runtime.engine.programs.assembly import Register, Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Compiled, Constant, Tree

Node = nodes.Type


class UnsettledError(Uncovered):
    """Something is asked for before it is settled, which follows from where a struct's fields stand: passes tell."""

    def __init__(self, struct: str) -> None:
        super().__init__(f"{struct}, which is written in passes")
        self.struct = struct


@dataclass(eq=False)
class Lead:
    """What stands before each member of a JSON object, or each element of an array."""

    named: bool
    opening: bytes  # before the first
    begun: bool = False

    def before(self, name: str) -> bytes:
        """What stands before the next one."""
        lead = b"," if self.begun else self.opening
        self.begun = True
        return lead + json.dumps(name, ensure_ascii=False).encode() + b":" if self.named else lead


@dataclass(eq=False)
class Scope:
    """One struct being built: the record that it shows, and the names that its expressions see.

    Unlike in reading, names mean members of the value: a struct that melts into its parent has the parent's record, and
    names of its own for it.
    """

    encoding: str
    record: Column | None
    parent: "Scope | None" = None
    place: Register | None = None  # its place in the list that it is an element of
    names: dict[str, Register] = field(default_factory=dict)
    marks: dict[str, Register] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)  # made of other members or of places, until they are settled
    unfilled: set[str] = field(default_factory=set)  # fields that are written from their own columns, nulls and all
    unsaid: set[str] = field(default_factory=set)  # of which a column does not say whether they are there
    following: set[str] = field(default_factory=set)  # made of places
    struct: str = ""
    fields: tuple[nodes.Field, ...] = ()
    in_passes: bool = False  # written until places are what was assumed: sizes and marks are known beforehand
    reached: dict[str, Register] = field(default_factory=dict)  # in passes: marks, as they come to stand
    holds: list[Tree] = field(default_factory=list)  # what must hold of a row for it to read back equal
    in_region: bool = False  # a field of a computed size is written
    is_closed: bool = False  # what is compiled now is executed while the struct is written
    start_register: Register | None = None
    size_register: Register | None = None  # once the struct is laid out
    lead: Lead | None = None  # JSON: before what is written next
    lent: Lead | None = None  # JSON: for a struct whose members stand in the object of this one

    @property
    def melts(self) -> bool:
        """Whether the record is that of the struct around it."""
        return self.record is not None and self.parent is not None and self.parent.record is self.record

    def field(self, up: int, name: str, members: Sequence[str] = ()) -> Register:
        """The register of a member."""
        name = ".".join((name, *members))
        scope: Scope | None = self
        for _ in range(up):
            scope = scope.parent if scope is not None else None
        if scope is None or name not in scope.names:
            raise Uncovered(f"the field {name!r}, whose value the engine does not keep, in an expression")
        if name in scope.unsaid:
            raise Uncovered(f"the field {name!r}, since its column does not say whether it is present")
        if name in scope.pending or (scope.is_closed and name in scope.following and not scope.in_passes):
            if scope.following and not scope.in_passes:
                raise UnsettledError(scope.struct)
            raise Uncovered(f"{name!r}, before the members that it is computed from have values")
        return scope.names[name]

    def mark(self, name: str) -> Register:
        """The register of a mark."""
        if name not in self.marks:
            raise Uncovered(f"the mark {name!r} before it is set")
        return self.marks[name].read()

    def outward(self) -> Iterator["Scope"]:
        """This scope and those around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def is_assumed(self, tree: Any) -> bool:
        """Whether an expression looks at what passes assume, of this struct or one around it."""
        return any(map(self._is_assumed, nodes.within(tree)))

    def _is_assumed(self, node: nodes.Node) -> bool:
        match node:
            case nodes.Position("size") | nodes.MarkRef():
                return self.in_passes
            case nodes.FieldRef(up, name, _):
                scope: Scope | None = self
                for _ in range(up):
                    scope = scope.parent if scope is not None else None
                return scope is not None and scope.in_passes and name in scope.following
            case _:
                return False

    def follows_places(self, tree: Any) -> bool:
        """Whether a value follows from places: the size, a mark that is not set yet, or what follows from these."""
        return any(map(self._follows_places, nodes.within(tree)))

    def _follows_places(self, node: nodes.Node) -> bool:
        match node:
            case nodes.Position("size"):
                return self.in_passes or self.size_register is None
            case nodes.MarkRef(name):
                return self.in_passes or name not in self.marks
            case nodes.FieldRef(0, name, _):
                return name in self.following
            case _:
                return False

    def waits(self, tree: Any) -> bool:
        """Whether a value is only known once the struct is laid out; passes assume how it will be."""
        return not self.in_passes and self.follows_places(tree)

    def start(self) -> Register:
        """No expression of building counts from where it stands."""
        raise Uncovered("an offset, when writing")

    def size(self) -> Register:
        """The register of the struct's size."""
        if self.size_register is None:
            raise Uncovered("the size of a struct that is not written yet")
        return self.size_register.read()

    def index(self) -> Register:
        """The register of the place in the innermost list."""
        scope: Scope | None = self
        while scope is not None:
            if scope.place is not None:
                return scope.place.read()
            scope = scope.parent
        raise Uncovered("`index` outside of a list")


def is_never(present: Compiled) -> bool:
    """Whether a condition is known not to hold."""
    return isinstance(present, Constant) and not present.value


class Known(NamedTuple):
    """A member: what expressions call it, what readers do, what is said of it, and its type; of bits, the bits."""

    name: str
    title: str
    attributes: Mapping[str, Any]
    type: Node | None = None
    bit: nodes.Bits | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A field being written: what the layout says of it, where it stands, and the column of its value (None: none).

    Several of one struct may have one name, of versions that exclude one another.
    """

    field: nodes.Field
    scope: Scope
    column: Column | None
    present: Compiled = ALWAYS

    @property
    def name(self) -> str:
        """What expressions call it."""
        return self.field.name

    @property
    def type(self) -> nodes.Type:
        """Its type."""
        return self.field.type

    @property
    def is_never_there(self) -> bool:
        """Whether nothing is ever written of it."""
        return is_never(self.present)

    @property
    def member(self) -> str:
        """What an object calls it."""
        return self.field.wire_member


@dataclass(frozen=True, slots=True)
class Placed:
    """A field whose value follows from places: where room was held for it."""

    item: Item
    register: Register
