"""Writes the Parquet files of one task: collects rows into row groups, and starts a new file when one is large.

A file has a unique name and is in the staging folder of its batch, which readers skip. It counts once its task has
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

# the key in which Spark looks for types and comments of columns
SPARK_COLUMNS = b"org.apache.spark.sql.parquet.row.metadata"
RISING = (RECORD, OFFSET)  # columns with rising values, which a dictionary would not make smaller
GROUP_ROWS = 1 << 20
GATHERED = 4
"""With partitioning, row groups' worth of rows to collect before splitting by folder, so that each gets more."""
MOST_OPEN = 64
"""Most open files of one task; beyond that, the least recently written one is closed."""


@dataclass(frozen=True, slots=True)
class Writing:
    """The arguments for the writers of tasks."""

    staging: str
    compression: str = "snappy"
    group_bytes: int = GROUP_BYTES
    file_bytes: int = FILE_BYTES
    most_bad: int | None = None  # bytes of bad records after which a task stops
    partition: tuple[str, ...] = ()  # partition columns of the records


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A written file: its path below the table's staging folder, its rows, and its size in bytes."""

    table: str
    name: str
    rows: int
    bytes: int


@dataclass(slots=True)
class TableFiles:
    """The files of one table that one task writes."""

    writing: Writing
    table: str
    done: list[WrittenFile] = field(default_factory=list)
    added: int = 0  # rows
    _held: list[pa.RecordBatch] = field(default_factory=list)
    _bytes: int = 0
    _rows: int = 0
    _open: dict[str, "_File"] = field(default_factory=dict)  # by folder, last written last

    @property
    def by(self) -> tuple[str, ...]:
        """The partition columns."""
        return self.writing.partition if self.table == RECORDS else ()

    def add(self, rows: pa.StructArray) -> None:
        """Add rows, which are written when enough are collected."""
        if not len(rows):
            return
        self._held.append(pa.RecordBatch.from_struct_array(rows))
        self.added += len(rows)
        self._bytes += rows.nbytes
        self._rows += len(rows)
        if self._bytes >= self.writing.group_bytes * (GATHERED if self.by else 1) or self._rows >= GROUP_ROWS:
            self._flush()

    def touch(self, type: pa.StructType) -> None:
        """Write a file without rows if there is no other, so that the columns can be read."""
        if not self.done and not self._held and not self._open:
            none = pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([], type))])
            self._write(nulls(self.by), none.drop_columns(list(self.by)))

    def close(self) -> int:
        """Write the rest and close the files; returns the number of rows, raises DataError if rows are missing."""
        if self._held:
            self._flush()
        for folder in list(self._open):
            self._end(folder)
        rows = sum(file.rows for file in self.done)
        if rows != self.added:
            raise DataError(f"{self.added} rows were expected in {self.table}, but its files have {rows}")
        return rows

    def abandon(self) -> None:
        """Close the open files without finishing them; the staging folder is removed later."""
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
        """Close the file; the number of rows comes from its footer."""
        self.writer.close()
        size = self.stream.tell()
        self.stream.close()
        (footer,) = self.footers
        return WrittenFile(self.table, self.name, footer.num_rows, size)


def parquet_writer(
    stream: Any, schema: pa.Schema, columns: bytes, compression: str = "snappy", footers: list[Any] | None = None
) -> Any:
    """A writer for a table's files; `columns` is the description for Spark."""
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
