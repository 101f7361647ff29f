"""The operators and functions of the expression language, as generated code calls them.

All are total: they accept any value that a field can have and never raise. Null is a third truth value. Integers are
exact within 128 bits (-2^127 .. 2^128-1), and a larger result is null. Generated code uses Python's operators if the
operand types rule out null and overflow, and these functions otherwise.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from wireloom.runtime.parameters import Range
from wireloom.runtime.values import Value, meant

if TYPE_CHECKING:
    from construct import Container

Ranges = Sequence[tuple[str, int | None, int | None]]
_LOWEST, _HIGHEST = -(1 << 127), (1 << 128) - 1
_SHIFTS = range(128)
_TEXTS = str | bytes | bytearray | memoryview
MISSING: Any = object()
_WORD = 8  # bytes of the longest number
MOST_MADE = (1 << 16) - 1
"""The most bytes of a concatenated text; a longer one is null."""
_LONG = 64  # the shortest text or list whose result `once` caches


class PositionPendingError(Exception):
    """While building: the expression needs a position that is not known yet."""


# --- arithmetic: null if an operand is not a number, or the result exceeds 128 bits --------------------------------


def add(left: Any, right: Any) -> Any:
    """`left + right`."""
    return _exact(left + right) if _are_numbers(left, right) else None


def subtract(left: Any, right: Any) -> Any:
    """`left - right`."""
    return _exact(left - right) if _are_numbers(left, right) else None


def multiply(left: Any, right: Any) -> Any:
    """`left * right`."""
    return _exact(left * right) if _are_numbers(left, right) else None


def divide(left: Any, right: Any) -> int | None:
    """`left // right`, rounded down; null by zero."""
    return _exact(left // right) if _are_integers(left, right) and right else None


def remainder(left: Any, right: Any) -> int | None:
    """`left % right`: the remainder of rounding down, with the sign of `right`; null by zero."""
    return left % right if _are_integers(left, right) and right else None


def negative(value: Any) -> Any:
    """`-value`."""
    return _exact(-value) if _is_number(value) else None


def inverted(value: Any) -> int | None:
    """`~value`."""
    return _exact(~value) if _is_integer(value) else None


def bit_and(left: Any, right: Any) -> int | None:
    """`left & right`."""
    return _exact(left & right) if _are_integers(left, right) else None


def bit_or(left: Any, right: Any) -> int | None:
    """`left | right`."""
    return _exact(left | right) if _are_integers(left, right) else None


def bit_xor(left: Any, right: Any) -> int | None:
    """`left ^ right`."""
    return _exact(left ^ right) if _are_integers(left, right) else None


def shift_left(value: Any, count: Any) -> int | None:
    """`value << count`; null for a count outside 0 .. 127."""
    return _exact(value << count) if _are_integers(value, count) and count in _SHIFTS else None


def shift_right(value: Any, count: Any) -> int | None:
    """`value >> count`; null for a count outside 0 .. 127."""
    return value >> count if _are_integers(value, count) and count in _SHIFTS else None


def smallest(*values: Any) -> Any:
    """The smallest of numbers; null if one is null."""
    return min(values) if all(map(_is_number, values)) else None


def largest(*values: Any) -> Any:
    """The largest of numbers; null if one is null."""
    return max(values) if all(map(_is_number, values)) else None


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _are_integers(left: object, right: object) -> bool:
    return _is_integer(left) and _is_integer(right)


def _are_numbers(left: object, right: object) -> bool:
    return _is_number(left) and _is_number(right)


def _exact(number: Any) -> Any:
    """The number; null for an integer beyond 128 bits."""
    return number if isinstance(number, float) or _LOWEST <= number <= _HIGHEST else None


# --- comparison ----------------------------------------------------------------------------------------------------


def equal(left: Any, right: Any) -> bool:
    """`left == right`: null is a value, and values of different kinds are not equal (true is not 1)."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def among(value: Any, options: Sequence[Any]) -> bool:
    """`value in options`."""
    return any(equal(value, option) for option in options)


