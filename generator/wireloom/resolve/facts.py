"""What is known of the fields of a struct before there is any data, for what asks whether something can ever hold.

It is more than generated code may rely on (`model.extents`): constants, computed numbers, sizes and counts that are
stated, and how texts are spelled hold of each value that readers see.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from wireloom.expr.ast import Expression, Kind, Literal
from wireloom.expr.extents import Extent, Known
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import field_extents, may_be_absent
from wireloom.model.types import Field, Struct, Type

_LONG = (1 << 63) - 1
_CHARACTER = 4  # bytes at most, in each character set
_REPLACED = 3  # bytes of what stands for a byte that is no text
_SCALARS = types.Integer | types.Float | types.Boolean | types.Text | types.Bytes


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known: of numbers in `known`, of which field another has the name in `fields`, of sizes in `lengths`."""

    known: Known
    fields: Mapping[str, tuple[Field, ...]]
    lengths: Mapping[str, Extent]
    there: frozenset[str]  # names of what is never null

    def of(self, expression: Expression) -> Extent:
        """What is known of a number."""
        return self.known.of(expression)

    def obstacle(self, name: str, value: object) -> str:
        """Why a field never is a text, bytes or a boolean; empty where it may be."""
        found = [_obstacle(field, value, self.lengths.get(name)) for field in self.fields.get(name, ())]
        return found[0] if found and all(found) else ""


def facts(struct: Struct, named: Mapping[str, Type], *, replacing: bool) -> Facts:
    """What is known of the fields of a struct; `replacing`: what is no text may be replaced, by more bytes."""
    grows = _REPLACED if replacing else 1
    fields: dict[str, tuple[Field, ...]] = {}
    for field in struct.fields:
        if not field.flatten:
            fields[field.wire_name] = (*fields.get(field.wire_name, ()), field)
    lengths = {name: length for name, each in fields.items() if (length := _length(struct, each, grows)) is not None}
    known = _narrowed(struct, field_extents(struct, named), lengths)
    there = frozenset(name for name, each in fields.items() if all(map(_is_scalar, each)) and not known[name].nullable)
    return Facts(Known(known, lengths), fields, lengths, there)


def _is_scalar(field: Field) -> bool:
    if field.mappings is not None or field.meaning is not None or field.refers is not None:
        return False
    return isinstance(field.type, _SCALARS | types.JsonText) and field.compute is None and not may_be_absent(field)


def _narrowed(struct: Struct, known: dict[str, Extent], lengths: Mapping[str, Extent]) -> dict[str, Extent]:
    """The extents of fields, less what constants are not, and what is never computed."""
    own: dict[str, Extent] = {}
    for field in struct.fields:
        if field.flatten or field.wire_name not in known:
            continue
        name, found = field.wire_name, known[field.wire_name]
        if isinstance(field.const, int) and field.mappings is None:
            found = replace(found, low=field.const, high=field.const)
        elif field.compute is not None and kind(field.compute) is Kind.INTEGER:
            each = Known({**known, **own}, lengths).of(field.compute)
            if each.low <= found.high and found.low <= each.high:
                found = replace(found, low=max(each.low, found.low), high=min(each.high, found.high))
        own[name] = found if name not in own else own[name].joined(found)
    return {**known, **own}


# --- sizes ---------------------------------------------------------------------------------------------------------


def _length(struct: Struct, fields: tuple[Field, ...], grows: int) -> Extent | None:
    """How long a text or bytes are, or how many elements a list has; None where nothing says that."""
    found = [_length_of(struct, field, grows) for field in fields]
    lengths = [each for each in found if each is not None]
    if len(lengths) < len(found):
        return None
    return Extent(min(each.low for each in lengths), max(each.high for each in lengths), nullable=False)


def _length_of(struct: Struct, field: Field, grows: int) -> Extent | None:
    if field.mappings is not None or field.refers is not None or not field.on_wire:
        return None
    match field.type:
        case types.Bytes() | types.Text():
            low, high = _octets(field, grows)
        case types.Array(count=Literal(int(count)), salvage=None):
            thinned = any(isinstance(step, types.Discard) and step.field == field.wire_name for step in struct.steps)
            low, high = (0 if thinned else count), count
        case _:
            return None
    return Extent(0 if may_be_absent(field) else low, high, nullable=False)


def _octets(field: Field, grows: int) -> tuple[int, int]:
    """How many bytes a text or bytes have, at least and at most."""
    ends = [(0, _LONG), *_stated(field, grows)]
    if field.spelling is not None:
        most = field.spelling.maximum
        ends.append((field.spelling.minimum or 0, _LONG if most is None else most * _CHARACTER))
    return max(low for low, _ in ends), min(high for _, high in ends)


def _stated(field: Field, grows: int) -> Iterator[tuple[int, int]]:
    """The sizes that a field and its type state."""
    more = grows if isinstance(field.type, types.Text) else 1
    sizes = [getattr(field.type, "size", None), field.size if field.packing is None else None]
    for size in sizes:
        match size:
            case Literal(int(octets)):
                yield octets, octets * more
            case types.Padded(octets):
                yield 0, octets * more
            case _:
                pass


# --- texts, bytes and booleans -------------------------------------------------------------------------------------


def _obstacle(field: Field, value: object, length: Extent | None) -> str:
    if not isinstance(field.type, _SCALARS) or field.mappings is not None or field.refers is not None:
        return ""
    if field.const is not None and type(field.const) is type(value) and field.const != value:
        return f"{field.wire_name} is a constant"
    if not isinstance(value, str | bytes):
        return ""
    octets = len(value.encode(errors="surrogatepass") if isinstance(value, str) else value)
    if length is not None and not length.low <= octets <= length.high:
        return f"{field.wire_name} has {_length_text(length)}, and this has {octets}"
    if isinstance(value, str) and field.spelling is not None and not field.spelling.has(value):
        return f"the `{'pattern' if field.spelling.pattern else 'length'}` of {field.wire_name} does not take it"
    return ""


def _length_text(length: Extent) -> str:
    """How many bytes there are, in words."""
    low, high = length.low, length.high
    if low == high:
        return f"{low} byte{'' if low == 1 else 's'}"
    return f"{low} to {high} bytes" if high < _LONG else f"{low} bytes or more"
