"""Patterns of texts: a dialect that Python, ECMA 262 and Rust read alike, and the automaton of each pattern.

The dialect has no lookaround, and each character allows only one way through a pattern. So even a backtracking matcher
takes at most one step per character. The engine uses the automaton; its symbols are the ASCII characters, and one
symbol for all others.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from wireloom.runtime.primitives.charsets import TWO_BYTES, characters

_LARGEST = 400  # characters of a pattern with its repetitions written out
_OTHER = 128  # the symbol of every character beyond ASCII
_SYMBOLS = _OTHER + 1
_ALL = frozenset(range(_SYMBOLS))
_SPECIAL = frozenset(".^$*+?()[]{}|\\")
_ESCAPED = _SPECIAL | {"/"}
_SPECIAL_IN_CLASS = frozenset("[]\\^-")
_SHORTHANDS = frozenset("dDwWsSbBpP")
_CONTROLS = {"r": "0d", "t": "09", "f": "0c", "v": "0b", "a": "07", "e": "1b", "0": "00"}
"""The hexadecimal codes of characters that other dialects escape with a letter."""
_NUMBERED = frozenset("ucU")  # other dialects' escapes with a character code
_TIMES: Mapping[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_DIGITS = 4  # a repetition count of this many digits is too large
_DEEPEST = 32  # nested groups
_CONTINUATIONS = range(0x80, 0xC0)

_DAYS = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])"
)
_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = f"(?:{_YEAR}-(?:{_DAYS})|{_LEAP}-02-29)"
_ZONE = "(?:Z|[+\\-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_TIME = f"{_CLOCK}(?:\\.[0-9]+)?{_ZONE}"
_INNER = "(?:000[2-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])"

NAMED: Mapping[str, str] = {
    "date-time": f"{_DATE}T{_TIME}",
    "date": _DATE,
    "time": _TIME,
    "uuid": "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
}
"""The named patterns, with the names of JSON Schema's formats: RFC 3339 (years 1 to 9999, `T` and `Z` in upper case,
no leap seconds) and RFC 9562."""

_WORDS = {
    "date-time": "an RFC 3339 timestamp such as 2026-01-31T12:00:00Z, with T and Z in capitals",
    "date": "a date such as 2026-01-31",
    "time": "an RFC 3339 time such as 12:00:00Z",
    "uuid": "a UUID such as 123e4567-e89b-42d3-a456-426614174000",
}


def worded(known: str, pattern: str) -> str:
    """The expected text in words; for a pattern from the spec, the pattern itself."""
    if not known:
        return f"text that matches the spec's pattern {pattern}"
    name, comma, other = known.partition(", or ")
    digits = " and at most six digits after the second" if MOMENT in pattern else ""
    number = f"a{'n' if name.startswith('int') else ''} {name} in decimal digits, without leading zeros"
    return _WORDS.get(name, number) + digits + comma + other


def _moment(fraction: str) -> str:
    """A timestamp in the years 1 to 9999 that stays in them when it is converted to UTC."""
    other = f"(?:{_INNER}-(?:{_DAYS})|{_LEAP}-02-29)T{_CLOCK}{fraction}{_ZONE}"
    return f"(?:{_DATE}T{_CLOCK}{fraction}(?:Z|[+\\-]00:00)|{other})"


MOMENT, FINE_MOMENT = _moment("(?:\\.[0-9]{1,6})?"), _moment("(?:\\.[0-9]+)?")
"""Timestamps with at most six fractional digits, which a microsecond column holds, and with any number."""


def integers(lowest: int, highest: int) -> str:
    """The integers from `lowest` (at most 0) to `highest` (at least 0), as canonical JSON writes them."""
    negative = f"|-(?:{_up_to(str(-lowest))})" if lowest else ""
    return f"0|{_up_to(str(highest))}{negative}"


def _up_to(last: str) -> str:
    """The integers from 1 to `last`: those with fewer digits, and those that are less at some digit."""
    found = [f"[1-9]{_digits(0, len(last) - 2)}"]
    for place, digit in enumerate(last):
        least, most = int(place == 0), int(digit) - (place < len(last) - 1)
        if least <= most:
            count = len(last) - 1 - place
            found.append(f"{last[:place]}{_between(least, most)}{_digits(count, count)}")
    return "|".join(found)


def _between(least: int, most: int) -> str:
    return str(least) if least == most else f"[{least}-{most}]"


def _digits(least: int, most: int) -> str:
    """Between `least` and `most` digits."""
    match least, most:
        case _, 0:
            return ""
        case 1, 1:
            return "[0-9]"
        case 0, 1:
            return "[0-9]?"
        case _ if least == most:
            return f"[0-9]{{{least}}}"
        case _:
            return f"[0-9]{{{least},{most}}}"


def decimals(precision: int, digits: int, *, padded: bool = False) -> str:
    """Decimals of up to `precision` digits, at most `digits` after the point (all if `padded`); zero has no sign."""
    least = digits if padded else 1
    fraction = f"\\.{_digits(least, digits)}" if digits else ""
    fraction = fraction if padded or not digits else f"(?:{fraction})?"
    whole = f"-?[1-9]{_digits(0, precision - digits - 1)}{fraction}|" if precision > digits else ""
    small = "|".join(
        f"{'0' * place}[1-9]{_digits(digits - place - 1 if padded else 0, digits - place - 1)}"
        for place in range(digits)
    )
    return f"{whole}0{fraction}" + (f"|-0\\.(?:{small})" if digits else "")


def with_text(pattern: str, text: str) -> str:
    """The pattern, or exactly that text."""
    literal = "".join(f"\\{each}" if each in _SPECIAL else each for each in text)
    return f"{pattern}|{literal}"


class PatternError(ValueError):
    """A text that is not a pattern of the dialect; `hint` says what to write."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern: the positions where a match may begin and end, and whether it may be empty."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


