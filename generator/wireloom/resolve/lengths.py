"""How long texts can be: the room that they have, their characters, and which of that a pattern takes."""

from wireloom.expr.ast import Literal
from wireloom.model.ground import automaton
from wireloom.model.types import Bytes, Padded, Prefix, Spelling, Text

_CHARACTER = 4  # bytes at most
_BEYOND = 128  # the symbol of every character beyond ASCII
_LONGEST = 4000  # characters of a text that is looked for

Room = tuple[int, int | None]
"""The fewest and the most bytes; None: any number."""


def room_of(text: Text | Bytes) -> Room:
    """The bytes that a text has as its type says."""
    match text.size:
        case Literal(int(size)) if size >= 0:
            return size, size
        case Padded(size):
            return 0, size
        case Prefix(number):
            return 0, number.maximum
        case _:
            return 0, None


def _lengths(spelling: Spelling, room: Room, charset: str) -> Room:
    """The fewest and the most characters of texts that have room and the right length."""
    least, most = room
    fewest = least if charset or not _beyond_ascii(spelling.pattern) else -(-least // _CHARACTER)
    ends = [end for end in (most, spelling.maximum) if end is not None]
    return max(fewest, spelling.minimum or 0), min(ends, default=None)


def flaw_of_lengths(spelling: Spelling, room: Room, charset: str) -> str:
    """What texts are called that the pattern takes none of; empty where it takes one."""
    return "" if _has_lengths(spelling.pattern, *_lengths(spelling, room, charset)) else _described(spelling, room)


def _has_lengths(pattern: str, least: int, most: int | None) -> bool:
    """Whether a pattern takes a text of so many characters, as far as that shows within a few thousand."""
    found, reached = automaton(pattern), frozenset((0,))
    last = _LONGEST if most is None else min(most, _LONGEST)
    for length in range(last + 1):
        if length >= least and any(found.ends[state] for state in reached):
            return True
        reached = frozenset(way for state in reached for way in found.next[state] if way >= 0)
        if not reached:
            return False
    return last == _LONGEST


def _beyond_ascii(pattern: str) -> bool:
    """Whether a pattern takes characters beyond ASCII."""
    found = automaton(pattern)
    return any(row[found.classes[_BEYOND]] >= 0 for row in found.next)


def _described(spelling: Spelling, room: Room) -> str:
    """How long a text is that has room and the right length."""
    least, most = room
    bytes_ = "" if most is None else f"{most} bytes" if least == most else f"at most {most} bytes"
    ends = (spelling.minimum, spelling.maximum)
    numbers = [str(end) for end in dict.fromkeys(ends) if end is not None]
    characters = f"{' .. '.join(numbers)} characters" if None not in ends else ""
    if not characters and numbers:
        characters = f"{numbers[0]} characters or {'more' if spelling.maximum is None else 'fewer'}"
    return " and ".join(each for each in (bytes_, characters) if each) or "any length"
