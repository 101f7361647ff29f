"""Derive logical types from wire types.

Hidden fields are dropped, and flattened structs become part of their parent. The types of a union are merged: equal
types stay, integers and floats widen, texts join their symbols, and records join their fields (fields that one side
lacks become nullable). Different kinds become alternatives. Recursive values are open, and so is every list and map
that contains them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import assert_never

from wireloom.expr.ast import Kind, Literal
from wireloom.expr.extents import Extent, extent
from wireloom.expr.types import kind as expression_kind
from wireloom.model import types
from wireloom.model.extents import field_extents
from wireloom.model.meanings import integer_type
from wireloom.model.traversal import parts
from wireloom.model.types import Amount
from wireloom.resolve.bind.outline import possible_values
from wireloom.runtime.columns import logical
from wireloom.runtime.columns.logical import LogicalField, LogicalType
from wireloom.runtime.values import ENTRY

_KIND_ORDER = ("bool", "int", "float", "str", "bytes", "list", "map", "record", "variant")
_WIDTHS = (8, 16, 32, 64)  # bits of integers in columns


class ColumnsClash(Exception):  # noqa: N818 - a mistake of the spec, reported at the root
    """The values of one column have no common type; `name` is the column, if it is known."""

    def __init__(self, id: str, what: str, hint: str, name: str = "") -> None:
        super().__init__(id, what, hint, name)
        self.id, self.what, self.hint, self.name = id, what, hint, name


def _of_meanings() -> ColumnsClash:
    what = "has different meanings in different records"
    return ColumnsClash("clashing-meanings", what, "give the fields the same meaning and `charset`, or rename one")


def _of_open(kind: str) -> ColumnsClash:
    what = f"is {kind} in some records and a value of any type in others"
    return ColumnsClash("clashing-types", what, "rename one of the fields, or give both the open type")


_NARROWEST = 32  # bits of the narrowest float in columns
_NOTHING = logical.Record(())  # the type of a value that is always null, until it is merged


@dataclass(frozen=True, slots=True)
class Shape:
    """A logical type and whether its value may be null; `empty` if it is always null."""

    type: LogicalType
    nullable: bool = False
    empty: bool = False


Types = Mapping[str, types.Type]


def _integer(bits: int, *, signed: bool) -> LogicalType:
    """The column of an integer: of its own width, else the narrowest signed type that holds it."""
    if bits > _WIDTHS[-1]:
        return logical.Integer(bits, signed) if signed else logical.BigInteger()
    if bits in _WIDTHS:
        return logical.Integer(bits, signed)
    return logical.Integer(next(width for width in _WIDTHS if width > bits), signed=True)


def shape(type: types.Type, named: Types) -> Shape:
    """The logical type of a wire type."""
    match type:
        case types.Integer(bits=bits, signed=signed):
            return Shape(_integer(bits, signed=signed))
        case types.Float(bits=bits):
            return Shape(logical.Float(max(bits, _NARROWEST)))
        case types.Boolean():
            return Shape(logical.Boolean())
        case types.Null():
            return Shape(_NOTHING, nullable=True, empty=True)
        case types.Text() | types.JsonText():
            return Shape(logical.Text())
        case types.Bytes(charset=str(charset)) if charset:
            return Shape(logical.Meant(logical.Binary(), logical.Encoded(charset)))
        case types.Bytes(size=size):
            return Shape(logical.Binary(_literal_size(size)))
        case types.Array(element=element, held=types.Held(mappings=tuple(mappings))):
            meaning = mapped_shape(mappings)
            return _list(replace(meaning, nullable=meaning.nullable or isinstance(element, types.Nullable)))
        case types.Array(element=element, entries=True):
            return _entries(shape(element, named).type)
        case types.Array(element=element):
            return _list(shape(element, named))
        case types.Map(key=key, value=value):
            return _map(shape(key, named), shape(value, named))
        case types.Extension(content=content):
            return shape(content, named)
        case types.Nullable(type=inner):
            return replace(shape(inner, named), nullable=True)
        case types.Reference(name=name):
            return shape(named[name], named)
        case types.OneOf(open=True):
            return Shape(logical.Open(frozenset(_kinds(type, named))), nullable=True)
        case types.OneOf() | types.Select():
            return merged(shape(each, named) for each in parts(type))
        case types.Attempt():
            return _attempt(type, named)
        case types.Struct():
            return Shape(logical.Record(tuple(_joined(_struct_fields(type, named)))))
        case _:
            assert_never(type)


def _literal_size(size: Amount | None) -> int | None:
    return size.value if isinstance(size, Literal) and isinstance(size.value, int) else None


def _kinds(type: types.Type, named: Types, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The kinds of an open union's alternatives; its lists and maps may contain any kind."""
    match type:
        case types.Array(entries=entries):
            yield "map" if entries else "list"
        case types.Map():
            yield "map"
        case types.Nullable(type=inner) | types.Extension(content=inner):
            yield from _kinds(inner, named, seen)
        case types.OneOf(alternatives=alternatives):
            for each in alternatives:
                yield from _kinds(each.type, named, seen)
        case types.Reference(name=name):
            if name not in seen:
                yield from _kinds(named[name], named, seen | {name})
        case types.Null():
            pass
        case _:
            yield logical.kind_name(shape(type, named).type)


