"""The columns of a stream, part by part: a part is a window of bounded size, with the offset of each record.

If the engine covers the request, it finds the records itself, directly or by their sizes, and asks the parser about
each record that it gives up. Otherwise the stream is split as `iter_parse` splits it. In both cases records, offsets
and errors are those of `iter_parse`.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns.arrow import Decoded, View, decoded, error_of
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.engine import Engine, Path, Request
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.root import Root
from wireloom.runtime.streams import framed, lines
from wireloom.runtime.streams.budget import MADE, Budget, weight
from wireloom.runtime.streams.framed import Extent, Reader, Searching
from wireloom.runtime.streams.framing import Bare, Concatenated, Lines, Prefixed
from wireloom.runtime.streams.headers import Settings

if TYPE_CHECKING:
    from wireloom.runtime.engine.compiler.table import Followed, Table

WINDOW = 8 << 20
"""The most bytes of a stream to decode at once, unless one record has more; fewer if records expand."""
VALUES = 2_000
"""Records to decode at once with the construct parser."""
RECORDS = 50_000
"""Records to decode at once with the engine."""
FOLLOWED = Prefixed()
"""The length prefixes that the engine can follow by itself."""


class Format(Protocol):
    """The parts of a codec that the parts of a stream need."""

    @property
    def engine(self) -> Engine | None:
        """The native engine; None if the format has no layout for it."""

    def root(self, name: str | None) -> Root:
        """The root of that name."""

    def covers(self, request: Request) -> bool:
        """Whether the engine decodes this request."""

    def decode_path_of(self, request: Request) -> Path:
        """Whether the engine or the parser decodes a request."""

    def leading(self, array: pa.Array, request: Request, made: int) -> tuple[Decoded, int]:
        """The columns of the first records, up to about `made` bytes, and the number of those records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedPart(Decoded):
    """The columns of consecutive records of a stream, and their positions in it.

    `first` is the number of the first record; `offsets`, `sizes` (bytes, as in `Framed`) and `raw` have one entry per
    record. `raw` is null for a good record, else its bytes, at most `framed.KEPT` of them. `settings` are the
    parameters from a header; None if there is no header. With `rest`, the last record is bad and covers the rest of the
    stream, as the next record could not be located.
    """

    first: int
    offsets: pa.Int64Array
    sizes: pa.Int64Array
    raw: pa.BinaryArray
    settings: Settings | None = None
    rest: bool = False

    def between(self, start: int, stop: int) -> "DecodedPart":
        """The records from index `start` up to `stop` of the part."""
        first, last = (self._row(place) for place in (start, stop))
        return replace(
            self,
            first=self.first + start,
            records=self.records[first:last],
            errors=self.errors[first:last],
            parents=None if self.parents is None else pc.subtract(self.parents[first:last], start),
            offsets=self.offsets[start:stop],
            sizes=self.sizes[start:stop],
            raw=self.raw[start:stop],
            rest=self.rest and stop >= len(self.offsets),
        )

    def _row(self, place: int) -> int:
        """The first row of a record."""
        return place if self.parents is None else pc.sum(pc.less(self.parents, place)).as_py() or 0

    def refusals(self) -> dict[int, DecodeError]:
        """The error of each bad record, by its index in the part."""
        rows = pc.indices_nonzero(pc.is_valid(self.errors))
        places = rows if self.parents is None else self.parents.take(rows)
        errors = self.errors.take(rows).to_pylist()
        return {place: error_of(error) for place, error in zip(places.to_pylist(), errors, strict=True)}


@dataclass(frozen=True, slots=True)
class _Found:
    """A part, and the errors of its bad records by their indices; at least the first error."""

    part: DecodedPart
    errors: dict[int, DecodeError]


def parts(  # noqa: PLR0913 - the stream, and how to read it
    codec: Format,
    source: BinaryIO,
    reader: Reader,
    framing: Bare,
    request: Request,
    on_error: str,
    searching: Searching | None = None,
    base: int = 0,
) -> Iterator[DecodedPart]:
    """The parts of a stream; `base` is the offset of the source in it.

    `on_error` and `searching` as in `framed.iterate`.
    """
    reading = _Reading(codec, reader, request, Budget.of(WINDOW, made=MADE))
    return _given(reading.learning(reading.found_in(source, framing, searching)), on_error, base)


def lost(codec: Format, reader: Reader, extent: Extent, request: Request, on_error: str) -> Iterator[DecodedPart]:
    """The only part of a stream that is lost as a whole."""
    reading = _Reading(codec, reader, request, Budget.of(WINDOW, made=MADE))
    return _given(iter((reading.of_extents([extent], 0),)), on_error, 0)


