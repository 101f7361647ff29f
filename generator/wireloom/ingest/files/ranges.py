"""Splits large files into parts that begin and end at records, without decoding what is in between.

The framing decides how a file is split:

- `lines`: anywhere; a part begins after the first line feed that it finds. Nothing is read beforehand.
- `length-prefixed` and other prefixes: the lengths lead from record to record; the bytes in between are skipped.
- `size:BYTES`: at any multiple of the size.
- delimiters, escaped or not: the search finds the delimiters and counts the records between them.
- `concatenated`: the headers of the records are read, as far as their `frame` step. If that would read whole records
  (no `frame` step, or an unknown byte order), or if records are so small that it costs as much as decoding, the engine
  finds the borders, without any column. If the engine does not cover the format, the file stays whole.
- `none`: a file is a record.
- `array`: a file is one JSON array, whose elements only reading from its start can find; it stays whole.

A compressed file stays whole, whatever its framing. With resync, the engine finds the borders, since headers and
lengths cannot be trusted. After a file header, the rest is split, and each part is read with the values of the header.

The search follows the same path as decoding. If decoding could not find the next record, the search ends, and the rest
of the file is one part. So the records and errors of the parts are those of the file.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, BinaryIO, Protocol, TypeVar, cast

from wireloom.ingest.files.compression import HEAD as PACKED
from wireloom.ingest.files.compression import Bounds, compression_of, plain
from wireloom.ingest.files.finding import File
from wireloom.ingest.plan import AUTO
from wireloom.runtime.codec import Codec, Root
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.engine import Request
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.parsers.unions import Attempt
from wireloom.runtime.streams import framing as framings
from wireloom.runtime.streams.framed import LARGEST
from wireloom.runtime.streams.framing import Bare, Delimited, Headed, Prefixed, Stuffed, bare, framing_of
from wireloom.runtime.streams.headers import Head

WINDOW = 1 << 20
HEAD = 1 << 16
"""Bytes of a file that are read at once while record headers are followed."""
HEADS = 20_000
"""Most headers that are read of one file; the rest stays one part."""
TRIAL = 50
"""Number of headers after which the search gives up if it advances too slowly."""
LENGTHS = 4_000_000
"""Most length prefixes that are read of one file."""
OPEN_COST = 1 << 20
"""The cost of opening a file, in bytes that could be read in that time."""


class _HasSize(Protocol):
    @property
    def size(self) -> int:
        """The number of bytes."""


Sized = TypeVar("Sized", bound=_HasSize)
Share = Callable[[int], int]
"""The approximate size of a part or group, by the number of bytes before it."""


def even(target: int) -> Share:
    """The same size everywhere."""
    return lambda _: target


@dataclass(frozen=True, slots=True)
class Border:
    """The offset of a record, and its number in the file."""

    offset: int
    record: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file, from one border to the next.

    In a file of lines, both ends may be anywhere, and the number of the first record is unknown (None).
    """

    file: File
    start: int
    end: int
    record: int | None

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.end - self.start

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self.start == 0 and self.end == self.file.size


@dataclass(frozen=True, slots=True)
class Heads:
    """How to read records, as far as the search for borders needs it."""

    codec: Codec
    root: Root
    settings: dict[str, ParameterValue]
    compression: str = AUTO
    resync: bool = False

    @property
    def largest(self) -> int:
        """The size of the largest record after which decoding can continue."""
        limit = self.root.size_limit(self.settings)
        return LARGEST - 1 if limit is None else min(limit, LARGEST - 1)

    @property
    def native(self) -> bool:
        """Whether the engine can find records, which is much faster than reading their headers."""
        name = next(name for name, each in self.codec.roots.items() if each is self.root)
        return self.codec.covers(Request(name, self.settings, ()))

    @property
    def tell(self) -> bool:
        """Whether the header of a record can be read alone.

        In an `attempt`, the rest decides between the alternatives.
        """
        return not isinstance(self.root.construct.subcon, Attempt)

    @property
    def of_one_order(self) -> bool:
        """Whether the byte order is known. Otherwise the size in a header is known only after reading the rest."""
        order = self.root.construct.order
        return order is None or self.settings[order.parameter] != "auto"

    def extent(self, window: bytes, position: int, *, complete: bool) -> int | None:
        """The size of the record at `position`, by its header in the window; None if the window is too short.

        `complete` if the window ends with the file. Raises DecodeError if no record can be found after this one.
        """
        cursor = Cursor(window)
        cursor.seek(position)
        try:
            self.root.construct.read(cursor, self.settings)
        except DecodeError as error:
            if error.cut_off and not complete:
                return error.frame_size if self.of_one_order else None
            if error.frame_end is None:
                raise
            return error.frame_end - position
        return cursor.tell() - position


