"""What the parts of the compiler pass to each other: scopes, items, and fields that are filled in later.

A `Scope` has the names of one struct that is written, an `Item` is a field, `Placed` a field whose value depends on
positions. Names denote members of the value, loaded at the start of the struct. A name without a value yet is
`pending`: using it raises `Uncovered`, or `UnsettledError` if writing the struct in passes would give it a value.
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
    """A value that depends on positions is used before they are known; writing the struct in passes helps."""

    def __init__(self, struct: str) -> None:
        super().__init__(f"{struct}, which is written in passes")
        self.struct = struct


@dataclass(eq=False)
class Lead:
    """The bytes before each member of a JSON object, or each element of an array."""

    named: bool
    opening: bytes  # before the first
    begun: bool = False

    def before(self, name: str) -> bytes:
        """The bytes before the next member or element."""
        lead = b"," if self.begun else self.opening
        self.begun = True
        return lead + json.dumps(name, ensure_ascii=False).encode() + b":" if self.named else lead


@dataclass(eq=False)
class Scope:
    """One struct being built: its record, and the names that its expressions see.

    Unlike in reading, names denote members of the value. A flattened struct has its parent's record, but its own names.
    """

    encoding: str
    record: Column | None
    parent: "Scope | None" = None
    place: Register | None = None  # its index, if it is an element of a list
    names: dict[str, Register] = field(default_factory=dict)
    marks: dict[str, Register] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)  # names whose values are not known yet
    unfilled: set[str] = field(default_factory=set)  # fields that are written from their own columns, including nulls
    unsaid: set[str] = field(default_factory=set)  # names whose columns do not tell whether they are present
    following: set[str] = field(default_factory=set)  # names that depend on positions
    struct: str = ""
    fields: tuple[nodes.Field, ...] = ()
    in_passes: bool = False  # written in passes until the assumed positions are right: size and marks are assumed
    reached: dict[str, Register] = field(default_factory=dict)  # in passes: the marks of the current pass
    holds: list[Tree] = field(default_factory=list)  # conditions for a row to read back equal
    in_region: bool = False  # a field of a computed size is being written
    is_closed: bool = False  # the struct is written; code compiled now runs inside of others
    start_register: Register | None = None
    size_register: Register | None = None  # once the struct is written
    lead: Lead | None = None  # JSON: the bytes before the next member
    lent: Lead | None = None  # JSON: for a struct that writes its members into this one's object

    @property
    def melts(self) -> bool:
        """Whether the struct is flattened: its record is its parent's."""
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
        """This scope and the enclosing ones, from the inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def is_assumed(self, tree: Any) -> bool:
        """Whether an expression uses a position that passes assume, in this struct or an enclosing one."""
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
        """Whether a value depends on positions: the size, a mark not set yet, or a value that depends on these."""
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
        """Whether a value is known only after the struct is written; passes assume it instead."""
        return not self.in_passes and self.follows_places(tree)

    def start(self) -> Register:
        """Raise Uncovered: builders know no offset from the start."""
        raise Uncovered("an offset, when writing")

    def size(self) -> Register:
        """The register of the struct's size."""
        if self.size_register is None:
            raise Uncovered("the size of a struct that is not written yet")
        return self.size_register.read()

    def index(self) -> Register:
        """The register of the index in the innermost list."""
        scope: Scope | None = self
        while scope is not None:
            if scope.place is not None:
                return scope.place.read()
            scope = scope.parent
        raise Uncovered("`index` outside of a list")


def is_never(present: Compiled) -> bool:
    """Whether a condition is known to be false."""
    return isinstance(present, Constant) and not present.value


class Known(NamedTuple):
    """A member: its names in expressions and for readers, its keys in the spec, and its type or bits."""

    name: str
    title: str
    attributes: Mapping[str, Any]
    type: Node | None = None
    bit: nodes.Bits | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A field being written: its layout node, its scope, the column of its value (if any), and its condition.

    Several fields of a struct may have the same name, if they are in different versions.
    """

    field: nodes.Field
    scope: Scope
    column: Column | None
    present: Compiled = ALWAYS

    @property
    def name(self) -> str:
        """The name in expressions."""
        return self.field.name

    @property
    def type(self) -> nodes.Type:
        """Its type."""
        return self.field.type

    @property
    def is_never_there(self) -> bool:
        """Whether the field is never written."""
        return is_never(self.present)

    @property
    def member(self) -> str:
        """The name of the member in an object."""
        return self.field.wire_member


@dataclass(frozen=True, slots=True)
class Placed:
    """A field whose value depends on positions, and the register with its reserved position."""

    item: Item
    register: Register
