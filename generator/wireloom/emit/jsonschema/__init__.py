"""Emit the JSON Schema of a format: `schema.json`, and `variants.json` for other values of the parameters."""

from wireloom.emit.jsonschema.document import emit
from wireloom.emit.jsonschema.variants import variants

__all__ = ["emit", "variants"]
