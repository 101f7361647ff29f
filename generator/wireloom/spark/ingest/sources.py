"""The sources of records: files, a binary column of Parquet, Kafka, or samples; once, or as a stream.

Each source has the input for executors, the function that reads it, and the columns that say where a record came from.
A stream is limited by Spark's own options.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, assert_never

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import BinaryType, StructField, StructType

from wireloom.failures import MachineError, MisuseError
from wireloom.ingest.files.finding import UNFINISHED, File, Found, Place, reachable
from wireloom.ingest.files.inputs import groups, listing
from wireloom.ingest.files.records import files_of
from wireloom.ingest.files.values import DATA, values_of
from wireloom.ingest.plan import OFFSET, RECORD, SOURCE, Column, Files, Kafka, Plan, Samples, Source
from wireloom.ingest.tables.schemas import KAFKA_PLACE, PLACE
from wireloom.spark.ingest.running import Frame, Groups, Read, Taken
from wireloom.spark.ingest.storage import HadoopStorage

KAFKA_PROVIDER = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
FILE, MESSAGE = pa.schema(list(PLACE)), pa.schema(list(KAFKA_PLACE))
EVER = "36500d"  # by default, Spark skips files that are a week older than the newest


@dataclass(frozen=True, slots=True)
class Stream:
    """Records that come in batches: a streaming DataFrame, and the work of executors on each batch."""

    frame: DataFrame
    read: Read
    place: pa.Schema

    def taken(self, batch: DataFrame) -> Taken:
        """The input of one batch."""
        return Taken(Frame(batch, self.read), self.place)


# --- once ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionPlace(Place):
    """A file that only Spark can open; its path includes the file system."""

    @property
    def shown(self) -> str:
        """The path, as tables have it."""
        return self.path


def listed(spark: SparkSession, source: Files | Column) -> Found:
    """The files of a source, found by pyarrow or else by Spark; raises MisuseError if there are none."""
    if reachable(source.path):
        return listing(source)
    files = _files(spark, source.path, ()).select("path", F.unix_micros("modificationTime").alias("at"), "length")
    found = [File(SessionPlace("spark:", row["path"]), row["length"], row["at"] * 1000) for row in files.collect()]
    return Found(tuple(sorted(found, key=lambda file: file.path)), ())


def taken(
    spark: SparkSession, source: Files | Column, found: Found, plan: Plan, notify: Callable[[str], None]
) -> Taken:
    """The input of these files. `notify` gets a line about skipped files. Raises MisuseError if they cannot be read."""
    for line in found.passed_over():
        notify(line)
    if reachable(source.path):
        groups_found = groups(found, source, plan, spark.sparkContext.defaultParallelism)
        return Taken(Groups(spark, tuple(groups_found.groups)), FILE)
    paths = tuple(file.path for file in found.files)
    match source:
        case Files(path):
            return Taken(Frame(_content(_files(spark, path, paths), local=False), files_of), FILE)
        case Column(path, name):
            frame = _placed(_column(spark, path, name), name)
            return Taken(Frame(frame.where(F.col(SOURCE).isin(*paths)), values_of), FILE)
        case _:
            assert_never(source)


def _files(spark: SparkSession, path: str, paths: tuple[str, ...]) -> DataFrame:
    """The files of a path that executors cannot open by pyarrow, with their content; all of them or only `paths`."""
    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", value=True).load(path)
    except AnalysisException as error:
        raise MisuseError(f"cannot read {path}: {error.getMessage() or error}") from error
    complete = files.where(_complete(F.col("path")))
    return complete.where(F.col("path").isin(*paths)) if paths else complete


def _content(files: DataFrame, *, local: bool) -> DataFrame:
    complete = files.where(_complete(F.col("path")))
    return complete.select("path", F.lit(None).cast("binary").alias("content") if local else F.col("content"))


def _complete(path: SparkColumn) -> SparkColumn:
    """Whether a file's name marks it as complete."""
    return ~reduce(or_, (F.endswith(path, F.lit(end)) for end in UNFINISHED))


def _column(spark: SparkSession, path: str, column: str) -> DataFrame:
    try:
        frame = spark.read.parquet(path)
    except AnalysisException as error:
        raise MisuseError(f"cannot read {path} as Parquet: {error.getMessage() or error}") from error
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    if types.get(column) != "binary":
        found = f"of type {types[column]}" if column in types else "not there"
        raise MisuseError(f"column {column!r} of {path} is {found}; binary columns: {_binary(types)}")
    return frame


