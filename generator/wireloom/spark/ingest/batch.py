"""The ingest job on Spark: its executors run the tasks."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from wireloom.ingest.files.finding import Found
from wireloom.ingest.job.batch import ingest as run
from wireloom.ingest.job.diagnosis import End
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.ledger.entries import Entry
from wireloom.ingest.ledger.publishing import Batch, Tables
from wireloom.ingest.plan import Column, Files, Job, Summary
from wireloom.spark.ingest.sources import listed, taken
from wireloom.spark.ingest.storage import SessionStorage
from wireloom.spark.session import ended


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Runs ingest jobs on a Spark session."""

    spark: SparkSession

    @property
    def storage(self) -> SessionStorage:
        """Access to the session's file systems."""
        return SessionStorage(self.spark)

    def ended(self) -> End:
        """How the Java process ended, if it did."""
        return ended(self.spark)

    def listed(self, source: Files | Column) -> Found:
        """The files of a source; raises MisuseError if the path does not exist."""
        return listed(self.spark, source)

    def prepared(self, job: Job, found: Found, batch: Batch, tables: Tables) -> Entry:
        """Read files of the input and write the tables' files."""
        open_module(job.plan)  # raises if the package has another spec than the plan
        return taken(self.spark, job.source, found, job.plan, batch.notify).prepared(batch, tables)


def ingest(spark: SparkSession, job: Job, notify: Callable[[str], None] = lambda _: None) -> Summary:
    """Run the job on a session; see `wireloom.ingest.job.batch`."""
    return run(SparkEngine(spark), job, notify)
