"""What a format has for Spark: its functions, `functions.py`."""

from wireloom.emit.spark import functions

__all__ = ["functions"]
