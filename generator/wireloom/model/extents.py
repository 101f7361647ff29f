"""What is known of a struct's fields before there is any data: the extents of their integers, and which may be null."""

from collections.abc import Mapping as Table
from dataclasses import replace
from functools import reduce
from typing import assert_never

from wireloom.expr.ast import Conditional, Expression, Kind, Literal
from wireloom.expr.extents import Extent, extent
from wireloom.expr.types import kind, may_be_fraction
from wireloom.model.types import (
    Array,
    Attempt,
    Bit,
    Boolean,
    Bytes,
    Extension,
    Field,
    Float,
    Integer,
    JsonText,
    Map,
    Mapping,
    Null,
    Nullable,
    OneOf,
    Presence,
    Reference,
    Refusal,
    Select,
    Struct,
    Text,
    Type,
    not_null,
)

Types = Table[str, Type]
_COUNT = Extent(0, (1 << 63) - 1, nullable=False)


def field_extents(struct: Struct, named: Types, given: Expression | None = None) -> dict[str, Extent]:
    """What is known of each field of a struct by its name in expressions, where the condition `given` holds."""
    known: dict[str, Extent] = {}
    for field in struct.fields:
        found = _lent(field, named) if field.flatten else _named(field, known, given)
        for name, each in found.items():
            known[name] = each if name not in known else known[name].joined(each)
    return known


def _lent(field: Field, named: Types) -> dict[str, Extent]:
    """What is known of the members that a flattened field lends."""
    absent = may_be_absent(field)
    return {
        name: replace(found, nullable=found.nullable or absent)
        for name, found in _members(field.type, named, frozenset()).items()
    }


def _members(type: Type, named: Types, above: frozenset[str]) -> dict[str, Extent]:
    """What is known of the members of a struct, or of one of several."""
    match type:
        case Reference(name):
            return {} if name in above or name not in named else _members(named[name], named, above | {name})
        case Struct():
            return field_extents(type, named)
        case Select(cases=cases):
            inner = [case.type for case in cases if not isinstance(case.type, Refusal)]
        case Attempt(trials=trials):
            inner = [trial.type for trial in trials]
        case _:
            return {}
    found = [_members(each, named, above) for each in inner]
    missing = Extent()
    return {name: reduce(Extent.joined, (each.get(name, missing) for each in found)) for name in set().union(*found)}


def _named(field: Field, known: dict[str, Extent], given: Expression | None) -> dict[str, Extent]:
    own = field_extent(field, known)
    told = given is not None and given == field.when and not (field.since or field.until)
    absent = may_be_absent(field) and not told
    found = {field.wire_name: own, **{bit.name: bit_extent(bit) for bit in field.bits}}
    return {name: replace(each, nullable=each.nullable or absent) for name, each in found.items()}


def field_extent(field: Field, known: dict[str, Extent]) -> Extent:
    """What is known of a field's value where the field is there; `known` are the fields before it."""
    if field.counted:
        return _COUNT
    if field.compute is not None:
        computed = extent(field.compute, known)
        return replace(type_extent(field.type), nullable=computed.nullable)
    if field.mappings is not None:
        return _mapped(field.mappings)
    if field.refers is not None:
        return Extent()
    found = type_extent(field.type)
    low = found.low if field.minimum is None else max(field.minimum, found.low)
    high = found.high if field.maximum is None else min(field.maximum, found.high)
    return replace(found, low=low, high=high)


def may_be_absent(field: Field) -> bool:
    """Whether a field may be left out, and then has no value."""
    if field.is_conditional:
        return True
    return field.presence is Presence.OPTIONAL and field.default is None


def type_extent(type: Type) -> Extent:
    """What is known of a value of the type."""
    match type:
        case Integer():
            return Extent(type.minimum, type.maximum, nullable=False)
        case Boolean() | Float() | Text() | Bytes() | JsonText() | Array() | Map() | Extension() | Struct() | Attempt():
            return Extent(nullable=False)
        case Null() | OneOf() | Select() | Reference():
            return Extent()
        case Nullable(inner):
            return replace(type_extent(inner), nullable=True)
        case _:
            assert_never(type)


def bit_extent(bit: Bit) -> Extent:
    """What is known of the number that bits are."""
    if bit.mappings is not None:
        return _mapped(bit.mappings)
    if not bit.width:  # the integer has no such bits, which is reported
        return Extent()
    if bit.signed:
        return Extent(-(1 << bit.width - 1), (1 << bit.width - 1) - 1, nullable=False)
    return Extent(0, (1 << bit.width) - 1, nullable=False)


def _mapped(mappings: tuple[Mapping, ...]) -> Extent:
    """What is known of the meanings of a value table."""
    return Extent(nullable=any(_may_mean_null(mapping.value) for mapping in mappings))


def _may_mean_null(value: Expression) -> bool:
    match value:
        case Literal(plain):
            return plain is None
        case Conditional(_, then, otherwise):
            return _may_mean_null(then) or _may_mean_null(otherwise)
        case _:
            return True


def may_misfit(compute: Expression, type: Type) -> bool:
    """Whether a computed value may be of another kind than its type."""
    return kind(compute) is Kind.ANY or (isinstance(not_null(type), Integer) and may_be_fraction(compute))
