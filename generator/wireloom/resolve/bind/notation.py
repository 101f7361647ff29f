"""Parse the notation of types: `bytes(20)`, `list(Bin)?`, `str | int | nil`.

type     = single { "|" single }
single   = name [ "(" argument { "," argument } ")" ] [ "?" ]
argument = a type (list, map, ext), an expression (bytes, str) or a word (json), depending on the name
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_SINGLE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(\(.*\))?\s*(\?)?\s*", re.DOTALL)
_ARRAY = re.compile(r"(\w+)\s*\[\s*([^\[\]]*?)\s*\]")
_ANGLES = re.compile(r"\w+\s*<[\w\s,?<>]*>\??")
_ROUND = str.maketrans("<>", "()")
_WORD, _COMMA = re.compile(r"\w+"), re.compile(r"\s*,\s*")
_OWN = {"string": "str", "array": "list", "vector": "list", "dict": "map"}
_OCTETS = {"byte": "bytes", "bytes": "bytes", "char": "str", "str": "str", "string": "str"}
_DEPTH = 16
_OPEN, _CLOSE = "([", ")]"
BLOCKS = "blocks"
"""In place of a size or count: `blocks(uint8)` is a value in parts, each preceded by its length of that type."""


class NotationError(Exception):
    """The text is not a type; `column` counts its characters from 0."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.column, self.hint = message, column, hint


@dataclass(frozen=True, slots=True)
class Argument:
    """The text of one argument."""

    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Single:
    """A name with its arguments."""

    name: str
    arguments: tuple[Argument, ...]
    column: int


@dataclass(frozen=True, slots=True)
class Optional:
    """A type or null."""

    type: Single


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types."""

    options: tuple[Single | Optional, ...]


Notation = Single | Optional | Union


def singles(parsed: Notation) -> tuple[Single, ...]:
    """The single types that a notation combines."""
    match parsed:
        case Union(options):
            return tuple(single for option in options for single in singles(option))
        case Optional(type=single):
            return (single,)
        case Single():
            return (parsed,)


@lru_cache(1024)  # the same texts occur in many places and passes
def parse(text: str, column: int = 0) -> Notation:
    """Parse a type whose text begins at `column`; raises NotationError."""
    if text.count("(") > _DEPTH:
        raise NotationError("too deeply nested", column, "name parts of it in `types`")
    options = tuple(_single(part) for part in _split(Argument(text, column), "|"))
    return options[0] if len(options) == 1 else Union(options)


def blocks(size: str, column: int = 0) -> Single | None:
    """The `blocks` of a size or count that begins at `column`; None for any other size."""
    if not size.lstrip().startswith(BLOCKS):
        return None
    try:
        parsed = parse(size, column)
    except NotationError:
        return None
    return parsed if isinstance(parsed, Single) and parsed.name == BLOCKS and parsed.arguments else None


def _single(part: Argument) -> Single | Optional:
    match = _SINGLE.fullmatch(part.text)
    if match is None:
        at = part.column + len(part.text) - len(part.text.lstrip())
        raise NotationError(f"{part.text.strip() or 'nothing'} is not a type", at, _instead(part.text.strip()))
    arguments: tuple[Argument, ...] = ()
    if match[2] is not None:
        inner = Argument(match[2][1:-1], part.column + match.start(2) + 1)
        arguments = tuple(_split(inner, ",")) if inner.text.strip() else ()
    single = Single(match[1], arguments, part.column + match.start(1))
    return Optional(single) if match[3] else single


def _instead(text: str) -> str:
    """A hint for a text that is not a type."""
    if _ANGLES.fullmatch(text) and text.count("<") == text.count(">"):
        words = _WORD.sub(lambda word: _OWN.get(word[0].lower(), word[0]), text.translate(_ROUND))
        return f"write {_COMMA.sub(', ', words)}"
    match _ARRAY.fullmatch(text):
        case None:
            return "write a type such as int32, str?, bytes(20) or list(Bin)"
        case found if found[1] in _OCTETS and found[2]:
            return f"write {_OCTETS[found[1]]}({found[2]})"
        case found:
            return f"write list({found[1]})" + (f", in binary with `count: {found[2]}`" if found[2] else "")


def _split(argument: Argument, separator: str) -> list[Argument]:
    """Split at separators outside of parentheses and quotes."""
    parts: list[Argument] = []
    depth, quoted, start = 0, False, 0
    for place, character in enumerate(argument.text):
        if character == "'":
            quoted = not quoted
        elif quoted:
            continue
        elif character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth -= 1
            if depth < 0:
                raise NotationError(f"{character} has no opening bracket or quote", argument.column + place)
        elif character == separator and depth == 0:
            parts.append(Argument(argument.text[start:place], argument.column + start))
            start = place + 1
    if depth or quoted:
        raise NotationError("a parenthesis or quote is not closed", argument.column)
    return [*parts, Argument(argument.text[start:], argument.column + start)]
