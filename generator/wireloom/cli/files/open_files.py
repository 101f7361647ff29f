"""Opens files, folders, globs and standard input, one file after the other, decompressed as `ingest` does it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from wireloom.cli.commands.records.transcode import called, opened_input
from wireloom.cli.terminal.console import note
from wireloom.failures import MisuseError
from wireloom.runtime.streams.framing_guess import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireloom.runtime.errors import DecodeError


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file: its name in messages, its bytes, the first bytes, and its size if known."""

    name: str
    source: BinaryIO
    head: bytes
    size: int | None

    def damage(self) -> "tuple[int, DecodeError] | None":
        """Where and why a compressed file ended too early; call it after reading the file."""
        failure = getattr(self.source, "failure", None)
        return None if failure is None else (getattr(self.source, "reached", 0), failure)


def opened(paths: Sequence[str]) -> Iterator[Opened]:
    """Each file, open until the next is asked for; raises MisuseError if a path names no file."""
    for path in paths:
        if path == "-" or _is_special(Path(path)):
            with opened_input(Path(path)) as source:
                peek = getattr(source, "peek", None)
                yield Opened(called(Path(path)), source, peek(HEAD) if peek else b"", None)
        else:
            yield from _listed(path)


def _is_special(path: Path) -> bool:
    """Whether a path is a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _listed(path: str) -> Iterator[Opened]:
    """A file, the files of a folder, or the matches of a glob or a URI."""
    from wireloom.ingest.files.finding import Listing

    if Path(path).is_file():
        with _plain(path, partial(_open, path), Path(path).stat().st_size) as file:
            yield file
        return
    found = Listing((path,), recursive=True).found()
    for line in found.passed_over():
        note(line)
    if not found.files:
        raise MisuseError(f"{path} has no files")
    for each in found.files:
        with _plain(_as_named(path, each.path), each.place.open, each.size) as file:
            yield file


def _open(path: str) -> BinaryIO:
    return Path(path).open("rb")


def _as_named(path: str, found: str) -> str:
    """The name of a file in a folder, beginning with the folder as the user wrote it."""
    from wireloom.ingest.files.finding import LOCAL

    whole, local = str(Path(path).absolute()), found.removeprefix(LOCAL)
    return path.rstrip("/") + local.removeprefix(whole) if local.startswith(f"{whole}/") else found


@contextmanager
def _plain(name: str, again: "Callable[[], BinaryIO]", size: int) -> Iterator[Opened]:
    from wireloom.ingest.files.compression import Bounds, Unpacked, plain

    with again() as first:
        stream = plain(first, again, name, Bounds())
        head = stream.read(HEAD)
        whole = None if isinstance(stream, Unpacked) and len(head) == HEAD else size
        whole = len(head) if isinstance(stream, Unpacked) and whole is not None else whole
    with again() as source:
        yield Opened(name, plain(source, again, name, Bounds()), head, whole)
