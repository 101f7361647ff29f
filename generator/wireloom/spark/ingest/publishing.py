"""One batch of staged rows, written to both tables and counted there, ready to be entered in the ledger.

Parquet is written to a staging folder and moved from there; Delta commits by itself, and knows a batch that it has
already. Either way the books are closed on what was written, not on what was meant to be.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, cast

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from wireloom.failures import DataError
from wireloom.spark.ingest.ledger import Entry, Ledger, Move
from wireloom.spark.ingest.plan import BATCH, QUARANTINE, RECORDS, Counts, Kinds, Plan, Summary, counts

PARTS = {RECORDS: "row", QUARANTINE: "bad"}


@dataclass(frozen=True, slots=True)
class Batch:
    """What is about to be written; the tables in `empty` get even no rows, so that their columns can be read."""

    ledger: Ledger
    number: int
    plan: Plan
    kinds: Sequence[str] = ()
    empty: Collection[str] = ()
    started: float = field(default_factory=time.monotonic)


class Tables(Protocol):
    """The two tables of an output, in some format."""

    def write(self, frame: DataFrame, name: str, number: int, staging: str) -> DataFrame:
        """Write a batch of a table; what was written, read back."""

    def moves(self, name: str, number: int, staging: str) -> tuple[Move, ...]:
        """What is to be moved to make it so."""


@dataclass(frozen=True, slots=True)
class ParquetTables:
    """Folders of Parquet files; each batch is a folder in them, which appears whole. Replays have negative numbers."""

    folders: dict[str, str]
    sign: str = ""

    @classmethod
    def below(cls, ledger: Ledger) -> "ParquetTables":
        """Both tables in the folder that has the ledger."""
        return cls({name: f"{ledger.home}/{name}" for name in PARTS})

    def write(self, frame: DataFrame, name: str, number: int, staging: str) -> DataFrame:  # noqa: ARG002 - Tables'
        """Write to the staging folder."""
        path = f"{staging}/{name}"
        frame.write.parquet(path)
        return frame.sparkSession.read.schema(frame.schema).parquet(path)

    def moves(self, name: str, number: int, staging: str) -> tuple[Move, ...]:
        """From the staging folder into the table."""
        return ((f"{staging}/{name}", f"{self.folders[name]}/{BATCH}={self.sign}{number}"),)


def prepared(stage: DataFrame, batch: Batch, tables: Tables) -> Entry:
    """Write the staged rows; the entry that makes them so. Raises DataError where the books do not balance."""
    staging = batch.ledger.staging()
    stage = stage.persist(StorageLevel.DISK_ONLY)
    try:
        tally = _tally(stage)
        expected = {RECORDS: tally.rows, QUARANTINE: tally.records - tally.decoded - tally.discarded}
        written = {
            name: tables.write(_part(stage, part), name, batch.number, staging)
            for name, part in PARTS.items()
            if expected[name] or name in batch.empty
        }
    finally:
        stage.unpersist()
    summary = _counted(tally, written, batch.kinds)
    if not summary.reconciles or summary.rows != tally.rows:
        raise DataError(
            f"batch {batch.number} does not balance, and is not in the tables: {summary.records} records in, "
            f"{summary.decoded} decoded as {tally.rows} rows, {summary.discarded} dropped on request; written were "
            f"{summary.rows} rows and {summary.quarantined} to the quarantine"
        )
    moves = tuple(move for name in written for move in tables.moves(name, batch.number, staging))
    now, seconds = datetime.now(UTC).isoformat(timespec="milliseconds"), time.monotonic() - batch.started
    return Entry(batch.number, summary, batch.plan.digest, now, round(seconds, 3), staging if moves else "", moves)


def _part(stage: DataFrame, part: str) -> DataFrame:
    """The rows of one part, each column with its comment."""
    fields = cast(StructType, stage.schema[part].dataType).fields
    columns = [F.col(part)[field.name].alias(field.name, metadata=field.metadata or {}) for field in fields]
    return stage.where(F.col(part).isNotNull()).select(*columns)


def _tally(stage: DataFrame) -> Summary:
    """What the executors counted; of the quarantine, nothing yet."""
    tally = stage.where(F.col("tally").isNotNull()).select("tally.*")
    names = ("records", "decoded", "rows", "size")
    sums = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in names]
    some = F.when(F.size("dropped") > 0, F.col("dropped"))
    (found,) = tally.agg(*sums, F.collect_list(some).alias("dropped")).collect()
    dropped = counts(item for each in found["dropped"] for item in each.items())
    return Summary(found["records"], found["decoded"], found["rows"], 0, (), dropped, found["size"])


def _counted(tally: Summary, written: dict[str, DataFrame], kinds: Sequence[str]) -> Summary:
    """The summary of what is in the tables now."""
    rows, found = _kinds(written[RECORDS], kinds) if RECORDS in written else (0, ())
    codes: Counts = ()
    if QUARANTINE in written:
        codes = counts((row["code"], row["count"]) for row in written[QUARANTINE].groupBy("code").count().collect())
    bad = sum(count for _, count in codes)
    return Summary(tally.records, tally.decoded, rows, bad, codes, tally.dropped, tally.size, found)


def _kinds(records: DataFrame, kinds: Sequence[str]) -> tuple[int, Kinds]:
    """How many rows there are, and how many of each kind."""
    groups = records.groupBy(*(F.col(f"`{name}`") for name in kinds)).count().collect()
    return sum(group["count"] for group in groups), tuple(
        (name, counts((str(group[name]), group["count"]) for group in groups if group[name] is not None))
        for name in kinds
    )
