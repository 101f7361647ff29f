"""Tags that stand in the value itself: what a tag selects must have it, or builders could not write the tag again."""

from collections.abc import Iterator, Mapping, Sequence

from wireloom.expr.ast import Kind, Literal
from wireloom.expr.types import a_kind
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.traversal import plain
from wireloom.model.types import Amount, Encoding, Field, Form, MemberTag, Nullable, PeekTag, Select, Struct, Type
from wireloom.resolve import constants
from wireloom.resolve.ahead import check_ahead
from wireloom.resolve.collisions import members
from wireloom.resolve.draft import Draft
from wireloom.resolve.sites import held
from wireloom.resolve.types import UNKNOWN, hint_of_member
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

Types = Mapping[str, Type]
_NO_OBJECTS = types.Integer | types.Float | types.Boolean | types.Null | types.Text | types.Bytes | types.Array
_KINDS = {types.Integer: Kind.INTEGER, types.Boolean: Kind.BOOLEAN, types.Text: Kind.TEXT}  # of members that select
_ALL = 1 << 62  # bytes of what takes all that are left: the tag, which was read from them, is among them


def check_tags(draft: Draft, named: Types, order: str) -> None:
    """Report cases that do not have the tag which selects them, and unions that have none but errors.

    `order` is that of the bytes of numbers that state none.
    """
    inline = _around(named)
    for place, select, lent in _selects(draft, named, inline):
        if all(isinstance(case.type, types.Refusal) for case in select.cases):
            message = "every case is an error, so that there is no value"
            draft.reports_entry(place, "bad-case", message, "give a case a type, or refuse by a `check` step")
        for where, values, type in _cases(place, select):
            match select.tag:
                case PeekTag(type=number):
                    _check_peeked(draft, where, type, number.width or 0, named)
                    check_ahead(draft, where, select.tag, values, type, named, order)
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
    least = least_size(type, named)
    if least < width:
        message = f"the tag has {_bytes(width)}, and what it selects may have {_bytes(least)}"
        hint = "begin each case with the bytes of the tag, or select by a field before it"
        draft.reports_entry(place, "bad-case", message, hint)


def least_size(type: Type, named: Types, seen: frozenset[str] = frozenset()) -> int:
    """The fewest bytes of a value in binary, as far as its type says."""
    match type:
        case types.Integer() | types.Float() | types.Boolean():
            return _scalar_size(type)
        case types.Text(size=size) | types.Bytes(size=size):
            return _amount(size)
        case types.Array(packed_size=int(size)):
            return size
        case types.Array(element=element, count=count):
            return _amount(count, least_size(element, named, seen))
        case Nullable(type=inner):
            return least_size(inner, named, seen)
        case types.Reference(name=name):
            return 0 if name in seen else least_size(named[name], named, seen | {name})
        case Select(cases=cases):
            return min(
                (least_size(each.type, named, seen) for each in cases if not isinstance(each.type, types.Refusal)),
                default=_ALL,
            )
        case types.Attempt(trials=trials):
            return min(least_size(each.type, named, seen) for each in trials)
        case Struct(encoding=Encoding.BINARY, fields=fields):
            return max(sum(_field_size(field, named, seen) for field in fields), *_ends(fields, named, seen), 0)
        case Struct(encoding=Encoding.PROTOBUF):
            return _ALL
        case Struct():
            return 1
        case _:
            return 0


def _scalar_size(type: types.Integer | types.Float | types.Boolean) -> int:
    if isinstance(type, types.Boolean):
        return 1
    return type.bits // 8 if isinstance(type, types.Float) else type.width or 1


def _field_size(field: Field, named: Types, seen: frozenset[str]) -> int:
    """The fewest bytes of a field behind the one before it."""
    if field.at is not None or _is_absent(field):
        return 0
    return _own_size(field, named, seen)


def _ends(fields: Sequence[Field], named: Types, seen: frozenset[str]) -> Iterator[int]:
    """Where fields at stated offsets end at the least."""
    for field in fields:
        at = None if field.base else field.at
        if isinstance(at, Literal) and isinstance(at.value, int) and not _is_absent(field):
            yield at.value + _own_size(field, named, seen) if at.value >= 0 else 0


def _own_size(field: Field, named: Types, seen: frozenset[str]) -> int:
    return least_size(field.type, named, seen) if field.size is None else _amount(field.size)


def _is_absent(field: Field) -> bool:
    """Whether a field may have no bytes, or never has."""
    return field.compute is not None or field.counted or may_be_absent(field)


def _amount(amount: Amount | None, each: int = 1) -> int:
    """The fewest bytes of so many elements, with what states or ends them."""
    match amount:
        case None:
            return _ALL
        case Literal(int(count)):
            return max(count, 0) * each
        case types.Padded(size):
            return size
        case types.Prefix(number) | types.Blocks(number):
            return number.width or 1
        case types.Delimiter(value, others=others):
            return min(map(len, (value, *others)))
        case types.Terminator(value, behind=None):
            return len(value)
        case types.Last():
            return each
        case _:
            return 0


def _bytes(count: int) -> str:
    return f"{count} byte{'' if count == 1 else 's'}"


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


def _other_kind(struct: Struct, tag: MemberTag, values: tuple[types.Scalar, ...], named: Types) -> str:
    """Why the member of a struct is never one of the values that select it; empty where it may be."""
    for field in struct.fields:
        if (field.member or field.wire_name) != tag.member or field.flatten:
            continue
        found = plain(field.type, named)
        found = plain(found.type, named) if isinstance(found, Nullable) else found
        kinds = {constants.kind(value) for value in values}
        if found.__class__ in _KINDS and _KINDS[found.__class__] not in kinds:
            there, wanted = a_kind(_KINDS[found.__class__]), " or ".join(sorted(map(a_kind, kinds)))
            return f"{tag.member} of {struct.name} is {there}, and what selects it {wanted}"
    return ""


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
