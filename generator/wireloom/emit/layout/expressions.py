"""Expressions as nested tuples, operator first: `("<=", ("field", 0, "size"), 12)`; constants as they are."""

from typing import assert_never

from wireloom.emit.code import Code, display
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
from wireloom.expr.types import kind

Tree = int | bool | str | bytes | None | tuple["Tree", ...]


def tree(expression: Expression) -> Tree:
    """The expression as tuples."""
    match expression:
        case Literal() as literal:
            return _constant(literal)
        case FieldRef(up, name, members):
            return ("field", up, name, *members)
        case MarkRef(name):
            return ("mark", name)
        case ParameterRef(name, members):
            return ("parameter", name, *members)
        case Position(fact):
            return (fact,)
        case Unary(operator, operand):
            return ("negative" if operator == "-" else operator, tree(operand))
        case Binary(operator, left, right):
            return (operator, tree(left), tree(right))
        case Membership(operand, options):
            return ("in", tree(operand), tuple(tree(Literal(option)) for option in options))
        case Conditional(condition, then, otherwise):
            return ("if", tree(condition), tree(then), tree(otherwise))
        case Call("rangeName", (value, Literal(str(ranges)))):
            return ("rangeName", tree(value), ranges)
        case Call("int", (data, Literal(str(order)))):
            return ("int", tree(data), order)
        case Call("sum", (listed, Literal(str(member)))):
            return ("sum", tree(listed), member)
        case Call("join", (listed, separator, *member)):
            return (
                "join",
                tree(listed),
                tree(separator),
                *(each.value for each in member if isinstance(each, Literal)),
            )
        case Call("slice", (whole, start, *end)):
            return ("slice", kind(whole).value, tree(whole), tree(start), *(tree(each) for each in end))
        case Call(name, arguments):
            return (name, *(tree(argument) for argument in arguments))
        case Name(parts):
            raise AssertionError(f"an unresolved name reached the emitter: {'.'.join(parts)}")
        case _:
            assert_never(expression)


def source(expression: Expression) -> Code:
    """The tuples as source."""
    return display(tree(expression))


def optional(expression: Expression | None) -> Code | None:
    """The source of an expression that may be missing."""
    return None if expression is None else source(expression)


def _constant(literal: Literal) -> Tree:
    """A constant."""
    match literal.value:
        case bytes() as data:
            return ("octets", data)
        case str() as text:
            return ("text", text)
        case None:
            return ("null",)  # None stands for an expression that is not there
        case value:
            return value
