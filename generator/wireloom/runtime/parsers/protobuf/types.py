"""Protobuf messages (proto2) by schema: we check presence, ranges and references; protobuf's library writes.

A message is decoded in passes, so that the order of its fields on the wire never decides which error is reported: first
the wire of the whole tree (`undecodable`), then the required fields of every message (`missing_required`), then the
steps of the structs in the order of the spec. So an index may refer to a table that comes after it.
"""

import struct as _struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers import bodies
from wireloom.runtime.parsers.elements import Elements, Salvage
from wireloom.runtime.parsers.entries import OfEntries
from wireloom.runtime.parsers.fields import Field, Held, Keys, Sink, Source, WireStruct
from wireloom.runtime.parsers.protobuf.draft import Draft, Root, Slot, message_class, serialized
from wireloom.runtime.parsers.protobuf.wire import (
    FIXED32,
    FIXED64,
    GROUP,
    LENGTH,
    VARINT,
    Holes,
    Occurrence,
    Rule,
    Scan,
    Scanned,
    Schema,
    require,
    words_of,
)
from wireloom.runtime.parsers.protocol import MISSING, Expression, evaluate
from wireloom.runtime.parsers.scalars import checked_integer, encoded_text, in_charset, integer_range, text_of
from wireloom.runtime.parsers.structure import Struct
from wireloom.runtime.parsers.unions import Deferred
from wireloom.runtime.primitives import leb128
from wireloom.runtime.values import Pairs

if TYPE_CHECKING:
    from array import array

_KEY, _VALUE = 1, 2  # the fields of an entry of a map
_NARROW = 32  # bits; integers of at most this width have 32 bits on the wire, others 64

# --- messages ------------------------------------------------------------------------------------------------------


class Occurrences(NamedTuple):
    """The values of a repeated field; `start` is the offset of the first one, or of the message if there is none."""

    start: int
    items: Sequence[Occurrence | Scanned]


@dataclass(frozen=True)
class _Opened:
    """A scanned message while its struct is parsed."""

    message: Scanned

    def locate(self, field: Field) -> Any:
        """The values that the scan found for the field."""
        found = self.message.found.get(field.tag)
        if not found and field.optional:  # an empty packed list counts as absent
            return MISSING
        if isinstance(field.subcon, Repeated | Map):
            return Occurrences(next(list.__iter__(found)).start if found else self.message.start, found or ())
        if found is None:  # a conditional field, which `require` does not check
            raise self.message.lacks(field.name, field.tag)
        return found

    def offset(self, stream: Any) -> int:
        """The offset of the value's content, after tag and length."""
        return int(stream.start)

    def close(self) -> None:
        """Nothing to do: unknown fields are allowed."""


@dataclass(frozen=True, eq=False)
class MessageForm:
    """Protobuf: fields by number. Opens a message that fills the cursor's region, or one that a scan has found."""

    _schemas: dict[WireStruct, Schema] = field(default_factory=dict, repr=False)
    _numbers: dict[WireStruct, "array[int]"] = field(default_factory=dict, repr=False)

    def open(self, struct: WireStruct, stream: Cursor | Scanned, scope: Container) -> Source:
        """Open a message; the outermost one is scanned first, with all inner ones, and checked for required fields."""
        if isinstance(stream, Scanned):
            return _Opened(stream)
        schema, message = self.schema(struct), Scanned(stream.tell())
        self.scan(stream.getvalue(), message, schema, self._holes(struct, stream, scope), scope).add(
            stream.tell(), stream.limit
        )
        require(schema, message)
        stream.seek(stream.limit)
        return _Opened(message)

    def scan(self, data: bytes, message: Scanned, schema: Schema, holes: Holes, scope: Container) -> Scan:
        """The scan of the outermost message."""
        return Scan(data, message, schema, 0, holes)

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[Field]) -> Sink:
        """The message that the stream opens, with its tables."""
        return Draft(stream.open(), struct.fields, stream.tables, scope)

    def schema(self, struct: WireStruct) -> Schema:
        """The rules of the struct's fields for a scan."""
        if struct not in self._schemas:
            self._schemas[struct] = {step.tag: _rule(step, _rivals(step, struct)) for step in struct.fields}
        return self._schemas[struct]

    def _holes(self, struct: WireStruct, stream: Cursor, scope: Container) -> Holes:
        """The elements that the scan of a message may skip, see `Checkpoints.holes`."""
        checkpoints = scope._params.get("_checkpoints")
        if checkpoints is None:
            return {}
        words = self._words(struct, self.schema(struct))
        found: Holes = checkpoints.holes(stream.getvalue(), stream.tell(), stream.limit, words)
        return found

    def _words(self, struct: WireStruct, schema: Schema) -> "array[int]":
        if struct not in self._numbers:
            self._numbers[struct] = words_of(schema)
        return self._numbers[struct]


