"""What a format has for Spark: its columns, `spark.py`, and its functions, `functions.py`."""

from wireloom.emit.spark import functions
from wireloom.emit.spark.module import emit

__all__ = ["emit", "functions"]
