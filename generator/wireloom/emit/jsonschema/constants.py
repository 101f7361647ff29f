"""Constants of a spec in a JSON Schema."""

from base64 import b64encode
from collections.abc import Iterable, Sequence

from wireloom.model.types import Scalar

Schema = dict[str, object]

NEVER: Schema = {"not": {}}
"""What no document is."""


def values(allowed: Sequence[object]) -> Schema:
    """One of these values."""
    return {"const": allowed[0]} if len(allowed) == 1 else {"enum": list(allowed)}


def one_of(schemas: Iterable[Schema], keyword: str = "oneOf") -> Schema:
    """One of these schemas, each stated once."""
    distinct: list[Schema] = []
    for schema in schemas:
        distinct += [] if schema in distinct else [schema]
    return distinct[0] if len(distinct) == 1 else {keyword: distinct} if distinct else NEVER


def written(value: Scalar) -> object:
    """A constant as it stands in the JSON."""
    return b64encode(value).decode() if isinstance(value, bytes) else value
