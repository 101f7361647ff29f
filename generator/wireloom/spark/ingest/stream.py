"""Ingest as a stream: each micro-batch is decoded once and written to both tables exactly once, even after crashes.

`stream(spark, flow, listener, stopping)` runs until its trigger ends it, or until `stopping` is set; then the current
batch is finished first. Spark repeats a batch that its checkpoint does not know to be done, with the same records. The
ledger of the output shows whether it was written, so it is written once. The ledger and the checkpoint belong together,
and neither works with another.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from traceback import format_exception

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from wireloom.failures import DataError, MisuseError
from wireloom.ingest.files.framing_hints import framing_hints
from wireloom.ingest.job.diagnosis import diagnosed, diagnosis, telling_line
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.job.limits import NONE, Limits
from wireloom.ingest.job.metrics import Listener
from wireloom.ingest.job.overlap import refuse_overlap
from wireloom.ingest.ledger.entries import BATCHES, IDENTITY, LEDGER, Ledger
from wireloom.ingest.ledger.lease import leased
from wireloom.ingest.ledger.ownership import refuse_within
from wireloom.ingest.ledger.publishing import TABLES, Batch, ParquetTables, Tables
from wireloom.ingest.plan import DELTA_LOG, QUARANTINE, RECORDS, FileSizes, Flow, Plan, Summary
from wireloom.ingest.tables.agreement import Terms, agreed, folder, left_out_notes, named, terms
from wireloom.ingest.tables.versions import close, show, view_note
from wireloom.spark.ingest import sources
from wireloom.spark.ingest.delta import DeltaTables, require_delta
from wireloom.spark.ingest.storage import HadoopStorage
from wireloom.spark.session import ended

CHECKPOINT = "_checkpoint"
POLL = 0.2  # seconds


class _ClosedError(Exception):
    """The stream has stopped and takes no more batches."""


@dataclass(slots=True)
class _Work:
    """The work on each micro-batch; the lock is held during it."""

    ledger: Ledger
    tables: Callable[[str], Tables]  # by the stream's name
    plan: Plan
    terms: Terms
    source: sources.Stream
    identity: "_Identity"
    listener: Listener
    limits: Limits
    sizes: FileSizes
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: bool = False
    shown: bool = False  # whether the view over all versions is up to date
    failure: Exception | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        """For foreachBatch."""
        with self.lock:
            try:
                self._write(frame, number)
            except Exception as error:
                self.failure = error
                raise

    def _write(self, frame: DataFrame, number: int) -> None:
        if self.closed:
            raise _ClosedError
        stream = self.identity.claimed()
        entry = self.ledger.entry(number)
        if entry is None:
            empty = () if number else TABLES
            batch = Batch(
                self.ledger,
                number,
                self.plan,
                self.terms,
                empty,
                notify=self.listener.noted,
                limits=self.limits,
                sizes=self.sizes,
            )
            entry = self.source.taken(frame).prepared(batch, self.tables(stream))
            self.ledger.add(entry)
        self.ledger.settle(entry)
        if not self.shown:
            self.shown = True
            if view := show(self.ledger.storage, self.ledger.home, self.terms):
                self.listener.noted(view_note(view, self.terms))
        self.listener.wrote(stream, entry)
        self.ledger.fold()


@dataclass(frozen=True, slots=True)
class _Identity:
    """Tells which stream owns the tables: the one with this checkpoint, by the name that Spark gave it."""

    storage: HadoopStorage
    home: str
    checkpoint: str

    def check(self) -> str | None:
        """The stream's name if it is known already; raises MisuseError if the tables belong to another stream."""
        owner = self._owner()
        if owner is None:
            self._check_unused()
            return None
        if owner["stream"] != self._own():
            raise MisuseError(
                f"{self.home} belongs to the stream with the checkpoint {owner['checkpoint']}, which is not (or no "
                f"longer) the one in {self.checkpoint}; name it with --checkpoint, or choose another --output"
            )
        return owner["stream"]

    def claimed(self) -> str:
        """The stream's name; makes it the owner of the tables."""
        own = self._own()
        if own is None:
            raise DataError(f"{self.checkpoint} was removed while the stream was running")
        if self._owner() is None:
            text = json.dumps({"stream": own, "checkpoint": self.checkpoint})
            self.storage.write(f"{self.home}/{LEDGER}/{IDENTITY}", text)
        return own

    def _check_unused(self) -> None:
        for name in (RECORDS, QUARANTINE):
            if self.storage.exists(f"{self.home}/{name}"):
                raise MisuseError(
                    f"{self.home}/{name} exists, but no stream made it; add to it with --append, "
                    "without --stream, or choose another --output"
                )
        if self.storage.names(f"{self.checkpoint}/commits"):
            raise MisuseError(
                f"{self.checkpoint} is the checkpoint of a stream that did not write to {self.home}; "
                "choose another --checkpoint, or that stream's --output"
            )

    def _owner(self) -> dict[str, str] | None:
        path = f"{self.home}/{LEDGER}/{IDENTITY}"
        found: dict[str, str] | None = json.loads(self.storage.read(path)) if self.storage.exists(path) else None
        return found

    def _own(self) -> str | None:
        path = f"{self.checkpoint}/metadata"
        return str(json.loads(self.storage.read(path))["id"]) if self.storage.exists(path) else None


