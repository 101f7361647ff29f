"""The kinds of values that Kaitai's expressions give, and structs under construction."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from wireloom.importing.ksy.definitions import Definition, Enum
from wireloom.importing.naming import field_name
from wireloom.problems import Location

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer; `wide` if it may exceed 63 bits."""

    wide: bool = False


@dataclass(frozen=True, slots=True)
class Float:
    """A number with a fraction."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A boolean."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text. With `octets`, each character is one byte. With `charset`, expressions of specs see its bytes."""

    octets: bool = False
    charset: str | None = None


@dataclass(frozen=True, slots=True)
class Octets:
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Word:
    """A number of an enum. If `named`, expressions may compare with the field's words; otherwise with the number.

    If `is_closed`, the field accepts no other number, so its words alone identify it.
    """

    enum: Enum
    named: bool
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A list; for numbers of one size, `numbers` tells how to find one in the list's bytes."""

    element: "Kind"
    numbers: "Numbers | None" = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """The field of a list of integers: its struct, and the format of each integer."""

    home: "Scope"
    field: str
    size: int
    is_signed: bool
    order: str


@dataclass(frozen=True, slots=True)
class Record:
    """A struct, and how to reach its members."""

    view: "View"


@dataclass(frozen=True, slots=True)
class Union:
    """A value of one of several kinds."""

    cases: tuple["Kind", ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """The `_io` of a struct. `entry` is the field whose region it is, if a path leads to that."""

    view: "View"
    entry: "Entry | None" = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that expressions of specs cannot hold."""

    what: str


Kind = Integer | Float | Truth | Text | Octets | Word | Listed | Record | Union | Stream | Unknown

UNARY, ATOM = 12, 13


@dataclass(frozen=True, slots=True)
class Translation:
    """An expression in the spec's language: its text, its precedence (`level`), and the kind of its value.

    `literal` is the value of a constant.
    """

    text: str
    kind: Kind
    level: int = ATOM
    literal: int | str | bool | None = None

    def within(self, level: int) -> str:
        """The text, in parentheses if the surrounding operator binds tighter."""
        return self.text if self.level >= level else f"({self.text})"


@dataclass(slots=True)
class Entry:
    """An item of `fields`, with the location that it was made from."""

    name: str
    body: object
    origin: Location | None = None


@dataclass(eq=False)
class Scope:
    """A struct under construction: its definition, its parent, and its entries so far."""

    definition: Definition
    parent: "Scope | None"
    is_stream: bool
    byte_order: str | None
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    views: dict[str, Translation] = field(default_factory=dict)
    """Members that stand for a struct elsewhere: parameters and value instances."""
    aliases: dict[str, str] = field(default_factory=dict)
    stated_parent: "View | Literal[False] | None" = None
    """The `_parent` given by a `parent` key; False if that says there is none."""
    is_cut: bool = False
    is_greedy: bool = False
    is_recursive: bool = False
    is_done: bool = False
    busy: set[str] = field(default_factory=set)
    make_instance: "Callable[[str], None] | None" = None

    @property
    def chain(self) -> "list[Scope]":
        """This struct and all outer ones, innermost first."""
        return [self, *(self.parent.chain if self.parent else ())]

    @property
    def stream(self) -> "Scope":
        """The struct whose region offsets count in."""
        return next(each for each in self.chain if each.is_stream or each.parent is None)

    @property
    def root(self) -> "Scope":
        """The outermost struct."""
        return self.chain[-1]

    def defines(self, name: str) -> bool:
        """Whether the struct has a member of that name."""
        return name in {field_name(each) for each in self.definition.names} or any(
            each.name == name for each in self.entries
        )

    def free(self, name: str) -> str:
        """The name, or one with a number, that no struct of the chain uses."""
        found, number = name, 2
        while any(scope.defines(found) for scope in self.chain):
            found, number = f"{name}_{number}", number + 1
        return found

    def entry(self, name: str) -> Entry | None:
        """The entry of that name; None if there is none."""
        return next((each for each in self.entries if each.name == name), None)


@dataclass(frozen=True, slots=True)
class View:
    """A struct as an expression sees it: through a path of members from `owner`, or directly."""

    scope: Scope
    owner: Scope
    prefix: str = ""
    up: "View | None" = None

    @property
    def parent(self) -> "View | None":
        """The struct that `_parent` refers to."""
        if self.scope.stated_parent is not None:
            return self.scope.stated_parent or None
        if self.up is not None:
            return self.up
        if self.scope.parent is None:
            return None
        return View(self.scope.parent, self.scope.parent)


def computed_type(kind: Kind) -> str | None:
    """The type of a `compute` field for this kind; None if there is none."""
    match kind:
        case Integer(wide=wide):
            return "uint64" if wide else "int64"
        case Word():
            return "int64"
        case Float():
            return "float64"
        case Truth():
            return "bool"
        case Text(charset=charset):
            return "str" if charset is None else None
        case Octets():
            return "bytes"
        case _:
            return None
