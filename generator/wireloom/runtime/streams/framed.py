"""Records that follow one another as a framing says: concatenated, after their sizes, one per line, in an array ...

A bad record costs only itself if its end is known: by the framing, or by a `frame` step that the record had passed.
Otherwise the rest of the stream is returned as one bad record, unless `resync` searches it. A stream may be larger than
memory: a record has at most LARGEST bytes, and at most KEPT bytes of a bad record are kept; `size` says how many there
were.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Literal, Protocol, assert_never, cast, get_args

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, ParameterError, amount
from wireloom.runtime.parameters import accept_word
from wireloom.runtime.streams.delimiters import BadEscapeError, Piece, pieces, plain
from wireloom.runtime.streams.elements import Limits, elements
from wireloom.runtime.streams.framing import (
    LARGEST_SIZE,
    Array,
    Bare,
    Concatenated,
    Delimited,
    Lines,
    Prefixed,
    Sized,
    Stuffed,
    Whole,
)

OnError = Literal["raise", "stop", "skip"]

ON_ERROR: tuple[str, ...] = get_args(OnError)
KEPT = 16 << 20
"""Bytes that are kept of a bad record."""
SIZE_LIMIT, BAD_SIZE, BAD_ESCAPE = CODES = "size_limit", "bad_size", "bad_escape"
"""The error codes of framings: a record is too large, its length prefix is impossible, or an escape is invalid."""
LARGEST = LARGEST_SIZE
"""Bytes of the largest record of a stream; a larger one is refused with `size_limit`."""
_WINDOW = 1 << 20
AHEAD = _WINDOW
"""Bytes that must be there before a record that is cut off in the first byte order is read in the second."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A record of a stream: its number, offset, size and bytes, and its value or its error.

    `size` counts all bytes of the record; `data` of a bad one has at most KEPT of them. If the source cannot seek,
    `size` does not count a rest that was not read.
    """

    index: int
    offset: int
    size: int
    data: bytes
    value: Any
    error: DecodeError | None


class Reader(Protocol):
    """The parts of a codec that a stream needs."""

    def read(self, cursor: Cursor) -> Any:
        """The record at the cursor, which continues after it."""

    def read_all(self, data: bytes) -> Any:
        """The record that is all of `data`."""

    def label(self, error: DecodeError) -> DecodeError:
        """The error, with the format's name, version and description of the code."""

    def weight(self, value: Any) -> int:
        """The bytes that a value takes in columns, estimated."""


class Searching(Protocol):
    """A search for the offset where a stream continues; see `resync`."""

    def settled(  # noqa: PLR0913 - a bad record, and its window
        self, window: bytes, base: int, position: int, start: int, extent: "Extent", *, more: bool
    ) -> "Extent | None":
        """A bad record, extended to where the stream continues; None if more of the stream is needed to tell."""


@dataclass(frozen=True, slots=True)
class Extent:
    """One record: its bytes, and its value or error; `last` if no record can be found after it."""

    offset: int
    size: int
    data: bytes
    value: Any = None
    error: DecodeError | None = None
    last: bool = False


def iterate(  # noqa: PLR0913 - a stream, and how it is read
    reader: Reader,
    source: bytes | bytearray | memoryview | BinaryIO,
    framing: Bare,
    on_error: str,
    searching: Searching | None = None,
    base: int = 0,
) -> Iterator[Framed]:
    """The records of a buffer or a binary file; after one without a known end, `searching` finds the next.

    `on_error`: `raise` raises the DecodeError of the first bad record; `stop` yields that record and ends; `skip`
    yields it and goes on. Raises ParameterError for another policy. `base` is the offset of the source in the whole
    stream.
    """
    check(on_error)
    return numbered(extents(reader, opened(source), framing, searching), on_error, base)


def check(on_error: str) -> None:
    """Raises ParameterError for an unknown policy."""
    accept_word("on_error", on_error, ON_ERROR)


def opened(source: bytes | bytearray | memoryview | BinaryIO) -> BinaryIO:
    """The source as a file; raises ParameterError for anything but bytes or a binary file."""
    if isinstance(source, bytes | bytearray | memoryview):
        return io.BytesIO(bytes(source))
    if isinstance(source, io.TextIOBase):
        raise ParameterError("source must be a binary file, not one of text; open it with the mode 'rb'")
    if not hasattr(source, "read"):
        raise ParameterError(f"source must be bytes or a binary file, not {type(source).__name__}")
    return source


