"""Records between delimiters: where each ends, and how a delimiter inside a record is escaped.

Empty stretches between delimiters are not records. Escapes are removed; an invalid one makes its record bad. After the
last delimiter there may be one more record if nothing is escaped, as the last line of a file needs no line feed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from wireloom.runtime.streams.elements import Limits
from wireloom.runtime.streams.framing import Delimited, Escape, Stuffed

Read = Callable[[int], bytes]
"""Reads the next bytes of a stream: as many as requested, or all that are left."""
_WINDOW = 1 << 20
_LONGEST = 0xFF  # the COBS code of a run of 254 bytes without a zero after it


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes before a delimiter; `size` counts all of them, `data` has fewer if there are too many."""

    offset: int
    size: int
    data: bytes
    ended: bool = True  # False if the stream ends without a delimiter


class BadEscapeError(ValueError):
    """An invalid escape in a record; the offset counts from the record's start, escapes included."""

    def __init__(self, offset: int, actual: str) -> None:
        super().__init__(actual)
        self.offset, self.actual = offset, actual


def pieces(read: Read, delimiter: bytes, limits: Limits) -> Iterator[Piece]:
    """The pieces between the delimiters of a stream."""
    held, offset = b"", 0
    while addition := read(max(_WINDOW, len(held))):
        *found, held = (held + addition).split(delimiter)
        for data in found:
            if data:
                yield Piece(offset, len(data), data[: limits.kept] if len(data) > limits.largest else data)
            offset += len(data) + len(delimiter)
        if len(held) > limits.largest:
            size, rest, ended = passed(read, delimiter, held)
            yield Piece(offset, size, held[: limits.kept], ended)
            offset, held = offset + size + len(delimiter), rest
    if held:
        yield Piece(offset, len(held), held, ended=False)


def passed(read: Read, delimiter: bytes, held: bytes) -> tuple[int, bytes, bool]:
    """Skip to the next delimiter: the bytes before it, those read after it, and whether there was a delimiter."""
    size, last = len(held), held[-len(delimiter) :]
    while addition := read(_WINDOW):
        window = last + addition
        end = window.find(delimiter)
        if end >= 0:
            return size - len(last) + end, window[end + len(delimiter) :], True
        size, last = size + len(addition), window[-len(delimiter) :]
    return size, b"", False


def first(read: Read, framing: Delimited | Stuffed, limits: Limits) -> bytes | None:
    """The first record of a stream, without its escapes; None if it is incomplete, too large or badly escaped."""
    found = next(pieces(read, framing.delimiter, limits), None)
    if found is None or found.offset or not found.ended or found.size > limits.largest:
        return None
    try:
        return plain(framing, found.data)
    except BadEscapeError:
        return None


def plain(framing: Delimited | Stuffed, data: bytes) -> bytes:
    """A record without its escapes; raises BadEscapeError."""
    if isinstance(framing, Stuffed):
        return _unstuffed(data)
    escape = framing.escape
    return data if escape is None or escape.byte not in data else _unescaped(escape, data)


def stuffed(framing: Delimited | Stuffed, data: bytes) -> bytes | None:
    """A record, escaped, without its delimiter; None if readers could not find it again."""
    if isinstance(framing, Stuffed):
        return _cobs_stuffed(data)
    if framing.escape is None:
        return data if data and (data + framing.delimiter).find(framing.delimiter) == len(data) else None
    return _escaped(framing.escape, framing.delimiter[0], data) or None


def _escaped(escape: Escape, end: int, data: bytes) -> bytes:
    data = data.replace(bytes((escape.byte,)), _escape_sequence(escape, escape.byte))
    return data.replace(bytes((end,)), _escape_sequence(escape, end))


def _escape_sequence(escape: Escape, meaning: int) -> bytes:
    code = escape.code(meaning)
    assert code is not None, "a framing without it has a flaw"
    return bytes((escape.byte, code))


@cache
def _escapes(byte: int) -> re.Pattern[bytes]:
    return re.compile(re.escape(bytes((byte,))) + b"(.?)", re.DOTALL)


def _unescaped(escape: Escape, data: bytes) -> bytes:
    def unescaped_byte(found: re.Match[bytes]) -> bytes:
        meaning = escape.meaning(found[1][0]) if found[1] else None
        if meaning is None:
            raise BadEscapeError(found.start(), found[0].hex())
        return bytes((meaning,))

    return _escapes(escape.byte).sub(unescaped_byte, data)


def _unstuffed(data: bytes) -> bytes:
    """Decode COBS: each code is the distance to the next one, which replaces a zero unless the run was the longest."""
    parts: list[bytes] = []
    at = 0
    while True:
        code = data[at]
        end = at + code
        if end > len(data):
            raise BadEscapeError(at, f"{code:02x}, and {len(data) - at - 1} bytes after it")
        parts.append(data[at + 1 : end])
        if end == len(data):
            return b"".join(parts)
        if code < _LONGEST:
            parts.append(b"\0")
        at = end


def _cobs_stuffed(data: bytes) -> bytes:
    written = bytearray()
    runs = data.split(b"\0")
    for place, run in enumerate(runs):
        at = 0
        while len(run) - at >= _LONGEST - 1:
            written += bytes((_LONGEST,)) + run[at : at + _LONGEST - 1]
            at += _LONGEST - 1
        if place == len(runs) - 1 and at and at == len(run):
            break  # the longest run ends the record, so no code follows
        written += bytes((len(run) - at + 1,)) + run[at:]
    return bytes(written)
