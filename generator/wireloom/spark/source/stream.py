"""Reads new files of a directory, each once, in the order of their times within a listing.

A file is taken when it is seen, so it must be complete then: write it elsewhere on the same file system and move it in.
Offsets are numbers in a list that the stream keeps (see `log`). The list is in the folder that the option fileLog
names, or in `_wireloom_files` of the directory.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import File, Listing, Place, place
from wireloom.ingest.job.format_modules import open_module
from wireloom.spark.source.errors import as_source_errors, each_with_source_errors
from wireloom.spark.source.log import FileLog
from wireloom.spark.source.options import PARTITION_BYTES, CheckedOptions
from wireloom.spark.source.read import Portion, Reading, batches, portions

try:  # PySpark 4.2 and later
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as _AvailableNow
except ImportError:  # earlier ones cannot limit a stream
    _AvailableNow = object  # type: ignore[assignment,misc]

LIMITED = _AvailableNow is not object
"""Whether batches of a stream can have a limit."""

FOLDER = "_wireloom_files"
Offset = dict[str, Any]


def stream_reader(checked: CheckedOptions, read: Reading) -> "FileStreamReader":
    """A reader for the options of a stream; raises MisuseError if they contradict each other."""
    listing = checked.listing()
    files, size = (checked.texts.get(name) for name in ("maxfilespertrigger", "maxbytespertrigger"))
    if files and size:
        raise MisuseError("give only one of maxFilesPerTrigger and maxBytesPerTrigger")
    if (files or size) and not LIMITED:
        named = "maxFilesPerTrigger" if files else "maxBytesPerTrigger"
        raise MisuseError(f"{named}: PySpark 4.1 always reads all files in one batch; drop it, or use 4.2")
    return FileStreamReader(
        read,
        listing,
        _folder(listing, checked.texts.get("filelog")),
        target=checked.size("maxPartitionBytes", PARTITION_BYTES),
        most_files=checked.size("maxFilesPerTrigger", 1) if files else None,
        most_bytes=checked.size("maxBytesPerTrigger", 1) if size else None,
    )


def _folder(listing: Listing, named: str | None) -> Place:
    """The folder for the lists of streams."""
    if named:
        return place(named)
    (path, *others) = listing.paths
    if others or any(sign in path for sign in "*?[{"):
        raise MisuseError("the option fileLog is missing: a stream of several directories needs a folder for "
                          "the list of the files that it has read")  # fmt: skip
    return place(path).child(FOLDER)


class FileStreamReader(DataSourceStreamReader, _AvailableNow):
    """Reads new files. Its offsets name the stream's list and the number of files taken."""

    def __init__(  # noqa: PLR0913 - what a stream is made of
        self,
        read: Reading,
        listing: Listing,
        folder: Place,
        *,
        target: int,
        most_files: int | None = None,
        most_bytes: int | None = None,
    ) -> None:
        self._read, self._listing, self._folder, self._target = read, listing, folder, target
        self._most_files, self._most_bytes = most_files, most_bytes
        self._log: FileLog | None = None
        self._name = ""  # of the stream's list
        self._present: list[File] | None = None  # the files for a stream that ends by itself

    def __getstate__(self) -> dict[str, Any]:
        """Executors do not need the list."""
        return {**self.__dict__, "_log": None, "_present": None}

    # --- offsets ---

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Offset 0 of a new list."""
        self._name = self._name or uuid.uuid4().hex
        return {"log": self._name, "files": 0}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802 - Spark's name
        """The limit of a batch from the options; None for PySpark versions without limits."""
        if not LIMITED:
            return None
        if self._most_files is not None:
            return ReadMaxFiles(self._most_files)
        return ReadAllAvailable() if self._most_bytes is None else ReadMaxBytes(self._most_bytes)

    @as_source_errors()
    def latestOffset(self, start: Offset | None = None, limit: Any = None) -> Offset:  # noqa: N802 - Spark's name
        """The end of the next batch. PySpark 4.1 gives neither start nor limit."""
        log = self._opened(start or self._known())
        self._take(log)
        end = log.count if start is None else self._end(log, start["files"], limit)
        return {"log": self._name, "files": end}

    def reportLatestOffset(self) -> Offset | None:  # noqa: N802 - Spark's name
        """The number of all files seen."""
        return None if self._log is None else {"log": self._name, "files": self._log.count}

    @as_source_errors()
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Read only the files that exist now."""
        self._present = self._listing.files()

    def _opened(self, offset: Offset) -> FileLog:
        if self._log is None or self._name != offset["log"]:
            self._log = FileLog.opened(self._folder.child(offset["log"]), offset["files"])
            self._name = offset["log"]
        return self._log

    def _known(self) -> Offset:
        """The list of a restarted stream, if only the folder tells which it is."""
        if not self._name:
            from pyarrow import fs  # noqa: PLC0415 - for PySpark 4.1 alone

            selector = fs.FileSelector(self._folder.path, allow_not_found=True)
            names = [info.base_name for info in self._folder.file_system.get_file_info(selector)]
            if len(names) > 1:
                raise MisuseError(f"{self._folder.shown} has lists of several streams; give each its own fileLog")
            self._name = names[0] if names else uuid.uuid4().hex
        return {"log": self._name, "files": 0}

    def _take(self, log: FileLog) -> None:
        files = self._listing.files() if self._present is None else self._present
        new = [file for file in files if file.path not in log.paths]
        log.append(sorted(new, key=lambda file: (file.modified, file.path)))
        log.forget_gone(file.path for file in files)

    def _end(self, log: FileLog, start: int, limit: Any) -> int:
        most_files = getattr(limit, "max_files", None)
        most_bytes = getattr(limit, "max_bytes", None)
        if most_files is not None:
            return min(log.count, start + max(int(most_files), 1))
        if most_bytes is None:
            return log.count
        end, size = start, 0
        for file in log.files(start):
            size += file.size
            if size > most_bytes and end > start:
                break
            end += 1
        return end

    # --- data ---

    @as_source_errors()
    def partitions(self, start: Offset, end: Offset) -> list[Portion]:
        """The parts that the tasks of a batch read."""
        first = start["files"] if start["log"] == end["log"] else 0  # an initial offset does not outlive its process
        files = list(_first(self._opened(end).files(first), end["files"] - first))
        return portions(self._read, open_module(self._read.plan), files, self._target)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task's part."""
        return each_with_source_errors(batches(self._read, partition.parts if isinstance(partition, Portion) else ()))


def _first(files: Iterator[File], count: int) -> Iterator[File]:
    for _, file in zip(range(count), files, strict=False):
        yield file
