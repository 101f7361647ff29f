"""A tag inside of a value must be part of what it selects, so that builders can write it again."""

from collections.abc import Iterator, Mapping, Sequence

from wireloom.encodings import Form
from wireloom.expr.ast import FieldRef, Kind, Literal
from wireloom.expr.types import a_kind
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.traversal import closure, parts, plain, within
from wireloom.model.types import Field, MemberTag, PeekTag, Select, Struct, Type
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.builtins import kind as kind_of
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.check.lookahead import check_ahead
from wireloom.resolve.facts.members import members_of
from wireloom.resolve.facts.sites import Types, held, placed, structs
from wireloom.resolve.facts.sizes import Sizes
from wireloom.resolve.facts.values import View
from wireloom.resolve.types.notations import UNKNOWN, hint_of_member
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

_NO_OBJECTS = types.Integer | types.Float | types.Boolean | types.Null | types.Text | types.Bytes | types.Array
_KINDS = {types.Integer: Kind.INTEGER, types.Boolean: Kind.BOOLEAN, types.Text: Kind.TEXT}  # of members that select
_OBJECT = "only objects can be selected by a member"
_Values = Sequence[types.Scalar]


def check_tags(draft: Draft, view: View, sizes: Sizes) -> None:
    """Report cases that lack the tag that selects them, and unions whose cases are all errors."""
    named = sizes.named
    inline = _around(named)
    for place, select, inherited in _selects(draft, named, inline):
        if all(isinstance(case.type, types.Refusal) for case in select.cases):
            message = "every case is an error, so the union has no value"
            draft.reports_entry(place, "bad-case", message, "give a case a type, or use a `check` step")
        tag = select.tag
        default = tag.default if isinstance(tag, MemberTag) else None
        if isinstance(default, str) and not any(default in case.values for case in select.cases):
            hint = "name a case, or drop `default` if the member is required"
            draft.reports(place / "select" / "default", "bad-default", f"{default!r} selects no case", hint)
        for where, values, type in _cases(place, select):
            if isinstance(tag, PeekTag):
                _check_peeked(draft, where, tag, values, type, view, sizes)
                check_ahead(draft, where, tag, values, type, sizes)
            elif isinstance(tag, MemberTag) and tag.member not in inherited:
                _check_member(draft, where, tag, values, type, view)


def _selects(
    draft: Draft, named: Types, inline: Mapping[str, frozenset[str]]
) -> Iterator[tuple[Place, Select, frozenset[str]]]:
    """The unions with a tag, their places, and the members of the object around an inline union."""
    for name, type in named.items():
        place = draft.place / "types" / name
        if isinstance(type, Select):
            yield place, type, inline.get(name, frozenset())
        for where, field in placed(type, place / "fields") if isinstance(type, Struct) else ():
            if isinstance(field.type, Select) and isinstance(type, Struct):
                around = inline.get(name, frozenset()) | frozenset(members_of(type, named))
                yield where / "type", field.type, around if field.inline else frozenset()


def _cases(place: Place, select: Select) -> Iterator[tuple[Place, _Values, Type]]:
    """The cases that are types, with their places and the values that select them."""
    written = (place / "cases").node
    keys = [key.text for key, _ in written.entries] if isinstance(written, MappingNode) else []
    for number, case in enumerate(select.cases):
        if not isinstance(case.type, types.Refusal):
            where = place / "cases" / keys[number] if number < len(keys) else place / "otherwise"
            yield where, case.values, case.type


def _check_excluded(draft: Draft, place: Place, struct: Struct, field: Field, values: _Values, view: View) -> None:  # noqa: PLR0913
    """Report a case whose own field never has a value that selects the case."""
    named = FieldRef(0, field.wire_name, kind=kind_of(plain(types.not_null(field.type), view.names.named)))
    reasons = [view.facts(struct).never(named, value) for value in values]
    if reasons and None not in reasons:
        listed = " or ".join(each.hex() if isinstance(each, bytes) else repr(each) for each in values)
        message = f"{field.wire_name} in {place.text} is never {listed}, but the case says so"
        draft.reports_entry(place, "bad-case", message, reasons[0] or "")


# --- tags that are read ahead --------------------------------------------------------------------------------------


