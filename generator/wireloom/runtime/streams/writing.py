"""Records as they stand in a stream: what `framed` reads."""

from typing import assert_never

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


def frame(framing: Framing, data: bytes, *, first: bool) -> bytes:
    """A record as it stands in a stream, perhaps its first; raises EncodeError where it would not be found again."""
    match framing:
        case Headed():
            return frame(framing.records, data, first=first)
        case Whole():
            return data
        case Concatenated():
            if not data:
                raise EncodeError("a record of at least one byte where records stand back to back", "one of none")
            return data
        case Prefixed():
            return _prefix(framing, len(data)) + data
        case Sized():
            if len(data) != framing.size:
                raise EncodeError(f"a record of {framing.size} bytes, as all have", f"one of {len(data)}")
            return data
        case Lines():
            return _line(data)
        case Delimited() | Stuffed():
            return _ended(framing, data)
        case Array():
            return (b"[" if first else b",\n") + data
        case _:
            assert_never(framing)


def ending(framing: Framing, count: int) -> bytes:
    """What stands behind the last of so many records."""
    if not isinstance(bare(framing), Array):
        return b""
    return b"]\n" if count else b"[]\n"


def _prefix(framing: Prefixed, size: int) -> bytes:
    number = framing.written(size)
    if number is None:
        raise EncodeError(f"a record whose size {framing.text} can say", f"one of {size} bytes")
    return number


def _ended(framing: Delimited | Stuffed, data: bytes) -> bytes:
    written = stuffed(framing, data)
    if written is None:
        raise EncodeError(f"a record of bytes, without {framing.delimiter.hex()}, which would end it", "another")
    return written + framing.delimiter


def _line(data: bytes) -> bytes:
    if b"\n" in data:
        raise EncodeError("a record without a line feed, which would end its line", "one that has it")
    if not data.strip():
        raise EncodeError("a record that is no blank line, since those are passed over", "a blank one")
    return data + b"\n"
