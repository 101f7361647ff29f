"""Construct declarations of MessagePack values."""

from collections.abc import Mapping

from wireloom.emit.construct.encodings.base import Parsers
from wireloom.encodings import Form


class Msgpack(Parsers):
    """Structs are arrays, or maps with the members' names as keys."""

    containers: Mapping[Form, str] = {Form.ARRAY: "Positional", Form.OBJECT: "Members"}
    any_width = True
