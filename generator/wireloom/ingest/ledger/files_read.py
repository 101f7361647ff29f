"""Tells which files the tables of an output were made from, by path, size and modification time.

An entry of the ledger lists each file of its batch as `PATH-SIZE-TIME`: a digest of the path, and both numbers in
hexadecimal. Entries of older versions have one digest for files and settings together, which cannot be split. For
these, the rows of the tables give the paths, and the time of the entry shows whether a file has changed since.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from wireloom.ingest.files.finding import LOCAL, File
from wireloom.ingest.ledger.entries import Read

_DIGITS = 16
_NANO = 10**9


@dataclass(frozen=True, slots=True)
class State:
    """The size of a file, and the time of its last change in nanoseconds, when it was read."""

    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Known:
    """The files whose rows are in the tables, by `identity`.

    `before` is the time in nanoseconds before which files without a recorded state were read; 0 if unknown.
    """

    states: Mapping[str, State | None]
    before: int = 0

    def has(self, file: File) -> bool:
        """Whether the tables have rows of the file, in any state."""
        return identity(file.path) in self.states

    def changed(self, file: File) -> str:
        """How the file has changed since it was read; empty if it has not."""
        state = self.states[identity(file.path)]
        if state is None:
            return "changed since" if 0 < self.before < file.modified else ""
        if state.size != file.size:
            return f"{state.size} bytes when it was read, {file.size} now"
        return "changed since, of the same size" if state.modified != file.modified else ""


def recorded(file: File) -> str:
    """A file in the notation of ledger entries."""
    return f"{identity(file.path)}-{file.size:x}-{file.modified:x}"


def identities(files: Iterable[str]) -> frozenset[str]:
    """The identities of a batch's files."""
    return frozenset(file.partition("-")[0] for file in files)


def known(batches: Iterable[Read], in_tables: Callable[[], Iterable[str]]) -> Known:
    """The files of batches. `in_tables` gives the paths in the rows, for batches that do not list their files."""
    states: dict[str, State | None] = {}
    untold: list[str] = []
    for read in batches:
        for file in read.files:
            name, *numbers = file.split("-")
            if numbers:
                size, modified = (int(number, 16) for number in numbers)
                states[name] = State(size, modified)
            else:
                untold.append(read.time)
    if not untold:
        return Known(states)
    others: dict[str, State | None] = {identity(path): None for path in in_tables()}
    return Known(others | states, _nanoseconds(max(untold)))


def identity(path: str) -> str:
    """A digest of a path, the same for all links to its folder; `path` is as in the tables."""
    folder, slash, name = path.rpartition("/")
    real = f"{_real(folder)}{slash}{name}" if path.startswith(LOCAL) else path
    return hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def look_again() -> None:
    """Forget resolved links, which may change between the jobs of a long-running program."""
    _real.cache_clear()


@cache
def _real(folder: str) -> str:
    return LOCAL + os.path.realpath(f"/{folder.removeprefix(LOCAL).lstrip('/')}")


def _nanoseconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp() * _NANO) if time else 0
