"""What specs and the runtime know alike of bytes: it is said once, where executors have it."""

from wireloom.runtime.charsets import unit
from wireloom.runtime.numerals import base_of, format_of, width_of
from wireloom.runtime.packing import CODECS
from wireloom.runtime.patterns import FINE_MOMENT, MOMENT, PatternError, automaton, has_automaton, with_text
from wireloom.runtime.patterns import NAMED as NAMED_PATTERNS
from wireloom.runtime.values import float16

__all__ = [
    "FINE_MOMENT",
    "MOMENT",
    "NAMED_PATTERNS",
    "PatternError",
    "automaton",
    "base_of",
    "damage",
    "format_of",
    "has_automaton",
    "is_half",
    "unit",
    "width_of",
    "with_text",
]


def damage(codec: str) -> str:
    """The code of bytes that a codec does not say."""
    return CODECS[codec].damaged


def is_half(number: float) -> bool:
    """Whether 16 bits say the number exactly."""
    try:
        return float16(number) == number
    except OverflowError:
        return False
