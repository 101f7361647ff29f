"""The ingest job: raw bytes in, a typed table and a quarantine table out, and a summary that adds up.

The data are decoded once, and both tables appear whole, as one batch of the output's ledger, or not at all.
"""

from dataclasses import replace

from pyspark.sql import SparkSession

from wireloom.failures import MisuseError
from wireloom.ingest.ledger import IDENTITY, LEDGER, Ledger, Move
from wireloom.ingest.plan import QUARANTINE, RECORDS, Job, Summary
from wireloom.ingest.publishing import TABLES, Batch, ParquetTables
from wireloom.ingest.records import open_module
from wireloom.spark.ingest.sources import taken
from wireloom.spark.ingest.storage import Storage


def ingest(spark: SparkSession, job: Job) -> Summary:
    """Run the job; raises MisuseError where input or output do not fit, DataError where the books do not balance."""
    module = open_module(job.plan)
    storage = Storage(spark)
    ledger = Ledger(storage, storage.absolute(job.output), "batch")
    ledger.recover()
    _refuse_existing(storage, job)
    batch = Batch(ledger, ledger.last() + 1, job.plan, empty=TABLES)
    entry = taken(spark, job.source, job.plan, module).prepared(module, batch, ParquetTables.below(ledger))
    if job.overwrite:
        entry = replace(entry, moves=(*_replaced(storage, ledger.home, entry.staging), *entry.moves))
    ledger.add(entry)
    ledger.settle(entry)
    return entry.summary


def _refuse_existing(storage: Storage, job: Job) -> None:
    """Never add to, or replace, tables that nobody said may go."""
    if storage.exists(f"{job.output}/{LEDGER}/{IDENTITY}"):
        raise MisuseError(f"a stream writes to {job.output}; choose another --output")
    if job.overwrite:
        return
    for name in (RECORDS, QUARANTINE):
        if storage.exists(f"{job.output}/{name}"):
            raise MisuseError(f"{job.output}/{name} exists; choose another --output, or replace both with --overwrite")


def _replaced(storage: Storage, home: str, staging: str) -> tuple[Move, ...]:
    """Everything that the two tables have now goes away, to where the new batch was staged."""
    return tuple(
        (f"{home}/{name}/{each}", f"{staging}/old-{name}/{each}")
        for name in (RECORDS, QUARANTINE)
        for each in storage.names(f"{home}/{name}")
    )
