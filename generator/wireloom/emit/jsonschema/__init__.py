"""The JSON Schema of a format: `schema.json`, and beside it what parameters make of it."""

from wireloom.emit.jsonschema.document import emit
from wireloom.emit.jsonschema.variants import variants

__all__ = ["emit", "variants"]
