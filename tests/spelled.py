"""Texts that are spelled as a field wants them."""

from collections.abc import Callable, Sequence

from wireloom.expr.ast import Literal
from wireloom.model.types import Bytes, Field, Padded, Spelling, Text, charset_of, not_null
from wireloom.runtime.patterns import automaton

_MOST = 12
_TRIES = 8
_LONGEST = 1 << 16  # characters of a text that is made up
_LETTERS = "ab0é Z"
_OTHERS = "é€𝄞"


def spelled(spelling: Spelling, choose: Callable[[Sequence[str]], str]) -> str:
    """A text of that length and pattern, as far as choices lead to one; it may be none where they do not."""
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


def spelled_value(field: Field, choose: Callable[[Sequence[str]], str]) -> str | None:
    """A value of a field that is spelled as it wants, where chance finds one that has room and means itself."""
    assert field.spelling is not None
    for _ in range(_TRIES):
        text = spelled(field.spelling, choose)
        if _fits(field, text):
            return text
    text = "a" * min(_stated(field) or 0, _LONGEST)
    return text if not field.spelling.pattern and _fits(field, text) else None


def _fits(field: Field, text: str) -> bool:
    try:
        data = text.encode(charset_of(field.type) or "utf-8")
    except UnicodeEncodeError:
        return False
    type, size, spelling = not_null(field.type), _stated(field), field.spelling
    assert spelling is not None
    padded = isinstance(type, Text | Bytes) and isinstance(type.size, Padded)
    room = size is None or (len(data) <= size if padded else len(data) == size)
    least, most = spelling.minimum or 0, len(text) if spelling.maximum is None else spelling.maximum
    whole = not spelling.pattern or automaton(spelling.pattern).accepts(text)
    return whole and room and least <= len(text) <= most and (field.meaning is None or field.meaning.null != data)


def _stated(field: Field) -> int | None:
    """The bytes that the text has, or at most."""
    match not_null(field.type):
        case Text(Padded(size) | Literal(int(size))) | Bytes(Padded(size) | Literal(int(size))):
            return size
        case _:
            return None