def _given(founds: Iterator[_Found], on_error: str, base: int) -> Iterator[DecodedPart]:
    for found in founds:
        part = found.part if not base else replace(found.part, offsets=pc.add(found.part.offsets, base))
        if on_error == "skip" or not found.errors:
            yield part
            continue
        row = min(found.errors)
        if on_error == "stop":
            yield part.between(0, row + 1)
            return
        error = found.errors[row]
        error.record_index, error.record_offset = part.first + row, part.offsets[row].as_py()
        raise error


def _part(
    columns: Decoded, first: int, places: tuple[pa.Array, pa.Array], bad: Mapping[int, bytes], *, rest: bool = False
) -> DecodedPart:
    offsets, sizes = places
    raw = pa.nulls(len(offsets), pa.binary())
    if bad:
        raw = pa.array([bad.get(row) for row in range(len(offsets))], pa.binary())
    shown = {each.name: getattr(columns, each.name) for each in fields(Decoded)}
    return DecodedPart(**shown, first=first, offsets=offsets, sizes=sizes, raw=raw, rest=rest)


# --- with the parser, or one record at a time ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unread:
    """A reader that returns records as their bytes, for framings that tell where a record ends."""

    reader: Reader

    def read(self, cursor: Cursor) -> Any:
        """Never called."""
        raise NotImplementedError

    def read_all(self, data: bytes) -> bytes:
        """The bytes themselves."""
        return data

    def label(self, error: DecodeError) -> DecodeError:
        """As the wrapped reader."""
        return self.reader.label(error)

    def weight(self, value: Any) -> int:
        """As the wrapped reader."""
        return self.reader.weight(value)


def _chunks(
    extents: Iterator[Extent], most: int, budget: Budget, weigh: Callable[[Any], int] = weight
) -> Iterator[list[Extent]]:
    """Extents up to the last, in lists of at most `most`, each within the budget or just above it."""
    chunk: list[Extent] = []
    held = made = 0
    for extent in extents:
        chunk.append(extent)
        held += len(extent.data)
        made += weigh(extent.value)
        if extent.last:
            break
        if len(chunk) == most or held >= budget.bytes or made >= budget.made:
            yield chunk
            chunk, held, made = [], 0, 0
    if chunk:
        yield chunk


@dataclass(slots=True)
class _Reading:
    """How to read the records of a stream: the request, the reader, and the budget of bytes at once."""

    codec: Format
    reader: Reader
    request: Request
    budget: Budget

    def found_in(self, source: BinaryIO, framing: Bare, searching: Searching | None) -> Iterator[_Found]:
        """The parts of a stream."""
        table = None if self.codec.engine is None else self.codec.engine.program(self.request)
        if table is not None:
            given = (self.codec, self.reader, self.request, self.budget, table, framing, source, searching)
            if isinstance(framing, Concatenated):
                return _Concatenated(*given).found()
            if framing == FOLLOWED:
                return _Prefixed(*given).found()
            if isinstance(framing, Lines) and searching is None:
                return self._of_lines(source)
        if isinstance(framing, Concatenated) or searching is not None:
            return self._of_values(framed.extents(self.reader, source, framing, searching))
        return self._of_bytes(framed.extents(_Unread(self.reader), source, framing))

    def learning(self, parts: Iterator[_Found]) -> Iterator[_Found]:
        """The parts; their sizes adjust the budget."""
        for found in parts:
            self.budget.learned(pc.sum(found.part.sizes).as_py() or 0, found.part.records.nbytes)
            yield found

    def of_extents(self, extents: Sequence[Extent], first: int) -> _Found:
        """A part of records that were already read."""
        tabulation, request = self.codec.root(self.request.root).tabulation, self.request
        view = View(request.columns, request.explode, request.open_values)
        values, known = [extent.value for extent in extents], [extent.error for extent in extents]
        columns = decoded(values, known, tabulation, view, reason=self.codec.decode_path_of(request).reason)
        errors = {row: extent.error for row, extent in enumerate(extents) if extent.error is not None}
        bad, rest = {row: extents[row].data for row in errors}, extents[-1].last and extents[-1].error is not None
        return _Found(_part(columns, first, _places(extents), bad, rest=rest), errors)

    def _of_values(self, extents: Iterator[Extent]) -> Iterator[_Found]:
        first = 0
        for chunk in _chunks(extents, VALUES, self.budget, self.reader.weight):
            yield self.of_extents(chunk, first)
            first += len(chunk)

    def _of_lines(self, source: BinaryIO) -> Iterator[_Found]:
        """Lines, one window at a time."""
        first = 0
        for found in lines.windows(_Unread(self.reader), source, self.budget):
            if isinstance(found, Extent):
                made: Iterator[_Found] = iter((self.of_extents([found], first),))
            else:
                made = self._together(found.data, found.places, first)
            for part in made:
                yield part
                first += len(part.part.offsets)

    def _of_bytes(self, extents: Iterator[Extent]) -> Iterator[_Found]:
        """Records whose values are their bytes; they are decoded together."""
        first = 0
        for chunk in _chunks(extents, RECORDS if self.codec.covers(self.request) else VALUES, self.budget):
            for known, group in groupby(chunk, lambda extent: extent.error is not None):
                found = list(group)
                if known:
                    yield self.of_extents(found, first)
                else:
                    records = pa.array([extent.value for extent in found], pa.binary())
                    yield from self._together(records, _places(found), first)
                first += len(found)

    def _together(self, records: pa.Array, places: tuple[pa.Array, pa.Array], first: int) -> Iterator[_Found]:
        """Records that are not read yet, in as many parts as the budget requires."""
        start = 0
        while start < len(records):
            columns, count = self.codec.leading(records[start:], self.request, self.budget.made)
            some = records[start : start + count]
            offsets, sizes = (place[start : start + count] for place in places)
            yield self._judged(columns, some, (offsets, sizes), first + start)
            start += count

    def _judged(self, columns: Decoded, records: pa.Array, places: tuple[pa.Array, pa.Array], first: int) -> _Found:
        """The columns, with the bytes of bad records, and the error of the first one."""
        failed = pc.indices_nonzero(pc.is_valid(columns.errors))
        rows = (failed if columns.parents is None else columns.parents.take(failed)).to_pylist()
        bad = {row: records[row].as_py()[: framed.KEPT] for row in rows}
        errors = {row: error for row in rows[:1] if (error := framed.one(self.reader, 0, records[row].as_py()).error)}
        return _Found(_part(columns, first, places, bad), errors)


