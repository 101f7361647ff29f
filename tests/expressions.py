"""Expressions of the spec language evaluated over values that are only partly known, as strategies need them.

`UNKNOWN` is what follows from the layout (a length, a checksum); whatever depends on it is unknown too.
"""

import hashlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

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
from wireloom.model.format import Ranges


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Any = _Unknown()

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Scope:
    """The values of a struct's fields by their names on the wire, and the struct around it."""

    parameters: Mapping[str, Any]
    ranges: tuple[Ranges, ...] = ()
    outer: "Scope | None" = None
    values: dict[str, Any] = field(default_factory=dict)

    def inner(self) -> "Scope":
        """The scope of a struct within this one."""
        return Scope(self.parameters, self.ranges, self)


def evaluate(expression: Expression, scope: Scope) -> Any:
    """The value, or UNKNOWN."""
    match expression:
        case Literal(value):
            return value
        case FieldRef(up, name, members):
            found: Scope | None = scope
            for _ in range(up):
                found = found.outer if found else None
            return _member(found.values.get(name, UNKNOWN) if found else UNKNOWN, members)
        case ParameterRef(name, members):
            return _member(scope.parameters.get(name, UNKNOWN), members)
        case MarkRef() | Position() | Name():
            return UNKNOWN
        case Unary(symbol, operand):
            return _unary(symbol, evaluate(operand, scope))
        case Binary("and", left, right):
            first = evaluate(left, scope)
            return False if first is False else _both(first, evaluate(right, scope))
        case Binary("or", left, right):
            first = evaluate(left, scope)
            return True if first is True else _either(first, evaluate(right, scope))
        case Binary(symbol, left, right):
            return _binary(symbol, evaluate(left, scope), evaluate(right, scope))
        case Membership(operand, options):
            value = evaluate(operand, scope)
            return UNKNOWN if value is UNKNOWN else value in options
        case Conditional(condition, then, otherwise):
            chosen = evaluate(condition, scope)
            return UNKNOWN if chosen is UNKNOWN else evaluate(then if chosen else otherwise, scope)
        case Call(function, arguments):
            values = [evaluate(argument, scope) for argument in arguments]
            return UNKNOWN if UNKNOWN in values else _call(function, values, scope.ranges)
        case _:
            assert_never(expression)


def _member(value: Any, members: tuple[str, ...]) -> Any:
    for member in members:
        if value is UNKNOWN or value is None:
            return value
        value = value.get(member, UNKNOWN) if isinstance(value, Mapping) else getattr(value, member, UNKNOWN)
    return value


def _unary(symbol: str, value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN
    return {"-": operator.neg, "~": operator.invert, "not": operator.not_}[symbol](value)


def _binary(symbol: str, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if (left is None or right is None) and symbol not in ("==", "!="):
        return False if symbol in ("<", "<=", ">", ">=") else UNKNOWN
    return _OPERATORS[symbol](left, right)


def _both(left: Any, right: Any) -> Any:
    return right if left is True or right is False else left


def _either(left: Any, right: Any) -> Any:
    return right if left is False or right is True else left


def _call(function: str, arguments: list[Any], ranges: tuple[Ranges, ...]) -> Any:
    match function, arguments:
        case "present", [value]:
            return value is not None
        case "count", [value]:
            return 0 if value is None else len(value)
        case "len", [value]:
            return 0 if value is None else len(value.encode() if isinstance(value, str) else value)
        case "rangeName", [number, name]:
            return _range_name(number, next(named for named in ranges if named.name == name))
        case "md5", [value]:
            data = value.encode() if isinstance(value, str) else value
            return None if value is None else int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest(), "big")
        case "min", _:
            return min(arguments)
        case "max", _:
            return max(arguments)
        case _:
            return UNKNOWN


def _range_name(number: int | None, ranges: Ranges) -> str | None:
    if number is None:
        return None
    for named in ranges.ranges:
        low, high = named.minimum, named.maximum
        if (low is None or number >= low) and (high is None or number <= high):
            return named.name
    return None
