"""Reads a binary column of Parquet files, whose values are records: one row group at a time, no other columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from wireloom.failures import DataError, MisuseError
from wireloom.ingest.files.finding import File, FileChangedError, unchanged
from wireloom.ingest.files.reading import ALL, Missing, unreadable
from wireloom.ingest.files.values import CHUNK_BYTES, CHUNK_RECORDS, DATA, values_of
from wireloom.ingest.job.diagnosis import during
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import FAIL, Plan
from wireloom.ingest.tables.schemas import FILE_PLACE
from wireloom.ingest.tables.splitting import Chunk, Parted, parted

UNEVEN, FEW = 256 << 20, 8
"""If a row group's column has more bytes than the first, at most as many values as the second are read at once."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Consecutive row groups of a file. `record` is the row number of their first row in the file."""

    file: File
    column: str
    first: int
    last: int  # exclusive
    record: int
    size: int
    widest: int  # the greatest average size of the column's values in one of them


def row_groups(file: File, column: str) -> Iterator[RowGroups]:
    """Each row group of a file; raises MisuseError if it has no such binary column."""
    try:
        with file.place.open() as source:
            footer = pq.ParquetFile(source)
            _refuse_other_types(footer.schema_arrow, file, column)
            metadata = footer.metadata
    except FileNotFoundError:
        yield RowGroups(file, column, 0, 0, 0, file.size, 0)  # reading the file later reports that it is missing
        return
    except pa.ArrowInvalid as error:
        raise MisuseError(f"cannot read {file.path} as Parquet: {error}") from error
    leaf = next(at for at in range(metadata.num_columns) if metadata.schema.column(at).path == column)
    record = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        size = group.column(leaf).total_uncompressed_size
        yield RowGroups(file, column, number, number + 1, record, size, size // max(group.num_rows, 1))
        record += group.num_rows


def _refuse_other_types(schema: pa.Schema, file: File, column: str) -> None:
    binary = [field.name for field in schema if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type)]
    if column not in binary:
        at = schema.get_field_index(column)
        found = "not there" if at < 0 else f"of type {schema.field(at).type}"
        shown = ", ".join(binary) or "none"
        raise MisuseError(f"column {column!r} of {file.path} is {found}; binary columns: {shown}")


def tables_of(plan: Plan, groups: Sequence[RowGroups]) -> Iterator[Parted]:
    """All values of row groups."""
    for group in groups:
        with during(group.file.path):
            yield from _of_group(plan, group)


def _of_group(plan: Plan, group: RowGroups) -> Iterator[Parted]:
    """All values of a row group; raises DataError if the file changed since it was listed, or is damaged."""
    try:
        try:
            unchanged(group.file)
            yield from values_of(plan, _batches(group))
        except MemoryError:  # also Arrow's: the file is not at fault
            raise
        except (OSError, pa.ArrowException) as error:
            unchanged(group.file)  # a change of the file explains the error better
            raise DataError(f"{group.file.path}: row group {group.first} cannot be read: {error}") from error
        unchanged(group.file)
    except FileChangedError as error:
        if plan.changed == FAIL:
            raise DataError(str(error)) from error
        missing = Missing(0, 0, group.size)
        found = unreadable(plan, open_module(plan), ALL, error.error(), missing)
        place = _places(group.file, group.record, 1)
        yield parted(plan, Chunk(found, found.raw, found.sizes, place))


def rows_of(group: RowGroups, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The given columns of row groups, as far as the file has them, in batches of limited size."""
    rows = max(1, min(CHUNK_RECORDS, CHUNK_BYTES // max(group.widest, 1)))
    if group.size > UNEVEN:  # a few values may make up all of it
        rows = min(rows, FEW)
    with group.file.place.open() as source:
        yield from _gathered(
            pq.ParquetFile(source).iter_batches(rows, list(range(group.first, group.last)), list(columns))
        )


def _batches(group: RowGroups) -> Iterator[pa.RecordBatch]:
    record = group.record
    for batch in rows_of(group, (group.column,)):
        yield _places(group.file, record, len(batch)).append_column(DATA, batch.column(0))
        record += len(batch)


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches merged until they are large enough for decoding."""
    held: list[pa.RecordBatch] = []
    size = rows = 0
    for batch in batches:
        if held and (size + batch.nbytes > CHUNK_BYTES or rows + len(batch) > CHUNK_RECORDS):
            yield pa.concat_batches(held)
            held, size, rows = [], 0, 0
        held.append(batch)
        size, rows = size + batch.nbytes, rows + len(batch)
    if held:
        yield pa.concat_batches(held)


def _places(file: File, record: int, count: int) -> pa.RecordBatch:
    """The places of `count` rows, starting at row `record`."""
    columns = [
        pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), [file.path]),
        pa.arange(record, record + count),
        pa.nulls(count, pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=FILE_PLACE)
