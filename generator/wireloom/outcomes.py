"""Caches results of work on specs between runs, so that nothing is repeated for the same input.

The key of a result is a digest of its input, of wireloom's own files, of Python and of the used libraries. Results of
examples are kept only if all passed. The files are in `$WIRELOOM_CACHE`, otherwise in `wireloom` in the user's cache
folder (`$XDG_CACHE_HOME`, else `~/.cache`). If that cannot be written, nothing is cached.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from wireloom import tree
from wireloom.project import Project, spec_files

_LIBRARIES = ("construct", "jinja2", "msgpack", "pyarrow", "pydantic", "yaml")
_MOST = 512  # results that are kept


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run in which all examples passed: their number, with or without an engine; digests and meanings.

    For generated files, also the digest of each, and the notes to repeat.
    """

    count: int
    without_engine: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    failed: int = 0  # always 0: runs with failures are not kept
    files: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()


def key_of(kind: str, parts: Iterable[str]) -> str:
    """The key of a result."""
    return hashlib.sha256("\0".join((kind, _tool(), *parts)).encode("utf-8", "surrogatepass")).hexdigest()


def key_of_folder(specs: Path, names: Iterable[str]) -> str:
    """The key for a folder of specs with its current files; `names` are the chosen formats."""
    return key_of("folder", (*sorted(names), "", *_states(specs)))


def key_of_project(project: Project) -> str:
    """The key for generating a project from its current specs. It includes the output paths, which are in the texts."""
    places = (Path.cwd(), project.specs, project.out, project.package, project.docs)
    return key_of("project", (*map(str, places), "", *_states(project.specs)))


def _states(specs: Path) -> list[str]:
    return [f"{path.relative_to(specs)} {digest(path.read_bytes())}" for path in spec_files(specs)]


def digest(data: bytes) -> str:
    """A digest of a file's content."""
    return hashlib.sha256(data).hexdigest()


def in_place(project: Project, key: str) -> Outcome | None:
    """The result of generating, if all files on disk are still as generated, without any others; None if not."""
    outcome = recall(key)
    if outcome is None:
        return None
    present = {*tree.generated_files(project.out / project.package), *tree.generated_pages(project.docs)}
    same = all(_digest_on_disk(path) == stated for path, stated in outcome.files.items())
    return outcome if same and present <= {Path(path) for path in outcome.files} else None


def _digest_on_disk(path: str) -> str | None:
    try:
        return digest(Path(path).read_bytes())
    except OSError:
        return None


def recall(key: str) -> Outcome | None:
    """The cached result for a key; None if there is none."""
    folder = _folder()
    if folder is None:
        return None
    try:
        return Outcome(**json.loads((folder / key).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def keep(key: str, outcome: Outcome) -> None:
    """Cache a result, and delete the oldest ones."""
    folder = _folder()
    if folder is None:
        return
    with suppress(OSError):  # then the work is repeated the next time
        folder.mkdir(parents=True, exist_ok=True)
        begun = folder / f".{key}.{os.getpid()}"
        begun.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
        begun.replace(folder / key)
        kept = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in kept[_MOST:]:
            path.unlink(missing_ok=True)


def _folder() -> Path | None:
    if own := os.environ.get("WIRELOOM_CACHE"):
        return Path(own) / "examples"
    named = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):
        return (Path(named) if named else Path.home() / ".cache") / "wireloom" / "examples"
    return None


@cache
def _tool() -> str:
    """A digest of the tools that ran the examples: wireloom's files, Python and the installed libraries."""
    home = Path(__file__).parent
    ours = (path for path in sorted(home.rglob("*")) if path.is_file() and path.suffix != ".pyc")
    origins = (found.origin for name in _LIBRARIES if (found := find_spec(name)) and found.origin)
    stated = [(str(path), path.stat()) for path in (*ours, *map(Path, origins))]
    lines = [sys.version, *(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stated)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
