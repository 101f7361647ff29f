"""Finds the files of a path, directory or glob, on this machine or in any file system that pyarrow can read.

A path without a scheme, or with `file:`, is local. Any other path is a URI for `pyarrow.fs.FileSystem.from_uri`
(`s3://`, `hdfs://`, `gs://`), with the options that pyarrow reads from its query. As in Spark, names that begin with
`_` or `.`, and names of incomplete files, are skipped.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

from pyarrow import fs

from wireloom.failures import MisuseError
from wireloom.ingest.plan import CODES, GONE, OTHER
from wireloom.runtime.errors import DecodeError

LOCAL = "file:"
_WINDOW = 1 << 20
_NAMED = 3
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_GLOB = re.compile(r"[*?\[{]")
UNFINISHED = (".tmp", ".part", "._COPYING_")
"""Suffixes of files that are still being written."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path in a file system, which is given by its URI for pyarrow (empty for this machine)."""

    system: str
    path: str

    @property
    def shown(self) -> str:
        """The path for users: without credentials and query; local paths in Hadoop's notation, never escaped."""
        if not self.system:
            return f"{LOCAL}{self.path}"
        scheme = self.system.partition("://")[0]
        authority = f"//{self.system.partition('://')[2].split('/')[0].rpartition('@')[2]}"
        # for these, the bucket is the first part of the path
        host = "" if scheme in {"s3", "gs", "gcs", "mock"} else authority
        return f"{scheme}:{host or '//'}{self.path}"

    @property
    def file_system(self) -> Any:
        """The file system of pyarrow."""
        return _file_system(self.system)

    def child(self, name: str) -> "Place":
        """The path of a name in this directory."""
        return Place(self.system, f"{self.path.rstrip('/')}/{name}")

    def open(self) -> BinaryIO:
        """Open the file, which is seekable."""
        if not self.system:
            return Path(self.path).open("rb")
        return cast(BinaryIO, io.BufferedReader(self.file_system.open_input_file(self.path), _WINDOW))


@dataclass(frozen=True, slots=True)
class File:
    """A file with its size in bytes, and the time of its last change in nanoseconds."""

    place: Place
    size: int
    modified: int

    @property
    def path(self) -> str:
        """The path for users."""
        return self.place.shown


class NoFilesError(MisuseError):
    """The user's path matches nothing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"there is no file or folder {path}")
        self.path = path


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to read: all below the paths, or without `recursive` directly in them, filtered by a name pattern."""

    paths: tuple[str, ...]
    name_pattern: str | None = None
    recursive: bool = False

    def files(self) -> list[File]:
        """The files, each once, sorted by path; raises MisuseError if a path matches nothing."""
        return list(self.found().files)

    def found(self) -> "Found":
        """The files, and the skipped names; raises MisuseError if a path matches nothing."""
        named = glob_pattern(self.name_pattern) if self.name_pattern else None
        found: dict[str, File] = {}
        passed: list[str] = []
        for path in self.paths:
            for file in _files_of(path, passed, recursive=self.recursive):
                if named is None or named.fullmatch(file.path.rpartition("/")[2]):
                    found.setdefault(file.path, file)
        return Found(tuple(found[path] for path in sorted(found)), tuple(sorted(passed)))


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a listing, and the names of files and directories that it skipped."""

    files: tuple[File, ...]
    passed: tuple[str, ...]

    def passed_over(self) -> Iterator[str]:
        """A line that names what was skipped."""
        if self.passed:
            others = len(self.passed) - _NAMED
            names = ", ".join(self.passed[:_NAMED]) + (f" and {others} others" if others > 0 else "")
            yield f"skipped, since their names mark them as hidden or incomplete: {names}"


@cache
def _file_system(uri: str) -> Any:
    return fs.FileSystem.from_uri(uri)[0] if uri else fs.LocalFileSystem()


def place(path: str) -> Place:
    """The place of a user's path; raises MisuseError if pyarrow does not know the file system."""
    if path.startswith(LOCAL):
        return Place("", f"/{path.removeprefix(LOCAL).lstrip('/')}")
    if not _SCHEME.match(path):
        return Place("", str(Path(path).absolute()))
    try:
        return Place(path, fs.FileSystem.from_uri(path)[1])
    except (ValueError, OSError) as error:
        hint = "; use s3:// with pyarrow" if path.startswith(("s3a:", "s3n:")) else ""
        raise MisuseError(f"cannot read {_without_secrets(path)}: {error}{hint}") from error


def reachable(path: str) -> bool:
    """Whether pyarrow knows the file system of a path."""
    try:
        place(path)
    except MisuseError:
        return False
    return True


