"""JSON text: a strict reader that keeps all offsets, and the matching writer.

The text is read once, from the front, into nodes that keep their offsets. The first byte that no JSON text can have
there decides the error, so every decoder that reads from the front finds the same one:

* `truncated`: the text ends too early; at the string, number or word that is cut off, else at the end of the text.
* `json_syntax`: at the first invalid byte (a BOM, a comment, `'`, NUL, a control character in a string, the second
  digit of `01`, the bracket of `[1,]`).
* `invalid_utf8`: at the first bad byte, once the reader reaches it; at the escape of a lone surrogate; at the start
  if the first four bytes are UTF-16 or UTF-32 (checked before anything else).
* `json_nonfinite`: at NaN, Infinity, -Infinity, or a float literal beyond 64 bits.
* `duplicate_key`: at the second key, once it has been read and before its value. Escapes are resolved first.
* `depth_limit`: at the bracket that opens one container too many.
* `trailing_bytes`: at the first byte after the value that is not white space.

The reader keeps its own stack and takes time linear in the text. Paths name members and indexes; the reader knows no
types, so a map is an object like any other.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Literal, NamedTuple

from wireloom.runtime.checkpoints import Checkpoint, Passed
from wireloom.runtime.errors import Component, DecodeError, shown
from wireloom.runtime.parsers.json.nodes import Kind, Nesting, Node, SourceText, Tree, Verbatim

_LONGEST_INTEGER = 400  # digits: beyond any range a spec can state, and below where Python refuses or slows down
_BEYOND_ANY_RANGE: int = 10**_LONGEST_INTEGER


# --- grammar -------------------------------------------------------------------------------------------------------

# number = [ "-" ] ( "0" / digit1-9 *DIGIT ) [ "." 1*DIGIT ] [ ("e" / "E") [ "-" / "+" ] 1*DIGIT ]         RFC 8259, 6
# char   = %x20-21 / %x23-5B / %x5D-10FFFF / escape; the text between escapes is decoded as UTF-8            RFC 8259, 7
_WHITE = rb"[ \t\n\r]*+"
_PLAIN = rb'[^"\\\x00-\x1f]*+'
_VALUE = (
    rb'(?:"(?P<str>' + _PLAIN + rb')"'
    + rb"|(?P<number>-?(?:0|[1-9][0-9]*+)(?P<real>(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?))"
    + rb"|(?P<object>\{)|(?P<array>\[)|(?P<null>null)|(?P<true>true)|(?P<false>false))"
)  # fmt: skip
_TOKEN = re.compile(_WHITE + _VALUE)
_COMMA = _WHITE + rb"(?P<comma>,)?" + _WHITE
_ELEMENT = re.compile(_COMMA + _VALUE)
_MEMBER = re.compile(_COMMA + rb'"(?P<name>' + _PLAIN + rb')"' + _WHITE + rb":" + _WHITE + _VALUE)
_KEY = re.compile(_WHITE + rb'"(' + _PLAIN + rb')"' + _WHITE + rb":")
_BEFORE_ELEMENT = re.compile(_WHITE + rb"([,\]])")
_BEFORE_KEY = re.compile(_WHITE + rb"([,}])")
_SPACE = re.compile(_WHITE)
_CHARACTERS = re.compile(_PLAIN)
_ESCAPE = re.compile(rb'\\(?:(["\\/bfnrt])|u([0-9A-Fa-f]{4}))')
_LOW_SURROGATE = re.compile(rb"\\u([dD][c-fC-F][0-9A-Fa-f]{2})")
_NONFINITE = re.compile(rb"NaN|-?Infinity")
_UTF_16_OR_32 = re.compile(rb"[^\0]\0[^\0]\0|\0[^\0]\0[^\0]|[^\0]\0\0\0|\0\0\0[^\0]")

# The longest valid beginning of a literal that is cut off: a number, an escape, a low surrogate's escape.
_NUMBER_CUT = re.compile(rb"-?(?:(?:0|[1-9][0-9]*+)(?:\.(?:[0-9]++(?:[eE][+-]?[0-9]*+)?)?|[eE][+-]?[0-9]*+)?)?")
_ESCAPE_CUT = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?")
_LOW_SURROGATE_CUT = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9A-Fa-f]?)?)?)?)?")

_ESCAPED = {b'"': '"', b"\\": "\\", b"/": "/", b"b": "\b", b"f": "\f", b"n": "\n", b"r": "\r", b"t": "\t"}
_WORDS = (b"null", b"true", b"false")
_CONSTANTS: dict[str, tuple[Kind, bool | None]] = {
    "null": ("null", None),
    "true": ("bool", True),
    "false": ("bool", False),
}
_CONTINUES_NUMBER = frozenset(b"0123456789.eE")
_HIGHS, _LOWS = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


# --- reading -------------------------------------------------------------------------------------------------------


def read(
    data: bytes,
    max_depth: int,
    start: int = 0,
    known: Mapping[int, Checkpoint] | None = None,
    *,
    repeated: list[DecodeError] | None = None,
) -> Node:
    """The one value in `data` from `start` on, with at most `max_depth` nested containers.

    If `repeated` is given, errors of repeated keys are added to it, and reading goes on. Elements of `known` arrays (by
    offset from `start`) that the engine has read are skipped: None takes their place.
    """
    return _Reader(data, max_depth, repeated, start, known or {}).document(start)


def read_partly(
    data: bytes, max_depth: int, start: int = 0, known: Mapping[int, Checkpoint] | None = None, kept: int = 0
) -> tuple[Node | None, DecodeError | None]:
    """As `read`; for a broken text also the nodes before the fault, in which open containers have no extent.

    The first `kept` elements of each `known` array are not skipped.
    """
    reader = _Reader(data, max_depth, None, start, known or {}, kept)
    try:
        return reader.document(start), None
    except DecodeError as error:
        return reader.root, error


class _Leap(NamedTuple):
    """Elements of an array to skip: from index `behind` up to `total`; they end at `position`."""

    behind: int
    total: int
    position: int


@dataclass(slots=True, eq=False)
class _Open:
    """An open container, and the path component of the value that is being read in it."""

    node: Node
    leaps: list[_Leap]  # over the elements of an array, the next one first
    component: Component | None = None
    key_offset: int = 0
    keys: set[str] = field(default_factory=set)


class _Reader:
    """One pass over one text. Methods take the offset where they begin and return the offset after what they read."""

    def __init__(  # noqa: PLR0913 - a text, and how to read it
        self,
        data: bytes,
        max_depth: int,
        repeated: list[DecodeError] | None,
        start: int,
        known: Mapping[int, Checkpoint],
        kept: int = 0,
    ) -> None:
        self.data = data
        self.max_depth = max_depth
        self.repeated = repeated
        self.known, self.kept = known, kept
        self.source = SourceText(data, Nesting(max_depth), start)
        self.stack: list[_Open] = []
        self.root: Node | None = None

    def document(self, start: int) -> Node:
        """The value, with only white space after it."""
        if _UTF_16_OR_32.match(self.data, start):
            raise self._error("invalid_utf8", start, "UTF-8", "UTF-16 or UTF-32")
        root, position = self._value(start)
        self.root = root
        while self.stack:
            container = self.stack[-1]
            container.component = None
            if container.leaps and len(container.node.value) == container.leaps[0].behind:
                position = self._leap(container)
            after = self._plain(container, position)
            if after is not None:
                position = after
                continue
            position, more = self._advance(container, position)
            if more:
                position = self._child(container, position)
            else:
                container.node.end = position
                self.stack.pop()
        end = self._skip(position)
        if end != len(self.data):
            raise self._error("trailing_bytes", end, "the end of the text", self._found(end))
        return root

    # --- containers ---

    def _plain(self, container: _Open, position: int) -> int | None:
        """Read the next element or member in one match, which nearly always works; None: use the slow path."""
        parent = container.node
        array = parent.kind == "array"
        match = (_ELEMENT if array else _MEMBER).match(self.data, position)
        if match is None or (match["comma"] is None) is bool(parent.value):
            return None
        if array:
            container.component = len(parent.value)
            child, after = self._matched(match)
            parent.value.append(child)
            return after
        if not match["name"].isascii():
            return None
        key = match["name"].decode("ascii")
        if key in container.keys:
            return None
        container.keys.add(key)
        container.component, container.key_offset = key, match.start("name") - 1
        child, after = self._matched(match)
        parent.value.append((key, container.key_offset, child))
        return after

    def _child(self, container: _Open, position: int) -> int:
        parent = container.node
        if parent.kind == "array":
            container.component = len(parent.value)
            child, position = self._value(position)
            parent.value.append(child)
        else:
            child, position = self._value(position)
            parent.value.append((container.component, container.key_offset, child))
        return position

    def _advance(self, container: _Open, position: int) -> tuple[int, bool]:
        """Skip a comma and a key; whether a value follows (otherwise the closing bracket was skipped)."""
        array = container.node.kind == "array"
        match = (_BEFORE_ELEMENT if array else _BEFORE_KEY).match(self.data, position)
        first = not container.node.value
        if match is None:
            if not first:
                raise self._unexpected(position, "a comma or the closing bracket")
        elif match[1] != b",":
            return match.end(), False
        elif not first:
            position = match.end()
        return (position if array else self._key(container, position)), True

    def _key(self, container: _Open, position: int) -> int:
        """Skip a key and its colon; the key is stored in the container."""
        match = _KEY.match(self.data, position)
        offset = self._skip(position)
        if match is not None and match[1].isascii():
            key, end = match[1].decode("ascii"), 0
        elif self.data[offset : offset + 1] == b'"':
            key, end = self._string(offset)
        else:
            raise self._unexpected(offset, "a member's name in quotes")
        container.component, container.key_offset = key, offset
        if key in container.keys:
            error = self._error("duplicate_key", offset, "another name", f"{shown(key)} again")
            if self.repeated is None:
                raise error
            self.repeated.append(error)
        container.keys.add(key)
        if match is not None:
            return match.end()
        colon = self._skip(end)
        if self.data[colon : colon + 1] != b":":
            raise self._unexpected(colon, "a colon")
        return colon + 1

    # --- values ---

    def _value(self, position: int) -> tuple[Node, int]:
        """A scalar, or a container whose bracket was read."""
        match = _TOKEN.match(self.data, position)
        return self._unmatched(self._skip(position)) if match is None else self._matched(match)

    def _matched(self, match: re.Match[bytes]) -> tuple[Node, int]:
        kind, end = match.lastgroup, match.end()
        if kind == "str":
            try:
                return Node(self.source, "str", match.start("str") - 1, end, match["str"].decode("utf-8")), end
            except UnicodeDecodeError:
                return self._unmatched(match.start("str") - 1)
        if kind == "number":
            return self._number(match), end
        if kind == "object":
            return self._container("object", end - 1)
        if kind == "array":
            return self._container("array", end - 1)
        assert kind is not None
        constant, value = _CONSTANTS[kind]
        return Node(self.source, constant, match.start(kind), end, value), end

    def _container(self, kind: Literal["array", "object"], start: int) -> tuple[Node, int]:
        if len(self.stack) >= self.max_depth:
            raise self._error("depth_limit", start, f"at most {self.max_depth} nested containers", "a deeper one")
        known = self.known.get(start - self.source.start) if self.known and kind == "array" else None
        node = Node(self.source, kind, start, start, [] if known is None else Passed())
        self.stack.append(_Open(node, [] if known is None else self._leaps(known)))
        return node, start + 1

    def _leaps(self, known: Checkpoint) -> list[_Leap]:
        """The elements to skip: those before the one that the engine gave up, and those after it."""
        kept, count = min(self.kept, known.count), known.count
        leaps = [_Leap(kept, count, self.source.start + known.position)] if kept < count else []
        return leaps + ([_Leap(count + 1, known.total, self.source.start + known.last)] if known.total > count else [])

    @staticmethod
    def _leap(container: _Open) -> int:
        """Skip the elements of the next leap; the offset after them."""
        leap, elements = container.leaps.pop(0), container.node.value
        elements.extend([None] * (leap.total - len(elements)))
        return leap.position

    def _number(self, match: re.Match[bytes]) -> Node:
        literal, start, end = match["number"], match.start("number"), match.end()
        if end < len(self.data) and self.data[end] in _CONTINUES_NUMBER:
            raise self._bad_number(start)
        if not match["real"]:
            return Node(self.source, "int", start, end, _integer(literal))
        number = float(literal)
        if math.isinf(number):
            raise self._error("json_nonfinite", start, "a number within 64 bits", shown(literal[:48].decode("ascii")))
        return Node(self.source, "float", start, end, number)

    def _unmatched(self, start: int) -> tuple[Node, int]:
        """A string that needs decoding, or the error of an invalid value."""
        first = self.data[start : start + 1]
        if first == b'"':
            text, end = self._string(start)
            return Node(self.source, "str", start, end, text), end
        nonfinite = _NONFINITE.match(self.data, start)
        if nonfinite is not None:
            raise self._error("json_nonfinite", start, "a finite number", nonfinite[0].decode("ascii"))
        if first == b"-":
            raise self._bad_number(start)
        for word in _WORDS:
            if first == word[:1]:
                raise self._bad_word(word, start)
        raise self._unexpected(start, "a value")

    def _bad_number(self, start: int) -> DecodeError:
        cut = _NUMBER_CUT.match(self.data, start)
        assert cut is not None
        return self._cut(start, cut.end(), "a number")

    def _bad_word(self, word: bytes, start: int) -> DecodeError:
        found = self.data[start : start + len(word)]
        good = next((place for place, byte in enumerate(found) if byte != word[place]), len(found))
        return self._cut(start, start + good, word.decode("ascii"))

    # --- strings ---

    def _string(self, quote: int) -> tuple[str, int]:
        """The string whose opening quote is at `quote`, piece by piece."""
        pieces: list[str] = []
        position = quote + 1
        while True:
            characters = _CHARACTERS.match(self.data, position)
            assert characters is not None
            pieces.append(self._decoded(position, characters.end(), quote))
            position = characters.end()
            match self.data[position : position + 1]:
                case b'"':
                    return "".join(pieces), position + 1
                case b"\\":
                    piece, position = self._escape(position, quote)
                    pieces.append(piece)
                case b"":
                    raise self._cut(quote, position, "a string")
                case _:
                    raise self._cut(quote, position, "a string without control characters")

    def _decoded(self, start: int, end: int, quote: int) -> str:
        try:
            return self.data[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            if end == len(self.data) and error.reason == "unexpected end of data":
                raise self._cut(quote, end, "a string") from None
            bad = self.data[start + error.start : start + error.end]
            raise self._error("invalid_utf8", start + error.start, "UTF-8", f"{bad.hex(' ')}: {error.reason}") from None

    def _escape(self, start: int, quote: int) -> tuple[str, int]:
        match = _ESCAPE.match(self.data, start)
        if match is None:
            cut = _ESCAPE_CUT.match(self.data, start)
            assert cut is not None
            raise self._cut(quote, cut.end(), "an escape that JSON knows")
        if match[1]:
            return _ESCAPED[match[1]], match.end()
        unit = int(match[2], 16)
        if unit in _HIGHS:
            return self._pair(unit, start, match.end(), quote)
        if unit in _LOWS:
            raise self._lone_surrogate(start)
        return chr(unit), match.end()

    def _pair(self, high: int, start: int, position: int, quote: int) -> tuple[str, int]:
        """The character of a surrogate pair."""
        match = _LOW_SURROGATE.match(self.data, position)
        if match is None:
            cut = _LOW_SURROGATE_CUT.match(self.data, position)
            assert cut is not None
            if cut.end() == len(self.data):
                raise self._cut(quote, cut.end(), "a string")
            raise self._lone_surrogate(start)
        return chr(0x10000 + (high - _HIGHS.start << 10) + (int(match[1], 16) - _LOWS.start)), match.end()

    # --- errors ---

    def _skip(self, position: int) -> int:
        """The offset after white space."""
        space = _SPACE.match(self.data, position)
        assert space is not None
        return space.end()

    def _found(self, position: int) -> str:
        """The character at `position`, for a message."""
        return shown(self.data[position : position + 4].decode("utf-8", "replace")[:1])

    def _unexpected(self, position: int, expected: str) -> DecodeError:
        """The error of an unexpected byte after white space."""
        start = self._skip(position)
        return self._cut(start, start, expected)

    def _cut(self, start: int, end: int, expected: str) -> DecodeError:
        """The error of a literal from `start` that is valid up to `end`, where the text ends or is wrong."""
        if end == len(self.data):
            return self._error("truncated", start, expected, "the end of the text")
        try:
            self.data[end : end + 4].decode("utf-8")
        except UnicodeDecodeError as error:
            if error.start == 0 and error.reason != "unexpected end of data":
                bad = self.data[end : end + error.end]
                return self._error("invalid_utf8", end, "UTF-8", f"{bad.hex(' ')}: {error.reason}")
        return self._error("json_syntax", end, expected, self._found(end))

    def _lone_surrogate(self, start: int) -> DecodeError:
        escape = self.data[start : start + 6].decode("ascii")
        return self._error("invalid_utf8", start, "a surrogate pair", f"the lone surrogate {escape}")

    def _error(self, code: str, offset: int, expected: str, actual: str) -> DecodeError:
        error = DecodeError(code, offset=offset, expected=expected, actual=actual)
        for container in reversed(self.stack):
            if container.component is not None:
                error.at(container.component)
        return error


def _integer(literal: bytes) -> int:
    if len(literal) <= _LONGEST_INTEGER:
        return int(literal)
    return -_BEYOND_ANY_RANGE if literal.startswith(b"-") else _BEYOND_ANY_RANGE


# --- writing -------------------------------------------------------------------------------------------------------


def write(tree: Tree) -> bytes:
    """The compact text of `tree`, as UTF-8. Strings must not have lone surrogates, and floats must be finite."""
    pieces: list[str] = []
    _write(tree, pieces)
    return "".join(pieces).encode("utf-8")


def _write(tree: Tree, pieces: list[str]) -> None:
    match tree:
        case None:
            pieces.append("null")
        case bool():
            pieces.append("true" if tree else "false")
        case str():
            pieces.append(encode_basestring(tree))
        case int() | float():
            pieces.append(repr(tree))
        case Verbatim(text):
            pieces.append(text)
        case list():
            _write_array(tree, pieces)
        case _:
            _write_object(tree, pieces)


def _write_array(elements: list[Tree], pieces: list[str]) -> None:
    separator = "["
    for element in elements:
        pieces.append(separator)
        _write(element, pieces)
        separator = ","
    pieces.append("]" if elements else "[]")


def _write_object(members: Mapping[str, Tree], pieces: list[str]) -> None:
    separator = "{"
    for name, value in members.items():
        pieces.append(f"{separator}{encode_basestring(name)}:")
        _write(value, pieces)
        separator = ","
    pieces.append("}" if members else "{}")
