"""The logical shape of a format's records, for the runtime: `shape.py`."""

from wireloom.emit.shape.module import emit

__all__ = ["emit"]
