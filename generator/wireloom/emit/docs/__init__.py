"""Documents: one Markdown page for each format, for people who read its tables or write its records."""

from wireloom.emit.docs.page import emit

__all__ = ["emit"]
