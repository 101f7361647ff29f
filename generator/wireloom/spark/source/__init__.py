"""The data source `wireloom`: reads and writes files of records as tables, in batches and in streams.

`spark.read.format("wireloom").option("format", "NAME").load(path)`. Spark calls the methods of `WireloomSource` in
Python processes of its own, on the driver's machine and on the executors, and pickles what they return. So a reader is
a small value that names the generated module. Each process opens the module itself and compares its digest with the
driver's.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType


def register(spark: "SparkSession") -> None:
    """Register the data source with a session; unnecessary if the session finds `pyspark_wireloom` by itself.

    Spark looks for Python data sources in the active session of a thread. A thread that the program started has none
    until it creates a DataFrame. So this also makes the session the active one.
    """
    spark.dataSource.register(WireloomSource)
    spark.createDataFrame([], "none int")


class WireloomSource(DataSource):
    """Files of any generated format."""

    @classmethod
    def name(cls) -> str:
        """The name for `format` of a reader or writer."""
        return "wireloom"

    def schema(self) -> "StructType":
        """The columns, if the caller gives no schema."""
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import READS, CheckedOptions
        from wireloom.spark.source.schema import default_schema

        with as_source_errors():
            checked = CheckedOptions.of(self.options, READS)
            return default_schema(checked.module, checked.options)

    def reader(self, schema: "StructType") -> "DataSourceReader":
        """A reader of files."""
        from wireloom.spark.source.batch import file_reader
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import READS, CheckedOptions

        with as_source_errors():
            checked = CheckedOptions.of(self.options, READS)
            return file_reader(checked, checked.reading(schema))

    def streamReader(self, schema: "StructType") -> "DataSourceStreamReader":  # noqa: N802 - Spark's name
        """A reader of new files."""
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import READS, CheckedOptions
        from wireloom.spark.source.stream import stream_reader

        with as_source_errors():
            checked = CheckedOptions.of(self.options, READS)
            return stream_reader(checked, checked.reading(schema))

    def writer(self, schema: "StructType", overwrite: bool) -> "DataSourceWriter":  # noqa: FBT001 - Spark's signature
        """A writer of files."""
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import WRITES, CheckedOptions
        from wireloom.spark.source.write import FileWriter, writing

        with as_source_errors():
            return FileWriter(writing(CheckedOptions.of(self.options, WRITES), schema), overwrite=overwrite)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "DataSourceStreamWriter":  # noqa: N802, FBT001 - Spark's
        """A writer of files for each batch."""
        from wireloom.failures import MisuseError
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import WRITES, CheckedOptions
        from wireloom.spark.source.write import StreamFileWriter, writing

        with as_source_errors():
            if overwrite:
                raise MisuseError("a stream only appends; output mode complete is not supported")
            return StreamFileWriter(writing(CheckedOptions.of(self.options, WRITES), schema))
