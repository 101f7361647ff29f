"""What an expression of Kaitai gives and how a spec says it; structs while they are made, which it may be one of."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from wireloom.importing.ksy.definitions import Definition, Enum
from wireloom.importing.naming import field_name
from wireloom.problems import Location

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer; `wide` where it may be beyond 63 bits."""

    wide: bool = False


@dataclass(frozen=True, slots=True)
class Float:
    """A number with a fraction."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A truth value."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text; `octets` where each of its characters is one byte. Of one in a `charset` expressions know the bytes."""

    octets: bool = False
    charset: str | None = None


@dataclass(frozen=True, slots=True)
class Octets:
    """Bytes."""


@dataclass(frozen=True, slots=True)
class Word:
    """A number that an enum names. `named` where the field's words may be said; else expressions say the number.

    A field that takes no other number, `is_closed`, is known by its words alone.
    """

    enum: Enum
    named: bool
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A list; of numbers of one size, how to find one in the list's bytes."""

    element: "Kind"
    numbers: "Numbers | None" = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """The field of a list of integers: in which struct, and how each stands there."""

    home: "Scope"
    field: str
    size: int
    is_signed: bool
    order: str


@dataclass(frozen=True, slots=True)
class Record:
    """A struct, and how its members are reached."""

    view: "View"


@dataclass(frozen=True, slots=True)
class Union:
    """What several cases may be."""

    cases: tuple["Kind", ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """`_io` of a struct; `entry` is the field whose region it is, where a path leads to it."""

    view: "View"
    entry: "Entry | None" = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that expressions of specs cannot hold."""

    what: str


Kind = Integer | Float | Truth | Text | Octets | Word | Listed | Record | Union | Stream | Unknown

UNARY, ATOM = 12, 13


@dataclass(frozen=True, slots=True)
class Translation:
    """An expression in the spec's words: its text, how tight it binds, and what it gives.

    `literal` is its value where it is one; `number` says the number of a word, where the text says the word.
    """

    text: str
    kind: Kind
    level: int = ATOM
    literal: int | str | bool | None = None

    def within(self, level: int) -> str:
        """The text, in parentheses where what is around binds tighter."""
        return self.text if self.level >= level else f"({self.text})"


@dataclass(slots=True)
class Entry:
    """An item of `fields`, and where it comes from."""

    name: str
    body: object
    origin: Location | None = None


@dataclass(eq=False)
class Scope:
    """A struct: its definition, where it stands, and its entries so far."""

    definition: Definition
    parent: "Scope | None"
    is_stream: bool
    byte_order: str | None
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    views: dict[str, Translation] = field(default_factory=dict)
    """Names of what stands elsewhere: a struct that a parameter or a value instance says."""
    aliases: dict[str, str] = field(default_factory=dict)
    stated_parent: "View | Literal[False] | None" = None
    """What `_parent` is where a `parent` key says it; False where there is none."""
    is_cut: bool = False
    is_greedy: bool = False
    is_recursive: bool = False
    is_done: bool = False
    busy: set[str] = field(default_factory=set)
    make_instance: "Callable[[str], None] | None" = None

    @property
    def chain(self) -> "list[Scope]":
        """This one and those around, from the inside out."""
        return [self, *(self.parent.chain if self.parent else ())]

    @property
    def stream(self) -> "Scope":
        """The struct whose region the bytes are counted in."""
        return next(each for each in self.chain if each.is_stream or each.parent is None)

    @property
    def root(self) -> "Scope":
        """The outermost."""
        return self.chain[-1]

    def defines(self, name: str) -> bool:
        """Whether the name means something of this struct."""
        return name in {field_name(each) for each in self.definition.names} or any(
            each.name == name for each in self.entries
        )

    def free(self, name: str) -> str:
        """A name like this one that nothing has."""
        found, number = name, 2
        while any(scope.defines(found) for scope in self.chain):
            found, number = f"{name}_{number}", number + 1
        return found

    def entry(self, name: str) -> Entry | None:
        """The entry of that name."""
        return next((each for each in self.entries if each.name == name), None)


@dataclass(frozen=True, slots=True)
class View:
    """A struct as an expression sees it: by a path of members from `owner`, or directly."""

    scope: Scope
    owner: Scope
    prefix: str = ""
    up: "View | None" = None

    @property
    def parent(self) -> "View | None":
        """What `_parent` is."""
        if self.scope.stated_parent is not None:
            return self.scope.stated_parent or None
        if self.up is not None:
            return self.up
        if self.scope.parent is None:
            return None
        return View(self.scope.parent, self.scope.parent)


def computed_type(kind: Kind) -> str | None:
    """The type of a `compute` field of this kind; None where there is none."""
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
