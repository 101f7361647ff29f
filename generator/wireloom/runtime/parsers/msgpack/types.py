"""MessagePack by schema: family, arity and range checks with path and offset are ours; msgpack's Packer writes.

Any legal width is accepted. The first byte tells the family, so a value of the wrong family is refused before its body
is looked at; a declared count or length is compared with the bytes left before anything is read for it.
"""

import io
import struct as _struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import construct
import msgpack
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.elements import Elements
from wireloom.runtime.parsers.msgpack.open_bytes import kept, write_kept
from wireloom.runtime.parsers.protocol import WireField, WireStruct
from wireloom.runtime.parsers.scalars import encoded_text, integer_range, text_of
from wireloom.runtime.parsers.structure import MISSING, Expression, StreamFields, evaluate
from wireloom.runtime.values import Extension as ExtensionValue
from wireloom.runtime.values import OpenBytes, Pairs, float32

_PACKER = msgpack.Packer(use_bin_type=True, strict_types=False)

# First byte (0xc0 to 0xdf) -> family, bytes of the number that follows, how to read it.
_HEADS: dict[int, tuple[str, int, str]] = {
    0xC0: ("nil", 0, ""),
    0xC2: ("bool", 0, ""),
    0xC3: ("bool", 0, ""),
    0xC4: ("bin", 1, "B"),
    0xC5: ("bin", 2, ">H"),
    0xC6: ("bin", 4, ">I"),
    0xC7: ("ext", 1, "B"),
    0xC8: ("ext", 2, ">H"),
    0xC9: ("ext", 4, ">I"),
    0xCA: ("float", 4, ">f"),
    0xCB: ("float", 8, ">d"),
    0xCC: ("int", 1, "B"),
    0xCD: ("int", 2, ">H"),
    0xCE: ("int", 4, ">I"),
    0xCF: ("int", 8, ">Q"),
    0xD0: ("int", 1, "b"),
    0xD1: ("int", 2, ">h"),
    0xD2: ("int", 4, ">i"),
    0xD3: ("int", 8, ">q"),
    0xD9: ("str", 1, "B"),
    0xDA: ("str", 2, ">H"),
    0xDB: ("str", 4, ">I"),
    0xDC: ("array", 2, ">H"),
    0xDD: ("array", 4, ">I"),
    0xDE: ("map", 2, ">H"),
    0xDF: ("map", 4, ">I"),
}
_FIXEXT = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_WORDS = {
    "nil": "nil",
    "bool": "a boolean",
    "int": "an integer",
    "float": "a float",
    "str": "a string",
    "bin": "a bin",
    "array": "an array",
    "map": "a map",
    "ext": "an ext value",
}


@dataclass(frozen=True, slots=True)
class Head:
    """What a value begins with: its family, and its number (integer, float, boolean) or its length or count."""

    family: str
    number: Any
    start: int
    code: int = 0  # the type of an ext value


def family_at(cursor: Cursor) -> tuple[str, int, int]:
    """Family, first byte and offset of the value at the cursor, whose first byte is consumed."""
    start = cursor.tell()
    first = cursor.take(1)[0]
    if first <= 0x7F or first >= 0xE0:
        return "int", first, start
    if first <= 0x8F:
        return "map", first, start
    if first <= 0x9F:
        return "array", first, start
    if first <= 0xBF:
        return "str", first, start
    if first in _FIXEXT:
        return "ext", first, start
    if first == 0xC1:
        raise DecodeError("bad_msgpack", offset=start, expected="a MessagePack value", actual="the reserved byte c1")
    return _HEADS[first][0], first, start


def read_head(cursor: Cursor, families: Sequence[str]) -> Head:
    """The head of the value at the cursor; `type_mismatch` where its family is none of `families`."""
    family, first, start = family_at(cursor)
    if family not in families:
        wanted = " or ".join(_WORDS[name] for name in families)
        raise DecodeError("type_mismatch", offset=start, expected=wanted, actual=_WORDS[family])
    return head_of(cursor, family, first, start)


