"""What may stand where: which types an encoding has a form for, and which structs and unions may hold one another.

The notation of types says some of this where it is read; here stands what only shows once every name is resolved: that
a union is used in two encodings, that an alternative is no struct, that a body of another encoding has no envelope.
"""

from collections.abc import Iterator, Mapping

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.extents import may_be_absent
from wireloom.model.ground import unit
from wireloom.model.traversal import parts, plain
from wireloom.model.types import Encoding, Form, Nullable, Struct, Type, not_null
from wireloom.resolve.bind.builtins import BUILTINS
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.field_names import check_rest
from wireloom.resolve.check.greedy_fields import end_of_element
from wireloom.resolve.check.map_entries import HINT_OF_ENTRIES, flaw_of_entry
from wireloom.resolve.check.recursion import stated_depths
from wireloom.resolve.check.size_limits import fewest
from wireloom.resolve.facts.members import rest_of
from wireloom.resolve.facts.recursive_types import circle_of
from wireloom.resolve.facts.sites import held
from wireloom.resolve.facts.sizes import is_greedy, type_size
from wireloom.resolve.logical.roots import Entry
from wireloom.resolve.logical.shapes import tables
from wireloom.resolve.types.notations import UNKNOWN
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

Types = Mapping[str, Type]

_RECORDS = (Encoding.MSGPACK, Encoding.PROTOBUF)  # of which a record of a binary format may be
_WIDEST = 65  # bits of an integer on the wire: what int64 or uint64 holds
_KEYS = "no column holds that: leave the `?` out, or write a list of structs"
_ATTEMPTS = (Encoding.BINARY, Encoding.MSGPACK)  # whose bytes can be read a second time
_KINDS = types.Integer | types.Float | types.Boolean | types.Null | types.Text | types.Bytes | types.JsonText


def check_standing(draft: Draft, named: Types, entries: tuple[Entry, ...]) -> None:
    """Report types that have no form where they stand."""
    used: dict[str, Encoding] = {}
    for entry in entries:
        place = entry.place if draft.content.root is not None else entry.place / "type"
        _check(draft, named, place, entry.type, draft.encoding, used)
        _check_record(draft, named, place, entry)
        if draft.encoding is Encoding.BINARY and isinstance(entry.type, types.Array):
            _check_elements(draft, named, place, entry.name, entry.type.element)
    for name, type in named.items():
        if isinstance(type, Struct):
            for position, field in _placed(type):
                place = draft.place / "types" / name / "fields" / position / field.wire_name
                _check(draft, named, place, field.type, type.encoding, used)
                _check_width(draft, named, place, field)
                _check_region(draft, named, place, field)
                _check_pairs(draft, named, place, field)
                _check_inline(draft, named, place, type, field)
                _check_table(draft, named, place, field)
                _check_unique(draft, named, place, field)
                _check_flattened(draft, named, place, field)
                _check_group(draft, named, place, type, field)
                if field.one_of and _is_repeated(field.type, named):
                    message = f"{field.wire_name} may be there any number of times"
                    draft.reports(place / "oneOf", "wrong-shape", message, "put it into a message of its own")


def _check_elements(draft: Draft, named: Types, place: Place, name: str, element: Type) -> None:
    """Report elements of a root that do not tell how many there are."""
    if type_size(element, named, frozenset()) == 0:
        hint = "bytes cannot tell how many there are: give it a field on the wire"
        draft.reports(place, "wrong-shape", f"an element of {name} has no bytes", hint)
    if is_greedy(element, named, frozenset()):
        hint = "say how many bytes an element has"
        draft.reports(place, "greedy-field", f"the first element of {name} takes all bytes left", hint)
    elif flaw := end_of_element(element, named):
        draft.reports(place, "greedy-field", *flaw)


