"""Which types each encoding supports, and which structs and unions may contain one another.

The parser of type notations checks some of this already. This module checks what requires resolved names: unions used
in two encodings, alternatives that are not structs, and bodies of another encoding without an envelope.
"""

from collections.abc import Iterator

from wireloom.encodings import ENCODINGS, Encoding, Form
from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.traversal import parts, plain, within
from wireloom.model.types import Nullable, Struct, Type
from wireloom.resolve.bind.builtins import flaw_of_form
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import only_in
from wireloom.resolve.check.field_names import check_rest
from wireloom.resolve.check.greedy_fields import check_open_element
from wireloom.resolve.check.map_entries import HINT_OF_ENTRIES, flaw_of_entry
from wireloom.resolve.check.recursion import stated_depths
from wireloom.resolve.facts.members import rest_of
from wireloom.resolve.facts.recursive_types import circle_of
from wireloom.resolve.facts.sites import Types, all_placed, held
from wireloom.resolve.facts.sizes import Sizes
from wireloom.resolve.logical.roots import Entry
from wireloom.resolve.logical.shapes import tables
from wireloom.resolve.types.notations import UNKNOWN
from wireloom.spec.documents import Place

_WIDEST = 65  # bits of an integer on the wire: int64 and uint64 together need 65
_KEYS = "drop the `?`, or use a list of structs"
_KINDS = types.Integer | types.Float | types.Boolean | types.Null | types.Text | types.Bytes | types.JsonText


def check_standing(draft: Draft, sizes: Sizes, entries: tuple[Entry, ...]) -> None:
    """Report types that have no form in the encoding where they are used."""
    used: dict[str, Encoding] = {}
    named = sizes.named
    for entry in entries:
        place = entry.place if draft.content.root is not None else entry.place / "type"
        _check(draft, named, place, entry.type, draft.encoding, used)
        _check_record(draft, named, place, entry)
        if draft.encoding.laid_out and isinstance(entry.type, types.Array):
            if sizes.of(entry.type.element).fixed == 0:
                hint = "give the element a field on the wire, else their number is unknown"
                draft.reports_entry(place, "wrong-shape", f"an element of {entry.name} has no bytes", hint)
            check_open_element(draft, place, entry.name, entry.type.element, sizes)
    for place, struct, field in all_placed(draft.place, named):
        if field.on_wire:
            _check(draft, named, place, field.type, struct.encoding, used)
            _check_field(draft, sizes, place, struct, field)


def _check_field(draft: Draft, sizes: Sizes, place: Place, struct: Struct, field: types.Field) -> None:
    named = sizes.named
    if any(isinstance(each, types.Integer) and each.bits > _WIDEST for each in within(field.type, named)):
        message = "uint128 has no form on the wire"
        hint = "use it only with `compute`; for 16 bytes write bytes(16)"
        draft.reports(place / "type", "wrong-encoding", message, hint)
    size = field.size.value if isinstance(field.size, Literal) and field.packing is None else None
    content = sizes.of(field.type)
    if isinstance(size, int) and (content.least > size or (content.most is not None and content.most < size)):
        least = f"{content.least} bytes{'' if content.fixed else ' or more'}"
        message = f"{field.wire_name} has {least}, but its region has {size}"
        draft.reports(place / "size", "impossible-value", message, "correct `size`, or drop it")
    _check_inline(draft, named, place, struct, field)
    _check_table(draft, named, place, field)
    _check_unique(draft, named, place, field)
    if field.flatten and not _has_members(field.type, named):
        message = f"{field.wire_name} is not always a struct"
        draft.reports(place / "flatten", "wrong-shape", message, "flatten only structs and unions of structs")
    _check_group(draft, named, place, struct, field)
    if field.one_of and _is_repeated(field.type, named):
        message = f"{field.wire_name} may be repeated"
        draft.reports(place / "oneOf", "wrong-shape", message, "put it into its own message")


def _check_group(draft: Draft, named: Types, place: Place, struct: Struct, field: types.Field) -> None:
    """A group must be a message or a list of messages, and no struct that is kept as bytes beyond its depth."""
    if not field.group or not struct.encoding.numbered:
        return
    found = plain(field.type, named)
    name = _message_name(found.element if isinstance(found, types.Array) else field.type, named)
    if found is not UNKNOWN and not name:
        message = f"a group must be a protobuf struct or a list of them; {field.wire_name} is not"
        draft.reports_entry(place / "wire", "wrong-shape", message, "drop `wire`")
    elif name in stated_depths(draft) and struct.name in circle_of(named, name):
        message = f"{name} contains itself as a group, and a group has no length"
        draft.reports_entry(place / "wire", "recursive-type", message, "drop `wire`: a message has a length")


