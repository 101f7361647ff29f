"""Both tables as Delta: each batch is one commit of a table, which Delta makes only once for a name and batch number.

Two tables need two commits. What decodes a batch of a stream is noted before the first one. So if the stream is killed
in between, another spec cannot finish the batch, which could put a record into both tables or into neither. A replay is
entered in the ledger before its commits, which are made from its staged files, by whichever process finishes it.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wireloom.failures import DataError, MachineError, MisuseError
from wireloom.ingest.ledger.entries import LEDGER, Commit, Ledger, Move, Storage
from wireloom.ingest.ledger.publishing import Tables
from wireloom.ingest.plan import BATCH, DELTA_LOG, RECORDS, Plan
from wireloom.ingest.tables.agreement import Terms, folder
from wireloom.spark.ingest.sources import has_class, scala
from wireloom.spark.ingest.storage import HadoopStorage

PROVIDER = "org.apache.spark.sql.delta.sources.DeltaDataSource"
EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
SETTINGS = (
    ("spark.sql.extensions", EXTENSION),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)
"""Settings that Delta needs in a session."""


@dataclass(frozen=True, slots=True)
class DeltaTables:
    """The two tables of one stream."""

    spark: SparkSession
    ledger: Ledger
    stream: str
    plan: Plan
    terms: Terms

    @property
    def staged_in_folders(self) -> bool:
        """Delta partitions the files itself, by its own columns."""
        return False

    def publish(self, name: str, number: int, staging: str, rows: int) -> tuple[Move, ...]:
        """Commit the staged files, unless the batch was committed before with as many rows."""
        self._begin(number)
        table = f"{folder(self.ledger.home, self.terms.version)}/{name}"
        by = self.terms.partition if name == RECORDS else ()
        make(self.spark, Commit(f"{staging}/{name}", table, f"{self.stream}/{name}", number, rows, partition=by))
        return ()

    def _begin(self, number: int) -> None:
        """Note the plan of the batch; raises DataError if it was begun with another one."""
        storage, folder = self.ledger.storage, f"{self.ledger.home}/{LEDGER}"
        path = f"{folder}/begun-{number:010d}.json"
        plan = json.loads(json.dumps(asdict(self.plan), default=str))
        if not storage.exists(path):
            for name in storage.names(folder):
                if name.startswith("begun-"):  # of the previous batch, which is in the ledger
                    storage.delete(f"{folder}/{name}")
            storage.write(path, json.dumps(plan))
            return
        before = json.loads(storage.read(path))
        # skips keys that an older version did not write
        changed = [name for name in plan if plan[name] != before.get(name, plan[name])]
        if changed:
            raise DataError(
                f"batch {number} may be in one table already, and was decoded with another {' and '.join(changed)} "
                f"(spec {before['digest'][:12]}); finish it with the old one (--trigger once), then use the new one"
            )


@dataclass(frozen=True, slots=True)
class DeltaReplay:
    """The two tables of a replay. Still bad records replace all batches up to `last`."""

    records: str
    quarantine: str
    last: int
    partition: tuple[str, ...]

    @property
    def staged_in_folders(self) -> bool:
        """Delta partitions the files itself."""
        return False

    def publish(self, name: str, number: int, staging: str, rows: int) -> tuple[Commit, ...]:
        """The commit to make from staged files, once the replay is entered."""
        application = f"{staging.rpartition('/')[2]}/{name}"  # unique among all replays
        if name == RECORDS:
            return (Commit(f"{staging}/{name}", self.records, application, -number, rows, partition=self.partition),)
        return (Commit(f"{staging}/{name}", self.quarantine, application, -number, rows, replaces=self.last),)


@dataclass(frozen=True, slots=True)
class DeltaFolder:
    """A Delta quarantine. The batches up to `last` are replayed; a stream may add others meanwhile."""

    spark: SparkSession
    quarantine: str
    last: int

    @property
    def storage(self) -> Storage:
        """Access to the session's file systems."""
        return HadoopStorage(self.spark)

    def refuse_others(self, records: str) -> None:
        """Raise MisuseError if the records table is not a Delta table."""
        names = self.storage.names(records)
        if names and DELTA_LOG not in names:
            raise MisuseError(f"{records} is not a Delta table, but {self.quarantine} is; choose another --output")

    def taken(self, records: str) -> Iterable[int]:
        """The lowest batch number in each table, without its sign."""
        there = [table for table in (records, self.quarantine) if DELTA_LOG in self.storage.names(table)]
        lowest = [table_at(self.spark, table).agg(F.min(BATCH)).head() for table in there]
        return [-row[0] for row in lowest if row is not None and row[0] is not None]

    def tables(self, records: str, terms: Terms) -> Tables:
        """The records table, and the same quarantine."""
        return DeltaReplay(records, self.quarantine, self.last, terms.partition)

    def retired(self, staging: str) -> tuple[Move, ...]:  # noqa: ARG002 - Arrangement's
        """None: the commit of still bad records removes the old rows."""
        return ()


def table_at(spark: SparkSession, path: str) -> DataFrame:
    """A Delta table in its current state."""
    return spark.read.format("delta").load(path)


def make(spark: SparkSession, commit: Commit) -> None:
    """Make a commit, unless it exists; raises DataError if the table then has other rows of the batch."""
    number = commit.number
    staged = spark.read.parquet(commit.staged).withColumn(BATCH, F.lit(number).cast("long"))
    options = {"txnAppId": commit.application, "txnVersion": str(abs(number)), "mergeSchema": "true"}
    writer = staged.write.format("delta").options(**options)
    if commit.replaces is None:
        writer = writer.mode("append")
    else:
        writer = writer.mode("overwrite").option("replaceWhere", f"{BATCH} <= {commit.replaces}")
    (writer.partitionBy(*commit.partition) if commit.partition else writer).save(commit.table)
    found = table_at(spark, commit.table).where(F.col(BATCH) == number).count()
    if found != commit.rows:
        raise DataError(f"batch {number} has {found} rows in {commit.table}, but {commit.rows} were written")


def require_delta(spark: SparkSession) -> None:
    """Raise MachineError with advice if the session has no Delta."""
    if not has_class(spark, PROVIDER):
        version = ".".join(spark.version.split(".")[:2])
        coordinate = f"io.delta:delta-spark_{version}_{scala(spark)}:VERSION"
        raise MachineError(
            "this Spark session has no Delta Lake", f"--packages {coordinate} (the VERSION made for Spark {version})"
        )
    if EXTENSION not in (spark.conf.get("spark.sql.extensions", "") or ""):
        wanted = " ".join(f"--conf {name}={value}" for name, value in SETTINGS)
        raise MachineError("this Spark session is not set up for Delta Lake", f"spark-submit {wanted}")
