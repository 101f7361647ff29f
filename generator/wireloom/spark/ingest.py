"""The ingest job: raw bytes in, a typed table and a quarantine table out, and a summary that adds up.

The data are decoded once. The staged rows are kept on the workers' disks while the two tables are written from them;
what the summary calls quarantined and rows is counted in the tables as they stand afterwards, so it can disagree with
what was read, and then it says so.
"""

from functools import partial
from typing import Any, cast

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from wireloom.catalog import FormatModule
from wireloom.failures import MisuseError
from wireloom.spark.executor import decode_column, decode_files, open_module
from wireloom.spark.plan import QUARANTINE, RECORDS, Job, Summary
from wireloom.spark.tables import BAD, BAD_DOCS, PLACE, PLACE_DOCS, TALLY


def ingest(spark: SparkSession, job: Job) -> Summary:
    """Run the job; raises MisuseError where input or output do not fit."""
    module = open_module(job.plan)
    _refuse_existing(spark, job)
    stage = _stage(spark, job, module).persist(StorageLevel.DISK_ONLY)
    try:
        _write(stage, "row", table(job, RECORDS))
        _write(stage, "bad", table(job, QUARANTINE))
        return _summary(spark, stage, job)
    finally:
        stage.unpersist()


def table(job: Job, name: str) -> str:
    """Where a table of the job is."""
    return f"{job.output.rstrip('/')}/{name}"


def _stage(spark: SparkSession, job: Job, module: FormatModule) -> DataFrame:
    source, decode = (
        (_files(spark, job.input), decode_files)
        if job.column is None
        else (_column(spark, job.input, job.column), decode_column)
    )
    return source.mapInArrow(partial(decode, job.plan), _staged_schema(module, job.plan.root))


def _staged_schema(module: FormatModule, root: str | None) -> StructType:
    """The staged columns in Spark's terms, the format's and ours each with their comments."""
    place = _commented(from_arrow_schema(pa.schema(PLACE)), PLACE_DOCS)
    row = module.struct_type(root=root or module.CODEC.default_root, explode=True)
    bad = _commented(from_arrow_schema(pa.schema(list(BAD))), BAD_DOCS | PLACE_DOCS)
    tally = from_arrow_schema(pa.schema(list(TALLY)))
    parts = {"row": StructType([*row.fields, *place.fields]), "bad": bad, "tally": tally}
    return StructType([StructField(name, type) for name, type in parts.items()])


def _commented(fields: StructType, documents: dict[str, str]) -> StructType:
    return StructType(
        [StructField(field.name, field.dataType, metadata={"comment": documents[field.name]}) for field in fields]
    )


def _files(spark: SparkSession, path: str) -> DataFrame:
    """Every file below the path; with its content only where executors cannot open the path themselves."""
    try:
        files = spark.read.format("binaryFile").option("recursiveFileLookup", value=True).load(path)
    except AnalysisException as error:
        raise MisuseError(f"cannot read {path}: {error.getMessage() or error}") from error
    local = F.col("path").startswith("file:")
    if files.where(~local).limit(1).count() == 0:
        return files.select("path", F.lit(None).cast("binary").alias("content"))
    return files.select("path", "content")


def _column(spark: SparkSession, path: str, column: str) -> DataFrame:
    try:
        frame = spark.read.parquet(path)
    except AnalysisException as error:
        raise MisuseError(f"cannot read {path} as Parquet: {error.getMessage() or error}") from error
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    if types.get(column) != "binary":
        found = f"of type {types[column]}" if column in types else "not there"
        raise MisuseError(f"column {column!r} of {path} is {found}; binary columns: {_binary(types)}")
    return frame.select(
        F.col("_metadata.file_path").alias("path"),
        F.col("_metadata.row_index").alias("record"),
        F.col(f"`{column}`").alias("data"),
    )


def _binary(types: dict[str, str]) -> str:
    return ", ".join(name for name, type in types.items() if type == "binary") or "none"


def _write(stage: DataFrame, part: str, path: str) -> None:
    """The rows of one part as a table, each column with its comment."""
    fields = cast(StructType, stage.schema[part].dataType).fields
    columns = [F.col(part)[field.name].alias(field.name, metadata=field.metadata or {}) for field in fields]
    stage.where(F.col(part).isNotNull()).select(*columns).write.mode("overwrite").parquet(path)


def _summary(spark: SparkSession, stage: DataFrame, job: Job) -> Summary:
    tally = stage.where(F.col("tally").isNotNull()).select("tally.*")
    counts = tally.agg(F.sum("records").alias("records"), F.sum("decoded").alias("decoded")).first()
    quarantine = spark.read.parquet(table(job, QUARANTINE))
    codes = quarantine.groupBy("code").count().orderBy(F.desc("count"), "code").collect()
    return Summary(
        records=(counts and counts["records"]) or 0,
        decoded=(counts and counts["decoded"]) or 0,
        rows=spark.read.parquet(table(job, RECORDS)).count(),
        quarantined=sum(row["count"] for row in codes),
        codes=tuple((row["code"], row["count"]) for row in codes),
    )


def _refuse_existing(spark: SparkSession, job: Job) -> None:
    """Never add to, or replace, tables that nobody said may go."""
    if job.overwrite:
        return
    for name in (RECORDS, QUARANTINE):
        if _exists(spark, table(job, name)):
            raise MisuseError(f"{table(job, name)} exists; choose another --output, or replace both with --overwrite")


def _exists(spark: SparkSession, path: str) -> bool:
    """Whether the path is there, on whatever file system Spark says it is."""
    jvm: Any = spark._jvm  # noqa: SLF001 - PySpark has no public way to its file systems
    hadoop = spark._jsc.hadoopConfiguration()  # noqa: SLF001
    place = jvm.org.apache.hadoop.fs.Path(path)
    return bool(place.getFileSystem(hadoop).exists(place))
