"""Values of a binary column to staged rows, on the executors: Arrow in, Arrow out, no Python object for each record.

A batch has the column DATA and, beside it, whatever says where each value came from; those columns go along to either
table. Bounds as in `executor`: at most CHUNK_RECORDS values or CHUNK_BYTES bytes (or one value) are decoded at once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.runtime.columns import ERROR, Decoded
from wireloom.runtime.streams import KEPT
from wireloom.spark.executor import BATCH_BYTES, BATCH_ROWS, CHUNK_BYTES, CHUNK_RECORDS, open_module
from wireloom.spark.plan import NO_DATA, Plan, counts
from wireloom.spark.tables import TALLY, Staged, staged

DATA = "data"


def decode_values(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over (place columns, DATA): every value of the column."""
    module = open_module(plan)
    for batch in batches:
        sizes = pc.fill_null(pc.cast(pc.binary_length(batch[DATA]), pa.int64()), 0)
        for start, stop in _bounded(sizes.to_pylist(), CHUNK_RECORDS, CHUNK_BYTES):
            yield from _decoded(plan, module, batch.slice(start, stop - start))


def _bounded(sizes: Iterable[int], most: int, room: int) -> Iterator[tuple[int, int]]:
    """Spans of at most `most` values, and of at most `room` bytes but for a value on its own."""
    cuts, held, last = [0], 0, 0
    for last, size in enumerate(sizes, 1):
        if last - 1 > cuts[-1] and (last - 1 - cuts[-1] >= most or held + size > room):
            cuts.append(last - 1)
            held = 0
        held += size
    return pairwise([*cuts, last] if last else cuts)


def _decoded(plan: Plan, module: FormatModule, chunk: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    data, place = chunk[DATA], chunk.drop_columns([DATA])
    found = module.CODEC.decode(
        data, None, root=plan.root, explode=True, on_error="null", open_values="variant", **dict(plan.parameters)
    )
    types = staged(cast(pa.StructType, found.records.type), place.schema)
    rows, refused = _rows(types, found, data, place), _refused(found, data)
    keep = pc.invert(pc.is_in(refused.codes, pa.array(plan.drop, pa.string())))
    bad = _quarantined(plan, types, refused.where(keep), data, place)
    for start in range(0, len(rows), BATCH_ROWS):
        yield types.batch("row", rows.slice(start, BATCH_ROWS))
    for start, stop in _bounded(_sizes(bad), BATCH_ROWS, BATCH_BYTES):
        yield types.batch("bad", bad.slice(start, stop - start))
    tally = {
        "records": len(chunk),
        "size": pc.sum(pc.binary_length(data)).as_py() or 0,
        "decoded": len(chunk) - len(refused.errors),
        "rows": len(rows),
        "dropped": counts((code, 1) for code in refused.where(pc.invert(keep)).codes.to_pylist()),
    }
    yield types.batch("tally", pa.array([tally], TALLY))


def _sizes(bad: pa.StructArray) -> list[int]:
    return cast(list[int], pc.fill_null(pc.binary_length(bad.field("raw")), 0).to_pylist())


def _parents(found: Decoded) -> pa.Array:
    return found.parents if found.parents is not None else pa.array(range(len(found.records)), pa.int32())


def _rows(types: Staged, found: Decoded, data: pa.Array, place: pa.RecordBatch) -> pa.StructArray:
    """The rows of the values that are right, each with its place."""
    parents = _parents(found)
    right = pc.and_(pc.is_null(found.errors), data.is_valid().take(parents))
    records, sources = found.records.filter(right), parents.filter(right)
    children = [*records.flatten(), *(column.take(sources) for column in place.columns)]
    return pa.StructArray.from_arrays(children, fields=list(types.row))


@dataclass(frozen=True, slots=True)
class Refused:
    """Values that are not right: their places in the chunk, and their errors."""

    parents: pa.Array
    errors: pa.StructArray

    @property
    def codes(self) -> pa.Array:
        """The error codes."""
        return self.errors.field("code")

    def where(self, mask: pa.Array) -> "Refused":
        """Those that the mask holds for."""
        return Refused(self.parents.filter(mask), self.errors.filter(mask))


def _refused(found: Decoded, data: pa.Array) -> Refused:
    """Those that the decoder refused, and nulls, which no decoder sees."""
    wrong = pc.is_valid(found.errors)
    nulls = pc.indices_nonzero(data.is_null()).cast(pa.int32())
    no_data = {"code": NO_DATA, "path": "", "offset": 0, "expected": "bytes", "actual": "null"}
    errors = [found.errors.filter(wrong), pa.array([no_data] * len(nulls), ERROR)]
    return Refused(pa.concat_arrays([_parents(found).filter(wrong), nulls]), pa.concat_arrays(errors))


def _quarantined(plan: Plan, types: Staged, refused: Refused, data: pa.Array, place: pa.RecordBatch) -> pa.StructArray:
    raw, count = data.take(refused.parents), len(refused.parents)
    size = pc.cast(pc.binary_length(raw), pa.int64())
    if (pc.max(size).as_py() or 0) > KEPT:
        raw = pa.array([value.as_buffer()[:KEPT] if value.is_valid else None for value in raw], pa.binary())
    children = [
        raw,
        size,
        *refused.errors.flatten(),
        pa.array([plan.format] * count, pa.string()),
        pa.array([plan.digest] * count, pa.string()),
        *(column.take(refused.parents) for column in place.columns),
    ]
    return pa.StructArray.from_arrays(children, fields=list(types.bad))
