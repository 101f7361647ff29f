"""MessagePack scalars by schema. Each one accepts the heads of its family, and checks range, text and size.

Reading accepts every legal width; building writes the shortest form, with the msgpack library.
"""

import math
from typing import Any

import construct
import msgpack
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers import bodies
from wireloom.runtime.parsers.msgpack.heads import WORDS, Head, read_head, take_body
from wireloom.runtime.parsers.protocol import Expression, evaluate
from wireloom.runtime.parsers.scalars import encoded_text, in_charset, integer_range, text_of
from wireloom.runtime.values import Extension as ExtensionValue
from wireloom.runtime.values import float32

PACKER = msgpack.Packer(use_bin_type=True, strict_types=False)


class _Scalar(construct.Construct):
    """A scalar of one family."""

    family = ""
    python: type | tuple[type, ...] = ()

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.parse_head(stream, read_head(stream, (self.family,)), context)

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The value of a head that has been read."""
        return head.number

    def fits(self, obj: object) -> bool:
        """Whether a Python value belongs to this family."""
        return isinstance(obj, self.python)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if not self.fits(obj):
            raise EncodeError(WORDS[self.family], shown(obj))
        stream.write(PACKER.pack(obj))
        return obj


class Integer(_Scalar):
    """The int family, any width, within the range of `bits` bits (else `int_range`)."""

    family, python = "int", int

    def __init__(self, bits: int, *, signed: bool) -> None:
        super().__init__()
        self.low, self.high = integer_range(bits, signed=signed)

    def parse_head(self, stream: Any, head: Head, context: Container) -> int:
        """The number of a head that has been read."""
        if not self.low <= head.number <= self.high:
            raise DecodeError(
                "int_range", offset=head.start, expected=f"{self.low} .. {self.high}", actual=shown(head.number)
            )
        return int(head.number)

    def fits(self, obj: object) -> bool:
        """Whether a Python value belongs to this family; true does not."""
        return super().fits(obj) and not isinstance(obj, bool)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.fits(obj) and not self.low <= obj <= self.high:
            raise EncodeError(f"an integer from {self.low} to {self.high}", shown(obj))
        return super()._build(obj, stream, context, path)


class Float(_Scalar):
    """float 32 or float 64, widened exactly, then rounded to `bits`."""

    placeholder = 0.0

    family, python = "float", float

    def __init__(self, bits: int = 64) -> None:
        super().__init__()
        self.bits = bits

    def parse_head(self, stream: Any, head: Head, context: Container) -> float:
        """The number of a head that has been read."""
        return self._rounded(head.number)

    def _rounded(self, number: float) -> float:
        return number if self.bits == 64 else float32(number)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        try:
            number = float(obj) if type(obj) is int else obj  # as derived values may be
        except OverflowError:
            raise self._beyond(obj) from None
        if not isinstance(number, float):
            return super()._build(number, stream, context, path)
        rounded = self._rounded(number)
        if math.isinf(rounded) and math.isfinite(number):
            raise self._beyond(obj)
        return super()._build(rounded, stream, context, path)

    def _beyond(self, obj: Any) -> EncodeError:
        return EncodeError(f"a number that {self.bits} bits can hold", shown(obj))


class Boolean(_Scalar):
    """true or false."""

    placeholder = False

    family, python = "bool", bool


class Null(_Scalar):
    """nil."""

    family, python = "nil", type(None)


class Text(_Scalar):
    """The str family, UTF-8."""

    placeholder = ""

    family, python = "str", str

    def __init__(self, *, invalid: Expression | None = None) -> None:
        super().__init__()
        self.invalid = invalid

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The text after its head."""
        body = take_body(stream, head)
        return text_of(body, stream.tell() - len(body), self.invalid, context)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        encoded_text(obj)
        stream.write(PACKER.pack(obj))
        return obj


class Bytes(_Scalar):
    """The bin family; `size` bytes if it is given (else `code`); with a `charset`, they must be text in it."""

    placeholder = b""

    family, python = "bin", bytes | bytearray | memoryview  # type: ignore[assignment]

    def __init__(self, size: int | Expression | None = None, code: str = "bad_size", *, charset: str = "") -> None:
        super().__init__()
        self.size, self.code, self.charset = size, code, charset

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The bytes after their head."""
        body = take_body(stream, head)
        size = self.size if self.size is None or isinstance(self.size, int) else evaluate(self.size, context)
        if size is not None and len(body) != size:
            raise DecodeError(self.code, offset=head.start, expected=f"{size} bytes", actual=f"{len(body)} bytes")
        return in_charset(bytes(body), stream.tell() - len(body), self.charset) if self.charset else body

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if isinstance(self.size, int) and self.fits(obj) and len(obj) != self.size:
            raise EncodeError(f"{self.size} bytes", f"{len(obj)} bytes")
        return super()._build(obj, stream, context, path)


class Carried(construct.Construct):
    """A struct of another encoding, in the bytes of a bin."""

    family = "bin"

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.body, self.binary = bodies.Body(subcon), Bytes()
        self.titles, self.accepts = self.body.titles, self.body.accepts
        self.takes, self.visible_members = self.body.takes, self.body.visible_members

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        data = self.binary._parse(stream, context, path)
        return self.body.parse(data, stream.tell() - len(data), context)

    def fits(self, obj: object) -> bool:
        """Never: it is not allowed in a union."""
        return False

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        self.binary._build(self.body.build(obj, context), stream, context, path)
        return obj


class Extension(_Scalar):
    """An ext value of one type code, with text or bytes as content.

    Among alternatives it has a name, and its values are `values.Extension`; otherwise its value is the content.
    """

    family, python = "ext", ExtensionValue

    def __init__(self, code: int, name: str, content: Text | Bytes) -> None:
        super().__init__()
        self.code, self.name, self.content = code, name, content

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The content after its head."""
        if head.code != self.code:
            raise DecodeError(
                "type_mismatch", offset=head.start, expected=f"ext type {self.code}", actual=f"ext type {head.code}"
            )
        content = self.content.parse_head(stream, head, context)
        return ExtensionValue(self.code, self.name, content) if self.name else content

    def fits(self, obj: object) -> bool:
        """Whether a Python value is this extension."""
        if not self.name:
            return self.content.fits(obj)
        return isinstance(obj, ExtensionValue) and obj.code == self.code

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.name and not self.fits(obj):
            raise EncodeError(f"an ext value of type {self.code}", shown(obj))
        content = obj.value if self.name else obj
        if not self.content.fits(content):
            raise EncodeError(WORDS[self.content.family], shown(content))
        data = encoded_text(content) if isinstance(content, str) else bytes(content)
        stream.write(packed_ext(self.code, data))
        return obj


def packed_ext(code: int, data: bytes) -> bytes:
    """An ext value; msgpack-python refuses negative type codes, so the code is put in afterwards."""
    packed: bytes = PACKER.pack(msgpack.ExtType(max(code, 0), data))
    place = len(packed) - len(data)
    return packed if code >= 0 else packed[: place - 1] + bytes([code & 0xFF]) + data
