"""Which keys of a field go together: with one another, with the encoding, with the container."""

from collections.abc import Mapping as Table

from wireloom import names
from wireloom.encodings import Form, encodings_of_key
from wireloom.model.types import Bytes, Field, Float, Integer, Reference, Select, Text, not_null
from wireloom.resolve.bind.outline import is_open
from wireloom.resolve.types.notations import UNKNOWN, Surroundings
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument

_SINGLE = 32

# Keys that mean something only beside another one.
COMPANIONS: Table[str, str] = {
    "over": "checksum",
    "checksum": "over",
    "stored": "checksum",
    "default": "optional",
    "from": "at",
    "kept": "delimiter",
    "escape": "delimiter",
    "escaped": "escape",
    "epoch": "logical",
    "jump": "terminator",
    "unpack": "size",
}
_INSTEAD = "say with `when` whether the field is there"
# Keys that say something of the wire, where computed and counted fields are not.
ON_WIRE = (
    *("at", "from", "size", "unpack", "count", "delimiter", "kept", "escape", "escaped", "pad", "charset"),
    *("terminator", "jump", "lastWhen", "tag", "oneOf", "member", "optional", "default", "const", "values", "range"),
    *("length", "pattern", "bits", "checksum", "refers", "table", "flatten", "inline", "unique", "salvage"),
    *("lineFeeds", "wire", "byteOrder", "null", "raw"),
)
# Keys that say what the value is, or whose it is.
_DECIDED = ("const", "values", "bits", "derive", "checksum", "refers", "table", "flatten", "inline")
# Keys beside which a value means nothing else.
_WITHOUT_MEANING = (*_DECIDED, "unique", "salvage", "hidden")
# Keys beside which a text has no spelling of its own.
_WITHOUT_SPELLING = (*(key for key in _DECIDED if key != "inline"), "hidden", "logical", "scale", "offset")
# Keys that no field of a group of protobuf has: whether it is there the others say, too.
_WITHOUT_GROUP = ("optional", "when", "since", "until", "derive", "const", "refers", "table", "flatten", "hidden")
# Keys that no element of an array has which may be left out: they say, too, whether it is there, or what it is.
_WITHOUT_ELEMENT = ("when", "since", "until", "derive", "const", "flatten", "hidden")
# Keys that say something of the very bytes of a value, which are not there before they are unpacked.
_OF_BYTES = ("const", "values", "bits", "derive", "checksum", "pad", "hidden")
# Keys that say what builders write, which no field has that stands elsewhere: there it may be another's.
_WITHOUT_BASE = ("derive", "checksum", "bits", "hidden")
# Keys whose check has a code that `else` may say.
_CHECKED = frozenset(
    (
        *("const", "values", "range", "length", "pattern", "size", "delimiter", "checksum", "refers", "unique"),
        *("bits", "logical"),
    )
)
# Keys that cannot stand together.
RIVALS = (
    *(("compute", key) for key in ("counted", *ON_WIRE)),
    *(("counted", key) for key in ("derive", "when", "since", "until", "as", "hidden", "scale", "offset", *ON_WIRE)),
    ("count", "terminator"),
    ("count", "lastWhen"),
    ("terminator", "lastWhen"),
    ("derive", "const"),
    ("derive", "checksum"),
    ("const", "checksum"),
    ("values", "checksum"),
    ("values", "bits"),
    ("values", "range"),
    ("table", "values"),
    ("table", "range"),
    ("raw", "hidden"),
    ("kept", "escape"),
    ("kept", "logical"),
    ("charset", "logical"),
    ("charset", "checksum"),
    *(("refers", rival) for rival in ("charset", "const", "values", "derive", "default")),
    ("raw", "const"),
    ("flatten", "hidden"),
    ("flatten", "as"),
    *((key, rival) for key in ("logical", "scale", "offset") for rival in _WITHOUT_MEANING),
    *(("null", rival) for rival in _WITHOUT_MEANING if rival != "values"),
    *((key, rival) for key in ("length", "pattern") for rival in _WITHOUT_SPELLING),
    *(("null", rival) for rival in ("optional", "default", "oneOf")),
    ("logical", "counted"),
    *(("unpack", rival) for rival in _OF_BYTES),
    *(("from", rival) for rival in _WITHOUT_BASE),
    *(("oneOf", rival) for rival in _WITHOUT_GROUP),
)


