"""Runs the ingest job on this machine in a pool of processes, without Spark and Java.

If the program only runs the job, the processes are forked before it starts threads, with all modules imported; that
saves half a second for each. Otherwise they are started anew, because a forked process could inherit a lock of a
thread.
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
"""Decodes the records of a group."""
HARMLESS = ("jemalloc_bg_thd",)
"""Threads of libraries that are safe in a forked process."""
NAMED = 3
"""Files that a message names."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """An engine with several processes; `pool` has them if they were started before."""

    processes: int
    pool: ProcessPoolExecutor | None = None

    @property
    def storage(self) -> PlainStorage:
        """The file systems of pyarrow."""
        return PlainStorage()

    def ended(self) -> End:
        """There is no Java process."""
        return End()

    def listed(self, source: Files | Column) -> Listed:
        """The files of a source; raises MisuseError if the path does not exist."""
        return listing(source)

    def prepared(self, job: Job, found: Listed, batch: Batch, tables: Tables) -> Entry:
        """Read files of the input and write the tables' files."""
        for line in found.passed_over():
            batch.notify(line)
        read = groups(found, job.source, job.plan, self.processes)
        return self.entered(read, records_of, pa.schema(list(PLACE)), batch, tables)

    def quarantine(self, path: str, batches: tuple[str, ...]) -> "LocalQuarantine":
        """The given batches of a quarantine; raises MisuseError if the path is not one."""
        return LocalQuarantine(self, FileQuarantine.of(path, batches))

    def delta(self, path: str) -> Found:
        """Raise MisuseError: only Spark can write Delta tables."""
        raise MisuseError(f"{path} is a Delta table, which needs Spark; drop --engine local")

    def commit(self, commit: Commit) -> None:
        """Raise MisuseError: only Spark can write Delta tables."""
        raise MisuseError(f"a replay must still be committed to the Delta table {commit.table}; drop --engine local")

    def entered(self, found: Input, read: Read, place: pa.Schema, batch: Batch, tables: Tables) -> Entry:
        """Decode groups and write their records; returns the entry for the ledger."""
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
    """A quarantine that a LocalEngine reads."""

    engine: LocalEngine
    files: FileQuarantine

    @property
    def place(self) -> pa.Schema:
        """The columns that say where each record came from."""
        return self.files.place

    def refused(self) -> tuple[Refused, ...]:
        """How many records each spec refused."""
        return self.files.refused()

    def cut(self) -> int:
        """How many records are incomplete."""
        return self.files.cut()

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Decode all records and write the results; returns the entry for the ledger."""
        found = of_tables(list(self.files.groups()), self.engine.processes)
        return self.engine.entered(found, Rows(self.files.columns), self.place, batch, tables)


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class _Task:
    """The work of a process on a group; it is pickled."""

    plan: Plan
    writing: Writing
    kinds: tuple[str, ...]
    paths: tuple[str, ...]
    read: Read

    def __call__(self, group: Group) -> Report:
        """Decode a group and write its records."""
        sys.path[:] = dict.fromkeys((*self.paths, *sys.path))
        return written(self.read(self.plan, group), self.writing, self.kinds)


@contextmanager
def begun(plan: Plan, processes: int) -> Iterator[LocalEngine]:
    """An engine whose processes are already forked, if this process has no threads; raises errors of opening the plan.

    The forked processes inherit the imported modules and the compiled format, which is all that a task needs.
    """
    table_types(plan, pa.schema(list(PLACE)))  # decodes zero records, which loads everything that tasks need
    if processes < 2 or not _alone():
        yield LocalEngine(processes)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _end_with_parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python also counts jemalloc's thread
        pool.submit(int).result()  # the first task starts all processes
    try:
        yield LocalEngine(processes, pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _alone() -> bool:
    """Whether this process has only one thread, as far as the system tells."""
    tasks = Path("/proc/self/task")
    names = [name for task in (tasks.iterdir() if tasks.is_dir() else ()) if (name := _name(task))]
    return sum(name not in HARMLESS for name in names) == 1


def _name(task: Path) -> str:
    with suppress(OSError):  # the thread may end meanwhile
        return (task / "comm").read_text().strip()
    return ""


def _begin() -> None:
    """Set up a process that was started anew."""
    _end_with_parent()
    without_numpy()


def _end_with_parent() -> None:
    """Let a pool process end at once, without a traceback, if the job is interrupted or killed.

    Ctrl-C goes to all processes of the terminal; only the main process prints a message.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_wait_for_end_of_parent, daemon=True).start()


def _wait_for_end_of_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        wait([parent.sentinel])
        os._exit(1)  # exit() would hang: the executor's threads wait on a pipe that never closes


def _reports(task: _Task, found: Iterator[Group], engine: LocalEngine) -> Iterator[tuple[Group, Report]]:
    """Run the task on groups; yields reports as tasks end. Tasks start while further groups are still being found."""
    if engine.pool is None:
        some = list(islice(found, 2))
        found = chain(some, found)
        if engine.processes < 2 or len(some) < 2:  # not worth starting processes
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
            pool.shutdown(cancel_futures=True)  # wait for running tasks, so that their files can be removed


def _pool(engine: LocalEngine) -> AbstractContextManager[ProcessPoolExecutor]:
    if engine.pool is not None:
        return nullcontext(engine.pool)
    return ProcessPoolExecutor(engine.processes, multiprocessing.get_context("spawn"), _begin)


def _ended(futures: dict[Future[Report], Group], done: Iterable[Future[Report]]) -> Iterator[tuple[Group, Report]]:
    """The results of finished groups, which are removed from `futures`."""
    for future in done:
        report = future.result()
        yield futures.pop(future), report


def _failed(future: Future[Report]) -> bool:
    return not future.done() or future.cancelled() or future.exception() is not None


def _killed(processes: Sequence[BaseProcess], left: Sequence[Group]) -> MachineError:
    """The error after a process died: how it ended, and the files it may have worked on. Tasks start in order."""
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
