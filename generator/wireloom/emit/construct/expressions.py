"""Emit expressions of the spec language as Python lambdas over construct's context.

Null is a third truth value, and integers are exact within 128 bits. Code uses Python's own operators if the extents of
the operands rule out null and overflow, and the functions of `runtime.expressions` otherwise. In a condition null
counts as false, so `and` and `or` can stay Python's own there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from wireloom.emit.code import Lambda, literal
from wireloom.expr.ast import (
    Binary,
    Call,
    Conditional,
    Expression,
    FieldRef,
    Kind,
    Literal,
    MarkRef,
    Membership,
    Name,
    ParameterRef,
    Position,
    Unary,
)
from wireloom.expr.extents import HIGHEST, LOWEST, Extent, Known, overflows
from wireloom.expr.parse import BINDING, NEGATION
from wireloom.expr.types import kind
from wireloom.runtime.expressions import OPERATORS, UNARY_OPERATORS

_FUNCTIONS = {
    "len": "fn.length",
    "count": "fn.count",
    "sum": "fn.total",
    "slice": "fn.part",
    "concat": "fn.concatenated",
    "join": "fn.joined",
    "present": "fn.present",
    "decimal": "fn.decimal",
    "int": "fn.integer",
    "md5": "fn.md5",
    "rangeName": "fn.range_name",
    "min": "fn.smallest",
    "max": "fn.largest",
}
_LOGIC, _EQUALITY, _ORDER = ("and", "or"), ("==", "!="), ("<", "<=", ">", ">=")
_SHIFTS = ("<<", ">>")
_CONDITIONAL, _COMPARISON, _UNARY, _ATOM = 1, 5, 12, 20  # a part that binds looser than this gets parentheses
_COMPARABLE = (Kind.INTEGER, Kind.TEXT, Kind.BYTES)
Fields = Mapping[str, Extent]


def function(expression: Expression, fields: Fields | None = None, *, condition: bool = False) -> Lambda:
    """Write the expression as a lambda of the context; `fields` has the extents of the struct's own fields."""
    pieces = tuple(_Writer(Known(fields or {})).pieces(expression, condition=condition))
    text = "".join(part for piece in pieces for part in piece)
    return Lambda("ctx" if "ctx" in text else "_", pieces)


