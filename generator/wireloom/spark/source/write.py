"""Writes tables as files of records: one file for each task, all of which appear at once.

Tasks write below a directory whose name begins with `_`, which readers skip; the commit moves the files out of it. For
a stream, the commit first writes a list of these moves, which names the query and the batch. If the commit is
interrupted, the batch is committed again with the same list, whatever its tasks have written since.
"""

import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyarrow import fs
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from wireloom.catalog import FormatModule
from wireloom.failures import DataError, MisuseError
from wireloom.ingest.files.finding import Place, hidden, place
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Plan
from wireloom.problems import nearest
from wireloom.records.transcode import beginning
from wireloom.runtime.errors import EncodeError, ParameterError
from wireloom.runtime.streams.framing import Whole, framing_of
from wireloom.runtime.streams.writing import frame
from wireloom.spark.source.errors import as_source_errors
from wireloom.spark.source.log import published
from wireloom.spark.source.options import CheckedOptions
from wireloom.spark.source.schema import offer

TEMPORARY, COMMITS, SUCCESS = "_temporary", "_wireloom_commits", "_SUCCESS"
KEPT_COMMITS = 100
"""Lists of commits that are kept for a stream; Spark repeats only the last batch."""
QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


@dataclass(frozen=True, slots=True)
class Writing:
    """How to turn rows into files of a directory; all that executors need."""

    plan: Plan
    directory: Place

    @property
    def suffix(self) -> str:
        """The suffix of file names."""
        return ".jsonl" if self.plan.framing == "lines" else ".bin"


def writing(given: CheckedOptions, schema: StructType) -> Writing:
    """How to write rows of a schema; raises MisuseError and ParameterError if that is impossible."""
    plan, paths = given.plan, given.paths()
    if plan.framing == "none" and "framing" not in given.texts:
        raise MisuseError(
            f"{plan.format} has no framing; set the option framing (length-prefixed, or none for one file per record)"
        )
    if plan.framing == "array":
        raise MisuseError("JSON arrays cannot be written; set the option framing to lines")
    if len(paths) != 1:
        raise MisuseError(f"records are written to one directory, not to {len(paths)}")
    if given.module.CODEC.root(plan.root).elements:
        raise MisuseError(f"rows are records, and a record of root {plan.root} is a list; choose another root")
    _refuse_unknown(schema, offer(given.module, given.options).format, ())
    return Writing(plan, place(paths[0]))


@dataclass(frozen=True)
class Written(WriterCommitMessage):
    """The files of a task: their temporary and final names; for a stream, also the query."""

    files: tuple[tuple[str, str], ...]
    query: str = ""


class FileWriter(DataSourceArrowWriter):
    """Writes a table."""

    def __init__(self, write: Writing, *, overwrite: bool) -> None:
        self._write, self._overwrite, self._job = write, overwrite, uuid.uuid4().hex
        self._temporary = write.directory.child(f"{TEMPORARY}-{self._job}")

    @as_source_errors()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Run one task; raises DataError for a row that the format cannot express."""
        partition = _partition()
        files = _Files(self._write, self._temporary, f"part-{partition:05}-{self._job}")
        return Written(files.written(iterator, partition))

    @as_source_errors()
    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Publish the files; then remove the old ones if the table is replaced."""
        directory = self._write.directory
        directory.file_system.create_dir(directory.path, recursive=True)
        old = _visible(directory) if self._overwrite else []
        for message in messages:
            if isinstance(message, Written):
                _move(directory.file_system, message.files)
        for info in old:
            _remove(directory.file_system, info)
        _discard(self._temporary)
        with directory.file_system.open_output_stream(directory.child(SUCCESS).path):
            pass

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:  # noqa: ARG002 - Spark's signature
        """Remove the temporary files."""
        _discard(self._temporary)


class StreamFileWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a stream, each once."""

    def __init__(self, write: Writing) -> None:
        self._write = write

    @as_source_errors()
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Run one task of a batch; raises DataError for a row that the format cannot express."""
        context, partition = TaskContext.get(), _partition()
        query, batch = (context.getLocalProperty(name) if context else None for name in (QUERY, BATCH))
        if query is None or batch is None:
            raise DataError("a stream can only be written by a streaming query")
        name = f"part-{int(batch):010}-{partition:05}-{query}"
        files = _Files(self._write, self._temporary(query, int(batch)), name)
        return Written(files.written(iterator, partition), query)

    @as_source_errors()
    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Publish the files of the batch, unless they were published before."""
        written = [message for message in messages if isinstance(message, Written)]
        if not written:
            return
        query, directory = written[0].query, self._write.directory
        commits = directory.child(COMMITS).child(query)
        commits.file_system.create_dir(commits.path, recursive=True)
        moves = commits.child(f"{batchId:020}.json")
        published(moves, json.dumps([file for message in written for file in message.files]).encode())
        with moves.open() as source:
            _move(directory.file_system, [(start, end) for start, end in json.load(source)])
        _discard(self._temporary(query, batchId))
        self._forget(commits, batchId - KEPT_COMMITS)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Remove what the tasks wrote, unless the batch had been committed before."""
        for message in messages:
            if isinstance(message, Written):
                commits = self._write.directory.child(COMMITS).child(message.query)
                if not _exists(commits.child(f"{batchId:020}.json")):
                    _discard(self._temporary(message.query, batchId))

    def _temporary(self, query: str, batch: int) -> Place:
        return self._write.directory.child(f"{TEMPORARY}-{query}-{batch}")

    @staticmethod
    def _forget(commits: Place, before: int) -> None:
        for info in commits.file_system.get_file_info(fs.FileSelector(commits.path)):
            if info.base_name < f"{before:020}":
                commits.file_system.delete_file(info.path)


