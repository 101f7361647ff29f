"""How records follow one another in a stream, as one object for readers, writers, splitters and documents.

A framing has a text, which specs, options, ledgers and command lines use: `lines`, `prefix:uint16:little`, `size:188`.
`framing_of` parses what `text` writes; each framing has exactly one text.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import ClassVar

from wireloom.runtime.errors import ParameterError
from wireloom.runtime.primitives import leb128

LONGEST: Mapping[str, int] = MappingProxyType({"varint32": 5, "varint64": 10, "zigzag32": 5, "zigzag64": 10})
"""The variable-length numbers that a length prefix can be, and their largest size in bytes."""
_WIDTHS = {f"{sign}int{8 * width}": width for sign in ("u", "") for width in range(1, 9)}
_INVALID = -1
LONGEST_DELIMITER = 16
"""The largest delimiter, in bytes."""
LARGEST_SIZE = 64 << 20
"""The largest record of a stream, in bytes."""


@dataclass(frozen=True, slots=True)
class Whole:
    """One record is the whole input."""

    text: ClassVar[str] = "none"


@dataclass(frozen=True, slots=True)
class Concatenated:
    """Records follow one another directly; each tells its own end."""

    text: ClassVar[str] = "concatenated"


@dataclass(frozen=True, slots=True)
class Lines:
    """One record per line."""

    text: ClassVar[str] = "lines"


@dataclass(frozen=True, slots=True)
class Array:
    """Records are the elements of one JSON array."""

    text: ClassVar[str] = "array"


@dataclass(frozen=True, slots=True)
class Prefixed:
    """A number before each record gives its size.

    The record has `plus` bytes more than the number says. If the number counts `itself`, its own bytes are subtracted.
    """

    number: str = "uint32"
    little: bool = False
    itself: bool = False
    plus: int = 0

    @property
    def text(self) -> str:
        """Its name; `length-prefixed` is a big-endian 32-bit size."""
        if self == Prefixed():
            return "length-prefixed"
        words = ["prefix", self.number]
        words += ["little"] if self.little else []
        words += ["itself"] if self.itself else []
        return ":".join([*words, f"plus={self.plus}"] if self.plus else words)

    @property
    def width(self) -> int:
        """The size of the number in bytes; 0 if it varies."""
        return _WIDTHS.get(self.number, 0)

    @property
    def longest(self) -> int:
        """The largest size of the number in bytes."""
        return self.width or LONGEST[self.number]

    @property
    def signed(self) -> bool:
        """Whether the number is signed; a negative size is invalid."""
        return self.number.startswith(("int", "zigzag"))

    def measured(self, data: bytes, position: int = 0) -> tuple[int, int] | None:
        """The sizes of the number at a position and of the record after it; None if the number is incomplete.

        The second size is negative if no record can have it, or if the number has no end.
        """
        width = self.width
        if width:
            if len(data) - position < width:
                return None
            order = "little" if self.little else "big"
            number = int.from_bytes(data[position : position + width], order, signed=self.signed)  # type: ignore[arg-type]
            return width, self._size(number, width)
        found = leb128.decoded(data, position, len(data), self.longest)
        if found is None:
            available = len(data) - position
            return (self.longest, _INVALID) if available >= self.longest else None
        number, end = found
        bits = int(self.number[-2:])
        return end - position, _INVALID if number >> bits else self._size(self._plain(number), end - position)

    def written(self, size: int) -> bytes | None:
        """The number before a record of `size` bytes; None if it does not fit."""
        width = self.width
        if width:
            return self._fixed(size - self.plus + (width if self.itself else 0), width)
        for guess in range(1, self.longest + 1):  # the length of a number that counts itself
            number = size - self.plus + (guess if self.itself else 0)
            data = self._variable(number)
            if data is None or not self.itself or len(data) == guess:
                return data
        return None

    def _size(self, number: int, width: int) -> int:
        size = number + self.plus - (width if self.itself else 0)
        return _INVALID if number < 0 else max(size, _INVALID)

    def _plain(self, number: int) -> int:
        return leb128.from_zigzag(number) if self.signed else number

    def _fixed(self, number: int, width: int) -> bytes | None:
        if not 0 <= number < 1 << (width * 8 - self.signed):
            return None
        return number.to_bytes(width, "little" if self.little else "big")

    def _variable(self, number: int) -> bytes | None:
        if number < 0:
            return None
        raw = leb128.to_zigzag(number) if self.signed else number
        return None if raw >> int(self.number[-2:]) else leb128.encoded(raw)


@dataclass(frozen=True, slots=True)
class Sized:
    """Each record has a fixed size in bytes."""

    size: int

    @property
    def text(self) -> str:
        """Its name."""
        return f"size:{self.size}"


@dataclass(frozen=True, slots=True)
class Escape:
    """An escape byte changes the meaning of the byte after it, so that a record can contain its delimiter.

    The byte after it is combined with `xor` by exclusive or, or has the meaning that `codes` give.
    """

    byte: int
    xor: int = 0
    codes: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        """Its text after that of the delimiter."""
        parts = [f"{code:02x}={meaning:02x}" for code, meaning in self.codes] or [f"xor={self.xor:02x}"]
        return ":".join([f"escape={self.byte:02x}", *parts])

    def meaning(self, code: int) -> int | None:
        """The meaning of a byte after the escape; None if it is invalid."""
        return code ^ self.xor if self.xor else dict(self.codes).get(code)

    def code(self, meaning: int) -> int | None:
        """The byte to write after the escape for a byte; None if there is none."""
        if self.xor:
            return meaning ^ self.xor
        return next((code for code, each in self.codes if each == meaning), None)


@dataclass(frozen=True, slots=True)
class Delimited:
    """A delimiter follows each record; a delimiter within a record must be escaped."""

    delimiter: bytes
    escape: Escape | None = None

    @property
    def text(self) -> str:
        """Its name; `slip` is the framing of RFC 1055."""
        if self == SLIP:
            return "slip"
        plain = f"delimiter:{self.delimiter.hex()}"
        return plain if self.escape is None else f"{plain}:{self.escape.text}"


@dataclass(frozen=True, slots=True)
class Stuffed:
    """COBS: a zero follows each record, and zeros within it are encoded."""

    text: ClassVar[str] = "cobs"
    delimiter: ClassVar[bytes] = b"\0"


SLIP = Delimited(b"\xc0", Escape(0xDB, codes=((0xDC, 0xC0), (0xDD, 0xDB))))
Bare = Whole | Concatenated | Lines | Array | Prefixed | Sized | Delimited | Stuffed
"""The framings without a header."""


@dataclass(frozen=True, slots=True)
class Headed:
    """A header precedes all records: a record of its own root, whose fields are parameters of the other records.

    `gives` are pairs of a parameter and the header's field for it.
    """

    header: str
    gives: tuple[tuple[str, str], ...]
    records: Bare

    @property
    def text(self) -> str:
        """Its name."""
        given = ",".join("=".join(each) for each in self.gives)
        return f"header:{self.header}:{given}:{self.records.text}"


Framing = Bare | Headed

NAMED: Mapping[str, Bare] = MappingProxyType(
    {each.text: each for each in (Whole(), Concatenated(), Prefixed(), Lines(), Array(), SLIP, Stuffed())}
)
"""The framings that have a fixed name."""
FORMS = ("prefix:NUMBER[:little][:itself][:plus=BYTES]", "size:BYTES", "delimiter:HEX[:escape=HEX:xor=HEX]")
"""The texts of the other framings."""
_NUMBER = re.compile(r"[0-9]{1,9}").fullmatch
_HEADED = re.compile(r"header:(\w+):((?:\w+=\w+(?:,(?!:)|(?=:)))*):(.+)")


@cache
def framing_of(text: str) -> Framing:
    """The framing of a text; raises ParameterError if the text is not a framing."""
    if text in NAMED:
        return NAMED[text]
    if found := _HEADED.fullmatch(text):
        pairs = [each.split("=") for each in found[2].split(",") if each]
        return Headed(found[1], tuple((name, field) for name, field in pairs), bare(framing_of(found[3])))
    return _bare(text)


def bare(framing: Framing) -> Bare:
    """The framing of the records after the header, if there is one."""
    return framing.records if isinstance(framing, Headed) else framing


def _bare(text: str) -> Bare:
    word, *rest = text.split(":")
    found: Bare | None = None
    if word == "prefix" and rest and is_number(rest[0]):
        found = _prefixed(rest[0], rest[1:])
    elif word == "size" and len(rest) == 1 and _NUMBER(rest[0]) and 0 < int(rest[0]) <= LARGEST_SIZE:
        found = Sized(int(rest[0]))
    elif word == "delimiter" and rest:
        found = _delimited(rest[0], rest[1:])
    if found is None:
        raise ParameterError(f"framing must be one of {', '.join((*NAMED, *FORMS))}, not {text!r}")
    return found


def is_number(text: str) -> bool:
    """Whether a length prefix can be a number of this type."""
    return text in LONGEST or text in _WIDTHS


def others(framing: Framing, unfit: Iterable[str] = ()) -> str:
    """The other framings that are possible, for an error message."""
    return ", ".join(text for text in (*NAMED, *FORMS) if text != framing.text and text not in unfit)


def _prefixed(number: str, words: list[str]) -> Prefixed | None:
    """A length prefix of that number type; None if a word is unknown."""
    little = itself = False
    plus = 0
    for word in words:
        plus_word = re.fullmatch(r"plus=(-?\d{1,8})", word)
        if word == "little" and number not in LONGEST:
            little = True
        elif word == "itself":
            itself = True
        elif plus_word:
            plus = int(plus_word[1])
        elif word != "big" or number in LONGEST:
            return None
    return Prefixed(number, little and number not in ("int8", "uint8"), itself, plus)


def flaw(framing: Delimited) -> str:
    """Why records could not be written with this framing, or not be found again; empty if they can."""
    delimiter, escape = framing.delimiter, framing.escape
    if not 0 < len(delimiter) <= LONGEST_DELIMITER:
        return f"a delimiter has 1 to {LONGEST_DELIMITER} bytes"
    if escape is None:
        return ""
    if len(delimiter) > 1:
        return "with an escape, the delimiter must be one byte"
    end = delimiter[0]
    if escape.byte == end:
        return "the escape is the delimiter"
    if bool(escape.xor) == bool(escape.codes):
        return "an escape needs either `xor` or `escaped`"
    for meaning in (end, escape.byte):
        code = escape.code(meaning)
        if code is None:
            return f"no escape stands for {meaning:02x}, but records may contain it"
        if code == end:
            return f"{meaning:02x} would be escaped as the delimiter"
    if any(code == end for code, _ in escape.codes) or len(dict(escape.codes)) < len(escape.codes):
        return "a byte after the escape is the delimiter, or has two meanings"
    return ""


def _delimited(delimiter: str, words: list[str]) -> Delimited | None:
    """A delimiter in hexadecimal, with its escape; None if a word is unknown."""
    if re.fullmatch(r"(?:[0-9a-f]{2})+", delimiter) is None:
        return None
    parts = [re.fullmatch(r"(escape|xor|[0-9a-f]{2})=([0-9a-f]{2})", word) for word in words]
    numbers = {each[1]: int(each[2], 16) for each in parts if each}
    if len(numbers) < len(words) or ("escape" in numbers) != bool(words):
        return None
    codes = tuple((int(code, 16), number) for code, number in numbers.items() if code not in ("escape", "xor"))
    escape = Escape(numbers["escape"], numbers.get("xor", 0), codes) if words else None
    found = Delimited(bytes.fromhex(delimiter), escape)
    return None if flaw(found) else found
