"""Value tables: the integers that their meanings can be, and the type that holds them."""

from collections.abc import Iterator

from wireloom.expr.ast import Expression, Kind, Literal, constants, leaves
from wireloom.expr.types import kind, makes_text
from wireloom.model.types import Mapping, Scalar
from wireloom.runtime.columns.logical import Integer

_BEYOND = 1 << 63


def integer_type(mappings: tuple[Mapping, ...]) -> Integer:
    """The type of a table's integers: int64 if it holds all constants of the table."""
    numbers = [value for each in mappings for value in stated(each.value)]
    if max(numbers, default=0) < _BEYOND:
        return Integer(64, signed=True)
    return Integer(65, signed=True) if calculates(mappings) or min(numbers) < 0 else Integer(64, signed=False)


def calculates(mappings: tuple[Mapping, ...]) -> bool:
    """Whether some integer of the table is computed, so that its range must be checked when decoding."""
    return any(kind(each.value) is Kind.INTEGER and constants(each.value) is None for each in mappings)


def repeating(mappings: tuple[Mapping, ...]) -> tuple[Scalar, ...]:
    """The wire values whose meaning may be a text of the record, which then appears twice in the output."""
    return tuple(each.wire for each in mappings if makes_text(each.value))


def stated(expression: Expression) -> Iterator[int]:
    """The integer constants that a meaning can be."""
    return (each.value for each in leaves(expression) if isinstance(each, Literal) and isinstance(each.value, int))
