"""Character sets: each has one text for a run of bytes, and one run of bytes for a text.

A single-byte set is a table of 256 characters, some of which may be undefined. The tables are Python's; other users,
such as the engine, get them from here.
"""

from array import array
from functools import lru_cache

TWO_BYTES = ("utf-16le", "utf-16be")
_BEYOND = 0x10000  # above every character of a single-byte set


def unit(charset: str) -> int:
    """The size of the smallest part of a text, in bytes."""
    return 2 if charset in TWO_BYTES else 1


@lru_cache(maxsize=128)
def characters(charset: str) -> tuple[str | None, ...]:
    """The character of each byte in a single-byte set; None if it is undefined."""
    return tuple(_character(byte, charset) for byte in range(256))


def _character(byte: int, charset: str) -> str | None:
    try:
        return bytes([byte]).decode(charset)
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=128)
def utf8_table(charset: str) -> bytes:
    """For each byte, the length of its character in UTF-8, then three bytes of it."""
    texts = ("" if each is None else each for each in characters(charset))
    return b"".join(bytes([len(text.encode())]) + text.encode().ljust(3, b"\0") for text in texts)


@lru_cache(maxsize=128)
def byte_table(charset: str) -> bytes:
    """For each character below 65536, its byte or -1, as 16-bit integers."""
    found = array("h", [-1]) * _BEYOND
    for byte, character in enumerate(characters(charset)):
        if character is not None:
            found[ord(character)] = byte
    return found.tobytes()


@lru_cache(maxsize=128)
def meaningful(charset: str) -> tuple[int, int, int, int] | None:
    """The defined bytes, as 256 bits in four integers; None if all bytes are defined."""
    if None not in characters(charset):
        return None
    bits = sum(1 << byte for byte, each in enumerate(characters(charset)) if each is not None)
    words = ((bits >> shift) & ((1 << 64) - 1) for shift in (0, 64, 128, 192))
    first, second, third, fourth = (word - (1 << 64) if word >> 63 else word for word in words)
    return first, second, third, fourth
