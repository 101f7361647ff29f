"""Constants of a spec in a JSON Schema."""

from base64 import b64encode
from collections.abc import Sequence

from wireloom.model.types import Scalar

Schema = dict[str, object]

NEVER: Schema = {"not": {}}
"""What no document is."""


def values(allowed: Sequence[object]) -> Schema:
    """One of these values."""
    return {"const": allowed[0]} if len(allowed) == 1 else {"enum": list(allowed)}


def written(value: Scalar) -> object:
    """A constant as it stands in the JSON."""
    return b64encode(value).decode() if isinstance(value, bytes) else value
