"""Writes records into a stream, as `framed` reads them."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, assert_never

from wireloom.runtime.errors import EncodeError
from wireloom.runtime.streams.delimiters import stuffed
from wireloom.runtime.streams.framing import (
    Array,
    Concatenated,
    Delimited,
    Framing,
    Headed,
    Lines,
    Prefixed,
    Sized,
    Stuffed,
    Whole,
    bare,
)

if TYPE_CHECKING:
    import pyarrow as pa

PIECE = 8 << 20
"""Bytes of a stream to write at once, unless one record has more."""
_TOGETHER = 4096


def frame(framing: Framing, data: bytes, *, first: bool) -> bytes:
    """A record in its frame; `first` in the stream or not. Raises EncodeError if readers would not find it again."""
    match framing:
        case Headed():
            return frame(framing.records, data, first=first)
        case Whole():
            if not first:
                raise EncodeError("one record in the stream, since the framing is none", "another")
            return data
        case Concatenated():
            if not data:
                raise EncodeError("a record of at least one byte, since records are back to back", "an empty record")
            return data
        case Prefixed():
            return _prefix(framing, len(data)) + data
        case Sized():
            if len(data) != framing.size:
                raise EncodeError(f"a record of {framing.size} bytes", f"{len(data)} bytes")
            return data
        case Lines():
            return _line(data)
        case Delimited() | Stuffed():
            return _ended(framing, data)
        case Array():
            return (b"[" if first else b",\n") + data
        case _:
            assert_never(framing)


def pieces(framing: Framing, records: Iterable[bytes]) -> Iterator[bytes]:
    """The framed records and the end of the stream; an EncodeError has the number of its record."""
    count = 0
    for data in records:
        yield _framed(framing, data, count)
        count += 1
    if end := ending(framing, count):
        yield end


def joined(framing: Framing, arrays: "Iterable[pa.BinaryArray | pa.LargeBinaryArray]") -> Iterator[bytes]:
    """The same for arrays of records, in pieces of some megabytes; a null record is an EncodeError."""
    count, held, size = 0, list[bytes](), 0
    for array in arrays:
        for start in range(0, len(array), _TOGETHER):
            for data in array.slice(start, _TOGETHER).to_pylist():
                if data is None:
                    raise EncodeError("a record", "null").at(count)
                held.append(_framed(framing, data, count))
                count, size = count + 1, size + len(held[-1])
                if size >= PIECE:
                    yield b"".join(held)
                    held, size = [], 0
    held.append(ending(framing, count))
    if last := b"".join(held):
        yield last


def _framed(framing: Framing, data: bytes, number: int) -> bytes:
    try:
        return frame(framing, data, first=number == 0)
    except EncodeError as error:
        raise error.at(number) from None


def ending(framing: Framing, count: int) -> bytes:
    """The bytes after the last record, for a stream of `count` records."""
    if not isinstance(bare(framing), Array):
        return b""
    return b"]\n" if count else b"[]\n"


def _prefix(framing: Prefixed, size: int) -> bytes:
    number = framing.written(size)
    if number is None:
        raise EncodeError(f"a record whose size fits {framing.text}", f"{size} bytes")
    return number


def _ended(framing: Delimited | Stuffed, data: bytes) -> bytes:
    written = stuffed(framing, data)
    if written is None:
        raise EncodeError(f"a record without {framing.delimiter.hex()}, which would end it", "one that contains it")
    return written + framing.delimiter


def _line(data: bytes) -> bytes:
    if b"\n" in data:
        raise EncodeError("a record without a line feed, which would end its line", "one that contains it")
    if not data.strip():
        raise EncodeError("a record that is not blank, since readers skip blank lines", "a blank one")
    if data.endswith(b"\r"):
        raise EncodeError("a record without a carriage return at its end, since readers remove it", "one with it")
    return data + b"\n"
