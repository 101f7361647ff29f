"""Decodes values that may each hold several framed records: the rest of a file whose framing was broken."""

import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.ingest.files.reading import stream_parts
from wireloom.ingest.files.values import DATA, decoded
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import OFFSET, RECORD, Plan
from wireloom.ingest.tables.splitting import Chunk, Parted, parted
from wireloom.runtime.streams.framing import Headed, framing_of
from wireloom.runtime.streams.parts import DecodedPart


def framed_of(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[Parted]:
    """All records in all values of batches of (place columns, DATA)."""
    module = open_module(plan)
    for batch in batches:
        for row in range(len(batch)):
            for chunk in _chunks(plan, module, batch.slice(row, 1)):
                yield parted(plan, chunk)


def _chunks(plan: Plan, module: FormatModule, row: pa.RecordBatch) -> Iterator[Chunk]:
    """The records of one value. A value without any is a record itself, unless it is only a header."""
    found = False
    value = row[DATA][0]
    file = io.BytesIO(value.as_buffer() if value.is_valid else b"")
    for chunk in stream_chunks(plan, module, row.drop_columns([DATA]), file):
        found = True
        yield chunk
    if not found and not isinstance(framing_of(plan.framing or "none"), Headed):
        yield decoded(plan, module, row)


def stream_chunks(plan: Plan, module: FormatModule, place: pa.RecordBatch, file: BinaryIO) -> Iterator[Chunk]:
    """The records of a stream that starts at one place."""
    for part in stream_parts(plan, module, file):
        if len(part.sizes):
            yield Chunk(part, part.raw, part.sizes, places(place, part))


def places(place: pa.RecordBatch, part: DecodedPart) -> pa.RecordBatch:
    """The place of each record: that of the value, plus the offset in it."""
    count = len(part.offsets)
    found = place.take(pa.array([0] * count, pa.int64()))
    relative = {RECORD: pa.array(range(part.first, part.first + count), pa.int64()), OFFSET: part.offsets}
    columns = [
        pc.add(column, relative[name]) if name in relative else column
        for name, column in zip(found.schema.names, found.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=found.schema)
