"""Emit the files of the generated package that all formats share, and re-export the emitters of a format's modules.

Generated modules declare names, types and documentation; `wireloom.runtime.codec` does the work. Every text of a spec
enters Python code through `docstring` or `repr`.
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
    """The shared files of a package, by their path in the output folder."""
    return {
        "pyproject.toml": _pyproject(formats, package),
        f"{package}/__init__.py": _index(formats, package),
        f"{package}/functions.py": functions.index(formats, MARK),
        f"{package}/py.typed": "",
    }


def _index(formats: Sequence[Format], package: str) -> str:
    """The package's `__init__.py`: the list of formats, and the check that the runtime is compatible."""
    by_name = sorted(formats, key=lambda format: format.name)
    entries = [(literal(format.name), literal(format.title), literal(format.digest)) for format in by_name]
    return template(__file__, "index.py.jinja").render(mark=MARK, package=package, contract=CONTRACT, entries=entries)


def _pyproject(formats: Sequence[Format], package: str) -> str:
    """The project file; its version depends on the specs, so that caches never serve an outdated package."""
    digests = hashlib.sha256("".join(sorted(f"{format.name} {format.digest}\n" for format in formats)).encode())
    return template(__file__, "pyproject.toml.jinja").render(
        mark=MARK,
        name=package.replace("_", "-"),
        package=package,
        version=f"{CONTRACT}.0+{digests.hexdigest()[:12]}",
        runtime=__version__,
    )
