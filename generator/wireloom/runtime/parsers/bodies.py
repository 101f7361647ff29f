"""Values of another encoding inside bytes, such as a MessagePack bin or protobuf bytes."""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError


class Around:
    """A wrapper of a struct, in `subcon`, that answers questions about members as the struct does."""

    subcon: Any

    @property
    def struct(self) -> Any:
        """The struct inside all wrappers."""
        subcon = self.subcon
        while not hasattr(subcon, "titles") and hasattr(subcon, "subcon"):
            subcon = subcon.subcon
        return subcon

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """The readers' names of the struct's members."""
        yield from self.struct.titles(hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether `value` can be the struct's value."""
        return bool(self.struct.accepts(value, context))

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether the struct has a place for each member of `value`, and `value` has all required members."""
        return bool(self.struct.takes(value))

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """The members of `value` as expressions see them."""
        found: Mapping[str, Any] = self.struct.visible_members(value, context)
        return found


class Body(Around):
    """A struct in bytes of its own: `parse` reads all of them, `build` returns them."""

    def __init__(self, subcon: Any) -> None:
        self.subcon = subcon

    def parse(self, data: bytes, start: int, context: Container) -> Any:
        """The value of bytes at offset `start` of the record; errors have offsets in the record."""
        cursor = Cursor(data)
        cursor.overrun = "bad_region"
        cursor.keeps_open = context._params.get("_keeps_open", False)
        try:
            with cursor.region(len(data), "bad_region"):
                return self.subcon._parse(cursor, context, "")
        except DecodeError as error:
            error.offset, error.cut_off, error.frame_end, error.frame_size = error.offset + start, False, None, None
            raise

    def build(self, value: Any, context: Container) -> bytes:
        """The bytes of the value."""
        body = io.BytesIO()
        self.subcon._build(value, body, context, "")
        return body.getvalue()
