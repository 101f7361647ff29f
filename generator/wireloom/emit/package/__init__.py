"""The generated package around the formats: modules, the index, all functions, `py.typed`, `pyproject.toml`.

The generated text declares names, types and documents; `wireloom.runtime.codec` acts. Every text of a spec enters
Python through `docstring` or `repr`.
"""

import hashlib
from collections.abc import Sequence

from wireloom import __version__
from wireloom.emit.code import literal
from wireloom.emit.frames import template
from wireloom.emit.package.module import columns, spark
from wireloom.emit.package.module import module as emit
from wireloom.emit.spark import functions
from wireloom.model.format import Format
from wireloom.runtime import CONTRACT
from wireloom.tree import MARK

__all__ = ["columns", "emit", "files", "spark"]


def files(formats: Sequence[Format], package: str) -> dict[str, str]:
    """The files that the formats share, by their path below the output folder."""
    return {
        "pyproject.toml": _pyproject(formats, package),
        f"{package}/__init__.py": _index(formats, package),
        f"{package}/functions.py": functions.index(formats, MARK),
        f"{package}/py.typed": "",
    }


def _index(formats: Sequence[Format], package: str) -> str:
    """The package's `__init__.py`: which formats there are, and whether the runtime fits."""
    by_name = sorted(formats, key=lambda format: format.name)
    entries = [(literal(format.name), literal(format.title), literal(format.digest)) for format in by_name]
    return template(__file__, "index.py.jinja").render(mark=MARK, package=package, contract=CONTRACT, entries=entries)


def _pyproject(formats: Sequence[Format], package: str) -> str:
    """The project file; other specs give another version, so that no cache keeps an old package."""
    digests = hashlib.sha256("".join(sorted(f"{format.name} {format.digest}\n" for format in formats)).encode())
    return template(__file__, "pyproject.toml.jinja").render(
        mark=MARK,
        name=package.replace("_", "-"),
        package=package,
        version=f"{CONTRACT}.0+{digests.hexdigest()[:12]}",
        runtime=__version__,
    )