def _message_name(type: Type, named: Types) -> str:
    """The protobuf struct that a type names; empty if it names none."""
    while isinstance(type, types.Reference):
        target = named[type.name]
        if isinstance(target, Struct):
            return type.name if target.encoding.numbered else ""
        type = target
    return ""


def _check_table(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """`refers` must name a table, and tables of the same type wherever its struct is used."""
    if field.refers is None:
        return
    found = list(tables(field.refers, named))
    if not all(table.table for table in found):
        message = f"{field.refers.table} is not a table"
        draft.reports(place / "refers", "unknown-field", message, "give it `table: true`")
    elif len({table.type for table in found}) > 1:
        message = f"the entries of {field.refers.table} are of several types where {field.wire_name} is used"
        draft.reports(place / "refers", "ambiguous-name", message, "use a different type in each place")


def _check_unique(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """The member named by `unique` must be a single value in all types of the elements."""
    listed = types.not_null(field.type)
    if isinstance(listed, types.Array) and (name := listed.unique) is not None:
        through = (types.Select, Nullable, types.OneOf)
        leaves = (leaf for type in _members(listed.element, name, named) for leaf in within(type, named, *through))
        if any(isinstance(leaf, types.Array | types.Map | Struct | types.Attempt) for leaf in leaves):
            hint = "name a member that is one"
            draft.reports(place / "unique", "wrong-shape", f"{name} is not a number, a text or bytes", hint)


def _members(type: Type, name: str, named: Types) -> Iterator[Type]:
    """The possible types of a member of a record, including members of flattened structs."""
    for struct, _ in held(type, named):
        for field in struct.fields:
            if name in (field.name, field.wire_name):
                yield field.type
            elif field.flatten:
                yield from _members(field.type, name, named)


def _has_members(type: Type, named: Types) -> bool:
    """Whether a value of the type is always a struct, if it is present."""
    through = (Nullable, types.Select, types.OneOf)
    fine = Struct | types.Null | types.Attempt | Nullable | types.Select  # the alternatives of attempts are checked too
    return all(
        isinstance(each, fine) or (isinstance(each, types.OneOf) and not each.open)
        for each in within(type, named, *through)
    )


def _check(  # noqa: PLR0913 - the rule needs all of them
    draft: Draft, named: Types, place: Place, type: Type, encoding: Encoding, used: dict[str, Encoding]
) -> None:
    """Report types without a form in `encoding`, down to the next structs."""
    match type:
        case types.Reference(name=name) if isinstance(named[name], Struct):
            return
        case types.Reference(name=name):
            inner = named[name]
            if name not in used:
                used[name] = encoding
                _check(draft, named, draft.place / "types" / name, inner, encoding, used)
            elif used[name] != encoding and not _is_portable(inner, named):
                message = f"{name} is used both in {used[name].name} and in {encoding.name}"
                draft.reports_entry(place, "wrong-encoding", message, "use a different type for each encoding")
        case types.Null() if type is not UNKNOWN:
            _check_form(draft, place, "nil", encoding)
        case types.JsonText():
            _check_form(draft, place, "json", encoding)
        case types.Array(element=element, entries=True) if flaw := flaw_of_entry(element, named):
            draft.reports_entry(place, "wrong-shape", flaw, HINT_OF_ENTRIES)
        case types.Array(element=element) if encoding.numbered and _is_repeated(element, named):
            hint = "use a list of messages that contain them"
            draft.reports_entry(place, "wrong-encoding", "protobuf has no lists of lists or maps", hint)
        case types.Map(key=key, value=value) if encoding.numbered and not _is_entry(key, value, named):
            message = "the keys of a protobuf map are integers, booleans or texts, its values scalars or messages"
            hint = "write map(ENTRY), with a message of `key` and `value`"
            draft.reports_entry(place, "wrong-encoding", message, hint)
        case types.Select() if encoding.numbered:
            draft.reports_entry(place, "wrong-encoding", "a select has no form in protobuf", encoding.choice)
        case types.Attempt():
            _check_attempt(draft, named, place, type, encoding)
        case types.OneOf():
            _check_union(draft, named, place, type, encoding)
        case types.Map(key=key) if encoding.text and not isinstance(plain(key, named), types.Text):
            message = "the keys of a JSON object are texts"
            draft.reports_entry(place, "wrong-encoding", message, "write map(str, TYPE), or map(ENTRY)")
        case types.Map(key=key) if _takes_null(key, named):
            draft.reports_entry(place, "wrong-shape", "the key of a map cannot be null", _KEYS)
        case _:
            pass
    for part in parts(type):
        _check(draft, named, place, part, encoding, used)


def _takes_null(type: Type, named: Types) -> bool:
    """Whether null is a value of the type; open values represent null themselves."""
    match plain(type, named):
        case types.OneOf(open=True):
            return False
        case found:
            return any(isinstance(each, Nullable | types.Null) for each in within(found, named, types.OneOf))


def _check_form(draft: Draft, place: Place, name: str, encoding: Encoding) -> None:
    """Report a built-in type that the encoding lacks."""
    if flaw := flaw_of_form(name, name, encoding):
        draft.reports_entry(place, "wrong-encoding", *flaw)


def _is_repeated(type: Type, named: Types) -> bool:
    return isinstance(plain(type, named), types.Array | types.Map)


def _is_entry(key: Type, value: Type, named: Types) -> bool:
    """Whether protobuf allows such a key and value in a map."""
    keys = types.Integer | types.Boolean | types.Text
    return isinstance(plain(key, named), keys) and not _is_repeated(value, named)


def _is_portable(type: Type, named: Types) -> bool:
    """Whether a type has the same form in every encoding."""
    found = plain(type, named)
    is_plain = isinstance(found, types.Integer | types.Float | types.Boolean)
    return is_plain or (isinstance(found, types.Text | types.Bytes) and found.size is None)


def _check_record(draft: Draft, named: Types, place: Place, entry: Entry) -> None:
    """A record must have the format's encoding; only binary can be a mere envelope of a body."""
    if draft.encoding.numbered and isinstance(entry.type, types.Array):
        message = f"{entry.name} is a list, but a protobuf record is one message"
        draft.reports_entry(place, "wrong-encoding", message, "put the list into a message, or frame the messages")
        return
    is_envelope = draft.encoding.laid_out and not isinstance(entry.type, types.Array)
    for struct, _ in held(entry.type, named):
        if struct.encoding != draft.encoding and not (is_envelope and not struct.encoding.text):
            name, own = struct.name, struct.encoding.name
            message = f"{name} is {own}, but the records of the format are {draft.encoding.name}"
            hint = f"give the format `encoding: {own}`, or put {name} into a field"
            draft.reports_entry(place, "wrong-encoding", message, hint)
            return


def _check_inline(draft: Draft, named: Types, place: Place, struct: Struct, field: types.Field) -> None:
    """An inline field must add members to the object, or collect all others."""
    if not field.inline or not struct.encoding.tells_kinds:
        return
    alternatives = list(_alternatives(field.type, named))
    if (rest := rest_of(field, named)) is not None:
        check_rest(draft, place, struct, field, rest)
    elif not struct.encoding.text:
        message = f"`inline` of a struct has no meaning in {struct.encoding.name}"
        is_choice = any(isinstance(each, types.Select) for each in within(field.type, named, types.Select))
        hint = struct.encoding.choice if is_choice else f"write its fields into {struct.name}"
        draft.reports_entry(place / "inline", "wrong-encoding", message, hint)
    elif struct.form is not Form.OBJECT:
        message = f"{struct.name} is an array, and has no members to inline"
        hint = f"drop `inline`, or give {struct.name} `form: object`"
        draft.reports_entry(place / "inline", "wrong-shape", message, hint)
    elif not all(_is_object(each) for each in alternatives):
        message = f"{field.wire_name} has no members for this object"
        hint = "only structs, selects of structs, and maps can be inline"
        draft.reports_entry(place / "inline", "wrong-shape", message, hint)
    elif found := next((each for each in alternatives if isinstance(each, Struct) and _takes_rest(each, named)), None):
        message = f"{found.name} collects all other members, but is inside of the object of {struct.name}"
        draft.reports_entry(place / "inline", "wrong-shape", message, f"collect them in {struct.name}")
    elif field.presence is types.Presence.OPTIONAL:
        message = "an inline struct cannot be optional"
        draft.reports_entry(place / "inline", "conflicting-keys", message, "make its members optional, or use `when`")


def _takes_rest(struct: Struct, named: Types) -> bool:
    return any(rest_of(field, named) for field in struct.fields)


def _is_object(type: Type) -> bool:
    return isinstance(type, Struct) and type.encoding.text and type.form is Form.OBJECT


def _alternatives(type: Type, named: Types) -> Iterator[Type]:
    """The types that a type may be, through names and selects."""
    return (each for each in within(type, named, types.Select) if not isinstance(each, types.Select))


def _check_attempt(draft: Draft, named: Types, place: Place, attempt: types.Attempt, encoding: Encoding) -> None:
    if not encoding.tries:
        trying = only_in([each.name for each in ENCODINGS.values() if each.tries])
        hint = f"{trying}; {encoding.choice}"
        draft.reports_entry(place, "wrong-encoding", f"an attempt has no form in {encoding.name}", hint)
        return
    taken: list[Type] = []
    for index, trial in enumerate(attempt.trials):
        where, is_last = place / "attempt" / index, trial is attempt.trials[-1]
        found = _alternatives(trial.type, named)
        if not all(isinstance(each, Struct | types.Attempt) or each is UNKNOWN for each in found):
            hint = f"give it a struct: `{trial.name.capitalize()}: {{fields: [{{value: TYPE}}]}}`"
            draft.reports(where / "type", "wrong-shape", f"{trial.name} is not a struct", hint)
        if trial.type in taken and trial.type is not UNKNOWN:
            message = f"{trial.name} has the same type as another alternative"
            draft.reports(where / "type", "duplicate-case", message, "give it another type")
        if not trial.fallbacks and not is_last:
            message = f"{attempt.trials[index + 1].name} is never tried, since {trial.name} has no `fallback`"
            hint = "name the error codes that lead to it: `fallback: [{codes: [bad_magic]}]`"
            draft.reports_entry(where, "wrong-shape", message, hint)
        if trial.fallbacks and is_last:
            message = f"{trial.name} is the last alternative, so it has no fallback"
            hint = "drop `fallback`"
            draft.reports_entry(where / "fallback", "wrong-shape", message, hint)
        taken.append(trial.type)


def _check_union(draft: Draft, named: Types, place: Place, union: types.OneOf, encoding: Encoding) -> None:
    for alternative in union.alternatives:
        inner = plain(alternative.type, named)
        text = encoding.text
        is_map = isinstance(inner, types.Array) and inner.entries and _may_be_entry(inner.element, named)
        is_value = isinstance(inner, _KINDS | types.Array | types.Map | types.Extension) and not is_map
        fits = is_value or inner is UNKNOWN or (text and _may_be_in_union(inner))
        if not fits:
            message = f"{alternative.name} cannot be an alternative of a union in {encoding.name}"
            match inner:
                case types.Nullable():
                    message = f"in {encoding.name}, null must be an alternative"
                    hint = f"write {alternative.name} without `?`, and `| nil` after the last alternative"
                case types.Array(element=types.Reference(name=entry)):
                    hint = f"it is a list on the wire: write list({entry})"
                case Struct(encoding=other) if other != encoding:
                    hint = f"a union holds no struct in {other.name}; write bytes"
                case _:
                    hint = f"a union tells only types of values apart; {_instead(union, named, encoding)}"
            draft.reports_entry(place, "wrong-shape", message, hint)


def _instead(union: types.OneOf, named: Types, encoding: Encoding) -> str:
    """A hint for a union with structs that the encoding cannot tell from other values."""
    inner = (plain(each.type, named) for each in union.alternatives)
    has_only_structs = all(isinstance(each, Struct | types.Select | types.Attempt) for each in inner)
    return encoding.choice if has_only_structs or encoding.text else "beside other types, write a list or a map"


def _may_be_entry(type: Type, named: Types) -> bool:
    """Whether a type can be an entry of a map; unknown and wrong entries are reported elsewhere."""
    return type is not UNKNOWN and not flaw_of_entry(type, named)


def _may_be_in_union(type: Type) -> bool:
    """Whether a JSON union may contain the type."""
    member = isinstance(type, types.Select) and isinstance(type.tag, types.MemberTag)
    is_json = isinstance(type, Struct) and type.encoding.text
    return member or is_json or isinstance(type, Nullable | types.OneOf)
