"""What came of examples that were run, kept between runs: what held need not be tried again while nothing is different.

An outcome is kept under a key: a digest of what was tried, of wireloom's own files as they lie on disk, of Python and
of the libraries that had a part in it. Only examples that all hold are kept. The files are in `$WIRELOOM_CACHE`, else
in `wireloom` in the user's cache folder (`$XDG_CACHE_HOME`, else `~/.cache`); where that cannot be written, everything
is run each time.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from wireloom.project import spec_files

_LIBRARIES = ("construct", "jinja2", "msgpack", "pyarrow", "pydantic", "yaml")
_MOST = 256  # outcomes that are kept


@dataclass(frozen=True, slots=True)
class Outcome:
    """Examples that all held: how many, without a compiled engine or with it, and the digests of their formats."""

    count: int
    without_engine: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)
    failed: int = 0  # as of every report; those that fail are not kept


def key_of(kind: str, parts: Iterable[str]) -> str:
    """What an outcome is kept under."""
    return hashlib.sha256("\0".join((kind, _tool(), *parts)).encode("utf-8", "surrogatepass")).hexdigest()


def key_of_folder(specs: Path, names: Iterable[str]) -> str:
    """What the outcome of a folder of specs is kept under, as its files are now; `names` are the formats chosen."""
    files = [f"{path.relative_to(specs)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in spec_files(specs)]
    return key_of("folder", (*sorted(names), "", *files))


def recall(key: str) -> Outcome | None:
    """The outcome that is kept under a key; None where there is none."""
    folder = _folder()
    if folder is None:
        return None
    try:
        return Outcome(**json.loads((folder / key).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def keep(key: str, outcome: Outcome) -> None:
    """Keep an outcome, and let go of the oldest ones."""
    folder = _folder()
    if folder is None:
        return
    with suppress(OSError):  # it is run again the next time
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
    """The state of what runs examples: wireloom's files, and where Python and the libraries were installed when."""
    home = Path(__file__).parent
    ours = (path for path in sorted(home.rglob("*")) if path.is_file() and path.suffix != ".pyc")
    origins = (found.origin for name in _LIBRARIES if (found := find_spec(name)) and found.origin)
    stated = [(str(path), path.stat()) for path in (*ours, *map(Path, origins))]
    lines = [sys.version, *(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stated)]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
