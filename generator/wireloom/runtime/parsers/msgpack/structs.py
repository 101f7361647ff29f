"""MessagePack structs: as arrays with one element for each field, or as maps whose members are found by name.

An array has its elements in the order of the spec; a map is read once to find its members. When the struct closes,
elements or members that no field used are refused, unless the spec allows others.
"""

import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.fields import Field, Sink, Source, WireStruct
from wireloom.runtime.parsers.msgpack.containers import Map
from wireloom.runtime.parsers.msgpack.heads import Head, check_count, pass_over, read_head, take_body
from wireloom.runtime.parsers.msgpack.scalars import PACKER
from wireloom.runtime.parsers.protocol import MISSING, Expression, evaluate
from wireloom.runtime.parsers.scalars import text_of
from wireloom.runtime.parsers.structure import StreamFields
from wireloom.runtime.values import OpenBytes, Pairs


@dataclass(frozen=True)
class Positional:
    """A struct as an array with one element per field, in order. The number of elements may tell the version."""

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> Source:
        """Check family and number of elements (`bad_arity`)."""
        head = read_head(stream, ("array",))
        arities = struct.arities
        if head.number not in arities:
            wanted = " or ".join(str(arity) for arity in sorted(arities))
            raise DecodeError(
                "bad_arity", offset=head.start, expected=f"an array of {wanted}", actual=f"an array of {head.number}"
            )
        if arities[head.number] is not None:
            scope._version = arities[head.number]
        check_count(stream, head, 1)
        if all(field.when is None and not field.optional for field in struct.fields):
            return StreamFields(stream)
        return _Elements(stream, head)

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[Field]) -> Sink:
        """Write the head, if the fields tell the number of elements."""
        if any(field.optional for field in fields):
            return _BuiltElements(stream, scope)
        stream.write(PACKER.pack_array_header(len(fields)))
        return StreamFields(stream)


class _Elements(StreamFields):
    """An array with one element for each present field; the last optional ones may be left out."""

    def __init__(self, stream: Any, head: Head) -> None:
        super().__init__(stream)
        self._head, self._located = head, 0

    def locate(self, field: Field) -> Any:
        """The stream, at the next element."""
        if self._located == self._head.number:
            if field.optional:
                return MISSING
            raise self._wrong(f"an array of {self._located + 1} or more")
        self._located += 1
        return super().locate(field)

    def close(self) -> None:
        """Check that no elements are left; absent fields have none."""
        if self._located != self._head.number:
            raise self._wrong(f"an array of {self._located}")

    def _wrong(self, expected: str) -> DecodeError:
        actual = f"an array of {self._head.number}"
        return DecodeError("bad_arity", offset=self._head.start, expected=expected, actual=actual)


class _BuiltElements:
    """An array while its struct is built; trailing elements without a value are left out."""

    def __init__(self, stream: Any, scope: Container) -> None:
        self.stream, self._scope = stream, scope
        self._placed: list[tuple[Field, io.BytesIO]] = []

    def place(self, field: Field) -> Any:
        """A buffer for the element."""
        buffer = io.BytesIO()
        self._placed.append((field, buffer))
        return buffer

    def close(self) -> None:
        """Write the elements up to the last one with a value; earlier ones without a value are filled."""
        while self._placed and not self._placed[-1][1].getvalue():
            self._placed.pop()
        self.stream.write(PACKER.pack_array_header(len(self._placed)))
        for field, buffer in self._placed:
            if not buffer.getvalue():
                field.fill(buffer, self._scope)
            self.stream.write(buffer.getvalue())


