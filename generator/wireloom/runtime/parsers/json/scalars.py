"""JSON scalars by schema: each accepts the node of its kind, refuses any other, and checks range, alphabet and size.

No scalar changes its kind: 1.0 is not an integer and "1" not a number; but 1 is also a float. Building puts the value
into a slot; the document is written as a whole at the end.
"""

import binascii
import math
from typing import Any

import construct
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers import bodies
from wireloom.runtime.parsers.json.nodes import WORDS, Kind, Node, Slot, Verbatim, expect, mismatch, too_deep
from wireloom.runtime.parsers.json.text import read
from wireloom.runtime.parsers.protocol import Expression, evaluate
from wireloom.runtime.parsers.scalars import checked_integer, encoded_text, integer_range
from wireloom.runtime.primitives.packing import BASE64, said_in_base64
from wireloom.runtime.values import float32

_LINE = 76  # characters of base64 between line feeds
_SHOWN_DIGITS = 40


def amount(of: int | Expression | None, context: Container) -> Any:
    """The value of a fixed or computed size or limit; None if there is none."""
    return evaluate(of, context) if callable(of) else of


class Integer(construct.Construct):
    """An integer literal (never 1.0 or 1e3) within the range of `bits` bits, else `int_range`."""

    kinds: tuple[Kind, ...] = ("int",)
    values = ("int",)

    def __init__(self, bits: int, *, signed: bool) -> None:
        super().__init__()
        self.bits, self.signed = bits, signed
        self.low, self.high = integer_range(bits, signed=signed)

    def _parse(self, stream: Node, context: Container, path: str) -> int:
        number: int = expect(stream, "int")
        if not self.low <= number <= self.high:
            size = stream.end - stream.start
            actual = stream.literal if size <= _SHOWN_DIGITS else f"a number of {size} characters"
            raise DecodeError("int_range", offset=stream.start, expected=f"{self.low} .. {self.high}", actual=actual)
        return number

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        stream.value = int(checked_integer(obj, self.bits, signed=self.signed))
        return obj


class Float(construct.Construct):
    """A number, integer literals included, rounded to `bits`; a number that is too large is `json_nonfinite`."""

    placeholder = 0.0

    kinds: tuple[Kind, ...] = ("float",)
    values = ("float",)

    def __init__(self, bits: int = 64) -> None:
        super().__init__()
        self.bits = bits

    def _rounded(self, number: float) -> float:
        return number if self.bits == 64 else float32(number)

    def _parse(self, stream: Node, context: Container, path: str) -> float:
        if stream.kind not in ("int", "float"):
            raise mismatch(stream, "a number")
        number = self._rounded(float(stream.literal))
        if math.isinf(number):
            raise DecodeError(
                "json_nonfinite",
                offset=stream.start,
                expected=f"a number within {self.bits} bits",
                actual="a larger one",
            )
        return number

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if not isinstance(obj, int | float) or isinstance(obj, bool):
            raise EncodeError("a number", shown(obj))
        try:
            number = self._rounded(float(obj))
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise EncodeError("a finite number", shown(obj))
        stream.value = number
        return obj


class Boolean(construct.Construct):
    """true or false."""

    placeholder = False

    kinds: tuple[Kind, ...] = ("bool",)
    values = ("bool",)

    def _parse(self, stream: Node, context: Container, path: str) -> bool:
        value: bool = expect(stream, "bool")
        return value

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if not isinstance(obj, bool):
            raise EncodeError("a boolean", shown(obj))
        stream.value = obj
        return obj


class Null(construct.Construct):
    """null."""

    kinds: tuple[Kind, ...] = ("null",)
    values = ("null",)

    def _parse(self, stream: Node, context: Container, path: str) -> None:
        expect(stream, "null")

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if obj is not None:
            raise EncodeError("null", shown(obj))
        stream.value = None
        return obj


class Text(construct.Construct):
    """A string."""

    placeholder = ""

    kinds: tuple[Kind, ...] = ("str",)
    values = ("str",)

    def _parse(self, stream: Node, context: Container, path: str) -> str:
        text: str = expect(stream, "str")
        return text

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        encoded_text(obj)
        stream.value = obj
        return obj