_NOTHING = _Part(frozenset(), frozenset(), empty=True)


@dataclass(slots=True)
class _Reader:
    """Reads a pattern; each character of its expansion is a position, with the symbols that match there."""

    text: str
    strict: bool
    at: int = 0
    depth: int = 0
    symbols: list[frozenset[int]] = field(default_factory=list)
    follow: list[set[int]] = field(default_factory=list)

    def whole(self) -> _Part:
        found = self._choice()
        if self.at < len(self.text):
            raise PatternError("a ) without its (", "write \\) for the character")
        return found

    # --- parts ---

    def _choice(self) -> _Part:
        found = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            found.append(self._sequence())
        if len(found) > 1 and sum(each.empty for each in found) > 1:
            raise PatternError("several ways to match the empty text", "let only one alternative match it")
        return _Part(
            frozenset().union(*(each.first for each in found)),
            frozenset().union(*(each.last for each in found)),
            empty=any(each.empty for each in found),
        )

    def _sequence(self) -> _Part:
        found = _NOTHING
        while self._peek() not in ("", "|", ")"):
            found = self._concatenated(found, self._repeated())
        return found

    def _concatenated(self, one: _Part, other: _Part) -> _Part:
        self._join(one.last, other.first)
        return _Part(
            one.first | other.first if one.empty else one.first,
            one.last | other.last if other.empty else other.last,
            empty=one.empty and other.empty,
        )

    def _join(self, last: Iterable[int], first: frozenset[int]) -> None:
        for place in last:
            if self.strict and self.follow[place] & first:
                raise PatternError("a repetition within a repetition", "each text must match in only one way")
            self.follow[place] |= first

    def _repeated(self) -> _Part:
        start = self.at
        found = self._atom()
        end = self.at
        least, most = self._times()
        if (least, most) == (1, 1):
            return found
        if self._peek() in ("*", "+", "?", "{"):
            raise PatternError("a repetition of a repetition", "drop one; there are no lazy or possessive ones")
        if found.empty:
            raise PatternError("a repetition of the empty text", "repeat at least one character")
        whole = _NOTHING if least == 0 else found
        for _ in range(1, least):
            whole = self._concatenated(whole, self._again(start, end))
        if most is None:
            last = found if least < 2 else self._again(start, end)
            self._join(last.last, last.first)
            again = _Part(last.first, last.last, empty=least != 1)
            return again if least < 2 else self._concatenated(whole, again)
        optional = [found] if least == 0 else []
        optional += [self._again(start, end) for _ in range(most - least - len(optional))]
        tail = _NOTHING
        for each in reversed(optional):
            joined = self._concatenated(each, tail)
            tail = _Part(joined.first, joined.last, empty=True)
        return self._concatenated(whole, tail)

    def _again(self, start: int, end: int) -> _Part:
        """The part from `start` to `end` once more, with new positions."""
        resume, self.at = self.at, start
        found = self._atom()
        assert self.at == end
        self.at = resume
        return found

    def _times(self) -> tuple[int, int | None]:
        letter = self._peek()
        if letter == "{":
            return self._braces()
        self.at += letter in _TIMES
        return _TIMES.get(letter, (1, 1))

    def _braces(self) -> tuple[int, int | None]:
        inner, closed, _ = self.text[self.at + 1 :].partition("}")
        low, comma, high = inner.partition(",")
        numbers = [each for each in (low, high) if each]
        if closed and any(len(each) >= _DIGITS and each.isascii() and each.isdigit() for each in numbers):
            message = f"{{{inner}}} repeats too often"
            raise PatternError(message, f"a pattern has at most {_LARGEST} characters when it is written out")
        if not closed or not low or not all(_is_number(each) for each in numbers):
            raise PatternError("a { without a number", "write {2}, {2,} or {2,5}, and \\{ for the character")
        least, most = int(low), int(high) if high else None if comma else int(low)
        if most == 0 or (most is not None and most < least):
            raise PatternError(f"{{{inner}}} is not a valid repetition", "write the smaller number first, and not {0}")
        self.at += len(inner) + 2
        return least, most

    def _atom(self) -> _Part:
        letter = self._peek()
        if letter == "(":
            return self._group()
        if letter == "[":
            return self._place(self._class())
        if letter == "\\":
            self.at += 1
            if (number := self._number()) is not None:
                return self._place(frozenset((number,)))
            escaped = self._peek()
            if escaped not in _ESCAPED or not escaped:
                hint = "write [0-9], [A-Za-z0-9_], [ ]" if escaped in _SHORTHANDS else _plainly(escaped, "[\\n]")
                raise PatternError(f"\\{escaped} is not allowed here", hint)
            self.at += 1
            return self._place(frozenset((ord(escaped),)))
        if letter in _SPECIAL:
            anchor = "a pattern is of the whole text: drop it, or " if letter in "^$" else ""
            other = "[^\\n] or " if letter == "." else ""
            tail = "" if anchor or other else " for the character"
            raise PatternError(f"{letter} is not allowed here", f"{anchor}write {other}\\{letter}{tail}")
        self.at += 1
        return self._place(frozenset((self._code(letter),)))

    def _group(self) -> _Part:
        self.at += 1
        if self._peek() == "?":
            if not self.text.startswith("?:", self.at):
                raise PatternError("a look-around or a named group", "write groups as ( ) or (?: )")
            self.at += 2
        self.depth += 1
        if self.depth > _DEEPEST:
            raise PatternError(f"more than {_DEEPEST} nested groups", "use fewer")
        found = self._choice()
        self.depth -= 1
        if self._peek() != ")":
            raise PatternError("a ( without its )", "close it, or write \\( for the character")
        self.at += 1
        return found

    def _class(self) -> frozenset[int]:
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        found: set[int] = set()
        while self._peek() != "]":
            low = self._hyphen(first=not found) or self._member()
            high = low
            if self._peek() == "-" and not self._closes():
                self.at += 1
                high = self._member()
            more = set(range(low, high + 1))
            if not more or more & found:
                hint = "write the smaller end first, and each character once"
                raise PatternError("an empty range in [ ], or a character that is in it twice", hint)
            found |= more
        self.at += 1
        if not found:
            raise PatternError("[ ] without characters", "add some")
        return _ALL - found if negated else frozenset(found)

    def _hyphen(self, *, first: bool) -> int:
        """The code of a literal hyphen, which is first or last in its class; else 0."""
        if self._peek() != "-" or not (self._closes() or (first and self.text[self.at + 1 : self.at + 2] != "-")):
            return 0
        self.at += 1
        return ord("-")

    def _closes(self) -> bool:
        """Whether the class ends after the next character."""
        return self.text.startswith("]", self.at + 1)

    def _member(self) -> int:
        letter = self._peek()
        if letter == "\\":
            self.at += 1
            if (number := self._number()) is not None:
                return number
            letter = self._peek()
            if letter == "n":
                self.at += 1
                return ord("\n")
            if letter not in _ESCAPED | {"-"} or not letter:
                hint = "list the characters" if letter in _SHORTHANDS else _plainly(letter, "\\n")
                raise PatternError(f"\\{letter} is not allowed here", hint)
        elif not letter:
            raise PatternError("a [ without its ]", "close it, or write \\[ for the character")
        elif letter in _SPECIAL_IN_CLASS:
            raise PatternError(f"{letter} is not allowed here in [ ]", f"write \\{letter} for the character")
        self.at += 1
        return self._code(letter)

    # --- characters ---

    def _number(self) -> int | None:
        r"""The character of a `\\x` escape with two hexadecimal digits; None if the next character is not an x."""
        if self._peek() != "x":
            return None
        digits = self.text[self.at + 1 : self.at + 3]
        if re.fullmatch("[0-7][0-9a-fA-F]", digits) is None:
            raise PatternError(f"\\x{digits} is not an ASCII character", "write \\x00 to \\x7f")
        self.at += 3
        return int(digits, 16)

    def _peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def _code(self, letter: str) -> int:
        if not " " <= letter <= "~":
            raise PatternError(f"{letter!r} is not a printable ASCII character", "use [^ ] for others")
        return ord(letter)

    def _place(self, symbols: frozenset[int]) -> _Part:
        self.symbols.append(symbols)
        self.follow.append(set())
        if self.strict and len(self.symbols) > _LARGEST:
            raise PatternError(f"more than {_LARGEST} characters when it is written out", "use `length` for long texts")
        here = frozenset((len(self.symbols) - 1,))
        return _Part(here, here, empty=False)