def _places(extents: Sequence[Extent]) -> tuple[pa.Array, pa.Array]:
    return (
        pa.array([extent.offset for extent in extents], pa.int64()),
        pa.array([extent.size for extent in extents], pa.int64()),
    )


# --- with the engine -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Window(_Reading):
    """The bytes held of a stream while the engine reads it: `data` begins at `base`, and `more` may follow."""

    table: "Table"
    framing: Any  # the framing of the subclass
    file: BinaryIO
    searching: Searching | None = None
    data: bytes = b""
    base: int = 0
    more: bool = True
    ended: bool = False
    first: int = 0  # the number of the next record
    asked: dict[int, Extent] = field(default_factory=dict)  # records that the parser read, by row of the current batch

    def found(self) -> Iterator[_Found]:
        """The parts of the stream."""
        position, full = 0, False
        while not self.ended:
            if not full:
                yield from self.advanced(position)
                position = 0
            if not self.ended:
                followed = self.read(position)
                position, full = followed.end, followed.full
                if len(followed.starts):
                    yield from self.parts(followed)

    def advanced(self, position: int) -> Iterator[_Found]:
        """Drop the bytes before `position` and read on; yields records that the engine cannot take."""
        raise NotImplementedError

    def read(self, position: int) -> "Followed":
        """The records in the window from `position` on; see `Table.follow`."""
        ask = self.asking()
        prefixed = isinstance(self.framing, Prefixed)
        bounds = {"largest": framed.LARGEST, "ahead": framed.AHEAD if self.more else 0, "made": self.budget.made}
        return self.table.follow(self.data, position, ask, self.request, prefixed=prefixed, **bounds)

    def asking(self) -> Callable[[int, int, int], int]:
        """A function of row, position and size: the end of a record that the engine gave up; -1 if more is needed."""
        raise NotImplementedError

    def load(self, position: int, count: int) -> None:
        """Drop the bytes before `position`, and read up to `count` bytes more."""
        held, self.data, self.base = self.data[position:], b"", self.base + position
        self.data = framed.read_exactly(self.file, count, held)
        self.more = self.more and (count <= 0 or len(self.data) > len(held))

    def alone(self, extent: Extent) -> _Found:
        """A part of one record."""
        self.ended = extent.last
        found = self.of_extents([extent], self.first)
        self.first += 1
        return found

    def parts(self, followed: "Followed") -> Iterator[_Found]:
        """The records that were read, in parts."""
        records = self.table.records(followed.batch)
        for row in self.table.excessive(records):
            start, size = (each[row].as_py() for each in (followed.starts, followed.sizes))
            self.asked[row] = framed.one(self.reader, self.base + start, self.data[start : start + size])
        asked, self.asked = self.asked, {}
        errors = {row: extent.error for row, extent in asked.items() if extent.error is not None}
        accepted = {row: asked[row].value for row in asked.keys() - errors.keys()}
        sizes = followed.sizes
        if asked:  # the engine cannot know the size of a rest beyond the window
            known = sizes.to_pylist()
            sizes = pa.array([asked[row].size if row in asked else size for row, size in enumerate(known)], pa.int64())
        offsets = pc.add(followed.starts, pa.scalar(self.base, pa.int64()))
        bad_rows = sorted(errors)
        for first, last, columns in self.table.parts(records, errors, accepted, self.budget.made):
            some = bad_rows[bisect_left(bad_rows, first) : bisect_left(bad_rows, last)]
            own = {row - first: errors[row] for row in some}
            bad = {row: asked[first + row].data for row in own}
            rest = last - 1 in errors and asked[last - 1].last
            yield _Found(_part(columns, self.first, (offsets[first:last], sizes[first:last]), bad, rest=rest), own)
            self.first += last - first


