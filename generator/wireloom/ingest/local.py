"""The ingest job on this machine alone: a pool of processes runs the tasks, without Spark and without Java.

Processes are started anew, not forked, so that nothing of the caller's threads or pyarrow's is inherited.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import pyarrow as pa

from wireloom.failures import MachineError
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


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """So many processes of this machine."""

    processes: int

    @property
    def storage(self) -> PlainStorage:
        """The file systems of pyarrow."""
        return PlainStorage()

    def prepared(self, job: Job, batch: Batch, tables: Tables) -> Entry:
        """Read the job's input and write it."""
        module, plan = open_module(job.plan), job.plan
        files = listing(job.source)
        for line in files.said():
            batch.told(line)
        found = groups(files, job.source, plan, self.processes)
        writing = Writing(batch.ledger.staging())
        task = _Task(plan, writing, module.CODEC.root(plan.root).kinds, tuple(sys.path))
        report = sum(_reports(task, found, self.processes), Report())
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


def _reports(task: _Task, found: Sequence[Group], processes: int) -> Iterable[Report]:
    if len(found) < 2 or processes < 2:  # not worth a process
        yield from map(task, found)
        return
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(min(processes, len(found)), context) as pool:
            yield from pool.map(task, found)
    except BrokenProcessPool as error:
        raise MachineError(
            "a process that decodes was killed, most likely for want of memory", "--processes with a smaller number"
        ) from error
