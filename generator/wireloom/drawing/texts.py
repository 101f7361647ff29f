"""Draws texts that match the pattern and length that a field requires."""

from collections.abc import Callable, Sequence

from wireloom.expr.ast import Literal
from wireloom.model.types import Amount, Bytes, Delimiter, Padded, Spelling, Text, Type, charset_of, not_null
from wireloom.runtime.patterns import automaton

_MOST = 12
_TRIES = 8
_LONGEST = 1 << 16  # most characters of a drawn text
_LETTERS = "ab0é Z"
_OTHERS = "é€𝄞"


def kept_ends(size: Amount | None) -> Sequence[bytes]:
    """The delimiters that a value of that size may end with, if it keeps them; otherwise none."""
    return size.ending.delimiters if isinstance(size, Delimiter) and size.kept else (b"",)


def spelled(spelling: Spelling, choose: Callable[[Sequence[str]], str]) -> str:
    """A text made by choices along the pattern, within the length; a choice may end in a text that does not match."""
    least = spelling.minimum or 0
    most = max(least, min(spelling.maximum if spelling.maximum is not None else least + _MOST, least + _MOST))
    if not spelling.pattern:
        lengths = [str(n) for n in range(least, most + 1)]
        return "".join(choose(_LETTERS) for _ in range(int(choose(lengths))))
    found, state, text = automaton(spelling.pattern), 0, ""
    for _ in range(max(most, 40)):
        if found.ends[state] and len(text) >= least and choose(["stop", "on"]) == "stop":
            break
        ways = [kind for kind, next in enumerate(found.next[state]) if next >= 0]
        if not ways:
            break
        kind = int(choose([str(way) for way in ways]))
        letters = [chr(symbol) for symbol, each in enumerate(found.classes[:128]) if each == kind]
        text += choose(letters or _OTHERS)
        state = found.next[state][kind]
    return text


def spelled_value(
    spelling: Spelling, type: Type, choose: Callable[[Sequence[str]], str], null: object = None
) -> str | None:
    """A matching text that fits into the type and does not mean null; None if no attempt finds one."""
    for _ in range(_TRIES):
        text = spelled(spelling, choose)
        if _fits(spelling, type, text, null):
            return text
    text = "a" * min(_stated(type) or 0, _LONGEST)
    return text if not spelling.pattern and _fits(spelling, type, text, null) else None


def _fits(spelling: Spelling, type: Type, text: str, null: object) -> bool:
    try:
        data = text.encode(charset_of(type) or "utf-8")
    except UnicodeEncodeError:
        return False
    size, plain = _stated(type), not_null(type)
    padded = isinstance(plain, Text | Bytes) and isinstance(plain.size, Padded)
    room = size is None or (len(data) <= size if padded else len(data) == size)
    least, most = spelling.minimum or 0, len(text) if spelling.maximum is None else spelling.maximum
    whole = not spelling.pattern or automaton(spelling.pattern).accepts(text)
    return whole and room and least <= len(text) <= most and null != data


def _stated(type: Type) -> int | None:
    """The size of the text in bytes, or its limit."""
    match not_null(type):
        case Text(Padded(size) | Literal(int(size))) | Bytes(Padded(size) | Literal(int(size))):
            return size
        case _:
            return None
