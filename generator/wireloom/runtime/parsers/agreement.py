"""Whether the built bytes parse to the value that the caller gave.

Every member that the caller gave must come back. If the format has no place for it (its condition fails, another
version, a count cuts it off, the tag names another case), that is an EncodeError with both values, never silence.
Derived members (`Value.derived`) are computed even if they are given: whoever changes a text need not update its length
or checksum. Members that were not given may come back only if the format determines them (`Value.free`).
"""

import math
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from wireloom.runtime.errors import EncodeError, UnplacedError, shown
from wireloom.runtime.values import Extension, OpenBytes, Pairs, Value, float16, float32

_BYTES = (bytes, bytearray, memoryview)


class Likeness(IntEnum):
    """How strictly the parsed value must match the given one."""

    INDEPENDENT = 0
    """Derived members may come back with another value."""
    GIVEN = 1
    """Every given member must come back as it was."""


def require_agreement(given: Any, read: Any, likeness: Likeness = Likeness.INDEPENDENT, *, rounds: bool = True) -> None:
    """Raises EncodeError at the first path where `read` differs from `given`.

    A float may come back rounded to 32 or 16 bits. That is not allowed (`rounds` is false) if another field was written
    over it, since damage would look the same.
    """
    match given:
        case OpenBytes():
            return  # they were written as they are
        case Mapping() if isinstance(read, Value):
            _members(given, read, likeness, rounds=rounds)
        case Mapping():
            _elements(Pairs(given.items()), read, likeness, rounds=rounds)
        case list() | tuple():
            _elements(given, read, likeness, rounds=rounds)
        case Extension() if isinstance(read, Extension) and given.code == read.code:
            require_agreement(given.value, read.value, likeness, rounds=rounds)
        case _:
            if read is None and given is not None:
                raise UnplacedError(f"{shown(given)} to be read back", "null")
            if not _same(given, read, rounds=rounds):
                raise _differs(given, read)


def _members(given: Mapping[str, Any], read: Value, likeness: Likeness, *, rounds: bool) -> None:
    for name, member in given.items():
        if member is None or (name in read.derived and likeness == Likeness.INDEPENDENT):
            continue
        found = read.get(name)
        try:
            if found is None:
                raise UnplacedError(f"{shown(member)} to be read back", "null")
            require_agreement(member, found, likeness, rounds=rounds)
        except EncodeError as error:
            raise error.at(name) from None
    for name, member in read.items():
        if member is None or given.get(name) is not None:
            continue
        is_free = name in read.free or (isinstance(member, list | dict) and not member)
        if not is_free:
            raise _differs(None, member).at(name)


def _elements(given: Sequence[Any], read: Any, likeness: Likeness, *, rounds: bool) -> None:
    if not isinstance(read, list | tuple) or len(given) != len(read):
        raise _differs(given, read)
    if isinstance(given, Pairs) != isinstance(read, Pairs):
        raise _differs(given, read)
    entries = isinstance(given, Pairs)  # the index of an entry is the path of its key and of its value
    for index, (element, found) in enumerate(zip(given, read, strict=True)):
        parts = zip(element, found, strict=True) if entries else ((element, found),)
        try:
            for part, other in parts:
                require_agreement(part, other, likeness, rounds=rounds)
        except EncodeError as error:
            raise error.at(index) from None


def _same(given: object, read: object, *, rounds: bool) -> bool:
    """Equal, and of the same kind; with `rounds`, a float may also be the given number in 32 or 16 bits."""
    match given, read:
        case bool(), _:
            return given is read
        case _, bool():
            return False
        case float(), float() if given == read == 0:
            return math.copysign(1.0, given) == math.copysign(1.0, read)
        case int() | float(), float():
            return given == read or (math.isnan(given) and math.isnan(read)) or (rounds and read in _rounded(given))
        case _ if isinstance(given, _BYTES):
            return isinstance(read, _BYTES) and bytes(given) == bytes(read)
        case _:
            return given == read


def _rounded(given: float) -> tuple[float, float]:
    """The number rounded to 32 bits, and to 16 bits."""
    try:
        number = float32(float(given))
    except OverflowError:
        number = math.copysign(math.inf, given)
    try:
        return number, float16(float(given))
    except OverflowError:
        return number, number


def _differs(given: object, read: object) -> EncodeError:
    return EncodeError(f"{shown(given)} to be read back", f"{shown(read)}")
