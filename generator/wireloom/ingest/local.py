"""The ingest job on this machine alone: a pool of processes runs the tasks, without Spark and without Java.

Processes are started anew, not forked, so that nothing of the caller's threads or pyarrow's is inherited.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

import pyarrow as pa

from wireloom.failures import MachineError
from wireloom.ingest.diagnosis import SIGNALS, End
from wireloom.ingest.imports import without_pandas
from wireloom.ingest.inputs import Group, groups, listing, records_of
from wireloom.ingest.ledger import Entry
from wireloom.ingest.modules import open_module
from wireloom.ingest.plan import Job, Plan
from wireloom.ingest.publishing import Batch, Tables, entered
from wireloom.ingest.storage import PlainStorage
from wireloom.ingest.tables import PLACE
from wireloom.ingest.values import table_types
from wireloom.ingest.work import Report, written
from wireloom.ingest.writing import Writing

NAMED = 3
"""Files that a message names."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """So many processes of this machine."""

    processes: int

    @property
    def storage(self) -> PlainStorage:
        """The file systems of pyarrow."""
        return PlainStorage()

    def ended(self) -> End:
        """There is no Java."""
        return End()

    def prepared(self, job: Job, batch: Batch, tables: Tables) -> Entry:
        """Read the job's input and write it."""
        module, plan = open_module(job.plan), job.plan
        files = listing(job.source)
        for line in files.said():
            batch.told(line)
        found = groups(files, job.source, plan, self.processes)
        writing = batch.writing(tables)
        task = _Task(plan, writing, module.CODEC.root(plan.root).kinds, tuple(sys.path))
        report, done, whole = Report(), 0, sum(part.size for group in found for part in group)
        batch.at(done, whole, "bytes")
        for group, each in _reports(task, found, self.processes):
            report += each
            batch.limits.check_size(report.summary.bad_size)
            done += sum(part.size for part in group)
            batch.at(done, whole, "bytes")
        return entered(report, batch, writing, table_types(plan, pa.schema(list(PLACE))), tables)


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

    def __call__(self, group: Group) -> Report:
        """Do it."""
        sys.path[:] = dict.fromkeys((*self.paths, *sys.path))
        return written(records_of(self.plan, group), self.writing, self.kinds)


def _reports(task: _Task, found: Sequence[Group], processes: int) -> Iterable[tuple[Group, Report]]:
    if len(found) < 2 or processes < 2:  # not worth a process
        yield from ((group, task(group)) for group in found)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(found)), context, without_pandas) as pool:
        futures = {pool.submit(task, group): group for group in found}
        running = list((pool._processes or {}).values())  # noqa: SLF001 - nothing else tells how a process ended
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            left = [group for future, group in futures.items() if _failed(future)]
            raise _killed(running, left) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _failed(future: Future[Report]) -> bool:
    return not future.done() or future.cancelled() or future.exception() is not None


def _killed(processes: Sequence[BaseProcess], left: Sequence[Group]) -> MachineError:
    """How a process ended, and what was in hand then: groups are taken in order."""
    for process in processes:
        process.join(1)
    codes = [process.exitcode for process in processes if process.exitcode not in (None, 0, -signal.SIGTERM)]
    how = SIGNALS.get(-codes[0], f"ended with exit code {codes[0]}") if codes and codes[0] else "ended from outside"
    files = list(dict.fromkeys(part.file.path for group in left[: len(processes)] for part in group))
    more = f" and {len(files) - NAMED} more" if len(files) > NAMED else ""
    return MachineError(
        f"a process that decodes was {how}; in hand were {', '.join(files[:NAMED])}{more}; "
        "run fewer tasks at a time with --processes, or give the machine or container more memory"
    )
