"""Evaluate expressions of which only some values are known: the result is a constant, or partly or fully unknown.

As in parsers, `==` and `in` compare null like any other value, and null makes arithmetic, order and logic null.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import assert_never

from wireloom.expr import ast
from wireloom.expr.ast import Binary, Call, Conditional, Expression, FieldRef, Literal, Membership, ParameterRef, Unary
from wireloom.expr.types import kind
from wireloom.runtime.expressions import OPERATORS, UNARY_OPERATORS


class Unknown(Enum):
    """A value that is not known exactly.

    ANYTHING may be null. SOMETHING is not null; if it is an integer, it has at most 64 bits. CALCULATED is not null
    either, but an integer may have up to 128 bits. OTHER is different from every constant that it is compared with.
    """

    ANYTHING = "anything"
    SOMETHING = "something"
    CALCULATED = "calculated"
    OTHER = "other"


Listed = int | bool | str | bytes | None  # values that `in` compares with
Constant = Listed | bytes
Value = Constant | Unknown
Lookup = Callable[[FieldRef], Value]
_THERE = (Unknown.SOMETHING, Unknown.CALCULATED)

_ORDER = ("<", "<=", ">", ">=")
_FIELDS = range(-(1 << 63), 1 << 64)  # the values of integers of 64 bits


def evaluate(expression: Expression, lookup: Lookup, parameters: Mapping[str, Value]) -> Value:
    """Evaluate an expression as far as possible; `lookup` gives the values of fields."""

    def of(part: Expression) -> Value:
        return evaluate(part, lookup, parameters)

    def operand_of(part: Expression) -> Value:
        """The value of an operand; a value of the wrong kind counts as null, so an unknown kind may be anything."""
        value = of(part)
        return Unknown.ANYTHING if isinstance(value, Unknown) and kind(part) is ast.Kind.ANY else value

    match expression:
        case Literal(constant):
            return Unknown.ANYTHING if isinstance(constant, bytes) else constant
        case FieldRef(members=members):
            value = lookup(expression)
            return Unknown.ANYTHING if members and value is not None else value
        case ParameterRef(name, members):
            parameter = parameters.get(name, Unknown.ANYTHING)
            return Unknown.ANYTHING if members and parameter is not None else parameter
        case Unary(operator, operand):
            return _unary(operator, operand_of(operand))
        case Binary("and" | "or" as operator, left, right):
            return _logic(operator, operand_of(left), operand_of(right))
        case Binary("==" | "!=" as operator, left, right):
            return _equality(operator, _known(left, of(left)), _known(right, of(right)))
        case Binary(operator, left, right):
            return _binary(operator, operand_of(left), operand_of(right))
        case Membership(operand, options):
            return membership(of(operand), options)
        case Conditional(condition, then, otherwise):
            return _conditional(of(condition), passed(of(then)), passed(of(otherwise)))
        case Call("present", (argument,)):
            value = of(argument)
            return Unknown.SOMETHING if value is Unknown.ANYTHING else value is not None
        case Call("len" | "count", (argument,)):
            return Unknown.ANYTHING if kind(argument) is ast.Kind.ANY else Unknown.SOMETHING
        case Call():
            return Unknown.ANYTHING
        case ast.MarkRef() | ast.Position():
            return Unknown.SOMETHING
        case ast.Name():
            return Unknown.ANYTHING
        case _:
            assert_never(expression)


def passed(value: Value) -> Value:
    """The value of an expression's operand as the expression's result: OTHER becomes SOMETHING."""
    return Unknown.SOMETHING if value is Unknown.OTHER else value


def seen(value: object) -> Value:
    """The value of a constant in expressions; floats and bytes are not told apart."""
    return value if value is None or isinstance(value, int | str | Unknown) else Unknown.SOMETHING


def same(left: object, right: object) -> bool:
    """Whether two values are equal, where true does not equal 1."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def compared(expression: Expression) -> Iterator[tuple[FieldRef, Constant]]:
    """Each comparison of a field with a constant in an expression."""
    match expression:
        case Binary("==" | "!=", FieldRef() as field, Literal(constant)):
            yield field, constant
        case Binary("==" | "!=", Literal(constant), FieldRef() as field):
            yield field, constant
        case Membership(FieldRef() as field, options):
            yield from ((field, option) for option in options)
        case _:
            pass
    for part in ast.parts(expression):
        yield from compared(part)


