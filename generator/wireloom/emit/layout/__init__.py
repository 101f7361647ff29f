"""The layout emitter: layout.py, the table that the native engine reads records by."""

from wireloom.emit.layout.module import emit

__all__ = ["emit"]
