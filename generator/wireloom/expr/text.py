"""Write expressions in the spec language, for messages and documentation."""

from typing import assert_never

from wireloom.expr import ast
from wireloom.expr.ast import Binary, Call, Conditional, Expression, FieldRef, Literal, MarkRef, Membership, Name, Unary
from wireloom.expr.parse import BINDING, NEGATION

_ATOM = 20


def text_of(expression: Expression, place: int = 1) -> str:
    """The expression in the spec language, in parentheses if it binds looser than `place`."""
    text, binding = _bound(expression)
    return f"({text})" if binding < place else text


def _bound(expression: Expression) -> tuple[str, int]:
    match expression:
        case Literal(value, notation):
            return _literal(value, notation), _ATOM
        case Name(parts):
            return ".".join(parts), _ATOM
        case FieldRef(_, name, members) | ast.ParameterRef(name, members):
            return ".".join((name, *members)), _ATOM
        case MarkRef(name) | ast.Position(name):
            return name, _ATOM
        case Unary("not", operand):
            return f"not {text_of(operand, NEGATION)}", NEGATION
        case Unary(operator, operand):
            return operator + text_of(operand, _ATOM), 12
        case Binary(operator, left, right):
            binding = BINDING[operator]
            return f"{text_of(left, binding)} {operator} {text_of(right, binding + 1)}", binding
        case Membership(operand, options, notation):
            return f"{text_of(operand, 6)} in [{', '.join(_literal(option, notation) for option in options)}]", 5
        case Conditional(condition, then, otherwise):
            return f"{text_of(condition, 2)} ? {text_of(then, 2)} : {text_of(otherwise)}", 1
        case Call("sum", (listed, Literal(str(member)))):
            return f"sum({text_of(listed)}.{member})", _ATOM
        case Call("join", (listed, separator, Literal(str(member)))):
            return f"join({text_of(listed)}.{member}, {text_of(separator)})", _ATOM
        case Call(function, arguments):
            return f"{function}({', '.join(text_of(argument) for argument in arguments)})", _ATOM
        case _:
            assert_never(expression)


def _literal(value: object, notation: str) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'"
        case bytes():
            return f"'{value.hex()}'"
        case int() if notation:
            return f"{'-' if value < 0 else ''}0x{abs(value):{notation}}"
        case _:
            return str(value)