def head_of(cursor: Cursor, family: str, first: int, start: int) -> Head:
    """The rest of the head behind its first byte."""
    if first <= 0x7F:
        return Head(family, first, start)
    if first >= 0xE0:
        return Head(family, first - 0x100, start)
    if first <= 0x9F:
        return Head(family, first & 0x0F, start)
    if first <= 0xBF:
        return Head(family, first & 0x1F, start)
    if first in _FIXEXT:
        return Head(family, _FIXEXT[first], start, _ext_code(cursor, start))
    _, width, layout = _HEADS[first]
    if family == "bool":
        return Head(family, first == 0xC3, start)
    number = _struct.unpack(layout, _rest(cursor, width, start))[0] if width else None
    return Head(family, number, start, _ext_code(cursor, start) if family == "ext" else 0)


def _rest(cursor: Cursor, width: int, start: int) -> bytes:
    if width > cursor.left:
        raise cursor.short(start, cursor.tell() - start + width)
    return cursor.take(width)


def _ext_code(cursor: Cursor, start: int) -> int:
    code: int = _struct.unpack("b", _rest(cursor, 1, start))[0]
    return code


def take_body(cursor: Cursor, head: Head) -> bytes:
    """The bytes of a str, bin or ext; `truncated` at its head where they are not all there."""
    if head.number > cursor.left:
        raise DecodeError(
            cursor.overrun, offset=head.start, expected=f"{head.number} bytes", actual=f"{cursor.left} left"
        )
    return cursor.take(head.number)


def check_count(cursor: Cursor, head: Head, least: int) -> None:
    """`truncated` where `head` declares more entries of at least `least` bytes than the bytes left can hold."""
    if head.number * least > cursor.left:
        raise DecodeError(
            cursor.overrun,
            offset=head.start,
            expected=f"{head.number} entries",
            actual=f"{cursor.left} bytes left",
        )


# --- scalars -------------------------------------------------------------------------------------------------------


class Integer(construct.Construct):
    """The int family, any width, within the range of `bits` bits (else `int_range`)."""

    family = "int"

    def __init__(self, bits: int, *, signed: bool) -> None:
        super().__init__()
        self.low, self.high = integer_range(bits, signed=signed)

    def _parse(self, stream: Any, context: Container, path: str) -> int:
        return self._in_range(read_head(stream, ("int",)))

    def parse_head(self, stream: Any, head: Head, context: Container) -> int:
        """The value of a head that has been read."""
        return self._in_range(head)

    def _in_range(self, head: Head) -> int:
        if not self.low <= head.number <= self.high:
            raise DecodeError(
                "int_range", offset=head.start, expected=f"{self.low} .. {self.high}", actual=shown(head.number)
            )
        return int(head.number)

    def fits(self, obj: object) -> bool:
        """Whether a Python value is of this family."""
        return isinstance(obj, int) and not isinstance(obj, bool)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if not self.fits(obj):
            raise EncodeError("an integer", shown(obj))
        if not self.low <= obj <= self.high:
            raise EncodeError(f"an integer from {self.low} to {self.high}", shown(obj))
        stream.write(_PACKER.pack(obj))
        return obj


