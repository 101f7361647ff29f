"""What the generator works on, and what it did: values that need none of its libraries."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Project:
    """Where the specs are, where the package `package` made from them goes, and where their pages go, if anywhere."""

    specs: Path = Path("specs")
    out: Path = Path("generated")
    package: str = "wireloom_formats"
    docs: Path | None = None
    remove: bool = False  # also the modules of formats that the specs do not have


def spec_files(specs: Path) -> list[Path]:
    """The specs below a folder; not what is hidden, and so no editor's lock, swap or backup file.

    Raises OSError where a folder cannot be read, or a link leads nowhere: no spec is passed over without a word.
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
    """Whether it is a file; one that has just gone is none, but a link to nowhere is an error."""
    if path.is_symlink() and not path.exists():
        raise FileNotFoundError(errno.ENOENT, "a link to nowhere", str(path))
    return path.is_file()


def is_spec(path: Path) -> bool:
    """Whether a path below the folder of specs is that of a spec."""
    return path.suffix in ENDINGS and not any(part.startswith(".") for part in path.parts)


def stale(project: Project, constant: str, digests: Mapping[str, str]) -> list[str]:
    """The formats whose generated modules are there and have other digests than these: their DIGEST or MEANING."""
    modules = {name: project.out / project.package / name / "__init__.py" for name in digests}
    return [
        name
        for name, path in modules.items()
        if path.is_file() and f'{constant}: Final = "{digests[name]}"'.encode() not in path.read_bytes()
    ]


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from what the specs say, and all texts."""

    written: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    unchanged: int = 0
    texts: Mapping[Path, str] = field(default_factory=dict, repr=False)

    @property
    def any(self) -> bool:
        """Whether there is a difference."""
        return bool(self.written or self.removed)
