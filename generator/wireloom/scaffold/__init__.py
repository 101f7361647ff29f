"""Creates a first spec in any encoding: small and working, with an example of everything that most formats need."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from wireloom.failures import MisuseError
from wireloom.names import format_name_flaw
from wireloom.project import spec_files

TEMPLATES = Path(__file__).parent
FILLER = "new_format"  # the format name in the templates, which are valid specs
NAME = re.compile(rb"""^format:[ \t]*["']?([a-z0-9_]+)["']?[ \t]*(?:#.*)?\r?$""", re.MULTILINE)


ENCODINGS = tuple(sorted(path.stem for path in TEMPLATES.glob("*.yaml")))
"""The encodings that have a template."""
Encoding = Literal[ENCODINGS]  # type: ignore[valid-type]


def create(name: str, specs: Path, encoding: Encoding = "binary") -> Path:
    """Write specs/NAME/NAME.yaml, unless the file or a format of that name exists."""
    flaw = format_name_flaw(name)
    if flaw:
        raise MisuseError(f"{name!r} cannot be a format's name: {flaw}")
    path = specs / name / f"{name}.yaml"
    if path.exists():
        raise MisuseError(f"{path} is already there; give the new format another name")
    for other in _specs_of(name, specs):
        raise MisuseError(f"{other} already has a format {name}; give the new one another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    template = (TEMPLATES / f"{encoding}.yaml").read_text(encoding="utf-8")
    path.write_text(template.replace(FILLER, name), encoding="utf-8")
    return path


def _specs_of(name: str, specs: Path) -> Iterator[Path]:
    """The specs with that format name.

    It looks only for the line `format: NAME`, so it also finds specs with mistakes.
    """
    for path in spec_files(specs):
        if name.encode() in NAME.findall(path.read_bytes()):
            yield path
