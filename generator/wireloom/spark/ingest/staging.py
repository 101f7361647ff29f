"""Decoded records to staged rows: those that are right, those that are bad, and a tally, each in bounded batches.

No Python object for each record: where a record came from, its bytes and its errors are Arrow columns throughout. At
most BATCH_ROWS rows or, of bad records, BATCH_BYTES raw bytes leave in one batch, far below Arrow's limit of 2 GiB in
one column.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns.arrow import ERROR, Decoded
from wireloom.runtime.streams.framed import KEPT
from wireloom.spark.ingest.plan import NO_DATA, Plan, counts
from wireloom.spark.ingest.tables import TALLY, Staged, staged

BATCH_ROWS = 10_000
BATCH_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """Decoded records, and of each: bytes (of bad ones at least), size in its source, and where it came from.

    A record whose size is null is one that is not there.
    """

    found: Decoded
    raw: pa.Array
    sizes: pa.Int64Array
    place: pa.RecordBatch

    @property
    def parents(self) -> pa.Array:
        """The record of each row."""
        found = self.found
        return found.parents if found.parents is not None else pa.array(range(len(found.records)), pa.int32())


def staged_batches(plan: Plan, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """The staged rows of a chunk."""
    types = staged(cast(pa.StructType, chunk.found.records.type), chunk.place.schema)
    rows, refused = _rows(types, chunk), _refused(chunk)
    keep = pc.invert(pc.is_in(refused.codes, pa.array(plan.drop, pa.string())))
    bad = _quarantined(plan, types, refused.where(keep), chunk)
    for start in range(0, len(rows), BATCH_ROWS):
        yield types.batch("row", rows.slice(start, BATCH_ROWS))
    for start, stop in spans(_raw_sizes(bad), BATCH_ROWS, BATCH_BYTES):
        yield types.batch("bad", bad.slice(start, stop - start))
    tally = {
        "records": len(chunk.sizes),
        "size": pc.sum(chunk.sizes).as_py() or 0,
        "decoded": len(chunk.sizes) - len(refused.errors),
        "rows": len(rows),
        "dropped": counts((code, 1) for code in refused.where(pc.invert(keep)).codes.to_pylist()),
    }
    yield types.batch("tally", pa.array([tally], TALLY))


def spans(sizes: Iterable[int], most: int, room: int) -> Iterator[tuple[int, int]]:
    """Spans of at most `most` values, and of at most `room` bytes but for a value on its own."""
    cuts, held, last = [0], 0, 0
    for last, size in enumerate(sizes, 1):
        if last - 1 > cuts[-1] and (last - 1 - cuts[-1] >= most or held + size > room):
            cuts.append(last - 1)
            held = 0
        held += size
    return pairwise([*cuts, last] if last else cuts)


def _raw_sizes(bad: pa.StructArray) -> list[int]:
    return cast(list[int], pc.fill_null(pc.binary_length(bad.field("raw")), 0).to_pylist())


def _rows(types: Staged, chunk: Chunk) -> pa.StructArray:
    """The rows of the records that are right, each with its place."""
    parents = chunk.parents
    right = pc.and_(pc.is_null(chunk.found.errors), chunk.sizes.is_valid().take(parents))
    records, sources = chunk.found.records.filter(right), parents.filter(right)
    children = [*records.flatten(), *(column.take(sources) for column in chunk.place.columns)]
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


def _refused(chunk: Chunk) -> Refused:
    """Those that the decoder refused, and those that are not there, which no decoder sees."""
    wrong = pc.is_valid(chunk.found.errors)
    nulls = pc.indices_nonzero(chunk.sizes.is_null()).cast(pa.int32())
    no_data = {"code": NO_DATA, "path": "", "offset": 0, "expected": "bytes", "actual": "null"}
    errors = [chunk.found.errors.filter(wrong), pa.array([no_data] * len(nulls), ERROR)]
    return Refused(pa.concat_arrays([chunk.parents.filter(wrong), nulls]), pa.concat_arrays(errors))


def _quarantined(plan: Plan, types: Staged, refused: Refused, chunk: Chunk) -> pa.StructArray:
    raw, count = chunk.raw.take(refused.parents), len(refused.parents)
    if (pc.max(pc.binary_length(raw)).as_py() or 0) > KEPT:
        raw = pc.binary_slice(raw, 0, KEPT)
    children = [
        raw,
        chunk.sizes.take(refused.parents),
        *refused.errors.flatten(),
        pa.array([plan.format] * count, pa.string()),
        pa.array([plan.digest] * count, pa.string()),
        *(column.take(refused.parents) for column in chunk.place.columns),
    ]
    return pa.StructArray.from_arrays(children, fields=list(types.bad))