def check_keys(around: Surroundings, place: Place, document: FieldDocument) -> None:
    """Report keys that have no meaning beside the others or in the encoding."""
    given = document.given
    report = around.scope.draft.reports_entry
    foreign = {key for key in given if key not in around.encoding.keys and encodings_of_key(key)}
    for key in sorted(foreign - ({"default"} if "optional" in foreign else set())):
        is_presence = around.encoding.laid_out and key in ("optional", "default")
        hint = _INSTEAD if is_presence else f"it is of {' and '.join(encodings_of_key(key))}"
        report(place / key, "wrong-encoding", f"`{key}` has no meaning in {around.encoding.name}", hint)
    stated = given if document.optional else given - {"optional"}
    for key, written in (
        ("oneOf", document.one_of),
        ("pattern", document.pattern),
        ("since", document.since),
        ("until", document.until),
    ):
        if written == "":
            message = f"`{key}` is the empty text, which says nothing"
            around.reports(place / key, "conflicting-keys", message, f"drop `{key}`, or say what it is")
    for key, companion in COMPANIONS.items():
        if key in given and companion not in stated and key not in foreign:
            report(place / key, "conflicting-keys", f"`{key}` without `{companion}`", f"give both, or drop `{key}`")
    for key, rival in RIVALS:
        if key in stated and rival in stated:
            report(place / rival, "conflicting-keys", f"`{rival}` beside `{key}`", "drop one of them")
    if document.as_ is not None and (flaw := names.logical_name_flaw(document.as_)):
        around.reports(place / "as", "bad-name", f"{document.as_} cannot be the name of a column", flaw)
    if document.else_ is not None and not has_check(document):
        hint = f"it replaces the code of {', '.join(sorted(_CHECKED))} or a sized type"
        around.scope.draft.warns(place / "else", "useless-else", "nothing here has a check of its own", hint)


def has_check(document: FieldDocument, besides: str = "") -> bool:
    """Whether a field has a check of its own, whose code it may say."""
    unchecked = {besides, "values"} if is_open(document) else {besides}
    sized = isinstance(document.type, str) and document.type.startswith(("bytes(", "str("))
    return sized or bool(document.given & (_CHECKED - unchecked))


def check_form(around: Surroundings, place: Place, field: Field, document: FieldDocument, form: Form) -> None:
    """Report a field that cannot stand in its container."""
    report = around.scope.draft.reports_entry
    if form is Form.ARRAY and document.member is not None:
        report(
            place / "member", "wrong-encoding", "a position has no name", "drop `member`; `as` says what readers see"
        )
    if form is Form.MESSAGE and field.on_wire and document.tag is None:
        report(place, "missing-tag", f"{field.wire_name} has no field number", "give it a `tag`")
    if (
        form is Form.MESSAGE
        and document.tag is not None
        and not (0 < field.tag < 1 << 29 and field.tag not in range(19000, 20000))
    ):
        around.reports(
            place / "tag", "bad-tag", f"{field.tag} is no field number", "1 to 536870911, without 19000 to 19999"
        )
    if form is Form.ARRAY and document.optional:
        _check_element(around, place, document)
    if field.one_of and (flaw := _group_flaw(around, field.one_of)):
        around.reports(place / "oneOf", "bad-name", f"{field.one_of} cannot be the name of a group of fields", flaw)
    if document.flatten and not isinstance(field.type, Reference | Select) and field.type is not UNKNOWN:
        report(
            place / "flatten",
            "wrong-shape",
            f"{field.wire_name} is no struct",
            "only structs and selects of structs are flattened",
        )
    inner = not_null(field.type)
    formed = inner.digits > 0 if isinstance(inner, Integer) else isinstance(inner, Float) and inner.bits < _SINGLE
    if formed and not field.on_wire:
        hint = "write int64, or float32"
        around.reports(place / "type", "wrong-shape", "a value that is not on the wire has no such form", hint)
    if isinstance(inner, Bytes | Text) and inner.size is not None and not field.on_wire and document.logical is None:
        hint = "write bytes" if isinstance(inner, Bytes) else "write str"
        around.reports(place / "type", "wrong-shape", "a value that is not on the wire is of no stated size", hint)


def _check_element(around: Surroundings, place: Place, document: FieldDocument) -> None:
    """Report an element that may be left out, but for which something else says so or what it is."""
    report = around.scope.draft.reports_entry
    if around.encoding.text:
        hint = "use `when`, `since` or a nullable type"
        report(place / "optional", "wrong-encoding", "a position in JSON cannot be left out", hint)
    for rival in _WITHOUT_ELEMENT:
        if rival in document.given:
            message = f"`{rival}` of an element that may be left out"
            report(place / rival, "conflicting-keys", message, "drop one of them, or use `form: object`")


def _group_flaw(around: Surroundings, name: str) -> str | None:
    """What is wrong with the name of a group of fields."""
    members = around.scope.outlines.types[around.scope.type].members
    return "a field has it" if name in members else names.name_flaw(name)
