"""Splits decoded records into rows for the records table and bad records for the quarantine, and counts both.

No Python object is made for each record: sources, bytes and errors are Arrow columns throughout.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.ingest.plan import CODES, NO_DATA, Plan, Summary, counts
from wireloom.ingest.tables.schemas import bad_type, row_type
from wireloom.ingest.tables.storable_columns import fitted
from wireloom.runtime.columns.arrow import Decoded, errors_array
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams.framed import KEPT


@dataclass(frozen=True, slots=True)
class Chunk:
    """Decoded records, with the bytes (at least of bad ones), the size in the source, and the place of each.

    A null size marks a missing record.
    """

    found: Decoded
    raw: pa.Array
    sizes: pa.Int64Array
    place: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class Parted:
    """The rows and bad records of a chunk, and the counts; `tally` does not count rows and error codes yet."""

    rows: pa.StructArray
    bad: pa.StructArray
    tally: Summary


NO_BAD = pa.array([], bad_type(pa.schema([])))
"""No bad records; nobody reads its place columns."""


def parted(plan: Plan, chunk: Chunk) -> Parted:
    """Split the records of a chunk."""
    if not chunk.sizes.null_count and chunk.found.errors.null_count == len(chunk.found.errors):
        count, size = len(chunk.sizes), pc.sum(chunk.sizes).as_py() or 0
        return Parted(_rows(chunk), NO_BAD, Summary(count, count, 0, 0, size=size, reread=chunk.found.reread))
    refused = _refused(chunk)
    keep = pc.invert(pc.is_in(refused.codes, pa.array(plan.drop, pa.string())))
    tally = Summary(
        records=len(chunk.sizes),
        decoded=len(chunk.sizes) - len(refused.errors),
        rows=0,
        quarantined=0,
        dropped=counts((code, 1) for code in refused.where(pc.invert(keep)).codes.to_pylist()),
        size=pc.sum(chunk.sizes).as_py() or 0,
        reread=chunk.found.reread,
    )
    return Parted(_rows(chunk), _quarantined(plan, refused.where(keep), chunk), tally)


def spans(sizes: Iterable[int], most: int, budget: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most `most` values and `budget` bytes; a single value may be larger."""
    cuts, held, last = [0], 0, 0
    for last, size in enumerate(sizes, 1):
        if last - 1 > cuts[-1] and (last - 1 - cuts[-1] >= most or held + size > budget):
            cuts.append(last - 1)
            held = 0
        held += size
    return pairwise([*cuts, last] if last else cuts)


def _rows(chunk: Chunk) -> pa.StructArray:
    """The rows of the good records, with their places."""
    found, place = chunk.found, chunk.place.columns
    records, parents = found.records, found.parents
    there = chunk.sizes.is_valid() if chunk.sizes.null_count else None
    if found.errors.null_count < len(found.errors) or there is not None:
        right = pc.is_null(found.errors)
        if there is not None:
            right = pc.and_(right, there if parents is None else there.take(parents))
        records = records.filter(right)
        parents = pc.indices_nonzero(right) if parents is None else parents.filter(right)
    columns = place if parents is None else [column.take(parents) for column in place]
    own = dict(zip((field.name for field in records.type), records.flatten(), strict=True))
    fields = list(row_type(records.type, chunk.place.schema))
    held = [fitted(own[field.name], field.type) for field in fields[: len(fields) - len(columns)]]
    return pa.StructArray.from_arrays([*held, *columns], fields=fields)


@dataclass(frozen=True, slots=True)
class _Refused:
    """Bad records: their indices in the chunk, and their errors."""

    parents: pa.Array
    errors: pa.StructArray

    @property
    def codes(self) -> pa.Array:
        """The error codes."""
        return self.errors.field("code")

    def where(self, mask: pa.Array) -> "_Refused":
        """Those selected by the mask."""
        return _Refused(self.parents.filter(mask), self.errors.filter(mask))


def _refused(chunk: Chunk) -> _Refused:
    """The records that the decoder refused, and the missing ones."""
    found = chunk.found
    wrong = pc.indices_nonzero(found.errors.is_valid()).cast(pa.int32())
    nulls = pc.indices_nonzero(chunk.sizes.is_null()).cast(pa.int32())
    no_data = DecodeError(NO_DATA, offset=0, expected="bytes", actual="null", meaning=CODES[NO_DATA])
    errors = [found.errors.take(wrong), errors_array([no_data] * len(nulls))]
    records = wrong if found.parents is None else found.parents.take(wrong)
    return _Refused(pa.concat_arrays([records, nulls]), pa.concat_arrays(errors))


def _quarantined(plan: Plan, refused: _Refused, chunk: Chunk) -> pa.StructArray:
    raw, count = chunk.raw.take(refused.parents), len(refused.parents)
    if (pc.max(pc.binary_length(raw)).as_py() or 0) > KEPT:
        raw = pc.binary_slice(raw, 0, KEPT)
    children = [
        raw.cast(pa.binary()),
        chunk.sizes.take(refused.parents),
        *refused.errors.flatten(),
        pa.array([plan.format] * count, pa.string()),
        pa.array([plan.digest] * count, pa.string()),
        *(column.take(refused.parents) for column in chunk.place.columns),
    ]
    return pa.StructArray.from_arrays(children, fields=list(bad_type(chunk.place.schema)))