@dataclass(frozen=True, slots=True)
class _Writer:
    known: Known

    def pieces(self, expression: Expression, *, condition: bool) -> Iterator[tuple[str, ...]]:
        """The pieces between which a long expression may break: the branches and conditions of its conditionals."""
        lead = ""
        while isinstance(expression, Conditional):
            then, *rest = self._parts(expression.then, _CONDITIONAL + 1, condition=condition)
            yield lead + then, *rest
            first, *rest = self._parts(expression.condition, _CONDITIONAL + 1, condition=True)
            yield "if " + first, *rest
            lead, expression = "else ", expression.otherwise
        first, *rest = self._parts(expression, _CONDITIONAL, condition=condition)
        yield lead + first, *rest

    def _parts(self, expression: Expression, place: int, *, condition: bool) -> list[str]:
        """The operands of `and` and `or`, each with its operator in front."""
        plain = isinstance(expression, Binary) and expression.operator in _LOGIC
        if not isinstance(expression, Binary) or not plain or not self._is_plain(expression, condition=condition):
            return [self._source(expression, place, condition=condition)]
        binding = BINDING[expression.operator]
        if binding < place:
            return [self._source(expression, place, condition=condition)]
        first, *rest = self._parts(expression.right, binding + 1, condition=condition)
        left = self._parts(expression.left, binding, condition=condition)
        return [*left, f"{expression.operator} {first}", *rest]

    def _source(self, expression: Expression, place: int, *, condition: bool = False) -> str:
        text, binding = self._bound(expression, condition=condition)
        return f"({text})" if binding < place else text

    def _bound(self, expression: Expression, *, condition: bool) -> tuple[str, int]:
        match expression:
            case Literal(value):
                return literal(value), _UNARY if isinstance(value, int) and value < 0 else _ATOM
            case FieldRef(up, name, members):
                source = "ctx" + "._" * up + f"[{literal(name)}]"
                for member in members:
                    source = f"fn.member({source}, {literal(member)})"
                return f"fn.truth({source})" if condition and expression.kind is Kind.ANY else source, _ATOM
            case MarkRef(name):
                return f"fn.mark(ctx, {literal(name)})", _ATOM
            case ParameterRef(name, ()):
                return f"ctx._params[{literal(name)}]", _ATOM
            case ParameterRef(name, members):
                return f"fn.member(ctx._params[{literal(name)}], {literal(members[0])})", _ATOM
            case Position(fact):
                return f"fn.{fact}(ctx)", _ATOM
            case Unary("not", operand):
                return self._negation(operand)
            case Unary(operator, operand):
                return self._signed(operator, operand)
            case Binary(operator, left, right) if self._is_plain(expression, condition=condition):
                return self._operation(operator, left, right, condition=condition)
            case Binary("==", left, right):
                return f"fn.equal({self._list(left, right)})", _ATOM
            case Binary("!=", left, right):
                return f"not fn.equal({self._list(left, right)})", NEGATION
            case Binary(operator, left, right):
                logic = operator in _LOGIC
                return f"fn.{OPERATORS[operator].__name__}({self._list(left, right, truth=logic)})", _ATOM
            case Membership(operand, options):
                return self._membership(operand, options)
            case Conditional(choice, then, otherwise):
                first = self._source(then, _CONDITIONAL + 1, condition=condition)
                middle = self._source(choice, _CONDITIONAL + 1, condition=True)
                last = self._source(otherwise, _CONDITIONAL, condition=condition)
                return f"{first} if {middle} else {last}", _CONDITIONAL
            case Call():
                return self._called(expression), _ATOM
            case Name(parts):
                raise AssertionError(f"an unresolved name reached the emitter: {'.'.join(parts)}")
            case _:
                assert_never(expression)

    def _called(self, call: Call) -> str:
        """Write a function call; costly functions of an enclosing struct's value are computed once and cached."""
        match call:
            case Call("rangeName", (value, Literal(str(ranges)))):
                return f"fn.range_name({self._list(value)}, {ranges_name(ranges)})"
            case Call("len" | "sum" | "md5" | "decimal" as name, (FieldRef(up=up), *_) as arguments) if up:
                return f"fn.once(ctx, {_FUNCTIONS[name]}, {self._list(*arguments)})"
            case Call("slice" | "join" as name, (FieldRef(up=up), *others) as arguments) if up and _are_literals(
                others
            ):
                return f"fn.once(ctx, {_FUNCTIONS[name]}, {self._list(*arguments)})"
            case Call(name, arguments):
                plain = name in ("min", "max") and all(self._is_certain(argument) for argument in arguments)
                return f"{name if plain else _FUNCTIONS[name]}({self._list(*arguments)})"

    def _list(self, *arguments: Expression, truth: bool = False) -> str:
        """Write the arguments of a function; with `truth`, arguments that are not booleans become null."""
        sources = (
            f"fn.truth({source})" if truth and _is_loose(argument) else source
            for argument in arguments
            for source in (self._source(argument, _CONDITIONAL),)
        )
        return ", ".join(sources)

    def _negation(self, operand: Expression) -> tuple[str, int]:
        if _is_loose(operand) or self._extent(operand).nullable:
            return f"fn.negated({self._list(operand)})", _ATOM
        match operand:
            case Membership(of, options) if self._is_sought(of, options):
                return f"{self._source(of, _COMPARISON + 1)} not in {literal(options)}", _COMPARISON
            case Binary("==" | "!=" as operator, left, right) if _are_comparable(left, right):
                return self._operation("!=" if operator == "==" else "==", left, right, condition=False)
            case _:
                return f"not {self._source(operand, NEGATION)}", NEGATION

    def _signed(self, operator: str, operand: Expression) -> tuple[str, int]:
        found = self._extent(operand)
        if self._is_certain(operand) and found.high <= -(LOWEST + 1) and found.low >= -HIGHEST:
            return operator + self._source(operand, _UNARY), _UNARY
        return f"fn.{UNARY_OPERATORS[operator].__name__}({self._list(operand)})", _ATOM

    def _operation(self, operator: str, left: Expression, right: Expression, *, condition: bool) -> tuple[str, int]:
        binding = BINDING[operator]
        if operator in _EQUALITY and isinstance(right, Literal) and isinstance(right.value, bool | None):
            word = "is" if operator == "==" else "is not"
            return f"{self._source(left, binding + 1)} {word} {literal(right.value)}", binding
        inner = condition and operator in _LOGIC
        first = self._source(left, binding + 1 if binding == _COMPARISON else binding, condition=inner)
        return f"{first} {operator} {self._source(right, binding + 1, condition=inner)}", binding

    def _membership(self, operand: Expression, options: tuple[object, ...]) -> tuple[str, int]:
        if self._is_sought(operand, options):
            return f"{self._source(operand, _COMPARISON + 1)} in {literal(options)}", _COMPARISON
        return f"fn.among({self._list(operand)}, {literal(options)})", _ATOM

    def _is_sought(self, operand: Expression, options: tuple[object, ...]) -> bool:
        """Whether Python's `in` has the same result as the language's."""
        return kind(operand) in _COMPARABLE or not any(isinstance(option, int) for option in options)

    def _is_plain(self, expression: Binary, *, condition: bool) -> bool:
        """Whether Python's operator has the same result as the language's."""
        left, right = expression.left, expression.right
        if expression.operator in _LOGIC:
            certain = not (self._extent(left).nullable or self._extent(right).nullable)
            return condition or (certain and not (_is_loose(left) or _is_loose(right)))
        if expression.operator in _EQUALITY:
            return _are_comparable(left, right)
        certain = self._is_certain(left) and self._is_certain(right)
        if expression.operator in _ORDER:
            return certain
        if expression.operator in _SHIFTS and not isinstance(right, Literal):
            return False  # the count may be any value when building, and a huge shift would exhaust memory
        return certain and not overflows(expression.operator, self._extent(left), self._extent(right))

    def _is_certain(self, expression: Expression) -> bool:
        """Whether the value is never null; `index` is null outside of lists."""
        if expression == Position("index"):
            return False
        return kind(expression) is Kind.INTEGER and not self._extent(expression).nullable

    def _extent(self, expression: Expression) -> Extent:
        return self.known.of(expression)


def _is_loose(expression: Expression) -> bool:
    """Whether a condition may have another kind than boolean."""
    return kind(expression) is not Kind.BOOLEAN


def _are_literals(expressions: Sequence[Expression]) -> bool:
    return all(isinstance(each.operand if isinstance(each, Unary) else each, Literal) for each in expressions)


def _are_comparable(left: Expression, right: Expression) -> bool:
    """Whether Python's equality is the language's; Python has `True == 1`, the language has not."""
    if isinstance(right, Literal) and (right.value is None or isinstance(right.value, bool | str)):
        return True
    kinds = {kind(left), kind(right)}
    return len(kinds) == 1 and kinds.isdisjoint((Kind.FLOAT, Kind.ANY))


def ranges_name(name: str) -> str:
    """The constant that holds the named ranges."""
    return f"RANGES_{name.upper()}"
