"""Tasks on Spark: executors decode and write, and hand back reports alone."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from wireloom.ingest.inputs import Group, records_of
from wireloom.ingest.ledger import Entry
from wireloom.ingest.modules import open_module
from wireloom.ingest.plan import Plan
from wireloom.ingest.publishing import Batch, Tables, Watcher, entered
from wireloom.ingest.staging import Parted
from wireloom.ingest.values import table_types
from wireloom.ingest.work import Report, written
from wireloom.ingest.writing import Writing

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
        yield _told(written(read(self.plan, batches), self.writing, self.kinds))

    def groups(self, groups: Sequence[Group], numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """For mapInArrow over numbers of groups."""
        for batch in numbers:
            for number in batch["id"].to_pylist():
                yield _told(written(records_of(self.plan, groups[number]), self.writing, self.kinds))


def _told(report: Report) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([report.json()])], schema=REPORT)


@dataclass(frozen=True, slots=True)
class Frame:
    """Records in batches of a frame, and how executors read them."""

    frame: DataFrame
    read: Read

    def report(self, task: Task) -> Report:
        """Run it."""
        return _collected(self.frame.mapInArrow(partial(task.batches, self.read), "report string"))


@dataclass(frozen=True, slots=True)
class Groups:
    """Records in groups of about equal size; each group is a task."""

    spark: SparkSession
    groups: tuple[Group, ...]

    def report(self, task: Task) -> Report:
        """Run it."""
        if not self.groups:
            return Report()
        numbers = self.spark.range(0, len(self.groups), 1, len(self.groups))
        return _collected(numbers.mapInArrow(partial(task.groups, self.groups), "report string"))


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


def _collected(frame: DataFrame) -> Report:
    return sum((Report.read(row["report"]) for row in frame.collect()), Report())
