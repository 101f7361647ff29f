"""The index of a generated package: which formats there are, and whether the runtime fits."""

from collections.abc import Sequence

from wireloom.emit.code import literal
from wireloom.emit.frames import template
from wireloom.model.format import Format
from wireloom.runtime import CONTRACT
from wireloom.tree import MARK


def index(formats: Sequence[Format], package: str) -> str:
    """The package's `__init__.py`."""
    by_name = sorted(formats, key=lambda format: format.name)
    entries = [(literal(format.name), literal(format.title), literal(format.digest)) for format in by_name]
    return template(__file__, "index.py.jinja").render(mark=MARK, package=package, contract=CONTRACT, entries=entries)
