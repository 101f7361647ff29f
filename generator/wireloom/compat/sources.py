"""Loads the specs to compare with, from a folder or a git revision, with the current generator."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from wireloom import pipeline
from wireloom.failures import MachineError, MisuseError
from wireloom.model.format import Format
from wireloom.problems import Location, SpecProblems
from wireloom.project import spec_files
from wireloom.spec import Document

GIT = "git:"


@dataclass(frozen=True, slots=True)
class Source:
    """Specs, and how to show their files: `git:main:specs/x.yaml` instead of a file in a temporary folder."""

    specs: pipeline.Specs
    folder: str
    shown: str

    def place(self, location: Location | None) -> Location | None:
        """A location with the file as users know it."""
        if location is None or not location.file.startswith(self.folder):
            return location
        return Location(self.shown + location.file.removeprefix(self.folder), location.line, location.column)


@contextmanager
def against(text: str, specs: Path, new: pipeline.Specs) -> Iterator[Source]:
    """The specs that `--against` names; raises MisuseError if there are none or the current generator refuses them.

    `new` are the current specs, in the folder `specs`. A format with an unchanged file is taken from them.
    """
    if not text.startswith(GIT):
        folder = Path(text)
        if not folder.is_dir():
            what = "it is not a folder" if folder.exists() else "it is not there"
            raise MisuseError(f"--against {text}: {what}; name the folder of the old specs, or git:REVISION")
        yield _read(folder, text, text, _same(folder, specs, new))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder, shown = _extracted(text.removeprefix(GIT), specs, Path(scratch))
        yield _read(folder, shown, text, _same(folder, specs, new))


def _same(folder: Path, specs: Path, new: pipeline.Specs) -> dict[Path, tuple[Format, Document]]:
    """The old files of unchanged formats, with the current formats; empty if a library or schema changed.

    The meaning of a format depends only on its own file and on the shared files.
    """
    today = {path.relative_to(specs): path.read_bytes() for path in spec_files(specs)}
    before = {path.relative_to(folder): path.read_bytes() for path in spec_files(folder)}
    formats = {
        Path(document.path): (format, document) for format, document in zip(new.formats, new.documents, strict=True)
    }
    if any(before.get(path) != data for path, data in today.items() if path not in formats):
        return {}
    return {folder / path: formats[path] for path, data in before.items() if path in formats and today[path] == data}


def _read(folder: Path, shown: str, text: str, same: Mapping[Path, tuple[Format, Document]]) -> Source:
    try:
        read = pipeline.read(folder, outcomes=False, without=same.keys())
    except MisuseError as error:
        if not same:
            raise MisuseError(f"--against {text}: no specs of formats are there") from error
        read = pipeline.Specs((), ())  # the rest are libraries and schemas
    except SpecProblems as error:
        first = error.problems[0]
        count = len(error.problems)
        where = f"{shown}{first.location.file.removeprefix(str(folder))}:{first.location.line}"
        message = f"--against {text}: this wireloom refuses the old specs ({count} problem{'s' * (count > 1)})"
        raise MisuseError(f"{message}: {where}: {first.text}") from error
    formats = (*read.formats, *(format for format, _ in same.values()))
    documents = (*read.documents, *(document for _, document in same.values()))
    return Source(pipeline.Specs(formats, documents), str(folder), shown)


def _extracted(revision: str, specs: Path, scratch: Path) -> tuple[Path, str]:
    """Extract the folder of specs of a revision; returns its path, and its name for messages."""
    if shutil.which("git") is None:
        raise MachineError("git is not installed, which --against git:REVISION asks")
    option = f"--against {GIT}{revision}"
    if not revision:
        raise MisuseError(f"{option}: it has no revision; name one, such as {GIT}main or {GIT}HEAD~1")
    top = _git(specs, "rev-parse", "--show-toplevel")
    if top.returncode:
        raise MisuseError(f"{option}: {specs} is in no git repository; name the folder of the old specs in its place")
    root = Path(top.stdout.decode().rstrip("\n"))
    commit = _git(specs, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit.returncode:
        raise MisuseError(f"{option}: {root} has no revision {revision}; `git log` lists them")
    below = specs.resolve().relative_to(root.resolve()).as_posix()
    archived = _git(root, "archive", "--format=tar", commit.stdout.decode().strip(), "--", below)
    if archived.returncode:
        raise MisuseError(f"{option}: {revision} has no folder {below}; --specs names the folder of today")
    with tarfile.open(fileobj=BytesIO(archived.stdout)) as archive:
        for member in archive:
            target, found = scratch / member.name, archive.extractfile(member) if member.isfile() else None
            if found is not None and target.resolve().is_relative_to(scratch.resolve()):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(found.read())
    return scratch / below, f"{GIT}{revision}:{below}"


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)  # noqa: S603, S607
