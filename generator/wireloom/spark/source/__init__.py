"""The data source `wireloom`: files of records as tables, tables as files of records, in batches and in streams.

`spark.read.format("wireloom").option("format", "NAME").load(path)`. Spark calls the methods of `WireloomSource` in
Python processes of its own, on the driver's machine and on the executors, and sends what they return from one to the
other by pickle; so a reader is a small value that names the generated module, and each process opens the module itself
and compares its digest with the driver's.
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
    """Make the data source known to a session; one that finds `pyspark_wireloom` by itself needs it no more.

    Spark looks for data sources written in Python in the session that is active in a thread, and in a thread that was
    started by the program none is until a DataFrame is made there. So this makes it the active one, too.
    """
    spark.dataSource.register(WireloomSource)
    spark.createDataFrame([], "none int")


class WireloomSource(DataSource):
    """Files of any generated format."""

    @classmethod
    def name(cls) -> str:
        """What `format` of a reader or writer is given."""
        return "wireloom"

    def schema(self) -> "StructType":
        """The columns where the caller gives no schema."""
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import READS, CheckedOptions
        from wireloom.spark.source.schema import default_schema

        with as_source_errors():
            checked = CheckedOptions.of(self.options, READS)
            return default_schema(checked.module, checked.options)

    def reader(self, schema: "StructType") -> "DataSourceReader":
        """Reads files."""
        from wireloom.spark.source.batch import file_reader
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import READS, CheckedOptions

        with as_source_errors():
            checked = CheckedOptions.of(self.options, READS)
            return file_reader(checked, checked.reading(schema))

    def streamReader(self, schema: "StructType") -> "DataSourceStreamReader":  # noqa: N802 - Spark's name
        """Reads the files that appear."""
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import READS, CheckedOptions
        from wireloom.spark.source.stream import stream_reader

        with as_source_errors():
            checked = CheckedOptions.of(self.options, READS)
            return stream_reader(checked, checked.reading(schema))

    def writer(self, schema: "StructType", overwrite: bool) -> "DataSourceWriter":  # noqa: FBT001 - Spark's signature
        """Writes files."""
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import WRITES, CheckedOptions
        from wireloom.spark.source.write import FileWriter, writing

        with as_source_errors():
            return FileWriter(writing(CheckedOptions.of(self.options, WRITES), schema), overwrite=overwrite)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "DataSourceStreamWriter":  # noqa: N802, FBT001 - Spark's
        """Writes files, batch by batch."""
        from wireloom.failures import MisuseError
        from wireloom.spark.source.errors import as_source_errors
        from wireloom.spark.source.options import WRITES, CheckedOptions
        from wireloom.spark.source.write import StreamFileWriter, writing

        with as_source_errors():
            if overwrite:
                raise MisuseError("a stream only appends; output mode complete is not supported")
            return StreamFileWriter(writing(CheckedOptions.of(self.options, WRITES), schema))