def extents(reader: Reader, file: BinaryIO, framing: Bare, searching: Searching | None = None) -> Iterator[Extent]:
    """The records of a file, in order; nothing follows one that is `last`."""
    match framing:
        case Whole():
            return _whole(reader, file)
        case Concatenated():
            return _concatenated(reader, file, searching)
        case Prefixed():
            if searching is not None:
                return _searched_prefixed(reader, file, framing, searching)
            return _prefixed(reader, file, framing)
        case Sized():
            return _sized(reader, file, framing.size)
        case Lines():
            return _lines(reader, file)
        case Array():
            return _array(reader, file)
        case Delimited() | Stuffed():
            return _delimited(reader, file, framing)
        case _:
            assert_never(framing)


def numbered(extents: Iterator[Extent], on_error: str, base: int = 0) -> Iterator[Framed]:
    """The records with their numbers and their offsets in the stream; their own offsets count from `base`."""
    for index, extent in enumerate(extents):
        offset = base + extent.offset
        if extent.error is not None and on_error == "raise":
            extent.error.record_index, extent.error.record_offset = index, offset
            raise extent.error
        yield Framed(index, offset, extent.size, extent.data, extent.value, extent.error)
        if extent.last or (extent.error is not None and on_error == "stop"):
            return


def one(reader: Reader, offset: int, data: bytes) -> Extent:
    """The record that is all of `data`."""
    try:
        return Extent(offset, len(data), data, reader.read_all(data))
    except DecodeError as error:
        return Extent(offset, len(data), data[:KEPT], error=error)


def too_large(reader: Reader, offset: int, size: int, data: bytes, *, last: bool) -> Extent:
    """A record of more bytes than LARGEST."""
    error = DecodeError(SIZE_LIMIT, offset=0, expected=f"a record of at most {LARGEST} bytes", actual="a larger one")
    return Extent(offset, size, data[:KEPT], error=reader.label(error), last=last)


def _whole(reader: Reader, file: BinaryIO) -> Iterator[Extent]:
    size = _left(file)
    if size > LARGEST:
        yield too_large(reader, 0, size, read_exactly(file, KEPT), last=True)
        return
    data = read_exactly(file, LARGEST + 1)
    yield one(reader, 0, data) if len(data) <= LARGEST else too_large(reader, 0, len(data), data, last=True)


def _lines(reader: Reader, file: BinaryIO) -> Iterator[Extent]:
    """One record per line; empty lines are skipped."""
    offset = 0
    while line := file.readline(LARGEST):
        data, size = line.rstrip(b"\r\n"), len(line)
        if size == LARGEST and not line.endswith(b"\n"):
            size += _pass_line(file)
            yield too_large(reader, offset, size, data, last=False)
        elif data.strip():
            yield one(reader, offset, data)
        offset += size


def _pass_line(file: BinaryIO) -> int:
    """Skip the rest of the current line; returns the number of bytes."""
    size = 0
    while part := file.readline(_WINDOW):
        size += len(part)
        if part.endswith(b"\n"):
            break
    return size


def _array(reader: Reader, file: BinaryIO) -> Iterator[Extent]:
    """The elements of one JSON array."""
    for piece in elements(partial(read_exactly, file), Limits(LARGEST, KEPT)):
        if not piece.problem:
            yield one(reader, piece.offset, piece.data)
        elif piece.last:
            offset = len(piece.data) if piece.problem == "truncated" else 0
            found = f"{piece.size} bytes, and the end of the stream"
            error = DecodeError(piece.problem, offset=offset, expected=piece.expected, actual=found)
            yield Extent(piece.offset, piece.size, piece.data, error=reader.label(error), last=True)
        else:
            yield too_large(reader, piece.offset, piece.size, piece.data, last=False)


def _prefixed(reader: Reader, file: BinaryIO, framing: Prefixed) -> Iterator[Extent]:
    """Records after their sizes."""
    offset = 0
    while prefix := _number(file, framing):
        measured = framing.measured(prefix)
        if measured is None:
            yield broken_off(reader, offset, len(prefix), prefix, a_prefix(framing), len(prefix))
            return
        width, size = measured
        if size < 0:
            yield rest(
                reader, file, Extent(offset, 0, b"", error=no_size(reader, prefix), last=True), prefix, large=False
            )
            return
        data = read_exactly(file, size if size <= LARGEST else KEPT)
        found = len(data) + (passed(file, size - len(data)) if size > LARGEST else 0)
        if found < size:
            wanted = f"{size} bytes after the length prefix"
            yield broken_off(reader, offset, width + found, prefix + data, wanted, found)
            return
        start = offset + width
        yield one(reader, start, data) if size <= LARGEST else too_large(reader, start, size, data, last=False)
        offset = start + size


