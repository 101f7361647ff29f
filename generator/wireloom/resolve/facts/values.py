"""What is known of the values in a struct before there is any data: the ends of numbers, listed values, lengths, null.

It is more than generated code may rely on (`model.extents`): constants, computed numbers, sizes and counts that are
stated, and how texts are spelled hold of each value that readers see.
"""

import dataclasses
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from wireloom.expr.ast import Binary, Expression, FieldRef, Kind, Literal
from wireloom.expr.extents import Extent, Known
from wireloom.expr.text import text_of
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import field_extents, may_be_absent
from wireloom.model.types import Field, Scalar, Struct
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.outline import leaves
from wireloom.resolve.facts.sites import Names

_LONG = (1 << 63) - 1
_CHARACTER = 4  # bytes at most, in each character set
_REPLACED = 3  # bytes of what stands for a byte that is no text
_SCALARS = types.Integer | types.Float | types.Boolean | types.Text | types.Bytes
_MANY = 1 << 12  # values that are not all looked at


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a struct: of numbers in `known`, which fields have a name in `fields`, of sizes in `lengths`."""

    struct: Struct
    known: Known
    fields: Mapping[str, tuple[Field, ...]]  # without members that others lend
    lengths: Mapping[str, Extent]

    def of(self, expression: Expression) -> Extent:
        """What is known of a number."""
        return self.known.of(expression)

    def is_there(self, name: str) -> bool:
        """Whether a field is a scalar that is never null."""
        fields = self.fields.get(name, ())
        return bool(fields) and all(map(_is_scalar, fields)) and not self.of(FieldRef(0, name)).nullable

    def charset(self, expression: Expression) -> str:
        """The character set of a text of which expressions know the bytes; empty for anything else."""
        return next((types.charset_of(field.type) for field in self._fields(expression)), "")

    def values(self, expression: Expression, most: int = _MANY) -> list[Scalar] | None:
        """All values that an expression may have; None where these may be more than `most`, or it may be null."""
        if self._fields(expression) and isinstance(expression, FieldRef):
            listed = listed_values(self.struct, expression.name)
            if listed is not None:
                return None if None in listed else list(listed)
        found = self.of(expression)
        if found.nullable:
            return None
        if kind(expression) is Kind.BOOLEAN:
            return [False, True]
        if kind(expression) is not Kind.INTEGER or found.high - found.low >= most:
            return None
        return [value for value in range(found.low, found.high + 1) if self.never(expression, value) is None]

    def never(self, operand: Expression, value: object) -> str | None:
        """Why an operand never is a value, in no words where that is plain; None where it may be."""
        if kind(operand) is not Kind.INTEGER:
            found = [_obstacle(each, value, self.lengths.get(each.wire_name)) for each in self._fields(operand)]
            return found[0] if found and all(found) else None
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        extent = self.of(operand)
        if not extent.low <= value <= extent.high:
            return self.bounds(operand)
        unset = value & ~_mask(operand)
        return f"{text_of(operand)} has no bit {(unset & -unset).bit_length() - 1}" if unset else None

    def bounds(self, expression: Expression) -> str:
        """What is known of a number, in words; empty for literals."""
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
    """What is known of each struct of a format; `replacing`: what is no text may be replaced, by more bytes."""

    names: Names
    replacing: bool
    _found: dict[str, Facts] = dataclasses.field(default_factory=dict)

    def facts(self, struct: Struct) -> Facts:
        """What is known of the fields of a struct."""
        if struct.name not in self._found:
            self._found[struct.name] = self._facts(struct)
        return self._found[struct.name]

    def _facts(self, struct: Struct) -> Facts:
        flat = replace(struct, steps=tuple(field for field in struct.fields if field.flatten))
        lent = field_extents(flat, self.names.named)
        fields: dict[str, tuple[Field, ...]] = {}
        for field in struct.fields:
            if not field.flatten and field.wire_name not in lent:
                fields[field.wire_name] = (*fields.get(field.wire_name, ()), field)
        lengths = {}
        for name, each in fields.items():
            found = [_length(struct, field, _REPLACED if self.replacing else 1) for field in each]
            if (known := [length for length in found if length is not None]) and len(known) == len(found):
                lengths[name] = reduce(Extent.joined, known)
        extents = _narrowed(struct, field_extents(struct, self.names.named), lent, lengths)
        return Facts(struct, Known(extents, lengths), fields, lengths)


def _is_scalar(field: Field) -> bool:
    told = field.mappings is not None or field.meaning is not None or field.refers is not None
    is_scalar = isinstance(field.type, _SCALARS | types.JsonText)
    return is_scalar and not told and field.compute is None and not may_be_absent(field)


def _narrowed(
    struct: Struct, known: dict[str, Extent], lent: Mapping[str, Extent], lengths: Mapping[str, Extent]
) -> dict[str, Extent]:
    """The extents of fields, less what constants are not, and what is never computed."""
    own = dict(lent)
    for field in struct.fields:
        if field.flatten or field.wire_name not in known:
            continue
        name, found = field.wire_name, known[field.wire_name]
        if isinstance(field.const, int) and field.mappings is None:
            found = replace(found, low=field.const, high=field.const)
        elif field.compute is not None and kind(field.compute) is Kind.INTEGER:
            each = Known(ChainMap(own, known), lengths).of(field.compute)
            if each.low <= found.high and found.low <= each.high:
                found = replace(found, low=max(each.low, found.low), high=min(each.high, found.high))
        own[name] = found if name not in own else own[name].joined(found)
    return {**known, **own}


def _length(struct: Struct, field: Field, grows: int) -> Extent | None:
    """How long a text or bytes are, or how many elements a list has; None where nothing says that."""
    if field.mappings is not None or field.refers is not None or not field.on_wire:
        return None
    match field.type:
        case types.Bytes() | types.Text():
            ends = list(_stated(field, grows))
        case types.Array(count=Literal(int(count)), salvage=None):
            thinned = any(isinstance(step, types.Discard) and step.field == field.wire_name for step in struct.steps)
            ends = [(0 if thinned else count, count)]
        case _:
            return None
    least = 0 if may_be_absent(field) else max((low for low, _ in ends), default=0)
    return Extent(least, min((high for _, high in ends), default=_LONG), nullable=False)


def _stated(field: Field, grows: int) -> Iterator[tuple[int, int]]:
    """The sizes that a field, its type and its spelling state."""
    more = grows if isinstance(field.type, types.Text) else 1
    for size in (getattr(field.type, "size", None), field.size if field.packing is None else None):
        match size:
            case Literal(int(octets)):
                yield octets, octets * more
            case types.Padded(octets):
                yield 0, octets * more
            case _:
                pass
    if field.spelling is not None:
        most = field.spelling.maximum
        yield field.spelling.minimum or 0, _LONG if most is None else most * _CHARACTER


def _mask(expression: Expression) -> int:
    """The bits that a number may have."""
    match expression:
        case Binary("&", _, Literal(int(mask))) | Binary("&", Literal(int(mask)), _):
            return mask
        case _:
            return -1


def _obstacle(field: Field, value: object, length: Extent | None) -> str:
    """Why a field never is a text, bytes or a boolean; empty where it may be."""
    if not isinstance(field.type, _SCALARS) or field.mappings is not None or field.refers is not None:
        return ""
    if field.const is not None and type(field.const) is type(value) and field.const != value:
        return f"{field.wire_name} is a constant"
    if not isinstance(value, str | bytes):
        return ""
    octets = len(value.encode(errors="surrogatepass") if isinstance(value, str) else value)
    if length is not None and not length.low <= octets <= length.high:
        return f"{field.wire_name} has {length.text} bytes, and this has {octets}"
    if not constants.fits(field.type, value):
        return f"{field.wire_name} is {constants.described(field.type)}"
    charset = types.charset_of(field.type)
    text = value.decode(charset, "replace") if charset and isinstance(value, bytes) else value
    if isinstance(text, str) and field.spelling is not None and not field.spelling.has(text):
        return f"the `{'pattern' if field.spelling.pattern else 'length'}` of {field.wire_name} does not take it"
    return ""


def listed_values(struct: types.Struct, name: str) -> set[types.Scalar] | None:
    """The values that a field of the struct can have, where they are listed and it is always there."""
    for field in struct.fields:
        certain = field.presence is types.Presence.REQUIRED and not field.is_conditional
        if field.wire_name == name and field.mappings is not None and certain:
            found = [leaves(mapping.value) for mapping in field.mappings]
            return None if None in found else {value for each in found for value in each or ()}
    return None