def _known(expression: Expression, value: Value) -> tuple[Value, bool]:
    """One side of a comparison, and whether it is a literal."""
    return value, isinstance(expression, Literal)


def _equality(operator: str, left: tuple[Value, bool], right: tuple[Value, bool]) -> Value:
    """Compare two values; of the unknown values only ANYTHING can be null, and OTHER never equals a literal."""
    wanted = operator == "=="
    for (value, _), (against, constant) in ((left, right), (right, left)):
        if value is Unknown.OTHER and constant:
            return not wanted
        if isinstance(value, Unknown) and value is not Unknown.ANYTHING and against is None:
            return not wanted
    if isinstance(left[0], Unknown) or isinstance(right[0], Unknown):
        return Unknown.SOMETHING
    return same(left[0], right[0]) is wanted


def _unary(operator: str, operand: Value) -> Value:
    if not isinstance(operand, Unknown):
        found: Value = UNARY_OPERATORS[operator](operand)
        return found
    return Unknown.SOMETHING if operator == "not" and operand is not Unknown.ANYTHING else _calculated(operand)


def _logic(operator: str, left: Value, right: Value) -> Value:
    """Evaluate `and` or `or`: one side alone may decide; otherwise a null side makes the result null."""
    settling, sides = operator == "or", (left, right)
    if any(side is settling for side in sides):
        return settling
    if any(isinstance(side, Unknown) for side in sides):
        return Unknown.ANYTHING if None in sides or Unknown.ANYTHING in sides else Unknown.SOMETHING
    found: Value = OPERATORS[operator](left, right)
    return found


def _binary(operator: str, left: Value, right: Value) -> Value:
    """Evaluate arithmetic or order."""
    if left is None or right is None:
        return None
    if not isinstance(left, Unknown) and not isinstance(right, Unknown):
        found: Value = OPERATORS[operator](left, right)
        return found
    if operator in _ORDER:
        return Unknown.ANYTHING if Unknown.ANYTHING in (left, right) else Unknown.SOMETHING
    return Unknown.ANYTHING if operator in ("<<", ">>", "//", "%") else _calculated(left, right)


def _calculated(*operands: Value) -> Unknown:
    """The result of arithmetic on unknown values: null by overflow is ruled out if all have 64 bits."""
    return Unknown.CALCULATED if all(map(_is_of_64_bits, operands)) else Unknown.ANYTHING


def _is_of_64_bits(value: Value) -> bool:
    """Whether the value, if it is an integer, has at most 64 bits."""
    return value in (Unknown.SOMETHING, Unknown.OTHER) or (isinstance(value, int) and value in _FIELDS)


def membership(operand: Value, options: tuple[Constant, ...]) -> Value:
    """Whether a value is among the options."""
    if operand is Unknown.OTHER or (operand in _THERE and all(option is None for option in options)):
        return False
    if isinstance(operand, Unknown):
        return Unknown.SOMETHING
    return any(same(operand, option) for option in options)


def _conditional(condition: Value, then: Value, otherwise: Value) -> Value:
    if not isinstance(condition, Unknown):
        return then if condition else otherwise
    if same(then, otherwise):
        return then
    if {then, otherwise} & {None, Unknown.ANYTHING}:
        return Unknown.ANYTHING
    return Unknown.CALCULATED if Unknown.CALCULATED in (then, otherwise) else Unknown.SOMETHING
