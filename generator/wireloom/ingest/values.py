"""Values of a binary column, each a record: Arrow in, Arrow out, no Python object for each record.

A batch has the column DATA and, beside it, whatever says where each value came from; those columns go along to either
table. At most CHUNK_RECORDS values or CHUNK_BYTES bytes (or one value) are decoded at once.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.ingest.modules import open_module
from wireloom.ingest.plan import QUARANTINE, RECORDS, Plan
from wireloom.ingest.reading import keywords
from wireloom.ingest.staging import Chunk, Parted, parted, spans
from wireloom.ingest.tables import bad_type, row_type

DATA = "data"
CHUNK_RECORDS = 20_000
CHUNK_BYTES = 8 << 20


def values_of(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[Parted]:
    """The records of batches of (place columns, DATA)."""
    module = open_module(plan)
    for batch in batches:
        sizes = pc.fill_null(pc.cast(pc.binary_length(batch[DATA]), pa.int64()), 0)
        for start, stop in _spans(sizes):
            yield parted(plan, decoded(plan, module, batch.slice(start, stop - start)))


def _spans(sizes: pa.Int64Array) -> Iterable[tuple[int, int]]:
    if len(sizes) <= CHUNK_RECORDS and (pc.sum(sizes).as_py() or 0) <= CHUNK_BYTES:
        return [(0, len(sizes))] if len(sizes) else []
    return spans(sizes.to_pylist(), CHUNK_RECORDS, CHUNK_BYTES)


def decoded(plan: Plan, module: FormatModule, batch: pa.RecordBatch) -> Chunk:
    """The values of a batch, each as one record."""
    data, place = batch[DATA], batch.drop_columns([DATA])
    found = module.CODEC.decode(data, None, on_error="null", **keywords(plan))
    return Chunk(found, data, pc.cast(pc.binary_length(data), pa.int64()), place)


def table_types(plan: Plan, place: pa.Schema) -> dict[str, pa.StructType]:
    """The types of the rows of both tables, where records come with these place columns."""
    data = pa.field(DATA, pa.binary())
    none = pa.RecordBatch.from_pylist([], pa.schema([*place, data]))
    found = decoded(plan, open_module(plan), none).found
    return {RECORDS: row_type(found.records.type, place), QUARANTINE: bad_type(place)}
