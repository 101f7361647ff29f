"""The generated package around the formats: modules, the index, all functions, `py.typed`, `pyproject.toml`.

The generated text declares names, types and documents; `wireloom.runtime.codec` acts. Every text of a spec enters
Python through `docstring` or `repr`.
"""

from collections.abc import Sequence

from wireloom.emit.package.distribution import pyproject
from wireloom.emit.package.index import index
from wireloom.emit.package.module import columns, module, spark
from wireloom.emit.spark import functions
from wireloom.model.format import Format
from wireloom.tree import MARK

__all__ = ["columns", "emit", "files", "spark"]


def emit(format: Format) -> str:
    """The format's `__init__.py`: its typed interface."""
    return module(format)


def files(formats: Sequence[Format], package: str) -> dict[str, str]:
    """The files that the formats share, by their path below the output folder."""
    return {
        "pyproject.toml": pyproject(formats, package),
        f"{package}/__init__.py": index(formats, package),
        f"{package}/functions.py": functions.index(formats, MARK),
        f"{package}/py.typed": "",
    }
