"""Values of MessagePack."""

from collections.abc import Mapping

from wireloom.emit.construct.encodings.base import Parsers
from wireloom.encodings import Form


class Msgpack(Parsers):
    """Structs are arrays, or maps with names as keys."""

    containers: Mapping[Form, str] = {Form.ARRAY: "Positional", Form.OBJECT: "Members"}
    any_width = True
