"""Bounds of an expression's value that hold for all data: the smallest and largest integer, and whether it may be null.

Integers are exact within 128 bits (`LOWEST` .. `HIGHEST`); a result beyond is null. If the bounds of the operands rule
out both null and overflow, generated code uses plain operators, and a computed column need not be nullable.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from wireloom.expr import ast
from wireloom.expr.ast import Binary, Call, Conditional, Expression, FieldRef, Kind, Literal, Name, ParameterRef, Unary
from wireloom.expr.types import kind

LOWEST, HIGHEST = -(1 << 127), (1 << 128) - 1
_LONG = (1 << 63) - 1
_SHIFTS = range(128)
_DIVISIONS = ("//", "%")


@dataclass(frozen=True, slots=True)
class Extent:
    """The smallest and the largest integer that a value can be, and whether it may be null."""

    low: int = LOWEST
    high: int = HIGHEST
    nullable: bool = True

    @property
    def text(self) -> str:
        """The bounds in words."""
        if self.low == self.high:
            return str(self.low)
        return f"{self.low} {'or more' if self.high >= _LONG else f'to {self.high}'}"

    def joined(self, other: "Extent") -> "Extent":
        """The bounds of a value that lies within either extent."""
        return Extent(min(self.low, other.low), max(self.high, other.high), self.nullable or other.nullable)


Extents = Mapping[str, Extent]
_PLACE = Extent(0, _LONG, nullable=False)
_FLAG = Extent(0, 1, nullable=False)


class Known:
    """Computes the extents of expressions; `fields` has the extents of the struct's own fields.

    Each subexpression is computed once and then remembered.
    """

    def __init__(self, fields: Extents) -> None:
        self._fields = fields
        self._found: dict[int, tuple[Expression, Extent]] = {}  # by id; keeping the expression keeps its id unique

    def of(self, expression: Expression) -> Extent:
        """The extent of an expression."""
        found = self._found.get(id(expression))
        if found is None:
            found = self._found[id(expression)] = expression, self._extent(expression)
        return found[1]

    def _extent(self, expression: Expression) -> Extent:
        match expression:
            case Literal(value):
                number = value if isinstance(value, int) else 0
                return Extent(number, number, value is None)
            case FieldRef(0, name, ()):
                return self._fields.get(name, Extent())
            case FieldRef() | Name():
                return Extent()
            case ParameterRef(_, (), Kind.INTEGER | Kind.BOOLEAN | Kind.TEXT, nullable):
                return Extent(-_LONG - 1, _LONG, nullable)
            case ParameterRef():
                return Extent()
            case Call("len" | "count", (FieldRef(kind=Kind.ANY),)):
                return Extent(0, _LONG)
            case ast.MarkRef() | ast.Position() | Call("len" | "count"):
                return _PLACE
            case ast.Membership() | Call("present") | Binary("==" | "!="):
                return _FLAG
            case Unary(operator, operand):
                return _unary(operator, self._operand(operand))
            case Binary(operator, left, right):
                return _binary(operator, self._operand(left), self._operand(right))
            case Conditional(_, then, otherwise):
                return self.of(then).joined(self.of(otherwise))
            case Call("min" | "max" as name, arguments):
                return _extreme(name, [self._operand(argument) for argument in arguments])
            case Call("md5", (data,)):
                return Extent(0, HIGHEST, self._operand(data).nullable)
            case Call("int"):
                return Extent(0, (1 << 64) - 1)
            case Call("decimal", (_, Literal(int(bits)))) if bits <= 128:
                return Extent(0, (1 << bits) - 1)
            case Call():
                return Extent()
            case _:
                assert_never(expression)

    def _operand(self, expression: Expression) -> Extent:
        """The extent of an operand; an operand of another kind counts as null, so an unknown kind may be anything."""
        return Extent() if kind(expression) in (Kind.FLOAT, Kind.ANY) else self.of(expression)


def extent(expression: Expression, fields: Extents) -> Extent:
    """The extent of an expression; `fields` has the extents of the struct's own fields."""
    return Known(fields).of(expression)


def overflows(operator: str, left: Extent, right: Extent) -> bool:
    """Whether an operation may be null: overflow beyond 128 bits, a shift outside 0..127, or division by zero."""
    if operator in ("<<", ">>") and not (right.low in _SHIFTS and right.high in _SHIFTS):
        return True
    if operator in _DIVISIONS and _may_be_zero(right):
        return True
    found = _result(operator, left, right)
    return found.low < LOWEST or found.high > HIGHEST


def _unary(operator: str, operand: Extent) -> Extent:
    match operator:
        case "-":
            return _bounded(Extent(-operand.high, -operand.low, operand.nullable))
        case "~":
            return _bounded(Extent(-operand.high - 1, -operand.low - 1, operand.nullable))
        case _:
            return Extent(0, 1, operand.nullable)


def _binary(operator: str, left: Extent, right: Extent) -> Extent:
    nullable = left.nullable or right.nullable
    if operator in ("and", "or", "<", "<=", ">", ">="):
        return Extent(0, 1, nullable)
    if operator in _DIVISIONS:
        if right.low == right.high == 0:
            return Extent()
        found = _result(operator, left, right)
        return _bounded(Extent(found.low, found.high, nullable or _may_be_zero(right)))
    if overflows(operator, left, right):
        return Extent()
    found = _result(operator, left, right)
    return Extent(found.low, found.high, nullable)


def _may_be_zero(found: Extent) -> bool:
    return found.low <= 0 <= found.high


def _bounded(found: Extent) -> Extent:
    return Extent() if found.low < LOWEST or found.high > HIGHEST else found


def _extreme(name: str, found: list[Extent]) -> Extent:
    choose = min if name == "min" else max
    nullable = any(each.nullable for each in found)
    return Extent(choose(each.low for each in found), choose(each.high for each in found), nullable)


def _result(operator: str, left: Extent, right: Extent) -> Extent:
    """The exact bounds of an operation's result; shift counts are clamped to 0..127."""
    ends = [(first, second) for first in (left.low, left.high) for second in (right.low, right.high)]
    match operator:
        case "+":
            values = [first + second for first, second in ends]
        case "-":
            values = [first - second for first, second in ends]
        case "*":
            values = [first * second for first, second in ends]
        case "<<":
            values = [first << min(max(second, 0), 127) for first, second in ends]
        case ">>":
            values = [first >> min(max(second, 0), 127) for first, second in ends]
        case "//" if left.low >= 0 and right.low >= 0:
            values = [left.low // max(right.high, 1), left.high // max(right.low, 1)]
        case "//":
            most = max(-left.low, left.high)
            values = [-most, most]
        case "%" if left.low >= 0 and right.low >= 0:
            values = [0, min(left.high, max(right.high - 1, 0))]
        case "%":  # the remainder has the sign of the divisor
            values = [min(right.low + 1, 0), max(right.high - 1, 0)]
        case "&" if right.low >= 0 or left.low >= 0:
            values = [0, min(each.high for each in (left, right) if each.low >= 0)]
        case _:  # & | ^ never need more bits than their operands
            bits = max(value.bit_length() for value in (left.low, left.high, right.low, right.high))
            values = [0 if left.low >= 0 and right.low >= 0 else -(1 << bits), (1 << bits) - 1]
    return Extent(min(values), max(values), nullable=False)
