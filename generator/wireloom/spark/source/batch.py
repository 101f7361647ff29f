"""Reads the files of a listing in one batch."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from wireloom.ingest.files.finding import Listing
from wireloom.ingest.job.format_modules import open_module
from wireloom.spark.schemas import arrow_schema
from wireloom.spark.source.errors import as_source_errors, each_with_source_errors
from wireloom.spark.source.filters import Predicate, predicate
from wireloom.spark.source.options import PARTITION_BYTES, CheckedOptions
from wireloom.spark.source.read import Portion, Reading, batches, portions


def file_reader(checked: CheckedOptions, read: Reading) -> "FileReader":
    """A reader for the options of a read."""
    kind = FilteringReader if checked.flag("pushFilters") else FileReader
    return kind(read, checked.listing(), checked.size("maxPartitionBytes", PARTITION_BYTES))


class FileReader(DataSourceReader):
    """Reads the files of a listing."""

    def __init__(self, read: Reading, listing: Listing, target: int) -> None:
        self._read, self._listing, self._target = read, listing, target
        self._predicates: tuple[Predicate, ...] = ()

    @as_source_errors()
    def partitions(self) -> list[Portion]:
        """The parts that tasks read."""
        module = open_module(self._read.plan)
        return portions(self._read, module, self._listing.files(), self._target)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a part; without files, there is one empty task."""
        parts = partition.parts if isinstance(partition, Portion) else ()
        return each_with_source_errors(batches(self._read, parts, self._predicates))


class FilteringReader(FileReader):
    """Reads the files of a listing, and only rows that match the query's filters.

    It is a class of its own, because Spark refuses readers with filters if it does not push filters.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:  # noqa: N802 - Spark's name
        """Take filters over; returns those that are not exact here."""
        schema = arrow_schema(self._read.schema)
        for each in filters:
            found = predicate(each, schema)
            if found is None:
                yield each
            else:
                self._predicates += (found,)
