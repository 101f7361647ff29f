"""Constants of a spec -> wire values of the type that they stand for."""

from dataclasses import replace

from wireloom.expr.ast import Kind, Literal
from wireloom.expr.types import literal_kind
from wireloom.model import types
from wireloom.model.ground import is_half, is_json, nearest
from wireloom.model.types import Boolean, Bytes, Delimiter, Float, Integer, JsonText, Null, Nullable, Padded, Text, Type
from wireloom.numbers import integer, respelled
from wireloom.resolve.bind.draft import Draft
from wireloom.spec.documents import Place

_HALF = 16  # bits of a float
_NUMBERS = {_HALF: "a number that 16 bits say exactly", 32: "a number that is not beyond 32 bits"}

UTF8 = "utf-8"
NONE = object()  # no value: the text does not fit


def kind(value: object) -> Kind:
    """The kind of a default, which tells the kind of a tag; text if there is none."""
    return Kind.TEXT if value is None else literal_kind(value)


def value(text: str, kind: Kind, charset: str = "") -> object:
    """The value of that kind that a key says; NONE where it says none. Bytes are hexadecimal, or text of a charset."""
    match kind:
        case Kind.INTEGER:
            number = integer(text)
            return NONE if number is None else number
        case Kind.BOOLEAN:
            return {"true": True, "false": False}.get(text, NONE)
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
    """The value on the wire that a key of a value table says."""
    found = _wire_key(type, place, text)
    return found if fits(type, found) else NONE


def _wire_key(type: Type, place: Place, text: str) -> object:
    match type:
        case Nullable(inner):
            return None if place.key is None else _wire_key(inner, place, text)
        case Null():
            return None if place.key is None else NONE
        case Integer() as whole:
            number = integer(text)
            return number if number is not None and whole.minimum <= number <= whole.maximum else NONE
        case Boolean():
            return value(text, Kind.BOOLEAN)
        case Text() | Bytes() if place.key is None:
            return NONE
        case Text():
            return text
        case Bytes(charset=charset):
            return encoded(text, charset) if charset else hexadecimal(text)
        case _:
            return NONE


def constant(type: Type, place: Place, written: types.Scalar) -> object:
    """The wire value that a `const`, a `null` or a `default` states; bytes are written in hexadecimal."""
    found = _constant(type, place, written)
    return found if fits(type, found) else NONE


def _constant(type: Type, place: Place, written: types.Scalar) -> object:
    match type, written:
        case Nullable() | Null(), None:
            return None
        case Nullable(JsonText()), "null":
            return NONE  # readers see null
        case Nullable(inner), _:
            return _constant(inner, place, written)
        case Bytes(charset=charset), _ if charset:
            return encoded(written, charset) if isinstance(written, str) else NONE
        case Bytes(), _:
            return hexadecimal(place.text)
        case Boolean(), bool():
            return written
        case Integer() as whole, int() if not isinstance(written, bool):
            return written if whole.minimum <= written <= whole.maximum else NONE
        case Float(bits), int() | float() if not isinstance(written, bool):
            number = nearest(written, bits) if bits != _HALF else float(written) if is_half(written) else None
            return NONE if number is None else number
        case Text(), str():
            return written
        case JsonText(json), str():
            return written if is_json(written, json) else NONE
        case _:
            return NONE


def fits(type: Type, value: object) -> bool:
    """Whether a value is one that readers can see of a type that is filled up, or that bytes end."""
    data = value.encode() if isinstance(value, str) else value
    match type:
        case Nullable(inner):
            return fits(inner, value)
        case Text(size=Padded(size, fill)) | Bytes(size=Padded(size, fill)) if isinstance(data, bytes):
            return len(data) <= size and not data.endswith(fill)
        case Text(size=Delimiter() as delimiter) | Bytes(size=Delimiter() as delimiter) if isinstance(data, bytes):
            ending = delimiter.ending
            return not all(ending.delimiters) or ending.written(data) is not None
        case _:
            return True


def misfit(type: Type, value: object) -> str:
    """Why no field of the type, of a stated size, has a value; empty where one may."""
    data = value.encode() if isinstance(value, str) else value
    match type:
        case Nullable(inner):
            return misfit(inner, value)
        case Text(size=Literal(int(size))) | Bytes(size=Literal(int(size))) if isinstance(data, bytes):
            return "" if len(data) == size else f"is of {_bytes(data)} and the field of {size}"
        case Text(size=types.Prefix(number)) | Bytes(size=types.Prefix(number)) if isinstance(data, bytes):
            most = number.maximum
            return "" if len(data) <= most else f"is of {_bytes(data)} and the field of at most {most}"
        case _:
            return ""


def _bytes(data: bytes) -> str:
    return "1 byte" if len(data) == 1 else f"{len(data)} bytes"


def charset_of(stated: str | None) -> str:
    """The character set that types note; UTF-8 is none."""
    return "" if stated in (None, UTF8) else str(stated)


def encoded(text: str, charset: str) -> object:
    """The bytes of a text in a character set; NONE where that does not have it."""
    try:
        return text.encode(charset)
    except UnicodeEncodeError:
        return NONE


def hexadecimal(text: str) -> object:
    """The bytes of hexadecimal text; NONE where it is none."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return NONE


def byte(draft: Draft, place: Place, text: str) -> int:
    """The byte that two hexadecimal digits are; 0 of others, which are reported."""
    data = hexadecimal(text)
    if isinstance(data, bytes) and len(data) == 1:
        return data[0]
    draft.reports(place, "bad-hex", f"{text or 'nothing'} is no byte", "write two hexadecimal digits")
    return 0


def remedy(type: Type, text: str) -> str:
    """What to write in place of a text that says no value of the type."""
    number = respelled(text) if isinstance(types.not_null(type), Integer | Float) else ""
    return number or f"write {described(type, text)}"


def described(type: Type, written: str = "") -> str:
    """What values of the type look like in a spec, in the words of what was `written` where that is nearly one."""
    match type:
        case Bytes(charset="") if written[:2].lower() == "0x" and hexadecimal(written[2:]) is not NONE:
            return f"{written[2:]}, without 0x"
        case Nullable(inner):
            return f"{described(inner, written)} or null"
        case Integer() as whole:
            return f"an integer from {whole.minimum} to {whole.maximum}"
        case Boolean():
            return "true or false"
        case Text(size=Padded(size)) | Bytes(size=Padded(size)):
            return f"at most {size} bytes, without those that fill it up"
        case Text(size=Delimiter() as delimiter) | Bytes(size=Delimiter() as delimiter):
            return _described_ending(delimiter, described(replace(type, size=None)))
        case Bytes(charset=charset):
            return f"a text that {charset} has" if charset else "bytes in hexadecimal"
        case Text():
            return "a text"
        case JsonText(kind):
            what = "JSON" if kind == "any" else f"an {kind} of JSON"
            return f"{what}, without white space around it"
        case Float(bits):
            return _NUMBERS.get(bits, "a number")
        case Null():
            return "null"
        case _:
            return "nothing: only scalars have constants"


def _described_ending(delimiter: Delimiter, what: str) -> str:
    ends = " or ".join(each.hex() for each in delimiter.ending.delimiters)
    if delimiter.kept:
        return f"{what} with {ends} at the end, and nowhere else"
    return what if delimiter.escape is not None else f"{what} without {ends}, where readers would see its end"