def stream(
    spark: SparkSession, flow: Flow, listener: Listener, stopping: threading.Event, limits: Limits = NONE
) -> Summary:
    """Run the stream; returns the sum of all its batches, including those of earlier runs.

    Raises MisuseError, MachineError or DataError; the tables are then consistent, and the same call continues the
    stream.
    """
    refuse_overlap(flow.source, flow.output, flow.checkpoint)
    open_module(flow.plan)  # raises if the package has another spec than the plan
    storage = HadoopStorage(spark)
    refuse_within(flow.output, storage)
    ledger = Ledger(storage, storage.absolute(flow.output), BATCHES)
    with diagnosed(flow.output, partial(ended, spark)), leased(storage, ledger, "stream", listener.noted):
        try:
            writer, work = _prepared(spark, flow, ledger, listener, limits)
            _run(writer, flow.trigger, work, stopping)
            return ledger.total()[1]
        except BaseException:
            ledger.abandon()
            raise


def _prepared(
    spark: SparkSession, flow: Flow, ledger: Ledger, listener: Listener, limits: Limits
) -> tuple[DataStreamWriter, _Work]:
    """Prepare the query, after all checks."""
    if flow.table_format == "delta":
        require_delta(spark)
    storage = HadoopStorage(spark)
    checkpoint = storage.absolute(flow.checkpoint or f"{flow.output}/{CHECKPOINT}")
    identity = _Identity(storage, ledger.home, checkpoint)
    known = identity.check()
    ledger.recover()
    if known is not None:
        listener.resumed(known, ledger.entries())
    with _starting():
        source = sources.stream(spark, flow.source, flow.options)
    own = terms(flow.plan, source.place, named(flow.source), flow.partition)
    agreement = agreed(storage, ledger.home, own, accept=flow.accept_changes, new_version=flow.new_version)
    close(storage, ledger.home, agreement)
    for line in (*agreement.notes, *left_out_notes(flow.plan), *framing_hints(flow.plan, flow.source)):
        listener.noted(line)
    own, tables = agreement.terms, _tables(spark, flow, ledger, agreement.terms)
    work = _Work(ledger, tables, flow.plan, own, source, identity, listener, limits, flow.sizes)
    writer = source.frame.writeStream.foreachBatch(work).option("checkpointLocation", checkpoint)
    return writer, work


def _tables(spark: SparkSession, flow: Flow, ledger: Ledger, now: Terms) -> Callable[[str], Tables]:
    """The tables in the flow's format; raises MisuseError if the existing ones have another."""
    delta = flow.table_format == "delta"
    for name in TABLES:
        table = f"{folder(ledger.home, now.version)}/{name}"
        found = ledger.storage.names(table)
        if found and (DELTA_LOG in found) != delta:
            raise MisuseError(f"{table} is {'not ' if delta else ''}a Delta table; see --table-format")
    return (
        (lambda stream: DeltaTables(spark, ledger, stream, flow.plan, now))
        if delta
        else lambda _: ParquetTables.below(ledger, now.version)
    )


def _triggered(writer: DataStreamWriter, trigger: str | None) -> DataStreamWriter:
    match trigger:
        case None:
            return writer
        case "once":
            return writer.trigger(once=True)
        case "available-now":
            return writer.trigger(availableNow=True)
        case interval:
            return writer.trigger(processingTime=interval)


def _run(writer: DataStreamWriter, trigger: str | None, work: _Work, stopping: threading.Event) -> None:
    """Run the query until it ends; a failure is reported only once, by the exception raised here."""
    callbacks = logging.getLogger("py4j.clientserver")
    callbacks.disabled = True
    try:
        with _starting():
            query = _triggered(writer, trigger).start()
        _await(query, work, stopping)
    finally:
        callbacks.disabled = False


def _await(query: StreamingQuery, work: _Work, stopping: threading.Event) -> None:
    while query.isActive:
        if stopping.wait(POLL):
            with work.lock:  # waits for the current batch
                work.closed = True
            query.stop()
    error = query.exception()
    if error is not None and not work.closed:
        raise work.failure or error


@contextmanager
def _starting() -> Iterator[None]:
    """Errors of Spark about options, before anything runs, become MisuseError."""
    try:
        yield
    except PySparkException as error:
        text = "".join(format_exception(error))
        if diagnosis(text, "") is not None:
            raise
        raise MisuseError(f"the stream does not start: {telling_line(error)}") from error
