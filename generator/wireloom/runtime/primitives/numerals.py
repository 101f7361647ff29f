"""Integers in other forms than two's complement of a fixed size: of variable length, or as decimal digits.

Digits are nibbles, or characters of ASCII or EBCDIC. Each form reads a number and its size in bytes. None means that
the number does not end within the bytes, a ValueError that the bytes are no number of the form. Each form writes a
number in as few bytes as possible.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from wireloom.runtime.primitives import leb128
from wireloom.runtime.primitives.delimiters import quoted

Found = tuple[int, int] | None
"""A number and its size in bytes; None if it does not end within the bytes."""

_POSITIVE, _NEGATIVE, _UNSIGNED = 0xC, 0xD, 0xF  # the sign nibbles that are written
_MINUS = (0xB, 0xD)
_DIGIT = 9
_NINTH = 9  # the most bytes of an SQLite number
_COLUMNS = {
    "decimal": (10, "d", rb"[0-9]+", "decimal"),
    "hexadecimal": (16, "x", rb"[0-9A-Fa-f]+", "hexadecimal"),
    "capitals": (16, "X", rb"[0-9A-Fa-f]+", "hexadecimal"),
    "octal": (8, "o", rb"[0-7]+", "octal"),
}
"""Digits in ASCII: the base, the format character, the pattern, and the word for them in messages."""
LONGEST = {"decimal": 20, "hexadecimal": 16, "capitals": 16, "octal": 22}
"""The digits of the largest 64-bit number."""
_PUNCHES = (b"0123456789{ABCDEFGHI}JKLMNOPQR", bytes([*range(0xF0, 0xFA), *range(0xC0, 0xCA), *range(0xD0, 0xDA)]))
"""Zoned digits, and digits with an overpunched sign: in ASCII and in EBCDIC."""
_ZONED = {
    "zoned": (-1, False),
    "leading zoned": (0, False),
    "overpunched": (-1, True),
    "leading overpunched": (0, True),
}
"""Forms with one digit per byte: the index of the digit with the sign, and whether they are in ASCII."""
_UNKNOWN = (1 << 56) - 1  # EBML: the number whose value bits are all set, in any length


@dataclass(frozen=True, slots=True)
class Numeral:
    """A form: the size in bytes of its longest number of some bits, and its functions to read and write.

    `looks` is how a number of digits looks, for messages; other forms have none.
    """

    longest: Callable[[int], int]
    read: Callable[[bytes], Found]
    write: Callable[[int], bytes]
    looks: str = ""


def of(form: str, digits: int, *, signed: bool) -> Numeral:
    """The form of that name; `digits` is the width of a form with a fixed number of digits."""
    if form == "bcd":
        return _bcd(digits)
    if form in _COLUMNS:
        return _columns(form, digits, signed=signed)
    if form in _ZONED:
        return _zoned(digits, *_ZONED[form], signed=signed)
    return _packed(digits, signed=signed) if form == "packed" else _FORMS[form]


def extended(first: int, widths: Sequence[int], order: Literal["big", "little"]) -> Numeral:
    """A byte that is the number or, from `first` on, a marker: `first + i` announces `widths[i]` bytes (0: invalid)."""
    narrowest = sorted({width: first + place for place, width in reversed([*enumerate(widths)]) if width}.items())

    def read(data: bytes) -> Found:
        if not data or data[0] < first:
            return (data[0], 1) if data else None
        width = dict(enumerate(widths, first)).get(data[0], 0)
        if not width:
            raise ValueError(data[:1].hex())
        return None if len(data) <= width else (int.from_bytes(data[1 : 1 + width], order), 1 + width)

    def write(number: int) -> bytes:
        if number < first:
            return bytes([number])
        width, marker = next(each for each in narrowest if not number >> 8 * each[0])
        return bytes([marker]) + number.to_bytes(width, order)

    return Numeral(lambda _: 1 + max(widths), read, write)


def width_of(form: str, digits: int, *, signed: bool) -> int:
    """The size in bytes of a number of digits."""
    if form == "bcd":
        return (digits + 1) // 2
    if form in _ZONED:
        return digits
    return digits // 2 + 1 if form == "packed" else digits + signed


def base_of(form: str) -> int:
    """The base of the digits of a form."""
    return _COLUMNS.get(form, _COLUMNS["decimal"])[0]


def format_of(form: str, digits: int) -> str:
    """The template for `str.format` that shows the digits with leading zeros."""
    return f"{{:0{digits}{_COLUMNS.get(form, _COLUMNS['decimal'])[1]}}}"


# --- variable length ------------------------------------------------------------------------------------------------


def _sevens(bits: int) -> int:
    return -(-bits // 7)


def _leb128(data: bytes) -> Found:
    return leb128.decoded(data, 0, len(data), len(data))


def _zigzag(data: bytes) -> Found:
    found = _leb128(data)
    return None if found is None else (leb128.from_zigzag(found[0]), found[1])


def _sleb(data: bytes) -> Found:
    found = _leb128(data)
    if found is None:
        return None
    number, size = found
    return number - ((data[size - 1] >> 6 & 1) << 7 * size), size


def _written_sleb(number: int) -> bytes:
    written = []
    while not -0x40 <= number < 0x40:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number & 0x7F])


def _vlq(data: bytes) -> Found:
    number = 0
    for size, byte in enumerate(data, 1):
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, size
    return None


def _written_vlq(number: int) -> bytes:
    written = [number & 0x7F]
    while number := number >> 7:
        written.append(number & 0x7F | 0x80)
    return bytes(reversed(written))


def _quic(data: bytes) -> Found:
    size = 1 << (data[0] >> 6) if data else 1
    return _low_bits(data, size, 8 * size - 2)


def _written_quic(number: int) -> bytes:
    power = next(power for power in range(4) if not number >> ((8 << power) - 2))
    return (number | power << ((8 << power) - 2)).to_bytes(1 << power, "big")


def _sqlite(data: bytes) -> Found:
    found = _vlq(data[: _NINTH - 1])
    if found is not None or len(data) < _NINTH:
        return found
    number = int.from_bytes(data[:8], "big")
    sevens = sum((number >> 8 * place & 0x7F) << 7 * place for place in range(8))
    number = sevens << 8 | data[8]
    return number - (1 << 64) if number >> 63 else number, _NINTH


def _written_sqlite(number: int) -> bytes:
    if 0 <= number < 1 << 56:
        return _written_vlq(number)
    number &= (1 << 64) - 1
    return bytes(number >> 8 + 7 * place & 0x7F | 0x80 for place in reversed(range(8))) + bytes([number & 0xFF])


def _flac(data: bytes) -> Found:
    if not data or data[0] < 0x80:
        return (data[0], 1) if data else None
    size = 8 - (~data[0] & 0xFF).bit_length()  # the count of leading ones
    if size < 2 or size > 7 or any(byte >> 6 != 2 for byte in data[1:size]):
        raise ValueError(data[:size].hex(" "))
    if len(data) < size:
        return None
    number = data[0] & (0x7F >> size)
    for byte in data[1:size]:
        number = number << 6 | byte & 0x3F
    return number, size


def _written_flac(number: int) -> bytes:
    if number < 0x80:
        return bytes([number])
    size = next(size for size in range(2, 8) if not number >> (5 * size + 1))
    rest = bytes(number >> 6 * place & 0x3F | 0x80 for place in reversed(range(size - 1)))
    return bytes([0xFF00 >> size & 0xFF | number >> 6 * (size - 1)]) + rest


def _ebml(data: bytes) -> Found:
    if not data:
        return None
    if not data[0]:
        raise ValueError(data[:1].hex())
    size = 9 - data[0].bit_length()
    found = _low_bits(data, size, 7 * size)
    return found if found is None or found[0] != (1 << 7 * size) - 1 else (_UNKNOWN, size)


def _written_ebml(number: int) -> bytes:
    if number == _UNKNOWN:
        return b"\xff"
    size = next(size for size in range(1, 9) if number < (1 << 7 * size) - 1)
    return (number | 1 << 7 * size).to_bytes(size, "big")


def _low_bits(data: bytes, size: int, bits: int) -> Found:
    """The lowest `bits` bits of the first `size` bytes."""
    return None if len(data) < size else (int.from_bytes(data[:size], "big") & ((1 << bits) - 1), size)


_FORMS = {
    "varint": Numeral(_sevens, _leb128, leb128.encoded),
    "zigzag": Numeral(_sevens, _zigzag, lambda number: leb128.encoded(leb128.to_zigzag(number))),
    "sleb": Numeral(_sevens, _sleb, _written_sleb),
    "vlq": Numeral(_sevens, _vlq, _written_vlq),
    "quic": Numeral(lambda _: 8, _quic, _written_quic),
    "sqlite": Numeral(lambda _: _NINTH, _sqlite, _written_sqlite),
    "flac": Numeral(lambda _: 7, _flac, _written_flac),
    "ebml": Numeral(lambda _: 8, _ebml, _written_ebml),
}


# --- decimal digits ---------------------------------------------------------------------------------------------------


def _bcd(digits: int) -> Numeral:
    width = width_of("bcd", digits, signed=False)
    return Numeral(
        lambda _: width,
        lambda data: None if len(data) < width else (_decimal(data[:width].hex(), digits, data[:width]), width),
        lambda number: bytes.fromhex(f"{number:0{2 * width}}"),
        f"{_count(digits)} in BCD",
    )


def _packed(digits: int, *, signed: bool) -> Numeral:
    width = width_of("packed", digits, signed=signed)

    def read(data: bytes) -> Found:
        if len(data) < width:
            return None
        number = _decimal(data[:width].hex()[:-1], digits, data[:width])
        return -number if _is_minus(data[width - 1] & 0xF, data[:width], signed=signed) else number, width

    def write(number: int) -> bytes:
        return bytes.fromhex(f"{abs(number):0{2 * width - 1}}{_sign(number, signed=signed):X}")

    return Numeral(lambda _: width, read, write, f"{_count(digits)} and a sign, two in each byte")


def _zoned(digits: int, place: int, in_ascii: bool, *, signed: bool) -> Numeral:  # noqa: FBT001 - the columns of the table
    """One digit per byte: the upper nibble is 0xF, or the sign at index `place`, the lower one is the digit."""
    ascii_written, zoned_written = _PUNCHES
    into, out_of = bytes.maketrans(zoned_written, ascii_written), bytes.maketrans(ascii_written, zoned_written)
    strange = bytes({*range(256)} - {*ascii_written})

    def read(data: bytes) -> Found:
        if len(data) < digits:
            return None
        written = data[:digits].translate(out_of, strange) if in_ascii else data[:digits]
        zones, number = [byte >> 4 for byte in written], "".join(f"{byte & 0xF:x}" for byte in written)
        if len(written) < digits or any(zone != _UNSIGNED for n, zone in enumerate(zones) if n != place % digits):
            raise ValueError(data[:digits].hex(" "))
        minus = _is_minus(zones[place], data[:digits], signed=signed)
        return (-1 if minus else 1) * _decimal(number, digits, data[:digits]), digits

    def write(number: int) -> bytes:
        written = bytearray(_UNSIGNED << 4 | int(digit) for digit in f"{abs(number):0{digits}}")
        written[place] = _sign(number, signed=signed) << 4 | written[place] & 0xF
        return bytes(written.translate(into) if in_ascii else written)

    sign = ", one with a sign" if signed else ""
    return Numeral(lambda _: digits, read, write, f"{_count(digits)} in {'ASCII' if in_ascii else 'EBCDIC'}{sign}")


def _is_minus(sign: int, data: bytes, *, signed: bool) -> bool:
    """Whether the sign nibble is minus; raises ValueError for an invalid one."""
    if sign <= _DIGIT or (sign in _MINUS and not signed):
        raise ValueError(data.hex(" "))
    return sign in _MINUS


def _sign(number: int, *, signed: bool) -> int:
    """The sign nibble of a number."""
    if not signed:
        return _UNSIGNED
    return _NEGATIVE if number < 0 else _POSITIVE


def _decimal(written: str, digits: int, data: bytes) -> int:
    if not written.isdecimal() or int(written) >= 10**digits:
        raise ValueError(data.hex(" "))
    return int(written)


def _count(digits: int, kind: str = "decimal") -> str:
    return f"{digits} {kind} digit{'s' * (digits != 1)}"


# --- digits in ASCII --------------------------------------------------------------------------------------------------


def _columns(form: str, digits: int, *, signed: bool) -> Numeral:
    """A fixed width: spaces, a sign if signed, and digits up to the last column."""
    base, letter, pattern, kind = _COLUMNS[form]
    width = width_of(form, digits, signed=signed)
    stated = re.compile((rb" *([+-]?" if signed else rb" *(") + pattern + rb")").fullmatch

    def read(data: bytes) -> Found:
        if len(data) < width:
            return None
        found = stated(data[:width])
        if found is None:
            raise ValueError(quoted(data[:width]))
        return int(found[1], base), width

    def write(number: int) -> bytes:
        return f"{number:{'+' if signed else ''}0{width}{letter}}".encode()

    looks = f"{_count(digits, kind)}{' after a sign' if signed else ''}"
    return Numeral(lambda _: width, read, write, looks)


def ended(form: str, ending: bytes, *, signed: bool) -> Numeral:
    """A 64-bit number in as many digits as needed, after a sign if signed, up to the ending."""
    base, letter, pattern, kind = _COLUMNS[form]
    longest = signed + LONGEST[form] + len(ending)
    stated = re.compile((rb"[+-]?" if signed else b"") + pattern[:-1] + rb"{1,%d}" % LONGEST[form]).match
    begun = (b"", b"+", b"-") if signed else (b"",)

    def read(data: bytes) -> Found:
        found = stated(data)
        if found is None and data in begun:
            return None
        size = found.end() if found else 0
        suffix = data[size : size + len(ending)]
        if found is None or not ending.startswith(suffix):
            raise ValueError(quoted(data[: size + 1]))
        return (int(found[0], base), size + len(ending)) if suffix == ending else None

    looks = f"up to {LONGEST[form]} {kind} digits and then {quoted(ending)}"
    return Numeral(lambda _: longest, read, lambda number: f"{number:{letter}}".encode() + ending, looks)
