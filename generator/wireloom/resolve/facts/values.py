"""What is known of the fields of a struct before there is any data, for what asks whether something can ever hold.

It is more than generated code may rely on (`model.extents`): constants, computed numbers, sizes and counts that are
stated, and how texts are spelled hold of each value that readers see.
"""

import dataclasses
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from wireloom.expr.ast import Expression, FieldRef, Kind, Literal
from wireloom.expr.extents import Extent, Known
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import field_extents, may_be_absent
from wireloom.model.types import Bit, Field, Struct
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.outline import leaves
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.facts.sites import Names, held

_LONG = (1 << 63) - 1
_CHARACTER = 4  # bytes at most, in each character set
_REPLACED = 3  # bytes of what stands for a byte that is no text
_SCALARS = types.Integer | types.Float | types.Boolean | types.Text | types.Bytes


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a struct: of numbers in `known`, which fields have a name in `fields`, of sizes in `lengths`."""

    struct: Struct
    view: "View"
    known: Known
    fields: Mapping[str, tuple[Field, ...]]
    lengths: Mapping[str, Extent]
    there: frozenset[str]  # names of what is never null
    lent: frozenset[str]  # names of members that others lend

    def of(self, expression: Expression) -> Extent:
        """What is known of a number."""
        return self.known.of(expression)

    def named(self, reference: FieldRef) -> tuple["Named", ...]:
        """What a name means; nothing where that is not known."""
        return self.view.named(self.struct, reference)

    def obstacle(self, reference: FieldRef, value: object) -> str:
        """Why a field never is a text, bytes or a boolean; empty where it may be."""
        found = [each.obstacle(value) for each in self.named(reference)]
        return found[0] if found and all(found) else ""

    def charset(self, expression: Expression) -> str:
        """The character set of a text of which expressions know the bytes; empty for anything else."""
        fields = self.fields.get(expression.name, ()) if isinstance(expression, FieldRef) else ()
        return next((types.charset_of(field.type) for field in fields), "")


@dataclass(frozen=True, slots=True)
class Named:
    """A field of a struct that a name means, and what is known of that struct."""

    facts: Facts
    name: str

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of that name, of which one at most is there; none where others lend one."""
        return () if self.name in self.facts.lent else self.facts.fields.get(self.name, ())

    def obstacle(self, value: object) -> str:
        """Why it never is a text, bytes or a boolean; empty where it may be."""
        found = [_obstacle(field, value, self.facts.lengths.get(self.name)) for field in self.fields]
        return found[0] if found and all(found) else ""


@dataclass(frozen=True, slots=True)
class View:
    """What is known of each struct of a format; `replacing`: what is no text may be replaced, by more bytes."""

    names: Names
    replacing: bool
    _found: dict[str, Facts] = dataclasses.field(default_factory=dict)

    def facts(self, struct: Struct) -> Facts:
        """What is known of the fields of a struct."""
        if struct.name not in self._found:
            self._found[struct.name] = _facts(struct, self)
        return self._found[struct.name]

    def given(self, struct: Struct) -> Facts:
        """What is known of a value that may be of the struct, and may lack any of its fields."""
        found = self.facts(struct)
        lacking = {name: replace(found.of(FieldRef(0, name)), nullable=True) for name in (*found.fields, *found.lent)}
        return replace(found, known=Known(lacking), there=frozenset(), lengths={})

    def named(self, struct: Struct, reference: FieldRef) -> tuple[Named, ...]:
        """What a name at a struct means: one field for each struct that has it; nothing where that is not known."""
        found = [Named(self.facts(each), reference.name) for each in self.names.around(struct, reference.up)]
        for member in reference.members:
            inner = [each for named in found for each in self._within(named)]
            found = [Named(self.facts(each), member) for each in inner if each is not None] if all(inner) else []
        return tuple(found)

    def _within(self, named: Named) -> list[Struct | None]:
        """The structs that a field may be; None among them where it may be something else."""
        types = [
            (self.names.named[name], listed)
            for field in named.fields
            for name, listed in held(field.type, self.names.named)
        ]
        return [type if isinstance(type, Struct) and not listed else None for type, listed in types] or [None]

    def extent(self, struct: Struct, reference: FieldRef) -> Extent:
        """What is known of a member, or of a field of a struct around, which may always lack."""
        found = [each.facts.of(FieldRef(0, each.name)) for each in self.named(struct, reference)]
        return replace(reduce(Extent.joined, found), nullable=True) if found else Extent()