def _rivals(step: Field, struct: WireStruct) -> tuple[int, ...]:
    """The numbers of the other fields of its oneof."""
    return tuple(other.tag for other in struct.fields if step.one_of == other.one_of != "" and other.tag != step.tag)


def _rule(step: Field, rivals: tuple[int, ...]) -> Rule:
    if isinstance(step.subcon, Map):
        entry = step.subcon.schema
        return Rule(step.name, LENGTH, repeated=True, message=lambda: entry, whole=True)
    repeated = isinstance(step.subcon, Repeated)
    element = step.subcon.elements.element if repeated else step.subcon
    element = element.subcon if isinstance(element, Held) else element
    required = not (repeated or step.optional or step.when is not None)
    message = GROUP if step.group else LENGTH
    rule = _plain_rule(step.name, element, message, repeated=repeated, required=required, rivals=rivals)
    return replace(rule, whole=repeated and step.subcon.elements.is_whole)


def _plain_rule(  # noqa: PLR0913 - the fields of a rule
    name: str,
    element: Any,
    message: int = LENGTH,
    *,
    repeated: bool = False,
    required: bool = False,
    rivals: tuple[int, ...] = (),
) -> Rule:
    """The rule of a scalar, or of a message of that wire type."""
    if isinstance(element, _Scalar):
        return Rule(name, element.wire_type, repeated, required, rivals=rivals, pieces=element.pieces)
    return Rule(name, message, repeated, required, lambda: _schema_of(element), rivals)


def _schema_of(message: Struct | Deferred) -> Schema:
    struct = _struct_of(message)
    return cast(MessageForm, struct.form).schema(struct)


def _struct_of(message: Struct | Deferred) -> Struct:
    struct: Struct = message.target() if isinstance(message, Deferred) else message
    return struct


class Body(bodies.Around, construct.Construct):
    """A protobuf message that fills a region of binary data: the construct between the two encodings.

    `descriptor_set` is the serialised FileDescriptorSet that building needs, `message` the message's full name in it.
    """

    def __init__(self, struct: Struct | Deferred, descriptor_set: bytes, message: str) -> None:
        super().__init__()
        self.subcon, self.descriptor_set, self.message = struct, descriptor_set, message

    @cached_property
    def struct(self) -> Struct:
        """The struct of the message."""
        return _struct_of(self.subcon)

    @cached_property
    def _class(self) -> Any:
        return message_class(self.descriptor_set, self.message)

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.struct._parse(stream, context, path)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        message = self._class()
        self.struct._build(obj, Root(message), context, path)
        stream.write(serialized(message))
        return obj


# --- fields --------------------------------------------------------------------------------------------------------


class _Scalar(construct.Construct):
    """A field with one value: `decode` gives the Python value, `encode` the value for protobuf's library."""

    wire_type = VARINT
    nothing: Any = 0
    """The value that a map entry has by default."""
    pieces: bool = False

    def decode(self, found: Occurrence, context: Container) -> Any:
        """The Python value; raises DecodeError."""
        raise NotImplementedError

    def lacking(self, start: int, context: Container) -> Any:
        """The default value of a map entry that begins at `start`."""
        return self.nothing

    def encode(self, obj: Any, context: Container) -> Any:
        """The value for the protobuf library; raises EncodeError."""
        raise NotImplementedError

    def _parse(self, stream: Occurrence, context: Container, path: str) -> Any:
        return self.decode(stream, context)

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        stream.put(self.encode(stream.meant(obj, context), context))
        return obj


