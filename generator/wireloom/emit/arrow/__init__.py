"""The Arrow columns of a format: `columns.py`."""

from wireloom.emit.arrow.module import emit

__all__ = ["emit"]
