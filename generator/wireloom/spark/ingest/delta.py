"""Both tables as Delta: each batch is one commit of a table, which Delta makes once, by the stream's name and a number.

Two tables are two commits. What decides over a batch is noted before the first, so that a batch which was killed
between them is not finished by another spec, which could put a record into both tables or into neither.
"""

import json
from dataclasses import asdict, dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from wireloom.failures import DataError, MachineError
from wireloom.ingest.ledger import LEDGER, Ledger, Move
from wireloom.ingest.plan import BATCH, RECORDS, Plan
from wireloom.ingest.terms import Terms, folder
from wireloom.spark.ingest.sources import has_class, scala

PROVIDER = "org.apache.spark.sql.delta.sources.DeltaDataSource"
EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
SETTINGS = (
    ("spark.sql.extensions", EXTENSION),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)
"""What Delta asks of a session."""


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
        """Delta makes folders itself, by what it knows of its columns."""
        return False

    def publish(self, name: str, number: int, staging: str, rows: int) -> tuple[Move, ...]:
        """Commit the staged files; a batch that was committed before is left as it is, if it has as many rows."""
        self._begin(number)
        path = f"{folder(self.ledger.home, self.terms.version)}/{name}"
        staged = self.spark.read.parquet(f"{staging}/{name}").withColumn(BATCH, F.lit(number).cast("long"))
        options = {"txnAppId": f"{self.stream}/{name}", "txnVersion": str(number), "mergeSchema": "true"}
        by = self.terms.partition if name == RECORDS else ()
        writer = staged.write.format("delta").mode("append").options(**options)
        (writer.partitionBy(*by) if by else writer).save(path)
        found = self.spark.read.format("delta").load(path).where(F.col(BATCH) == number).count()
        if found != rows:
            raise DataError(f"batch {number} has {found} rows in {path}, and {rows} were written")
        return ()

    def _begin(self, number: int) -> None:
        """Note by what the batch is decoded; raises DataError where it was begun by something else."""
        storage, folder = self.ledger.storage, f"{self.ledger.home}/{LEDGER}"
        path = f"{folder}/begun-{number:010d}.json"
        plan = json.loads(json.dumps(asdict(self.plan), default=str))
        if not storage.exists(path):
            for name in storage.names(folder):
                if name.startswith("begun-"):  # of the batch before, which is in the ledger
                    storage.delete(f"{folder}/{name}")
            storage.write(path, json.dumps(plan))
            return
        before = json.loads(storage.read(path))
        changed = [name for name in plan if plan[name] != before.get(name, plan[name])]  # it may be of an older version
        if changed:
            raise DataError(
                f"batch {number} may be in one table already, and was decoded with another {' and '.join(changed)} "
                f"(spec {before['digest'][:12]}); finish it with that (--trigger once), then go on with the new one"
            )


def require_delta(spark: SparkSession) -> None:
    """Raises MachineError, with what to add, where this session has no Delta."""
    if not has_class(spark, PROVIDER):
        version = ".".join(spark.version.split(".")[:2])
        coordinate = f"io.delta:delta-spark_{version}_{scala(spark)}:VERSION"
        raise MachineError(
            "this Spark session has no Delta Lake", f"--packages {coordinate} (the VERSION made for Spark {version})"
        )
    if EXTENSION not in (spark.conf.get("spark.sql.extensions", "") or ""):
        wanted = " ".join(f"--conf {name}={value}" for name, value in SETTINGS)
        raise MachineError("this Spark session is not set up for Delta Lake", f"spark-submit {wanted}")
