"""Convert constants of a spec to wire values of their type."""

import math
from collections.abc import Iterable, Mapping

from wireloom.expr.ast import Kind, Literal
from wireloom.expr.types import literal_kind
from wireloom.model import types
from wireloom.model.types import Boolean, Bytes, Delimiter, Float, Integer, JsonText, Null, Nullable, Padded, Text, Type
from wireloom.numbers import integer, respelled
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.values import float16, float32
from wireloom.spec.documents import Place

_HALF = 16  # bits of a float
_DOUBLE = 64
_NESTED = 64  # nesting of arrays and objects in a constant
_NUMBERS = {_HALF: "a number that fits 16 bits exactly", 32: "a number that fits 32 bits"}

UTF8 = "utf-8"
_TRUTHS: Mapping[str, object] = {"true": True, "false": False}
NONE = object()  # the text is not a value of the type


def kind(value: object) -> Kind:
    """The kind of a tag's default, which is that of the tag; text if there is no default."""
    return Kind.TEXT if value is None else literal_kind(value)


def value(text: str, kind: Kind, charset: str = "") -> object:
    """The value of a key as that kind, or NONE; bytes are written in hexadecimal, or as text of a character set."""
    match kind:
        case Kind.INTEGER:
            number = integer(text)
            return NONE if number is None else number
        case Kind.BOOLEAN:
            return _TRUTHS.get(text, NONE)
        case Kind.TEXT:
            return text
        case Kind.BYTES:
            return encoded(text, charset) if charset else hexadecimal(text)
        case _:
            number = integer(text)
            if number is not None:
                return number
            return {"true": True, "false": False, "null": None}.get(text, text)


def wire_key(type: Type, place: Place, text: str) -> object:
    """The wire value for a key of a value table, whatever type YAML gives the key."""
    number = None if isinstance(types.not_null(type), Text | Bytes) else integer(text)
    written = _TRUTHS.get(text, text) if isinstance(types.not_null(type), Boolean) else text
    return constant(type, text, None if place.key is None else written if number is None else number)


def constant(type: Type, text: str, written: object) -> object:
    """The wire value that a spec states, or NONE; bytes are written in hexadecimal."""
    match type, written:
        case Nullable() | Null(), None:
            return None
        case Nullable(JsonText()), "null":
            return NONE  # readers see null
        case Nullable(inner), _:
            return constant(inner, text, written)
        case Bytes(charset=charset), _ if charset:
            return encoded(written, charset) if isinstance(written, str) else NONE
        case Bytes(), _:
            return NONE if written is None else hexadecimal(text)
        case Boolean(), bool():
            return written
        case Integer() as whole, int() if not isinstance(written, bool):
            return written if whole.minimum <= written <= whole.maximum else NONE
        case Float(bits), int() | float() if not isinstance(written, bool):
            number = _nearest(written, bits) if bits != _HALF else float(written) if _is_half(written) else None
            return NONE if number is None else number
        case Text(), str():
            return written
        case JsonText(json), str():
            return written if _is_json(written, json) else NONE
        case _:
            return NONE


def _nearest(number: float, bits: int) -> float | None:
    """The nearest number with 32 or 64 bits; None if it is beyond the largest."""
    try:
        wide = float(number)
    except OverflowError:
        return None
    narrow = wide if bits == _DOUBLE else float32(wide)
    return narrow if math.isfinite(narrow) or not math.isfinite(wide) else None


def _is_half(number: float) -> bool:
    """Whether 16 bits can hold the number exactly."""
    try:
        return float16(number) == number
    except OverflowError:
        return False


def _is_json(text: str, kind: str) -> bool:
    """Whether readers can see the text as JSON of this kind: an object, an array or any value."""
    try:
        found = read(text.encode(), _NESTED)
    except (DecodeError, UnicodeEncodeError):
        return False
    return found.literal == text and kind in ("any", found.kind)


def misfit(type: Type, value: object) -> str:
    """Why no field of the type has this value, or readers would see another one; empty if there is no reason."""
    data = value.encode() if isinstance(value, str) else value
    size = getattr(types.not_null(type), "size", None)
    match size:
        case _ if not isinstance(data, bytes):
            return ""
        case Literal(int(octets)) if len(data) != octets:
            return f"has {byte_count(len(data))}, but the field has {octets}"
        case types.Prefix(number) if len(data) > number.maximum:
            return f"has {byte_count(len(data))}, but the field has at most {number.maximum}"
        case Padded(octets, fill) if len(data) > octets or data.endswith(fill):
            return f"is longer than {octets} bytes, or ends with the padding"
        case Delimiter() if all(size.ending.delimiters) and size.ending.written(data) is None:
            ends = " or ".join(each.hex() for each in size.ending.delimiters)
            return f"must have {ends} at its end, and nowhere else" if size.kept else f"contains the delimiter {ends}"
        case _:
            return ""


def charset_of(stated: str | None) -> str:
    """The character set as types store it: empty for UTF-8."""
    return "" if stated in (None, UTF8) else str(stated)


def encoded(text: str, charset: str) -> object:
    """The bytes of a text in a character set; NONE if the set lacks a character."""
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        return NONE


def hexadecimal(text: str) -> object:
    """The bytes of hexadecimal text; NONE if it is not hexadecimal."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return NONE


def byte(draft: Draft, place: Place, text: str) -> int:
    """The byte of two hexadecimal digits; reports any other text and returns 0."""
    data = hexadecimal(text)
    if isinstance(data, bytes) and len(data) == 1:
        return data[0]
    draft.reports(place, "bad-hex", f"{text or 'nothing'} is not one byte", "write two hexadecimal digits")
    return 0


def escapes(draft: Draft, place: Place, escaped: Iterable[str] | None) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The byte stated as `escape`, and the meaning of each byte after it, by `escaped`."""
    codes = [(place / "escaped" / code, code) for code in escaped or ()]
    meanings = tuple((byte(draft, at, code), byte(draft, at, at.text)) for at, code in codes)
    return byte(draft, place / "escape", (place / "escape").text), meanings


def remedy(type: Type, text: str) -> str:
    """A hint for a text that is not a value of the type."""
    number = respelled(text) if isinstance(types.not_null(type), Integer | Float) else ""
    return number or f"write {described(type, text)}"


def described(type: Type, written: str = "") -> str:
    """What values of the type look like in a spec, or the correct form of `written` if it is nearly right."""
    match type:
        case Bytes(charset="") if written[:2].lower() == "0x" and hexadecimal(written[2:]) is not NONE:
            return f"{written[2:]}, without 0x"
        case Nullable(inner):
            return f"{described(inner, written)} or null"
        case Integer() as whole:
            return f"an integer from {whole.minimum} to {whole.maximum}"
        case Boolean():
            return "true or false"
        case Bytes(charset=charset):
            return f"a text in {charset}" if charset else "bytes in hexadecimal"
        case Text():
            return "a text"
        case JsonText(kind):
            what = "JSON" if kind == "any" else f"a JSON {kind}"
            return f"{what}, without white space around it"
        case Float(bits):
            return _NUMBERS.get(bits, "a number")
        case Null():
            return "null"
        case _:
            return "nothing: only scalars have constants"