def _plainly(escaped: str, line_feed: str) -> str:
    """What to write instead of a backslash and a character."""
    if escaped == "n":
        return f"write {line_feed}"
    if escaped in _CONTROLS:
        return f"write \\x{_CONTROLS[escaped]}"
    if escaped in _NUMBERED:
        return "write \\x00 to \\x7f for a character of ASCII; [^ ] takes others"
    return "drop the \\"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < _DIGITS


@dataclass(frozen=True, slots=True)
class Automaton:
    """States, and the next state for each class of symbols (-1: none); the first state is the start."""

    classes: tuple[int, ...]  # the class of each symbol
    next: tuple[tuple[int, ...], ...]
    ends: tuple[bool, ...]

    def accepts(self, text: str) -> bool:
        """Whether the text leads from the start to an accepting state."""
        state = 0
        for letter in text:
            state = self.next[state][self.classes[min(ord(letter), _OTHER)]]
            if state < 0:
                return False
        return self.ends[state]

    def table(self, charset: str = "") -> list[int]:
        """The automaton as integers for the engine: counts, the class of each byte (-1: continuation), transitions."""
        classes = len(self.next[0])
        words = [len(self.next), classes, *self._bytes(charset)]
        for row in self.next:
            words += [-1 if state < 0 else state << 1 | self.ends[state] for state in row]
        return [int(self.ends[0]), *words]

    def _bytes(self, charset: str) -> list[int]:
        if charset:
            known = characters(charset)
            return [self.classes[_OTHER if each is None else min(ord(each[0]), _OTHER)] for each in known]
        return [-1 if byte in _CONTINUATIONS else self.classes[min(byte, _OTHER)] for byte in range(256)]


