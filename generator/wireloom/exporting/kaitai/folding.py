"""Sets the parameters of a format in expressions: readers of a Kaitai description cannot give parameters."""

from collections.abc import Mapping
from dataclasses import replace
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
from wireloom.model.types import Scalar

Values = Mapping[str, Scalar]
TRUE, FALSE = Literal(value=True), Literal(value=False)


def folded(expression: Expression, values: Values) -> Expression:
    """The expression with the parameters replaced by their values, and simplified."""
    match expression:
        case ParameterRef(name, ()) if isinstance(value := values.get(name), int | bool | str | None):
            return Literal(value)
        case Literal() | Name() | FieldRef() | MarkRef() | ParameterRef() | Position():
            return expression
        case Unary(operator, operand):
            return _unary(operator, folded(operand, values))
        case Binary("and" | "or" as operator, left, right):
            return _logic(operator, folded(left, values), folded(right, values))
        case Binary(operator, left, right):
            return _compared(operator, folded(left, values), folded(right, values))
        case Membership(operand, options):
            found = folded(operand, values)
            if isinstance(found, Literal):
                return Literal(value=found in [Literal(each) for each in options])
            return replace(expression, operand=found)
        case Conditional(condition, then, otherwise):
            first = folded(condition, values)
            if isinstance(first, Literal):
                return folded(then if first.value else otherwise, values)
            return Conditional(first, folded(then, values), folded(otherwise, values))
        case Call("present", (argument,)) if isinstance(found := folded(argument, values), Literal):
            return Literal(value=found.value is not None)
        case Call(function, arguments):
            return Call(function, tuple(folded(each, values) for each in arguments))
        case _:
            assert_never(expression)


def _unary(operator: str, operand: Expression) -> Expression:
    if operator == "not" and isinstance(operand, Literal):
        return Literal(value=not operand.value)
    return Unary(operator, operand)


def _logic(operator: str, left: Expression, right: Expression) -> Expression:
    decides = operator == "or"  # the value of one side that decides the result
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Literal):
            return Literal(decides) if bool(one.value) is decides else other
    return Binary(operator, left, right)


def _compared(operator: str, left: Expression, right: Expression) -> Expression:
    if operator in ("==", "!=") and isinstance(left, Literal) and isinstance(right, Literal):
        return Literal(value=(left == right) is (operator == "=="))
    return Binary(operator, left, right)
