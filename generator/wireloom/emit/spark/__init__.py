"""The Spark columns of a format: `spark.py`."""

from wireloom.emit.spark.module import emit

__all__ = ["emit"]
