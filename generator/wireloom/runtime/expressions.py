"""The functions of the expression language, as generated code calls them.

All are total: they accept null where a field may be absent and never raise for any value that decoding can produce.
"""

import hashlib
from collections.abc import Mapping, Sequence, Sized
from typing import Any

from construct import Container

Ranges = Sequence[tuple[str, int | None, int | None]]


class LayoutPendingError(Exception):
    """While building: the expression needs a position that is not settled yet."""


def here(context: Container) -> int:
    """Bytes from the struct's start to the position."""
    return int(context._io.tell()) - int(context._start)


def size(context: Container) -> int:
    """Bytes of the struct's region."""
    if context._size is None:
        raise LayoutPendingError
    return int(context._size)


def index(context: Container) -> int:
    """Place of the innermost enclosing list's element."""
    while context.get("_index") is None:
        context = context._
    return int(context._index)


def mark(context: Container, name: str) -> int:
    """The offset of a mark."""
    if name not in context._marks:
        raise LayoutPendingError
    return int(context._marks[name])


def member(value: Mapping[str, Any] | None, name: str) -> Any:
    """A member of a record; null for null, and for one that is absent."""
    return None if value is None else value.get(name)


def present(value: object) -> bool:
    """Whether there is a value."""
    return value is not None


def length(value: str | bytes | None) -> int:
    """Bytes of a text (as UTF-8) or of bytes; 0 for null."""
    if value is None:
        return 0
    return len(value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else len(value)


def count(value: Sized | None) -> int:
    """Elements of a list; 0 for null."""
    return 0 if value is None else len(value)


def range_name(value: int | None, ranges: Ranges) -> str | None:
    """The name of the first range that holds `value`."""
    if value is None:
        return None
    for name, minimum, maximum in ranges:
        if (minimum is None or value >= minimum) and (maximum is None or value <= maximum):
            return name
    return None


def decimal(text: str | None, bits: int) -> int | None:
    """The number that a decimal text says (a plus sign may lead); null for another text, or beyond `bits` bits."""
    text = None if text is None else text.removeprefix("+")
    digits = len(str((1 << bits) - 1))
    if text is None or not text.isascii() or not text.isdigit() or len(text.lstrip("0")) > digits:
        return None
    number = int(text.lstrip("0") or "0")
    return number if number < 1 << bits else None


def md5(text: str | bytes | None) -> int | None:
    """MD5 of the bytes (of the UTF-8 of a text) as an unsigned big-endian number."""
    if text is None:
        return None
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest(), "big")
