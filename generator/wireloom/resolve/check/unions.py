"""The alternatives of a union by kind must look different on the wire."""

from collections.abc import Iterator

from wireloom.encodings import Encoding, Form
from wireloom.model import types
from wireloom.model.traversal import parts, plain, within
from wireloom.model.types import Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.facts.sites import Types, placed
from wireloom.resolve.types.notations import UNKNOWN
from wireloom.spec.documents import Place

_TEXTS, _BYTES = "texts", "bytes"
_JSON = "json"
_FAMILIES = {
    types.Null: "null",
    types.Boolean: "a boolean",
    types.Integer: "an integer",
    types.Float: "a float",
    types.Text: "a string",
    types.Array: "an array",
}
_EVERY = ("null", "a boolean", "an integer", "a float", "a string", "an object", "an array")


def check_families(draft: Draft, named: Types) -> None:
    """Report unions whose alternatives cannot be told apart."""
    for name, type in named.items():
        encoding = type.encoding if isinstance(type, types.Struct) else draft.encoding
        for place, union in _unions(draft.place / "types" / name, type):
            _check(draft, place, union, encoding, named)
    _check_extensions(draft, named)


def _unions(place: Place, type: Type) -> Iterator[tuple[Place, types.OneOf]]:
    """The unions in a named type, with their places."""
    if isinstance(type, types.OneOf):
        yield place, type
    if isinstance(type, Struct):
        for where, field in placed(type, place / "fields"):
            yield from _unions(where, field.type)
    for part in parts(type):
        yield from _unions(place, part)


def _check(draft: Draft, place: Place, union: types.OneOf, encoding: Encoding, named: Types) -> None:
    taken: dict[str, str] = {}
    for alternative in union.alternatives:
        found = families(alternative.type, encoding, named)
        family = next((each for each in found if each in taken or found.count(each) > 1), "")
        if family:
            other = taken.get(family, alternative.name)
            message = f"{other} and {alternative.name} look alike in {encoding.name}: both are {family}"
            is_every = encoding.text and {*_EVERY} <= {*found, *taken}
            every = "`json` is any value: use it alone, or limit it: `json(object) | int`"
            hint = every if is_every else "drop one, or choose by `select`"
            draft.reports_entry(place, "ambiguous-alternatives", message, hint)
            return
        taken |= dict.fromkeys(found, alternative.name)
    _check_contents(draft, place, union, named)


def _check_extensions(draft: Draft, named: Types) -> None:
    """Report ext values of open unions with clashing names or codes: in columns, each name stands for one code."""
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
                    hint = "give both the same content: open values of all unions are read in the same way"
                    draft.reports_entry(place, "ambiguous-alternatives", message, hint)
                elif coded.setdefault(alternative.name, code) != code:
                    message = f"{alternative.name} is ext {code} here and ext {coded[alternative.name]} elsewhere"
                    hint = "give each code its own name"
                    draft.reports_entry(place, "ambiguous-alternatives", message, hint)


def _content(*, text: bool) -> str:
    return "text" if text else "bytes"


def _check_contents(draft: Draft, place: Place, union: types.OneOf, named: Types) -> None:
    """Report alternatives that look alike to readers: content of ext values and JSON texts look like texts or bytes."""
    taken: dict[str, tuple[str, str]] = {}
    for alternative in union.alternatives:
        found = dict(_contents(alternative.type, named, open=union.open))
        for kind, form in found.items():
            other, other_form = taken.get(kind, ("", ""))
            if other and (form or other_form) and not form == other_form == _JSON:  # its first character tells
                message = f"readers see both {other} and {alternative.name} as {kind}"
                as_text = "write `json`, which keeps either as text"
                hint = as_text if _JSON in (form, other_form) else "give the other another type"
                hint = f"builders cannot distinguish them: drop one, or {hint}"
                draft.reports_entry(place, "ambiguous-alternatives", message, hint)
        taken |= {kind: (alternative.name, form) for kind, form in found.items()}


def _contents(type: Type, named: Types, *, open: bool) -> Iterator[tuple[str, str]]:
    """The kinds, texts or bytes, that readers see of a type, and its special form, if any.

    An open ext value has its name.
    """
    for each in within(type, named, types.Nullable, types.OneOf):
        match each:
            case types.Text():
                yield _TEXTS, ""
            case types.Bytes(charset=charset):
                yield _TEXTS if charset else _BYTES, ""
            case types.JsonText():
                yield _TEXTS, _JSON
            case types.Extension(content=content) if not open:
                yield from ((kind, "ext") for kind, _ in _contents(content, named, open=open))
            case _:
                pass


def families(type: Type, encoding: Encoding, named: Types) -> tuple[str, ...]:
    """The kinds of wire values that a type has."""
    text = encoding.text
    found = plain(type, named)
    match found:
        case types.Null() if found is UNKNOWN:
            return ()
        case types.Bytes():
            return ("a string" if text else "binary",)
        case types.JsonText(kind=kind):
            return {"object": ("an object",), "array": ("an array",)}.get(kind, _EVERY)
        case types.Extension(code=code):
            return (f"ext {code}",)
        case types.Nullable(type=inner):
            others = families(inner, encoding, named)
            return others if others == _EVERY else ("null", *others)
        case types.OneOf():
            leaves = (each for each in within(found, named, types.OneOf) if not isinstance(each, types.OneOf))
            return tuple(family for each in leaves for family in families(each, encoding, named))
        case types.Struct(form=Form.ARRAY):
            return ("an array",)
        case _:
            return (_FAMILIES.get(found.__class__, "an object" if text else "a map"),)
