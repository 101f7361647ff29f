"""The head of a MessagePack value: its first byte gives the family, the rest a number, a length or a count.

Any legal width is accepted. A value of the wrong family is refused before its body is read. A declared count or length
is compared with the remaining bytes before anything is read for it.
"""

import struct as _struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, amount

_FIXED: dict[int, tuple[str, Any]] = {
    **{first: ("int", first) for first in range(0x80)},
    **{first: ("map", first & 0x0F) for first in range(0x80, 0x90)},
    **{first: ("array", first & 0x0F) for first in range(0x90, 0xA0)},
    **{first: ("str", first & 0x1F) for first in range(0xA0, 0xC0)},
    **{first: ("int", first - 0x100) for first in range(0xE0, 0x100)},
    0xC0: ("nil", None),
    0xC2: ("bool", False),
    0xC3: ("bool", True),
    **{0xD4 + power: ("ext", 1 << power) for power in range(5)},
}
"""First bytes that contain the number: the family, and the number."""
_HEADS: dict[int, tuple[str, int, str]] = {
    0xC4: ("bin", 1, "B"),
    0xC5: ("bin", 2, ">H"),
    0xC6: ("bin", 4, ">I"),
    0xC7: ("ext", 1, "B"),
    0xC8: ("ext", 2, ">H"),
    0xC9: ("ext", 4, ">I"),
    0xCA: ("float", 4, ">f"),
    0xCB: ("float", 8, ">d"),
    0xCC: ("int", 1, "B"),
    0xCD: ("int", 2, ">H"),
    0xCE: ("int", 4, ">I"),
    0xCF: ("int", 8, ">Q"),
    0xD0: ("int", 1, "b"),
    0xD1: ("int", 2, ">h"),
    0xD2: ("int", 4, ">i"),
    0xD3: ("int", 8, ">q"),
    0xD9: ("str", 1, "B"),
    0xDA: ("str", 2, ">H"),
    0xDB: ("str", 4, ">I"),
    0xDC: ("array", 2, ">H"),
    0xDD: ("array", 4, ">I"),
    0xDE: ("map", 2, ">H"),
    0xDF: ("map", 4, ">I"),
}
"""The other first bytes: the family, the size of the number after them, and its format."""
_FAMILIES = {first: family for first, (family, *_) in (_FIXED | _HEADS).items()}
WORDS = {
    "nil": "nil",
    "bool": "a boolean",
    "int": "an integer",
    "float": "a float",
    "str": "a string",
    "bin": "a bin",
    "array": "an array",
    "map": "a map",
    "ext": "an ext value",
}


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a value: its family, and its number (integer, float, boolean), length or count."""

    family: str
    number: Any
    start: int
    code: int = 0  # the type of an ext value


def family_at(cursor: Cursor) -> tuple[str, int, int]:
    """The family, first byte and offset of the value at the cursor; the first byte is consumed."""
    start = cursor.tell()
    first = cursor.take(1)[0]
    family = _FAMILIES.get(first)
    if family is None:
        raise DecodeError("bad_msgpack", offset=start, expected="a MessagePack value", actual="the reserved byte c1")
    return family, first, start


def read_head(cursor: Cursor, families: Sequence[str]) -> Head:
    """The head of the value at the cursor; `type_mismatch` if its family is not in `families`."""
    family, first, start = family_at(cursor)
    if family not in families:
        wanted = " or ".join(WORDS[name] for name in families)
        raise DecodeError("type_mismatch", offset=start, expected=wanted, actual=WORDS[family])
    return head_of(cursor, family, first, start)


def head_of(cursor: Cursor, family: str, first: int, start: int) -> Head:
    """The rest of the head after its first byte."""
    if first in _FIXED:
        number = _FIXED[first][1]
    else:
        _, width, packed_as = _HEADS[first]
        number = _struct.unpack(packed_as, _rest(cursor, width, start))[0]
    return Head(family, number, start, _ext_code(cursor, start) if family == "ext" else 0)


def _rest(cursor: Cursor, width: int, start: int) -> bytes:
    if width > cursor.left:
        raise cursor.short(start, cursor.tell() - start + width)
    return cursor.take(width)


def _ext_code(cursor: Cursor, start: int) -> int:
    code: int = _struct.unpack("b", _rest(cursor, 1, start))[0]
    return code


def take_body(cursor: Cursor, head: Head) -> bytes:
    """The bytes of a str, bin or ext; `truncated` at its head if they are not all there."""
    if head.number > cursor.left:
        raise DecodeError(cursor.overrun, offset=head.start, expected=amount(head.number), actual=f"{cursor.left} left")
    return cursor.take(head.number)


def check_count(cursor: Cursor, head: Head, least: int) -> None:
    """Raise `truncated` if the declared entries, of at least `least` bytes each, exceed the remaining bytes."""
    if head.number * least > cursor.left:
        raise DecodeError(
            cursor.overrun,
            offset=head.start,
            expected=f"{head.number} entries",
            actual=f"{cursor.left} bytes left",
        )


def pass_over(cursor: Cursor) -> None:
    """Skip the value at the cursor."""
    left = 1
    while left:
        family, first, start = family_at(cursor)
        head = head_of(cursor, family, first, start)
        left -= 1
        if family in ("str", "bin", "ext"):
            take_body(cursor, head)
        elif family in ("array", "map"):
            least = 2 if family == "map" else 1
            check_count(cursor, head, least)
            left += head.number * least
