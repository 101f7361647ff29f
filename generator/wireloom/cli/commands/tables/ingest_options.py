"""The options of `ingest` about reading files, writing tables, and Spark's sources."""

from dataclasses import dataclass, replace
from typing import Annotated, assert_never

import typer

from wireloom.cli.gc_pause import uncollected
from wireloom.cli.options import PartitionBy, listed, one_of, size_of
from wireloom.failures import MisuseError, unknown
from wireloom.ingest.plan import (
    AUTO,
    CHANGED_FILES,
    COMPRESSIONS,
    EXPANDED,
    FAIL,
    Column,
    Files,
    FileSizes,
    Kafka,
    Plan,
    Samples,
    Source,
)


@dataclass(frozen=True, slots=True)
class FileReading:
    """Options about how the input files are read."""

    compression: Annotated[
        str,
        typer.Option(
            "--compression",
            metavar="auto|none",
            help="Decompress gzip, zstd, bzip2, lz4 and snappy files, or read them as they are.",
        ),
    ] = AUTO
    max_expansion: Annotated[
        int,
        typer.Option(
            "--max-expansion", metavar="N", min=1, help="How many times its size a compressed file may become."
        ),
    ] = EXPANDED
    changed_files: Annotated[
        str,
        typer.Option(
            "--changed-files",
            metavar="fail|quarantine",
            help="If a file is gone or has changed since it was listed: stop the job, or quarantine it.",
        ),
    ] = FAIL
    resync: Annotated[
        bool,
        typer.Option(
            "--resync",
            help="After a bad record whose end is unknown, search for the next record by a checksum or constant.",
        ),
    ] = False

    def on(self, plan: Plan) -> Plan:
        """The plan with these options; raises MisuseError for an unknown value."""
        for name, word, words in (
            ("--compression", self.compression, COMPRESSIONS),
            ("--changed-files", self.changed_files, CHANGED_FILES),
        ):
            one_of(name, word, words, " or ")
        return replace(
            plan,
            changed=self.changed_files,
            compression=self.compression,
            expansion=self.max_expansion,
            resync=self.resync,
        )


@dataclass(frozen=True, slots=True)
class FileWriting:
    """Options about how large the files of the tables are, and how they are partitioned."""

    row_group_size: Annotated[
        str,
        typer.Option(
            "--row-group-size", metavar="SIZE", help="Least size of a Parquet row group, in bytes of columns."
        ),
    ] = "32m"
    file_size: Annotated[
        str, typer.Option("--file-size", metavar="SIZE", help="Begin the next file after this many bytes.")
    ] = "256m"
    partition_by: PartitionBy = None

    def partition(self, plan: Plan) -> tuple[str, ...]:
        """The partition columns; raises MisuseError for a column that cannot be one, or that no table has."""
        with uncollected():
            from wireloom.ingest.tables.agreement import refuse_unfit_columns  # imported here: needs pyarrow

        names = listed(self.partition_by)
        refuse_unfit_columns(plan, names)
        return names

    def sizes(self) -> FileSizes:
        """The file sizes; raises MisuseError for a text that is no size."""
        return FileSizes(size_of("--row-group-size", self.row_group_size), size_of("--file-size", self.file_size))


# --- of streams ----------------------------------------------------------------------------------------------------

_OF_FILES = (
    *("maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "maxCachedFiles", "discardCachedInputRatio"),
    *("latestFirst", "fileNameOnly", "cleanSource", "sourceArchiveDir", "allowOverwrites"),
    *("pathGlobFilter", "recursiveFileLookup", "ignoreMissingFiles", "ignoreCorruptFiles"),
)
_OF_PARQUET = (*_OF_FILES, "basePath", "mergeSchema", "datetimeRebaseMode", "int96RebaseMode")
_OF_KAFKA = (
    *("assign", "subscribe", "subscribePattern", "startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp"),
    *("startingOffsetsByTimestampStrategy", "failOnDataLoss", "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries"),
    *("fetchOffset.retryIntervalMs", "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay"),
    *("minPartitions", "maxRecordsPerPartition", "groupIdPrefix", "includeHeaders"),
)
_OF_SAMPLES = ("rowsPerSecond", "rowsPerBatch", "rampUpTime", "numPartitions", "useManualClock")
_CLIENT = "kafka."  # options with this prefix go to Kafka's own client


def source_option(source: Source, text: str) -> tuple[str, str]:
    """Parse a `name=value` option for a Spark source; raises MisuseError for an unknown name, with the nearest one."""
    name, equals, value = text.partition("=")
    if not equals:
        raise MisuseError(f"--source-option {text!r} is not NAME=VALUE")
    known = _known(source)
    if name.lower() not in {each.lower() for each in known} and not (
        isinstance(source, Kafka) and name.lower().startswith(_CLIENT)
    ):
        raise unknown("source option", name, known)
    return name, value


def _known(source: Source) -> tuple[str, ...]:
    match source:
        case Files():
            return _OF_FILES
        case Column():
            return _OF_PARQUET
        case Kafka():
            return _OF_KAFKA
        case Samples():
            return _OF_SAMPLES
        case _:
            assert_never(source)
