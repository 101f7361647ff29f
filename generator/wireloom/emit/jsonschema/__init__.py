"""The JSON Schema of a format: `schema.json`."""

from wireloom.emit.jsonschema.document import emit

__all__ = ["emit"]