def _list(element: Shape) -> Shape:
    if isinstance(element.type, logical.Open):
        return Shape(logical.Open(frozenset({"list"})))
    return Shape(logical.List(element.type, element.nullable))


def _map(key: Shape, value: Shape) -> Shape:
    if isinstance(key.type, logical.Open) or isinstance(value.type, logical.Open):
        return Shape(logical.Open(frozenset({"map"})))
    return Shape(logical.Map(key.type, value.type, value.nullable))


def _entries(record: LogicalType) -> Shape:
    """The map whose entries are records of this type."""
    members = {each.name: each for each in record.fields} if isinstance(record, logical.Record) else {}
    if members.keys() != set(ENTRY):
        return Shape(_NOTHING)  # reported at its use
    key, value = (members[name] for name in ENTRY)
    return Shape(logical.Map(key.type, value.type, value.nullable))


def _attempt(attempt: types.Attempt, named: Types) -> Shape:
    """The record of an attempt: the alternative's name, the code that refused the previous one, and all fields."""
    codes = dict.fromkeys(code for trial in attempt.trials for fallback in trial.fallbacks for code in fallback.codes)
    names, why = tuple(trial.name for trial in attempt.trials), "The code that refused the alternative before; "
    kind = LogicalField(attempt.kind_field, logical.Text(names), False, "Which alternative the bytes are")  # noqa: FBT003
    reason = LogicalField(attempt.reason_field, logical.Text(tuple(codes)), True, f"{why}null for the first")  # noqa: FBT003
    content = merged(shape(trial.type, named) for trial in attempt.trials).type
    fields = content.fields if isinstance(content, logical.Record) else ()
    return Shape(logical.Record((*(each for each in (kind, reason) if each.name), *fields)))


# --- fields --------------------------------------------------------------------------------------------------------


def _struct_fields(struct: types.Struct, named: Types) -> Iterator[LogicalField]:
    known = field_extents(struct, named)  # by their names in expressions
    for field in struct.fields:
        if field.flatten:
            yield from _flattened(field, named)
            continue
        found = logical_field(field, named)
        computed = [each.value for each in field.mappings or ()] if field.compute is None else [field.compute]
        if any(extent(each, known).nullable for each in computed):
            found = replace(found, nullable=True)
        known[field.wire_name] = replace(known.get(field.wire_name, Extent()), nullable=found.nullable)
        if not field.hidden:
            yield found
        for bit in field.bits:
            if not bit.hidden:
                found = logical_bit(bit)
                unsaid = any(extent(each.value, known).nullable for each in bit.mappings or ())
                yield replace(found, nullable=found.nullable or unsaid or _may_be_absent(field))


def logical_field(field: types.Field, named: Types) -> LogicalField:
    """A field as readers see it."""
    found = field_shape(field, named)
    nullable = found.nullable or _may_be_absent(field)
    return LogicalField(field.name, found.type, nullable, field.doc, field.unit)


def logical_bit(bit: types.Bit) -> LogicalField:
    """A bit field as readers see it, if it is present."""
    found = _bit_shape(bit)
    return LogicalField(bit.title, found.type, found.nullable, bit.doc, bit.unit)


def field_shape(field: types.Field, named: Types) -> Shape:
    """The shape of a field's value, if it is present."""
    if field.mappings is not None:
        return mapped_shape(field.mappings)
    if field.refers is not None:
        return _entry_shape(field.refers, named)
    found = shape(field.type, named)
    return found if field.meaning is None else _with_meaning(found, field.meaning)


