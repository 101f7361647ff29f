"""Tags that stand in the value itself: what a tag selects must have it, or builders could not write the tag again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wireloom.expr.ast import Kind, Literal
from wireloom.expr.types import a_kind
from wireloom.model import types
from wireloom.model.extents import field_extent, may_be_absent
from wireloom.model.traversal import plain
from wireloom.model.types import Encoding, Field, Form, MemberTag, Nullable, PeekTag, Select, Struct, Type
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.check.lookahead import bytes_ahead, check_ahead, order_of
from wireloom.resolve.facts.members import members
from wireloom.resolve.facts.minimum_sizes import Least
from wireloom.resolve.facts.sites import held
from wireloom.resolve.types.notations import UNKNOWN, hint_of_member
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

Types = Mapping[str, Type]
_NO_OBJECTS = types.Integer | types.Float | types.Boolean | types.Null | types.Text | types.Bytes | types.Array
_KINDS = {types.Integer: Kind.INTEGER, types.Boolean: Kind.BOOLEAN, types.Text: Kind.TEXT}  # of members that select
_ALL = 1 << 62  # bytes of what takes all that are left: the tag, which was read from them, is among them


def check_tags(draft: Draft, named: Types, order: str | None) -> None:
    """Report cases that do not have the tag which selects them, and unions that have none but errors.

    `order` is that of the bytes of numbers that state none; None where only a parameter says it.
    """
    inline = _around(named)
    for place, select, lent in _selects(draft, named, inline):
        if all(isinstance(case.type, types.Refusal) for case in select.cases):
            message = "every case is an error, so that there is no value"
            draft.reports_entry(place, "bad-case", message, "give a case a type, or refuse by a `check` step")
        _check_default(draft, place / "select" / "default", select)
        for where, values, type in _cases(place, select):
            match select.tag:
                case PeekTag(type=number):
                    _check_peeked(draft, where, type, number.width or 0, named)
                    _check_excluded(draft, where, [_head(select.tag, values, type, named, order)])
                    check_ahead(draft, where, select.tag, values, type, named, order or "big")
                case MemberTag() if select.tag.member not in lent:
                    _check_member(draft, where, select.tag, values, type, named)
                case _:
                    pass


def _selects(
    draft: Draft, named: Types, inline: Mapping[str, frozenset[str]]
) -> Iterator[tuple[Place, Select, frozenset[str]]]:
    """The unions by a tag, where they stand, and the members that the object around lends them."""
    for name, type in named.items():
        place = draft.place / "types" / name
        if isinstance(type, Select):
            yield place, type, inline.get(name, frozenset())
        if not isinstance(type, Struct):
            continue
        for position, step in enumerate(type.steps):
            if isinstance(step, Field) and isinstance(step.type, Select):
                where = place / "fields" / position / step.wire_name / "type"
                around = inline.get(name, frozenset()) | frozenset(members_of(type, named))
                yield where, step.type, around if step.inline else frozenset()


def _cases(place: Place, select: Select) -> Iterator[tuple[Place, tuple[types.Scalar, ...], Type]]:
    """The cases that are types, each with where it is written and the values that select it."""
    written = (place / "cases").node
    keys = [key.text for key, _ in written.entries] if isinstance(written, MappingNode) else []
    for number, case in enumerate(select.cases):
        if not isinstance(case.type, types.Refusal):
            where = place / "cases" / keys[number] if number < len(keys) else place / "otherwise"
            yield where, case.values, case.type


# --- tags that are read ahead --------------------------------------------------------------------------------------


def _check_peeked(draft: Draft, place: Place, type: Type, width: int, named: Types) -> None:
    least = Least(named, _ALL).of(type)
    if least < width:
        message = f"the tag has {byte_count(width)}, and what it selects may have {byte_count(least)}"
        hint = "begin each case with the bytes of the tag, or select by a field before it"
        draft.reports_entry(place, "bad-case", message, hint)


def _head(tag: PeekTag, values: Sequence[types.Scalar], type: Type, named: Types, stated: str | None) -> "_Head":
    """The field that the tag is read from, and what it is for each value of the tag."""
    field = _first_field(type, named)
    width, order = tag.type.width or 0, stated or "big"
    heads = [bytes_ahead(value, width, order_of(tag.type.form, order)) for value in values]
    match None if field is None else field.type:
        case types.Integer() as whole if whole.is_plain and not whole.is_partial and whole.width == width:
            if stated is None and whole.form is not tag.type.form:
                return _Head(None, ())  # the parameter tells whether they stand alike
            little = order_of(whole.form, order) == "little"
            ordered = [each[::-1] if little else each for each in heads]
            return _Head(field, tuple(int.from_bytes(each, "big", signed=whole.signed) for each in ordered))
        case types.Bytes(size=Literal(size), charset="") if size == width:
            return _Head(field, tuple(heads))
        case _:
            return _Head(None, ())


def _first_field(type: Type, named: Types, above: frozenset[str] = frozenset()) -> Field | None:
    """The field that a value begins with in binary; None where it has none, or one of several."""
    match plain(type, named):
        case Struct(encoding=Encoding.BINARY, fields=fields, name=name) if fields and name not in above:
            first = fields[0]
            if not first.in_struct or first.at is not None or first.size is not None or may_be_absent(first):
                return None
            within = isinstance(plain(first.type, named), Struct)
            return _first_field(first.type, named, above | {name}) if within else first
        case _:
            return None


# --- tags that are fields of what they select ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Head:
    """The field that a tag is read from, and what it is where the tag selects its case; nothing where that depends."""

    field: Field | None
    values: tuple[types.Scalar, ...]


def _check_excluded(draft: Draft, place: Place, heads: Sequence[_Head]) -> None:
    """Report a case whose own field says that it is never what selects the case."""
    flaws = [_exclusion(head.field, head.values) if head.field is not None else "" for head in heads]
    if flaws and all(flaws):
        named, told = heads[0].field, " or ".join(map(_shown, heads[0].values))
        message = f"{named.wire_name if named else 'it'} in {place.text} is never {told}, which selects it"
        draft.reports_entry(place, "bad-case", message, flaws[0])


def _exclusion(field: Field, values: Sequence[types.Scalar]) -> str:
    """What a field says for which it is none of these values; empty where it may be one, or there are none."""
    is_open = field.meaning is not None and bool(field.meaning.raw)
    words = () if field.mappings is None or is_open else tuple(each.wire for each in field.mappings)
    null = None if field.meaning is None else field.meaning.null
    if not values or any(value is None or value == null for value in values):
        return ""
    if field.const is not None and field.const not in values:
        return f"it has the constant {_shown(field.const)}"
    if words and not set(words) & set(values):
        return f"its `values` are {', '.join(map(_shown, words))}"
    known = field_extent(field, {})
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) == len(values) and not any(known.low <= value <= known.high for value in numbers):
        return f"it is {known.low} to {known.high}"
    return ""


def _shown(value: types.Scalar) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)


# --- tags that are members -----------------------------------------------------------------------------------------


def _check_member(  # noqa: PLR0913 - what there is to know about it
    draft: Draft, place: Place, tag: MemberTag, values: tuple[types.Scalar, ...], type: Type, named: Types
) -> None:
    """A struct that a member selects is an object, and must have that member where it is there."""
    absent = all(_is_absence(tag, value) for value in values)
    if _is_no_object(type, named):
        message = f"{place.text or 'what is selected'} is no object, so that it has no member {tag.member}"
        draft.reports_entry(place, "bad-case", message, "what a member selects is an object")
        return
    for name, _ in held(type, named):
        struct = named[name]
        if isinstance(struct, Struct) and struct.encoding is not Encoding.JSON:
            message = f"{name} is {struct.encoding.value}, which stands in a string and has no member {tag.member}"
            draft.reports_entry(place, "bad-case", message, "what a member selects is an object")
            return
        if isinstance(struct, Struct) and struct.form is Form.ARRAY:
            message = f"{name} is an array, which has no member {tag.member}"
            draft.reports_entry(place, "bad-case", message, "what a member selects is an object")
            return
        if isinstance(struct, Struct) and not absent and tag.member not in members_of(struct, named):
            message = f"{name} has no member {tag.member}, which selects it"
            draft.reports_entry(place, "bad-case", message, f"`- {tag.member}: TYPE` in {name} is one")
            return
        if (
            isinstance(struct, Struct)
            and not absent
            and not tag.presence
            and (flaw := _other_kind(struct, tag, values, named))
        ):
            draft.reports_entry(place, "bad-case", flaw, hint_of_member(tag.member))
            return
    told = () if tag.presence or any(_is_absence(tag, value) for value in values) else values
    _check_excluded(draft, place, [_Head(field, told) for field in _member_fields(type, tag.member, named)])


def _check_default(draft: Draft, place: Place, select: Select) -> None:
    """A text that an absent member counts as selects a case; other values say of what kind the cases are."""
    match select.tag:
        case MemberTag(default=str(default)):
            if not any(default in case.values for case in select.cases):
                hint = "name a case, or leave it out where the member must be there"
                draft.reports(place, "bad-default", f"{_shown(default)} selects no case", hint)
        case _:
            pass


def _other_kind(struct: Struct, tag: MemberTag, values: tuple[types.Scalar, ...], named: Types) -> str:
    """Why the member of a struct is never one of the values that select it; empty where it may be."""
    for field in _called(struct, tag.member):
        found = plain(field.type, named)
        found = plain(found.type, named) if isinstance(found, Nullable) else found
        kinds = {constants.kind(value) for value in values}
        if found.__class__ in _KINDS and _KINDS[found.__class__] not in kinds:
            there, wanted = a_kind(_KINDS[found.__class__]), " or ".join(sorted(map(a_kind, kinds)))
            return f"{tag.member} of {struct.name} is {there}, and what selects it {wanted}"
    return ""


def _called(struct: Struct, member: str) -> Iterator[Field]:
    """The fields of a struct that are read from a member of that name."""
    return (field for field in struct.fields if field.key == member and not field.flatten)


def _member_fields(type: Type, member: str, named: Types) -> Iterator[Field | None]:
    """Of each struct that a type may be, the field of that name; None where others may have it, or several do."""
    for name, _ in held(type, named):
        struct = named[name]
        found = tuple(_called(struct, member)) if isinstance(struct, Struct) else ()
        yield found[0] if len(found) == 1 and _is_single(found[0], named) else None


def _is_single(field: Field, named: Types) -> bool:
    """Whether a field has one value of a kind that selects, whenever its member is there."""
    type = plain(types.not_null(field.type), named)
    return field.on_wire and not field.is_conditional and type.__class__ in _KINDS


def _is_no_object(type: Type, named: Types) -> bool:
    match type:
        case types.Reference(name=name):
            return _is_no_object(named[name], named)
        case Nullable(type=inner):
            return _is_no_object(inner, named)
        case types.JsonText(kind=kind):
            return kind == "array"
        case _:
            return isinstance(type, _NO_OBJECTS) and type is not UNKNOWN


def _is_absence(tag: MemberTag, value: types.Scalar) -> bool:
    """Whether a tag of that value may be a member that is not there."""
    if tag.presence:
        return value is False
    return not tag.required and value == tag.default and isinstance(value, bool) == isinstance(tag.default, bool)


def members_of(struct: Struct, named: Types) -> Iterator[str]:
    """The members that a struct reads from its object."""
    for field in struct.fields:
        yield from members(field, named, frozenset({struct.name}))


def _around(named: Types) -> Mapping[str, frozenset[str]]:
    """For each type that stands inline, the members of the objects that it stands in."""
    found: dict[str, frozenset[str]] = {}
    structs = [type for type in named.values() if isinstance(type, Struct)]
    uses = [
        (struct.name, name)
        for struct in structs
        for field in struct.fields
        if field.inline
        for name in _leads_to(field.type, named, frozenset())
    ]
    own = {struct.name: frozenset(members_of(struct, named)) for struct in structs}
    for _ in named:
        before = dict(found)
        for holder, name in uses:
            found[name] = found.get(name, frozenset()) | own[holder] | found.get(holder, frozenset())
        if found == before:
            break
    return found


def _leads_to(type: Type, named: Types, seen: frozenset[str]) -> Iterator[str]:
    """The named types that a type is, without passing a struct."""
    match type:
        case types.Reference(name=name) if name not in seen:
            yield name
            yield from _leads_to(named[name], named, seen | {name})
        case Nullable(type=inner):
            yield from _leads_to(inner, named, seen)
        case Select(cases=cases):
            for case in cases:
                if not isinstance(case.type, types.Refusal):
                    yield from _leads_to(case.type, named, seen)
        case _:
            return
