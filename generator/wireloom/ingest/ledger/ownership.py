"""Tells who owns the folders of an output: no job writes to another's tables, or replaces files that no job wrote.

Readers of a table read everything in its folder, and a job that replaces tables removes everything there. Files that a
ledger lists are ours. A folder around the output that cannot be read counts as unowned.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import LOCAL, place, reachable
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.ledger.entries import IDENTITY, KINDS, LEDGER, Storage
from wireloom.ingest.plan import BATCH, QUARANTINE, RECORDS
from wireloom.ingest.tables.agreement import home_of
from wireloom.ingest.tables.versions import VIEW, is_foreign_view

VERSION = re.compile(r"v\d+")
NAMED = 3
"""Paths that a message names."""
_BATCHES = tuple(f"{name}-" for kind in KINDS for name in (kind, f"total-{kind}"))
_BEGUN = (*_BATCHES, "running-")
_ROOTED = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/]*)?/*)(.*)", re.DOTALL)
"""Splits a path into its root and the rest."""


def refuse_within(output: str, storage: Storage | None = None, *, of_version: bool = False) -> None:
    """Raise MisuseError if a folder around the output holds tables, or if a file is in the way.

    Without a storage, only paths that pyarrow reaches are checked. `of_version` if the output may be the folder of a
    version of such tables.
    """
    if storage is None and not reachable(output):
        return
    storage = storage or PlainStorage()
    home = storage.absolute(output)
    _refuse_file(output, home)
    for around in _around(home_of(storage, home) if of_version else home):
        if _has(storage, around, _BEGUN):
            raise MisuseError(
                f"--output {output} is in {around.removeprefix(LOCAL)}, which has tables of ingest; choose a folder "
                f"outside of it, or {around.removeprefix(LOCAL)} itself, to add to its tables"
            )


def is_ours(storage: Storage, home: str) -> bool:
    """Whether a ledger there lists batches."""
    return _has(storage, home, _BATCHES)


def refuse_foreign(storage: Storage, home: str, output: str, *, all_goes: bool) -> None:
    """Raise MisuseError if the tables, or with `all_goes` all removed folders, contain other files than batches."""
    found = [f"{output}/{path}" for path in (_replaced if all_goes else _mixed)(storage, home)]
    if found:
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        raise MisuseError(
            f"{', '.join(found[:NAMED])}{more}: not written by wireloom; move it away, or choose another --output"
        )


def _refuse_file(output: str, home: str) -> None:
    if home.startswith(LOCAL):
        way = Path(os.path.realpath(place(home).path))
        file = next((path for path in (way, *way.parents) if path.is_file()), None)
        if file is not None:
            raise MisuseError(f"--output {output} cannot be made: {file} is a file; choose another --output")


def _has(storage: Storage, home: str, beginnings: tuple[str, ...]) -> bool:
    with suppress(Exception):  # unreadable, in the words of some library
        names = storage.names(f"{home}/{LEDGER}")
        return any(name == IDENTITY or name.startswith(beginnings) for name in names)
    return False


def _around(path: str) -> Iterator[str]:
    """The folders around a path, nearest first; links on this machine are followed."""
    if path.startswith(LOCAL):
        path = LOCAL + os.path.realpath(place(path).path)
    found = _ROOTED.fullmatch(path)
    root, names = ("", []) if found is None else (found[1], found[2].rstrip("/").split("/"))
    for count in range(len(names) - 1, -1, -1):
        yield (root + "/".join(names[:count])).rstrip("/")


def _replaced(storage: Storage, home: str) -> Iterator[str]:
    """Files that a job that replaces the tables would remove, although no job wrote them."""
    if not is_ours(storage, home):
        yield from (name for name in (RECORDS, QUARANTINE) if storage.exists(f"{home}/{name}"))
        return
    yield from _mixed(storage, home)
    if is_foreign_view(storage, home):
        yield VIEW
    for version in _versions(storage, home):
        names = storage.names(f"{home}/{version}")
        yield from (f"{version}/{name}" for name in names if name not in (RECORDS, QUARANTINE))


def _mixed(storage: Storage, home: str) -> Iterator[str]:
    """Files that readers of the tables would read besides the batches."""
    for folder in ("", *(f"{version}/" for version in _versions(storage, home))):
        for table in (RECORDS, QUARANTINE):
            names = storage.names(f"{home}/{folder}{table}")
            yield from (f"{folder}{table}/{name}" for name in names if not name.startswith((f"{BATCH}=", "_", ".")))


def _versions(storage: Storage, home: str) -> list[str]:
    return [name for name in storage.names(home) if VERSION.fullmatch(name)]