def _with_meaning(found: Shape, meaning: types.Meaning) -> Shape:
    """The shape of values with a meaning; for a list, of its elements."""
    match found.type:
        case logical.List(element):
            inner = _with_meaning(Shape(element, found.type.nullable), meaning)
            return replace(found, type=logical.List(inner.type, inner.nullable))
        case logical.Boolean() if meaning.shown is None:
            return found
        case logical.Boolean() | logical.Integer() | logical.Float() | logical.Text() | logical.Binary() as wire:
            type = logical.Meant(wire, meaning.shown, meaning.null)
            return replace(found, type=type, nullable=found.nullable or _may_mean_null(meaning))
        case logical.Meant(wire, logical.Encoded() as shown):
            type = logical.Meant(wire, meaning.shown or shown, meaning.null)
            return replace(found, type=type, nullable=found.nullable or _may_mean_null(meaning))
        case _:
            return found


def _may_mean_null(meaning: types.Meaning) -> bool:
    return meaning.null is not None or isinstance(meaning.shown, logical.Named)


def _may_be_absent(field: types.Field) -> bool:
    if field.is_conditional:
        return True
    if field.presence is not types.Presence.OPTIONAL:
        return False
    if field.mappings is not None:
        default = next((each.value for each in field.mappings if _same(each.wire, field.default)), Literal(None))
        return default == Literal(None)
    return field.default is None


def _same(first: object, second: object) -> bool:
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def _flattened(field: types.Field, named: Types) -> Iterator[LogicalField]:
    found = shape(field.type, named)
    absent = found.nullable or field.when is not None or field.presence is types.Presence.OPTIONAL
    if isinstance(found.type, logical.Record):
        for inner in found.type.fields:
            yield replace(inner, nullable=inner.nullable or absent)


def _bit_shape(bit: types.Bit) -> Shape:
    if bit.mappings is not None:
        return mapped_shape(bit.mappings)
    if bit.width == 1:
        return Shape(logical.Boolean())
    bits = next(width for width in _WIDTHS if bit.width <= width)
    found = Shape(logical.Integer(bits, bit.signed))
    is_plain = bit.meaning is None or bit.meaning == types.Meaning(raw=bit.meaning.raw)
    return found if bit.meaning is None or is_plain else _with_meaning(found, bit.meaning)


def mapped_shape(mappings: tuple[types.Mapping, ...]) -> Shape:
    """The shape of a value table's meanings."""
    known = [possible_values(each.value) for each in mappings]
    values = [value for each in known for value in each or ()]
    kinds = {expression_kind(each.value) for each in mappings} - {Kind.NULL}
    nullable = None in values
    present = tuple(dict.fromkeys(value for value in values if value is not None))
    match next(iter(kinds), Kind.NULL):
        case Kind.BOOLEAN:
            return Shape(logical.Boolean(), nullable)
        case Kind.INTEGER:
            return Shape(integer_type(mappings), nullable)
        case Kind.NULL:
            return Shape(_NOTHING, nullable=True, empty=True)
        case _:
            closed = all(each is not None for each in known)
            return Shape(logical.Text(tuple(str(value) for value in present) if closed else ()), nullable)


def tables(reference: types.TableReference, named: Types) -> Iterator[types.Field]:
    """The tables that a reference may refer to, one for each struct around it."""
    for holder in reference.holders:
        struct = named.get(holder)
        if isinstance(struct, types.Struct):
            yield from (field for field in struct.fields if field.wire_name == reference.table)


def _entry_shape(reference: types.TableReference, named: Types) -> Shape:
    """The shape of the entries of a table in an enclosing struct."""
    for table in tables(reference, named):
        if isinstance(table.type, types.Array):
            return shape(table.type.element, named)
    return Shape(logical.Text())


def _joined(fields: Iterator[LogicalField]) -> list[LogicalField]:
    """Join fields with the same name, of which only one is present at a time."""
    joined: dict[str, LogicalField] = {}
    for field in fields:
        known = joined.get(field.name)
        joined[field.name] = field if known is None else merged_field(known, field)
    return list(joined.values())


# --- merging -------------------------------------------------------------------------------------------------------


def merged(shapes: Iterator[Shape]) -> Shape:
    """The shape of a value that has one of several shapes."""
    return reduce(merge, shapes, Shape(_NOTHING, empty=True))


