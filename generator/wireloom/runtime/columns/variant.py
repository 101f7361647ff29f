"""Open values as Spark VARIANT: two byte strings, the value and the metadata (the dictionary of its object keys).

VARIANT objects have text keys, no order and no extension types; open values have all three. What an object cannot
express is written with two reserved names, so that every value comes back as it was:

    map of unique text keys, none beginning with "$"   object; the order of its values in the bytes is the wire order
    any other map                                      {"$map": [[key, value], ...]}
    extension                                          {"$ext": [code, value]}

The form is that of https://github.com/apache/parquet-format/blob/master/VariantEncoding.md; integers little-endian.
"""

import struct
from collections.abc import Mapping
from decimal import Decimal
from enum import IntEnum
from itertools import pairwise

from wireloom.runtime.values import Extension, Pairs

MAP_KEY = "$map"
EXTENSION_KEY = "$ext"


class _Basic(IntEnum):
    """The low two bits of a value's first byte; the upper six are a primitive's type, a length or widths."""

    PRIMITIVE = 0
    SHORT_TEXT = 1
    OBJECT = 2
    ARRAY = 3


class _Primitive(IntEnum):
    """The primitive types that open values use, or that Spark makes from the numbers in JSON text."""

    NULL = 0
    TRUE = 1
    FALSE = 2
    INT8 = 3
    INT16 = 4
    INT32 = 5
    INT64 = 6
    DOUBLE = 7
    DECIMAL4 = 8
    DECIMAL8 = 9
    DECIMAL16 = 10
    FLOAT = 14
    BINARY = 15
    TEXT = 16


_INTEGER_SIZES = {_Primitive.INT8: 1, _Primitive.INT16: 2, _Primitive.INT32: 4, _Primitive.INT64: 8}
_DECIMAL_SIZES = {_Primitive.DECIMAL4: 4, _Primitive.DECIMAL8: 8, _Primitive.DECIMAL16: 16}
_SHORT_TEXT_MAXIMUM = 63
_DECIMAL_LIMIT = 10**38
_VERSION = 1


# --- encode --------------------------------------------------------------------------------------------------------


def encode(value: object) -> tuple[bytes, bytes]:
    """The VARIANT of an open value: its `value` and `metadata` bytes."""
    keys: dict[str, int] = {}
    encoded = _encoded(value, keys)
    return encoded, _metadata(keys)


def _encoded(value: object, keys: dict[str, int]) -> bytes:
    match value:
        case None:
            return bytes([_Primitive.NULL << 2])
        case bool():
            return bytes([(_Primitive.TRUE if value else _Primitive.FALSE) << 2])
        case int():
            return _encoded_integer(value)
        case float():
            return bytes([_Primitive.DOUBLE << 2]) + struct.pack("<d", value)
        case str():
            return _encoded_text(value.encode())
        case bytes() | bytearray() | memoryview():
            return bytes([_Primitive.BINARY << 2]) + struct.pack("<I", len(value)) + bytes(value)
        case Extension():
            return _encoded_object([(EXTENSION_KEY, [value.code, value.value])], keys)
        case Pairs():
            return _encoded_map(value, keys)
        case dict():
            return _encoded_map(list(value.items()), keys)
        case list() | tuple():
            return _encoded_array([_encoded(element, keys) for element in value])
        case _:
            raise TypeError(f"a {type(value).__name__} is not an open value")


def _encoded_integer(value: int) -> bytes:
    for kind, size in _INTEGER_SIZES.items():
        if -(1 << (8 * size - 1)) <= value < 1 << (8 * size - 1):
            return bytes([kind << 2]) + value.to_bytes(size, "little", signed=True)
    if abs(value) >= _DECIMAL_LIMIT:
        raise OverflowError(f"{value} is beyond the 38 digits of a VARIANT number")
    return bytes([_Primitive.DECIMAL16 << 2, 0]) + value.to_bytes(16, "little", signed=True)


