"""LEB128: an integer as seven bits per byte, lowest first; the top bit announces another byte.

Zigzag keeps numbers near zero short whatever their sign: 0, -1, 1, -2 are written as 0, 1, 2, 3.
"""

LONGEST = 10
"""The size of the longest 64-bit number, in bytes."""
_CONTINUED = 0x80


def decoded(data: bytes, start: int, end: int, longest: int = LONGEST) -> tuple[int, int] | None:
    """The number at `start` and the offset after it; None if it does not end within `longest` bytes, or by `end`."""
    number = shift = 0
    for position in range(start, min(start + longest, end)):
        byte = data[position]
        number |= (byte & ~_CONTINUED) << shift
        if byte < _CONTINUED:
            return number, position + 1
        shift += 7
    return None


def encoded(number: int) -> bytes:
    """A non-negative number in as few bytes as possible."""
    written = bytearray()
    while number >= _CONTINUED:
        written.append(number & ~_CONTINUED & 0xFF | _CONTINUED)
        number >>= 7
    return bytes((*written, number))


def from_zigzag(number: int) -> int:
    """The integer of a zigzag number."""
    return number >> 1 ^ -(number & 1)


def to_zigzag(value: int) -> int:
    """The zigzag number of an integer."""
    return ~value << 1 | 1 if value < 0 else value << 1
