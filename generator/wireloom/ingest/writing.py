"""Parquet files of one task: rows gathered until they are worth a row group, files begun anew where they are large.

A file has a name that no other has and lies in the staging folder of its batch, where no reader looks. It counts once
its task has reported it, so that what a failed or repeated task leaves behind is nothing.
"""

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wireloom.failures import DataError
from wireloom.ingest.columns import leaves, spark_columns
from wireloom.ingest.files import Place, place
from wireloom.ingest.plan import FILE_BYTES, GROUP_BYTES, OFFSET, QUARANTINE, RECORD, RECORDS

SPARK_COLUMNS = b"org.apache.spark.sql.parquet.row.metadata"  # where Spark looks for types and comments of columns
RISING = (RECORD, OFFSET)  # columns whose values rise from row to row, which no dictionary makes smaller
GROUP_ROWS = 1 << 20


@dataclass(frozen=True, slots=True)
class Writing:
    """How and where tasks write: all that they must know."""

    staging: str
    compression: str = "snappy"
    group_bytes: int = GROUP_BYTES
    file_bytes: int = FILE_BYTES
    most_bad: int | None = None  # bytes of bad records of one task behind which it stops


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file of a table: how it is called below the staging folder, its rows, and its size in bytes."""

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
    _file: "_File | None" = None

    def add(self, rows: pa.StructArray) -> None:
        """Rows, to be written in time."""
        if not len(rows):
            return
        self._held.append(pa.RecordBatch.from_struct_array(rows))
        self.added += len(rows)
        self._bytes += rows.nbytes
        self._rows += len(rows)
        if self._bytes >= self.writing.group_bytes or self._rows >= GROUP_ROWS:
            self._flush()

    def touch(self, type: pa.StructType) -> None:
        """A file without rows, where there is none: its columns are there to be read."""
        if not self.done and not self._held and self._file is None:
            self._held.append(pa.RecordBatch.from_struct_array(pa.array([], type)))
            self._flush()

    def close(self) -> int:
        """Write what is held, and end the file; how many rows the files have, raises DataError where some are lost."""
        if self._held:
            self._flush()
        self._end()
        rows = sum(file.rows for file in self.done)
        if rows != self.added:
            raise DataError(f"{self.added} rows were to be written to {self.table}, and its files have {rows}")
        return rows

    def abandon(self) -> None:
        """Let go of what is open; what lies in the staging folder goes with it."""
        if self._file is not None:
            with suppress(OSError, pa.ArrowException):
                self._file.close()

    def _flush(self) -> None:
        group = pa.Table.from_batches(self._held).unify_dictionaries()
        self._held, self._bytes, self._rows = [], 0, 0
        if self._file is None:
            self._file = _File.created(self.writing, self.table, group.schema)
        self._file.writer.write_table(group, row_group_size=max(len(group), 1))
        if self._file.stream.tell() >= self.writing.file_bytes:
            self._end()

    def _end(self) -> None:
        if self._file is not None:
            self.done.append(self._file.close())
            self._file = None


@dataclass(frozen=True, slots=True)
class _File:
    table: str
    place: Place
    stream: Any
    writer: Any
    footers: list[Any]

    @classmethod
    def created(cls, writing: Writing, table: str, schema: pa.Schema) -> "_File":
        folder = place(writing.staging).child(table)
        path = folder.child(f"part-{uuid.uuid4().hex}.{writing.compression}.parquet")
        folder.file_system.create_dir(folder.path, recursive=True)
        stream = path.file_system.open_output_stream(path.path)
        footers: list[Any] = []
        writer = pq.ParquetWriter(
            stream,
            schema.remove_metadata(),
            compression=writing.compression,
            use_dictionary=[path for path in leaves(schema) if path not in RISING],
            column_encoding={path: "DELTA_BINARY_PACKED" for path in RISING if path in schema.names},
            store_schema=False,
            metadata_collector=footers,
        )
        writer.add_key_value_metadata({SPARK_COLUMNS: spark_columns(schema).encode()})
        return cls(table, path, stream, writer, footers)

    def close(self) -> WrittenFile:
        """End it; its rows are those that its footer has."""
        self.writer.close()
        size = self.stream.tell()
        self.stream.close()
        (footer,) = self.footers
        return WrittenFile(self.table, self.place.path.rpartition("/")[2], footer.num_rows, size)


def tables(writing: Writing) -> dict[str, TableFiles]:
    """The files of both tables."""
    return {name: TableFiles(writing, name) for name in (RECORDS, QUARANTINE)}