def _number(file: BinaryIO, framing: Prefixed) -> bytes:
    """The bytes of the number before a record, as far as they are there."""
    if framing.width:
        return read_exactly(file, framing.width)
    data = b""
    while framing.measured(data) is None and (byte := file.read(1)):
        data += byte
    return data


def a_prefix(framing: Prefixed) -> str:
    """The expected bytes if a prefix is cut off."""
    return f"a length prefix of {framing.width} bytes" if framing.width else "the end of a length prefix"


def no_size(reader: Reader, prefix: bytes) -> DecodeError:
    """The error of a prefix that no record can have."""
    return reader.label(DecodeError(BAD_SIZE, offset=0, expected="the size of a record", actual=prefix.hex()))


def _delimited(reader: Reader, file: BinaryIO, framing: Delimited | Stuffed) -> Iterator[Extent]:
    """Records between delimiters, without their escapes."""
    needs_end = isinstance(framing, Stuffed) or framing.escape is not None
    for piece in pieces(partial(read_exactly, file), framing.delimiter, Limits(LARGEST, KEPT)):
        if piece.size > LARGEST:
            yield too_large(reader, piece.offset, piece.size, piece.data, last=not piece.ended)
        elif needs_end and not piece.ended:
            yield broken_off(reader, piece.offset, piece.size, piece.data, "a delimiter after the record", piece.size)
        else:
            yield _escaped(reader, piece, framing)


def _escaped(reader: Reader, piece: Piece, framing: Delimited | Stuffed) -> Extent:
    """A record without its escapes, or as it was read if an escape is invalid."""
    try:
        data = plain(framing, piece.data)
    except BadEscapeError as bad:
        error = DecodeError(BAD_ESCAPE, offset=bad.offset, expected="a known escape", actual=bad.actual)
        return Extent(piece.offset, piece.size, piece.data[:KEPT], error=reader.label(error))
    return one(reader, piece.offset, data)


def _sized(reader: Reader, file: BinaryIO, size: int) -> Iterator[Extent]:
    """Records of a fixed size."""
    offset = 0
    while data := read_exactly(file, size):
        if len(data) < size:
            yield broken_off(reader, offset, len(data), data, f"a record of {size} bytes", len(data))
            return
        yield one(reader, offset, data)
        offset += size


def broken_off(  # noqa: PLR0913 - the parts of an error
    reader: Reader, offset: int, size: int, data: bytes, wanted: str, found: int
) -> Extent:
    """The end of a stream in the middle of a record."""
    error = DecodeError("truncated", offset=0, expected=wanted, actual=f"{found} bytes left")
    return Extent(offset, size, data[:KEPT], error=reader.label(error), last=True)


