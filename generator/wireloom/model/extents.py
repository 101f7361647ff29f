"""What the spec alone tells about a struct's fields: the range of their integers, and whether they may be null."""

from collections import ChainMap
from collections.abc import Mapping as Table
from dataclasses import replace
from functools import reduce
from typing import assert_never

from wireloom.expr.ast import Expression, Kind, Literal, leaves
from wireloom.expr.extents import Extent, Extents, extent
from wireloom.expr.types import kind, may_be_fraction
from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Attempt, Bit, Field, Integer, Nullable, Presence, Reference, Select, Struct, Text, Type

Types = Table[str, Type]
_COUNT = Extent(0, (1 << 63) - 1, nullable=False)


class StructExtents:
    """The extent of each field of a struct by its name in expressions: always, and under a condition.

    Under a condition, only the fields that the condition makes present are computed again. So a struct with a condition
    on every field costs little more per field.
    """

    def __init__(self, struct: Struct, named: Types) -> None:
        self.always: dict[str, Extent] = {}
        self._shared = set[str]()  # the names that several fields define
        self._told: dict[Expression, list[Field]] = {}  # by condition: the fields that it makes present
        for field in struct.fields:
            if field.when is not None and not field.flatten and not (field.since or field.until):
                self._told.setdefault(field.when, []).append(field)
            found = _flattened(field, named) if field.flatten else _by_name(field, self.always, None)
            for name, each in found.items():
                self._shared |= {name} & self.always.keys()
                self.always[name] = each if name not in self.always else self.always[name].joined(each)

    def under(self, given: Expression | None) -> Extents:
        """The extents if a condition holds."""
        told: dict[str, Extent] = {}
        known = ChainMap(told, self.always)
        for field in self._told.get(given, ()) if given is not None else ():
            found = _by_name(field, known, given)
            told |= {name: each for name, each in found.items() if name not in self._shared}
        return known if told else self.always


def field_extents(struct: Struct, named: Types) -> dict[str, Extent]:
    """The extent of each field of a struct by its name in expressions."""
    return StructExtents(struct, named).always


def _flattened(field: Field, named: Types) -> dict[str, Extent]:
    """The extents of the members that a flattened field adds to its parent."""
    absent = may_be_absent(field)
    return {
        name: replace(found, nullable=found.nullable or absent)
        for name, found in _members(field.type, named, frozenset()).items()
    }


def _members(type: Type, named: Types, above: frozenset[str]) -> dict[str, Extent]:
    """The extents of the members of a struct, or of a choice of structs."""
    match type:
        case Reference(name):
            return {} if name in above or name not in named else _members(named[name], named, above | {name})
        case Struct():
            return field_extents(type, named)
        case Select() | Attempt():
            found = [_members(each, named, above) for each in parts(type)]
        case _:
            return {}
    missing = Extent()
    return {name: reduce(Extent.joined, (each.get(name, missing) for each in found)) for name in set().union(*found)}


def _by_name(field: Field, known: Extents, given: Expression | None) -> dict[str, Extent]:
    own = field_extent(field, known)
    is_told = given is not None and given == field.when and not (field.since or field.until)
    absent = may_be_absent(field) and not is_told
    found = {field.wire_name: own, **{bit.name: bit_extent(bit) for bit in field.bits}}
    return {name: replace(each, nullable=each.nullable or absent) for name, each in found.items()}


def field_extent(field: Field, known: Extents) -> Extent:
    """The extent of a field that is present; `known` has the fields before it."""
    if field.counted:
        return _COUNT
    if field.compute is not None:
        computed = extent(field.compute, known)
        return replace(type_extent(field.type), nullable=computed.nullable)
    if field.mappings is not None:
        return _mapped(field.mappings)
    if field.refers is not None:
        return Extent()
    return ranged_extent(field, field.type)


def ranged_extent(field: Field, type: Type) -> Extent:
    """The extent of a value of the type, narrowed by the range of a field."""
    found = type_extent(type)
    low = found.low if field.minimum is None else max(field.minimum, found.low)
    high = found.high if field.maximum is None else min(field.maximum, found.high)
    return replace(found, low=low, high=high)


def may_be_absent(field: Field) -> bool:
    """Whether a field may be left out without a default."""
    if field.is_conditional:
        return True
    return field.presence is Presence.OPTIONAL and field.default is None


def type_extent(type: Type) -> Extent:
    """The extent of a value of the type."""
    match type:
        case Integer():
            return Extent(type.minimum, type.maximum, nullable=False)
        case (
            types.Boolean()
            | types.Float()
            | Text()
            | types.Bytes()
            | types.JsonText()
            | types.Array()
            | types.Map()
            | types.Extension()
            | Struct()
            | Attempt()
        ):
            return Extent(nullable=False)
        case types.Null() | types.OneOf() | Select() | Reference():
            return Extent()
        case Nullable(inner):
            return replace(type_extent(inner), nullable=True)
        case _:
            assert_never(type)


def bit_extent(bit: Bit) -> Extent:
    """The extent of the number in a bit range."""
    if bit.mappings is not None:
        return _mapped(bit.mappings)
    if not bit.width:  # the integer is too narrow, which is reported elsewhere
        return Extent()
    if bit.signed:
        return Extent(-(1 << bit.width - 1), (1 << bit.width - 1) - 1, nullable=False)
    return Extent(0, (1 << bit.width) - 1, nullable=False)


def _mapped(mappings: tuple[types.Mapping, ...]) -> Extent:
    """The extent of the meanings of a value table."""
    return Extent(nullable=any(_may_mean_null(mapping.value) for mapping in mappings))


def _may_mean_null(value: Expression) -> bool:
    return any(not isinstance(each, Literal) or each.value is None for each in leaves(value))


def may_misfit(compute: Expression, type: Type) -> bool:
    """Whether a computed value may have another kind than its type."""
    return kind(compute) is Kind.ANY or (isinstance(types.not_null(type), Integer) and may_be_fraction(compute))