def _placed(frame: DataFrame, column: str) -> DataFrame:
    complete = frame.where(_complete(F.col("_metadata.file_path")))
    return complete.select(
        F.col("_metadata.file_path").alias(SOURCE),
        F.col("_metadata.row_index").alias(RECORD),
        F.lit(None).cast("long").alias(OFFSET),
        F.col(f"`{column}`").alias(DATA),
    )


def _binary(types: dict[str, str]) -> str:
    return ", ".join(name for name, type in types.items() if type == "binary") or "none"


# --- as a stream ---------------------------------------------------------------------------------------------------


def stream(spark: SparkSession, source: Source, options: tuple[tuple[str, str], ...] = ()) -> Stream:
    """The stream of a source. `options` are Spark's options of the source, and override ours.

    Raises MisuseError if the source is impossible, MachineError if Spark lacks the connector.
    """
    match source:
        case Files(path):
            return _file_stream(spark, path, options)
        case Column(path, name):
            return _column_stream(spark, path, name, options)
        case Kafka(servers, topics):
            return _kafka_stream(spark, servers, topics, options)
        case Samples():
            return _sample_stream(spark, source)
        case _:
            assert_never(source)


def _file_stream(spark: SparkSession, path: str, options: tuple[tuple[str, str], ...]) -> Stream:
    _watched(spark, path)
    schema = "path string, modificationTime timestamp, length long, content binary"
    given = (("recursiveFileLookup", "true"), ("maxFileAge", EVER), *options)
    files = _options(spark.readStream.format("binaryFile").schema(schema), given).load(path)
    local = HadoopStorage(spark).absolute(path).startswith("file:")
    return Stream(_content(files, local=local), files_of, FILE)


def _column_stream(spark: SparkSession, path: str, column: str, options: tuple[tuple[str, str], ...]) -> Stream:
    _watched(spark, path)
    if any(name.endswith(".parquet") for name in HadoopStorage(spark).names(path)):
        _column(spark, path, column)
    schema = StructType([StructField(column, BinaryType())])
    given = (("maxFileAge", EVER), *options)
    frame = _options(spark.readStream.format("parquet").schema(schema), given).load(path)
    return Stream(_placed(frame, column), values_of, FILE)


def _watched(spark: SparkSession, path: str) -> None:
    if not HadoopStorage(spark).exists(path):
        raise MisuseError(f"there is no {path}; make the folder first; it may be empty")


def _kafka_stream(
    spark: SparkSession, servers: str, topics: tuple[str, ...], options: tuple[tuple[str, str], ...]
) -> Stream:
    require_kafka(spark)
    given = (
        ("kafka.bootstrap.servers", servers),
        ("subscribe", ",".join(topics)),
        ("startingOffsets", "earliest"),
        *options,
    )
    frame = _options(spark.readStream.format("kafka"), given).load()
    columns = [F.col(field.name.removeprefix("_")).alias(field.name) for field in KAFKA_PLACE]
    return Stream(frame.select(*columns, F.col("value").alias(DATA)), values_of, MESSAGE)


def _sample_stream(spark: SparkSession, source: Samples) -> Stream:
    """A stream of numbers at a rate, each turned into a prepared record."""
    rate = spark.readStream.format("rate").option("rowsPerSecond", str(source.rate)).load()
    records = F.array(*(F.lit(bytearray(record)) for record in source.records))
    frame = rate.select(
        F.lit("samples").alias(SOURCE),
        F.col("value").alias(RECORD),
        F.lit(None).cast("long").alias(OFFSET),
        F.get(records, (F.col("value") % len(source.records)).cast("int")).alias(DATA),
    )
    return Stream(frame, values_of, FILE)


def _options(reader: DataStreamReader, options: Iterable[tuple[str, str]]) -> DataStreamReader:
    for name, value in options:
        reader = reader.option(name, value)
    return reader


def require_kafka(spark: SparkSession) -> None:
    """Raise MachineError with advice if the session has no Kafka connector."""
    if not has_class(spark, KAFKA_PROVIDER):
        coordinate = f"org.apache.spark:spark-sql-kafka-0-10_{scala(spark)}:{spark.version}"
        raise MachineError("this Spark session has no Kafka connector", f"--packages {coordinate}")


def has_class(spark: SparkSession, name: str) -> bool:
    """Whether the session's class path has a class."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no public way to ask for the class path
    try:
        jvm.org.apache.spark.util.Utils.classForName(name, False, False)  # noqa: FBT003 - Scala's signature
    except Py4JJavaError:
        return False
    return True


def scala(spark: SparkSession) -> str:
    """The session's version of Scala, as in names of packages: 2.13."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark does not tell its Scala
    return ".".join(jvm.scala.util.Properties.versionNumberString().split(".")[:2])