class _Scalar(construct.Construct):
    """A scalar of one family."""

    family = ""
    python: type | tuple[type, ...] = ()

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.parse_head(stream, read_head(stream, (self.family,)), context)

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The value of a head that has been read."""
        return head.number

    def fits(self, obj: object) -> bool:
        """Whether a Python value is of this family."""
        return isinstance(obj, self.python)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if not self.fits(obj):
            raise EncodeError(_WORDS[self.family], shown(obj))
        stream.write(_PACKER.pack(obj))
        return obj


class Float(_Scalar):
    """float 32 or float 64, widened exactly, then rounded to `bits`."""

    family, python = "float", float

    def __init__(self, bits: int = 64) -> None:
        super().__init__()
        self.bits = bits

    def parse_head(self, stream: Any, head: Head, context: Container) -> float:
        """The number of a head that has been read."""
        return self._rounded(head.number)

    def _rounded(self, number: float) -> float:
        return number if self.bits == 64 else float32(number)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        return super()._build(self._rounded(obj) if isinstance(obj, float) else obj, stream, context, path)


class Boolean(_Scalar):
    """true or false."""

    family, python = "bool", bool


class Null(_Scalar):
    """nil."""

    family, python = "nil", type(None)


class Text(_Scalar):
    """The str family, UTF-8."""

    family, python = "str", str

    def __init__(self, *, invalid: Expression | None = None) -> None:
        super().__init__()
        self.invalid = invalid

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The text behind its head."""
        body = take_body(stream, head)
        return text_of(body, stream.tell() - len(body), self.invalid, context)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        encoded_text(obj)
        stream.write(_PACKER.pack(obj))
        return obj


class Bytes(_Scalar):
    """The bin family; of `size` bytes where given (else `code`)."""

    family, python = "bin", bytes | bytearray | memoryview  # type: ignore[assignment]

    def __init__(self, size: int | Expression | None = None, code: str = "bad_size") -> None:
        super().__init__()
        self.size, self.code = size, code

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The bytes behind their head."""
        body = take_body(stream, head)
        size = self.size if self.size is None or isinstance(self.size, int) else evaluate(self.size, context)
        if size is not None and len(body) != size:
            raise DecodeError(self.code, offset=head.start, expected=f"{size} bytes", actual=f"{len(body)} bytes")
        return body

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if isinstance(self.size, int) and self.fits(obj) and len(obj) != self.size:
            raise EncodeError(f"{self.size} bytes", f"{len(obj)} bytes")
        return super()._build(obj, stream, context, path)


class Extension(_Scalar):
    """An ext value of one type code; its content text or bytes.

    Among alternatives it has a name, and its values are `values.Extension`; by itself its value is the content.
    """

    family, python = "ext", ExtensionValue

    def __init__(self, code: int, name: str, content: Text | Bytes) -> None:
        super().__init__()
        self.code, self.name, self.content = code, name, content

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The content behind its head."""
        if head.code != self.code:
            raise DecodeError(
                "type_mismatch", offset=head.start, expected=f"ext type {self.code}", actual=f"ext type {head.code}"
            )
        content = self.content.parse_head(stream, head, context)
        return ExtensionValue(self.code, self.name, content) if self.name else content

    def fits(self, obj: object) -> bool:
        """Whether a Python value is this extension."""
        if not self.name:
            return self.content.fits(obj)
        return isinstance(obj, ExtensionValue) and obj.code == self.code

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.name and not self.fits(obj):
            raise EncodeError(f"an ext value of type {self.code}", shown(obj))
        content = obj.value if self.name else obj
        if not self.content.fits(content):
            raise EncodeError(_WORDS[self.content.family], shown(content))
        data = encoded_text(content) if isinstance(content, str) else bytes(content)
        stream.write(_PACKER.pack(msgpack.ExtType(self.code & 0xFF, data)) if self.code >= 0 else _ext(self.code, data))
        return obj


def _ext(code: int, data: bytes) -> bytes:
    """An ext value of a negative type, which msgpack-python keeps for itself."""
    return b"\xc9" + _struct.pack(">Ib", len(data), code) + data


# --- containers ----------------------------------------------------------------------------------------------------


