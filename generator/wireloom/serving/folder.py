"""The specs of a folder as the page names them.

A name is looked up among the files of the folder. It is never used as a path.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from wireloom.failures import MisuseError, refuse_unknown
from wireloom.project import spec_files
from wireloom.spec.yaml import child, parse, scalar


class ChangedError(Exception):
    """A file has changed since the page opened it."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A spec: its name below the folder, its format, and the format's title. A spec with mistakes may lack both."""

    name: str
    format: str
    title: str


def digest(data: bytes) -> str:
    """A digest, which shows whether a file has changed."""
    return hashlib.sha256(data).hexdigest()


def paths(specs: Path) -> dict[str, Path]:
    """The specs of a folder, by their names."""
    return {path.relative_to(specs).as_posix(): path for path in spec_files(specs)}


def listed(specs: Path) -> list[Listed]:
    """The specs of formats, sorted by format; raises MisuseError if there are none."""
    found = []
    for name, path in paths(specs).items():
        node, _ = parse(path.read_text(encoding="utf-8", errors="replace"), name)
        format = scalar(child(node, "format"))
        if format or not any(child(node, key) for key in ("library", "schema")):
            found.append(Listed(name, format, scalar(child(node, "title"))))
    if not found:
        raise MisuseError(f"{specs} has no spec of a format; `wireloom new NAME --specs {specs}` starts one")
    return sorted(found, key=lambda each: (each.format, each.name))


def chosen(specs: Path, format: str | None) -> str:
    """The name of a format's spec; by default the first spec."""
    found = listed(specs)
    if format is None:
        return found[0].name
    known = {each.format: each.name for each in reversed(found)}
    refuse_unknown("format", [format], known)
    return known[format]


def path_of(specs: Path, name: str) -> Path:
    """The file with that name; raises MisuseError if the folder has none."""
    known = paths(specs)
    refuse_unknown("spec", [name], known)
    return known[name]


def save(specs: Path, name: str, text: str, opened: str) -> str:
    """Write a text to a spec; returns its new digest. Raises ChangedError if the file's digest is no longer `opened`.

    The write is atomic: a reader sees the old text or the new one.
    """
    path = path_of(specs, name).resolve()
    if digest(path.read_bytes()) != opened:
        raise ChangedError(f"{name} was changed on disk after it was opened here")
    data = text.encode("utf-8")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(path.stat().st_mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return digest(data)
