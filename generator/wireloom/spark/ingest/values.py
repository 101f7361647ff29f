"""Values of a binary column to staged rows, on the executors: Arrow in, Arrow out, no Python object for each record.

A batch has the column DATA and, beside it, whatever says where each value came from; those columns go along to either
table. At most CHUNK_RECORDS values or CHUNK_BYTES bytes (or one value) are decoded at once.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.spark.ingest.executor import open_module
from wireloom.spark.ingest.plan import Plan
from wireloom.spark.ingest.staging import Chunk, spans, staged_batches

DATA = "data"
CHUNK_RECORDS = 2_000
CHUNK_BYTES = 8 << 20


def decode_values(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over (place columns, DATA): every value of the column."""
    module = open_module(plan)
    for batch in batches:
        sizes = pc.fill_null(pc.cast(pc.binary_length(batch[DATA]), pa.int64()), 0)
        for start, stop in spans(sizes.to_pylist(), CHUNK_RECORDS, CHUNK_BYTES):
            yield from staged_batches(plan, decoded(plan, module, batch.slice(start, stop - start)))


def decoded(plan: Plan, module: FormatModule, batch: pa.RecordBatch) -> Chunk:
    """The values of a batch, each as one record."""
    data, place = batch[DATA], batch.drop_columns([DATA])
    found = module.CODEC.decode(
        data, None, root=plan.root, explode=True, on_error="null", open_values="variant", **dict(plan.parameters)
    )
    return Chunk(found, data, pc.cast(pc.binary_length(data), pa.int64()), place)
