"""Open values as their wire bytes: kept if the cursor asks for them, and written unchanged.

In MessagePack these are the bytes with their widths; in JSON the text of the member's value without the white space
around it. The content is checked like any other value. Null stays null.
"""

from collections.abc import Callable
from typing import Any

import construct
from construct import Container

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError, EncodeError, amount
from wireloom.runtime.values import OpenBytes


def kept(cursor: Cursor, start: int, parse: Callable[[], Any]) -> Any:
    """The open value that begins at `start`, or its bytes if the cursor keeps them."""
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
    """Write the bytes of an open value, which must be exactly one value of `subcon`."""
    cursor = Cursor(value.data)
    try:
        subcon._parse(cursor, context, "")
    except DecodeError as error:
        raise EncodeError(error.expected or error.code, f"{error.actual} ({error.code})") from error
    if cursor.left:
        raise EncodeError("the bytes of one value", f"{amount(cursor.left)} more")
    stream.write(value.data)
