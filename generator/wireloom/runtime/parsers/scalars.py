"""The checks of scalars that every encoding shares: the range of an integer, UTF-8 and character sets of a text."""

from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.protocol import Expression, evaluate


def text_of(data: bytes, offset: int, invalid: Expression | None, context: Container) -> str:
    """UTF-8 bytes as text.

    Raises DecodeError `invalid_utf8` at the first bad byte unless the `invalid` parameter says `replace`.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if invalid is not None and evaluate(invalid, context) == "replace":
            return data.decode("utf-8", "replace")
        bad = data[error.start : error.end]
        raise DecodeError(
            "invalid_utf8", offset=offset + error.start, expected="UTF-8", actual=f"{bad.hex(' ')}: {error.reason}"
        ) from None


def in_charset(data: bytes, offset: int, charset: str) -> bytes:
    """The bytes of a text; raises DecodeError `invalid_text` at the first byte that the character set lacks."""
    try:
        data.decode(charset)
    except UnicodeDecodeError as error:
        bad = data[error.start : error.end]
        raise DecodeError(
            "invalid_text", offset=offset + error.start, expected=charset, actual=f"{bad.hex(' ')}: {error.reason}"
        ) from None
    return data


def encoded_text(value: object) -> bytes:
    """Text as UTF-8; raises EncodeError for anything else, lone surrogates included."""
    if not isinstance(value, str):
        raise EncodeError("a text", shown(value))
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        raise EncodeError("text without lone surrogates", shown(value)) from None


def checked_integer(value: object, bits: int, *, signed: bool) -> int:
    """An integer that fits; raises EncodeError for anything else, booleans included."""
    low, high = integer_range(bits, signed=signed)
    if not isinstance(value, int) or isinstance(value, bool):
        raise EncodeError("an integer", shown(value))
    if not low <= value <= high:
        raise EncodeError(f"an integer from {low} to {high}", shown(value))
    return value


def integer_range(bits: int, *, signed: bool) -> tuple[int, int]:
    """The smallest and the largest integer of `bits` bits; signed 65 bits mean all of int64 and uint64."""
    return (-(1 << min(bits, 64) - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
