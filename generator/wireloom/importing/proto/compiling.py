"""Compiles a .proto file and its imports to descriptors, with protoc in a process of its own.

protoc runs in a folder with nothing but copies: the file, and its imports from the given folders, with limits on size
and number. So it cannot open any other file, whatever a description says.
"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from wireloom.importing.files import bounded
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.problems import Location

SOURCE = ".proto"
LARGEST = 4 << 20  # most bytes of a file
ALL = 16 << 20  # most bytes of all files
MOST = 400  # most files in all
_SECONDS = 60
_SHOWN = 20  # most messages of protoc that are shown
_TOKEN = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\w+|\S""", re.DOTALL)
_SAID = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*)")
_WITHOUT = re.compile(r"(?P<file>[^:]+): (?P<message>.*)")


class NoCompilerError(Exception):
    """protoc is not installed."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A descriptor set, the name of the main file in it, and the paths of all files by their names."""

    descriptors: bytes
    name: str
    shown: Mapping[str, str]


@dataclass(slots=True)
class _Sources:
    """The source files, by the names under which they are imported."""

    folders: Sequence[Path]
    texts: dict[str, bytes] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, name: str, path: Path, shown: Path) -> None:
        """Add a file and its imports."""
        ahead = [(name, path, shown)]
        while ahead:
            name, path, shown = ahead.pop()
            if name in self.texts:
                continue
            data = bounded(path, shown, LARGEST)
            self.texts[name], self.shown[name] = data, str(shown)
            if len(self.texts) > MOST or sum(map(len, self.texts.values())) > ALL:
                message = f"it imports more than {MOST} files, or {ALL >> 20} MiB"
                raise ImportRefusedError(Finding(Location(str(shown), 1, 1), "file", message, "import a smaller one"))
            for imported, place in _imports(data.decode("utf-8", "replace"), str(shown)):
                found = self._found(imported, place)
                if found is not None:
                    ahead.append((imported, found, found))

    def _found(self, name: str, place: Location) -> Path | None:
        """The path of an imported file; None for protoc's own files and, with a finding, for a missing one."""
        outside = not _is_plain(name)
        for folder in self.folders if not outside else ():
            try:
                path = (folder / name).resolve()
                if path.is_file():
                    if path.is_relative_to(folder.resolve()):
                        return folder / name
                    outside = True
            except (OSError, ValueError, RuntimeError):  # an impossible file name, or links in a circle
                continue
        if outside:
            message = f"the import {name} is outside of the import folders"
            self.findings.append(Finding(place, "import", message, "imports must be in the folders given by -I"))
        elif not _is_well_known(name):
            hint = "give the folder that its name starts from by -I"
            self.findings.append(Finding(place, "import", f"there is no {name}", hint))
        return None


def compiled(file: Path, folders: Sequence[Path]) -> Compiled:
    """Compile a .proto file; raises ImportRefusedError, or NoCompilerError if protoc is not installed."""
    if importlib.util.find_spec("grpc_tools") is None:
        raise NoCompilerError
    home = next((each for each in folders if file.resolve().is_relative_to(each.resolve())), file.resolve().parent)
    sources = _Sources([*folders, *([] if home in folders else [home])])
    name = _virtual(file.resolve().relative_to(home.resolve()))
    sources.add(name, file, file)
    if sources.findings:
        raise ImportRefusedError(*sources.findings)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for each, data in sources.texts.items():
                path = Path(folder) / "files" / each
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        except OSError as error:  # for example, one file imports a/b.proto, and another imports a
            message = f"its imports cannot be put into one folder: {error.strerror}"
            raise ImportRefusedError(Finding(Location(str(file), 1, 1), "import", message, "")) from error
        return Compiled(_run(Path(folder) / "files", name, sources.shown), name, sources.shown)


def _run(folder: Path, name: str, shown: Mapping[str, str]) -> bytes:
    """Run protoc on a file in a folder; returns the descriptor set."""
    out = folder.parent / "descriptors"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{folder}", "--include_imports", "--include_source_info"]
    command += [f"--descriptor_set_out={out}", str(folder / name)]
    start = Location(shown[name], 1, 1)
    try:
        done = subprocess.run(  # noqa: S603 - protoc, with arguments of ours
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"protoc did not finish within {_SECONDS} seconds"
        raise ImportRefusedError(Finding(start, "file", message, "import a smaller one")) from error
    if done.returncode == 0 and out.is_file():
        return out.read_bytes()
    findings = [_finding(line, folder, shown, start) for line in done.stderr.splitlines() if line.strip()][:_SHOWN]
    raise ImportRefusedError(*(findings or [Finding(start, "file", "protoc failed without a message", "")]))


def _finding(line: str, folder: Path, shown: Mapping[str, str], start: Location) -> Finding:
    """A message of protoc as a finding at the location that it names."""
    text = line.replace(f"{folder}/", "")
    if (match := _SAID.fullmatch(text)) and match["file"] in shown:
        place = Location(shown[match["file"]], int(match["line"]), int(match["column"]))
        return Finding(place, "syntax", match["message"].rstrip("."), "")
    if (match := _WITHOUT.fullmatch(text)) and match["file"] in shown:
        return Finding(Location(shown[match["file"]], 1, 1), "syntax", match["message"].rstrip("."), "")
    return Finding(start, "syntax", text.rstrip("."), "")


def _imports(text: str, shown: str) -> Iterator[tuple[str, Location]]:
    """The imports in the text of a file, with their locations."""
    statement: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0].startswith(("//", "/*")):
            continue
        if token[0] not in (";", "{", "}"):
            statement.append(token)
            continue
        words = [each[0] for each in statement]
        if words[:1] == ["import"] and words[-1][:1] in "\"'" and len(words) <= 3:
            start = statement[-1].start()
            line = text.count("\n", 0, start)
            yield words[-1][1:-1], Location(shown, line + 1, start - (text.rfind("\n", 0, start) + 1) + 1)
        statement = []


def _virtual(path: Path) -> str:
    """The name of the file for protoc: its path, or another name if the path is not printable."""
    return path.as_posix() if path.as_posix().isprintable() else f"description{SOURCE}"


def _is_plain(name: str) -> bool:
    """Whether a name is a normal path below an import folder."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and path.as_posix() == name


def _is_well_known(name: str) -> bool:
    """Whether protoc comes with the file."""
    found = importlib.util.find_spec("grpc_tools")
    places = found.submodule_search_locations if found and found.submodule_search_locations else ()
    return _is_plain(name) and any((Path(place) / "_proto" / name).is_file() for place in places)
