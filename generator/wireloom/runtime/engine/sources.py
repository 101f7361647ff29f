"""The digest of the sources that the compiled engine was made from, so that an outdated engine is never used.

The build writes the digest into the engine. Where the sources are beside it, as in a checkout, the two are compared.
Wheels contain no sources.
"""

import hashlib
from pathlib import Path

SUFFIXES = (".pyx", ".pxi", ".h")


def digest(folder: Path) -> str:
    """The SHA-256 of the engine's sources in a folder; empty if there are none."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest() if paths else ""
