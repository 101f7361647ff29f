"""`pyproject.toml` of the generated package: a distribution of its own, versioned by what the specs say."""

import hashlib
from collections.abc import Sequence

from wireloom import __version__
from wireloom.emit.frames import template
from wireloom.model.format import Format
from wireloom.runtime import CONTRACT
from wireloom.tree import MARK


def pyproject(formats: Sequence[Format], package: str) -> str:
    """The project file; other specs give another version, so that no cache keeps an old package."""
    digests = hashlib.sha256("".join(sorted(f"{format.name} {format.digest}\n" for format in formats)).encode())
    return template(__file__, "pyproject.toml.jinja").render(
        mark=MARK,
        name=package.replace("_", "-"),
        package=package,
        version=f"{CONTRACT}.0+{digests.hexdigest()[:12]}",
        runtime=__version__,
    )
