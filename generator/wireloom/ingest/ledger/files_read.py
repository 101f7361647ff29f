"""Which files the tables of an output were made from: by path, size and modification time, whatever read them.

An entry of the ledger lists each file of its batch as `PATH-SIZE-TIME`: a digest of the path, and both numbers in
hexadecimal. Entries of older versions have one digest for files and settings together, which cannot be split; for
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
    """A file as it was when it was read: its size, and the time of its last change in nanoseconds."""

    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Known:
    """The files of the tables by what `identity` calls them.

    `before` is when those were read whose state nobody wrote down, in nanoseconds; 0 where that is not known.
    """

    states: Mapping[str, State | None]
    before: int = 0

    def has(self, file: File) -> bool:
        """Whether rows of it, as it is or as it was, are in the tables."""
        return identity(file.path) in self.states

    def changed(self, file: File) -> str:
        """What is another since it was read, in words; empty where nothing is."""
        state = self.states[identity(file.path)]
        if state is None:
            return "changed since" if 0 < self.before < file.modified else ""
        if state.size != file.size:
            return f"{state.size} bytes when it was read, {file.size} now"
        return "changed since, of the same size" if state.modified != file.modified else ""


def recorded(file: File) -> str:
    """A file, as entries of the ledger have it."""
    return f"{identity(file.path)}-{file.size:x}-{file.modified:x}"


def identities(files: Iterable[str]) -> frozenset[str]:
    """The identities of files that a batch tells of."""
    return frozenset(file.partition("-")[0] for file in files)


def known(batches: Iterable[Read], in_tables: Callable[[], Iterable[str]]) -> Known:
    """The files of batches; `in_tables` finds the paths in the rows of the tables, where the batches do not tell."""
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
    """What a file is known by, whichever way leads to its folder: `path` is as tables show it."""
    folder, slash, name = path.rpartition("/")
    real = f"{_real(folder)}{slash}{name}" if path.startswith(LOCAL) else path
    return hashlib.sha256(real.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def look_again() -> None:
    """Follow links as they are now: a program that runs for long may see them changed from job to job."""
    _real.cache_clear()


@cache
def _real(folder: str) -> str:
    return LOCAL + os.path.realpath(f"/{folder.removeprefix(LOCAL).lstrip('/')}")


def _nanoseconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp() * _NANO) if time else 0
