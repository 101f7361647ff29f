"""What makes functions of wide structs slow on PySpark 4.3 and later, and the setting against it.

Where an Arrow UDF stands directly on a scan of Parquet, Delta or ORC, Spark hands it Arrow columns, and turns what it
gives into rows, into columns again value by value, and into rows. docs/howto/spark.md has the times.
"""

import warnings
from functools import cache

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

SETTING = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
REMEDY = f'spark.conf.set("{SETTING}", "false")'
WIDE = 16
"""Columns from which on the detour costs more than what Spark saves at the input."""


def enabled(spark: SparkSession) -> bool:
    """Whether the session has the setting, as PySpark 4.3 brings it, and it is on."""
    try:
        return spark.conf.get(SETTING) == "true"
    except PySparkException:  # PySpark 4.2 and before know no such setting
        return False


def warn_of_wide(name: str, type: DataType) -> None:
    """Tell, once in a process, what a function that gives so many columns costs in the active session."""
    spark = SparkSession.getActiveSession()
    if spark is not None and width(type) >= WIDE and enabled(spark):
        _warn(name, width(type))


def width(type: DataType) -> int:
    """The columns of a type, those of structs, lists and maps within it counted one by one."""
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