def merge(first: Shape, second: Shape) -> Shape:
    """The shape of a value that has one of two shapes."""
    nullable = first.nullable or second.nullable
    if first.empty or second.empty:
        kept = second if first.empty else first
        return Shape(kept.type, nullable, first.empty and second.empty)
    return Shape(merge_types(first.type, second.type), nullable)


def merge_types(first: LogicalType, second: LogicalType) -> LogicalType:
    """The type of a value that has one of two types."""
    match first, second:
        case logical.Open(), logical.Open():
            return logical.Open(first.kinds | second.kinds)
        case _ if first == second:
            return first
        case ((logical.Integer() | logical.BigInteger()), (logical.Integer() | logical.BigInteger())):
            return _wider(first, second)
        case logical.Float(left), logical.Float(right):
            return logical.Float(max(left, right))
        case logical.Text(left_symbols), logical.Text(right_symbols):
            closed = left_symbols and right_symbols
            return logical.Text(tuple(dict.fromkeys(left_symbols + right_symbols)) if closed else ())
        case logical.Binary(), logical.Binary():
            return logical.Binary(None)
        case logical.List(), logical.List():
            element = merge_types(first.element, second.element)
            return logical.List(element, first.nullable or second.nullable)
        case logical.Map(), logical.Map():
            key, value = merge_types(first.key, second.key), merge_types(first.value, second.value)
            return logical.Map(key, value, first.nullable or second.nullable)
        case logical.Record(), logical.Record():
            return merge_records(first, second)
        case logical.Meant(), logical.Meant() if (first.shown, first.null) == (second.shown, second.null):
            wire = merge_types(first.wire, second.wire)
            if isinstance(wire, logical.Integer | logical.Float | logical.Text | logical.Binary):
                return replace(first, wire=wire)
            raise _of_meanings()
        case (logical.Meant(), _) | (_, logical.Meant()):
            raise _of_meanings()
        case _:
            return _alternatives(first, second)


def merge_records(first: logical.Record, second: logical.Record) -> logical.Record:
    """All fields of both records; fields that one of them lacks become nullable."""
    others = {field.name: field for field in second.fields}
    names = {field.name for field in first.fields}
    shared = (
        merged_field(field, others[field.name]) if field.name in others else _nullable(field) for field in first.fields
    )
    added = (_nullable(field) for field in second.fields if field.name not in names)
    return logical.Record((*shared, *added))


def _nullable(field: LogicalField) -> LogicalField:
    """The field as nullable; most fields of merged cases already are."""
    return field if field.nullable else replace(field, nullable=True)


def merged_field(first: LogicalField, second: LogicalField) -> LogicalField:
    """A field that has one of two types; the first documentation counts."""
    try:
        type = merge_types(first.type, second.type)
    except ColumnsClash as clash:
        raise ColumnsClash(clash.id, clash.what, clash.hint, clash.name or first.name) from None
    return LogicalField(
        first.name, type, first.nullable or second.nullable, first.doc or second.doc, first.unit or second.unit
    )


def _wider(
    first: logical.Integer | logical.BigInteger, second: logical.Integer | logical.BigInteger
) -> logical.Integer | logical.BigInteger:
    """The smallest integer type that holds both."""
    if isinstance(first, logical.BigInteger) or isinstance(second, logical.BigInteger):
        return logical.BigInteger()
    if first.signed == second.signed:
        return logical.Integer(max(first.bits, second.bits), first.signed)
    signed, unsigned = (first, second) if first.signed else (second, first)
    if unsigned.bits < signed.bits:
        return signed
    return logical.Integer(min(unsigned.bits * 2, 65), signed=True)


def _alternatives(first: LogicalType, second: LogicalType) -> LogicalType:
    """Alternatives with one option for each kind, in the order of kinds."""
    options: dict[str, LogicalType] = {}
    for option in (*options_of(first), *options_of(second)):
        name = logical.kind_name(option)
        options[name] = merge_types(options[name], option) if name in options else option
    open_one = options.get("variant")
    held = open_one.kinds if isinstance(open_one, logical.Open) else frozenset[str]()
    for kind in options:
        if kind in held:
            raise _of_open(kind)
    ordered = tuple(options[name] for name in _KIND_ORDER if name in options)
    return ordered[0] if len(ordered) == 1 else logical.Alternatives(ordered)


def options_of(type: LogicalType) -> tuple[LogicalType, ...]:
    """The alternatives of a type; the type itself if it is not a union."""
    return type.options if isinstance(type, logical.Alternatives) else (type,)
