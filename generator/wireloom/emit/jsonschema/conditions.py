"""What can be said about an expression when only some values are known: a value, or that nothing is known."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import assert_never

from wireloom.expr.ast import (
    Binary,
    Call,
    Conditional,
    Expression,
    FieldRef,
    Literal,
    MarkRef,
    Membership,
    Name,
    ParameterRef,
    Position,
    Unary,
)


class Unknown(Enum):
    """A value that is not known: perhaps null, or at least not null."""

    ANYTHING = "anything"
    SOMETHING = "something"


Value = int | bool | str | None | Unknown
Lookup = Callable[[FieldRef], Value]

_OPERATORS: Mapping[str, Callable[[int, int], Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def evaluate(expression: Expression, lookup: Lookup, parameters: Mapping[str, Value]) -> Value:
    """The value of an expression as far as `lookup` knows fields, with parameters as given."""

    def of(part: Expression) -> Value:
        return evaluate(part, lookup, parameters)

    match expression:
        case Literal(constant):
            return Unknown.ANYTHING if isinstance(constant, bytes) else constant
        case FieldRef(members=members):
            return Unknown.ANYTHING if members else lookup(expression)
        case ParameterRef(name, members):
            parameter = parameters.get(name, Unknown.ANYTHING)
            return Unknown.ANYTHING if members and parameter is not None else parameter
        case Unary(operator, operand):
            return _unary(operator, of(operand))
        case Binary("and" | "or" as operator, left, right):
            return _logic(operator, of(left), of(right))
        case Binary(operator, left, right):
            return _binary(operator, of(left), of(right))
        case Membership(operand, options):
            return _membership(of(operand), options)
        case Conditional(condition, then, otherwise):
            return _conditional(of(condition), of(then), of(otherwise))
        case Call("present", (argument,)):
            return _presence(of(argument))
        case Call() | MarkRef() | Position() | Name():
            return Unknown.ANYTHING
        case _:
            assert_never(expression)


def references(expression: Expression) -> Iterator[FieldRef]:
    """The fields that an expression mentions."""
    match expression:
        case FieldRef():
            yield expression
        case Unary(operand=part) | Membership(operand=part):
            yield from references(part)
        case Binary(left=left, right=right):
            yield from references(left)
            yield from references(right)
        case Conditional(condition, then, otherwise):
            for part in (condition, then, otherwise):
                yield from references(part)
        case Call(arguments=arguments):
            for part in arguments:
                yield from references(part)
        case Literal() | Name() | MarkRef() | ParameterRef() | Position():
            return
        case _:
            assert_never(expression)


def _unary(operator: str, operand: Value) -> Value:
    if isinstance(operand, Unknown):
        return Unknown.SOMETHING
    if operator == "not":
        return not operand
    if not isinstance(operand, int):
        return Unknown.ANYTHING
    return -operand if operator == "-" else ~operand


def _logic(operator: str, left: Value, right: Value) -> Value:
    """Either side may settle it: false for `and`, true for `or`."""
    settling = operator == "or"
    sides = [Unknown.SOMETHING if isinstance(side, Unknown) else bool(side) for side in (left, right)]
    if settling in sides:
        return settling
    return Unknown.SOMETHING if Unknown.SOMETHING in sides else not settling


def _binary(operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return Unknown.SOMETHING
    if operator in ("==", "!="):
        return (left == right) is (operator == "==")
    if not isinstance(left, int) or not isinstance(right, int):
        return Unknown.ANYTHING
    return _OPERATORS[operator](left, right)


def _membership(operand: Value, options: tuple[int | bool | str | None, ...]) -> Value:
    return Unknown.SOMETHING if isinstance(operand, Unknown) else operand in options


def _presence(argument: Value) -> Value:
    return Unknown.SOMETHING if argument is Unknown.ANYTHING else argument is not None


def _conditional(condition: Value, then: Value, otherwise: Value) -> Value:
    if isinstance(condition, Unknown):
        return then if then == otherwise else Unknown.ANYTHING
    return then if condition else otherwise