class _Found:
    """A map while its struct is parsed: the offset of each member's value, and which members fields have located."""

    def __init__(self, cursor: Cursor, head: Head, unknown: Expression | None, scope: Container) -> None:
        self.cursor, self.start, self._unknown, self._scope = cursor, head.start, unknown, scope
        self._keys: dict[str, int] = {}
        self._values: dict[str, int] = {}
        self._located: set[str] = set()
        for _ in range(head.number):
            self._enter()
        self._end = cursor.tell()

    def _enter(self) -> None:
        """Read the next entry; a repeated name is `duplicate_key`."""
        head = read_head(self.cursor, ("str",))
        body = take_body(self.cursor, head)
        name = text_of(body, self.cursor.tell() - len(body), None, self._scope)
        if name in self._keys:
            error = DecodeError("duplicate_key", offset=head.start, expected="another name", actual=f"{name} again")
            raise error.at(name)
        self._keys[name], self._values[name] = head.start, self.cursor.tell()
        pass_over(self.cursor)

    def locate(self, field: Field) -> Any:
        """The map's stream at the member's value, or the remaining members for a field that takes them."""
        if field.besides is not None:
            return self._rest(field.besides)
        name = field.key
        self._located.add(name)
        if name not in self._values:
            return MISSING
        self.cursor.seek(self._values[name])
        return self.cursor

    def _rest(self, besides: Collection[str]) -> "_Others":
        """The members except those named in `besides`."""
        names = [name for name in self._keys if name not in besides]
        self._located.update(names)
        members = tuple((name, self._keys[name], self._values[name]) for name in names)
        return _Others(self.cursor, self.start, members)

    def offset(self, stream: Any) -> int:
        """The offset of the value."""
        return int(stream.tell())

    def close(self) -> None:
        """Members that no field has located are `unexpected_property`, unless they are ignored."""
        self.cursor.seek(self._end)
        if self._unknown is not None and evaluate(self._unknown, self._scope) == "ignore":
            return
        for name, offset in self._keys.items():
            if name not in self._located:
                error = DecodeError("unexpected_property", offset=offset, expected="no such member", actual=name)
                raise error.at(name)


@dataclass(frozen=True, slots=True)
class _Others:
    """Members of a map: their names, and the offsets of names and values."""

    cursor: Cursor
    start: int
    members: tuple[tuple[str, int, int], ...]

    def tell(self) -> int:
        """The offset of the map."""
        return self.start


class _Built:
    """A map while its struct is built, with a buffer for each member's value."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._placed: list[tuple[str, io.BytesIO]] = []
        self._rest: io.BytesIO | None = None

    def place(self, field: Field) -> Any:
        """A buffer for the member's value, or for the map of the remaining members."""
        buffer = io.BytesIO()
        if field.besides is not None:
            self._rest = buffer
            return buffer
        self._placed.append((field.key, buffer))
        return buffer

    def close(self) -> None:
        """Write the members that have a value."""
        members = [(name, buffer.getvalue()) for name, buffer in self._placed if buffer.getvalue()]
        rest = Cursor(b"\x80" if self._rest is None else self._rest.getvalue())
        count = read_head(rest, ("map",)).number
        self.stream.write(PACKER.pack_map_header(len(members) + count))
        for name, data in members:
            self.stream.write(PACKER.pack(name) + data)
        self.stream.write(rest.take(rest.left))


class Rest(construct.Construct):
    """The members of a map except those named in `besides`, as a map, whose keys must not be these names."""

    of_null = Pairs()

    def __init__(self, map: Map, *besides: str) -> None:
        super().__init__()
        self.map, self.besides = map, frozenset(besides)

    def _parse(self, stream: _Others, context: Container, path: str) -> Any:
        cursor = stream.cursor
        if not (self.map.nested.depth is not None and cursor.keeps_open):
            return self._pairs(stream, context)[0]
        cursor.keeps_open = False
        try:
            pairs, ends = self._pairs(stream, context)
        finally:
            cursor.keeps_open = True
        data = PACKER.pack_map_header(len(pairs))
        for (_, key, _), end in zip(stream.members, ends, strict=True):
            cursor.seek(key)
            data += cursor.read(end - key)
        return OpenBytes(data, pairs)

    def _pairs(self, stream: _Others, context: Container) -> tuple[Pairs, list[int]]:
        """The members, and the end offsets of their values."""
        cursor, pairs, ends = stream.cursor, Pairs(), list[int]()
        self.map.nested.enter(cursor, Head("map", len(stream.members), stream.start), context)
        for index, (name, key, value) in enumerate(stream.members):
            cursor.seek(value)
            try:
                if self.map.keys is not None:
                    self.map.keys.hold(name, key)
                pairs.append((name, self.map.value._parse(cursor, context, "")))
            except DecodeError as error:
                raise error.at(index) from None
            ends.append(cursor.tell())
        self.map.nested.leave(cursor)
        return pairs, ends

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        buffer = io.BytesIO()
        self.map._build(self.of_null if obj is None else obj, buffer, context, path)
        cursor, seen = Cursor(buffer.getvalue()), set[str]()
        for index in range(read_head(cursor, ("map",)).number):
            name = take_body(cursor, read_head(cursor, ("str",))).decode()
            pass_over(cursor)
            if name in self.besides:
                raise EncodeError("a name that no other member has", shown(name)).at(index)
            if name in seen:
                raise EncodeError("another key", f"{shown(name)} again").at(index)
            seen.add(name)
        stream.write(buffer.getvalue())
        return obj


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
        """A map to fill."""
        return _Built(stream)