class _Concatenated(_Window):
    """Concatenated records. The window grows until it holds a whole record."""

    __slots__ = ()

    def advanced(self, position: int) -> Iterator[_Found]:
        """Read on."""
        held = len(self.data) - position
        self.load(position, min(max(self.budget.bytes, held), framed.LARGEST - held))
        self.ended = not self.data
        return iter(())

    def asking(self) -> Callable[[int, int, int], int]:
        """The parser's `_end_of`."""
        return partial(self._end_of, Cursor(self.data))

    def _end_of(self, cursor: Cursor, row: int, start: int, _: int) -> int:
        """The end of a record that the engine gave up; -1 if more of the stream is needed to tell."""
        cursor.seek(start)
        extent = framed.next_record(self.reader, cursor, self.data, self.base, start, more=self.more)
        incomplete = extent.error is not None and extent.error.cut_off
        if self.more and incomplete and len(self.data) - start < framed.LARGEST:
            return -1
        if self.searching is not None and extent.error is not None:
            found = self.searching.settled(self.data, self.base, start, start, extent, more=self.more)
            if found is None:
                return -1
            extent = found
        end, self.ended = start + extent.size, extent.last
        if extent.last and self.more:
            extent = framed.rest(self.reader, self.file, extent, self.data[start:], large=incomplete)
        self.asked[row] = extent
        return end


class _Prefixed(_Window):
    """Records after their sizes."""

    __slots__ = ()

    def advanced(self, position: int) -> Iterator[_Found]:
        """Read on until the first record is complete; yields it alone if that is impossible."""
        self.load(position, self.budget.bytes)
        width, size = self.framing.measured(self.data) or (len(self.data), -1)
        if 0 <= size <= framed.LARGEST:
            self.load(0, width + size - len(self.data))
            if len(self.data) >= width + size:
                return
        self.ended = not self.data
        if self.data:
            yield self.alone(self._refused() if self.searching is None else self._searched(self.searching, width, size))

    def asking(self) -> Callable[[int, int, int], int]:
        """The parser's `_end_of` for one record."""
        return self._end_of

    def _end_of(self, row: int, start: int, size: int) -> int:
        extent = framed.one(self.reader, self.base + start, self.data[start : start + size])
        if self.searching is not None and extent.error is not None:
            position = start - self.framing.width
            found = self.searching.settled(self.data, self.base, position, start, extent, more=self.more)
            if found is None:
                return -1
            extent = found
        self.asked[row] = extent
        return start + extent.size

    def _searched(self, searching: Searching, width: int, size: int) -> Extent:
        """The first record, extended to where the stream continues."""
        available = len(self.data) - width
        wanted = f"{size} bytes after the length prefix"
        lost = framed.broken_off(self.reader, self.base + width, available, b"", wanted, available)
        while (found := searching.settled(self.data, self.base, 0, width, lost, more=self.more)) is None:
            self.load(0, WINDOW)
        end = width + found.size
        self.data, self.base = self.data[end:], self.base + end
        return found

    def _refused(self) -> Extent:
        """The first record, which is cut off, too large or without a valid size; the window then begins after it."""
        self.file = framed.given_back(self.file, self.data)
        extent = next(framed.extents(self.reader, self.file, self.framing))
        base, self.data = self.base, b""
        self.base = base + extent.offset + extent.size
        return replace(extent, offset=base + extent.offset)