def less(left: Any, right: Any) -> bool | None:
    """`left < right`; null if an operand is not a number."""
    return left < right if _are_numbers(left, right) else None


def at_most(left: Any, right: Any) -> bool | None:
    """`left <= right`; null if an operand is not a number."""
    return left <= right if _are_numbers(left, right) else None


def more(left: Any, right: Any) -> bool | None:
    """`left > right`; null if an operand is not a number."""
    return left > right if _are_numbers(left, right) else None


def at_least(left: Any, right: Any) -> bool | None:
    """`left >= right`; null if an operand is not a number."""
    return left >= right if _are_numbers(left, right) else None


# --- logic: null is neither true nor false -------------------------------------------------------------------------


def truth(value: Any) -> bool | None:
    """The value as a condition: null unless it is a boolean."""
    return value if isinstance(value, bool) else None


def negated(value: Any) -> bool | None:
    """`not value`; null for null."""
    return not value if isinstance(value, bool) else None


def both(left: Any, right: Any) -> bool | None:
    """`left and right`: false if one is false, else null if one is null."""
    if left is False or right is False:
        return False
    return True if left is True and right is True else None


def either(left: Any, right: Any) -> bool | None:
    """`left or right`: true if one is true, else null if one is null."""
    if left is True or right is True:
        return True
    return False if left is False and right is False else None


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "//": divide,
    "%": remainder,
    "&": bit_and,
    "|": bit_or,
    "^": bit_xor,
    "<<": shift_left,
    ">>": shift_right,
    "<": less,
    "<=": at_most,
    ">": more,
    ">=": at_least,
    "and": both,
    "or": either,
}
"""The function of each binary operator except `==` and `!=`."""
UNARY_OPERATORS: Mapping[str, Callable[[Any], Any]] = {"-": negative, "~": inverted, "not": negated}
"""The function of each unary operator."""

# --- positions -----------------------------------------------------------------------------------------------------


def here(context: "Container") -> int:
    """Bytes from the struct's start to the position."""
    if not hasattr(context._io, "tell"):
        raise PositionPendingError
    return int(context._io.tell()) - int(context._start)


def size(context: "Container") -> int:
    """The size in bytes of the struct's region."""
    if context._size is None:
        raise PositionPendingError
    return int(context._size)


def index(context: "Container") -> int | None:
    """The index of the current element of the innermost list; null outside of lists."""
    while context is not None and context.get("_index") is None:
        context = context.get("_")
    return None if context is None else int(context._index)


def mark(context: "Container", name: str) -> int:
    """The offset of a mark."""
    if name not in context._marks:
        raise PositionPendingError
    return int(context._marks[name])


# --- values --------------------------------------------------------------------------------------------------------


def member(value: Any, name: str) -> Any:
    """A member of a record, or an end of a range; null for null, and for an absent member."""
    match value:
        case Value() if name in value.hidden:
            return value.hidden[name]
        case Mapping():
            return meant(value.get(name))
        case Range():
            return value.start if name == "start" else value.end
        case _:
            return None


def present(value: object) -> bool:
    """Whether the value is not null."""
    return value is not None


