"""Builders must know a value for each field on the wire.

Every parsed record can be built again. So hidden fields must be determined by visible ones (`derive`, `const`,
`checksum`, the entries of a table), or have no meaning: a hidden field of a known size that no expression uses is a
filler, which parsers skip and builders write as zeros.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wireloom.expr.ast import Binary, Conditional, Expression, FieldRef, Kind, Literal, fields_in
from wireloom.expr.extents import Extents, extent
from wireloom.expr.types import kind
from wireloom.model import types
from wireloom.model.extents import StructExtents
from wireloom.model.traversal import NamedTypes, plain, with_fields, with_structs, within
from wireloom.model.types import Field, Presence, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import (
    Names,
    Node,
    Role,
    Types,
    all_placed,
    every_site,
    holders,
    names_told_by,
    structs,
    values_asked,
)
from wireloom.spec.documents import Place

_REMEDY = "add `derive`, `const` or `checksum`, or show it to readers"
_REMEDY_OF_BITS = "add `derive`, or show it to readers"
_FILLED = 1 << 16  # bytes that builders fill
_SCALARS = types.Integer | types.Float | types.Boolean | types.Text | types.Bytes | types.JsonText | types.Null


def check_building(draft: Draft, named: Types, names: Names) -> None:
    """Report fields whose value builders cannot know."""
    looked_at = _looked_at(draft.place, named, names)
    told_by = _usual_derivations(draft.place, named, names)
    for place, struct, field in all_placed(draft.place, named):
        _check_source(draft, place, struct, field, looked_at, told_by, named)
        _check_flattened(draft, place, struct, field, looked_at)
        _check_scalar(draft, place, field, named)
    _check_summed(draft, named, names)


def with_filler(named: NamedTypes, place: Place) -> NamedTypes:
    """The types, with values for fillers, and with defaults for fields derived from null."""
    known = dict(named)
    looked_at = _looked_at(place, known, Names(known, holders(known)))
    return with_structs(named, lambda struct: _filled(struct, looked_at, known))


# --- where the value of a hidden field comes from ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """The fields and bits that expressions and steps use; members of members only by name.

    `flags` are those that are only tested for presence.
    """

    nodes: frozenset[Node]
    members: frozenset[str]
    flags: frozenset[Node]

    def has(self, struct: Struct, name: str) -> bool:
        """Whether anything uses a field of the struct, or a bit of one."""
        return (struct.name, name) in self.nodes or name in self.members

    def has_value(self, struct: Struct, name: str) -> bool:
        """Whether anything uses its value, not only its presence."""
        return self.has(struct, name) and (struct.name, name) not in self.flags


def _looked_at(root: Place, named: Types, names: Names) -> _LookedAt:
    nodes, members, valued = set[Node](), set[str](), set[Node]()
    for site in every_site(root, named):
        for reference in fields_in(site.expression):
            members.update(reference.members)
            nodes.update(names.nodes(site.struct, replace(reference, members=())))
        values = (replace(each, members=()) for each in values_asked(site.expression))
        valued.update(names.nodes(site.struct, *values))
    for struct in structs(named):
        for step in struct.steps:
            if isinstance(step, types.Check | types.Verify | types.Discard):
                nodes.add((struct.name, step.field))
                valued.add((struct.name, step.field))
    for type in named.values():
        members.update(names_told_by(type))
    return _LookedAt(frozenset(nodes), frozenset(members), frozenset(nodes - valued))


def _usual_derivations(root: Place, named: Types, names: Names) -> Mapping[Node, str]:
    """Hints for hidden lengths, counts and flags: the usual `derive` from the fields that they decide.

    The fields may belong to an enclosing struct.
    """
    found: dict[Node, str] = {}
    alone: dict[Node, str] = {}
    for site in every_site(root, named):
        if site.field is None or not isinstance(site.expression, FieldRef) or site.expression.up:
            continue
        match site.role, site.field.type:
            case Role.SIZE, types.Bytes() | types.Text():
                hints, hint = found, f"add `derive: len({site.field.wire_name})`"
            case Role.COUNT, _:
                hints, hint = found, f"add `derive: count({site.field.wire_name})`"
            case Role.CONDITION, _ if is_seen(site.field):
                hints, hint = found, f"add `derive: present({site.field.wire_name})`"
            case Role.CONDITION, _:
                hint = f"show it to readers: nothing else decides whether {site.field.wire_name} is there"
                hints = alone
            case _:
                continue
        for node in names.nodes(site.struct, site.expression):
            hints.setdefault(node, hint)
    return {**alone, **found}


def is_seen(field: Field) -> bool:
    """Whether readers can see if a field is present."""
    return not field.hidden or any(not bit.hidden for bit in field.bits)


def _check_source(  # noqa: PLR0913 - the rule needs all of them
    draft: Draft,
    place: Place,
    struct: Struct,
    field: Field,
    looked_at: _LookedAt,
    told_by: Mapping[Node, str],
    named: Types,
) -> None:
    def remedy(name: str, otherwise: str = _REMEDY) -> str:
        return told_by.get((struct.name, name), otherwise)

    if field.table and field.hidden and looked_at.has(struct, field.wire_name):
        message = (
            f"builders write the hidden table {field.wire_name} only for fields that refer to it, not for expressions"
        )
        draft.reports_entry(place, "unknown-on-build", message, "show it to readers: drop `hidden`")
    may_lack = field.const is not None and field.presence is Presence.OPTIONAL and not field.has_default
    if field.hidden and may_lack and looked_at.has(struct, field.wire_name):
        message = (
            f"builders would always write the hidden field {field.wire_name}, but expressions ask if it is present"
        )
        draft.reports_entry(place, "unknown-on-build", message, "show it to readers, or drop `optional`")
    if not needs_source(field):
        return
    if field.bits:
        unnamed = set(range(field.type.bits if isinstance(field.type, types.Integer) else 0))
        unnamed -= {number for bit in field.bits for number in range(bit.low, bit.low + bit.width)}
        is_held = field.minimum is not None or field.maximum is not None
        if unnamed and (is_held or looked_at.has_value(struct, field.wire_name)):
            what = "which has a range" if is_held else "which an expression uses"
            message = f"bit {min(unnamed)} of {field.wire_name}, {what}, has no value when building"
            hint = f"name all its bits, or {'drop `range`' if is_held else 'use only the named bits in expressions'}"
            draft.reports_entry(place, "unknown-on-build", message, hint)
        for bit in field.bits:
            known = not bit.hidden or bit.derive is not None
            if not known and (looked_at.has(struct, bit.name) or bit.mappings is not None):
                message = f"the hidden bit field {bit.name} has no value when building"
                hint = remedy(bit.name, _REMEDY_OF_BITS)
                draft.reports_entry(place / "bits" / bit.name, "unknown-on-build", message, hint)
        return
    if looked_at.has(struct, field.wire_name):
        message = f"the hidden field {field.wire_name}, which an expression uses, has no value when building"
        draft.reports_entry(place, "unknown-on-build", message, remedy(field.wire_name, _remedy(field, struct, named)))
    elif not _may_be_left_out(field) and filler(struct, field) is None:
        message = f"the hidden field {field.wire_name} has no value when building"
        hint = _remedy(field, struct, named)
        if struct.encoding.laid_out:
            hint += "; only hidden numbers and bytes are filled with zeros"
        draft.reports_entry(place, "unknown-on-build", message, hint)


def _remedy(field: Field, struct: Struct, named: Types) -> str:
    """A hint for a hidden field without a value, with only keys that its type allows."""
    match plain(types.not_null(field.type), named):
        case Struct() | types.Select() | types.Attempt():
            return "write `flatten: true` in place of `hidden`, or show it to readers"
        case types.Array() | types.Map() | types.OneOf():
            return "show it to readers: drop `hidden`"
        case types.Integer() | types.Bytes() if struct.encoding.laid_out:
            return _REMEDY
        case _:
            return "add `derive` or `const`, or show it to readers"


def _check_flattened(draft: Draft, place: Place, struct: Struct, field: Field, looked_at: _LookedAt) -> None:
    """Report expressions about the presence of an optional flattened record, which only its members show."""
    may_be_left_out = field.flatten and field.presence is Presence.OPTIONAL and struct.encoding.leaves_out
    if may_be_left_out and (struct.name, field.wire_name) in looked_at.nodes:
        message = f"builders cannot know if {field.wire_name} is present, since all its members may be null"
        hint = "use a member that always has a value"
        draft.reports_entry(place, "unknown-on-build", message, hint)


def _check_summed(draft: Draft, named: Types, names: Names) -> None:
    """Report checksums that depend on other checksums: builders compute all of them last."""
    for site in every_site(draft.place, named):
        if site.role not in (Role.SUMMED, Role.STORED) or site.field is None:
            continue
        for reference in fields_in(site.expression):
            origins = names.origins(site.struct, reference)
            others = [each.field.wire_name for each in origins if each.field.checksum is not None]
            if others and others != [site.field.wire_name]:
                message = f"{others[0]} is also a checksum, and builders compute checksums last"
                draft.reports(site.place, "unknown-on-build", message, "use other fields of the record")


def needs_source(field: Field) -> bool:
    """Whether the value of a hidden field can only come from the data."""
    has_source = field.const is not None or field.derive is not None or field.checksum is not None or field.table
    return field.on_wire and field.hidden and not has_source


def _may_be_left_out(field: Field) -> bool:
    return field.presence is Presence.OPTIONAL or isinstance(field.type, types.Nullable | types.Null)


def filler(struct: Struct, field: Field) -> int | bool | str | bytes | None:
    """The value that builders write for a filler; None if there is no such value."""
    if field.mappings is not None or field.refers is not None or field.size is not None:
        return None
    encoding = struct.encoding
    match field.type:
        case types.Integer() | types.Float() if not encoding.leaves_out:
            return (
                max(field.minimum or 0, 0) if field.maximum is None else min(max(field.minimum or 0, 0), field.maximum)
            )
        case types.Boolean() if not encoding.leaves_out:
            return False
        case types.Bytes(size=Literal(int(size))) if encoding.laid_out and 0 <= size <= _FILLED:
            return bytes(size)
        case types.Bytes(size=Literal()):
            return None
        case types.Bytes(charset="") if encoding.laid_out:
            return b""  # the rest of the region, which is ignored, or bytes of a computed size
        case types.Text(size=Literal(int(size))) if encoding.laid_out and 0 <= size <= _FILLED:
            return "\0" * size
        case _:
            return None


def _filled(struct: Struct, looked_at: _LookedAt, named: Types) -> Struct:
    extents = StructExtents(struct, named)
    return with_fields(struct, lambda field: _never_null(_filled_field(struct, field, looked_at), extents))


def _filled_field(struct: Struct, field: Field, looked_at: _LookedAt) -> Field:
    if not needs_source(field) or field.bits or looked_at.has(struct, field.wire_name):
        return field
    value = filler(struct, field)
    return field if value is None else replace(field, derive=Literal(value), type=_as_filler(field.type))


def _never_null(step: Field, extents: StructExtents) -> Field:
    """A field derived from null gets 0, false or empty as its value, unless it can be null itself."""
    checksum = step.checksum
    if checksum is not None and checksum.stored is not None:
        if not _may_be_null(checksum.stored, extents.under(step.when)):
            return step
        return replace(step, checksum=replace(checksum, stored=_or(checksum.stored, Literal(0))))
    if step.derive is None or step.mappings is not None or _may_be_left_out(step):
        return step
    nothing = _nothing(step.type)
    if nothing is None or not _may_be_null(step.derive, extents.under(step.when)):
        return step
    return replace(step, derive=_or(step.derive, Literal(nothing)))


def _or(expression: Expression, nothing: Literal) -> Expression:
    return Conditional(Binary("==", expression, Literal(None)), nothing, expression)


def _may_be_null(expression: Expression, known: Extents) -> bool:
    if kind(expression) in (Kind.TEXT, Kind.BYTES):  # null if one of its parts is
        return any(extent(each, known).nullable for each in fields_in(expression))
    return extent(expression, known).nullable


def _nothing(type: Type) -> int | bool | str | bytes | None:
    """The default of a scalar type; None for types that no expression can give."""
    match type:
        case types.Boolean():
            return False
        case types.Integer() | types.Float():
            return 0
        case types.Text():
            return ""
        case types.Bytes():
            return b""
        case _:
            return None


def _as_filler(type: Type) -> Type:
    """Mark bytes of a computed size as filler, since no literal can state their value."""
    computed = isinstance(type, types.Bytes) and not isinstance(types.stated(type.size), Literal | None)
    return replace(type, filler=True) if isinstance(type, types.Bytes) and computed else type


def _check_scalar(draft: Draft, place: Place, field: Field, named: Types) -> None:
    """Report derived and computed fields that are not single values."""
    stated = types.not_null(field.type)
    is_scalar = any(isinstance(each, _SCALARS) for each in within(field.type, named, types.Nullable))
    for key, expression in (("derive", field.derive), ("compute", field.compute)):
        if expression is not None and not is_scalar:
            message = f"an expression gives one value, but {field.wire_name} is not a single value"
            hint = "derive or compute the fields inside of it"
            draft.reports_entry(place / key, "wrong-shape", message, hint)
    if field.compute is not None and is_scalar and isinstance(stated, types.Reference):
        message = f"the type of a computed field cannot be a name: {stated.name}"
        draft.reports_entry(place / "type", "wrong-shape", message, "write the type itself")
