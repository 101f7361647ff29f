"""The expressions of the spec language, as values.

An expression is a small, total computation over fields that come earlier in the record, over parameters, and over a
few facts of the position (`here`, `size`, `index`). Every name is resolved by the author's half (`resolve`) before an
emitter sees the tree, so an emitter never has to ask what a name means. Nothing here can loop, fail or allocate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Union, assert_never


class Kind(Enum):
    """The type of an expression's value."""

    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    BYTES = "bytes"
    LIST = "list"
    RECORD = "record"
    RANGE = "range"
    NULL = "null"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: an integer, a boolean, a text or null; bytes only where the language itself puts them."""

    value: int | bool | str | bytes | None
    notation: str = field(default="", compare=False)  # how the spec writes an integer

    def __eq__(self, other: object) -> bool:
        """True is another constant than 1."""
        return isinstance(other, Literal) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the author wrote it, possibly dotted; only between parsing and resolving."""

    parts: tuple[str, ...]
    column: int = 0


@dataclass(frozen=True, slots=True)
class FieldRef:
    """The value of a field: `up` enclosing structs outward, then the field, then members of it."""

    up: int
    name: str
    members: tuple[str, ...] = ()
    kind: Kind = Kind.ANY


@dataclass(frozen=True, slots=True)
class MarkRef:
    """The offset of a mark of this struct, in bytes from the struct's start."""

    name: str


@dataclass(frozen=True, slots=True)
class ParameterRef:
    """The value of a parameter of the format, or a member of it (`start`, `end` of a range)."""

    name: str
    members: tuple[str, ...] = ()
    kind: Kind = Kind.ANY
    nullable: bool = False  # whether null is its default


@dataclass(frozen=True, slots=True)
class Position:
    """A fact of the position.

    `here` (bytes from the struct's start), `size` (bytes of the struct's region), `index` (place in the enclosing
    list).
    """

    fact: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x` or `not x`."""

    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic (`+ - * & | ^ << >>`), comparison (`== != < <= > >=`) or logic (`and`, `or`.

    The right side only where needed).
    """

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Membership:
    """`x in [1, 2, 3]`: equal to one of the literals."""

    operand: "Expression"
    options: tuple[int | bool | str | bytes | None, ...]
    notation: str = field(default="", compare=False)  # how the spec writes integers


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `expr.functions.FUNCTIONS` applied to arguments."""

    function: str
    arguments: tuple["Expression", ...]


Expression = Union[
    Literal, Name, FieldRef, MarkRef, ParameterRef, Position, Unary, Binary, Membership, Conditional, Call
]


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an expression is made of."""
    match expression:
        case Literal() | Name() | FieldRef() | MarkRef() | ParameterRef() | Position():
            return ()
        case Unary(_, operand) | Membership(operand, _):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Conditional(condition, then, otherwise):
            return (condition, then, otherwise)
        case Call(_, arguments):
            return arguments
        case _:
            assert_never(expression)


def leaves(expression: Expression) -> Iterator[Expression]:
    """What a choice may give: its sides, those of choices in them likewise; else the expression itself."""
    if isinstance(expression, Conditional):
        yield from leaves(expression.then)
        yield from leaves(expression.otherwise)
    else:
        yield expression


def constants(expression: Expression) -> tuple[int | bool | str | bytes | None, ...] | None:
    """All that an expression can give, where that is a choice of constants."""
    found = [each.value for each in leaves(expression) if isinstance(each, Literal)]
    return tuple(found) if len(found) == len([*leaves(expression)]) else None


def integer_of(expression: Expression | None) -> int | None:
    """The integer that an expression states, with its sign; None where it is no such constant."""
    match expression:
        case Literal(int(value)):
            return value
        case Unary("-", Literal(int(value))):
            return -value
        case _:
            return None


def fields_in(expression: Expression) -> Iterator[FieldRef]:
    """The fields that an expression looks at."""
    return (each for each in references(expression) if isinstance(each, FieldRef))


def references(expression: Expression) -> Iterator[Expression]:
    """The names, marks, parameters and positions that an expression looks at."""
    inner = parts(expression)
    if not inner:
        yield expression
    for part in inner:
        yield from references(part)