def hidden(name: str) -> bool:
    """Whether files and directories of this name are skipped."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith(UNFINISHED)


def glob_pattern(glob: str) -> re.Pattern[str]:
    r"""A glob for a name as a regular expression: `*`, `?`, `[a-z]`, `[^a]`, `{this,that}`, `\` before a character."""
    tokens = {"*": ".*", "?": ".", "{": "(?:", "}": ")", ",": ","}
    text, depth, at = "", 0, 0
    while at < len(glob):
        char, at = glob[at], at + 1
        end = glob.find("]", at + 1) if char == "[" else -1
        if end > 0:
            inner = glob[at:end].replace("\\", "\\\\")
            text, at = text + f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]", end + 1
        elif char == "\\" and at < len(glob):
            text, at = text + re.escape(glob[at]), at + 1
        elif char == "," and depth:
            text += "|"
        elif char in tokens and (char != "}" or depth):
            depth += {"{": 1, "}": -1}.get(char, 0)
            text += tokens[char]
        else:
            text += re.escape(char)
    try:
        return re.compile(text, re.DOTALL)
    except re.error as error:
        raise MisuseError(f"{glob!r} is not a valid glob: {error}") from error


def _files_of(path: str, passed: list[str], *, recursive: bool) -> list[File]:
    found = [(root, info) for root in _roots(path) if (info := _look(root)).type != fs.FileType.NotFound]
    if not found:
        raise NoFilesError(_without_secrets(path))
    files: list[File] = []
    for root, info in found:
        if info.type == fs.FileType.Directory:
            files += _children(root, passed, recursive=recursive)
        else:
            files.append(_file(root.system, info))
    return files


def _without_secrets(path: str) -> str:
    """A user's path for messages: a URI without credentials and query."""
    return re.sub(r"//[^/@]*@", "//", path.partition("?")[0]) if "://" in path else path


def _look(at: Place) -> Any:
    try:
        return at.file_system.get_file_info(at.path)
    except UnicodeEncodeError as error:
        raise MisuseError(f"the name {at.path!r} is not UTF-8: rename it") from error


def _children(directory: Place, passed: list[str], *, recursive: bool) -> Iterator[File]:
    """The files in a directory; none if it disappears meanwhile."""
    for info in _listed(directory):
        name = _name(info, directory)
        if hidden(name):
            passed.append(name)
        elif info.type == fs.FileType.File:
            yield _file(directory.system, info)
        elif recursive and info.type == fs.FileType.Directory:
            yield from _children(Place(directory.system, info.path), passed, recursive=True)


def _listed(directory: Place) -> Sequence[Any]:
    selector = fs.FileSelector(directory.path, allow_not_found=True)
    return cast(Sequence[Any], directory.file_system.get_file_info(selector))


def _name(info: Any, directory: Place) -> str:
    try:
        return str(info.base_name)
    except UnicodeDecodeError as error:
        raise MisuseError(f"{directory.path} has a file whose name is not UTF-8: rename it") from error


def _file(system: str, info: Any) -> File:
    return File(Place(system, info.path), info.size or 0, info.mtime_ns or 0)


def _base(path: str) -> tuple[str, list[str]]:
    """Split a path before the first name with a glob."""
    names = path.split("/")
    first = next((at for at, name in enumerate(names) if _GLOB.search(name)), len(names))
    if "://" in path and "?" in path and first < len(names) and not re.search(r"[*\[{]", path.partition("?")[0]):
        first = len(names)  # here, `?` starts a query
    return "/".join(names[:first]) or ("/" if path.startswith("/") else "."), names[first:]


def _roots(path: str) -> Iterable[Place]:
    base, names = _base(path)
    if not names or (not _SCHEME.match(path) and Path(path).exists()):
        return [place(path)]  # a file may have a name like a[1].bin
    if _SCHEME.match(path) and not path.startswith(LOCAL):
        *kept, last = names
        last, query, rest = last.partition("?")
        base, names = base + query + rest, [*kept, last]
    found = [place(base)]
    for name in filter(None, names):
        found = [each for directory in found for each in _matching(directory, name)]
    return found


def _matching(directory: Place, name: str) -> Iterator[Place]:
    if not _GLOB.search(name):
        yield directory.child(name)
        return
    pattern, asks_hidden = glob_pattern(name), name[0] in "._" or name.endswith(UNFINISHED)
    for info in _listed(directory):
        if pattern.fullmatch(info.base_name) and (asks_hidden or not hidden(info.base_name)):
            yield Place(directory.system, info.path)


class FileChangedError(Exception):
    """A file that disappeared or changed after it was listed."""

    def __init__(self, file: File, code: str, expected: str, actual: str) -> None:
        super().__init__(f"{file.path} {_CHANGED[code].format(expected, actual)}")
        self.file, self.code, self.expected, self.actual = file, code, expected, actual

    def error(self) -> DecodeError:
        """The change as the error of a record."""
        meaning = CODES[self.code]
        return DecodeError(self.code, offset=0, expected=self.expected, actual=self.actual, meaning=meaning)


_CHANGED = {
    GONE: "has been removed since it was listed",
    OTHER: "had {} when it was listed, and has {} now; move files into the input only when they are complete",
}


def unchanged(file: File) -> File:
    """The file, if its size and time are unchanged since it was listed; otherwise raises FileChangedError."""
    now = _look(file.place)
    if now.type == fs.FileType.NotFound:
        raise FileChangedError(file, GONE, "the file", "none")
    if now.size != file.size:
        raise FileChangedError(file, OTHER, f"{file.size} bytes", f"{now.size}")
    if now.mtime_ns and file.modified and now.mtime_ns != file.modified:
        raise FileChangedError(file, OTHER, f"the time {_time(file.modified)}", _time(now.mtime_ns))
    return file


def _time(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="microseconds")


def looked_up(path: str) -> File:
    """The file of a path; with size and time 0 if it does not exist."""
    at = place(path)
    return _file(at.system, _look(at))
