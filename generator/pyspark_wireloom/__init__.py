"""Where Spark finds the data source `wireloom` by itself: it looks for packages named `pyspark_*` with a DefaultSource.

It imports each of them when a session first meets a data source written in Python, so nothing here may fail.
"""

import contextlib

with contextlib.suppress(ImportError):
    from wireloom.spark.source import WireloomSource as DefaultSource

    __all__ = ["DefaultSource"]
