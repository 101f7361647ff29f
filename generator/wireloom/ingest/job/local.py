"""The ingest job on this machine alone: a pool of processes runs the tasks, without Spark and without Java.

If a program does nothing but the job, the processes are forked from it before it has threads, with everything
imported; that saves half a second for each. Anywhere else they are started anew, so that no lock of a thread is
inherited.
"""

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pyarrow as pa

from wireloom.failures import MachineError, MisuseError
from wireloom.ingest.files.finding import Found as Listed
from wireloom.ingest.files.inputs import Group, Input, groups, listing, of_tables, records_of
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.files.values import table_types
from wireloom.ingest.job.diagnosis import SIGNALS, End
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.job.skipped_imports import without_numpy
from wireloom.ingest.job.task import Report, written
from wireloom.ingest.ledger.entries import Commit, Entry
from wireloom.ingest.ledger.publishing import Batch, Tables, entered
from wireloom.ingest.plan import Column, Files, Job, Plan
from wireloom.ingest.quarantine.replay import Found, Refused
from wireloom.ingest.quarantine.rows import FileQuarantine, Rows
from wireloom.ingest.tables.parquet_files import Writing
from wireloom.ingest.tables.schemas import PLACE
from wireloom.ingest.tables.splitting import Parted

Read = Callable[[Plan, Any], Iterator[Parted]]
"""What tasks make of a group."""
HARMLESS = ("jemalloc_bg_thd",)
"""Threads of libraries that take care of themselves where a process is forked."""
NAMED = 3
"""Files that a message names."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """So many processes of this machine; `pool` has them where they were begun before."""

    processes: int
    pool: ProcessPoolExecutor | None = None

    @property
    def storage(self) -> PlainStorage:
        """The file systems of pyarrow."""
        return PlainStorage()

    def ended(self) -> End:
        """There is no Java."""
        return End()

    def listed(self, source: Files | Column) -> Listed:
        """The files that there are; raises MisuseError where there is no such place."""
        return listing(source)

    def prepared(self, job: Job, found: Listed, batch: Batch, tables: Tables) -> Entry:
        """Read these files of the job's input and write them."""
        for line in found.passed_over():
            batch.notify(line)
        read = groups(found, job.source, job.plan, self.processes)
        return self.entered(read, records_of, pa.schema(list(PLACE)), batch, tables)

    def quarantine(self, path: str, batches: tuple[str, ...]) -> "LocalQuarantine":
        """These batches of a quarantine; raises MisuseError where it is none."""
        return LocalQuarantine(self, FileQuarantine.of(path, batches))

    def delta(self, path: str) -> Found:
        """Raises MisuseError: Spark has the writer."""
        raise MisuseError(f"{path} is a Delta table, which needs Spark; drop --engine local")

    def commit(self, commit: Commit) -> None:
        """Raises MisuseError: Spark has the writer."""
        raise MisuseError(f"a replay must still be committed to the Delta table {commit.table}; drop --engine local")

    def entered(self, found: Input, read: Read, place: pa.Schema, batch: Batch, tables: Tables) -> Entry:
        """Read groups and write their records; the entry that makes them so."""
        plan, module = batch.plan, open_module(batch.plan)
        writing = batch.writing(tables)
        task = _Task(plan, writing, module.CODEC.root(plan.root).kinds, tuple(sys.path), read)
        report, done = Report(), 0
        batch.at(done, found.size, "bytes")
        for group, each in _reports(task, found.groups, self):
            report += each
            batch.limits.check_size(report.summary.bad_size)
            done += sum(part.size for part in group)
            batch.at(done, found.size, "bytes")
        return entered(report, batch, writing, table_types(plan, place), tables)