def parts(file: File, framing: str, heads: Heads, share: Share, *, numbered: bool) -> Iterator[Part]:
    """Split a file into parts of at least their share of bytes; yields each part once its end is found.

    `numbered` if the records need numbers. For lines, that requires reading them all, so a file of lines stays whole.
    """
    whole = Part(file, 0, file.size, 0)
    named = framing_of(framing)
    if file.size <= share(0) or isinstance(bare(named), framings.Whole | framings.Array):
        yield whole
        return
    if isinstance(bare(named), framings.Lines) and (numbered or isinstance(named, Headed)):
        yield whole
        return
    try:
        source = file.place.open()
    except FileNotFoundError:
        yield whole  # reading the file later reports that it is missing
        return
    least = max(min(share(0), share(file.size - 1)), 1)
    with source:
        packed = heads.compression == AUTO and compression_of(source.read(PACKED), file.path) is not None
        source.seek(0)
        if packed:
            yield whole
        elif framing == "lines":
            yield from _anywhere(file, share(0))
        elif isinstance(named, Headed):
            yield from _parted(whole, _borders_after_header(source, file, named, heads, least), share)
        else:
            yield from _parted(whole, _walk(source, file.size, bare(named), heads, least), share)


def _anywhere(file: File, target: int) -> Iterator[Part]:
    count = -(-file.size // target)
    bounds = [file.size * place // count for place in range(count + 1)]
    for start, end in pairwise(bounds):
        yield Part(file, start, end, 0 if start == 0 else None)


def _borders_after_header(source: BinaryIO, file: File, framing: Headed, heads: Heads, target: int) -> Iterator[Border]:
    """The borders of records after a file header; none if the header is broken."""
    head = heads.codec.head(framing, source, heads.settings)
    if isinstance(head, Head):
        rest = cast(BinaryIO, Section(source, Part(file, head.size, file.size, 0)))
        heads = replace(heads, settings=dict(head.settings))
        for border in _walk(rest, file.size - head.size, framing.records, heads, target):
            yield replace(border, offset=border.offset + head.size)


def _walk(source: BinaryIO, size: int, framing: Bare, heads: Heads, target: int) -> Iterator[Border]:
    if heads.resync:  # lengths and headers may be wrong, so only decoding finds the right borders
        if heads.native:
            yield from _scan(source, framing, heads)
    elif isinstance(framing, Prefixed):
        yield from _lengths(source, size, framing)
    elif isinstance(framing, framings.Sized):
        yield from _multiples(size, framing.size, target)
    elif isinstance(framing, Delimited | Stuffed):
        yield from _delimiters(source, size, framing.delimiter, target)
    elif (yield from _heads(source, size, heads, target)) and heads.native:
        source.seek(0)
        yield from _scan(source, framing, heads)


def _parted(whole: Part, walk: Iterator[Border], share: Share) -> Iterator[Part]:
    part = whole
    for border in walk:
        if border.offset - part.start >= share(part.start) and border.offset < whole.end:
            yield replace(part, end=border.offset)
            part = replace(part, start=border.offset, record=border.record)
            if part.size <= share(part.start):
                break
    yield part


def grouped(found: Iterable[Sized], share: Share, opening: int = OPEN_COST) -> Iterator[tuple[Sized, ...]]:
    """Collect parts in order into groups of about their share of bytes; opening a file counts as bytes too.

    A full group is yielded before the next part is searched for.
    """
    group: list[Sized] = []
    done = size = 0
    for part in found:
        if group and size + part.size > share(done):
            yield tuple(group)
            group, done, size = [], done + size, 0
        group.append(part)
        size += part.size + opening
        if size >= share(done):
            yield tuple(group)
            group, done, size = [], done + size, 0
    if group:
        yield tuple(group)


# --- finding borders -------------------------------------------------------------------------------------------------


def _lengths(source: BinaryIO, size: int, framing: Prefixed) -> Iterator[Border]:
    """The border after each record, by following the length prefixes."""
    window, base, position = b"", 0, 0
    for record in range(1, LENGTHS):
        if position - base + framing.longest > len(window):
            source.seek(position)
            window, base = source.read(WINDOW), position
        width, length = framing.measured(window, position - base) or (0, -1)
        position += width + length
        if length < 0 or position >= size:
            return
        yield Border(position, record)


def _multiples(size: int, width: int, target: int) -> Iterator[Border]:
    """Borders between records of fixed size."""
    records = max(target // width, 1)
    for record in range(records, -(-size // width), records):
        yield Border(record * width, record)


def _delimiters(source: BinaryIO, size: int, delimiter: bytes, target: int) -> Iterator[Border]:
    """A border after a delimiter about every `target` bytes; the records before it are counted."""
    held, position, record, wanted = b"", 0, 0, target
    while window := source.read(WINDOW):
        *found, held = (held + window).split(delimiter)
        record += sum(map(bool, found))
        position += sum(map(len, found)) + len(found) * len(delimiter)
        if found and wanted <= position < size:
            yield Border(position, record)
            wanted = position + target


def _scan(source: BinaryIO, framing: Bare, heads: Heads) -> Iterator[Border]:
    """A border after each window that the engine decodes, without any column."""
    codec = heads.codec
    root = next(name for name, each in codec.roots.items() if each is heads.root)
    settings: dict[str, Any] = dict(heads.settings)
    found = codec.decode_stream(
        source, [], root=root, framing=framing.text, on_error="skip", resync=heads.resync, **settings
    )
    width = framing.width if isinstance(framing, Prefixed) else 0
    sound = False
    for part in found:
        if len(part.offsets) and part.first and sound:
            yield Border(part.offsets[0].as_py() - width, part.first)
        sound = not heads.resync or not part.raw[-1].is_valid  # the end of a bad record may depend on what follows it


def _heads(source: BinaryIO, size: int, heads: Heads, target: int) -> Generator[Border, None, bool]:
    """The border after each record, by following the headers. Returns whether `_scan` should continue instead."""
    window, base, position, record, width = b"", 0, 0, 0, HEAD
    while record < HEADS and heads.tell:
        if record == TRIAL and position * (HEADS // TRIAL) < target:
            return True
        if position >= base + len(window) or width > HEAD:
            window, base = _window(source, position, width), position
        try:
            extent = heads.extent(window, position - base, complete=base + len(window) >= size)
        except DecodeError:
            return False
        if extent is None:
            width = len(window) * 2 if position == base else HEAD + 1
            if width > LARGEST:
                return False
            continue
        position, record, width = position + extent, record + 1, HEAD
        if position >= size or not 0 < extent <= heads.largest:
            return False
        yield Border(position, record)
    return True


def _window(source: BinaryIO, offset: int, width: int) -> bytes:
    source.seek(offset)
    return source.read(width)


# --- reading parts -------------------------------------------------------------------------------------------------


class Section:
    """A part of a file with the interface of a file."""

    def __init__(self, source: BinaryIO, part: Part) -> None:
        self._source, self._start, self._end = source, part.start, part.end
        source.seek(part.start)
        self._position = part.start

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer at the end."""
        left = self._end - self._position
        data = self._source.read(left if size < 0 else min(size, left)) if left > 0 else b""
        self._position += len(data)
        return data

    def seekable(self) -> bool:
        """Always true."""
        return True

    def tell(self) -> int:
        """The offset from the start of the part."""
        return self._position - self._start

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to an offset from the part's start (0), the current position (1) or the part's end (2)."""
        self._position = max(offset + (self._start, self._position, self._end)[whence], self._start)
        self._source.seek(self._position)
        return self.tell()


class Lines:
    """The lines that begin in a part; the last may end after it. `start` is the offset of the first."""

    def __init__(self, source: BinaryIO, part: Part) -> None:
        self._source, self._end = source, part.end
        self._begins = True
        source.seek(max(part.start - 1, 0))
        if part.start:
            self._pass_line()
        self.start = self._position = source.tell()

    def read(self, size: int) -> bytes:
        """The next bytes of the lines."""
        left = self._end - self._position
        if left <= 0:
            return self.readline(size)
        data = self._source.read(min(size, left))
        self._position += len(data)
        self._begins = data.endswith(b"\n")
        return data

    def readline(self, size: int) -> bytes:
        """The next line, or at most `size` bytes of it."""
        if self._begins and self._position >= self._end:
            return b""
        data = self._source.readline(size)
        self._position += len(data)
        self._begins = data.endswith(b"\n")
        return data

    def _pass_line(self) -> None:
        while (data := self._source.readline(WINDOW)) and not data.endswith(b"\n"):
            pass


def opened(source: BinaryIO, part: Part, framing: str, bounds: Bounds) -> tuple[BinaryIO, int]:
    """The part as a file of records, and its offset in the file, or in the decompressed content."""
    if part.is_whole:
        file = plain(source, part.file.place.open, part.file.path, bounds)
        if file is not source:
            return file, 0
    if framing == "lines":
        lines = Lines(source, part)
        return cast(BinaryIO, lines), lines.start
    return cast(BinaryIO, Section(source, part)), part.start