def _check_peeked(  # noqa: PLR0913 - the case and the known facts
    draft: Draft, place: Place, tag: PeekTag, values: _Values, type: Type, view: View, sizes: Sizes
) -> None:
    width = tag.type.width or 0
    for each in within(type, sizes.named, Select, types.Attempt):
        size = sizes.of(each)
        if size.least < width and not (size.open or size.partly or isinstance(each, Select)):
            message = f"the tag has {byte_count(width)}, but a case may have only {byte_count(size.least)}"
            hint = "begin each case with the bytes of the tag, or select by an earlier field"
            draft.reports_entry(place, "bad-case", message, hint)
    struct = plain(type, sizes.named)
    first = struct.fields[0] if isinstance(struct, Struct) and struct.fields else None
    if first is None or not isinstance(struct, Struct) or first.at is not None or first.size is not None:
        return
    if first.type == types.Bytes(Literal(width)) and tag.type.form is types.NumberForm.BIG:
        values = [each.to_bytes(width, "big") for each in values if isinstance(each, int)]
    elif first.type != tag.type:
        return
    if first.in_struct and not may_be_absent(first):
        _check_excluded(draft, place, struct, first, values, view)


# --- tags that are members -----------------------------------------------------------------------------------------


def _check_member(  # noqa: PLR0913 - the case and the known facts
    draft: Draft, place: Place, tag: MemberTag, values: _Values, type: Type, view: View
) -> None:
    """A case selected by a member must be an object, and must have the member unless its absence selects the case."""
    named = view.names.named
    absent = all(_is_absence(tag, value) for value in values)
    single = plain(types.not_null(plain(type, named)), named)
    is_array = isinstance(single, types.JsonText) and single.kind == "array"
    if is_array or (isinstance(single, _NO_OBJECTS) and single is not UNKNOWN):
        message = f"{place.text or 'what is selected'} is not an object, so it has no member {tag.member}"
        draft.reports_entry(place, "bad-case", message, _OBJECT)
        return
    for struct, _ in held(type, named):
        name = struct.name
        fields = [field for field in struct.fields if field.key == tag.member and not field.flatten]
        if not struct.encoding.text or struct.form is Form.ARRAY:
            message = f"{name} is not a JSON object, so it has no member {tag.member}"
            draft.reports_entry(place, "bad-case", message, _OBJECT)
        elif not absent and tag.member not in members_of(struct, named):
            message = f"{name} lacks the member {tag.member} that selects it"
            draft.reports_entry(place, "bad-case", message, f"add `- {tag.member}: TYPE` to {name}")
        elif not absent and not tag.presence and (flaw := _other_kind(name, tag.member, fields, values, named)):
            draft.reports_entry(place, "bad-case", flaw, hint_of_member(tag.member))
        elif len(fields) == 1 and not tag.presence and not any(_is_absence(tag, value) for value in values):
            _check_excluded(draft, place, struct, fields[0], values, view)


def _other_kind(struct: str, member: str, fields: Sequence[Field], values: _Values, named: Types) -> str:
    """Why a struct's member never has a value that selects it; empty if it may."""
    kinds = {constants.kind(value) for value in values}
    for field in fields:
        found = _KINDS.get(plain(types.not_null(plain(field.type, named)), named).__class__)
        if found is not None and found not in kinds:
            wanted = " or ".join(sorted(map(a_kind, kinds)))
            return f"{member} of {struct} is {a_kind(found)}, but the cases are {wanted}"
    return ""


def _is_absence(tag: MemberTag, value: types.Scalar) -> bool:
    """Whether this value of a tag may mean that the member is absent."""
    if tag.presence:
        return value is False
    return not tag.required and value == tag.default and isinstance(value, bool) == isinstance(tag.default, bool)


def _around(named: Types) -> Mapping[str, frozenset[str]]:
    """For each inline type, the members of the objects that contain it."""
    holders: dict[str, list[str]] = {}
    for struct in structs(named):
        for name in (name for field in struct.fields if field.inline for name in names_of(field.type, named)):
            holders.setdefault(name, []).append(struct.name)
    own = {struct.name: frozenset(members_of(struct, named)) for struct in structs(named)} if holders else {}
    around = {name: closure(each, lambda holder: holders.get(holder, ())) for name, each in holders.items()}
    return {name: frozenset().union(*(own[each] for each in found)) for name, found in around.items()}


def names_of(type: Type, named: Types) -> Iterator[str]:
    """The named types that a value of a type may have."""

    def inner(type: Type) -> tuple[Type, ...]:
        if isinstance(type, types.Reference):
            return (named[type.name],)
        return parts(type) if isinstance(type, types.Nullable | Select) else ()

    return (each.name for each in closure([type], inner) if isinstance(each, types.Reference))
