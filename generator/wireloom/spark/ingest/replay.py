"""A quarantine table once more, through a newer spec: what decodes now moves to the records, the rest stays.

What stays is a new generation of the quarantine: one batch, with the new errors and the new spec's digest, in place of
all batches that were there when the replay began. Like every batch it is entered in a ledger (that of the folder which
has the quarantine) and then moved; whatever is killed, the next replay finishes it first. A stream may add to the
quarantine meanwhile; a second replay may not.
"""

from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wireloom.failures import MisuseError
from wireloom.ingest.diagnosis import diagnosed
from wireloom.ingest.lease import held
from wireloom.ingest.ledger import REPLAYS, Entry, Ledger, Move
from wireloom.ingest.modules import open_module
from wireloom.ingest.plan import BATCH, QUARANTINE, RECORDS, Counts, Replay, Summary, counts
from wireloom.ingest.publishing import Batch, ParquetTables
from wireloom.ingest.replayed import replayed_of
from wireloom.ingest.tables import ERROR
from wireloom.ingest.terms import agreed, folder, home_of, terms
from wireloom.ingest.versions import close, show
from wireloom.spark.ingest.running import Frame, Taken
from wireloom.spark.ingest.storage import HadoopStorage
from wireloom.spark.schemas import arrow_schema
from wireloom.spark.session import ended


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did: `before` counts records by their spec's digest; `cut` ones had lost bytes, and stay."""

    number: int
    summary: Summary
    digest: str
    before: Counts = ()
    cut: int = 0
    version: int = 1  # of the columns that the records have now


def finish(spark: SparkSession, quarantine: str) -> tuple[Entry, ...]:
    """Finish replays that were killed; which those are."""
    storage = HadoopStorage(spark)
    ledger = _ledger(storage, quarantine)
    with held(storage, ledger, "replay"):
        return ledger.recover()


def _ledger(storage: HadoopStorage, quarantine: str) -> Ledger:
    return Ledger(storage, home_of(storage, storage.absolute(quarantine).rpartition("/")[0]), REPLAYS)


def formats(spark: SparkSession, quarantine: str) -> tuple[str, ...]:
    """The formats of the records in a quarantine; raises MisuseError where it is none."""
    storage = HadoopStorage(spark)
    rows = _read(spark, quarantine, _batches(storage, quarantine)).select("format").distinct().collect()
    return tuple(sorted(row["format"] for row in rows))


def replay(spark: SparkSession, run: Replay) -> Replayed:
    """Run it; raises MisuseError where the tables do not fit, DataError where the books do not balance."""
    open_module(run.plan)  # which must be of the plan's spec
    storage = HadoopStorage(spark)
    quarantine, output = storage.absolute(run.quarantine), home_of(storage, storage.absolute(run.output))
    ledger = _ledger(storage, quarantine)
    with diagnosed(run.output, partial(ended, spark)), held(storage, ledger, "replay"):
        ledger.recover()
        try:
            return _run(spark, run, ledger, quarantine, output)
        except BaseException:
            ledger.abandon()
            raise


def _run(spark: SparkSession, run: Replay, ledger: Ledger, quarantine: str, output: str) -> Replayed:
    storage = HadoopStorage(spark)
    old = _batches(storage, quarantine)
    _refuse_other_folders(storage, f"{output}/{RECORDS}")
    frame = _read(spark, run.quarantine, old)
    before = _before(frame, run)
    cut = 0 if run.plan.from_source else _cut(frame)
    place = pa.schema(list(arrow_schema(frame.schema))[len(ERROR) :])
    # other parameters are why there are replays
    agreement = agreed(storage, output, terms(run.plan, place), accept=True, new_version=run.new_version)
    close(storage, output, agreement)
    records = f"{folder(output, agreement.terms.version)}/{RECORDS}"
    tables = ParquetTables({RECORDS: records, QUARANTINE: quarantine}, "-")
    number = _free(ledger, quarantine, records)
    batch = Batch(ledger, number, run.plan, agreement.terms, empty=(QUARANTINE,))
    entry = Taken(Frame(frame, replayed_of), place).prepared(batch, tables)
    entry = replace(entry, moves=(*entry.moves, *_retired(quarantine, old, entry.staging)))
    try:
        ledger.add(entry)
    except FileExistsError as error:
        raise MisuseError(f"another replay of {run.quarantine} was faster; start again for what is left") from error
    ledger.settle(entry)
    show(storage, output, agreement.terms)
    return Replayed(number, entry.summary, run.plan.digest, before, cut, agreement.terms.version)


def _cut(frame: DataFrame) -> int:
    """How many records have lost bytes."""
    return frame.where(F.col("raw").isNotNull() & (F.col("raw_size") > F.octet_length("raw"))).count()


def _free(ledger: Ledger, *tables: str) -> int:
    """A number that no replay has had, in this ledger or in a table that several quarantines are replayed to."""
    mark = f"{BATCH}=-"
    taken = [int(name.removeprefix(mark)) for table in tables for name in ledger.storage.names(table) if mark in name]
    return max([ledger.last(), 0, *taken]) + 1


def _refuse_other_folders(storage: HadoopStorage, records: str) -> None:
    """Nothing can be added to Parquet files that lie in a table without the folder of a batch."""
    for name in storage.names(records):
        if not name.startswith((f"{BATCH}=", "_", ".")):
            raise MisuseError(f"{records} has {name}, so this version did not make it; choose another --output")


def _batches(storage: HadoopStorage, quarantine: str) -> tuple[str, ...]:
    names = storage.names(quarantine)
    if "_delta_log" in names:
        raise MisuseError(f"{quarantine} is a Delta table; a replay reads Parquet so far")
    found = tuple(name for name in names if not name.startswith(("_", ".")))
    if not found:
        raise MisuseError(f"{quarantine} is no table; name the folder `quarantine` that ingest made")
    return found


def _read(spark: SparkSession, quarantine: str, batches: tuple[str, ...]) -> DataFrame:
    try:
        frame = spark.read.option("mergeSchema", value=True).parquet(*(f"{quarantine}/{name}" for name in batches))
    except AnalysisException as error:
        raise MisuseError(f"cannot read {quarantine} as Parquet: {error.getMessage() or error}") from error
    if frame.columns[: len(ERROR)] != [field.name for field in ERROR]:
        wanted = ", ".join(field.name for field in ERROR)
        found = ", ".join(frame.columns)
        raise MisuseError(f"{quarantine} is no quarantine, which has the columns {wanted}; it has {found}")
    return frame


def _before(frame: DataFrame, run: Replay) -> Counts:
    """How many records each spec refused; raises MisuseError where they are of another format."""
    rows = frame.groupBy("format", "spec_digest").count().collect()
    others = sorted({row["format"] for row in rows} - {run.plan.format})
    if others:
        raise MisuseError(f"{run.quarantine} has records of {', '.join(others)}, not of {run.plan.format}")
    return counts((row["spec_digest"], row["count"]) for row in rows)


def _retired(quarantine: str, batches: tuple[str, ...], staging: str) -> tuple[Move, ...]:
    """What has been replayed goes, after its successor is there: better seen twice for a moment than not at all."""
    return tuple((f"{quarantine}/{name}", f"{staging}/old/{name}") for name in batches)