def _facts(struct: Struct, view: View) -> Facts:
    grows = _REPLACED if view.replacing else 1
    fields: dict[str, tuple[Field, ...]] = {}
    for field in struct.fields:
        if not field.flatten:
            fields[field.wire_name] = (*fields.get(field.wire_name, ()), field)
    flat = replace(struct, steps=tuple(field for field in struct.fields if field.flatten))
    lent = field_extents(flat, view.names.named)
    sized = ((name, _length(struct, each, grows)) for name, each in fields.items() if name not in lent)
    lengths = {name: length for name, length in sized if length is not None}
    known = _narrowed(struct, field_extents(struct, view.names.named), lent, lengths)
    scalars = {name for name, each in fields.items() if all(map(_is_scalar, each)) and not known[name].nullable}
    all_known = Known(known, lengths, lambda reference: view.extent(struct, reference))
    return Facts(struct, view, all_known, fields, lengths, frozenset(scalars - lent.keys()), frozenset(lent))


def _is_scalar(field: Field) -> bool:
    if field.mappings is not None or field.meaning is not None or field.refers is not None:
        return False
    return isinstance(field.type, _SCALARS | types.JsonText) and field.compute is None and not may_be_absent(field)


def _narrowed(
    struct: Struct, known: dict[str, Extent], lent: Mapping[str, Extent], lengths: Mapping[str, Extent]
) -> dict[str, Extent]:
    """The extents of fields and of bits, less what constants are not, and what is never computed."""
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
        for part, each in ((name, found), *_bits(field, found, known)):
            own[part] = each if part not in own else own[part].joined(each)
    return {**known, **own}


def _bits(field: Field, found: Extent, known: Mapping[str, Extent]) -> Iterator[tuple[str, Extent]]:
    """What the ends of an integer tell of its bits."""
    for bit in field.bits:
        plain = bit.width and bit.mappings is None
        each = _bit(bit, found.low, found.high) if plain else Extent()
        yield bit.name, replace(each, nullable=known[bit.name].nullable)


def _bit(bit: Bit, low: int, high: int) -> Extent:
    """The smallest and the largest that bits are of a number between two, which may have all bits behind in common."""
    size, behind = 1 << bit.width, bit.low + bit.width
    sign = size >> 1 if bit.signed and bit.width > 1 else 0
    least, most = ((number >> bit.low) % size for number in (low, high))
    if low >> behind != high >> behind or least < sign <= most:
        return Extent(-sign, size - sign - 1)
    low, high = (each - size if 0 < sign <= each else each for each in (least, most))
    return Extent(low, high)


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
    if not constants.fits(field.type, value):
        return f"{field.wire_name} is {constants.described(field.type)}"
    charset = types.charset_of(field.type)
    text = value.decode(charset, "replace") if charset and isinstance(value, bytes) else value
    if isinstance(text, str) and field.spelling is not None and not field.spelling.has(text):
        return f"the `{'pattern' if field.spelling.pattern else 'length'}` of {field.wire_name} does not take it"
    return ""


def _length_text(length: Extent) -> str:
    """How many bytes there are, in words."""
    low, high = length.low, length.high
    if low == high:
        return byte_count(low)
    return f"{low} to {high} bytes" if high < _LONG else f"{low} bytes or more"


def listed_values(struct: types.Struct, name: str) -> set[types.Scalar] | None:
    """The values that a field of the struct can have, where they are listed and it is always there."""
    for field in struct.fields:
        certain = field.presence is types.Presence.REQUIRED and not field.is_conditional
        if field.wire_name == name and field.mappings is not None and certain:
            found = [leaves(mapping.value) for mapping in field.mappings]
            return None if None in found else {value for each in found for value in each or ()}
    return None
