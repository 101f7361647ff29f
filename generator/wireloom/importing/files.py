"""Reads the files of an import, with a size limit since they are untrusted."""

from pathlib import Path

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.problems import Location


def bounded(path: Path, shown: Path, largest: int) -> bytes:
    """The bytes of a file; raises ImportRefusedError if it is larger than `largest` or cannot be read."""
    start = Location(str(shown), 1, 1)
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise ImportRefusedError(Finding(start, "file", f"the file cannot be read: {error.strerror}", "")) from error
    if len(data) > largest:
        raise ImportRefusedError(
            Finding(start, "file", f"the file has more than {largest} bytes", "import a smaller one")
        )
    return data
