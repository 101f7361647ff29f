"""Conditions that hold if a field is missing: null differs from every value, so `x & 1 != 0` is true without `x`.

The language defines it so, but few authors expect it. Only `!=` with a constant in `when`, `keep` and `check` is
examined, and only if nothing around it ensures that the field is present. Fields of enclosing structs are not examined.
"""

from collections.abc import Iterator, Mapping
from itertools import chain

from wireloom.expr.ast import Binary, Call, Conditional, Expression, FieldRef, Literal, Membership, Unary, integer_of
from wireloom.expr.ast import parts as parts_of
from wireloom.expr.text import text_of
from wireloom.model.format import Format
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import plain
from wireloom.model.types import Array, Check, Discard, Field, Nullable, Presence, Struct, Type
from wireloom.problems import Problem
from wireloom.spec import Document

Facts = tuple[Expression, ...]  # conditions that hold where an expression is evaluated


def true_when_missing(format: Format, document: Document) -> Iterator[Problem]:
    """Warn about comparisons that a missing field makes true."""
    types = dict(format.types)
    for name, type in types.items():
        if isinstance(type, Struct):
            for comparison, missing in dict.fromkeys(_conditions(type, types)):
                text, test = text_of(comparison), f"present({missing})"
                message = f"{name}: `{text}` is true if {missing} is missing"
                hint = f"write `{test} and {text}`; or `not {test} or {text}` if that is intended"
                yield (document.place / "types" / name).problem("true-when-missing", message, hint)


def _conditions(struct: Struct, types: Mapping[str, Type]) -> Iterator[tuple[Expression, str]]:
    scope, checked = _Scope(struct), Facts()
    for step in struct.steps:
        match step:
            case Field(when=when, presence=Presence.REQUIRED) if when is not None:  # others may be absent anyway
                yield from scope.found(when, checked)
            case Check(that=that, when=when):
                around = checked if when is None else (*checked, *_both(when))
                yield from chain(() if when is None else scope.found(when, checked), scope.found(that, around))
                checked = checked if when is not None else (*checked, *_both(that))
            case Discard(field=name, keep=keep):
                for field in struct.fields:
                    if name in (field.name, field.wire_name) and isinstance(
                        element := _element(field.type, types), Struct
                    ):
                        yield from _Scope(element).found(keep, ())
            case _:
                pass


def _element(type: Type, types: Mapping[str, Type]) -> Type | None:
    found = plain(type.type if isinstance(type, Nullable) else type, types)
    return plain(found.element, types) if isinstance(found, Array) else None


class _Scope:
    """The fields of a struct that may be missing, by their names in expressions."""

    def __init__(self, struct: Struct) -> None:
        self._missing = dict[str, Facts]()  # the known conditions under which each is present
        for field in struct.fields:
            condition = presence_condition(field, struct)
            nullable = isinstance(field.type, Nullable) or field.presence is not Presence.REQUIRED
            if field.default is None and field.on_wire and (nullable or condition is not None):
                known = () if nullable or condition is None else tuple(_both(condition))
                self._missing |= dict.fromkeys((field.wire_name, *(bit.name for bit in field.bits)), known)

    def found(self, expression: Expression, facts: Facts) -> Iterator[tuple[Expression, str]]:
        """The comparisons in a condition that are true for a missing field, with that field."""
        match expression:
            case Binary("and", left, right):
                yield from self.found(left, (*facts, *_both(right)))
                yield from self.found(right, (*facts, *_both(left)))
            case Binary("or", left, right):
                yield from self.found(left, (*facts, *_neither(right)))
                yield from self.found(right, (*facts, *_neither(left)))
            case Conditional(condition, then, otherwise):
                yield from self.found(condition, facts)
                yield from self.found(then, (*facts, *_both(condition)))
                yield from self.found(otherwise, (*facts, *_neither(condition)))
            case Binary("!=", left, right) if _is_value(left) or _is_value(right):
                yield from ((expression, name) for name in self._nulls(right if _is_value(left) else left, facts))
            case _:
                yield from chain.from_iterable(self.found(part, facts) for part in parts_of(expression))

    def _nulls(self, expression: Expression, facts: Facts) -> Iterator[str]:
        """The fields that make a value null if they are missing."""
        match expression:
            case FieldRef(0, name, ()) if (known := self._missing.get(name)) is not None:
                present = bool(known) and set(known) <= set(facts)
                if not present and not any(_shows(fact, expression) for fact in facts):
                    yield name
            case Unary() | Binary():
                for part in parts_of(expression):
                    yield from self._nulls(part, facts)
            case _:
                pass


def _is_value(expression: Expression) -> bool:
    return integer_of(expression) is not None or (isinstance(expression, Literal) and expression.value is not None)


def _shows(fact: Expression, field: FieldRef) -> bool:
    """Whether a fact holds only if the field is present."""
    match fact:
        case FieldRef() | Call("present", (FieldRef(),)) | Binary("!=", FieldRef(), Literal(None)):
            return field in (fact, *parts_of(fact))
        case Binary("==" | "<" | "<=" | ">" | ">=", left, right) if _is_value(left) or _is_value(right):
            return _needs(left, field) or _needs(right, field)
        case Membership(operand, options):
            return None not in options and _needs(operand, field)
        case _:
            return False


def _needs(expression: Expression, field: FieldRef) -> bool:
    """Whether a value is null if the field is missing."""
    if isinstance(expression, Unary | Binary):
        return any(_needs(part, field) for part in parts_of(expression))
    return expression == field


def _both(condition: Expression) -> Iterator[Expression]:
    """The facts that hold if a condition does."""
    match condition:
        case Binary("and", left, right):
            yield from chain(_both(left), _both(right))
        case Unary("not", operand):
            yield from _neither(operand)
        case _:
            yield condition


def _neither(condition: Expression) -> Iterator[Expression]:
    """The facts that hold if a condition does not."""
    match condition:
        case Binary("or", left, right):
            yield from chain(_neither(left), _neither(right))
        case Unary("not", operand):
            yield from _both(operand)
        case Binary("==", left, right):
            yield Binary("!=", left, right)
        case Binary("!=", left, right):
            yield Binary("==", left, right)
        case _:
            pass
