"""Runs tasks on Spark: executors decode and write files, and return only reports.

Input without a DataFrame is an RDD of groups: the first query on DataFrames costs a session seconds, and each further
one some tenths.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from wireloom.ingest.files.inputs import Group, records_of
from wireloom.ingest.files.values import table_types
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.job.task import Report, written
from wireloom.ingest.ledger.entries import Entry
from wireloom.ingest.ledger.publishing import Batch, Tables, Watcher, entered
from wireloom.ingest.plan import Plan
from wireloom.ingest.tables.parquet_files import Writing
from wireloom.ingest.tables.splitting import Parted

REPORT = pa.schema([pa.field("report", pa.string())])

POLL = 0.5  # seconds
Read = Callable[[Plan, Iterable[pa.RecordBatch]], Iterator[Parted]]


@dataclass(frozen=True, slots=True)
class Task:
    """The work of an executor on its input; it is pickled."""

    plan: Plan
    writing: Writing
    kinds: tuple[str, ...]

    def batches(self, read: Read, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For mapInArrow over batches of records."""
        report = written(read(self.plan, batches), self.writing, self.kinds)
        yield pa.RecordBatch.from_arrays([pa.array([report.json()])], schema=REPORT)

    def group(self, group: Group) -> str:
        """For one group."""
        return written(records_of(self.plan, group), self.writing, self.kinds).json()


@dataclass(frozen=True, slots=True)
class Frame:
    """Records in the batches of a DataFrame, and the function that decodes them."""

    frame: DataFrame
    read: Read

    def report(self, task: Task) -> Report:
        """Run the task on all batches."""
        rows = self.frame.mapInArrow(partial(task.batches, self.read), "report string").collect()
        return _summed(row["report"] for row in rows)


@dataclass(frozen=True, slots=True)
class Groups:
    """Records in groups of similar size; each group is a task."""

    spark: SparkSession
    groups: tuple[Group, ...]

    def report(self, task: Task) -> Report:
        """Run the task on all groups."""
        if not self.groups:
            return Report()
        elements = self.spark.sparkContext.parallelize(self.groups, len(self.groups))
        return _summed(elements.map(task.group).collect())


@dataclass(frozen=True, slots=True)
class Taken:
    """The input of a batch, and the columns that say where each record came from."""

    input: Frame | Groups
    place: pa.Schema

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Decode and write the records; returns the entry for the ledger.

        Raises DataError if the counts do not add up.
        """
        plan, module = batch.plan, open_module(batch.plan)
        writing = batch.writing(tables)
        task = Task(plan, writing, module.CODEC.root(plan.root).kinds)
        with _watched(self.input, batch.watcher):
            report = self.input.report(task)
        return entered(report, batch, writing, table_types(plan, self.place), tables)


@contextmanager
def _watched(input: Frame | Groups, watcher: Watcher | None) -> Iterator[None]:
    """Report the number of finished tasks during the block."""
    if watcher is None or isinstance(input, Frame):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_count, args=(input, watcher, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _count(groups: Groups, watcher: Watcher, done: threading.Event) -> None:
    tracker = groups.spark.sparkContext.statusTracker()
    with suppress(Exception):  # the job itself reports failures of Spark
        while not done.wait(POLL):
            jobs = [info for number in tracker.getActiveJobsIds() if (info := tracker.getJobInfo(number))]
            stages = [tracker.getStageInfo(number) for job in jobs for number in job.stageIds]
            watcher.at(sum(stage.numCompletedTasks for stage in stages if stage), len(groups.groups), "tasks")


def _summed(reports: Iterable[str]) -> Report:
    return sum(map(Report.read, reports), Report())