class _Nested:
    """Containers of open values count how deep they stand in one another."""

    def __init__(self, depth: int | Expression | None) -> None:
        self.depth = depth

    def enter(self, cursor: Cursor, head: Head, context: Container) -> None:
        """One level deeper; `depth_limit` beyond the limit."""
        if self.depth is None:
            return
        limit = self.depth if isinstance(self.depth, int) else evaluate(self.depth, context)
        if cursor.depth >= limit:
            raise DecodeError(
                "depth_limit", offset=head.start, expected=f"at most {limit} containers", actual="one more inside"
            )
        cursor.depth += 1

    def leave(self, cursor: Cursor) -> None:
        """One level up."""
        if self.depth is not None:
            cursor.depth -= 1

    def holds(self, obj: object, family: str) -> bool:
        """Whether `obj` is the bytes of an open value of the family."""
        return self.depth is not None and isinstance(obj, OpenBytes) and _family_of(obj) == family


def _family_of(kept: OpenBytes) -> str:
    """The family that the first byte says; empty where there is none."""
    return family_at(Cursor(kept.data))[0] if kept.data[:1].strip(b"\xc1") else ""


class Array(construct.Construct):
    """The array family, elements of one type. `depth` limits nesting where the elements are open values."""

    family = "array"

    def __init__(
        self,
        element: Any,
        *,
        unique: str = "",
        unique_code: str = "duplicate_element",
        depth: int | Expression | None = None,
    ) -> None:
        super().__init__()
        self.elements = Elements(element, unique, unique_code)
        self.nested = _Nested(depth)

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.parse_head(stream, read_head(stream, ("array",)), context)

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The elements behind their head."""
        if self.nested.depth is None:
            return self._elements(stream, head, context)
        return kept(stream, head.start, lambda: self._elements(stream, head, context))

    def _elements(self, stream: Any, head: Head, context: Container) -> list[Any]:
        self.nested.enter(stream, head, context)
        check_count(stream, head, 1)
        elements = self.elements.parse((stream for _ in range(head.number)), context, head.number)
        self.nested.leave(stream)
        return elements

    def fits(self, obj: object) -> bool:
        """Whether a Python value is of this family."""
        return (isinstance(obj, list | tuple) and not isinstance(obj, Pairs)) or self.nested.holds(obj, self.family)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.nested.holds(obj, self.family):
            write_kept(self, obj, stream, context)
            return obj
        if not self.fits(obj):
            raise EncodeError("a list", shown(obj))
        stream.write(_PACKER.pack_array_header(len(obj)))
        self.elements.build(obj, iter(lambda: stream, None), context)
        return obj


class Map(construct.Construct):
    """The map family as ordered pairs; equal keys (whatever their width) are `duplicate_key`."""

    family = "map"

    def __init__(self, key: Any, value: Any, *, depth: int | Expression | None = None) -> None:
        super().__init__()
        self.key, self.value = key, value
        self.nested = _Nested(depth)

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.parse_head(stream, read_head(stream, ("map",)), context)

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The entries behind their head."""
        if self.nested.depth is None:
            return self._entries(stream, head, context)
        return kept(stream, head.start, lambda: self._entries(stream, head, context))

    def _entries(self, stream: Any, head: Head, context: Container) -> Pairs:
        self.nested.enter(stream, head, context)
        check_count(stream, head, 2)
        pairs, seen = Pairs(), set[Any]()
        for index in range(head.number):
            try:
                pairs.append(self._entry(stream, context, seen))
            except DecodeError as error:
                raise error.at(index) from None
        self.nested.leave(stream)
        return pairs

    def _entry(self, stream: Any, context: Container, seen: set[Any]) -> tuple[Any, Any]:
        start = stream.tell()
        key = self.key._parse(stream, context, "")
        identity = identity_of(key)
        if identity in seen:
            raise DecodeError("duplicate_key", offset=start, expected="another key", actual=f"{shown(key)} again")
        seen.add(identity)
        return key, self.value._parse(stream, context, "")

    def fits(self, obj: object) -> bool:
        """Whether a Python value is of this family."""
        return isinstance(obj, Pairs | dict) or self.nested.holds(obj, self.family)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.nested.holds(obj, self.family):
            write_kept(self, obj, stream, context)
            return obj
        if not self.fits(obj):
            raise EncodeError("a map (Pairs or dict)", shown(obj))
        entries = list(obj.items() if isinstance(obj, Mapping) else obj)
        stream.write(_PACKER.pack_map_header(len(entries)))
        for index, (key, value) in enumerate(entries):
            try:
                self.key._build(key, stream, context, path)
                self.value._build(value, stream, context, path)
            except EncodeError as error:
                raise error.at(index) from None
        return obj


