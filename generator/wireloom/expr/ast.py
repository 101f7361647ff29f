"""The syntax tree of the spec language's expressions.

An expression computes a value from earlier fields of the record, parameters, and the position (`here`, `size`,
`index`). `resolve` replaces every name by what it refers to before an emitter sees the tree. Expressions are total:
they cannot loop, fail or allocate.
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
    """A constant: an integer, a boolean, a text or null; bytes occur only in expressions that Wireloom makes itself."""

    value: int | bool | str | bytes | None
    notation: str = field(default="", compare=False)  # the notation of an integer in the spec

    def __eq__(self, other: object) -> bool:
        """Compare the type too: true and 1 are different constants."""
        return isinstance(other, Literal) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the author wrote it, possibly dotted; `resolve` replaces all of them."""

    parts: tuple[str, ...]
    column: int = 0


@dataclass(frozen=True, slots=True)
class FieldRef:
    """The value of a field, or of a member of it; `up` counts the enclosing structs to go outward."""

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
    """A position, in bytes or elements.

    `here` counts bytes from the struct's start, `size` those of its region, `index` the elements of the enclosing list.
    """

    fact: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x` or `not x`."""

    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic (`+ - * & | ^ << >>`), comparison (`== != < <= > >=`) or logic (`and`, `or`).

    The right side of `and` and `or` is evaluated only if needed.
    """

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Membership:
    """`x in [1, 2, 3]`: whether the operand equals one of the literals."""

    operand: "Expression"
    options: tuple[int | bool | str | bytes | None, ...]
    notation: str = field(default="", compare=False)  # the notation of integers in the spec


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? then : otherwise`."""

    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function from `expr.functions.FUNCTIONS`."""

    function: str
    arguments: tuple["Expression", ...]


Expression = Union[
    Literal, Name, FieldRef, MarkRef, ParameterRef, Position, Unary, Binary, Membership, Conditional, Call
]


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The direct subexpressions of an expression."""
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
    """The possible results of nested conditionals; any other expression itself."""
    if isinstance(expression, Conditional):
        yield from leaves(expression.then)
        yield from leaves(expression.otherwise)
    else:
        yield expression


def constants(expression: Expression) -> tuple[int | bool | str | bytes | None, ...] | None:
    """All possible values of an expression, if it chooses among constants; else None."""
    found = [each.value for each in leaves(expression) if isinstance(each, Literal)]
    return tuple(found) if len(found) == len([*leaves(expression)]) else None


def integer_of(expression: Expression | None) -> int | None:
    """The value of an integer literal, with its sign; None for any other expression."""
    match expression:
        case Literal(int(value)):
            return value
        case Unary("-", Literal(int(value))):
            return -value
        case _:
            return None


def fields_in(expression: Expression) -> Iterator[FieldRef]:
    """The fields that an expression refers to."""
    return (each for each in references(expression) if isinstance(each, FieldRef))


def references(expression: Expression) -> Iterator[Expression]:
    """The leaves of an expression: literals, names, fields, marks, parameters and positions."""
    inner = parts(expression)
    if not inner:
        yield expression
    for part in inner:
        yield from references(part)