@dataclass(frozen=True, slots=True)
class LocalQuarantine:
    """A quarantine that processes of this machine read."""

    engine: LocalEngine
    files: FileQuarantine

    @property
    def place(self) -> pa.Schema:
        """The columns that say where each record came from."""
        return self.files.place

    def refused(self) -> tuple[Refused, ...]:
        """What is in it."""
        return self.files.refused()

    def cut(self) -> int:
        """How many records have lost bytes."""
        return self.files.cut()

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Read all of it and write it; the entry that makes it so."""
        found = of_tables(list(self.files.groups()), self.engine.processes)
        return self.engine.entered(found, Rows(self.files.columns), self.place, batch, tables)


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class _Task:
    """What each process does with a group: all that travels there."""

    plan: Plan
    writing: Writing
    kinds: tuple[str, ...]
    paths: tuple[str, ...]
    read: Read

    def __call__(self, group: Group) -> Report:
        """Do it."""
        sys.path[:] = dict.fromkeys((*self.paths, *sys.path))
        return written(self.read(self.plan, group), self.writing, self.kinds)


@contextmanager
def begun(plan: Plan, processes: int) -> Iterator[LocalEngine]:
    """The engine with its processes forked already, where this one has no threads; raises what opening a plan raises.

    They have what this process has imported, and how the format is read, which is all that a task needs.
    """
    table_types(plan, pa.schema(list(PLACE)))  # reads as tasks do, though no record
    if processes < 2 or not _alone():
        yield LocalEngine(processes)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _end_with_parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python counts the thread of jemalloc, too
        pool.submit(int).result()  # all of them are begun by the first task
    try:
        yield LocalEngine(processes, pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _alone() -> bool:
    """Whether no other thread runs in this process, as far as the system tells."""
    tasks = Path("/proc/self/task")
    names = [name for task in (tasks.iterdir() if tasks.is_dir() else ()) if (name := _name(task))]
    return sum(name not in HARMLESS for name in names) == 1


def _name(task: Path) -> str:
    with suppress(OSError):  # it may end meanwhile
        return (task / "comm").read_text().strip()
    return ""


def _begin() -> None:
    """In a process that was started anew."""
    _end_with_parent()
    without_numpy()


def _end_with_parent() -> None:
    """In a process of a pool: end at once, and without a traceback, where Ctrl-C ends the job or its process is killed.

    Ctrl-C is of all processes of a terminal; the one that says so is the first.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_wait_for_end_of_parent, daemon=True).start()


def _wait_for_end_of_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)  # whoever waits for tasks holds the pipe that they come through, and waits forever


def _reports(task: _Task, found: Iterator[Group], engine: LocalEngine) -> Iterator[tuple[Group, Report]]:
    """The groups and what was written of them, as they end; processes begin on the first while others are found."""
    if engine.pool is None:
        some = list(islice(found, 2))
        found = chain(some, found)
        if engine.processes < 2 or len(some) < 2:  # not worth a process
            yield from ((group, task(group)) for group in found)
            return
    with _pool(engine) as pool:
        futures: dict[Future[Report], Group] = {}
        running: list[BaseProcess] = []
        try:
            for group in found:
                futures[pool.submit(task, group)] = group
                running = list((pool._processes or {}).values())  # noqa: SLF001 - nothing else tells how one ended
                yield from _ended(futures, [each for each in futures if each.done()])
            yield from _ended(futures, as_completed(list(futures)))
        except BrokenProcessPool as error:
            left = [group for future, group in futures.items() if _failed(future)]
            raise _killed(running, left) from error
        finally:
            pool.shutdown(cancel_futures=True)  # what tasks still write is there before anybody removes it


def _pool(engine: LocalEngine) -> AbstractContextManager[ProcessPoolExecutor]:
    if engine.pool is not None:
        return nullcontext(engine.pool)
    return ProcessPoolExecutor(engine.processes, multiprocessing.get_context("spawn"), _begin)


def _ended(futures: dict[Future[Report], Group], done: Iterable[Future[Report]]) -> Iterator[tuple[Group, Report]]:
    """What was written of the groups that are done, which are no longer in hand then."""
    for future in done:
        report = future.result()
        yield futures.pop(future), report


def _failed(future: Future[Report]) -> bool:
    return not future.done() or future.cancelled() or future.exception() is not None


def _killed(processes: Sequence[BaseProcess], left: Sequence[Group]) -> MachineError:
    """How a process ended, and what was in hand then: groups are taken in order."""
    for process in processes:
        process.join(1)
    codes = [process.exitcode for process in processes if process.exitcode not in (None, 0, -signal.SIGTERM)]
    how = SIGNALS.get(-codes[0], f"ended with exit code {codes[0]}") if codes and codes[0] else "killed"
    files = list(dict.fromkeys(part.file.path for group in left[: len(processes)] for part in group))
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return MachineError(
        f"a decoding process was {how} at {', '.join(files[:NAMED])}{more}; "
        "run fewer tasks at a time with --processes, or give the machine or container more memory"
    )
