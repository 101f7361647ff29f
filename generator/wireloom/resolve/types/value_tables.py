"""Value tables: the meaning of each wire value for readers."""

from collections.abc import Mapping as Table
from collections.abc import Sequence

from wireloom.expr.ast import Expression, Kind, Literal
from wireloom.expr.types import kind, literal_kind, may_be_fraction
from wireloom.model.meanings import stated
from wireloom.model.types import Boolean, Bytes, Integer, Mapping, Null, Nullable, Scalar, Text, Type
from wireloom.numbers import notation_of
from wireloom.resolve.bind import constants
from wireloom.resolve.bind.expressions import BROKEN, expression
from wireloom.resolve.bind.outline import is_computed, mapped_leaves
from wireloom.resolve.bind.scopes import Scope
from wireloom.resolve.types.notations import UNKNOWN
from wireloom.spec.documents import Place
from wireloom.spec.language import MappedValue

_INT65 = Integer(65, signed=True)
_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.NULL)
_OF_NULL = 'write `"TYPE?"`, which allows null, or put the key into quotes for the text'


def mappings_of(scope: Scope, place: Place, values: Table[str, object], type: Type) -> tuple[Mapping, ...]:
    """The entries of a table for wire values of `type`."""
    if type is UNKNOWN:
        return ()
    if not _has_keys(type):
        hint = "integers, texts, bytes, booleans, and lists of these can have them"
        scope.draft.reports_entry(place, "wrong-shape", "a field of this type cannot have `values`", hint)
        return ()
    if not values:
        hint = "list them, as in `0: idle`, or leave `values` out"
        scope.draft.reports_entry(place, "wrong-shape", "`values` is empty, so every value would be refused", hint)
        return ()
    if _is_inverted(type, place, values):
        hint = "write the value on the wire first: `0: idle`"
        scope.draft.reports_entry(place, "bad-value-key", "the keys are meanings, but must be values on the wire", hint)
        return ()
    entries: list[Mapping] = []
    taken: set[tuple[object, ...]] = set()
    for text, value in values.items():
        wire = constants.wire_key(type, place / text, text)
        if wire is constants.NONE:
            hint = constants.remedy(type, text) if (place / text).key is not None else _OF_NULL
            scope.draft.reports_entry(place / text, "bad-value-key", f"{text} does not fit the field's type", hint)
            continue
        if flaw := constants.misfit(type, wire):
            message = f"{text or 'nothing'} {flaw}, so no record can have it"
            hint = "write a value that the field can have"
            scope.draft.reports_entry(place / text, "bad-value-key", message, hint)
            continue
        if (literal_kind(wire), wire) in taken:
            message, hint = f"{text} is listed twice", "list each value once"
            scope.draft.reports_entry(place / text, "duplicate-value", message, hint)
        taken.add((literal_kind(wire), wire))
        entries.append(_mapping(scope, place / text, wire, value, notation_of(text) if isinstance(wire, int) else ""))  # type: ignore[arg-type]
    _check_kinds(scope, place, values, entries)
    return tuple(entries)


def check_null(scope: Scope, place: Place, null: Scalar, entries: Sequence[Mapping]) -> None:
    """Report a value that means null and also has another meaning."""
    for each in entries:
        if (literal_kind(each.wire), each.wire) == (literal_kind(null), null):
            hint = "drop it from `values`, or drop `null`"
            scope.draft.reports(place, "duplicate-value", f"{place.text} is also in `values`", hint)


def _is_inverted(type: Type, place: Place, values: Table[str, object]) -> bool:
    """Whether the keys and meanings were swapped: all meanings are wire values, and no key is."""
    if len(values) == 1 or any(constants.wire_key(type, place / text, text) is not constants.NONE for text in values):
        return False
    meanings = meanings_in(values).values()
    return all(constants.wire_key(type, place, str(meaning)) is not constants.NONE for meaning in meanings)


def meanings_in(values: Table[str, object] | None) -> dict[str, object]:
    """The meaning of each wire value, both as the spec writes them."""
    return {key: each.value if isinstance(each, MappedValue) else each for key, each in (values or {}).items()}


def _has_keys(type: Type) -> bool:
    """Whether values of the type can be keys; floats cannot."""
    inner = type.type if isinstance(type, Nullable) else type
    return isinstance(inner, Integer | Boolean | Text | Bytes | Null)


def _mapping(scope: Scope, place: Place, wire: Scalar, value: object, notation: str) -> Mapping:
    document, place = (value, place / "value") if isinstance(value, MappedValue) else (None, place)
    meaning = _meaning(scope, place, value if document is None else document.value)
    beyond = next((each for each in stated(meaning) if not _INT65.minimum <= each <= _INT65.maximum), None)
    if beyond is not None:
        hint = f"integers that readers see are {_INT65.minimum} to {_INT65.maximum}"
        scope.draft.reports(place, "bad-range", f"{beyond} is beyond 64 bits", hint)
    return Mapping(wire, meaning, "" if document is None else _documented(document), notation)


def _documented(document: MappedValue) -> str:
    """The documentation of a meaning, with the versions that have it."""
    spans = (("since", document.since), ("until", document.until))
    return ", ".join(filter(None, (document.doc, *(f"{key} {name}" for key, name in spans if name))))


def _meaning(scope: Scope, place: Place, value: object) -> Expression:
    if is_computed(value):
        return _computed(scope, place, str(value)[1:])
    if value is None or isinstance(value, bool | int | str):
        return Literal(value)
    hint = "a meaning is an integer, a text, a boolean or null"
    scope.draft.reports(place, "mixed-values", f"{value} is a float", hint)
    return BROKEN


def _computed(scope: Scope, place: Place, text: str) -> Expression:
    """The expression of a meaning, which must have an allowed kind."""
    found = expression(scope, place, text, Kind.ANY, column=1)
    is_fraction = kind(found) is Kind.INTEGER and may_be_fraction(found)
    if found is not BROKEN and (is_fraction or kind(found) not in _KINDS):
        what = "any value" if kind(found) is Kind.ANY else "any number" if is_fraction else kind(found).value
        message, hint = f"the expression gives {what}", "a meaning is an integer, a text, a boolean or null"
        scope.draft.reports(place, "expression-type", message, hint, column=1)
        return BROKEN
    return found


def _check_kinds(scope: Scope, place: Place, values: Table[str, object], entries: Sequence[Mapping]) -> None:
    """The meanings of a table must have the same kind, so that they fit one column."""
    leaves = [leaf for value in values.values() for leaf in mapped_leaves(value) or ()]
    computed = {kind(each.value) for each in entries if each.value is not BROKEN}
    kinds = ({literal_kind(leaf) for leaf in leaves} | computed) - {Kind.NULL, Kind.ANY}  # other rules report those
    if len(kinds) > 1:
        found = ", ".join(sorted(kind.value for kind in kinds))
        message = f"the meanings have several types: {found}"
        hint = "use one type for all meanings; null is allowed, too"
        scope.draft.reports_entry(place, "mixed-values", message, hint)
