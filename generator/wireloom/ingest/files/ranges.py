"""Large files in parts that begin and end at records, found without decoding what is in between.

The framing decides how a file is split:

- `lines`: anywhere; a part begins after the first line feed that it finds. Nothing is read beforehand.
- `length-prefixed` and other prefixes: the lengths are followed from record to record; what is in between is skipped.
- `size:BYTES`: at any multiple of the size.
- delimiters, escaped or not: they are searched, and what is between them is counted.
- `concatenated`: the headers of the records are read, as far as their `frame` step. If that would read whole records
  (no `frame` step, or an unknown byte order), or if records are so small that it costs as much as decoding, the engine
  finds the borders, without any column. If the engine does not cover the format, the file stays whole.
- `none`: a file is a record.
- `array`: a file is one JSON array, whose elements only reading from its start can find; it stays whole.

A compressed file stays whole, whatever its framing. With resync the engine finds the borders, whatever a header or a
length says. After a file header, the rest is split, and each part is read with the values of the header.

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
"""Bytes that are read of a file at once where heads are walked."""
HEADS = 20_000
"""Heads that are read of one file at most; what is after them stays one part."""
TRIAL = 50
"""Heads after which a walk that would not lead to the first border ends."""
LENGTHS = 4_000_000
"""Length prefixes that are read of one file at most."""
OPEN_COST = 1 << 20
"""What opening a file costs, in bytes that could be read meanwhile."""


class _HasSize(Protocol):
    @property
    def size(self) -> int:
        """Bytes."""


Sized = TypeVar("Sized", bound=_HasSize)
Share = Callable[[int], int]
"""About how many bytes a part or a group has, by how many are before it."""


def even(target: int) -> Share:
    """So many bytes, wherever it begins."""
    return lambda _: target


@dataclass(frozen=True, slots=True)
class Border:
    """A place where a record begins, and the number of that record in its file."""

    offset: int
    record: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file: from a border to the offset where the next part begins.

    In a part of lines both ends are anywhere, and the number of its first record is not known (null).
    """

    file: File
    start: int
    end: int
    record: int | None

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.start

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the file."""
        return self.start == 0 and self.end == self.file.size


@dataclass(frozen=True, slots=True)
class Heads:
    """What a walk over heads must know: how records are read."""

    codec: Codec
    root: Root
    settings: dict[str, ParameterValue]
    compression: str = AUTO
    resync: bool = False

    @property
    def largest(self) -> int:
        """Bytes of the largest record after which decoding goes on."""
        limit = self.root.size_limit(self.settings)
        return LARGEST - 1 if limit is None else min(limit, LARGEST - 1)

    @property
    def native(self) -> bool:
        """Whether the engine finds records, much faster than their heads can be walked."""
        name = next(name for name, each in self.codec.roots.items() if each is self.root)
        return self.codec.covers(Request(name, self.settings, ()))

    @property
    def tell(self) -> bool:
        """Whether the head of a record means the same with and without the rest: no alternatives that a cut decides."""
        return not isinstance(self.root.construct.subcon, Attempt)

    @property
    def of_one_order(self) -> bool:
        """Whether the size in a head is the size: where the byte order is to be found out, only the rest tells."""
        order = self.root.construct.order
        return order is None or self.settings[order.parameter] != "auto"

    def extent(self, window: bytes, position: int, *, complete: bool) -> int | None:
        """Bytes of the record at `position`, as far as its head in the window tells; None where it does not.

        `complete`: nothing is after the window. Raises DecodeError where no record can be found after this one.
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
    """The parts of a file, each of its share of bytes or more, and each as soon as its end is found.

    `numbered`: records are to be numbered, which lines are by reading them all; then a file of lines stays whole.
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
        yield whole  # whoever reads it says so
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
            yield from _parted(whole, _behind_header(source, file, named, heads, least), share)
        else:
            yield from _parted(whole, _walk(source, file.size, bare(named), heads, least), share)


def _anywhere(file: File, target: int) -> Iterator[Part]:
    count = -(-file.size // target)
    bounds = [file.size * place // count for place in range(count + 1)]
    for start, end in pairwise(bounds):
        yield Part(file, start, end, 0 if start == 0 else None)


def _behind_header(source: BinaryIO, file: File, framing: Headed, heads: Heads, target: int) -> Iterator[Border]:
    """Borders of the records after a header, which are read as it says; none where it is broken."""
    head = heads.codec.head(framing, source, heads.settings)
    if isinstance(head, Head):
        behind = cast(BinaryIO, Section(source, Part(file, head.size, file.size, 0)))
        heads = replace(heads, settings=dict(head.settings))
        for border in _walk(behind, file.size - head.size, framing.records, heads, target):
            yield replace(border, offset=border.offset + head.size)


def _walk(source: BinaryIO, size: int, framing: Bare, heads: Heads, target: int) -> Iterator[Border]:
    if heads.resync:  # then what a head or a length says may not be so, and only decoding goes the way of decoding
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
    """The parts in groups, in order, each of about its share of bytes; opening a file counts, too.

    A group that is full is there before anybody looks for the next part.
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


