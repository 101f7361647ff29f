"""Replays on Spark: its executors read the quarantine; see `wireloom.ingest.quarantine.replay`."""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wireloom.failures import MisuseError
from wireloom.ingest.job.diagnosis import End
from wireloom.ingest.ledger.entries import BATCHES, IDENTITY, LEDGER, Commit, Entry, Ledger
from wireloom.ingest.ledger.publishing import Batch, Tables
from wireloom.ingest.plan import BATCH, Replay
from wireloom.ingest.quarantine.replay import Found, Refused, Replayed
from wireloom.ingest.quarantine.replay import finish as finish_on
from wireloom.ingest.quarantine.replay import replay as replay_on
from wireloom.ingest.quarantine.replayed_records import replayed_of
from wireloom.ingest.tables.agreement import home_of
from wireloom.ingest.tables.schemas import place_of, refuse_no_quarantine
from wireloom.spark.ingest.delta import DeltaFolder, make, require_delta, table_at
from wireloom.spark.ingest.running import Frame, Taken
from wireloom.spark.ingest.storage import HadoopStorage
from wireloom.spark.schemas import arrow_schema
from wireloom.spark.session import ended

REPLAYED = -1
"""The highest batch number of replays; all are negative."""


@dataclass(frozen=True, slots=True)
class SparkReplays:
    """Runs replays on a Spark session."""

    spark: SparkSession

    @property
    def storage(self) -> HadoopStorage:
        """Access to the session's file systems."""
        return HadoopStorage(self.spark)

    def ended(self) -> End:
        """How the Java process ended, if it did."""
        return ended(self.spark)

    def quarantine(self, path: str, batches: tuple[str, ...]) -> "SparkQuarantine":
        """The given batches of a quarantine; raises MisuseError if the path is not one."""
        try:
            frame = self.spark.read.option("mergeSchema", value=True).parquet(*(f"{path}/{name}" for name in batches))
        except AnalysisException as error:
            raise MisuseError(f"cannot read {path} as Parquet: {error.getMessage() or error}") from error
        refuse_no_quarantine(path, frame.columns)
        return SparkQuarantine(frame)

    def delta(self, path: str) -> Found:
        """A Delta quarantine in its current state; raises MisuseError or MachineError."""
        require_delta(self.spark)
        whole = table_at(self.spark, path)
        refuse_no_quarantine(path, whole.columns)
        last = self._last(path, whole)
        rows = whole.where(F.col(BATCH) <= last).drop(BATCH)
        return Found(SparkQuarantine(rows), DeltaFolder(self.spark, path, last))

    def _last(self, path: str, whole: DataFrame) -> int:
        """The last batch to replay, without one that a stream has committed but not entered yet."""
        newest = whole.agg(F.max(BATCH)).head()
        last = REPLAYED if newest is None or newest[0] is None else int(newest[0])
        home = home_of(self.storage, path.rpartition("/")[0])
        if not self.storage.exists(f"{home}/{LEDGER}/{IDENTITY}"):
            return last  # no stream writes to it
        return min(last, Ledger(self.storage, home, BATCHES).last())

    def commit(self, commit: Commit) -> None:
        """Make a commit of a Delta table, unless it exists."""
        require_delta(self.spark)
        make(self.spark, commit)


@dataclass(frozen=True, slots=True)
class SparkQuarantine:
    """A quarantine as a DataFrame."""

    frame: DataFrame

    @property
    def place(self) -> pa.Schema:
        """The columns that say where each record came from."""
        return place_of(arrow_schema(self.frame.schema))

    def refused(self) -> tuple[Refused, ...]:
        """How many records each spec refused."""
        rows = self.frame.groupBy("format", "spec_digest").count().collect()
        return tuple(Refused(row["format"], row["spec_digest"], row["count"]) for row in rows)

    def cut(self) -> int:
        """How many records are incomplete."""
        return self.frame.where(F.col("raw").isNotNull() & (F.col("raw_size") > F.octet_length("raw"))).count()

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Decode all records and write the results; returns the entry for the ledger."""
        return Taken(Frame(self.frame, replayed_of), self.place).prepared(batch, tables)


def finish(spark: SparkSession, quarantine: str) -> tuple[Entry, ...]:
    """Finish killed replays; returns those."""
    return finish_on(SparkReplays(spark), quarantine)


def replay(spark: SparkSession, run: Replay) -> Replayed:
    """Run a replay on a session; see `wireloom.ingest.quarantine.replay`."""
    return replay_on(SparkReplays(spark), run)
