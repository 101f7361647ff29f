"""Whether the bytes that were built read back as the value that was given.

Every member that the caller gave must come back. If the format has no place for it (its condition fails, another
version, a count cuts it off, the tag names another case), that is an EncodeError with both values, never silence.
Members that are derived (`Value.derived`) are computed whatever was given: who changes a text need not update its
length or checksum. Members that were not given may come back only if the format determines them (`Value.free`).
"""

import math
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from wireloom.runtime.errors import EncodeError, UnplacedError, shown
from wireloom.runtime.values import Extension, OpenBytes, Pairs, Value, float16, float32

_BYTES = (bytes, bytearray, memoryview)


class Likeness(IntEnum):
    """How alike what is read back has to be; the second asks for more."""

    INDEPENDENT = 0
    """What follows from other members may come back as something else."""
    GIVEN = 1
    """Whatever was given comes back."""


def require_agreement(given: Any, read: Any, likeness: Likeness = Likeness.INDEPENDENT, *, rounds: bool = True) -> None:
    """Raises EncodeError at the first place where `read` is not what was `given`.

    A float may come back as the nearest of 32 or 16 bits, but where other fields were written over it, which may look
    the same: without `rounds`.
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
    entries = isinstance(given, Pairs)  # whose path is one place, of the key and of the value
    for index, (element, found) in enumerate(zip(given, read, strict=True)):
        parts = zip(element, found, strict=True) if entries else ((element, found),)
        try:
            for part, other in parts:
                require_agreement(part, other, likeness, rounds=rounds)
        except EncodeError as error:
            raise error.at(index) from None


def _same(given: object, read: object, *, rounds: bool) -> bool:
    """Equal, and of one kind. A number given for a float of 32 or 16 bits comes back as the nearest that has."""
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
    """The number in 32 bits, and in 16."""
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
