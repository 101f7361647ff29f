"""Tasks on Spark: executors decode and write, and hand back reports alone.

Where no frame has the records, groups of them are the elements of an RDD: Spark's first query on frames costs seconds
of a session, and each some tenths.
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
    """What each executor does with its input: all that travels there."""

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
    """Records in batches of a frame, and how executors read them."""

    frame: DataFrame
    read: Read

    def report(self, task: Task) -> Report:
        """Run it."""
        rows = self.frame.mapInArrow(partial(task.batches, self.read), "report string").collect()
        return _summed(row["report"] for row in rows)


@dataclass(frozen=True, slots=True)
class Groups:
    """Records in groups of about equal size; each group is a task."""

    spark: SparkSession
    groups: tuple[Group, ...]

    def report(self, task: Task) -> Report:
        """Run it."""
        if not self.groups:
            return Report()
        elements = self.spark.sparkContext.parallelize(self.groups, len(self.groups))
        return _summed(elements.map(task.group).collect())


@dataclass(frozen=True, slots=True)
class Taken:
    """Records on their way in, and the columns that say where each came from."""

    input: Frame | Groups
    place: pa.Schema

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Write them; the entry that makes them so. Raises DataError where the books do not balance."""
        plan, module = batch.plan, open_module(batch.plan)
        writing = batch.writing(tables)
        task = Task(plan, writing, module.CODEC.root(plan.root).kinds)
        with _watched(self.input, batch.watcher):
            report = self.input.report(task)
        return entered(report, batch, writing, table_types(plan, self.place), tables)


@contextmanager
def _watched(input: Frame | Groups, watcher: Watcher | None) -> Iterator[None]:
    """Tell how many tasks are done meanwhile."""
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
    with suppress(Exception):  # what is wrong with Spark is told by the job
        while not done.wait(POLL):
            jobs = [info for number in tracker.getActiveJobsIds() if (info := tracker.getJobInfo(number))]
            stages = [tracker.getStageInfo(number) for job in jobs for number in job.stageIds]
            watcher.at(sum(stage.numCompletedTasks for stage in stages if stage), len(groups.groups), "tasks")


def _summed(reports: Iterable[str]) -> Report:
    return sum(map(Report.read, reports), Report())