def read_exactly(file: BinaryIO, size: int, held: bytes | memoryview = b"") -> bytes:
    """The bytes in `held`, and up to `size` bytes more, without allocating more than the file has."""
    parts: list[bytes | memoryview] = [held]
    while size > 0 and (part := file.read(min(size, _WINDOW))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _left(file: BinaryIO) -> int:
    """The number of bytes up to the end; 0 if the source cannot seek."""
    if not file.seekable():
        return 0
    here = file.tell()
    end = file.seek(0, io.SEEK_END)
    file.seek(here)
    return max(end - here, 0)


def passed(file: BinaryIO, size: int) -> int:
    """Skip up to `size` bytes; returns how many there were."""
    if file.seekable():
        available = min(size, _left(file))
        file.seek(available, io.SEEK_CUR)
        return available
    available = 0
    while available < size and (part := file.read(min(size - available, _WINDOW))):
        available += len(part)
    return available


def given_back(file: BinaryIO, data: bytes) -> BinaryIO:
    """The file as it was before these bytes were read from it."""
    if file.seekable():
        file.seek(-len(data), io.SEEK_CUR)
        return file
    if isinstance(file, _Begun):  # given back before
        data, file = data + file.held.read(), file.file
    return cast(BinaryIO, _Begun(io.BytesIO(data), file))


@dataclass(frozen=True, slots=True)
class _Begun:
    """A source that cannot seek, after bytes that were read from it and given back."""

    held: io.BytesIO
    file: BinaryIO

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        return self.held.read(size) or self.file.read(size)

    def readline(self, size: int = -1) -> bytes:
        """The next line, or the first `size` bytes of it."""
        line = self.held.readline(size)
        if line.endswith(b"\n") or len(line) == size:
            return line
        return line + self.file.readline(size - len(line) if size >= 0 else -1)

    def seekable(self) -> bool:
        """Never."""
        return False


def _concatenated(reader: Reader, file: BinaryIO, searching: Searching | None) -> Iterator[Extent]:
    """Concatenated records. The window grows until it holds a whole record, or while a search needs more."""
    window, base, position, more = b"", 0, 0, True
    cursor = Cursor(window)
    while position < len(window) or more:
        held = len(window) - position
        extent: Extent | None = None
        if held:
            cursor.seek(position)
            extent = next_record(reader, cursor, window, base, position, more=more)
        if extent is not None and extent.error is not None:
            incomplete = extent.error.cut_off
            if incomplete and more and held < LARGEST:
                extent = None
            elif searching is not None:
                extent = searching.settled(window, base, position, position, extent, more=more)
            elif extent.last and more:
                yield rest(reader, file, extent, window[position:], large=incomplete)
                return
        if extent is None:
            window, base, position, more = _more(file, window, base, position)
            cursor = Cursor(window)
            continue
        yield extent
        position += extent.size


def _searched_prefixed(reader: Reader, file: BinaryIO, framing: Prefixed, searching: Searching) -> Iterator[Extent]:
    """Records after their sizes, with a search for the next one after a bad size."""
    window, base, position, more = b"", 0, 0, True
    while position < len(window) or more:
        extent = _prefixed_record(reader, window, base, position, framing)
        if extent is not None and extent.error is not None:
            if extent.last and more and extent.size < LARGEST:
                extent = None
            else:
                extent = searching.settled(window, base, position, extent.offset - base, extent, more=more)
        if extent is None:
            window, base, position, more = _more(file, window, base, position)
            continue
        yield extent
        position = extent.offset - base + extent.size


def _prefixed_record(reader: Reader, window: bytes, base: int, position: int, framing: Prefixed) -> Extent | None:
    """The record after its size, `last` if it is incomplete; None if nothing is left."""
    held = len(window) - position
    if held == 0:
        return None
    measured = framing.measured(window, position)
    if measured is None:
        return broken_off(reader, base + len(window), 0, b"", a_prefix(framing), 0)
    width, size = measured
    start, available = position + width, held - width
    if size < 0:
        error = no_size(reader, window[position:start])
        return Extent(base + start, available, b"", error=error, last=True)
    if size <= min(available, LARGEST):
        return one(reader, base + start, window[start : start + size])
    wanted = f"{size} bytes after the length prefix"
    return broken_off(reader, base + start, available, b"", wanted, available)


def _more(file: BinaryIO, window: bytes, base: int, position: int) -> tuple[bytes, int, int, bool]:
    """The window with more of the file, without the bytes before `position`; and whether there was more."""
    held = len(window) - position
    addition = read_exactly(file, min(max(_WINDOW, held), LARGEST - held) if held < LARGEST else _WINDOW)
    return window[position:] + addition, base + position, 0, bool(addition)


def rest(reader: Reader, file: BinaryIO, extent: Extent, held: bytes, *, large: bool) -> Extent:
    """The rest of the stream as one bad record: the bytes held, and those after them in the file."""
    size = len(held) + _left(file)
    data = held[:KEPT] + read_exactly(file, KEPT - len(held))
    size = max(size, len(data))
    if large:
        return too_large(reader, extent.offset, size, data, last=True)
    return Extent(extent.offset, size, data, error=extent.error, last=True)


def next_record(  # noqa: PLR0913 - a reader, and its position
    reader: Reader, cursor: Cursor, window: bytes, base: int, position: int, *, more: bool
) -> Extent:
    """The record at `position` of a window, where the cursor is; the window begins at `base` of its stream.

    If there is `more` of the stream after the window, a record that could continue there is cut off, unless it parses
    in another byte order within AHEAD bytes.
    """
    cursor.goes_on = more and len(window) - position < AHEAD
    try:
        value = reader.read(cursor)
        if cursor.tell() == position:
            raise reader.label(_nothing(position, len(window)))
    except DecodeError as error:
        error.offset -= position
        end = len(window)
        if error.frame_end is not None and error.frame_end > position:
            end, error.frame_end = error.frame_end, error.frame_end - position
        else:
            error.frame_end = None
        data = window[position : min(end, position + KEPT)]
        return Extent(base + position, end - position, data, error=error, last=error.frame_end is None)
    return Extent(base + position, cursor.tell() - position, window[position : cursor.tell()], value)


def _nothing(position: int, end: int) -> DecodeError:
    """The error of a record without bytes, as it could be read forever."""
    left = f"{amount(end - position)} more"
    return DecodeError("trailing_bytes", offset=position, expected="a record of at least one byte", actual=left)
