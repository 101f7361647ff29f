"""The list of files that a stream has taken, numbered in the order of taking.

A stream's offset is the number of files taken, so it stays small, and a range of numbers always means the same files.
New files are written to the list before an offset counts them: a stream that is killed at any moment finds the same
files under the same numbers. A file is identified by its path, not by its time, so late files, and files with old or
equal times, are still new.

The list is a folder of JSON lines. Its files are named by the number of their first entry and a level. MERGE
consecutive files of one level become one of the next; if two files begin at the same number, the higher level counts.
"""

import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pyarrow import fs

from wireloom.failures import DataError
from wireloom.ingest.files.finding import File, Place

ENTRIES = 1_000
"""Most entries of a new file of the list."""
MERGE = 100
_NAME = re.compile(r"(\d{20})\.(\d+)\.jsonl")


@dataclass(frozen=True, slots=True)
class Segment:
    """A file of the list: entries from `start` to `end`."""

    start: int
    end: int
    level: int

    @property
    def name(self) -> str:
        """The file name."""
        return f"{self.start:020}.{self.level}.jsonl"


@dataclass(slots=True)
class FileLog:
    """The list of one stream, in a folder of its own."""

    folder: Place
    segments: list[Segment] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)  # of all entries whose files may still exist

    @classmethod
    def opened(cls, folder: Place, expected: int) -> "FileLog":
        """Read the list from disk; raises DataError if it has fewer than `expected` entries."""
        log = cls(folder)
        log.load()
        if log.count < expected:
            raise DataError(
                f"the stream has read {expected} files, but its list in {folder.shown} has {log.count}: "
                "restore the list, or start again with a new checkpoint"
            )
        return log

    @property
    def count(self) -> int:
        """The number of files taken."""
        return self.segments[-1].end if self.segments else 0

    def load(self) -> None:
        """Read the list again."""
        self.segments, self.paths = [], set()
        found: dict[int, int] = {}
        for info in self.folder.file_system.get_file_info(fs.FileSelector(self.folder.path, allow_not_found=True)):
            if name := _NAME.fullmatch(info.base_name):
                start, level = int(name[1]), int(name[2])
                found[start] = max(level, found.get(start, 0))
        while self.count in found:
            entries = self._entries(Segment(self.count, self.count, found[self.count]))
            self.paths.update(file.path for file in entries)
            self.segments.append(Segment(self.count, self.count + len(entries), found[self.count]))

    def append(self, files: Iterable[File]) -> None:
        """Add files in this order; raises DataError if another process adds files for the same stream."""
        remaining = iter(files)
        while part := list(islice(remaining, ENTRIES)):
            segment = Segment(self.count, self.count + len(part), 0)
            self._publish(segment, part)
            self.segments.append(segment)
            self.paths.update(file.path for file in part)
        self._merge()

    def files(self, start: int) -> Iterator[File]:
        """The files from that number on."""
        for segment in self.segments:
            if segment.end > start:
                yield from self._entries(segment)[max(start - segment.start, 0) :]

    def forget_gone(self, present: Iterable[str]) -> None:
        """Drop paths of files that no longer exist from memory."""
        self.paths.intersection_update(present)

    def _merge(self) -> None:
        level = 0
        while len(run := [segment for segment in self.segments if segment.level == level]) >= MERGE:
            merged = Segment(run[0].start, run[-1].end, level + 1)
            self._publish(merged, [file for segment in run for file in self._entries(segment)])
            self.segments = [segment for segment in self.segments if segment.level > level]
            self.segments += [merged]
            for segment in run:
                self.folder.file_system.delete_file(self.folder.child(segment.name).path)
            level += 1

    def _entries(self, segment: Segment) -> list[File]:
        with self.folder.child(segment.name).open() as source:
            return [_file(line) for line in source.read().splitlines()]

    def _publish(self, segment: Segment, files: Iterable[File]) -> None:
        data = b"".join(_line(file) for file in files)
        self.folder.file_system.create_dir(self.folder.path, recursive=True)
        if not published(self.folder.child(segment.name), data):
            raise DataError(f"{self.folder.child(segment.name).shown} exists: another process runs the same stream")


def published(target: Place, data: bytes) -> bool:
    """Create a file atomically; False if it exists. On object stores, this is checked by looking again."""
    passing = Place(target.system, f"{target.path}.{uuid.uuid4().hex}.tmp")
    system = target.file_system
    if not target.system:
        with Path(passing.path).open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(passing.path, target.path)
        except FileExistsError:
            return False
        finally:
            Path(passing.path).unlink()
        return True
    if system.get_file_info(target.path).type != fs.FileType.NotFound:
        return False
    with system.open_output_stream(passing.path) as stream:
        stream.write(data)
    system.move(passing.path, target.path)
    return True


def _line(file: File) -> bytes:
    entry = [file.place.system, file.place.path, file.size, file.modified]
    return json.dumps(entry).encode() + b"\n"


def _file(line: bytes) -> File:
    system, path, size, modified = json.loads(line)
    return File(Place(system, path), size, modified)
