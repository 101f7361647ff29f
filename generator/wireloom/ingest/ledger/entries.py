"""The ledger: which batches were written to the tables of an output, and which moves are pending, exactly once.

A batch is written to its own folder below `_staging`, which readers skip. Then one entry in `_ledger`, created by one
rename, states that the batch exists, its counts, and which folders to move where. The moves can be repeated from any
point, so the next process finishes those of a killed one. A staging folder without an entry never counted, and is
removed. Only one process at a time writes entries of one `kind`. Tables that are not folders of files (Delta) take
staged files by commits of their own, which can be repeated likewise.

Old entries are folded into one total, so that a stream that runs for years keeps few files. The total keeps the list of
files that the batches were made from.
"""

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from wireloom.failures import DataError, MisuseError
from wireloom.ingest.plan import NOTHING, Summary

KINDS = BATCHES, REPLAYS = "batch", "replay"
LEDGER, STAGING = "_ledger", "_staging"
FOLDED = 100  # entries that are kept unfolded, up to twice as many
IDENTITY = "stream.json"  # identifies the stream that writes the tables; beside the entries
DONE = ".done"
UNKNOWN = ""
"""Stands for the files of a batch that does not list them."""
OLD = "/old-"
"""Prefix of the staged names of what a batch replaced."""
Move = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Commit:
    """Staged files that become rows of a Delta table by one commit; each `application` commits a number once."""

    staged: str
    table: str
    application: str
    number: int  # the batch number in the rows
    rows: int
    replaces: int | None = None  # the same commit removes rows of this batch and those with lower numbers
    partition: tuple[str, ...] = ()


Step = Move | Commit


