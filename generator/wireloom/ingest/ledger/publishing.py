"""Publishes a batch of written files: checks the counts, and enters it in the ledger, which moves it to the tables.

Tasks have written Parquet files below the staging folder of the batch and reported them. A file without a report is
left over from a task that failed or ran twice, and is removed. The counts come from the files, not from expectations.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

import pyarrow as pa

from wireloom.failures import DataError
from wireloom.ingest.job.amount_texts import size_text
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.job.limits import NONE, Limits
from wireloom.ingest.job.task import Report
from wireloom.ingest.ledger.entries import REPLAYS, Commit, Entry, Ledger, Move, Step
from wireloom.ingest.plan import BATCH, QUARANTINE, RECORDS, FileSizes, Plan, Remainders
from wireloom.ingest.tables.agreement import Terms, folder
from wireloom.ingest.tables.parquet_files import TableFiles, Writing
from wireloom.runtime.streams.given_up import GivenUp

TABLES = (RECORDS, QUARANTINE)
NAMED = 3
"""Files that a message names."""


class Watcher(Protocol):
    """Is told about the progress of a job."""

    def at(self, done: int, whole: int, unit: str) -> None:
        """`done` of `whole` units are done: `bytes` or `tasks`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch to be written. Tables in `empty` get a file even without rows, so that their columns can be read."""

    ledger: Ledger
    number: int
    plan: Plan
    terms: Terms
    empty: Collection[str] = ()
    notify: Callable[[str], None] = lambda _: None  # shows a line to the user
    limits: Limits = NONE
    anew: bool = False  # replaces the existing tables
    watcher: Watcher | None = None
    sizes: FileSizes = field(default_factory=FileSizes)
    started: float = field(default_factory=time.monotonic)

    def writing(self, tables: "Tables") -> Writing:
        """The arguments for the tasks' writers."""
        return Writing(
            self.ledger.staging(),
            partition=self.terms.partition if tables.staged_in_folders else (),
            group_bytes=self.sizes.group,
            file_bytes=self.sizes.file,
            most_bad=self.limits.size,
        )

    def at(self, done: int, whole: int, unit: str) -> None:
        """Report progress."""
        if self.watcher is not None:
            self.watcher.at(done, whole, unit)


class Tables(Protocol):
    """The two tables of an output, in some format."""

    @property
    def staged_in_folders(self) -> bool:
        """Whether staged files are already partitioned into folders."""

    def publish(self, name: str, number: int, staging: str, rows: int) -> tuple[Step, ...]:
        """Add staged files to a table as a batch: at once, or by the returned steps; raises DataError."""


@dataclass(frozen=True, slots=True)
class ParquetTables:
    """Folders of Parquet files, each batch in a folder that appears at once. Replays have negative numbers."""

    folders: Mapping[str, str]
    sign: str = ""

    @property
    def staged_in_folders(self) -> bool:
        """Staged files have the folders of the table."""
        return True

    @classmethod
    def below(cls, ledger: Ledger, version: int) -> "ParquetTables":
        """Both tables of a version, in the output of the ledger."""
        return cls({name: f"{folder(ledger.home, version)}/{name}" for name in TABLES})

    def publish(self, name: str, number: int, staging: str, rows: int) -> tuple[Move, ...]:  # noqa: ARG002 - Tables'
        """The move from the staging folder to the table."""
        return ((f"{staging}/{name}", f"{self.folders[name]}/{BATCH}={self.sign}{number}"),)


def entered(
    report: Report, batch: Batch, writing: Writing, types: Mapping[str, pa.StructType], tables: Tables
) -> Entry:
    """The entry for a batch; raises DataError if the counts do not add up.

    `types` are the row types of both tables, for files without rows.
    """
    for line in rest_lines(batch.plan, report.summary.given_up):
        batch.notify(line)
    summary = replace(report.summary, given_up=())
    if not summary.reconciles:
        raise DataError(
            f"batch {batch.number} has wrong counts, and is not in the tables: {summary.records} records in, "
            f"{summary.decoded} decoded, {summary.discarded} dropped on request; written were {summary.rows} rows and "
            f"{summary.quarantined} to the quarantine"
        )
    batch.limits.check(summary, _quarantine_size(batch))
    report += _empty(report, batch, writing, types)
    _sweep(report, batch, writing)
    steps: list[Step] = []
    for name in TABLES:
        files = [file for file in report.files if file.table == name]
        if files:
            steps += tables.publish(name, batch.number, writing.staging, sum(file.rows for file in files))
    if report.files and not steps:
        batch.ledger.storage.delete(writing.staging)
    now, seconds = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic() - batch.started
    staging = writing.staging if steps else ""
    digest, terms = batch.plan.digest, asdict(batch.terms)
    moves = tuple(step for step in steps if not isinstance(step, Commit))
    commits = tuple(step for step in steps if isinstance(step, Commit))
    return Entry(batch.number, summary, digest, now, round(seconds, 3), staging, moves, terms, commits=commits)


def rest_lines(plan: Plan, remainders: Remainders) -> Iterator[str]:
    """Lines about ends of files that were given up, because the next record could not be found, and the advice."""
    if not remainders:
        return
    remedy = open_module(plan).CODEC.remedy(plan.root, plan.framing, dict(plan.parameters))
    for path, record, offset, size in remainders[:NAMED]:
        yield GivenUp(bytes=size, places=1, record=record, offset=offset).line(path, remedy)
    others = remainders[NAMED:]
    if others:
        yield f"and {size_text(sum(size for *_, size in others))} of {len(others)} more files in the same way"


def _quarantine_size(batch: Batch) -> int:
    """The size of the quarantine, if it has a limit: bytes added by batches, less those removed by replays."""
    if batch.limits.size is None or batch.anew:
        return 0
    ledger = batch.ledger
    replays = Ledger(ledger.storage, ledger.home, REPLAYS).total()[1]
    replaced = ledger.removed().bad_size
    return max(ledger.total()[1].bad_size - replaced - replays.size + replays.bad_size, 0)


def _empty(report: Report, batch: Batch, writing: Writing, types: Mapping[str, pa.StructType]) -> Report:
    """Files without rows for tables that have none, so that their columns can be read."""
    there = {file.table for file in report.files}
    made = [TableFiles(writing, name) for name in batch.empty if name not in there]
    for files in made:
        files.touch(types[files.table])
        files.close()
    return Report(tuple(file for files in made for file in files.done))


def _sweep(report: Report, batch: Batch, writing: Writing) -> None:
    """Remove files without a report; raises DataError if a reported file is missing."""
    storage = batch.ledger.storage
    for name in TABLES:
        named = {file.name for file in report.files if file.table == name}
        found = set(storage.files(f"{writing.staging}/{name}"))
        for left in sorted(found - named):
            storage.delete(f"{writing.staging}/{name}/{left}")
        if named - found:
            raise DataError(
                f"batch {batch.number}: {len(named - found)} written files are missing in {writing.staging}; "
                "executors and driver must use the same storage"
            )
        if found and not named:
            storage.delete(f"{writing.staging}/{name}")
