"""Versions of the columns of an output: the terms of closed versions, and a view over all of them.

A view is also written if columns are folders, since readers guess their types from the names: `7` for `007`.

The terms of a batch are in its entry. Entries of old batches are folded in time, so the terms of a version are kept in
a file of their own when the next version begins.
"""

import json
from contextlib import suppress
from dataclasses import asdict

from wireloom.failures import MisuseError
from wireloom.ingest.ledger.entries import LEDGER, Storage
from wireloom.ingest.plan import DELTA_LOG, RECORDS
from wireloom.ingest.tables.agreement import Agreement, Terms, folder
from wireloom.ingest.tables.views import MADE, view_text

VIEW = f"{RECORDS}.sql"


def close(storage: Storage, home: str, agreement: Agreement) -> None:
    """Keep the terms of the version before, where another begins; raises MisuseError where no view can be written."""
    if _has_view(agreement.terms) and is_foreign_view(storage, home):
        raise MisuseError(f"{home}/{VIEW}: not written by wireloom; move it away, or choose another --output")
    if agreement.closed is not None:
        path = _path(home, agreement.closed.version)
        storage.delete(path)
        storage.write(path, json.dumps(asdict(agreement.closed)))


def show(storage: Storage, home: str, now: Terms) -> str:
    """Write the view of the records, where it says more than the files: several versions, or types of folders.

    The file that has it, where it was written now.
    """
    if not _has_view(now):
        return ""
    versions = [Terms.read(json.loads(storage.read(_path(home, number)))) for number in range(1, now.version)]
    delta = storage.exists(f"{folder(home, now.version)}/{RECORDS}/{DELTA_LOG}")
    text = view_text(home, [*versions, now], "delta" if delta else "parquet")
    path = f"{home}/{VIEW}"
    if storage.exists(path):
        with suppress(OSError):
            if storage.read(path) == text:
                return ""
        storage.delete(path)
    storage.write(path, text)
    return path


def is_foreign_view(storage: Storage, home: str) -> bool:
    """Whether somebody else wrote the file that is to have the view."""
    path = f"{home}/{VIEW}"
    return storage.exists(path) and MADE not in storage.read(path).partition("\n")[0]


def _has_view(now: Terms) -> bool:
    return now.version > 1 or bool(now.partition)


def view_note(view: str, now: Terms) -> str:
    """What to say of a view that was written."""
    if now.version == 1:
        return f"{view} has a view with the types of {', '.join(now.partition)}, which readers guess from folders"
    return f"{view} has a view over all versions"


def _path(home: str, version: int) -> str:
    return f"{home}/{LEDGER}/columns-{version:04d}.json"
