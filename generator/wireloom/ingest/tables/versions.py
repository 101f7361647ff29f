"""Versions of the columns of an output: keeps the terms of closed versions, and writes a view over all of them.

A view is also written for partitioned tables, since readers guess the types of partition columns from folder names: `7`
for `007`.

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
    """Keep the terms of the previous version if a new one begins; raises MisuseError if no view can be written."""
    if _has_view(agreement.terms) and is_foreign_view(storage, home):
        raise MisuseError(f"{home}/{VIEW}: not written by wireloom; move it away, or choose another --output")
    if agreement.closed is not None:
        path = _path(home, agreement.closed.version)
        storage.delete(path)
        storage.write(path, json.dumps(asdict(agreement.closed)))


def show(storage: Storage, home: str, now: Terms) -> str:
    """Write the view of the records if it is needed: for several versions, or for the types of partition columns.

    Returns the path of the view if it was written.
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
    """Whether the view's file was not written by us."""
    path = f"{home}/{VIEW}"
    return storage.exists(path) and MADE not in storage.read(path).partition("\n")[0]


def _has_view(now: Terms) -> bool:
    return now.version > 1 or bool(now.partition)


def view_note(view: str, now: Terms) -> str:
    """A line about a view that was written."""
    if now.version == 1:
        return f"{view} has a view with the types of {', '.join(now.partition)}, which readers guess from folders"
    return f"{view} has a view over all versions"


def _path(home: str, version: int) -> str:
    return f"{home}/{LEDGER}/columns-{version:04d}.json"
