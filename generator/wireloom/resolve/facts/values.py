"""Bounds of numbers, listed values and nullability in a struct, as far as they hold for all data."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace

from wireloom.expr.ast import Expression, FieldRef, Kind, Literal
from wireloom.expr.extents import Extent, Known
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import field_extents, may_be_absent
from wireloom.model.types import Field, Scalar, Struct
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.outline import possible_values
from wireloom.resolve.facts.sites import Names

_LONG = (1 << 63) - 1
_SCALARS = types.Integer | types.Float | types.Boolean | types.Text | types.Bytes
_MANY = 1 << 12  # more values than this are not enumerated


@dataclass(frozen=True, slots=True)
class Facts:
    """The known bounds of a struct's numbers, and its fields by name."""

    struct: Struct
    known: Known
    fields: Mapping[str, tuple[Field, ...]]  # without members of flattened structs

    def of(self, expression: Expression) -> Extent:
        """The bounds of a number."""
        return self.known.of(expression)

    def is_there(self, name: str) -> bool:
        """Whether a field is a scalar that is never null."""
        fields = self.fields.get(name, ())
        return bool(fields) and all(map(_is_scalar, fields)) and not self.of(FieldRef(0, name)).nullable

    def charset(self, expression: Expression) -> str:
        """The character set of a text that expressions see as bytes; empty for anything else."""
        return next((types.charset_of(field.type) for field in self._fields(expression)), "")

    def values(self, expression: Expression) -> list[Scalar] | None:
        """All possible values of an expression; None if there are many or it may be null."""
        if self._fields(expression) and isinstance(expression, FieldRef):
            listed = listed_values(self.struct, expression.name)
            if listed is not None:
                return None if None in listed else list(listed)
        found = self.of(expression)
        if found.nullable:
            return None
        if kind(expression) is Kind.BOOLEAN:
            return [False, True]
        if kind(expression) is not Kind.INTEGER or found.high - found.low >= _MANY:
            return None
        return list(range(found.low, found.high + 1))

    def never(self, operand: Expression, value: object) -> str | None:
        """Why an operand never has a value, empty if that is obvious; None if it may have it."""
        if kind(operand) is not Kind.INTEGER:
            found = [_obstacle(each, value) for each in self._fields(operand)]
            return found[0] if found and all(found) else None
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        extent = self.of(operand)
        return None if extent.low <= value <= extent.high else self.bounds(operand)

    def bounds(self, expression: Expression) -> str:
        """The bounds of a number in words; empty for literals and unknown bounds."""
        found = self.of(expression)
        if isinstance(expression, Literal) or found.low < -_LONG - 1 or found.high > 2 * _LONG + 1:
            return ""
        what = text_of(expression) if isinstance(expression, FieldRef) else "its value"
        return f"{what} is {found.text}"

    def _fields(self, expression: Expression) -> tuple[Field, ...]:
        match expression:
            case FieldRef(0, name, ()):
                return self.fields.get(name, ())
            case _:
                return ()


@dataclass(frozen=True, slots=True)
class View:
    """The facts about each struct of a format, computed once."""

    names: Names
    _found: dict[str, Facts] = dataclasses.field(default_factory=dict)

    def facts(self, struct: Struct) -> Facts:
        """The facts about a struct."""
        if struct.name not in self._found:
            self._found[struct.name] = self._facts(struct)
        return self._found[struct.name]

    def _facts(self, struct: Struct) -> Facts:
        flat = replace(struct, steps=tuple(field for field in struct.fields if field.flatten))
        flattened = field_extents(flat, self.names.named)
        fields: dict[str, tuple[Field, ...]] = {}
        for field in struct.fields:
            if not field.flatten and field.wire_name not in flattened:
                fields[field.wire_name] = (*fields.get(field.wire_name, ()), field)
        return Facts(struct, Known(field_extents(struct, self.names.named)), fields)


def _is_scalar(field: Field) -> bool:
    has_meaning = field.mappings is not None or field.meaning is not None or field.refers is not None
    is_scalar = isinstance(field.type, _SCALARS | types.JsonText)
    return is_scalar and not has_meaning and field.compute is None and not may_be_absent(field)


def _obstacle(field: Field, value: object) -> str:
    """Why a field never has this text, these bytes or this boolean; empty if it may."""
    if not isinstance(field.type, _SCALARS) or field.mappings is not None or field.refers is not None:
        return ""
    if field.const is not None and type(field.const) is type(value) and field.const != value:
        return f"{field.wire_name} is a constant"
    flaw = constants.misfit(field.type, value)
    return f"it {flaw}" if flaw else ""


def listed_values(struct: types.Struct, name: str) -> set[types.Scalar] | None:
    """The possible values of a field that lists them and is always present; else None."""
    for field in struct.fields:
        certain = field.presence is types.Presence.REQUIRED and not field.is_conditional
        if field.wire_name == name and field.mappings is not None and certain:
            found = [possible_values(mapping.value) for mapping in field.mappings]
            return None if None in found else {value for each in found for value in each or ()}
    return None
