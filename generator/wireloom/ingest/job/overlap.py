"""Refuses a job whose input and output overlap, because it would read its own tables as data.

It compares paths, not files, before anything is written and before Java starts. It follows links on this machine, and
compares globs with the names that they could match. Files that readers skip may be inside of the input.
"""

import os
import re
from dataclasses import dataclass
from typing import assert_never

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import LOCAL, glob_pattern, hidden
from wireloom.ingest.plan import Column, Files, Kafka, Samples, Source

SCHEMED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/*")
GLOB = re.compile(r"[*?\[{]")
SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
"""Schemes that mean the same file system."""


def refuse_overlap(source: Source, output: str, checkpoint: str = "") -> None:
    """Raise MisuseError if the output or the checkpoint is in the input, or the input in the output."""
    match source:
        case Files(path) | Column(path):
            pass
        case Kafka() | Samples():
            return
        case _:
            assert_never(source)
    read, written = _Names.of(path), _Names.of(output)
    for option, place in (("--output", written), ("--checkpoint", _Names.of(checkpoint))):
        if not place.names:
            continue
        if read.reads(place):
            named = output if place is written else checkpoint
            raise MisuseError(
                f"{option} {named} is inside --input {path}, so the job would read what it writes; "
                "choose a folder outside the input"
            )
    if written.holds(read):
        raise MisuseError(
            f"--input {path} is inside --output {output}, where Wireloom writes and removes files; "
            "choose another --output"
        )


@dataclass(frozen=True, slots=True)
class _Names:
    """A path, as its file system and the names on the way."""

    system: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: str) -> "_Names":
        """Split a user's path; None for no path."""
        if not path:
            return cls("", ())
        found = SCHEMED.match(path)
        if found is None or path.startswith(LOCAL):
            local = path if found is None else f"/{path[found.end() :]}"
            return cls("", tuple(filter(None, os.path.realpath(local).split("/"))))
        scheme = found[1].lower()
        rest = path[found.end() :].partition("?")[0].rpartition("@")[2]
        return cls(SAME.get(scheme, scheme), tuple(filter(None, rest.split("/"))))

    def holds(self, other: "_Names") -> bool:
        """Whether the other path is the same, or below this one."""
        if self.system != other.system or len(other.names) < len(self.names):
            return False
        return all(map(_fits, self.names, other.names))

    def reads(self, other: "_Names") -> bool:
        """The same, but only if readers do not skip a name on the way."""
        return self.holds(other) and not any(map(hidden, other.names[len(self.names) :]))


def _fits(pattern: str, name: str) -> bool:
    return pattern == name or (GLOB.search(pattern) is not None and glob_pattern(pattern).fullmatch(name) is not None)
