"""Emit a format's functions for Spark: `functions.py`."""

from wireloom.emit.spark import functions

__all__ = ["functions"]
