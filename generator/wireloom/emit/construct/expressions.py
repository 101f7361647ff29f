"""Expressions of the spec language as Python source: a lambda over construct's context."""

from collections.abc import Iterator
from typing import assert_never

from wireloom.emit.code import Lambda, literal
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

_FUNCTIONS = {
    "len": "fn.length",
    "count": "fn.count",
    "present": "fn.present",
    "decimal": "fn.decimal",
    "md5": "fn.md5",
    "rangeName": "fn.range_name",
    "min": "min",
    "max": "max",
}
# How tightly Python binds; a part that binds less than its place asks for gets parentheses.
_BINDING = {
    "or": 2,
    "and": 3,
    "==": 5,
    "!=": 5,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "|": 6,
    "^": 7,
    "&": 8,
    "<<": 9,
    ">>": 9,
    "+": 10,
    "-": 10,
    "*": 11,
}
_CONDITIONAL, _NOT, _COMPARISON, _UNARY, _ATOM = 1, 4, 5, 12, 20


def function(expression: Expression) -> Lambda:
    """The expression as a lambda of the context."""
    pieces = tuple(_pieces(expression))
    return Lambda("ctx" if "ctx" in source_of(expression) else "_", pieces)


def _pieces(expression: Expression) -> Iterator[tuple[str, ...]]:
    """Where a long expression may break: each branch and condition of a choice."""
    lead = ""
    while isinstance(expression, Conditional):
        then, *rest = _parts(expression.then, _CONDITIONAL + 1)
        yield lead + then, *rest
        first, *rest = _parts(expression.condition, _CONDITIONAL + 1)
        yield "if " + first, *rest
        lead, expression = "else ", expression.otherwise
    first, *rest = _parts(expression, _CONDITIONAL)
    yield lead + first, *rest


def _parts(expression: Expression, place: int) -> list[str]:
    """The operands of `and` and `or`, each behind its operator."""
    if not isinstance(expression, Binary) or expression.operator not in ("and", "or"):
        return [_source(expression, place)]
    binding = _BINDING[expression.operator]
    if binding < place:
        return [_source(expression, place)]
    first, *rest = _parts(expression.right, binding + 1)
    return [*_parts(expression.left, binding), f"{expression.operator} {first}", *rest]


def source_of(expression: Expression) -> str:
    """The expression as source in which `ctx` is the context."""
    return _source(expression, _CONDITIONAL)


def _source(expression: Expression, place: int) -> str:
    text, binding = _bound(expression)
    return f"({text})" if binding < place else text


def _bound(expression: Expression) -> tuple[str, int]:
    match expression:
        case Literal(value):
            return literal(value), _UNARY if isinstance(value, int) and value < 0 else _ATOM
        case FieldRef(up, name, members):
            source = "ctx" + "._" * up + f"[{literal(name)}]"
            for member in members:
                source = f"fn.member({source}, {literal(member)})"
            return source, _ATOM
        case MarkRef(name):
            return f"fn.mark(ctx, {literal(name)})", _ATOM
        case ParameterRef(name, members):
            return f"ctx._params[{literal(name)}]" + "".join(f".{member}" for member in members), _ATOM
        case Position(fact):
            return f"fn.{fact}(ctx)", _ATOM
        case Unary("not", operand):
            return f"not {_source(operand, _NOT)}", _NOT
        case Unary(operator, operand):
            return operator + _source(operand, _UNARY), _UNARY
        case Binary(operator, left, right):
            return _binary(operator, left, right)
        case Membership(operand, options):
            return f"{_source(operand, _COMPARISON + 1)} in {literal(options)}", _COMPARISON
        case Conditional(condition, then, otherwise):
            texts = (_source(part, _CONDITIONAL + 1) for part in (then, condition))
            return "{} if {} else ".format(*texts) + _source(otherwise, _CONDITIONAL), _CONDITIONAL
        case Call("rangeName", (value, Literal(str(ranges)))):
            return f"fn.range_name({source_of(value)}, {ranges_name(ranges)})", _ATOM
        case Call(name, arguments):
            return f"{_FUNCTIONS[name]}({', '.join(source_of(argument) for argument in arguments)})", _ATOM
        case Name(parts):
            raise AssertionError(f"an unresolved name reached the emitter: {'.'.join(parts)}")
        case _:
            assert_never(expression)


def _binary(operator: str, left: Expression, right: Expression) -> tuple[str, int]:
    binding = _BINDING[operator]
    if (
        operator in ("==", "!=")
        and isinstance(right, Literal)
        and (right.value is None or isinstance(right.value, bool))
    ):
        word = "is" if operator == "==" else "is not"
        return f"{_source(left, binding + 1)} {word} {literal(right.value)}", binding
    left_place = binding + 1 if binding == _COMPARISON else binding
    return f"{_source(left, left_place)} {operator} {_source(right, binding + 1)}", binding


def ranges_name(name: str) -> str:
    """The constant that holds named ranges."""
    return f"RANGES_{name.upper()}"
