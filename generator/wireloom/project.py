"""The input and the result of the generator, as values that need none of its libraries."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Project:
    """The folder of specs, the folder and name of the generated package, and the folder of pages, if any."""

    specs: Path = Path("specs")
    out: Path = Path("generated")
    package: str = "wireloom_formats"
    docs: Path | None = None
    remove: bool = False  # also remove modules of formats without a spec


def spec_files(specs: Path) -> list[Path]:
    """The specs below a folder, without hidden files such as lock, swap and backup files of editors.

    Raises OSError if a folder cannot be read or a link is broken, so that no spec is skipped silently.
    """
    found: list[Path] = []
    for folder, folders, names in os.walk(specs, onerror=_raised) if specs.is_dir() else ():
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = [Path(folder, name) for name in names]
        found += [path for path in paths if is_spec(path.relative_to(specs)) and _is_file(path)]
    return sorted(found)


def _raised(error: OSError) -> None:
    raise error


def _is_file(path: Path) -> bool:
    """Whether it is a file; False if it was just removed, but a broken link is an error."""
    if path.is_symlink() and not path.exists():
        raise FileNotFoundError(errno.ENOENT, "a link to nowhere", str(path))
    return path.is_file()


def is_spec(path: Path) -> bool:
    """Whether a path below the folder of specs names a spec."""
    return path.suffix in ENDINGS and not any(part.startswith(".") for part in path.parts)


def stale(project: Project, constant: str, digests: Mapping[str, str]) -> list[str]:
    """The formats whose generated modules have another DIGEST or MEANING (`constant`) than these."""
    modules = {name: project.out / project.package / name / "__init__.py" for name in digests}
    return [
        name
        for name, path in modules.items()
        if path.is_file() and f'{constant}: Final = "{digests[name]}"'.encode() not in path.read_bytes()
    ]


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from the generated texts, and all texts."""

    written: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    unchanged: int = 0
    texts: Mapping[Path, str] = field(default_factory=dict, repr=False)

    @property
    def any(self) -> bool:
        """Whether any file differs."""
        return bool(self.written or self.removed)