class Integer(_Scalar):
    """An integer of 32 bits on the wire if `bits` is at most that, else of 64; excess bits are cut off, as in protobuf.

    A wire value that `bits` cannot hold is `int_range`.
    """

    def __init__(self, bits: int, *, signed: bool, wire: Literal["varint", "zigzag", "fixed"] = "varint") -> None:
        super().__init__()
        self.bits, self.signed, self.wire = bits, signed, wire
        self.low, self.high = integer_range(bits, signed=signed)
        self.width = _NARROW if bits <= _NARROW else 64
        if wire == "fixed":
            self.wire_type = FIXED32 if self.width == _NARROW else FIXED64

    def decode(self, found: Occurrence, context: Container) -> int:
        """The number; `int_range` if it does not fit in `bits`."""
        raw = found.value if isinstance(found.value, int) else int.from_bytes(found.value, "little")
        number = self._number(raw & ((1 << self.width) - 1))
        if not self.low <= number <= self.high:
            raise DecodeError(
                "int_range", offset=found.start, expected=f"{self.low} .. {self.high}", actual=shown(number)
            )
        return number

    def _number(self, raw: int) -> int:
        if self.wire == "zigzag":
            return leb128.from_zigzag(raw)
        return raw - (1 << self.width) if self.signed and raw >> (self.width - 1) else raw

    def encode(self, obj: Any, context: Container) -> int:
        """The number, if it fits."""
        return checked_integer(obj, self.bits, signed=self.signed)


class Float(_Scalar):
    """An IEEE 754 number of 32 or 64 bits."""

    placeholder = 0.0

    nothing = 0.0

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits
        self.wire_format, self.wire_type = ("<f", FIXED32) if bits == _NARROW else ("<d", FIXED64)

    def decode(self, found: Occurrence, context: Container) -> float:
        """The number."""
        number: float = _struct.unpack(self.wire_format, found.value)[0]
        return number

    def encode(self, obj: Any, context: Container) -> float:
        """The number, if it fits."""
        if not isinstance(obj, int | float) or isinstance(obj, bool):
            raise EncodeError("a number", shown(obj))
        try:
            _struct.pack(self.wire_format, float(obj))
        except OverflowError:
            raise EncodeError(f"a number that {self.bits} bits can hold", shown(obj)) from None
        return float(obj)


class Boolean(_Scalar):
    """true or false; any number but 0 is true."""

    placeholder = False

    nothing = False

    def decode(self, found: Occurrence, context: Container) -> bool:
        """Whether the number is not 0."""
        return bool(found.value)

    def encode(self, obj: Any, context: Container) -> bool:
        """The value itself."""
        if not isinstance(obj, bool):
            raise EncodeError("true or false", shown(obj))
        return obj


class Text(_Scalar):
    """Text; it must be UTF-8, although proto2 does not require that.

    Other bytes are `invalid_utf8`, unless the `invalid` parameter says `replace`.
    """

    placeholder = ""

    wire_type = LENGTH
    nothing = ""

    def __init__(self, *, invalid: Expression | None = None) -> None:
        super().__init__()
        self.invalid = invalid

    def decode(self, found: Occurrence, context: Container) -> str:
        """The text."""
        return text_of(found.value, found.start, self.invalid, context)

    def encode(self, obj: Any, context: Container) -> str:
        """The text, if it can be encoded as UTF-8."""
        return encoded_text(obj).decode("utf-8")


class Bytes(_Scalar):
    """Bytes; `size` of them if it is given (else `code`); with a `charset`, they must be text in it.

    With `pieces`, a message that is kept as bytes may be split over several occurrences, which are concatenated.
    """

    placeholder = b""

    wire_type = LENGTH

    def __init__(
        self,
        size: int | Expression | None = None,
        code: str = "bad_size",
        *,
        charset: str = "",
        pieces: bool = False,
    ) -> None:
        super().__init__()
        self.size, self.code, self.charset, self.pieces = size, code, charset, pieces

    def _size(self, context: Container) -> Any:
        return self.size if self.size is None or isinstance(self.size, int) else evaluate(self.size, context)

    def decode(self, found: Occurrence, context: Container) -> bytes:
        """The bytes."""
        return self._held(bytes(found.value), found.start, context)

    def lacking(self, start: int, context: Container) -> bytes:
        """Empty bytes, if that size is allowed."""
        return self._held(b"", start, context)

    def _held(self, data: bytes, start: int, context: Container) -> bytes:
        """The bytes, after checking their size and character set."""
        size = self._size(context)
        if size is not None and len(data) != size:
            raise DecodeError(self.code, offset=start, expected=f"{size} bytes", actual=f"{len(data)} bytes")
        return in_charset(data, start, self.charset) if self.charset else data

    def encode(self, obj: Any, context: Container) -> bytes:
        """The bytes, if they have the right size."""
        if not isinstance(obj, bytes | bytearray | memoryview):
            raise EncodeError("bytes", shown(obj))
        data, size = bytes(obj), self._size(context)
        if size is not None and len(data) != size:
            raise EncodeError(f"{size} bytes", f"{len(data)} bytes")
        return data


