"""Which sources the compiled engine was made from, so that one that is out of date is never trusted.

The build writes the digest into the engine; where the sources lie beside it, as in a checkout, they are compared.
Wheels have none of them.
"""

import hashlib
from pathlib import Path

SUFFIXES = (".pyx", ".pxi", ".h")


def digest(folder: Path) -> str:
    """The SHA-256 of the engine's sources in a folder; empty where there are none."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest() if paths else ""
