"""Linear sums: a number plus multiples of expressions. The difference of two such sums can be a known number."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wireloom.expr.ast import Binary, Expression, FieldRef, Literal, ParameterRef, Position, Unary


@dataclass(frozen=True, slots=True)
class Sum:
    """`number` plus each of `terms` times its factor; no factor is 0."""

    number: int = 0
    terms: Mapping[Expression, int] = field(default_factory=dict)

    def plus(self, other: "Sum") -> "Sum":
        """Add two sums."""
        terms = {term: self.terms.get(term, 0) + other.terms.get(term, 0) for term in (*self.terms, *other.terms)}
        return Sum(self.number + other.number, {term: times for term, times in terms.items() if times})

    def times(self, factor: int) -> "Sum":
        """Multiply the sum by a number."""
        return Sum(self.number * factor, {term: times * factor for term, times in self.terms.items() if factor})


def sum_of(expression: Expression, here: Sum | None) -> Sum | None:
    """The sum that equals an expression, or None if it is not linear; `here` is the sum at the current position."""
    match expression:
        case Literal(int(number)) if not isinstance(number, bool):
            return Sum(number)
        case FieldRef(0, _, ()) | ParameterRef(_, ()) | Position("size"):
            return Sum(0, {expression: 1})
        case Position("here"):
            return here
        case Binary("+" | "-" as operator, left, right):
            first, second = sum_of(left, here), sum_of(right, here)
            if first is None or second is None:
                return None
            return first.plus(second.times(1 if operator == "+" else -1))
        case Binary("*", left, right):
            first, second = sum_of(left, here), sum_of(right, here)
            if first is None or second is None:
                return None
            if not first.terms:
                return second.times(first.number)
            return None if second.terms else first.times(second.number)
        case Unary("-", operand):
            found = sum_of(operand, here)
            return None if found is None else found.times(-1)
        case _:
            return None


def in_order(first: Sum | None, second: Sum | None) -> bool:
    """Whether the first offset is provably less than or equal to the second."""
    if first is None or second is None:
        return False
    gap = second.plus(first.times(-1))
    return not gap.terms and gap.number >= 0
