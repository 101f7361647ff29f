"""Warns about a setting that makes functions of wide structs slow on PySpark 4.3 and later.

If an Arrow UDF is directly on a scan of Parquet, Delta or ORC, Spark passes Arrow columns to it. It then converts the
results to rows, back to columns value by value, and to rows again. docs/howto/spark.md has measurements.
"""

import warnings
from functools import cache

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

SETTING = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
REMEDY = f'spark.conf.set("{SETTING}", "false")'
WIDE = 16
"""Number of columns from which the conversion costs more than the columnar input saves."""


def enabled(spark: SparkSession) -> bool:
    """Whether the session has the setting of PySpark 4.3, and it is on."""
    try:
        return spark.conf.get(SETTING) == "true"
    except PySparkException:  # PySpark 4.2 and earlier have no such setting
        return False


def warn_of_wide(name: str, type: DataType) -> None:
    """Warn once per process about a function with many columns, if the setting is on."""
    spark = SparkSession.getActiveSession()
    if spark is not None and width(type) >= WIDE and enabled(spark):
        _warn(name, width(type))


def width(type: DataType) -> int:
    """The number of columns of a type, including those of inner structs, lists and maps."""
    match type:
        case StructType():
            return sum(width(field.dataType) for field in type.fields)
        case ArrayType():
            return width(type.elementType)
        case MapType():
            return width(type.keyType) + width(type.valueType)
        case _:
            return 1


@cache
def _warn(name: str, columns: int) -> None:
    warnings.warn(
        f"{name} gives {columns} columns, which is several times slower than necessary directly over a scan of "
        f"Parquet, Delta or ORC: add {REMEDY}, select fewer fields, or use decode_ in place of from_ "
        "(docs/howto/spark.md, What it costs)",
        stacklevel=5,
    )
