"""What an expression of Kaitai gives, and how it is said in a spec."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wireloom.importing.ksy.definitions import Enum

if TYPE_CHECKING:
    from wireloom.importing.ksy.scopes import Entry, Scope, View


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
    """A number that an enum names. `named` where the field's words may be said; else expressions say the number."""

    enum: Enum
    named: bool


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
class Said:
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
