"""Decodes the records of whole files, or of parts of files that begin and end at records.

A stream of any length is read in pieces with limited memory: one window, sized by the windows before it, is decoded at
once. At most KEPT bytes of a bad record go to the quarantine, and `tables/parquet_files` limits the size of a row
group.
"""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.ingest.files.compression import HEAD, compression_of, plain
from wireloom.ingest.files.finding import FileChangedError, looked_up, unchanged
from wireloom.ingest.files.ranges import Part
from wireloom.ingest.files.reading import ALL, bounds, part_records, records_in
from wireloom.ingest.files.values import DATA, leading
from wireloom.ingest.job.diagnosis import during
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import AUTO, Plan, Remainders
from wireloom.ingest.tables.schemas import FILE_PLACE
from wireloom.ingest.tables.splitting import Chunk, Parted, parted
from wireloom.runtime.streams.budget import MADE, Budget
from wireloom.runtime.streams.parts import DecodedPart

SMALL = 1 << 18
"""Most bytes of a file that is one record and is decoded together with others."""
TOGETHER = 8 << 20
"""Most bytes of such files that are decoded at once; fewer if they expand."""


def files_of(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[Parted]:
    """All records of all files in batches of (path, content); a path without content is opened here."""
    module = open_module(plan)
    for batch in batches:
        for path, content in zip(batch["path"].to_pylist(), batch["content"], strict=True):
            if content.is_valid:
                yield from _of_content(plan, module, path, content)
            else:
                file = looked_up(path)
                yield from _of_part(plan, module, Part(file, 0, file.size, 0), path)


def ranges_of(plan: Plan, ranges: Iterable[Part]) -> Iterator[Parted]:
    """All records of parts of files; raises DataError if a file changed since it was listed."""
    module = open_module(plan)
    framing = plan.framing or module.CODEC.framing
    small = _Small(plan, module)
    for part in ranges:
        content = small.content(part) if framing == "none" and part.size <= SMALL else None
        if content is None:
            yield from _of_part(plan, module, part, part.file.path)
        else:
            yield from small.added(part.file.path, content)
    yield from small.rest()


# --- where records come from ---------------------------------------------------------------------------------------


class Origin:
    """The file of records, and the number and offset that the first one has in it."""

    def __init__(self, path: str, record: int = 0, offset: int = 0) -> None:
        self._path, self._record, self._offset = pa.array([path]), record, offset

    def rest(self, part: DecodedPart) -> Remainders:
        """The end of the file that the decoder gave up."""
        if not part.rest:
            return ()
        last = len(part.offsets) - 1
        offset = self._offset + part.offsets[last].as_py()
        return ((self._path[0].as_py(), self._record + part.first + last, offset, part.sizes[last].as_py()),)

    def place(self, part: DecodedPart) -> pa.RecordBatch:
        """The file, number and offset of each record of a part."""
        count = len(part.offsets)
        sources = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), self._path)
        first = self._record + part.first
        offsets = pc.add(part.offsets, self._offset) if self._offset else part.offsets
        return _placed(sources, pa.arange(first, first + count), offsets)


def _placed(sources: pa.Array, numbers: pa.Array, offsets: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([sources, numbers, offsets], schema=FILE_PLACE)


def _of_part(plan: Plan, module: FormatModule, part: Part, path: str) -> Iterator[Parted]:
    """The records of a part of a file; `path` is the file's name in the tables."""
    with during(path):
        for found, start in part_records(plan, module, part):
            yield _parted(plan, found, Origin(path, part.record or 0, start))


def _of_content(plan: Plan, module: FormatModule, path: str, content: pa.BinaryScalar) -> Iterator[Parted]:
    """The records of a file whose content was already read."""
    data = content.as_buffer()

    def again() -> io.BytesIO:
        return io.BytesIO(data)

    file = plain(again(), again, path, bounds(plan))
    for found in records_in(plan, module, file, ALL, len(data)):
        yield _parted(plan, found, Origin(path))


def _parted(plan: Plan, found: DecodedPart, origin: Origin) -> Parted:
    made = parted(plan, Chunk(found, found.raw, found.sizes, origin.place(found)))
    if not found.rest or (plan.framing or open_module(plan).CODEC.framing) == "none":
        return made
    return replace(made, tally=replace(made.tally, given_up=origin.rest(found)))


class _Small:
    """Small files of one record each, which are decoded together."""

    def __init__(self, plan: Plan, module: FormatModule) -> None:
        self._plan, self._module = plan, module
        self._paths: list[str] = []
        self._contents: list[bytes] = []
        self._size = 0
        self._budget = Budget.of(TOGETHER, made=MADE)

    def content(self, part: Part) -> bytes | None:
        """The content of a file; None if it must be read alone because it is compressed, missing or changed."""
        try:
            with unchanged(part.file).place.open() as source:
                data = source.read()
        except (FileChangedError, FileNotFoundError):
            return None
        packed = self._plan.compression == AUTO and compression_of(data[:HEAD], part.file.path) is not None
        return None if packed or len(data) != part.size else data

    def added(self, path: str, content: bytes) -> Iterator[Parted]:
        """Add a file; yields records if enough files were collected."""
        self._paths.append(path)
        self._contents.append(content)
        self._size += len(content)
        if self._size >= self._budget.bytes:
            yield from self.rest()

    def rest(self) -> Iterator[Parted]:
        """Decode the remaining files."""
        if not self._paths:
            return
        zeros = pa.repeat(pa.scalar(0, pa.int64()), len(self._paths))
        place = _placed(pa.array(self._paths).dictionary_encode(), zeros, zeros)
        batch = place.append_column(DATA, pa.array(self._contents, pa.binary()))
        self._paths, self._contents, self._size = [], [], 0
        while len(batch):
            chunk = leading(self._plan, self._module, batch, self._budget.made)
            made = parted(self._plan, chunk)
            self._budget.learned(pc.sum(chunk.sizes).as_py() or 0, made.rows.nbytes)
            yield made
            batch = batch.slice(len(chunk.sizes))
