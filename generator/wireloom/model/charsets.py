"""Character sets, as far as the model of a format knows them; the tables are the runtime's."""

from wireloom.runtime.charsets import unit

__all__ = ["unit"]