def identity_of(value: Any) -> Any:
    """What makes two map keys equal: kind and value. 1, 1.0, true and "1" differ; an integer's width does not count."""
    match value:
        case float():
            return "float", _struct.pack(">d", value)
        case Pairs():
            return "map", tuple((identity_of(key), identity_of(item)) for key, item in value)
        case list():
            return "list", tuple(identity_of(item) for item in value)
        case ExtensionValue():
            return "ext", value.code, value.value
        case _:
            return type(value).__name__, value


class Nullable(construct.Construct):
    """nil, or a value of the type."""

    nullable = True

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.subcon = subcon

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        start = stream.tell()
        if stream.take(1) == b"\xc0":
            return None
        stream.seek(start)
        return self.subcon._parse(stream, context, path)

    def fits(self, obj: object) -> bool:
        """Whether a Python value is null or of the type."""
        return obj is None or bool(self.subcon.fits(obj))

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if obj is None:
            stream.write(b"\xc0")
        else:
            self.subcon._build(obj, stream, context, path)
        return obj


class OneOf(construct.Construct):
    """Alternatives told apart by family; ext values of another type code are `extension_code`. `open` ones recur."""

    def __init__(
        self,
        alternatives: Mapping[str, Any],
        code: str = "type_mismatch",
        extension_code: str = "type_mismatch",
        *,
        open: bool = False,
    ) -> None:
        super().__init__()
        self.open = open
        self.code, self.extension_code = code, extension_code
        self.alternatives = dict(alternatives)
        self._families = {
            subcon.family: subcon for subcon in alternatives.values() if not isinstance(subcon, Extension)
        }
        self._extensions = {subcon.code: subcon for subcon in alternatives.values() if isinstance(subcon, Extension)}

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        if not self.open:
            return self._value(stream, context, path)
        return kept(stream, stream.tell(), lambda: self._value(stream, context, path))

    def _value(self, stream: Any, context: Container, path: str) -> Any:
        family, first, start = family_at(stream)
        if family == "ext" and self._extensions:
            head = head_of(stream, family, first, start)
            subcon = self._extensions.get(head.code)
            if subcon is None:
                known = ", ".join(str(code) for code in self._extensions)
                raise DecodeError(
                    self.extension_code, offset=start, expected=f"ext type {known}", actual=f"ext type {head.code}"
                )
            return subcon.parse_head(stream, head, context)
        subcon = self._families.get(family)
        if subcon is None:
            raise DecodeError(
                self.code, offset=start, expected="one of " + ", ".join(self.alternatives), actual=_WORDS[family]
            )
        if not hasattr(subcon, "parse_head"):
            stream.seek(start)
            return subcon._parse(stream, context, path)
        return subcon.parse_head(stream, head_of(stream, family, first, start), context)

    def fits(self, obj: object) -> bool:
        """Whether a Python value is of one of the alternatives."""
        return (self.open and isinstance(obj, OpenBytes)) or any(
            subcon.fits(obj) for subcon in self.alternatives.values()
        )

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.open and isinstance(obj, OpenBytes):
            write_kept(self, obj, stream, context)
            return obj
        for subcon in self.alternatives.values():
            if subcon.fits(obj):
                subcon._build(obj, stream, context, path)
                return obj
        raise EncodeError("one of " + ", ".join(self.alternatives), shown(obj))


