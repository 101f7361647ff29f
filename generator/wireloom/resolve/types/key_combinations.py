"""Check the combination of a field's keys with one another, with the encoding, and with the container."""

from wireloom import names
from wireloom.encodings import Form, encodings_of_key
from wireloom.model.types import Bytes, Field, Float, Integer, Reference, Select, Text, not_null
from wireloom.resolve.bind.outline import is_open
from wireloom.resolve.bind.wording import only_in
from wireloom.resolve.types.notations import UNKNOWN, Surroundings
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument
from wireloom.spec.language.combinations import CHECKED, COMPANIONS, EXCLUDED, EXCLUDED_BY_OMISSION

_SINGLE = 32


def check_keys(around: Surroundings, place: Place, document: FieldDocument) -> None:
    """Report keys that conflict with others, or have no meaning in the encoding."""
    given = document.given
    foreign = {key for key in given if key not in around.encoding.keys and encodings_of_key(key)}
    for key in sorted(foreign - ({"default"} if "optional" in foreign else set())):
        hint = around.encoding.instead_of_keys.get(key) or only_in(encodings_of_key(key))
        around.refuses(place / key, "wrong-encoding", f"`{key}` has no meaning in {around.encoding.name}", hint)
    stated = given if document.optional else given - {"optional"}
    texts = {"oneOf": document.one_of, "pattern": document.pattern, "since": document.since, "until": document.until}
    for key in (key for key, written in texts.items() if written == ""):
        message = f"`{key}` is empty"
        around.reports(place / key, "conflicting-keys", message, "give it a value, or drop it")
    for key, companion in COMPANIONS.items():
        if key in given and companion not in stated and key not in foreign:
            hint = f"give both, or drop `{key}`"
            around.refuses(place / key, "conflicting-keys", f"`{key}` without `{companion}`", hint)
    for key, rivals in EXCLUDED.items():
        for rival in rivals if key in stated else ():
            if rival not in stated:
                continue
            around.refuses(place / rival, "conflicting-keys", f"`{rival}` beside `{key}`", "drop one of them")
    if document.as_ is not None and (flaw := names.logical_name_flaw(document.as_)):
        around.reports(place / "as", "bad-name", f"{document.as_} cannot be the name of a column", flaw)
    if document.else_ is not None and not _has_check(document):
        hint = f"drop it; it replaces the code of {', '.join(sorted(CHECKED))} or a sized type"
        around.scope.draft.warns(
            place / "else", "useless-else", "the field has no check that could use this `else`", hint
        )


def _has_check(document: FieldDocument) -> bool:
    """Whether a field has a check whose code `else` can replace."""
    unchecked = {"values"} if is_open(document) else set()
    sized = isinstance(document.type, str) and document.type.startswith(("bytes(", "str("))
    return sized or bool(document.given & (CHECKED - unchecked))


def check_form(around: Surroundings, place: Place, field: Field, document: FieldDocument, form: Form) -> None:
    """Report a field that its container does not allow."""
    if form is Form.ARRAY and document.member is not None:
        message, hint = "a field of an array has no name on the wire", "drop `member`; `as` sets the name for readers"
        around.refuses(place / "member", "wrong-encoding", message, hint)
    if form is Form.MESSAGE and field.on_wire and document.tag is None:
        around.refuses(place, "missing-tag", f"{field.wire_name} has no field number", "give it a `tag`")
    if (
        form is Form.MESSAGE
        and document.tag is not None
        and not (0 < field.tag < 1 << 29 and field.tag not in range(19000, 20000))
    ):
        message, hint = f"{field.tag} is not a field number", "use 1 to 536870911, without 19000 to 19999"
        around.reports(place / "tag", "bad-tag", message, hint)
    if form is Form.ARRAY and document.optional:
        _check_element(around, place, document)
    if field.one_of and (flaw := _group_flaw(around, field.one_of)):
        around.reports(place / "oneOf", "bad-name", f"{field.one_of} cannot be the name of a group of fields", flaw)
    if document.flatten and not isinstance(field.type, Reference | Select) and field.type is not UNKNOWN:
        message, hint = f"{field.wire_name} is not a struct", "only structs and selects of structs can be flattened"
        around.refuses(place / "flatten", "wrong-shape", message, hint)
    inner = not_null(field.type)
    formed = inner.digits > 0 if isinstance(inner, Integer) else isinstance(inner, Float) and inner.bits < _SINGLE
    if formed and not field.on_wire:
        hint = "write int64, or float32"
        around.reports(place / "type", "wrong-shape", "a computed value has no encoding", hint)
    if isinstance(inner, Bytes | Text) and inner.size is not None and not field.on_wire and document.logical is None:
        hint = "write bytes" if isinstance(inner, Bytes) else "write str"
        around.reports(place / "type", "wrong-shape", "a computed value has no size", hint)


def _check_element(around: Surroundings, place: Place, document: FieldDocument) -> None:
    """Report an optional array element with a key that also decides its presence or value."""
    if around.encoding.text:
        hint = "use `when`, `since` or a nullable type"
        around.refuses(place / "optional", "wrong-encoding", "an element of a JSON array cannot be missing", hint)
    for rival in EXCLUDED_BY_OMISSION:
        if rival in document.given:
            message = f"`{rival}` beside `optional`, in an array"
            around.refuses(place / rival, "conflicting-keys", message, "drop one of them, or use `form: object`")


def _group_flaw(around: Surroundings, name: str) -> str | None:
    """What is wrong with the name of a `oneOf` group; None if nothing is."""
    members = around.scope.outlines.types[around.scope.type].members
    return "a field has it" if name in members else names.name_flaw(name)
