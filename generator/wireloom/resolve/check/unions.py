"""Unions by kind of value: no two alternatives may look the same on the wire."""

from collections.abc import Iterator, Mapping
from itertools import combinations

from wireloom.model import types
from wireloom.model.traversal import parts, plain
from wireloom.model.types import Encoding, Field, Form, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.sources import always_has_a_value
from wireloom.resolve.facts.members import logical_names
from wireloom.resolve.types.notations import UNKNOWN
from wireloom.spec.documents import Place

Types = Mapping[str, Type]

_TEXTS, _BYTES = "texts", "bytes"
_JSON = "json"
_EVERY = ("null", "a boolean", "an integer", "a float", "a string", "an object", "an array")


def check_families(draft: Draft, named: Types) -> None:
    """Report unions whose alternatives cannot be told apart."""
    for name, type in named.items():
        encoding = type.encoding if isinstance(type, types.Struct) else draft.encoding
        for place, union in _unions(draft.place / "types" / name, type):
            _check(draft, place, union, encoding, named)
    _check_extensions(draft, named)


def _unions(place: Place, type: Type) -> Iterator[tuple[Place, types.OneOf]]:
    """The unions of a named type and where they stand."""
    match type:
        case types.OneOf(alternatives=alternatives):
            yield place, type
            for alternative in alternatives:
                yield from _unions(place, alternative.type)
        case types.Nullable(type=inner) | types.Array(element=inner):
            yield from _unions(place, inner)
        case types.Map(key=key, value=value):
            yield from _unions(place, key)
            yield from _unions(place, value)
        case types.Select(cases=cases):
            for case in cases:
                if not isinstance(case.type, types.Refusal):
                    yield from _unions(place, case.type)
        case types.Struct(steps=steps):
            for position, step in enumerate(steps):
                if isinstance(step, types.Field):
                    yield from _unions(place / "fields" / position / step.wire_name, step.type)
        case _:
            return


def _check(draft: Draft, place: Place, union: types.OneOf, encoding: Encoding, named: Types) -> None:
    taken: dict[str, str] = {}
    for alternative in union.alternatives:
        found = families(alternative.type, encoding, named, frozenset())
        family = next((each for each in found if each in taken or found.count(each) > 1), "")
        if family:
            other = taken.get(family, alternative.name)
            message = f"{other} and {alternative.name} are both {family} in {encoding.value}"
            is_every = encoding is Encoding.JSON and {*_EVERY} <= {*found, *taken}
            every = "`json` is any value: write it alone, or name the kinds, as in `json(object) | int`"
            hint = every if is_every else "the wire cannot tell them apart: drop one, or choose by `select`"
            draft.reports_entry(place, "ambiguous-alternatives", message, hint)
            return
        taken |= dict.fromkeys(found, alternative.name)
    _check_contents(draft, place, union, named)
    if not union.open:
        _check_records(draft, place, union, named)


def _check_extensions(draft: Draft, named: Types) -> None:
    """Open values of all unions share columns, where an ext value has its name and its code and no more."""
    codes: dict[int, tuple[bool, str]] = {}
    coded: dict[str, int] = {}
    for name, type in named.items():
        for place, union in _unions(draft.place / "types" / name, type):
            for alternative in union.alternatives if union.open else ():
                if not isinstance(alternative.type, types.Extension):
                    continue
                code, text = alternative.type.code, isinstance(alternative.type.content, types.Text)
                known, other = codes.setdefault(code, (text, alternative.name))
                if known is not text:
                    message = f"ext {code} is {_content(text=text)} here and {_content(text=known)} as {other}"
                    hint = "open values of all unions are read alike: give both the same content"
                    draft.reports_entry(place, "ambiguous-alternatives", message, hint)
                elif coded.setdefault(alternative.name, code) != code:
                    message = f"{alternative.name} is ext {code} here and ext {coded[alternative.name]} elsewhere"
                    hint = "renderings tell ext values by their names: give each code a name of its own"
                    draft.reports_entry(place, "ambiguous-alternatives", message, hint)


def _content(*, text: bool) -> str:
    return "text" if text else "bytes"


def _check_contents(draft: Draft, place: Place, union: types.OneOf, named: Types) -> None:
    """Readers see the content of an ext value, and JSON kept as text, which must tell them from other alternatives."""
    taken: dict[str, tuple[str, str]] = {}
    for alternative in union.alternatives:
        found = dict(_contents(alternative.type, named, frozenset(), open=union.open))
        for kind, told in found.items():
            other, other_told = taken.get(kind, ("", ""))
            if other and (told or other_told) and not told == other_told == _JSON:  # which begins as what it is
                message = f"readers see {other} and {alternative.name} both as {kind}"
                as_text = "write `json`, which has either as its text, quotes included"
                hint = as_text if _JSON in (told, other_told) else "take the other's content as another kind"
                hint = f"builders cannot tell them apart: drop one, or {hint}"
                draft.reports_entry(place, "ambiguous-alternatives", message, hint)
        taken |= {kind: (alternative.name, told) for kind, told in found.items()}


