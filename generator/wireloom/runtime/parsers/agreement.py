"""Whether what was built reads back as the value that was given.

Every member that the caller gave must come back: one that the format has no place for (its condition does not hold, its
version is another, its count cuts it off, its tag says another case) is an EncodeError that says both, never silence.
Members that follow from others (`Value.derived`) are worked out whatever was given: who changes a text need not know
which lengths, checksums and classes follow from it. Members that were not given may come back only where the format
determines them (`Value.free`).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wireloom.runtime.errors import EncodeError, UnplacedError, shown
from wireloom.runtime.values import Extension, OpenBytes, Pairs, Value, float32

_BYTES = (bytes, bytearray, memoryview)


def require_agreement(given: Any, read: Any, *, whole: bool = False) -> None:
    """Raises EncodeError at the first place where `read` is not what was `given`; `whole`: derived members, too."""
    match given:
        case OpenBytes():
            return  # they were written as they are
        case Mapping() if isinstance(read, Value):
            _members(given, read, whole=whole)
        case Mapping():
            _elements(Pairs(given.items()), read, whole=whole)
        case list() | tuple():
            _elements(given, read, whole=whole)
        case Extension() if isinstance(read, Extension) and given.code == read.code:
            require_agreement(given.value, read.value, whole=whole)
        case _:
            if read is None and given is not None:
                raise UnplacedError(f"{shown(given)} to be read back", "null")
            if not _same(given, read):
                raise _differs(given, read)


def _members(given: Mapping[str, Any], read: Value, *, whole: bool) -> None:
    for name, member in given.items():
        if member is None or (name in read.derived and not whole):
            continue
        found = read.get(name)
        try:
            found = read.hidden.get(name) if found is None else found
            if found is None:
                raise UnplacedError(f"{shown(member)} to be read back", "null")
            require_agreement(member, found, whole=whole)
        except EncodeError as error:
            raise error.at(name) from None
    for name, member in read.items():
        if member is None or name in read.free or given.get(name) is not None:
            continue
        if not isinstance(member, list | dict) or member:
            raise _differs(None, member).at(name)


def _elements(given: Sequence[Any], read: Any, *, whole: bool) -> None:
    if not isinstance(read, list | tuple) or len(given) != len(read):
        raise _differs(given, read)
    if isinstance(given, Pairs) != isinstance(read, Pairs):
        raise _differs(given, read)
    for index, (element, found) in enumerate(zip(given, read, strict=True)):
        try:
            require_agreement(element, found, whole=whole)
        except EncodeError as error:
            raise error.at(index) from None


def _same(given: object, read: object) -> bool:
    """Equal, and of one kind. A number given for a float of 32 bits comes back as the nearest that those can say."""
    match given, read:
        case bool(), _:
            return given is read
        case _, bool():
            return False
        case float(), float() if given == read == 0:
            return math.copysign(1.0, given) == math.copysign(1.0, read)
        case int() | float(), float():
            return given == read or (math.isnan(given) and math.isnan(read)) or _rounded(given) == read
        case _ if isinstance(given, _BYTES):
            return isinstance(read, _BYTES) and bytes(given) == bytes(read)
        case _:
            return given == read


def _rounded(given: float) -> float:
    """The number in 32 bits."""
    try:
        return float32(float(given))
    except OverflowError:
        return math.copysign(math.inf, given)


def _differs(given: object, read: object) -> EncodeError:
    return EncodeError(f"{shown(given)} to be read back", f"{shown(read)}")
