"""Open values as the bytes that say them on the wire: read where a cursor keeps them, written as they are.

They are MessagePack bytes, with the widths of the wire, or the JSON text of a member's value without the white space
around it. What is within is checked as ever; null stays null.
"""

from collections.abc import Callable
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.values import OpenBytes


def kept(cursor: Cursor, start: int, parse: Callable[[], Any]) -> Any:
    """The open value that begins at `start`, as its bytes where the cursor keeps them."""
    if not cursor.keeps_open:
        return parse()
    cursor.keeps_open = False
    try:
        value = parse()
    finally:
        cursor.keeps_open = True
    if value is None:
        return None
    end = cursor.tell()
    cursor.seek(start)
    return OpenBytes(cursor.read(end - start), value)


def write_kept(subcon: construct.Construct, value: OpenBytes, stream: Any, context: Container) -> None:
    """Write the bytes of an open value, which must be one value of `subcon` and nothing else."""
    cursor = Cursor(value.data)
    try:
        subcon._parse(cursor, context, "")
    except DecodeError as error:
        raise EncodeError(error.expected or error.code, f"{error.actual} ({error.code})") from error
    if cursor.left:
        raise EncodeError("the bytes of one value", f"{cursor.left} bytes more")
    stream.write(value.data)
