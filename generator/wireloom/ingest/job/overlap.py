"""Refuses a job whose input and output overlap: it would read its own tables as data.

It compares paths, not files, before anything is written and before Java starts. Links on this machine are followed, a
glob is compared with the names that it could match, and files that readers skip may be inside of the input.
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
"""Schemes that are other words for one."""


def refuse_overlap(source: Source, output: str, checkpoint: str = "") -> None:
    """Raises MisuseError where the output, or the checkpoint, is in the input, or the input in the output."""
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
    """A path, by the file system and the names that lead to it."""

    system: str
    names: tuple[str, ...]

    @classmethod
    def of(cls, path: str) -> "_Names":
        """Those of a path as users write it; none for no path."""
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
        """Whether the other is this, or below it."""
        if self.system != other.system or len(other.names) < len(self.names):
            return False
        return all(map(_fits, self.names, other.names))

    def reads(self, other: "_Names") -> bool:
        """The same, where readers look."""
        return self.holds(other) and not any(map(hidden, other.names[len(self.names) :]))


def _fits(pattern: str, name: str) -> bool:
    return pattern == name or (GLOB.search(pattern) is not None and glob_pattern(pattern).fullmatch(name) is not None)
