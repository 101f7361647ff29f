"""Evaluates expressions of the spec language over values that are only partly known while a value is drawn.

`UNKNOWN` is the value of anything that depends on the layout, such as a length or a checksum. Whatever is computed from
an unknown value is unknown too.
"""

import hashlib
import operator
from collections.abc import Callable, Iterable, Mapping
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

_LONGEST_NUMBER = 8  # bytes
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
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
    """The values of a struct's fields by wire name, and the scope of the outer struct."""

    parameters: Mapping[str, Any]
    ranges: tuple[Ranges, ...] = ()
    outer: "Scope | None" = None
    values: dict[str, Any] = field(default_factory=dict)

    def inner(self) -> "Scope":
        """The scope of a struct inside this one."""
        return Scope(self.parameters, self.ranges, self)


def evaluate(expression: Expression, scope: Scope) -> Any:
    """The value of an expression, or UNKNOWN."""
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
            return _logic(evaluate(left, scope), evaluate(right, scope), decisive=False)
        case Binary("or", left, right):
            return _logic(evaluate(left, scope), evaluate(right, scope), decisive=True)
        case Binary(symbol, left, right):
            return _binary(symbol, evaluate(left, scope), evaluate(right, scope))
        case Membership(operand, options):
            value = evaluate(operand, scope)
            return UNKNOWN if value is UNKNOWN else any(_equal(value, option) for option in options)
        case Conditional(condition, then, otherwise):
            chosen = evaluate(condition, scope)
            return UNKNOWN if chosen is UNKNOWN else evaluate(then if chosen is True else otherwise, scope)
        case Call(function, arguments):
            values = [evaluate(argument, scope) for argument in arguments]
            return UNKNOWN if any(value is UNKNOWN for value in values) else _call(function, values, scope.ranges)
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
    if symbol == "not":
        return not value if type(value) is bool else None
    if type(value) not in ((int, float) if symbol == "-" else (int,)):
        return None
    found = -value if symbol == "-" else ~value
    return found if type(found) is float or -(2**127) <= found < 2**128 else None


def _binary(symbol: str, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if symbol in ("==", "!="):
        return _equal(left, right) is (symbol == "==")
    numbers = (int,) if symbol in ("&", "|", "^", "<<", ">>", "//", "%") else (int, float)
    if type(left) not in numbers or type(right) not in numbers:
        return None
    if symbol in ("<<", ">>") and not 0 <= right <= 127:
        return None
    if symbol in ("//", "%") and right == 0:
        return None
    found = _OPERATORS[symbol](left, right)
    return None if type(found) is int and not -(2**127) <= found < 2**128 else found


def _equal(left: Any, right: Any) -> bool:
    return (type(left) is bool) == (type(right) is bool) and bool(left == right)


def _logic(left: Any, right: Any, *, decisive: bool) -> Any:
    """`and`, `or`: a decisive side gives the result, whatever the other is. A non-boolean counts as null."""
    if left is decisive or right is decisive:
        return decisive
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    return (not decisive) if left is right is (not decisive) else None


def _call(function: str, arguments: list[Any], ranges: tuple[Ranges, ...]) -> Any:
    match function, arguments:
        case "present", [value]:
            return value is not None
        case "count", [value]:
            return 0 if value is None else len(value) if isinstance(value, list | Mapping) else None
        case "len", [value]:
            return 0 if value is None else _length(value)
        case "sum", [value, *member]:
            return _sum(value, *member)
        case "slice", [value, *places]:
            known = isinstance(value, str | bytes) and all(type(place) is int for place in places)
            return value[slice(places[0], *places[1:] or [None])] if known else None
        case "concat", values:
            return _joined(values, values[0][:0]) if isinstance(values[0], str | bytes) else None
        case "join", [value, separator, *member]:
            if not isinstance(value, list):
                return None
            found = [each.get(name) if isinstance(each, Mapping) else None for each in value for name in member]
            found = found if member else value
            return UNKNOWN if any(each is UNKNOWN for each in found) else _joined(filter(_is_present, found), separator)
        case "rangeName", [number, name]:
            return _range_name(number, next(named for named in ranges if named.name == name))
        case "int", [value, order]:
            return int.from_bytes(value, order) if isinstance(value, bytes) and len(value) <= _LONGEST_NUMBER else None
        case "md5", [value]:
            data = value.encode() if isinstance(value, str) else value
            known = isinstance(data, bytes)
            return int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest(), "big") if known else None
        case "decimal", [value, bits]:
            digits = value.removeprefix("+") if isinstance(value, str) else ""
            known = digits != "" and set(digits) <= set("0123456789")
            return int(digits) if known and int(digits) < 2**bits else None
        case "min" | "max", _:
            numbers = all(type(value) in (int, float) for value in arguments)
            return (min if function == "min" else max)(arguments) if numbers else None
        case _:
            return UNKNOWN


def _sum(value: Any, *member: str) -> Any:
    if value is None or not isinstance(value, list):
        return 0 if value is None else None
    found = [each.get(name) if isinstance(each, Mapping) else None for each in value for name in member]
    found = found if member else value
    if any(each is UNKNOWN for each in found):
        return UNKNOWN
    numbers = [each for each in found if each is not None]
    total = sum(numbers) if all(type(each) is int for each in numbers) else None
    return total if total is not None and -(1 << 127) <= total < 1 << 128 else None


def _is_present(value: Any) -> bool:
    return value is not None


def _joined(values: Iterable[Any], separator: Any) -> Any:
    pieces = list(values)
    whole = separator.join(pieces) if all(type(each) is type(separator) for each in pieces) else None
    return None if whole is None or (_length(whole) or 0) > 65535 else whole


def _length(value: Any) -> int | None:
    data = value.encode() if isinstance(value, str) else value
    return len(data) if isinstance(data, bytes) else None


def _range_name(number: int | None, ranges: Ranges) -> str | None:
    if type(number) is not int:
        return None
    for named in ranges.ranges:
        low, high = named.minimum, named.maximum
        if (low is None or number >= low) and (high is None or number <= high):
            return named.name
    return None
