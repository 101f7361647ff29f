"""What the generator works on, and what it did: values that need none of its libraries."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Project:
    """Where the specs are, where the package `package` made from them goes, and where their pages go, if anywhere."""

    specs: Path = Path("specs")
    out: Path = Path("generated")
    package: str = "wireloom_formats"
    docs: Path | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from what the specs say."""

    written: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    unchanged: int = 0

    @property
    def any(self) -> bool:
        """Whether there is a difference."""
        return bool(self.written or self.removed)