def has_automaton(charset: str) -> bool:
    """Whether texts of this character set can be matched against patterns."""
    return charset not in TWO_BYTES


def check(pattern: str) -> None:
    """Raise PatternError for a text that is not a pattern of the dialect; this module's own patterns need not pass."""
    reader = _Reader(pattern, strict=True)
    _check_certain(reader, reader.whole())


@lru_cache(maxsize=64)
def automaton(pattern: str) -> Automaton:
    """The automaton of a pattern of the dialect, or of this module."""
    reader = _Reader(pattern, strict=False)
    whole = reader.whole()
    classes, columns = _classes(reader.symbols)
    samples = {kind: symbol for symbol, kind in enumerate(classes)}
    states: dict[frozenset[int], int] = {frozenset((-1,)): 0}
    waiting, rows = [frozenset((-1,))], list[tuple[int, ...]]()
    ends = list[bool]()
    while len(rows) < len(waiting):
        state = waiting[len(rows)]
        ways = frozenset().union(*(whole.first if place < 0 else reader.follow[place] for place in state))
        row = []
        for kind in range(columns):
            reached = frozenset(place for place in ways if samples[kind] in reader.symbols[place])
            if reached and reached not in states:
                states[reached] = len(waiting)
                waiting.append(reached)
            row.append(states[reached] if reached else -1)
        rows.append(tuple(row))
        ends.append(any(place in whole.last or (place < 0 and whole.empty) for place in state))
    return Automaton(classes, tuple(rows), tuple(ends))


def _check_certain(reader: _Reader, whole: _Part) -> None:
    """Check that at each position, a character matches in only one way."""
    for ways in (whole.first, *reader.follow):
        taken: set[int] = set()
        for place in ways:
            if taken & reader.symbols[place]:
                twice = min(taken & reader.symbols[place])
                shown = chr(twice) if twice < _OTHER else "a character beyond ASCII"
                hint = "take out what the ways begin with alike: a(b|c) for ab|ac, [a-z]+ for [a-z]*[a-z]"
                raise PatternError(f"{shown} could match in two ways", hint)
            taken |= reader.symbols[place]


def _classes(symbols: Sequence[frozenset[int]]) -> tuple[tuple[int, ...], int]:
    """The class of each symbol; symbols that match at the same positions share a class."""
    known: dict[tuple[bool, ...], int] = {}
    different = list(dict.fromkeys(symbols))
    found = tuple(
        known.setdefault(tuple(symbol in each for each in different), len(known)) for symbol in range(_SYMBOLS)
    )
    return found, len(known)
