"""Limits of a field's value, or of each element of its list: range, length and pattern."""

from collections.abc import Iterable
from dataclasses import replace

from wireloom.expr.ast import Literal
from wireloom.model import types
from wireloom.model.types import Array, Held, Nullable, Spelling, Type, not_null
from wireloom.numbers import integer, respelled_ends
from wireloom.resolve.bind import constants
from wireloom.resolve.facts.text_forms import said
from wireloom.resolve.types.notations import UNKNOWN, Surroundings
from wireloom.resolve.types.value_tables import meanings_in
from wireloom.runtime import patterns
from wireloom.runtime.columns.logical import Said
from wireloom.runtime.columns.meanings import spelling_of_said
from wireloom.runtime.parameters import LONG
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument

_LONGEST = 64  # characters of a text that means null in place of a time or number
_KNOWN = {"timestamp": "date-time", "date": "date"}


def spelling_of(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> Spelling | None:
    """The allowed spelling of a text; None if every text is allowed."""
    keys = [key for key in ("length", "pattern") if key in document.model_fields_set]
    text, charset = not_null(type), types.charset_of(type)
    if isinstance(text, types.Map):
        text = text.key  # `length` and `pattern` apply to the keys
    if isinstance(text, types.Text) and (saying := said(document.logical)) is not None:
        return _spelling_of_text(around, place, document, saying)
    if not keys or type is UNKNOWN:
        return None
    if not isinstance(text, types.Text | types.Bytes) or (isinstance(text, types.Bytes) and not charset):
        for key in keys:
            message = f"only texts, lists of texts, and keys of maps have a {key}"
            around.reports(place / key, "wrong-shape", message, f"drop `{key}`; for bytes, use `size`")
        return None
    minimum, maximum = ends_of(around, place / "length", document.length)
    _check_length(around, place / "length", (minimum, maximum))
    pattern, known = _pattern(around, place / "pattern", document, charset)
    return Spelling(minimum, maximum, pattern, known)


def stated_value(  # noqa: PLR0913 - the parts of a field
    around: Surroundings,
    place: Place,
    document: FieldDocument,
    written: types.Scalar,
    type: Type,
    held: Held,
    id: str = "bad-const",
) -> types.Scalar:
    """The wire value that a field states, if a record can have it; else None."""
    if written is None or type is UNKNOWN:
        return written
    value = constants.constant(type, place.text, written)
    if value is constants.NONE or value != value:  # noqa: PLR0124 - not a number
        hint = _by_name(document, place.text) or constants.remedy(type, place.text)
        around.reports(place, id, f"{place.text} does not fit the field's type", hint)
        return None
    if flaw := _flaw(value, written, type, held):
        message = f"{place.text or 'nothing'} {flaw}, so no record can have it"
        hint = _by_name(document, place.text) or "write a value that the field can have"
        around.reports(place, id, message, hint)
        return None
    return value  # type: ignore[return-value]


def _by_name(document: FieldDocument, text: str) -> str:
    """A hint for a text that is the meaning of a wire value; empty for any other text."""
    key = next((key for key, meaning in meanings_in(document.values).items() if meaning == text), "")
    return key and f"write the value on the wire: {key}"


def _flaw(value: object, written: types.Scalar, type: Type, held: Held) -> str:
    """Why no record can have the value in this field; empty if one can."""
    if held.mappings and not any(each.wire == value for each in held.mappings):
        return "is not one of the field's values"
    low, high = held.minimum, held.maximum
    if isinstance(value, int | float) and ((low is not None and value < low) or (high is not None and value > high)):
        return f"is out of the range {'' if low is None else low} .. {'' if high is None else high}"
    if held.spelling is not None and not held.spelling.has(written):
        return "does not match the field's `length`, `pattern` or `logical`"
    return constants.misfit(type, value)


def with_keys(type: Type, spelling: Spelling | None, code: str) -> Type:
    """The type; a map gets the checks of its keys."""
    match type:
        case Nullable(inner):
            return Nullable(with_keys(inner, spelling, code))
        case types.Map() if spelling is not None:
            return replace(type, spelling=spelling, misspelled=code)
        case _:
            return type


def _spelling_of_text(around: Surroundings, place: Place, document: FieldDocument, saying: Said) -> Spelling:
    """The spelling of a text that states a time or a number; a different text may mean null."""
    pattern = spelling_of_said(saying, fine=document.raw is not None)
    found = Spelling(pattern=pattern, known=_KNOWN.get(str(document.logical), str(document.logical)))
    if document.null is None or found.has(document.null):
        return found
    text = str(document.null)
    if not (text.isascii() and text.isprintable() and len(text) <= _LONGEST):
        what = "time" if document.logical in _KNOWN else "number"
        hint = f"write at most {_LONGEST} ASCII characters: '-', '' ..."
        around.reports(place / "null", "bad-const", f"{text!r} cannot mean null for a {what}", hint)
        return found
    return replace(found, pattern=patterns.with_text(found.pattern, text), known=f"{found.known}, or {text!r}")


def _check_length(around: Surroundings, place: Place, ends: Iterable[int | None]) -> None:
    wrong = next((end for end in ends if end is not None and not 0 <= end <= LONG[-1]), None)
    if wrong is not None:
        hint = f"write 0 to {LONG[-1]}, or leave the end open"
        around.reports(place, "bad-range", f"a text cannot have {wrong} characters", hint)


def _pattern(around: Surroundings, place: Place, document: FieldDocument, charset: str) -> tuple[str, str]:
    """The pattern and its name."""
    written = document.pattern
    if written is None:
        return "", ""
    if not patterns.has_automaton(charset):
        message, hint = f"texts in {charset} cannot have a pattern", "drop `pattern`, or check them by `values`"
        around.reports(place, "wrong-shape", message, hint)
        return "", ""
    if not isinstance(written, str):
        return patterns.NAMED[written.named], written.named
    if written in patterns.NAMED:
        message = f"the pattern {written} matches only that text"
        around.reports(place, "bad-pattern", message, f"write `{{named: {written}}}`, or put it into parentheses")
        return "", ""
    try:
        patterns.check(written)
    except patterns.PatternError as error:
        around.reports(place, "bad-pattern", f"{written} is not a pattern: {error}", error.hint)
        return "", ""
    return written, ""


def bounds_of(
    around: Surroundings, place: Place, written: str | int | None, type: Type
) -> tuple[int | None, int | None]:
    """The smallest and the largest value of a range; None for an open end."""
    if written is None or type is UNKNOWN:
        return None, None
    minimum, maximum = ends_of(around, place, written)
    plain = not_null(type)
    if not isinstance(plain, types.Integer | types.Float):
        hint = "for a text, use `length`" if isinstance(plain, types.Text) else "drop `range`"
        around.reports(place, "wrong-shape", "only numbers and lists of numbers have a range", hint)
    elif isinstance(plain, types.Integer):
        beyond = next((end for end in (minimum, maximum) if end is not None and not _can_be(plain, end)), None)
        if beyond is not None:
            hint = f"it holds {plain.minimum} to {plain.maximum}"
            around.reports(place, "bad-range", f"{beyond} does not fit the field's type", hint)
    return minimum, maximum


def ends_of(around: Surroundings, place: Place, written: str | int | None) -> tuple[int | None, int | None]:
    """The two ends of a range; None for an open end."""
    if written is None:
        return None, None
    low, dots, high = (part.strip() for part in str(written).partition(".."))
    minimum, maximum = integer(low), integer(high)
    if not dots and minimum is not None:
        return minimum, minimum
    if not dots or not (low or high) or bool(low) != (minimum is not None) or bool(high) != (maximum is not None):
        hint = respelled_ends(str(written)) or "write `0 .. 100`, `0 ..`, `.. 100` or `100`"
        around.reports(place, "bad-range", f"{written} is not a range", hint)
        return None, None
    if minimum is not None and maximum is not None and minimum > maximum:
        around.reports(place, "bad-range", f"{written} is empty", "write the smaller end first")
    return minimum, maximum


def _can_be(whole: types.Integer, value: int) -> bool:
    return whole.minimum <= value <= whole.maximum


KEYS_OF_ELEMENTS = ("values", "range", "length", "pattern")


def single_of(type: Type) -> Type:
    """The type of a list's innermost elements; the type itself if it is not a list, or a list of maps."""
    inner = not_null(type)
    if not isinstance(inner, Array):
        return type
    found = single_of(inner.element)
    return type if isinstance(not_null(found), types.Map) else found


def check_element_keys(
    around: Surroundings,
    place: Place,
    document: FieldDocument,
    element: Type,
    mappings: tuple[types.Mapping, ...] | None,
) -> None:
    """Report keys that are not allowed for elements."""
    for key in sorted(document.given & {*KEYS_OF_ELEMENTS}) if Array(element).packed else ():
        message, hint = f"`{key}` at elements that share bytes", f"drop `{key}`, or give them whole bytes"
        around.refuses(place / key, "wrong-shape", message, hint)
    if mappings is None:
        return
    if isinstance(element, Nullable):
        message, hint = "elements that may be null cannot have `values`", "drop the `?`, or make each element a struct"
        around.refuses(place / "values", "wrong-shape", message, hint)
    if any(not isinstance(each.value, Literal) for each in mappings):
        message = "the meaning of an element cannot be computed"
        hint = "make the elements structs, and compute it there"
        around.refuses(place / "values", "wrong-shape", message, hint)


def holding(type: Type, held: Held) -> Type:
    """The list with the checks of its innermost elements; unchanged if there are none."""
    return type if held == Held(held.code) else _with_checks(type, held)


def _with_checks(type: Type, held: Held) -> Type:
    match type:
        case Nullable(inner):
            return Nullable(_with_checks(inner, held))
        case Array(element=element) if isinstance(not_null(element), Array):
            return replace(type, element=_with_checks(element, held))
        case Array():
            return replace(type, held=held)
        case _:
            return type
