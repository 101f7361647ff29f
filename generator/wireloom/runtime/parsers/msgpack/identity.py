"""When two map keys are equal: if they have the same kind and the same value.

1, 1.0, true and "1" differ; the width of an integer does not count. Keys may be lists and maps of any depth. A nested
key is represented by a digest, so it is not compared again for each enclosing key. Digests also keep apart what
Python's hash does not: -1 and -2, and all lists that contain them.
"""

import hashlib
import struct as _struct
from collections.abc import Iterable
from typing import Any

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.values import Extension, OpenBytes, Pairs

Identity = tuple[str, object]


def identity_of(key: Any, cursor: Cursor) -> Identity:
    """The identity of a map key; the cursor caches it for a list or a map."""
    identity = _identity(key, cursor)
    if isinstance(key, list):
        cursor.keys[id(key)] = key, identity
    return identity


def _identity(value: Any, cursor: Cursor) -> Identity:
    match value:
        case float():
            return "float", _struct.pack(">d", value)
        case list() if id(value) in cursor.keys:
            return cursor.keys[id(value)][1]
        case Pairs():
            return "map", _digest((part for entry in value for part in entry), cursor)
        case list():
            return "list", _digest(value, cursor)
        case Extension():
            return "ext", (value.code, value.value)
        case OpenBytes():
            return _identity(value.meaning, cursor)
        case _:
            return type(value).__name__, value


def _digest(parts: Iterable[Any], cursor: Cursor) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        encoded = repr(_identity(part, cursor)).encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(encoded))
        digest.update(encoded)
    return digest.digest()
