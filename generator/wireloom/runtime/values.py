"""Python classes for decoded values that plain Python has no type for, and the kinds that tell values apart."""

import math
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any


class Pairs(list[tuple[object, object]]):
    """The entries of a map in wire order: `(key, value)` pairs.

    A dict would not keep the order for `build`, would refuse keys that are lists or maps, and would treat 1, 1.0 and
    true as one key. Pairs equal only Pairs: an empty map is not an empty list.
    """

    __slots__ = ()
    __hash__ = None  # as any list

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pairs) and list.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        return f"Pairs({list.__repr__(self)})"


ENTRY = ("key", "value")
"""The member names of a record that is a map entry."""


class Value(dict[str, Any]):
    """A parsed struct: what readers see, and in `hidden` the values that only expressions see.

    `free` are the members that the format determines itself, so that builders do not need them. Those in `derived` are
    computed from other members, and builders compute them even if they are given.
    """

    def __init__(self, free: frozenset[str] = frozenset(), derived: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.hidden: dict[str, Any] = {}
        self.free = free
        self.derived = derived


class Parsed(dict[str, Any]):
    """A record for readers, with the values that only expressions see; a whole record also keeps its bytes.

    Builders write those bytes if the bytes computed from the members do not parse to the same value.
    """

    __slots__ = ("hidden", "source")

    def __init__(self, members: Mapping[str, Any], hidden: Mapping[str, Any], source: bytes | None = None) -> None:
        super().__init__(members)
        self.hidden, self.source = hidden, source

    def __reduce__(self) -> tuple[type["Parsed"], tuple[dict[str, Any], Mapping[str, Any], bytes | None]]:
        """Copies and pickles keep all of it."""
        return Parsed, (dict(self), self.hidden, self.source)

    def _repr_html_(self) -> str:
        """The HTML that notebooks show."""
        from wireloom.runtime.display import value_html

        return value_html(self)


class ParsedElements(list[Any]):
    """The elements of a record that is a list, and the record's bytes."""

    __slots__ = ("source",)
    __hash__ = None  # as any list

    def __init__(self, elements: Iterable[Any] = (), source: bytes | None = None) -> None:
        super().__init__(elements)
        self.source = source

    def __reduce__(self) -> tuple[type["ParsedElements"], tuple[list[Any], bytes | None]]:
        """Copies and pickles keep both."""
        return ParsedElements, (list(self), self.source)

    def _repr_html_(self) -> str:
        """The HTML that notebooks show."""
        from wireloom.runtime.display import value_html

        return value_html(self, "records")


def remembered(value: Any, source: bytes) -> Any:
    """A parsed record, with its bytes attached."""
    match value:
        case Parsed():
            value.source = source
            return value
        case list():
            return ParsedElements(value, source)
        case _:
            return value


def source_of(value: Any) -> bytes | None:
    """The bytes that a value was parsed from, even if it was changed since; None if they are not known."""
    return value.source if isinstance(value, Parsed | ParsedElements) else None


def sourceless(value: Any) -> Any:
    """A parsed value without its bytes, so that builders must compute them."""
    match value:
        case Parsed():
            return Parsed(value, value.hidden)
        case ParsedElements():
            return list(value)
        case _:
            return value


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension value: its type code, the spec's name for the code, and its bytes or text.

    The name is for people and renderings. The wire has only the code, so equality ignores the name.
    """

    code: int
    name: str = field(compare=False)
    value: bytes | str


@dataclass(frozen=True, slots=True)
class OpenBytes:
    """An open value as its wire bytes: MessagePack or JSON text.

    If it was parsed, `meaning` is the value itself, which expressions use in any case.
    """

    data: bytes
    meaning: object = field(default=None, compare=False, repr=False)


def meant(value: object) -> object:
    """The value itself, even if it is held as its bytes."""
    return value.meaning if isinstance(value, OpenBytes) else value


FLOATS: Mapping[int, str] = MappingProxyType({16: "e", 32: "f", 64: "d"})
"""The `struct` format character of floats by their bits."""
FILLED = 1 << 26
"""The most zeros that builders write for a filler of computed size, in bytes."""


def float32(number: float) -> float:
    """The nearest 32-bit float; infinite beyond the largest."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", float(number)))[0]
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    return rounded


def float16(number: float) -> float:
    """The nearest 16-bit float; raises OverflowError beyond the largest."""
    rounded: float = struct.unpack("<e", struct.pack("<e", float(number)))[0]
    return rounded


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    bytes: "bytes",
    bytearray: "bytes",
    memoryview: "bytes",
    list: "list",
    tuple: "list",
    Pairs: "map",
    dict: "record",
    Extension: "extension",
    OpenBytes: "variant",
    datetime: "timestamp",
    date: "date",
    timedelta: "duration",
    Decimal: "decimal",
}


def kind_of(value: object) -> str:
    """The kind of a value: null, bool, int, float, str, bytes, list, map, record, extension, variant, timestamp, ...

    The class itself is looked up before its bases, so true is a bool and never an int.
    """
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    for base in type(value).__mro__:
        if base in _KINDS:
            return _KINDS[base]
    raise TypeError(f"a {type(value).__name__} is not a value of any format")


def same(left: object, right: object) -> bool:
    """Whether two values are identical to the last bit.

    Stricter than `==` on kinds (1, 1.0 and true differ) and on the sign of zero; NaN is the same as NaN.
    """
    kind = kind_of(left)
    if kind != kind_of(right):
        return False
    if isinstance(left, float) and isinstance(right, float):
        return _same_float(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, Extension) and isinstance(right, Extension):
        return left.code == right.code and same(left.value, right.value)
    return left == right


def _same_float(left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return left == right and math.copysign(1.0, left) == math.copysign(1.0, right)


def is_other_zero(value: object, zero: object) -> bool:
    """Whether exactly one of two equal numbers is the negative zero."""
    floats = isinstance(value, float) and isinstance(zero, int | float)
    return floats and math.copysign(1.0, value) != math.copysign(1.0, zero)  # type: ignore[arg-type]