class Base64(construct.Construct):
    """Bytes as a base64 string: standard alphabet, padded, spare bits zero, no white space (else `bad_base64`).

    If `size` is given, another number of bytes is `code`. With `line_feeds`, each full line of 76 characters may be
    followed by a line feed; the last line may lack it.
    """

    placeholder = b""

    kinds: tuple[Kind, ...] = ("str",)
    values = ("bytes",)

    def __init__(
        self, size: int | Expression | None = None, code: str = "bad_size", *, line_feeds: bool = False
    ) -> None:
        super().__init__()
        self.size, self.code, self.line_feeds = size, code, line_feeds

    def _parse(self, stream: Node, context: Container, path: str) -> bytes:
        text: str = expect(stream, "str")
        try:
            data = said_in_base64(_joined(text) if self.line_feeds else text)
        except ValueError:
            raise DecodeError("bad_base64", offset=stream.start, expected=BASE64, actual=shown(text)) from None
        size = amount(self.size, context)
        if size is not None and len(data) != size:
            raise DecodeError(self.code, offset=stream.start, expected=f"{size} bytes", actual=f"{len(data)} bytes")
        return data

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if not isinstance(obj, bytes | bytearray | memoryview):
            raise EncodeError("bytes", shown(obj))
        data = bytes(obj)
        size = amount(self.size, context)
        if size is not None and len(data) != size:
            raise EncodeError(f"{size} bytes", f"{len(data)} bytes")
        text = binascii.b2a_base64(data, newline=False).decode("ascii")
        stream.value = _broken(text) if self.line_feeds else text
        return obj


class Carried(construct.Construct):
    """A struct of another encoding, as base64 in a string; errors within it have the offset of the string."""

    kinds: tuple[Kind, ...] = ("str",)
    values = ("record",)

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.body, self.text = bodies.Body(subcon), Base64()
        self.titles, self.accepts = self.body.titles, self.body.accepts
        self.takes, self.visible_members = self.body.takes, self.body.visible_members

    def _parse(self, stream: Node, context: Container, path: str) -> Any:
        data = self.text._parse(stream, context, path)
        try:
            return self.body.parse(data, 0, context)
        except DecodeError as error:
            error.offset = stream.start
            raise

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        self.text._build(self.body.build(obj, context), stream, context, path)
        return obj


def _joined(text: str) -> str:
    """Base64 without its line feeds; unchanged if one is not after a full line."""
    *lines, last = text.split("\n")
    well_placed = all(len(line) == _LINE for line in lines) and len(last) <= _LINE
    return "".join((*lines, last)) if well_placed else text


def _broken(text: str) -> str:
    """Base64 with a line feed after each full line, except a padded last one, as Jackson's encoder writes it."""
    lines = [text[place : place + _LINE] for place in range(0, len(text), _LINE)]
    return "".join(line + "\n" if len(line) == _LINE and not line.endswith("=") else line for line in lines)


class JsonText(construct.Construct):
    """A JSON value of one `kind` (any, object, array) as its text, unchanged."""

    values = ("str",)

    def __init__(self, kind: str = "any") -> None:
        super().__init__()
        self.kinds: tuple[Kind, ...] = tuple(name for name in WORDS if kind in ("any", name))
        self.texts = self.kinds

    def _parse(self, stream: Node, context: Container, path: str) -> str:
        if stream.kind not in self.kinds:
            raise mismatch(stream, WORDS[self.kinds[0]])
        _check_depth(stream)
        return stream.literal

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        try:
            node = read(encoded_text(obj), stream.nesting.limit)
        except DecodeError as error:
            raise EncodeError("JSON text", f"{error.code} at byte {error.offset} of it") from None
        if node.kind not in self.kinds:
            raise EncodeError(f"the text of {WORDS[self.kinds[0]]}", f"the text of {WORDS[node.kind]}")
        stream.value = Verbatim(node.literal)
        return obj


def _check_depth(node: Node) -> None:
    """Raise `depth_limit` if containers in the text are nested deeper than open values may be."""
    nesting = node.source.nesting
    level, depth = [node], nesting.depth
    while level := [each for each in level if each.kind in ("array", "object")]:
        depth += 1
        if depth > nesting.limit:
            raise too_deep(level[0])
        level = [inner for each in level for inner in _inner(each)]


def _inner(node: Node) -> list[Node]:
    return list(node.value) if node.kind == "array" else [inner for _, _, inner in node.value]