def _encoded_text(text: bytes) -> bytes:
    if len(text) <= _SHORT_TEXT_MAXIMUM:
        return bytes([len(text) << 2 | _Basic.SHORT_TEXT]) + text
    return bytes([_Primitive.TEXT << 2]) + struct.pack("<I", len(text)) + text


def _encoded_map(entries: list[tuple[object, object]], keys: dict[str, int]) -> bytes:
    named = [(key, value) for key, value in entries if isinstance(key, str) and not key.startswith("$")]
    if len({key for key, _ in named}) == len(entries):
        return _encoded_object(named, keys)
    return _encoded_object([(MAP_KEY, [[key, value] for key, value in entries])], keys)


def _encoded_array(elements: list[bytes]) -> bytes:
    data = b"".join(elements)
    width = _width(len(data))
    large = len(elements) > 0xFF
    header = bytes([large << 4 | (width - 1) << 2 | _Basic.ARRAY])
    return header + _count(len(elements), large=large) + _numbers([*_offsets(elements), len(data)], width) + data


def _encoded_object(entries: list[tuple[str, object]], keys: dict[str, int]) -> bytes:
    """Key ids and offsets are in the order of the keys' UTF-8; the values are in the order of the entries."""
    ids = [keys.setdefault(key, len(keys)) for key, _ in entries]
    values = [_encoded(value, keys) for _, value in entries]
    data = b"".join(values)
    fields = sorted(zip((key.encode() for key, _ in entries), ids, _offsets(values), strict=True))
    id_width, width = _width(max(ids, default=0)), _width(len(data))
    large = len(entries) > 0xFF
    header = bytes([large << 6 | (id_width - 1) << 4 | (width - 1) << 2 | _Basic.OBJECT])
    id_list = _numbers([id for _, id, _ in fields], id_width)
    offset_list = _numbers([*(offset for _, _, offset in fields), len(data)], width)
    return header + _count(len(entries), large=large) + id_list + offset_list + data


def _metadata(keys: dict[str, int]) -> bytes:
    texts = [key.encode() for key in keys]
    data = b"".join(texts)
    width = _width(max(len(data), len(texts)))
    header = bytes([(width - 1) << 6 | _VERSION])
    return header + _numbers([len(texts), *_offsets(texts), len(data)], width) + data


def _offsets(parts: list[bytes]) -> list[int]:
    offsets, offset = [], 0
    for part in parts:
        offsets.append(offset)
        offset += len(part)
    return offsets


