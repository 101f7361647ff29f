"""Decodes the values of a binary column as records: Arrow in, Arrow out, no Python object for each record.

A batch has the column DATA, and columns that say where each value came from, which are copied to both tables. At most
CHUNK_RECORDS values or CHUNK_BYTES bytes (or one value) are decoded at once, fewer if they expand.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.ingest.files.reading import keywords
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import QUARANTINE, RECORDS, Plan
from wireloom.ingest.tables.schemas import bad_type, row_type
from wireloom.ingest.tables.splitting import Chunk, Parted, parted
from wireloom.runtime.columns.arrow import Decoded
from wireloom.runtime.streams.budget import FIRST, MADE, Budget

DATA = "data"
CHUNK_RECORDS = 20_000
CHUNK_BYTES = 8 << 20
FIRST_BYTES = FIRST
MADE_BYTES = MADE


def values_of(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[Parted]:
    """The records of batches of (place columns, DATA)."""
    module = open_module(plan)
    budget = Budget.of(CHUNK_BYTES, FIRST_BYTES, MADE_BYTES)
    for batch in batches:
        sizes = pc.fill_null(pc.cast(pc.binary_length(batch[DATA]), pa.int64()), 0)
        start = 0
        while start < len(batch):
            chunk = leading(plan, module, batch.slice(start, _fitting(sizes, start, budget.bytes)), budget.made)
            made = parted(plan, chunk)
            budget.learned(pc.sum(chunk.sizes).as_py() or 0, made.rows.nbytes)
            yield made
            start += len(chunk.sizes)


def _fitting(sizes: pa.Int64Array, start: int, budget: int) -> int:
    """How many values from `start` are decoded at once: as many as fit into `budget` bytes, at least one."""
    some = sizes.slice(start, CHUNK_RECORDS)
    if (pc.sum(some).as_py() or 0) <= budget:
        return len(some)
    within = pc.sum(pc.less_equal(pc.cumulative_sum(some), budget)).as_py()
    return max(int(within), 1)


def decoded(plan: Plan, module: FormatModule, batch: pa.RecordBatch) -> Chunk:
    """Decode the values of a batch, each as one record."""
    return _chunk(module.CODEC.decode(batch[DATA], None, on_error="null", **keywords(plan)), batch)


def leading(plan: Plan, module: FormatModule, batch: pa.RecordBatch, made: int) -> Chunk:
    """Decode the first values of a batch, until their columns reach about `made` bytes."""
    found, count = module.CODEC.decode_leading(batch[DATA], made, **keywords(plan))
    return _chunk(found, batch.slice(0, count))


def _chunk(found: Decoded, batch: pa.RecordBatch) -> Chunk:
    data = batch[DATA]
    return Chunk(found, data, pc.cast(pc.binary_length(data), pa.int64()), batch.drop_columns([DATA]))


def table_types(plan: Plan, place: pa.Schema) -> dict[str, pa.StructType]:
    """The types of the rows of both tables, with the given place columns."""
    return {RECORDS: row_type(flat_type(plan), place), QUARANTINE: bad_type(place)}


def flat_type(plan: Plan) -> pa.StructType:
    """The type of decoded rows, with all columns of the format."""
    none = pa.RecordBatch.from_pylist([], pa.schema([pa.field(DATA, pa.binary())]))
    return decoded(plan, open_module(plan), none).found.records.type
