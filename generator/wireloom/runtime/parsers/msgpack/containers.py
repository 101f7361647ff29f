"""MessagePack containers by schema: arrays of elements of one type, and maps with unique keys.

A count is compared with the remaining bytes before anything is allocated. Containers of open values count their depth.
"""

from collections.abc import Mapping
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.parsers.elements import Elements
from wireloom.runtime.parsers.entries import pairs_of, records_of
from wireloom.runtime.parsers.fields import Keys
from wireloom.runtime.parsers.msgpack.heads import Head, check_count, family_at, read_head
from wireloom.runtime.parsers.msgpack.identity import identity_of
from wireloom.runtime.parsers.msgpack.open_bytes import kept, write_kept
from wireloom.runtime.parsers.msgpack.scalars import PACKER
from wireloom.runtime.parsers.protocol import Expression, evaluate
from wireloom.runtime.values import OpenBytes, Pairs


class _Nested:
    """Counts how deep containers of open values are nested."""

    def __init__(self, depth: int | Expression | None) -> None:
        self.depth = depth

    def enter(self, cursor: Cursor, head: Head, context: Container) -> None:
        """Go one level deeper; `depth_limit` above the limit."""
        if self.depth is None:
            return
        limit = self.depth if isinstance(self.depth, int) else evaluate(self.depth, context)
        if cursor.depth >= limit:
            raise DecodeError(
                "depth_limit", offset=head.start, expected=f"at most {limit} nested containers", actual="a deeper one"
            )
        cursor.depth += 1

    def leave(self, cursor: Cursor) -> None:
        """Go one level up."""
        if self.depth is not None:
            cursor.depth -= 1

    def holds(self, obj: object, family: str) -> bool:
        """Whether `obj` is an open value, as bytes, of the family."""
        return self.depth is not None and isinstance(obj, OpenBytes) and _family_of(obj) == family


def _family_of(kept: OpenBytes) -> str:
    """The family of the first byte; empty if it is invalid or missing."""
    return family_at(Cursor(kept.data))[0] if kept.data[:1].strip(b"\xc1") else ""


class Array(construct.Construct):
    """The array family, elements of one type. `depth` limits the nesting of open values."""

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
        """The elements after their head."""
        if self.nested.depth is None:
            return self._elements(stream, head, context)
        return kept(stream, head.start, lambda: self._elements(stream, head, context))

    def _elements(self, stream: Any, head: Head, context: Container) -> list[Any]:
        self.nested.enter(stream, head, context)
        check_count(stream, head, 1)
        streams = (stream for _ in range(head.number))
        elements = self.elements.parse_at(stream, streams, context, head.number)
        self.nested.leave(stream)
        return elements

    def fits(self, obj: object) -> bool:
        """Whether a Python value belongs to this family."""
        return (isinstance(obj, list | tuple) and not isinstance(obj, Pairs)) or self.nested.holds(obj, self.family)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.nested.holds(obj, self.family):
            write_kept(self, obj, stream, context)
            return obj
        if not self.fits(obj):
            raise EncodeError("a list", shown(obj))
        stream.write(PACKER.pack_array_header(len(obj)))
        self.elements.build(obj, iter(lambda: stream, None), context)
        return obj


class Entries(Array):
    """An array of records that are the entries of a map."""

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The entries after their head."""
        return pairs_of(super().parse_head(stream, head, context))

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        super()._build(records_of(obj), stream, context, path)
        return obj


class Map(construct.Construct):
    """The map family as ordered pairs; equal keys (whatever their width) are `duplicate_key`."""

    family = "map"

    def __init__(
        self, key: Any, value: Any, *, depth: int | Expression | None = None, keys: Keys | None = None
    ) -> None:
        super().__init__()
        self.key, self.value, self.keys = key, value, keys
        self.nested = _Nested(depth)

    def _parse(self, stream: Any, context: Container, path: str) -> Any:
        return self.parse_head(stream, read_head(stream, ("map",)), context)

    def parse_head(self, stream: Any, head: Head, context: Container) -> Any:
        """The entries after their head."""
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
        identity = identity_of(key, stream)
        if identity in seen:
            raise DecodeError("duplicate_key", offset=start, expected="another key", actual=f"{shown(key)} again")
        seen.add(identity)
        if self.keys is not None:
            self.keys.hold(key, start)
        return key, self.value._parse(stream, context, "")

    def fits(self, obj: object) -> bool:
        """Whether a Python value belongs to this family."""
        return isinstance(obj, Pairs | dict) or self.nested.holds(obj, self.family)

    def _build(self, obj: Any, stream: Any, context: Container, path: str) -> Any:
        if self.nested.holds(obj, self.family):
            write_kept(self, obj, stream, context)
            return obj
        if not self.fits(obj):
            raise EncodeError("a map (a dict, or `Pairs` of wireloom.runtime.values)", shown(obj))
        entries = list(obj.items() if isinstance(obj, Mapping) else obj)
        stream.write(PACKER.pack_map_header(len(entries)))
        for index, (key, value) in enumerate(entries):
            try:
                self.key._build(key, stream, context, path)
                self.value._build(value, stream, context, path)
            except EncodeError as error:
                raise error.at(index) from None
        return obj
