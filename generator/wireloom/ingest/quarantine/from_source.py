"""Reads bytes that a quarantine row lacks from the original file, at the offset in the row.

If the record was escaped in the file, the row has and counts its unescaped bytes; the file is then read up to the
delimiter.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, cast

import pyarrow as pa

from wireloom.catalog import FormatModule
from wireloom.failures import MisuseError
from wireloom.ingest.files.compression import Unpacked, plain
from wireloom.ingest.files.finding import File, looked_up
from wireloom.ingest.files.ranges import Part, Section
from wireloom.ingest.files.reading import ALL, Missing, bounds, unreadable
from wireloom.ingest.files.values import DATA, decoded
from wireloom.ingest.plan import DECOMPRESSION, EXPANSION, OFFSET, OTHER, SOURCE, Plan
from wireloom.ingest.quarantine.framed_values import places, stream_chunks
from wireloom.ingest.tables.splitting import Chunk
from wireloom.runtime.streams.delimiters import first
from wireloom.runtime.streams.elements import Limits
from wireloom.runtime.streams.framed import KEPT, LARGEST, read_exactly
from wireloom.runtime.streams.framing import Delimited, Stuffed, bare, framing_of

COMPARED = 1 << 20
"""Bytes that are compared at once."""


@dataclass(frozen=True, slots=True)
class Lost:
    """An incomplete row of the quarantine: its bytes, the full size, and the place in the file."""

    file: File
    offset: int
    size: int
    raw: bytes
    code: str

    @classmethod
    def of(cls, row: pa.RecordBatch) -> "Lost | None":
        """The row of a batch of one; None if its file or place is unknown."""
        found = row.to_pylist()[0]
        if found.get(SOURCE) is None or found.get(OFFSET) is None or found["code"] == OTHER:
            return None
        try:
            file = looked_up(found[SOURCE])
        except MisuseError:
            return None
        return cls(file, found[OFFSET], found["raw_size"], found["raw"] or b"", found["code"])

    @property
    def is_open_ended(self) -> bool:
        """Whether everything after the offset in a compressed file was lost."""
        return self.code in (DECOMPRESSION, EXPANSION)

    def is_there(self, plan: Plan) -> bool:
        """Whether the file still has the known bytes at the offset."""
        try:
            with self.file.place.open() as source, self.unpacked(source, plan) as stream:
                stream.seek(self.offset)
                parts = (self.raw[at : at + COMPARED] for at in range(0, len(self.raw), COMPARED))
                return all(stream.read(len(part)) == part for part in parts)
        except OSError:
            return False

    def unescaped(self, plan: Plan) -> bytes | None:
        """The complete record, if it is escaped in the file; None if not, or if the file has changed."""
        framing = bare(framing_of(plan.taken or "none"))
        if not isinstance(framing, Stuffed) and not (isinstance(framing, Delimited) and framing.escape):
            return None
        try:
            with self.file.place.open() as source, self.unpacked(source, plan) as stream:
                stream.seek(self.offset)
                found = first(partial(read_exactly, stream), framing, Limits(LARGEST, KEPT))
        except OSError:
            return None
        return found if found and len(found) == self.size and found.startswith(self.raw) else None

    def unpacked(self, source: BinaryIO, plan: Plan) -> "BinaryIO | Unpacked":
        """The file, or its decompressed content."""
        return plain(source, self.file.place.open, self.file.path, bounds(plan))


def source_chunks(plan: Plan, module: FormatModule, lost: Lost, place: pa.RecordBatch) -> Iterator[Chunk]:
    """The records of a row whose bytes are in the file."""
    with lost.file.place.open() as source, lost.unpacked(source, plan) as stream:
        end = stream.seek(0, io.SEEK_END) if lost.is_open_ended else lost.offset + lost.size
        section = cast(BinaryIO, Section(stream, Part(lost.file, lost.offset, end, 0)))
        count = 0
        if plan.framing in (None, "none"):
            data = pa.array([section.read(LARGEST)], pa.binary())
            yield decoded(plan, module, place.append_column(DATA, data))
            count = 1
        else:
            for chunk in stream_chunks(plan, module, place, section):
                count += len(chunk.sizes)
                yield chunk
        if isinstance(stream, Unpacked) and stream.failure is not None:
            missing = Missing(count, stream.reached - lost.offset, max(lost.file.size - stream.consumed, 1))
            found = unreadable(plan, module, ALL, stream.failure, missing)
            yield Chunk(found, found.raw, found.sizes, places(place, found))