def _contents(type: Type, named: Types, seen: frozenset[str], *, open: bool) -> Iterator[tuple[str, str]]:
    """What readers see as texts or bytes of a type, and what else than that it is; an open ext value says so itself."""
    match type:
        case types.Text():
            yield _TEXTS, ""
        case types.Bytes(charset=charset):
            yield _TEXTS if charset else _BYTES, ""
        case types.JsonText():
            yield _TEXTS, _JSON
        case types.Extension(content=content) if not open:
            yield from ((kind, "ext") for kind, _ in _contents(content, named, seen, open=open))
        case types.Nullable() | types.OneOf():
            for part in parts(type):
                yield from _contents(part, named, seen, open=open)
        case types.Reference(name=name) if name not in seen:
            yield from _contents(named[name], named, seen | {name}, open=open)
        case _:
            return


def _check_records(draft: Draft, place: Place, union: types.OneOf, named: Types) -> None:
    """Readers see an object and an array as one record, whose members must tell builders which of them it was."""
    structs = [each for alternative in union.alternatives for each in _structs(alternative.type, named, frozenset())]
    for first, second in combinations(dict.fromkeys(structs), 2):
        if (first.form is Form.ARRAY) != (second.form is Form.ARRAY) and not _tells_apart(first, second, named):
            message = f"readers see {first.name} and {second.name} as one record, and none of its members tells which"
            hint = "give one of them a member that always has a value and that the other does not have"
            draft.reports_entry(place, "ambiguous-alternatives", message, hint)


def _structs(type: Type, named: Types, seen: frozenset[str]) -> Iterator[Struct]:
    """The structs that a value of the type may be of."""
    match type:
        case Struct():
            yield type
        case types.Reference(name=name) if name not in seen:
            yield from _structs(named[name], named, seen | {name})
        case types.Nullable() | types.OneOf() | types.Select():
            for part in parts(type):
                yield from _structs(part, named, seen)
        case _:
            return


def _tells_apart(first: Struct, second: Struct, named: Types) -> bool:
    """Whether one struct has a member that builders cannot do without, and that the other does not have."""
    return any(
        name not in _names(other, named)
        for one, other in ((first, second), (second, first))
        for name in _needed(one, named)
    )


def _names(struct: Struct, named: Types) -> frozenset[str]:
    return frozenset(name for field in struct.fields for name in logical_names(field, named, frozenset()))


def _needed(struct: Struct, named: Types) -> Iterator[str]:
    """The members that every record of a struct has, and that builders do not make up."""
    for field in struct.fields:
        melted = plain(field.type, named) if field.flatten else None
        if isinstance(melted, Struct) and field.when is None and field.presence is types.Presence.REQUIRED:
            yield from _needed(melted, named)
        elif not field.flatten and not _is_made_up(field) and always_has_a_value(field, named, frozenset()):
            yield field.name


def _is_made_up(field: Field) -> bool:
    is_derived = field.derive is not None or field.checksum is not None or field.refers is not None
    return is_derived or field.const is not None or field.has_default or bool(field.bits) or field.inline


def families(type: Type, encoding: Encoding, named: Types, seen: frozenset[str]) -> tuple[str, ...]:
    """What values of the type look like on the wire."""
    text = encoding is Encoding.JSON
    match type:
        case types.Null():
            return () if type is UNKNOWN else ("null",)
        case types.Boolean():
            return ("a boolean",)
        case types.Integer():
            return ("an integer",)
        case types.Float():
            return ("a float",)
        case types.Text():
            return ("a string",)
        case types.Bytes():
            return ("a string" if text else "binary",)
        case types.JsonText(kind=kind):
            return {"object": ("an object",), "array": ("an array",)}.get(kind, _EVERY)
        case types.Array():
            return ("an array",)
        case types.Map():
            return ("an object" if text else "a map",)
        case types.Extension(code=code):
            return (f"ext {code}",)
        case types.Nullable(type=inner):
            found = families(inner, encoding, named, seen)
            return found if found == _EVERY else ("null", *found)
        case types.Struct(form=form):
            return ("an array" if form is Form.ARRAY else "an object" if text else "a map",)
        case types.Reference(name=name):
            return () if name in seen else families(named[name], encoding, named, seen | {name})
        case types.OneOf(alternatives=alternatives):
            return tuple(each for one in alternatives for each in families(one.type, encoding, named, seen))
        case types.Select() | types.Attempt():
            return ("an object" if text else "a map",)
