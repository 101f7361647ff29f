"""Reads parts of files on the executors: Arrow batches with the columns of the schema, of limited size.

A batch has at most BATCH_ROWS rows and, unless it is a single row, about BATCH_BYTES bytes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from wireloom.catalog import FormatModule
from wireloom.failures import DataError
from wireloom.ingest.files.finding import File
from wireloom.ingest.files.ranges import Heads, Part, even, grouped, parts
from wireloom.ingest.files.reading import Asked, part_records
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import OFFSET, RECORD, SOURCE, Plan
from wireloom.ingest.tables.storable_columns import fitted
from wireloom.runtime.streams.parts import DecodedPart
from wireloom.spark.options import Options
from wireloom.spark.schemas import arrow_schema
from wireloom.spark.source.filters import Predicate, filtered
from wireloom.spark.source.schema import Offer, decoder_columns, offer

MALFORMED = "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"
"""Spark's own condition for a bad record in FAILFAST mode."""
BATCH_ROWS = 10_000
BATCH_BYTES = 64 << 20


@dataclass(frozen=True)
class Portion(InputPartition):
    """The part of the files that one task reads."""

    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How to turn files into rows of a schema; all that executors need."""

    plan: Plan
    options: Options
    schema: StructType
    columns: tuple[str, ...]  # columns for the decoder

    @property
    def framing(self) -> str:
        """The framing of records."""
        return self.plan.framing or "none"

    @property
    def numbered(self) -> bool:
        """Whether records must be numbered."""
        return RECORD in self.schema.names


def reading(module: FormatModule, plan: Plan, options: Options, schema: StructType) -> Reading:
    """How to read files of a format into a schema; raises ParameterError if it does not fit."""
    return Reading(plan, options, schema, decoder_columns(schema, offer(module, options)))


def portions(read: Reading, module: FormatModule, files: Iterable[File], target: int) -> list[Portion]:
    """The parts for tasks, each of about `target` bytes: small files in groups, large files split."""
    root = module.CODEC.root(read.plan.root)
    settings = module.CODEC.settings(dict(read.plan.parameters))
    heads = Heads(module.CODEC, root, settings, read.plan.compression, read.plan.resync)
    share = even(target)
    found = [part for file in files for part in parts(file, read.framing, heads, share, numbered=read.numbered)]
    return [Portion(group) for group in grouped(found, share)]


def batches(read: Reading, portion: Sequence[Part], predicates: Sequence[Predicate] = ()) -> Iterator[pa.RecordBatch]:
    """The rows of the parts; raises DataError for the first bad record in FAILFAST mode."""
    module = open_module(read.plan)
    rows = _Rows(read, offer(module, read.options), arrow_schema(read.schema))
    asked = Asked(read.columns, bool(read.options.explode), read.options.open_values)
    for part in portion:
        for found in part_records(read.plan, module, part, asked):
            for batch in _bounded(rows.batch(part, *found)):
                kept = filtered(batch, predicates)
                if len(kept):
                    yield kept


@dataclass(frozen=True, slots=True)
class _Rows:
    """Turns decoded columns into rows of the schema."""

    read: Reading
    offered: Offer
    schema: pa.Schema

    def batch(self, part: Part, found: DecodedPart, start: int) -> pa.RecordBatch:
        """All rows that the mode keeps."""
        bad = pc.is_valid(found.errors) if found.errors.null_count < len(found.errors) else None
        if bad is not None and self.read.options.mode == "FAILFAST":
            raise DataError(_complaint(part, found, start, pc.index(bad, value=True).as_py()))
        arrays = [
            fitted(self._column(name, type, part, found, start), type)
            for name, type in zip(self.schema.names, self.schema.types, strict=True)
        ]
        whole = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        drops = bad is not None and self.read.options.mode == "DROPMALFORMED"
        return whole.filter(pc.invert(bad)) if drops else whole

    def _column(self, name: str, type: pa.DataType, part: Part, found: DecodedPart, start: int) -> pa.Array:
        rows = len(found.records)
        if name in self.offered.format.names:
            return _member(found.records, name)
        match name:
            case _ if name == self.offered.error:
                return found.errors
            case _ if name == self.offered.corrupt:
                return _of_rows(found, found.raw)
            case _ if name == SOURCE:
                return pa.repeat(pa.scalar(part.file.path, type), rows)
            case _ if name == RECORD:
                first = (part.record or 0) + found.first
                return _of_rows(found, pa.array(range(first, first + len(found.offsets)), type))
            case _ if name == OFFSET:
                return _of_rows(found, pc.add(found.offsets, start))
            case _:
                raise AssertionError(name)


def _member(records: pa.StructArray, name: str) -> pa.Array:
    """A column of the records, null where the record is null."""
    return pc.struct_field(records, [name]) if records.null_count else records.field(name)


def _of_rows(found: DecodedPart, of_records: pa.Array) -> pa.Array:
    """Per-record values, repeated for each row."""
    return of_records if found.parents is None else of_records.take(found.parents)


def _complaint(part: Part, found: DecodedPart, start: int, row: int) -> str:
    """The error of a row's record."""
    record = row if found.parents is None else found.parents[row].as_py()
    error = found.errors[row].as_py()
    number = "" if part.record is None else f"record {part.record + found.first + record}, "
    place = f" at {error['path']}" if error["path"] else ""
    return (
        f"[{MALFORMED}] {part.file.path}: {number}at byte {start + found.offsets[record].as_py()}: "
        f"{error['code']}{place}, byte {error['offset']} of the record: "
        f"expected {error['expected']}, found {error['actual']} ({error['meaning']}); "
        "mode PERMISSIVE keeps bad records as rows, DROPMALFORMED leaves them out"
    )


def _bounded(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(batch), BATCH_ROWS):
        yield from _halved(batch.slice(start, BATCH_ROWS))


def _halved(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if len(batch) < 2 or cast(Any, batch).nbytes <= BATCH_BYTES:
        yield batch
        return
    middle = len(batch) // 2
    yield from _halved(batch.slice(0, middle))
    yield from _halved(batch.slice(middle))