# --- tasks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a task: a single one, or without framing one for each record."""

    write: Writing
    temporary: Place
    name: str

    def written(self, batches: Iterable[pa.RecordBatch], partition: int) -> tuple[tuple[str, str], ...]:
        """Write the files; returns their temporary and final names."""
        module = open_module(self.write.plan)
        begun, settings = beginning(
            module.CODEC, framing_of(self.write.plan.framing or "none"), dict(self.write.plan.parameters)
        )
        write = replace(self.write, plan=replace(self.write.plan, parameters=tuple(settings.items())))
        records = _records(write, module, batches, partition)
        if self.write.plan.framing == "none":
            return tuple(self._one(f"-{number:06}", [data]) for number, data in enumerate(records))
        first = next(records, None)
        return () if first is None else (self._one("", [begun, first], records),)

    def _one(self, place: str, *data: Iterable[bytes]) -> tuple[str, str]:
        name = f"{self.name}{place}{self.write.suffix}"
        passing = self.temporary.child(f"{uuid.uuid4().hex}-{name}")
        self.temporary.file_system.create_dir(self.temporary.path, recursive=True)
        try:
            with self.temporary.file_system.open_output_stream(passing.path) as stream:
                for parts in data:
                    for part in parts:
                        stream.write(part)
        except BaseException:
            if _exists(passing):
                passing.file_system.delete_file(passing.path)
            raise
        return passing.path, self.write.directory.child(name).path


def _records(
    write: Writing, module: FormatModule, batches: Iterable[pa.RecordBatch], partition: int
) -> Iterator[bytes]:
    """The framed bytes of each row."""
    row, framing = 0, framing_of(write.plan.framing or "none")
    for batch in batches:
        try:
            data = module.CODEC.encode(batch, root=write.plan.root, **dict(write.plan.parameters))
        except EncodeError as error:
            raise DataError(f"{write.plan.format}: row {_place(error, row)} of task {partition}: {error}") from error
        except (ValueError, TypeError) as error:
            raise DataError(f"{write.plan.format}: a row of {row} to {row + len(batch)}: {error}") from error
        for number, record in enumerate(data, start=row):
            try:
                yield frame(framing, bytes(record.as_buffer()), first=number == 0 or isinstance(framing, Whole))
            except EncodeError as error:
                raise DataError(f"{write.plan.format}: row {number} of task {partition}: {error}") from None
        row += len(batch)


def _place(error: EncodeError, before: int) -> int:
    """The row number of an error; its path begins with the index in the batch."""
    row = error.path.partition("]")[0].removeprefix("[")
    return before + int(row)


def _partition() -> int:
    context = TaskContext.get()
    return context.partitionId() if context else 0


# --- files ---------------------------------------------------------------------------------------------------------


def _exists(at: Place) -> bool:
    return bool(at.file_system.get_file_info(at.path).type != fs.FileType.NotFound)


def _visible(directory: Place) -> list[Any]:
    """The files in a directory that readers see."""
    found = directory.file_system.get_file_info(fs.FileSelector(directory.path, allow_not_found=True))
    return [info for info in found if not hidden(info.base_name)]


def _move(system: Any, files: Iterable[tuple[str, str]]) -> None:
    """Do the moves that are not done yet."""
    for start, end in files:
        if system.get_file_info(start).type != fs.FileType.NotFound:
            system.move(start, end)


def _remove(system: Any, info: Any) -> None:
    if info.type == fs.FileType.Directory:
        system.delete_dir(info.path)
    else:
        system.delete_file(info.path)


def _discard(directory: Place) -> None:
    if _exists(directory):
        directory.file_system.delete_dir(directory.path)


# --- schemas -------------------------------------------------------------------------------------------------------


def _refuse_unknown(given: DataType, there: DataType, above: tuple[str, ...]) -> None:
    """Raise MisuseError for a column that the format lacks; missing columns are null."""
    match given, there:
        case StructType(), StructType():
            for field in given.fields:
                if field.name not in there.names:
                    near = nearest(field.name, there.names) or f"there are {', '.join(there.names)}"
                    raise ParameterError(f"no column {'.'.join((*above, field.name))!r} to write; {near}")
                _refuse_unknown(field.dataType, there[field.name].dataType, (*above, field.name))
        case ArrayType(), ArrayType():
            _refuse_unknown(given.elementType, there.elementType, above)
        case MapType(), MapType():
            _refuse_unknown(given.valueType, there.valueType, above)
        case _:
            pass