def once(context: "Container", function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """The result of a function for a value of an enclosing struct, computed once for all elements that ask for it."""
    if not isinstance(value, str | bytes | list) or len(value) < _LONG:
        return function(value, *others)
    known = context._params.setdefault("_once", {})
    asked = function.__name__, id(value), len(value), *others  # a later step may empty a list
    if asked not in known:
        known[asked] = value, function(value, *others)
    return known[asked][1]


@overload
def length(value: str | bytes | bytearray | memoryview | None) -> int: ...
@overload
def length(value: object) -> int | None: ...
def length(value: object) -> int | None:
    """The size in bytes of a text (as UTF-8) or of bytes; 0 for null, null for other values."""
    match value:
        case None:
            return 0
        case str():
            return len(value.encode("utf-8", "surrogatepass"))
        case bytes() | bytearray() | memoryview():
            return len(bytes(value))
        case _:
            return None


@overload
def count(value: list[Any] | tuple[Any, ...] | dict[Any, Any] | None) -> int: ...
@overload
def count(value: object) -> int | None: ...
def count(value: object) -> int | None:
    """The number of elements of a list or of entries of a map; 0 for null, null for other values."""
    if value is None:
        return 0
    return len(value) if isinstance(value, list | tuple | dict) else None


def total(values: Any, name: str | None = None) -> int | None:
    """The sum of integers, or of a member of records; nulls are skipped, any other value makes the sum null."""
    if values is None:
        return 0
    if not isinstance(values, list | tuple):
        return None
    numbers = [
        number for value in values for number in (value if name is None else member(value, name),) if number is not None
    ]
    return _exact(sum(numbers)) if all(_is_integer(number) for number in numbers) else None


def part(value: Any, start: Any, end: Any = MISSING) -> Any:
    """The characters or bytes from `start` up to `end`, or to the end; negative indices count from the end."""
    if not isinstance(value, _TEXTS) or not _is_integer(start) or not (end is MISSING or _is_integer(end)):
        return None
    found = value[start:] if end is MISSING else value[start:end]
    return found if isinstance(found, str) else bytes(found)


def concatenated(*values: Any) -> Any:
    """Texts, or bytes, one after another; null if one is null or of another kind, or if the result is too long."""
    return _together("" if isinstance(values[0], str) else b"", values)


def joined(values: Any, separator: Any, name: str | None = None) -> Any:
    """The texts or bytes of a list, or of a member of its records, with a separator between; nulls are left out."""
    if not isinstance(values, list | tuple):
        return None
    found = (value if name is None else member(value, name) for value in values)
    return _together(separator, (each for each in found if each is not None))


def _together(separator: Any, values: Iterable[Any]) -> Any:
    """Texts or bytes, of the separator's kind, joined by it; null if the result is too long."""
    text, pieces, size = isinstance(separator, str), list[Any](), 0
    for value in values:
        if isinstance(value, str) is not text or not isinstance(value, _TEXTS):
            return None
        size += len(value) + len(separator)
        if size - len(separator) > MOST_MADE:
            return None
        pieces.append(value)
    made = separator.join(pieces)
    return made if length(made) <= MOST_MADE else None


def range_name(value: Any, ranges: Ranges) -> str | None:
    """The name of the first range that holds `value`."""
    if not _is_integer(value):
        return None
    for name, minimum, maximum in ranges:
        if (minimum is None or value >= minimum) and (maximum is None or value <= maximum):
            return name
    return None


def decimal(text: Any, bits: int) -> int | None:
    """The number in a decimal text (a leading plus sign is allowed); null for other texts, or beyond `bits` bits."""
    if not isinstance(text, str):
        return None
    text = text.removeprefix("+")
    digits = len(str((1 << bits) - 1))
    if not text.isascii() or not text.isdigit() or len(text.lstrip("0")) > digits:
        return None
    number = int(text.lstrip("0") or "0")
    return _exact(number) if number < 1 << bits else None


def integer(data: Any, order: Literal["big", "little"]) -> int | None:
    """Up to eight bytes as an unsigned number; null for more bytes, and for other values."""
    if not isinstance(data, bytes | bytearray | memoryview) or len(data) > _WORD:
        return None
    return int.from_bytes(data, order)


@overload
def md5(text: str | bytes | bytearray | memoryview) -> int: ...
@overload
def md5(text: object) -> int | None: ...
def md5(text: object) -> int | None:
    """The MD5 of bytes (of a text: its UTF-8) as an unsigned big-endian number."""
    if not isinstance(text, str | bytes | bytearray | memoryview):
        return None
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest(), "big")