# --- walks ---------------------------------------------------------------------------------------------------------


def _lengths(source: BinaryIO, size: int, framing: Prefixed) -> Iterator[Border]:
    """Every border after the first record, by the lengths."""
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
    """Borders of records of one size."""
    records = max(target // width, 1)
    for record in range(records, -(-size // width), records):
        yield Border(record * width, record)


def _delimiters(source: BinaryIO, size: int, delimiter: bytes, target: int) -> Iterator[Border]:
    """A border after a delimiter for each `target` bytes; records are counted on the way."""
    held, position, record, wanted = b"", 0, 0, target
    while window := source.read(WINDOW):
        *found, held = (held + window).split(delimiter)
        record += sum(map(bool, found))
        position += sum(map(len, found)) + len(found) * len(delimiter)
        if found and wanted <= position < size:
            yield Border(position, record)
            wanted = position + target


def _scan(source: BinaryIO, framing: Bare, heads: Heads) -> Iterator[Border]:
    """A border for each window that the engine reads, without any column."""
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
        sound = not heads.resync or not part.raw[-1].is_valid  # a bad record's end may be told by what is after it


def _heads(source: BinaryIO, size: int, heads: Heads, target: int) -> Generator[Border, None, bool]:
    """Every border after the first record, by the heads of the records; whether that leads too slowly, or nowhere."""
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
    """A part of a file as a file of its own, for reading records."""

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
        """Always."""
        return True

    def tell(self) -> int:
        """Bytes from the start of the part."""
        return self._position - self._start

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go there, counted from the part's start (0), from here (1) or from its end (2)."""
        self._position = max(offset + (self._start, self._position, self._end)[whence], self._start)
        self._source.seek(self._position)
        return self.tell()


class Lines:
    """The lines that begin in a part; the last may end after it. `start` is where the first begins."""

    def __init__(self, source: BinaryIO, part: Part) -> None:
        self._source, self._end = source, part.end
        self._begins = True
        source.seek(max(part.start - 1, 0))
        if part.start:
            self._pass_line()
        self.start = self._position = source.tell()

    def read(self, size: int) -> bytes:
        """The next bytes of these lines."""
        left = self._end - self._position
        if left <= 0:
            return self.readline(size)
        data = self._source.read(min(size, left))
        self._position += len(data)
        self._begins = data.endswith(b"\n")
        return data

    def readline(self, size: int) -> bytes:
        """The next line, or so many bytes of it."""
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
    """The part as a file of records, and the offset where that begins in the file, or in what is compressed in it."""
    if part.is_whole:
        file = plain(source, part.file.place.open, part.file.path, bounds)
        if file is not source:
            return file, 0
    if framing == "lines":
        lines = Lines(source, part)
        return cast(BinaryIO, lines), lines.start
    return cast(BinaryIO, Section(source, part)), part.start
