"""Facts about bytes that specs and the runtime share; the runtime owns them."""

import math

from wireloom.runtime.columns.meanings import spelling_of_said
from wireloom.runtime.cursor import AGAIN
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parameters import HIGHEST, LONG, LOWEST
from wireloom.runtime.parsers.checksums import Crc as CrcOfBytes
from wireloom.runtime.parsers.checksums import Sum as SumOfBytes
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.patterns import NAMED as NAMED_PATTERNS
from wireloom.runtime.patterns import PatternError, automaton, check, decimals, has_automaton, with_text
from wireloom.runtime.primitives.charsets import unit
from wireloom.runtime.primitives.delimiters import Ending
from wireloom.runtime.primitives.numerals import base_of, format_of, width_of
from wireloom.runtime.primitives.packing import CODECS
from wireloom.runtime.values import ENTRY, float16, float32

__all__ = [
    "AGAIN",
    "ENTRY",
    "HIGHEST",
    "LONG",
    "LOWEST",
    "NAMED_PATTERNS",
    "CrcOfBytes",
    "Ending",
    "PatternError",
    "SumOfBytes",
    "automaton",
    "base_of",
    "check",
    "damage",
    "decimals",
    "format_of",
    "has_automaton",
    "is_half",
    "is_json",
    "nearest",
    "rounded_to",
    "spelling_of_said",
    "unit",
    "width_of",
    "with_text",
]

_DOUBLE = 64  # bits of a float
_NESTED = 64  # nesting depth of a JSON constant


def damage(codec: str) -> str:
    """The error code of bytes that a codec cannot unpack."""
    return CODECS[codec].damaged


def nearest(number: float, bits: int) -> float | None:
    """The nearest float of 32 or 64 `bits`; None if the number is beyond the largest one."""
    try:
        wide = float(number)
    except OverflowError:
        return None
    narrow = wide if bits == _DOUBLE else float32(wide)
    return narrow if math.isfinite(narrow) or not math.isfinite(wide) else None


def rounded_to(least: float) -> float:
    """The smallest number that rounds to at least `least` in 32 bits."""
    step = max(abs(least) * 2.0**-22, 2.0**-148)
    below, reached = least - step, least + step
    while below < (middle := (below + reached) / 2) < reached:
        below, reached = (below, middle) if float32(middle) >= least else (middle, reached)
    return reached


def is_half(number: float) -> bool:
    """Whether a 16-bit float holds the number exactly."""
    try:
        return float16(number) == number
    except OverflowError:
        return False


def is_json(text: str, kind: str) -> bool:
    """Whether a text is JSON as readers would see it: an object, an array or any value."""
    try:
        found = read(text.encode(), _NESTED)
    except (DecodeError, UnicodeEncodeError):
        return False
    return found.literal == text and kind in ("any", found.kind)