def _check_width(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """No integer on the wire, wherever it stands in a field, is wider than int64 and uint64 together."""
    if field.on_wire and any(_is_wide(each) for each in _within(field.type, named, frozenset())):
        message = "uint128 has no form on the wire"
        draft.reports(place / "type", "wrong-encoding", message, "it is for `compute` only; 16 bytes are bytes(16)")


def _check_region(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """A region of a stated size holds what is of one size always, as far as its codec tells."""
    if not isinstance(field.size, Literal) or not isinstance(field.size.value, int):
        return
    size, found = field.size.value, plain(field.type, named)
    codec = _codec(field)
    if codec is None:
        return
    block, content = _CODECS[codec]
    if size % block:
        draft.reports(
            place / "size", "impossible-value", f"{codec} of {size} bytes says nothing", f"write a multiple of {block}"
        )
        return
    most = size // block * content
    sizes = range(max(most - 2, 0), most + 1) if codec == "base64" else range(most, most + 1)
    element = found.element if isinstance(found, types.Array) and found.count is None else None
    inner = _stated_size(found if element is None else element, named)
    flaw = ""
    if inner is not None and element is None and inner not in sizes:
        flaw = f"{field.wire_name} has {inner} bytes, and its region {most}{'' if codec == 'none' else ' unpacked'}"
    elif inner is None and (least := fewest(field.type, named)) > most:
        flaw = f"{field.wire_name} has at least {least} bytes, and its region {most}"
    elif inner and element is not None and all(each % inner for each in sizes):
        flaw = f"a region of {most} bytes has no whole number of elements, each of {inner}"
    if flaw:
        draft.reports(place / "size", "impossible-value", flaw, "write the size that it has, or drop `size`")


_CODECS = {"none": (1, 1), "hex": (2, 1), "HEX": (2, 1), "base64": (4, 3)}
"""Codecs that say so many bytes in as many others."""


def _codec(field: types.Field) -> str | None:
    """The codec of a field's region; None where it may be one of several, or does not tell sizes."""
    if field.packing is None:
        return "none"
    codecs = {codec for _, codec in field.packing.cases}
    return next(iter(codecs & _CODECS.keys()), None) if len(codecs) == 1 else None


def _stated_size(type: Type, named: Types) -> int | None:
    """The bytes of a type where they are always as many, or of a stated number of elements."""
    match type:
        case types.Array(packed_size=int(size)):
            return size
        case types.Array(element=element, count=Literal(int(count))) if count >= 0:
            each = type_size(element, named, frozenset())
            return None if each is None else each * count
        case _:
            return type_size(type, named, frozenset())


def _check_pairs(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """A text of a stated size has whole characters where all of them have as many bytes, or twice as many."""
    typed = place / "type" if isinstance(place.node, MappingNode) else place
    for each in _within(field.type, named, frozenset()):
        if not isinstance(each, types.Bytes) or unit(each.charset) == 1:
            continue
        size = field.size if each.size is None and each is field.type and field.packing is None else each.size
        octets = size.size if isinstance(size, types.Padded) else size.value if isinstance(size, Literal) else None
        if isinstance(octets, int) and octets % unit(each.charset):
            message = f"a text in {each.charset} has no {octets} bytes"
            draft.reports(typed, "impossible-value", message, f"it has a multiple of {unit(each.charset)}")


def _is_wide(type: Type) -> bool:
    return isinstance(type, types.Integer) and type.bits > _WIDEST


def _within(type: Type, named: Types, seen: frozenset[str]) -> Iterator[Type]:
    """A type and those that it is made of, structs apart."""
    yield type
    match type:
        case types.Reference(name):
            if name not in seen and not isinstance(named[name], Struct):
                yield from _within(named[name], named, seen | {name})
        case _:
            for part in parts(type):
                yield from _within(part, named, seen)


def _check_group(draft: Draft, named: Types, place: Place, struct: Struct, field: types.Field) -> None:
    """A group is a message, or each of a list is one; what is kept of a message that stands too deep is none."""
    if not field.group or struct.encoding is not Encoding.PROTOBUF:
        return
    found = plain(field.type, named)
    name = _message_name(found.element if isinstance(found, types.Array) else field.type, named)
    if found is not UNKNOWN and not name:
        message = f"a group is a struct of protobuf, or a list of them, and {field.wire_name} is none"
        draft.reports_entry(place / "wire", "wrong-shape", message, "drop `wire`")
    elif name in stated_depths(draft) and struct.name in circle_of(named, name):
        message = f"{name} holds itself as a group, of which no length is known where it stands too deep"
        draft.reports_entry(place / "wire", "recursive-type", message, "drop `wire`: a message says its length")


def _message_name(type: Type, named: Types) -> str:
    """The struct of protobuf that a type names; empty where it is none."""
    while isinstance(type, types.Reference):
        target = named[type.name]
        if isinstance(target, Struct):
            return type.name if target.encoding is Encoding.PROTOBUF else ""
        type = target
    return ""


def _check_table(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """An index is into a table, and into tables of one type wherever its struct stands."""
    if field.refers is None:
        return
    found = list(tables(field.refers, named))
    if not all(table.table for table in found):
        message = f"{field.refers.table} is no table"
        draft.reports(place / "refers", "unknown-field", message, "give it `table: true`")
    elif len({table.type for table in found}) > 1:
        message = f"the entries of {field.refers.table} are of several types where {field.wire_name} is used"
        draft.reports(place / "refers", "ambiguous-name", message, "use a type of its own for each place")


def _check_unique(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """What must not repeat is a single value, whatever its type may turn out to be."""
    match field.type:
        case types.Array(element=element, unique=str(name)) | Nullable(types.Array(element=element, unique=str(name))):
            leaves = (leaf for type in _members(element, name, named) for leaf in _leaves(type, named, frozenset()))
            if any(isinstance(leaf, types.Array | types.Map | Struct | types.Attempt) for leaf in leaves):
                message = f"{name} is no single value"
                hint = "name a number, a text or bytes of the elements"
                draft.reports(place / "unique", "wrong-shape", message, hint)
            _check_constant(draft, named, place, not_null(field.type), name)
        case _:
            pass


def _check_constant(draft: Draft, named: Types, place: Place, type: Type, name: str) -> None:
    """What is the same in all elements does not differ in two."""
    match type:
        case types.Array(element=element, count=Literal(int(count))) if count > 1:
            found = plain(element, named)
            fields = [each for each in found.fields if name == each.wire_name] if isinstance(found, Struct) else []
            if fields and all(each.const is not None and not may_be_absent(each) for each in fields):
                message = f"{name} is the same in all of {count} elements"
                draft.reports(place / "unique", "impossible-value", message, "drop `unique`, or name another member")
        case _:
            pass


def _members(type: Type, name: str, named: Types) -> Iterator[Type]:
    """The types that a member of a record may have, where it stands in it or melts into it."""
    for each, _ in held(type, named):
        struct = named[each]
        for field in struct.fields if isinstance(struct, Struct) else ():
            if name in (field.name, field.wire_name):
                yield field.type
            elif field.flatten:
                yield from _members(field.type, name, named)


def _leaves(type: Type, named: Types, seen: frozenset[str]) -> Iterator[Type]:
    """What a type may turn out to be: no name, no choice, nothing that may be null."""
    for each in _alternatives(type, named, seen):
        match each:
            case Nullable(type=inner):
                yield from _leaves(inner, named, seen)
            case types.OneOf(alternatives=alternatives):
                for alternative in alternatives:
                    yield from _leaves(alternative.type, named, seen)
            case _:
                yield each


def _check_flattened(draft: Draft, named: Types, place: Place, field: types.Field) -> None:
    """What melts into the struct around has members."""
    if field.flatten and not _has_members(field.type, named, frozenset()):
        message = f"{field.wire_name} may be something else than a struct, which has no members"
        draft.reports(place / "flatten", "wrong-shape", message, "flatten structs and unions of structs, or none")


def _has_members(type: Type, named: Types, seen: frozenset[str]) -> bool:
    """Whether a value of the type, where it is there, is always that of a struct."""
    match type:
        case types.Reference(name=name):
            return name in seen or _has_members(named[name], named, seen | {name})
        case Nullable() | types.Select() | types.OneOf(open=False):
            return all(_has_members(each, named, seen) for each in parts(type))
        case _:
            return isinstance(type, Struct | types.Null | types.Attempt)  # whose alternatives are looked at themselves


def _placed(struct: Struct) -> Iterator[tuple[int, types.Field]]:
    """The fields on the wire, and where they stand."""
    for position, step in enumerate(struct.steps):
        if isinstance(step, types.Field) and step.on_wire:
            yield position, step


def _check(  # noqa: PLR0913 - what there is to know about it
    draft: Draft, named: Types, place: Place, type: Type, encoding: Encoding, used: dict[str, Encoding]
) -> None:
    """Report what has no form in `encoding`, down to the structs."""
    match type:
        case types.Reference(name=name) if isinstance(named[name], Struct):
            return
        case types.Reference(name=name):
            inner = named[name]
            if name not in used:
                used[name] = encoding
                _check(draft, named, draft.place / "types" / name, inner, encoding, used)
            elif used[name] is not encoding and not _portable(inner, named, frozenset({name})):
                message = f"{name} is used in {used[name].value} and in {encoding.value}"
                draft.reports_entry(place, "wrong-encoding", message, "give each encoding a type of its own")
        case types.Null() if type is not UNKNOWN:
            _check_form(draft, place, "nil", encoding)
        case types.JsonText():
            _check_form(draft, place, "json", encoding)
        case types.Array(element=element, entries=True) if flaw := flaw_of_entry(element, named):
            draft.reports_entry(place, "wrong-shape", flaw, HINT_OF_ENTRIES)
        case types.Array(element=element) if encoding is Encoding.PROTOBUF and _is_repeated(element, named):
            hint = "repeat a message that has them"
            draft.reports_entry(place, "wrong-encoding", "a list of lists or maps has no form in protobuf", hint)
        case types.Map(key=key, value=value) if encoding is Encoding.PROTOBUF and not _is_entry(key, value, named):
            message = "a map of protobuf is from integers, booleans or texts to scalars or messages"
            draft.reports_entry(
                place, "wrong-encoding", message, "write map(ENTRY), of a message with `key` and `value`"
            )
        case types.Select() if encoding is Encoding.PROTOBUF:
            hint = "protobuf tells its fields by number: give each case a field, with `oneOf: NAME`"
            draft.reports_entry(place, "wrong-encoding", "a select has no form in protobuf", hint)
        case types.Attempt():
            _check_attempt(draft, named, place, type, encoding)
        case types.OneOf():
            _check_union(draft, named, place, type, encoding)
        case types.Map(key=key) if encoding is Encoding.JSON and not isinstance(plain(key, named), types.Text):
            message = "the names of a JSON object are texts"
            draft.reports_entry(place, "wrong-encoding", message, "write map(str, TYPE), or map(ENTRY)")
        case types.Map(key=key) if _takes_null(key, named, frozenset()):
            draft.reports_entry(place, "wrong-shape", "a key of a map may be null here", _KEYS)
        case _:
            pass
    for part in parts(type):
        _check(draft, named, place, part, encoding, used)


def _takes_null(type: Type, named: Types, seen: frozenset[str]) -> bool:
    """Whether null is a value of a type whose columns tell kinds apart; an open value says null itself."""
    match type:
        case Nullable() | types.Null():
            return True
        case types.Reference(name=name):
            return name not in seen and _takes_null(named[name], named, seen | {name})
        case types.OneOf(alternatives=alternatives, open=False):
            return any(_takes_null(each.type, named, seen) for each in alternatives)
        case _:
            return False


def _check_form(draft: Draft, place: Place, name: str, encoding: Encoding) -> None:
    """A type of the language must have a form in the encoding."""
    builtin = BUILTINS[name]
    if encoding not in builtin.forms:
        message = f"{name} has no form in {encoding.value}"
        draft.reports_entry(place, "wrong-encoding", message, builtin.instead[encoding])


def _is_repeated(type: Type, named: Types) -> bool:
    return isinstance(plain(type, named), types.Array | types.Map)


def _is_entry(key: Type, value: Type, named: Types) -> bool:
    """Whether an entry of a map in protobuf may have such a key and value."""
    keys = types.Integer | types.Boolean | types.Text
    return isinstance(plain(key, named), keys) and not _is_repeated(value, named)


def _portable(type: Type, named: Types, seen: frozenset[str]) -> bool:
    """Whether a type means the same in every encoding."""
    match type:
        case types.Integer() | types.Float() | types.Boolean() | types.Text(size=None) | types.Bytes(size=None):
            return True
        case types.Reference(name=name):
            inner = named[name]
            return name not in seen and not isinstance(inner, Struct) and _portable(inner, named, seen | {name})
        case _:
            return False


def _check_record(draft: Draft, named: Types, place: Place, entry: Entry) -> None:
    """A record is of the format's encoding: only binary says nothing more than where a body begins and ends."""
    if draft.encoding is Encoding.PROTOBUF and isinstance(entry.type, types.Array):
        message = f"{entry.name} is a list, and a protobuf record is one message"
        draft.reports_entry(place, "wrong-encoding", message, "put the list into a message, or frame the messages")
        return
    is_envelope = draft.encoding is Encoding.BINARY and not isinstance(entry.type, types.Array)
    allowed = (draft.encoding, *_RECORDS) if is_envelope else (draft.encoding,)
    for name, _ in held(entry.type, named):
        struct = named[name]
        if isinstance(struct, Struct) and struct.encoding not in allowed:
            message = f"{name} is {struct.encoding.value}, and the records of the format are {draft.encoding.value}"
            hint = f"say `encoding: {struct.encoding.value}` for the format, or put {name} into a field"
            draft.reports_entry(place, "wrong-encoding", message, hint)
            return


def _check_inline(draft: Draft, named: Types, place: Place, struct: Struct, field: types.Field) -> None:
    """What stands in the object around has members, or takes those that are left."""
    if not field.inline or struct.encoding not in (Encoding.JSON, Encoding.MSGPACK):
        return
    if (rest := rest_of(field, named)) is not None:
        check_rest(draft, place, struct, field, rest)
    elif struct.encoding is not Encoding.JSON:
        message = f"`inline` of a struct has no meaning in {struct.encoding.value}"
        draft.reports_entry(place / "inline", "wrong-encoding", message, "it is of JSON; here maps are inline")
    elif struct.form is not Form.OBJECT:
        message = f"{struct.name} is an array, in which no members can stand"
        draft.reports_entry(place / "inline", "wrong-shape", message, f"leave it out, or make {struct.name} an object")
    elif not all(_is_object(each) for each in _alternatives(field.type, named, frozenset())):
        message = f"{field.wire_name} has no members that could stand in this object"
        draft.reports_entry(
            place / "inline", "wrong-shape", message, "only structs, selects of structs, and maps are inline"
        )
    elif found := next(_rests(field.type, named), None):
        message = f"{found} takes the rest of its object, and has no object of its own here"
        draft.reports_entry(place / "inline", "wrong-shape", message, f"take the rest in {struct.name}")
    elif field.presence is types.Presence.OPTIONAL:
        message = "an inline struct has no member of its own that could be left out"
        draft.reports_entry(place / "inline", "conflicting-keys", message, "make its members optional, or use `when`")


def _rests(type: Type, named: Types) -> Iterator[str]:
    """The structs among the alternatives that take the rest of their objects."""
    for each in _alternatives(type, named, frozenset()):
        if isinstance(each, Struct) and any(rest_of(field, named) for field in each.fields):
            yield each.name


def _is_object(type: Type) -> bool:
    return isinstance(type, Struct) and type.encoding is Encoding.JSON and type.form is Form.OBJECT


def _alternatives(type: Type, named: Types, seen: frozenset[str]) -> Iterator[Type]:
    """What a type may be, through names and selects."""
    match type:
        case types.Reference(name=name):
            if name not in seen:
                yield from _alternatives(named[name], named, seen | {name})
        case types.Select():
            for part in parts(type):
                yield from _alternatives(part, named, seen)
        case _:
            yield type


def _check_attempt(draft: Draft, named: Types, place: Place, attempt: types.Attempt, encoding: Encoding) -> None:
    if encoding not in _ATTEMPTS:
        hint = f"it is of {' and '.join(each.value for each in _ATTEMPTS)}; choose by `select` or `oneOf`"
        draft.reports_entry(place, "wrong-encoding", f"an attempt has no form in {encoding.value}", hint)
        return
    for index, trial in enumerate(attempt.trials):
        found = tuple(_alternatives(trial.type, named, frozenset()))
        if not all(isinstance(each, Struct | types.Attempt) or each is UNKNOWN for each in found):
            hint = f"give it a struct: `{trial.name.capitalize()}: {{fields: [{{value: TYPE}}]}}`"
            message = f"{trial.name} is no struct"
            draft.reports(place / "attempt" / index / "type", "wrong-shape", message, hint)
        if same := _same(attempt, index):
            message = f"{trial.name} is of the type of {same}, and reads what that does"
            draft.reports(place / "attempt" / index / "type", "duplicate-case", message, "give it another type")
    for index, trial in enumerate(attempt.trials[:-1]):
        if not trial.fallbacks:
            message = f"{attempt.trials[index + 1].name} never comes, since {trial.name} has no `fallback`"
            hint = "say which of its codes lead on: `fallback: [{codes: [bad_magic]}]`"
            draft.reports_entry(place / "attempt" / index, "wrong-shape", message, hint)
    if attempt.trials[-1].fallbacks:
        index = len(attempt.trials) - 1
        message = f"nothing comes after {attempt.trials[-1].name}, the last alternative"
        hint = "drop `fallback`; its errors are the record's"
        draft.reports_entry(place / "attempt" / index / "fallback", "wrong-shape", message, hint)


def _same(attempt: types.Attempt, index: int) -> str:
    """The alternative before another that is of its type; empty where there is none."""
    type = attempt.trials[index].type
    before = attempt.trials[:index] if type is not UNKNOWN else ()
    return next((each.name for each in before if each.type == type), "")


def _check_union(draft: Draft, named: Types, place: Place, union: types.OneOf, encoding: Encoding) -> None:
    for alternative in union.alternatives:
        inner = plain(alternative.type, named)
        text = encoding is Encoding.JSON
        is_map = isinstance(inner, types.Array) and inner.entries and _may_be_entry(inner.element, named)
        is_value = isinstance(inner, _KINDS | types.Array | types.Map | types.Extension) and not is_map
        fits = is_value or inner is UNKNOWN or (text and _may_stand(inner))
        if not fits:
            hint = "a union has scalars, lists and maps" + (" and structs" if text else "; choose structs by `select`")
            message = f"{alternative.name} is no alternative of a union in {encoding.value}"
            if isinstance(inner, types.Nullable):
                message = f"null is an alternative of its own in {encoding.value}"
                hint = f"write {alternative.name} without `?`, and `| nil` behind the last alternative"
            draft.reports_entry(place, "wrong-shape", message, hint)


def _may_be_entry(type: Type, named: Types) -> bool:
    """Whether a type can be the entries of a map; of what cannot, or is not known, that is said."""
    return type is not UNKNOWN and not flaw_of_entry(type, named)


def _may_stand(type: Type) -> bool:
    """Whether a JSON union may hold the type."""
    member = isinstance(type, types.Select) and isinstance(type.tag, types.MemberTag)
    is_json = isinstance(type, Struct) and type.encoding is Encoding.JSON
    return member or is_json or isinstance(type, Nullable | types.OneOf)
