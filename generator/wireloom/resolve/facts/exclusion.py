"""Whether at most one of two fields is present: no version has both, or their conditions exclude each other.

Conditions are compared as they are written: one is the negation of the other, or both compare the same operand with
constants that have nothing in common. If neither is provable, both may hold.
"""

from math import inf

from wireloom.expr.ast import Binary, Expression, Kind, Literal, Membership, Position, Unary, references
from wireloom.expr.types import kind, may_be_fraction
from wireloom.model.types import Field, Struct
from wireloom.resolve.bind.versions import versions_of

_HERE = Position("here")
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def never_both(struct: Struct, first: Field, second: Field) -> bool:
    """Whether no record has both fields."""
    excluded = first.when is not None and second.when is not None and exclusive(first.when, second.when)
    return excluded or never_in_one_version(struct, first, second)


def never_in_one_version(struct: Struct, first: Field, second: Field) -> bool:
    """Whether no version of the struct has both fields."""
    return bool(struct.versions) and not {*versions_of(struct, first)} & {*versions_of(struct, second)}


def exclusive(first: Expression, second: Expression) -> bool:
    """Whether two conditions provably never hold for the same record."""
    first, second = _plain(first), _plain(second)
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Binary) and one.operator == "or":
            return exclusive(one.left, other) and exclusive(one.right, other)
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Binary) and one.operator == "and":
            return _is_negated(first, second) or exclusive(one.left, other) or exclusive(one.right, other)
    return _is_negated(first, second) or _are_disjoint(first, second)


def _plain(condition: Expression) -> Expression:
    """Normalize a condition: `not` is moved inward, and constants are moved to the right side of comparisons."""
    match condition:
        case Unary("not", Binary("or", left, right)):
            return Binary("and", Unary("not", left), Unary("not", right))
        case Unary("not", Binary("and", left, right)):
            return Binary("or", Unary("not", left), Unary("not", right))
        case Unary("not", Unary("not", inner)):
            return _plain(inner)
        case Binary(operator, Literal() as constant, right) if operator in _TURNED:
            return Binary(_TURNED[operator], right, constant)
        case _:
            return condition


def _is_negated(first: Expression, second: Expression) -> bool:
    """Whether one condition is the negation of the other; `here` differs between fields, so it proves nothing."""
    is_same_place = _HERE not in (*references(first), *references(second))
    return is_same_place and any(
        isinstance(one, Unary) and one.operator == "not" and _plain(one.operand) == other
        for one, other in ((first, second), (second, first))
    )


def _are_disjoint(first: Expression, second: Expression) -> bool:
    """Whether no value satisfies both comparisons."""
    one, other = _comparison(first), _comparison(second)
    if one.left != other.left or _HERE in (*references(first), *references(second)):
        return False
    if one.right == other.right and _OPPOSITE[one.operator] == other.operator:
        return True
    options, against = _options(one), _options(other)
    if options is not None and against is not None:
        return not options & against
    return _are_intervals_disjoint(one, other)


def _comparison(condition: Expression) -> Binary:
    """A condition as a comparison; a boolean is compared with true."""
    match condition:
        case Binary(operator, _, _) if operator in _TURNED:
            return condition
        case Unary("not", inner):
            return Binary("==", inner, Literal(False))  # noqa: FBT003 - a value
        case Membership(operand, options):
            return Binary("==", operand, Membership(operand, options))
        case _:
            return Binary("==", condition, Literal(True))  # noqa: FBT003 - a value


def _options(comparison: Binary) -> frozenset[tuple[type, object]] | None:
    """The values that satisfy a comparison by equality; None for other comparisons."""
    match comparison:
        case Binary("==", _, Literal(value)):
            return frozenset({(type(value), value)})
        case Binary("==", _, Membership(_, options)):
            return frozenset((type(value), value) for value in options)
        case _:
            return None


def _are_intervals_disjoint(one: Binary, other: Binary) -> bool:
    """Whether the intervals of numbers that satisfy the comparisons do not overlap."""
    found, against = _interval(one), _interval(other)
    if found is None or against is None:
        return False
    (low, high), (least, most) = found, against
    is_strict = not _is_whole(one.left) and not {"<", ">"}.isdisjoint((one.operator, other.operator))
    return any(start > end or (start == end and is_strict) for start, end in ((low, most), (least, high)))


def _interval(comparison: Binary) -> tuple[float, float] | None:
    """The interval of numbers that satisfy a comparison; None if it is not about integers."""
    options = _options(comparison)
    numbers = [value for _, value in options or () if type(value) is int]
    if options is not None:
        return (min(numbers), max(numbers)) if options and len(numbers) == len(options) else None
    if not isinstance(comparison.right, Literal) or type(comparison.right.value) is not int:
        return None
    end, step = comparison.right.value, _is_whole(comparison.left)
    match comparison.operator:
        case "<" | "<=":
            return -inf, end - (step and comparison.operator == "<")
        case ">" | ">=":
            return end + (step and comparison.operator == ">"), inf
        case _:
            return None


def _is_whole(operand: Expression) -> bool:
    return kind(operand) is Kind.INTEGER and not may_be_fraction(operand)
