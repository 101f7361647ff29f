"""Constants of a spec in JSON Schemas."""

from base64 import b64encode
from collections.abc import Iterable, Sequence

from wireloom.model.types import Scalar

Schema = dict[str, object]

NEVER: Schema = {"not": {}}
"""A schema that no document matches."""


def values(allowed: Sequence[object]) -> Schema:
    """The schema of these values."""
    return {"const": allowed[0]} if len(allowed) == 1 else {"enum": list(allowed)}


def one_of(schemas: Iterable[Schema], keyword: str = "oneOf") -> Schema:
    """Combine the distinct schemas with a keyword; the only schema alone, or NEVER if there is none."""
    distinct: list[Schema] = []
    for schema in schemas:
        distinct += [] if schema in distinct else [schema]
    return distinct[0] if len(distinct) == 1 else {keyword: distinct} if distinct else NEVER


def written(value: Scalar) -> object:
    """The JSON form of a constant."""
    return b64encode(value).decode() if isinstance(value, bytes) else value
