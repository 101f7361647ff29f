"""Lists of records that readers see as a map: each record has a `key` and a `value`.

Both directions of the conversion; the list itself has checked that no two keys are equal.
"""

from collections.abc import Mapping
from typing import Any

import construct
from construct import Container

from wireloom.runtime.checkpoints import Passed
from wireloom.runtime.errors import EncodeError, shown
from wireloom.runtime.values import ENTRY, Pairs

_KEY, _VALUE = ENTRY


def pairs_of(elements: list[Any] | None) -> Pairs | None:
    """The map entries of the records; the list has already checked that their keys differ."""
    if elements is None or isinstance(elements, Passed):
        return elements  # type: ignore[return-value] # skipped elements have no values
    return Pairs((each[_KEY], each[_VALUE]) for each in elements)


def records_of(obj: Any) -> list[dict[str, Any]] | None:
    """The records of a map's entries; null is left to the list."""
    if obj is None:
        return None
    if not isinstance(obj, Pairs | Mapping):
        raise EncodeError("a map (a dict, or `Pairs` of wireloom.runtime.values)", shown(obj))
    return [{_KEY: key, _VALUE: value} for key, value in (obj.items() if isinstance(obj, Mapping) else obj)]


class OfEntries(construct.Construct):
    """Makes a list class, the next base in the MRO, read and write its records as a map."""

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return pairs_of(super()._parse(stream, context, path))

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        super()._build(records_of(obj), stream, context, path)
        return obj
