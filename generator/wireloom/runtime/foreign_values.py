"""Finds the objects in a value that no format can hold, after a builder has failed on the value.

A builder looks only at what it writes, so an object that a caller mixed in (an array, a file, a map entry that is not a
pair) may make it fail anywhere. Checking each value before building would slow down the good ones.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wireloom.runtime.errors import EncodeError, shown
from wireloom.runtime.values import Extension, Pairs, kind_of

_PAIR = 2


def foreign(value: object) -> EncodeError | None:
    """The error for the first object in the value that no format can hold, with its path; None if there is none."""
    match value:
        case Pairs():
            return _first(enumerate(value), _foreign_entry)
        case Mapping():
            return _first(value.items(), foreign)
        case list() | tuple():
            return _first(enumerate(value), foreign)
        case Extension():
            return foreign(value.value)
        case _:
            return None if _is_known(value) else EncodeError("a value of a format", shown(value))


def _first(members: Iterable[tuple[Any, object]], look: Callable[[Any], EncodeError | None]) -> EncodeError | None:
    for name, member in members:
        found = look(member)
        if found is not None:
            return found.at(name)
    return None


def _foreign_entry(entry: object) -> EncodeError | None:
    if not isinstance(entry, list | tuple) or len(entry) != _PAIR:
        return EncodeError("a pair of key and value", shown(entry))
    return foreign(entry[0]) or foreign(entry[1])


def _is_known(value: object) -> bool:
    try:
        kind_of(value)
    except TypeError:
        return False
    return True
