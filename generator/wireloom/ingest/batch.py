"""The ingest job: raw bytes in, a typed table and a quarantine table out, and a summary that adds up.

The data are decoded once, and both tables appear whole, as one batch of the output's ledger, or not at all. Who runs
the tasks is an `Engine`; the files on the disk do not tell which it was, and either goes on where the other stopped.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.ledger import BATCHES, IDENTITY, LEDGER, Entry, Ledger, Move, Storage
from wireloom.ingest.plan import QUARANTINE, RECORDS, Job, Summary
from wireloom.ingest.publishing import TABLES, Batch, ParquetTables, Tables
from wireloom.ingest.tables import PLACE
from wireloom.ingest.terms import agreed, terms


class Engine(Protocol):
    """Who runs the tasks of a job, and how files are reached."""

    @property
    def storage(self) -> Storage:
        """The files of ledger and tables."""

    def prepared(self, job: Job, batch: Batch, tables: Tables) -> Entry:
        """Read the job's input and write it; the entry that makes it so. Raises MisuseError and DataError."""


def ingest(engine: Engine, job: Job, told: Callable[[str], None] = lambda _: None) -> Summary:
    """Run the job; `told` is told what is new to a table that it adds to, and what was passed over.

    Raises MisuseError where input or output do not fit, DataError where the books do not balance.
    """
    storage = engine.storage
    ledger = Ledger(storage, storage.absolute(job.output), BATCHES)
    ledger.recover()
    _refuse_existing(storage, job)
    own = terms(job.plan, pa.schema(list(PLACE)))
    if job.append:
        for line in agreed(storage, ledger.home, own, accept=job.accept_changes):
            told(line)
    batch = Batch(ledger, ledger.last() + 1, job.plan, own, empty=TABLES, told=told)
    entry = engine.prepared(job, batch, ParquetTables.below(ledger))
    if job.overwrite:
        entry = replace(entry, moves=(*_replaced(storage, ledger.home, entry.staging), *entry.moves))
    ledger.add(entry)
    ledger.settle(entry)
    return entry.summary


def _refuse_existing(storage: Storage, job: Job) -> None:
    """Never add to, or replace, tables unless somebody said so."""
    if storage.exists(f"{job.output}/{LEDGER}/{IDENTITY}"):
        raise MisuseError(f"a stream writes to {job.output}; choose another --output")
    if job.overwrite or job.append:
        return
    for name in (RECORDS, QUARANTINE):
        if storage.exists(f"{job.output}/{name}"):
            raise MisuseError(
                f"{job.output}/{name} exists; choose another --output, add to both tables with --append, or replace "
                "them with --overwrite"
            )


def _replaced(storage: Storage, home: str, staging: str) -> tuple[Move, ...]:
    """Everything that the two tables have now goes away, to where the new batch was staged."""
    return tuple(
        (f"{home}/{name}/{each}", f"{staging}/old-{name}/{each}")
        for name in (RECORDS, QUARANTINE)
        for each in storage.names(f"{home}/{name}")
    )
