"""The ledger: what was written to the tables of an output, and what must still be moved there, exactly once.

A batch is written to a folder of its own below `_staging`, which no reader looks into. One entry in `_ledger`, made by
one rename, then states that the batch exists, what is in it, and which folders must be moved where. The moves can be
repeated from any point, so the next process finishes what a killed one began. A staging folder without an entry never
counted, and is removed. Entries of one `kind` come from one process at a time. Tables that are not folders of files
take what is staged by commits of their own, which can be repeated likewise.

Old entries are folded into one total, so that a stream that runs for years keeps few files. The total keeps the list
of files that the batches were made from.
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
FOLDED = 100  # entries that are kept on their own, at most twice as many
IDENTITY = "stream.json"  # which stream the tables belong to, beside its entries
DONE = ".done"
UNKNOWN = ""
"""In place of the files of a batch that does not tell them."""
OLD = "/old-"
"""Before the names of what a batch replaced, where it was staged."""
Move = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Commit:
    """Staged files that become rows of a table by a commit of its own; there is one of each `application`."""

    staged: str
    table: str
    application: str
    number: int  # of the batch, as the rows have it
    rows: int
    replaces: int | None = None  # rows of this batch, and of those with lower numbers, go by the same commit
    partition: tuple[str, ...] = ()


Step = Move | Commit


@dataclass(frozen=True, slots=True)
class Removed:
    """What a batch that read files again took out of the tables: rows of how many files, and bytes of bad records."""

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
    """One batch: its number, what is in it, what remains to be moved from where to where, in this order."""

    number: int
    summary: Summary
    digest: str  # of what the spec means that it was decoded with
    time: str = ""  # when it was there, UTC
    seconds: float = 0.0
    staging: str = ""
    moves: tuple[Move, ...] = ()
    terms: Mapping[str, Any] = field(default_factory=dict)  # what it was written by, see `terms`
    job: str = ""  # which files it was made from, and how, see `batch`
    commits: tuple[Commit, ...] = ()  # after the moves
    files: tuple[str, ...] = ()  # each of those files, as `known` writes it
    removed: Removed = Removed()  # what went out of the tables by the same entry

    @property
    def anew(self) -> bool:
        """Whether it replaced all that was in the tables."""
        return any(OLD in target for _, target in self.moves)


@dataclass(frozen=True, slots=True)
class Read:
    """The files that a batch was made from, and when it was there."""

    time: str
    files: tuple[str, ...]

    @classmethod
    def of(cls, entry: Entry) -> "Read":
        """Those of an entry; older versions did not write down which files those were."""
        return cls(entry.time, entry.files or ((UNKNOWN,) if entry.summary.records else ()))


class Storage(Protocol):
    """Files by their paths, on whatever file system they are; a rename is one step where the file system has that."""

    def exists(self, path: str) -> bool:
        """Whether the path is there."""

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none where there is no folder."""

    def files(self, path: str) -> tuple[str, ...]:
        """The files in a folder and below, by their paths from it; none where there is no folder."""

    def rename(self, path: str, new: str) -> None:
        """Move a file or a folder to a path that is not there yet; raises FileExistsError where it is."""

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing where it is not there."""

    def read(self, path: str) -> str:
        """The text of a file."""

    def write(self, path: str, text: str) -> None:
        """Make a file that is not there yet, whole or not at all; raises FileExistsError where it is."""

    def replace(self, path: str, text: str) -> None:
        """Make a file, or give it another text."""

    def absolute(self, path: str) -> str:
        """The path with its file system."""


def _refused(commit: Commit) -> None:
    raise MisuseError(
        f"files in {commit.staged} must still be committed to {commit.table}: run `wireloom replay` of its quarantine "
        "again, on Spark"
    )


@dataclass(frozen=True, slots=True)
class Ledger:
    """The entries of one kind, in the ledger of one output folder; `commit` makes commits, again where they are."""

    storage: Storage
    home: str
    kind: str
    commit: Callable[[Commit], None] = _refused

    def staging(self) -> str:
        """A new folder to write a batch to."""
        return f"{self._staging}/{uuid.uuid4().hex}"

    def entry(self, number: int) -> Entry | None:
        """The entry of that number, where the batch is."""
        path = self._path(number)
        return _entry(self.storage.read(path)) if self.storage.exists(path) else None

    def entries(self) -> tuple[Entry, ...]:
        """The entries that are not folded, by number."""
        return tuple(_entry(self.storage.read(f"{self._folder}/{name}")) for name in self._names(self.kind))

    def add(self, entry: Entry) -> None:
        """The batch is; raises FileExistsError where another of that number was first."""
        self.storage.write(self._path(entry.number), json.dumps(asdict(entry)))

    def settle(self, entry: Entry) -> None:
        """Do the moves that are not done yet."""
        if not entry.staging or not self.storage.exists(entry.staging):
            return
        for source, target in entry.moves:
            there, moved = self.storage.exists(source), self.storage.exists(target)
            if there == moved:
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
        """Finish what a killed process began, and remove what it did not get to; what was finished."""
        found = self.staged()
        for path, entry in found.items():
            if entry is not None:
                self.settle(entry)
            else:
                self.storage.delete(path)
        return tuple(entry for entry in found.values() if entry is not None)

    def staged(self) -> dict[str, Entry | None]:
        """The folders that are staged, and the entry that names each, if there is one."""
        pending = {entry.staging.rpartition("/")[2]: entry for entry in self.entries() if entry.staging}
        return {f"{self._staging}/{name}": pending.get(name) for name in self.storage.names(self._staging)}

    def abandon(self) -> None:
        """Remove what was staged and will not be entered; what is in the way of that stays for the next start."""
        with suppress(Exception):
            for path, entry in self.staged().items():
                if entry is None:
                    self.storage.delete(path)

    def total(self) -> tuple[int, Summary]:
        """The number of batches, and all of them added up."""
        count, summary, _ = self._folded()
        entries = self._unfolded()
        return count + len(entries), sum((entry.summary for entry in entries), summary)

    def last(self) -> int:
        """The highest number given so far; -1 where there is none."""
        return max((self._folded()[2], *(entry.number for entry in self.entries())))

    def removed(self) -> Removed:
        """What batches took out of the tables, added up."""
        return self._removed(self._unfolded())

    def _removed(self, entries: Sequence[Entry]) -> Removed:
        folded = Removed(**self._total().get("removed", {}))
        return sum((entry.removed for entry in entries), folded)

    def read(self) -> tuple[Read, ...]:
        """What the tables were made from, batch by batch, the oldest first; folded batches are one."""
        return self._read(self._unfolded())

    def _read(self, entries: Sequence[Entry]) -> tuple[Read, ...]:
        found, total = tuple(map(Read.of, in_tables(entries))), self._total()
        if not total or any(entry.anew for entry in entries):
            return found
        return (Read(total.get("time", ""), tuple(total.get("files", (UNKNOWN,)))), *found)

    def fold(self) -> None:
        """Add old entries up, where there are many."""
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
        """Remove a staging folder; half removed, it must not be taken for one that is not moved yet."""
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
    """The batches that are in the tables: those from the last one on that replaced what was there."""
    anew = [place for place, entry in enumerate(entries) if entry.anew]
    return entries[anew[-1] :] if anew else entries


def _latest(batches: Iterable[Read]) -> tuple[str, ...]:
    """The files of all these batches, each as it was read last."""
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
