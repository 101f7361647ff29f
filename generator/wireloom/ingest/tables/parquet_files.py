"""The Parquet files of one task: rows are gathered to row groups, and a large file is closed and a new one begun.

A file has a unique name and is in the staging folder of its batch, where no reader looks. It counts once its task has
reported it, so files of a failed or repeated task do not count.
"""

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wireloom.failures import DataError
from wireloom.ingest.files.finding import place
from wireloom.ingest.plan import FILE_BYTES, GROUP_BYTES, OFFSET, QUARANTINE, RECORD, RECORDS
from wireloom.ingest.tables.partitions import nulls, parts_of
from wireloom.ingest.tables.spark_columns import leaves, spark_columns

SPARK_COLUMNS = b"org.apache.spark.sql.parquet.row.metadata"  # where Spark looks for types and comments of columns
RISING = (RECORD, OFFSET)  # columns whose values rise from row to row, which no dictionary makes smaller
GROUP_ROWS = 1 << 20
GATHERED = 4
"""Row groups' worth of rows that are held before they are parted into folders, so that each gets more at once."""
MOST_OPEN = 64
"""Files of one task that are open at once; the one that has waited longest ends where there would be more."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How and where tasks write: all that they must know."""

    staging: str
    compression: str = "snappy"
    group_bytes: int = GROUP_BYTES
    file_bytes: int = FILE_BYTES
    most_bad: int | None = None  # bytes of bad records of one task after which it stops
    partition: tuple[str, ...] = ()  # columns of the records that become folders


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of a table: its path below the table's staging folder, its rows, and its size in bytes."""

    table: str
    name: str
    rows: int
    bytes: int


@dataclass(slots=True)
class TableFiles:
    """The files of one table and one task."""

    writing: Writing
    table: str
    done: list[WrittenFile] = field(default_factory=list)
    added: int = 0  # rows
    _held: list[pa.RecordBatch] = field(default_factory=list)
    _bytes: int = 0
    _rows: int = 0
    _open: dict[str, "_File"] = field(default_factory=dict)  # by folder, the last written last

    @property
    def by(self) -> tuple[str, ...]:
        """The columns that are folders."""
        return self.writing.partition if self.table == RECORDS else ()

    def add(self, rows: pa.StructArray) -> None:
        """Rows, to be written in time."""
        if not len(rows):
            return
        self._held.append(pa.RecordBatch.from_struct_array(rows))
        self.added += len(rows)
        self._bytes += rows.nbytes
        self._rows += len(rows)
        if self._bytes >= self.writing.group_bytes * (GATHERED if self.by else 1) or self._rows >= GROUP_ROWS:
            self._flush()

    def touch(self, type: pa.StructType) -> None:
        """A file without rows, where there is none: its columns are there to be read."""
        if not self.done and not self._held and not self._open:
            none = pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([], type))])
            self._write(nulls(self.by), none.drop_columns(list(self.by)))

    def close(self) -> int:
        """Write what is held, and end the file; how many rows the files have, raises DataError where some are lost."""
        if self._held:
            self._flush()
        for folder in list(self._open):
            self._end(folder)
        rows = sum(file.rows for file in self.done)
        if rows != self.added:
            raise DataError(f"{self.added} rows were expected in {self.table}, but its files have {rows}")
        return rows

    def abandon(self) -> None:
        """Let go of what is open; what lies in the staging folder goes with it."""
        for file in self._open.values():
            with suppress(OSError, pa.ArrowException):
                file.close()

    def _flush(self) -> None:
        rows = pa.Table.from_batches(self._held).unify_dictionaries()
        self._held, self._bytes, self._rows = [], 0, 0
        for folder, part in parts_of(rows, self.by):
            self._write(folder, part)

    def _write(self, folder: str, rows: pa.Table) -> None:
        file = self._open.pop(folder, None)
        if file is None:
            if len(self._open) >= MOST_OPEN:
                self._end(next(iter(self._open)))
            file = _File.created(self.writing, self.table, folder, rows.schema)
        self._open[folder] = file
        groups = max(rows.nbytes // self.writing.group_bytes, 1) if self.by else 1
        file.writer.write_table(rows, row_group_size=max(-(-len(rows) // groups), 1))
        if file.stream.tell() >= self.writing.file_bytes:
            self._end(folder)

    def _end(self, folder: str) -> None:
        self.done.append(self._open.pop(folder).close())


@dataclass(frozen=True, slots=True)
class _File:
    table: str
    name: str
    stream: Any
    writer: Any
    footers: list[Any]

    @classmethod
    def created(cls, writing: Writing, table: str, folder: str, schema: pa.Schema) -> "_File":
        within = place(writing.staging).child(table)
        name = "/".join(filter(None, (folder, f"part-{uuid.uuid4().hex}.{writing.compression}.parquet")))
        path = within.child(name)
        path.file_system.create_dir(path.path.rpartition("/")[0], recursive=True)
        stream = path.file_system.open_output_stream(path.path)
        footers: list[Any] = []
        columns = spark_columns(schema).encode()
        writer = parquet_writer(stream, schema, columns, writing.compression, footers)
        return cls(table, name, stream, writer, footers)

    def close(self) -> WrittenFile:
        """End it; its rows are those that its footer has."""
        self.writer.close()
        size = self.stream.tell()
        self.stream.close()
        (footer,) = self.footers
        return WrittenFile(self.table, self.name, footer.num_rows, size)


def parquet_writer(
    stream: Any, schema: pa.Schema, columns: bytes, compression: str = "snappy", footers: list[Any] | None = None
) -> Any:
    """A writer of a table's files; `columns` are those that Spark finds in it."""
    writer = pq.ParquetWriter(
        stream,
        schema.remove_metadata(),
        compression=compression,
        use_dictionary=[path for path in leaves(schema) if path not in RISING],
        column_encoding={path: "DELTA_BINARY_PACKED" for path in RISING if path in schema.names},
        store_schema=False,
        metadata_collector=footers,
    )
    writer.add_key_value_metadata({SPARK_COLUMNS: columns})
    return writer


def tables(writing: Writing) -> dict[str, TableFiles]:
    """The files of both tables."""
    return {name: TableFiles(writing, name) for name in (RECORDS, QUARANTINE)}
