"""What a field says of the spelling of its text: how many characters it has, and a pattern."""

from dataclasses import replace

from wireloom.model.ground import (
    LONG,
    NAMED_PATTERNS,
    PatternError,
    check,
    has_automaton,
    spelling_of_said,
    unit,
    with_text,
)
from wireloom.model.logical import Integer, Said, Scaled
from wireloom.model.types import Bytes, Map, Nullable, Spelling, Text, Type, charset_of, not_null
from wireloom.resolve.bounds import ends_of
from wireloom.resolve.lengths import flaw_of_lengths, room_of
from wireloom.resolve.said import said
from wireloom.resolve.types import UNKNOWN, Surroundings
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument

_LONGEST = 64  # characters of a text in place of a time or a number
_KNOWN = {"timestamp": "date-time", "date": "date"}


def spelling_of(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> Spelling | None:
    """What the text is held against; None where nothing is."""
    keys = [key for key in ("length", "pattern") if key in document.model_fields_set]
    text, charset = not_null(type), charset_of(type)
    if isinstance(text, Map):
        text = text.key  # it is the keys that are spelled so
    if isinstance(text, Text) and (saying := said(document.logical)) is not None:
        return _of_saying(around, place, document, saying)
    if not keys or type is UNKNOWN:
        return None
    if not isinstance(text, Text | Bytes) or (isinstance(text, Bytes) and not charset):
        for key in keys:
            message = f"only texts, lists of them, and the keys of maps have a {key}"
            around.reports(place / key, "wrong-shape", message, f"drop `{key}`; `size` is of bytes")
        return None
    minimum, maximum = ends_of(around, place / "length", document.length)
    _check_length(around, place / "length", minimum, maximum, text)
    pattern, known = _pattern(around, place / "pattern", document, charset)
    found = Spelling(minimum, maximum, pattern, known)
    if pattern and (flaw := flaw_of_lengths(found, room_of(text), charset)):
        message = f"no text of {flaw} looks like that"
        around.reports(place / "pattern", "bad-pattern", message, "let one of them allow what the other does")
    _check_stated(around, place, document, found, "let `length` and `pattern` allow it, too")
    return found


def with_keys(type: Type, spelling: Spelling | None, code: str) -> Type:
    """The type; of a map, with what its keys are held against."""
    match type:
        case Nullable(inner):
            return Nullable(with_keys(inner, spelling, code))
        case Map() if spelling is not None:
            return replace(type, spelling=spelling, misspelled=code)
        case _:
            return type


def _of_saying(around: Surroundings, place: Place, document: FieldDocument, saying: Said) -> Spelling:
    """How the text of a time or a number is spelled; it may be another one that means null."""
    pattern = spelling_of_said(saying, fine=document.raw is not None)
    found = Spelling(pattern=pattern, known=_KNOWN.get(str(document.logical), str(document.logical)))
    what, hint = "time", "let it say a time as RFC 3339 has it"
    if document.logical not in _KNOWN:
        what, hint = "number", _hint(saying.counted)
    if document.null is None or found.has(document.null):
        _check_stated(around, place, document, found, hint)
        return found
    _check_stated(around, place, document.model_copy(update={"null": None}), found, hint)
    text = str(document.null)
    if not (text.isascii() and text.isprintable() and len(text) <= _LONGEST):
        hint = f"write at most {_LONGEST} characters of ASCII: '-', '' ..."
        around.reports(place / "null", "bad-const", f"{text!r} cannot stand in place of a {what}", hint)
        return found
    return replace(found, pattern=with_text(found.pattern, text), known=f"{found.known}, or {text!r}")


def _hint(counted: Integer | Scaled) -> str:
    """What texts say a number."""
    if isinstance(counted, Integer):
        return f"write {counted.minimum} to {counted.maximum} in digits, without zeros in front"
    before = max(counted.precision - counted.digits, 1)
    return f"write at most {before} digits and {counted.digits} behind the point, without zeros in front"


def _check_stated(around: Surroundings, place: Place, document: FieldDocument, spelling: Spelling, hint: str) -> None:
    """Report what means null, or stands for what is absent, and is spelled otherwise."""
    for name, value, id in (("null", document.null, "bad-const"), ("default", document.default, "bad-default")):
        if not spelling.has(value):
            around.reports(place / name, id, f"{value!r} is not spelled as the field says", hint)


def _check_length(
    around: Surroundings, place: Place, minimum: int | None, maximum: int | None, text: Text | Bytes
) -> None:
    least = next((end for end in (minimum, maximum) if end is not None and end < 0), None)
    if least is not None:
        around.reports(place, "bad-range", f"no text has {least} characters", "begin with 0 or more")
    beyond = next((end for end in (minimum, maximum) if end is not None and end > LONG[-1]), None)
    if beyond is not None:
        around.reports(place, "bad-range", f"no text has {beyond} characters", "end with less, or leave the end open")
    _, room = room_of(text)
    each = unit(text.charset) if isinstance(text, Bytes) else 1
    if minimum is not None and room is not None and minimum * each > room:
        around.reports(place, "bad-range", f"{minimum} characters have no room in {room} bytes", "give it more bytes")


def _pattern(around: Surroundings, place: Place, document: FieldDocument, charset: str) -> tuple[str, str]:
    """The pattern, and the name that it has."""
    written = document.pattern
    if written is None:
        return "", ""
    if not has_automaton(charset):
        message, hint = f"texts in {charset} are not held against patterns", "drop `pattern`, or check them by `values`"
        around.reports(place, "wrong-shape", message, hint)
        return "", ""
    if not isinstance(written, str):
        return NAMED_PATTERNS[written.named], written.named
    if written in NAMED_PATTERNS:
        message = f"the pattern {written} is of that text alone"
        around.reports(place, "bad-pattern", message, f"write `{{named: {written}}}`, or put it into parentheses")
        return "", ""
    try:
        check(written)
    except PatternError as error:
        around.reports(place, "bad-pattern", f"{written} is no pattern: {error}", error.hint)
        return "", ""
    return written, ""