# --- structs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Positional:
    """A struct as an array: one element a field, in order. Where it has versions, the arity may tell which."""

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> StreamFields:
        """Check family and arity (`bad_arity`)."""
        head = read_head(stream, ("array",))
        arities = struct.arities
        if head.number not in arities:
            wanted = " or ".join(str(arity) for arity in sorted(arities, reverse=True))
            raise DecodeError(
                "bad_arity", offset=head.start, expected=f"an array of {wanted}", actual=f"an array of {head.number}"
            )
        if arities[head.number] is not None:
            scope._version = arities[head.number]
        check_count(stream, head, 1)
        return StreamFields(stream)

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[WireField]) -> StreamFields:
        """Write the head."""
        stream.write(_PACKER.pack_array_header(len(fields)))
        return StreamFields(stream)


def pass_over(cursor: Cursor) -> None:
    """Go behind the value at the cursor, whatever it is."""
    left = 1
    while left:
        family, first, start = family_at(cursor)
        head = head_of(cursor, family, first, start)
        left -= 1
        if family in ("str", "bin", "ext"):
            take_body(cursor, head)
        elif family in ("array", "map"):
            least = 2 if family == "map" else 1
            check_count(cursor, head, least)
            left += head.number * least


class _Found:
    """A map while its struct is parsed: where each member's value stands, and which of them have been located."""

    def __init__(self, cursor: Cursor, head: Head, unknown: Expression | None, scope: Container) -> None:
        self.cursor, self.start, self._unknown, self._scope = cursor, head.start, unknown, scope
        self._keys: dict[str, int] = {}
        self._values: dict[str, int] = {}
        self._located: set[str] = set()
        for _ in range(head.number):
            self._enter()
        self._end = cursor.tell()

    def _enter(self) -> None:
        """The next entry; a name twice is `duplicate_key`."""
        head = read_head(self.cursor, ("str",))
        body = take_body(self.cursor, head)
        name = text_of(body, self.cursor.tell() - len(body), None, self._scope)
        if name in self._keys:
            error = DecodeError("duplicate_key", offset=head.start, expected="another name", actual=f"{name} again")
            raise error.at(name)
        self._keys[name], self._values[name] = head.start, self.cursor.tell()
        pass_over(self.cursor)

    def locate(self, field: WireField) -> Any:
        """The map's stream, at the member's value."""
        name = field.member or field.name
        self._located.add(name)
        if name not in self._values:
            return MISSING
        self.cursor.seek(self._values[name])
        return self.cursor

    def offset(self, stream: Any) -> int:
        """Where the value stands."""
        return int(stream.tell())

    def close(self) -> None:
        """Members that no field has located are `unexpected_property`, unless they may be ignored."""
        self.cursor.seek(self._end)
        if self._unknown is not None and evaluate(self._unknown, self._scope) == "ignore":
            return
        for name, offset in self._keys.items():
            if name not in self._located:
                error = DecodeError("unexpected_property", offset=offset, expected="no such member", actual=name)
                raise error.at(name)


class _Built:
    """A map while its struct is built: each member's value in a buffer of its own."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._placed: list[tuple[str, io.BytesIO]] = []

    def place(self, field: WireField) -> Any:
        """A buffer for the member's value."""
        buffer = io.BytesIO()
        self._placed.append((field.member or field.name, buffer))
        return buffer

    def close(self) -> None:
        """Write the members that have got a value."""
        there = [(name, buffer.getvalue()) for name, buffer in self._placed if buffer.getvalue()]
        self.stream.write(_PACKER.pack_map_header(len(there)))
        for name, data in there:
            self.stream.write(_PACKER.pack(name) + data)


@dataclass(frozen=True)
class Members:
    """A struct as a map, its fields found by name, as in a JSON object."""

    unknown_members: Expression | None = None

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> _Found:
        """The map's members."""
        head = read_head(stream, ("map",))
        check_count(stream, head, 2)
        return _Found(stream, head, self.unknown_members, scope)

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[Any]) -> _Built:
        """A map to be filled."""
        return _Built(stream)
