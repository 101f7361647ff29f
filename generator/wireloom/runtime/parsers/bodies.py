"""Bodies of another encoding that stand as the bytes of a value: a MessagePack bin, the bytes of protobuf."""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError


class Around:
    """What can stand where the struct in its `subcon` can: asked for members, it answers as that struct does."""

    subcon: Any

    @property
    def struct(self) -> Any:
        """The struct, whatever else stands around it."""
        subcon = self.subcon
        while not hasattr(subcon, "titles") and hasattr(subcon, "subcon"):
            subcon = subcon.subcon
        return subcon

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """What readers call the members of the struct."""
        yield from self.struct.titles(hidden=hidden)

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether `value` can be the struct."""
        return bool(self.struct.accepts(value, context))

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether there is a place for each member of `value`, and it has what cannot be done without."""
        return bool(self.struct.takes(value))

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """What expressions see of the members of `value`."""
        found: Mapping[str, Any] = self.struct.visible_members(value, context)
        return found


class Body(Around):
    """The body: `parse` reads all of some bytes that stand at an offset of the record, `build` gives them."""

    def __init__(self, subcon: Any) -> None:
        self.subcon = subcon

    def parse(self, data: bytes, start: int, context: Container) -> Any:
        """The value; errors have their places in the record."""
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
        """The bytes that say the value."""
        body = io.BytesIO()
        self.subcon._build(value, body, context, "")
        return body.getvalue()