@dataclass(frozen=True, slots=True)
class Removed:
    """What a batch that read files again removed from the tables: files, rows, bad records and their bytes."""

    files: int = 0
    rows: int = 0
    quarantined: int = 0
    bad_size: int = 0

    def __add__(self, other: "Removed") -> "Removed":
        return Removed(
            self.files + other.files,
            self.rows + other.rows,
            self.quarantined + other.quarantined,
            self.bad_size + other.bad_size,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch: its number, its counts, and the moves to do, in order."""

    number: int
    summary: Summary
    digest: str  # of the meaning of the spec that decoded it
    time: str = ""  # when it was entered, UTC
    seconds: float = 0.0
    staging: str = ""
    moves: tuple[Move, ...] = ()
    terms: Mapping[str, Any] = field(default_factory=dict)  # its terms, see `tables/agreement`
    job: str = ""  # digest of what the job read, see `job/batch`
    commits: tuple[Commit, ...] = ()  # to be made after the moves
    files: tuple[str, ...] = ()  # the files it was made from, see `files_read`
    removed: Removed = Removed()  # rows that the same entry removed

    @property
    def anew(self) -> bool:
        """Whether it replaced everything in the tables."""
        return any(OLD in target for _, target in self.moves)


@dataclass(frozen=True, slots=True)
class Read:
    """The files that a batch was made from, and the time of its entry."""

    time: str
    files: tuple[str, ...]

    @classmethod
    def of(cls, entry: Entry) -> "Read":
        """The files of an entry; entries of older versions do not list them."""
        return cls(entry.time, entry.files or ((UNKNOWN,) if entry.summary.records else ()))


class Storage(Protocol):
    """Access to files by path, on any file system. Renames are atomic if the file system supports that."""

    def exists(self, path: str) -> bool:
        """Whether the path exists."""

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; empty if the folder does not exist."""

    def files(self, path: str) -> tuple[str, ...]:
        """The paths of all files below a folder, relative to it; empty if the folder does not exist."""

    def rename(self, path: str, new: str) -> None:
        """Rename a file or folder; raises FileExistsError if the new path exists."""

    def moves_by_file(self, path: str) -> bool:
        """Whether a folder there is moved file by file, so that a killed process leaves both folders."""

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with its content, if it exists."""

    def read(self, path: str) -> str:
        """The text of a file."""

    def write(self, path: str, text: str) -> None:
        """Create a file atomically; raises FileExistsError if it exists."""

    def replace(self, path: str, text: str) -> None:
        """Create a file or replace its text."""

    def absolute(self, path: str) -> str:
        """The path with its file system."""


def _refused(commit: Commit) -> None:
    raise MisuseError(
        f"files in {commit.staged} must still be committed to {commit.table}: run `wireloom replay` of its quarantine "
        "again, on Spark"
    )


@dataclass(frozen=True, slots=True)
class Ledger:
    """The entries of one kind in the ledger of an output.

    `commit` makes commits of Delta tables, and may be repeated.
    """

    storage: Storage
    home: str
    kind: str
    commit: Callable[[Commit], None] = _refused

    def staging(self) -> str:
        """The path of a new staging folder."""
        return f"{self._staging}/{uuid.uuid4().hex}"

    def entry(self, number: int) -> Entry | None:
        """The entry of a batch; None if there is no such batch."""
        path = self._path(number)
        return _entry(self.storage.read(path)) if self.storage.exists(path) else None

    def entries(self) -> tuple[Entry, ...]:
        """The unfolded entries, by number."""
        return tuple(_entry(self.storage.read(f"{self._folder}/{name}")) for name in self._names(self.kind))

    def add(self, entry: Entry) -> None:
        """Enter a batch, which makes it exist; raises FileExistsError if the number is taken."""
        self.storage.write(self._path(entry.number), json.dumps(asdict(entry)))

    def settle(self, entry: Entry) -> None:
        """Do the moves and commits of an entry that are not done yet."""
        if not entry.staging or not self.storage.exists(entry.staging):
            return
        for source, target in entry.moves:
            there, moved = self.storage.exists(source), self.storage.exists(target)
            if there == moved and not self.storage.moves_by_file(source):  # a kill may leave both, or, swept, none
                state = "both are there" if there else "neither is there"
                raise DataError(
                    f"{self.kind} {entry.number} says to move {source} to {target}, but {state}: "
                    "another program changes these folders"
                )
            if there:
                self.storage.rename(source, target)
        for commit in entry.commits:
            self.commit(commit)
        self._sweep(entry.staging)

    def recover(self) -> tuple[Entry, ...]:
        """Finish and return the batches of killed processes, and remove staging folders without an entry."""
        found = self.staged()
        for path, entry in found.items():
            if entry is not None:
                self.settle(entry)
            else:
                self.storage.delete(path)
        return tuple(entry for entry in found.values() if entry is not None)

    def staged(self) -> dict[str, Entry | None]:
        """The staging folders, each with its entry if there is one."""
        pending = {entry.staging.rpartition("/")[2]: entry for entry in self.entries() if entry.staging}
        return {f"{self._staging}/{name}": pending.get(name) for name in self.storage.names(self._staging)}

    def abandon(self) -> None:
        """Remove staging folders without an entry; what cannot be removed stays for the next start."""
        with suppress(Exception):
            for path, entry in self.staged().items():
                if entry is None:
                    self.storage.delete(path)

    def total(self) -> tuple[int, Summary]:
        """The number of batches, and the sum of their counts."""
        count, summary, _ = self._folded()
        entries = self._unfolded()
        return count + len(entries), sum((entry.summary for entry in entries), summary)

    def last(self) -> int:
        """The highest batch number; -1 if there is none."""
        return max((self._folded()[2], *(entry.number for entry in self.entries())))

    def removed(self) -> Removed:
        """The sum of what batches removed from the tables."""
        return self._removed(self._unfolded())

    def _removed(self, entries: Sequence[Entry]) -> Removed:
        folded = Removed(**self._total().get("removed", {}))
        return sum((entry.removed for entry in entries), folded)

    def read(self) -> tuple[Read, ...]:
        """The files of each batch in the tables, oldest first; folded batches count as one."""
        return self._read(self._unfolded())

    def _read(self, entries: Sequence[Entry]) -> tuple[Read, ...]:
        found, total = tuple(map(Read.of, in_tables(entries))), self._total()
        if not total or any(entry.anew for entry in entries):
            return found
        return (Read(total.get("time", ""), tuple(total.get("files", (UNKNOWN,)))), *found)

    def fold(self) -> None:
        """Fold old entries into the total if there are many."""
        names = self._names(self.kind)
        if len(names) < 2 * FOLDED:
            return
        count, summary, after = self._folded()
        old = [entry for entry in self.entries()[:-FOLDED] if entry.number > after]
        total = sum((entry.summary for entry in old), summary)
        last = old[-1].number
        self.storage.write(
            f"{self._folder}/total-{self.kind}-{last:010d}.json",
            json.dumps(
                {
                    "batches": count + len(old),
                    "last": last,
                    "summary": asdict(total),
                    "time": old[-1].time,
                    "files": _latest(self._read(old)),
                    "removed": asdict(self._removed(old)),
                }
            ),
        )
        for name in [*self._names(f"total-{self.kind}")[:-1], *names[:-FOLDED]]:
            self.storage.delete(f"{self._folder}/{name}")

    def _folded(self) -> tuple[int, Summary, int]:
        found = self._total()
        return (found["batches"], Summary.read(found["summary"]), found["last"]) if found else (0, NOTHING, -1)

    def _total(self) -> dict[str, Any]:
        names = self._names(f"total-{self.kind}")
        found: dict[str, Any] = json.loads(self.storage.read(f"{self._folder}/{names[-1]}")) if names else {}
        return found

    def _unfolded(self) -> tuple[Entry, ...]:
        after = self._folded()[2]
        return tuple(entry for entry in self.entries() if entry.number > after)

    def _names(self, kind: str) -> tuple[str, ...]:
        return tuple(name for name in self.storage.names(self._folder) if name.startswith(f"{kind}-"))

    def _sweep(self, staging: str) -> None:
        """Remove a staging folder; the rename first ensures that a half-removed one does not look pending."""
        self.storage.rename(staging, staging + DONE)
        self.storage.delete(staging + DONE)

    def _path(self, number: int) -> str:
        return f"{self._folder}/{self.kind}-{number:010d}.json"

    @property
    def _folder(self) -> str:
        return f"{self.home}/{LEDGER}"

    @property
    def _staging(self) -> str:
        return f"{self.home}/{STAGING}/{self.kind}"


def in_tables(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The batches whose rows are in the tables: from the last one that replaced everything."""
    anew = [place for place, entry in enumerate(entries) if entry.anew]
    return entries[anew[-1] :] if anew else entries


def _latest(batches: Iterable[Read]) -> tuple[str, ...]:
    """The files of all batches, each in its latest state."""
    return tuple({file.partition("-")[0]: file for read in batches for file in read.files}.values())


def _entry(text: str) -> Entry:
    found = json.loads(text)
    found["summary"] = Summary.read(found["summary"])
    found["moves"] = tuple(tuple(move) for move in found["moves"])
    commits = found.get("commits", ())  # entries of older versions have none
    found["commits"] = tuple(Commit(**{**each, "partition": tuple(each["partition"])}) for each in commits)
    found["files"] = tuple(found.get("files", ()))
    found["removed"] = Removed(**found.get("removed", {}))
    return Entry(**found)