class Carried(_Scalar):
    """A struct of another encoding, in the bytes of the field."""

    wire_type = LENGTH

    def __init__(self, subcon: Any) -> None:
        super().__init__()
        self.body = bodies.Body(subcon)
        self.titles, self.accepts = self.body.titles, self.body.accepts
        self.takes, self.visible_members = self.body.takes, self.body.visible_members

    def decode(self, found: Occurrence, context: Container) -> Any:
        """The record."""
        return self.body.parse(bytes(found.value), found.start, context)

    def lacking(self, start: int, context: Container) -> Any:
        """The record of empty bytes."""
        return self.body.parse(b"", start, context)

    def encode(self, obj: Any, context: Container) -> bytes:
        """The record's bytes."""
        return self.body.build(obj, context)


class Repeated(construct.Construct):
    """A field that may occur any number of times; numbers may be packed. A list; null is built as an empty one."""

    of_null = ()

    def __init__(
        self,
        element: Any,
        *,
        unique: str = "",
        unique_code: str = "duplicate_element",
        salvage: Salvage | None = None,
    ) -> None:
        super().__init__()
        self.elements = Elements(element, unique, unique_code, salvage)

    def _parse(self, stream: Occurrences, context: Container, path: str) -> list[Any]:
        if isinstance(stream.items, list):
            return self.elements.parse_nodes(stream.items, context, stream.start)
        return self.elements.parse(stream.items, context, len(stream.items))

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if obj is not None:
            self.elements.build(obj, stream.elements(), context)
        return obj


class Entries(OfEntries, Repeated):
    """A repeated field of messages that are the entries of a map."""

    of_null = Pairs()  # type: ignore[assignment]


class Map(construct.Construct):
    """Entries of a key (field 1) and a value (field 2), as `Pairs`.

    Of entries with the same key the last one counts, at the position of the first, as in protobuf's own readers. A
    missing key or value is the type's default: 0, empty, or a message without fields. Null is built as an empty map.
    """

    of_null = Pairs()

    def __init__(self, key: _Scalar, value: _Scalar | Struct | Deferred, *, keys: Keys | None = None) -> None:
        super().__init__()
        self.key, self.value, self.keys = key, value, keys

    @cached_property
    def schema(self) -> Schema:
        """The rules of an entry for a scan."""
        return {_KEY: _plain_rule("key", self.key), _VALUE: _plain_rule("value", self.value)}

    def _parse(self, stream: Occurrences, context: Container, path: str) -> Pairs:
        entries = dict[Any, tuple[Any, Any]]()
        for index, entry in enumerate(stream.items):
            assert isinstance(entry, Scanned)
            try:
                key = self._half(entry, _KEY, context)
                if self.keys is not None:
                    self.keys.hold(key, entry.start)
                value = self._half(entry, _VALUE, context)
            except DecodeError as error:
                raise error.at(index) from None
            entries[type(key), key] = key, value
        return Pairs(entries.values())

    def _half(self, entry: Scanned, number: int, context: Container) -> Any:
        subcon, found = self.key if number == _KEY else self.value, entry.found.get(number)
        if isinstance(subcon, _Scalar):
            return subcon.lacking(entry.start, context) if found is None else subcon.decode(found, context)
        if found is None:
            found = Scanned(entry.start)
            require(_schema_of(subcon), found)
        return subcon._parse(found, context, "")

    def _build(self, obj: Any, stream: Slot, context: Container, path: str) -> Any:
        if not isinstance(obj, Pairs | Mapping | None):
            raise EncodeError("a map (a dict, or `Pairs` of wireloom.runtime.values)", shown(obj))
        entries = list(obj.items() if isinstance(obj, Mapping) else obj or ())
        for index, ((key, value), (first, second)) in enumerate(zip(entries, stream.entries(), strict=False)):
            try:
                self.key._build(key, first, context, "")
                self.value._build(value, second, context, "")
            except EncodeError as error:
                raise error.at(index) from None
        return obj