def _width(maximum: int) -> int:
    return max(1, (maximum.bit_length() + 7) // 8)


def _count(count: int, *, large: bool) -> bytes:
    return count.to_bytes(4 if large else 1, "little")


def _numbers(numbers: list[int], width: int) -> bytes:
    if width == 1:
        return bytes(numbers)
    return b"".join(number.to_bytes(width, "little") for number in numbers)


# --- decode --------------------------------------------------------------------------------------------------------


def decode(value: bytes, metadata: bytes, extensions: Mapping[int, str] | None = None) -> object:
    """The open value of a VARIANT; `extensions` name the extension codes.

    Raises ValueError if the bytes are malformed or hold a value that is not an open value (a date, a time).
    """
    return _Reader(value, _keys(metadata), extensions or {}).value(0)


class _Reader:
    """Reads values at positions of one VARIANT.

    Values must not share bytes, or a small VARIANT could unfold into a value of any size.
    """

    __slots__ = ("data", "extensions", "keys", "left")

    def __init__(self, data: bytes, keys: list[str], extensions: Mapping[int, str]) -> None:
        self.data = data
        self.keys = keys
        self.extensions = extensions
        self.left = len(data)

    def value(self, position: int) -> object:
        header = self.number(position, 1)
        basic, info = header & 3, header >> 2
        if basic == _Basic.SHORT_TEXT:
            return self.take(position + 1, info).decode()
        if basic == _Basic.ARRAY:
            return self.elements(position + 1, info)
        if basic == _Basic.OBJECT:
            return self.members(position + 1, info)
        return self.primitive(position + 1, info)

    def primitive(self, position: int, info: int) -> object:
        match info:
            case _Primitive.NULL:
                return None
            case _Primitive.TRUE | _Primitive.FALSE:
                return info == _Primitive.TRUE
            case _Primitive.INT8 | _Primitive.INT16 | _Primitive.INT32 | _Primitive.INT64:
                return self.signed(position, _INTEGER_SIZES[_Primitive(info)])
            case _Primitive.DECIMAL4 | _Primitive.DECIMAL8 | _Primitive.DECIMAL16:
                return _number(self.number(position, 1), self.signed(position + 1, _DECIMAL_SIZES[_Primitive(info)]))
            case _Primitive.DOUBLE:
                return _float("<d", self.take(position, 8))
            case _Primitive.FLOAT:
                return _float("<f", self.take(position, 4))
            case _Primitive.BINARY:
                return self.take(position + 4, self.number(position, 4))
            case _Primitive.TEXT:
                return self.take(position + 4, self.number(position, 4)).decode()
            case _:
                raise ValueError(f"a VARIANT primitive of type {info} is not an open value")

    def elements(self, position: int, info: int) -> list[object]:
        count, position = self.count(position, large=bool(info & 4))
        width = (info & 3) + 1
        start = position + (count + 1) * width
        return [self.value(start + offset) for offset in self.numbers(position, count + 1, width)[:-1]]

    def members(self, position: int, info: int) -> object:
        count, position = self.count(position, large=bool(info & 16))
        id_width, width = (info >> 2 & 3) + 1, (info & 3) + 1
        offsets_at = position + count * id_width
        start = offsets_at + (count + 1) * width
        ids = self.numbers(position, count, id_width)
        fields = sorted(zip(self.numbers(offsets_at, count + 1, width), ids, strict=False))
        return self.restored([(self.key(id), self.value(start + offset)) for offset, id in fields])

    def restored(self, entries: list[tuple[str, object]]) -> object:
        """The value, with the reserved names resolved."""
        match entries:
            case [("$map", list(pairs))]:
                return Pairs(_pair(pair) for pair in pairs)
            case [("$ext", [int(code), (bytes() | str()) as content])]:
                return Extension(code, self.extensions.get(code, f"ext{code}"), content)
            case _:
                return Pairs(entries)

    def key(self, id: int) -> str:
        if id >= len(self.keys):
            raise ValueError("malformed VARIANT: a key that its metadata does not have")
        return self.keys[id]

    def count(self, position: int, *, large: bool) -> tuple[int, int]:
        size = 4 if large else 1
        return self.number(position, size), position + size

    def numbers(self, position: int, count: int, width: int) -> list[int]:
        data = self.take(position, count * width)
        return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]

    def number(self, position: int, size: int) -> int:
        return int.from_bytes(self.take(position, size), "little")

    def signed(self, position: int, size: int) -> int:
        return int.from_bytes(self.take(position, size), "little", signed=True)

    def take(self, position: int, size: int) -> bytes:
        if position + size > len(self.data):
            raise ValueError("malformed VARIANT: it ends early")
        self.left -= size
        if self.left < 0:
            raise ValueError("malformed VARIANT: parts of it share bytes")
        return self.data[position : position + size]


def _keys(metadata: bytes) -> list[str]:
    reader = _Reader(metadata, [], {})
    width = (reader.number(0, 1) >> 6) + 1
    count = reader.number(1, width)
    offsets = reader.numbers(1 + width, count + 1, width)
    start = 1 + (count + 2) * width
    return [reader.take(start + a, b - a).decode() for a, b in pairwise(offsets)]


def _pair(pair: object) -> tuple[object, object]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError('a VARIANT {"$map": ...} holds [key, value] pairs')
    return pair[0], pair[1]


def _number(scale: int, unscaled: int) -> int | float:
    """Spark's own JSON reader makes decimals from short fractions; open values know only integers and floats."""
    return unscaled if scale == 0 else float(Decimal(f"{unscaled}e-{scale}"))


def _float(form: str, data: bytes) -> float:
    number: float = struct.unpack(form, data)[0]
    return number
