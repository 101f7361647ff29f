"""Construct declarations of JSON texts."""

from collections.abc import Mapping

from wireloom.emit.code import Code
from wireloom.emit.construct.encodings.base import Elements, Parsers, refusal
from wireloom.encodings import Form
from wireloom.model.types import Bytes


class Json(Parsers):
    """Structs are objects or arrays; the text of a record is parsed as a whole."""

    containers: Mapping[Form, str] = {Form.ARRAY: "Positions", Form.OBJECT: "Object"}
    any_width = True

    def bytes(self, type: Bytes, size: Code | None) -> Code:
        """Declare bytes, which are base64 strings."""
        line_feeds = "True" if type.line_feeds else None
        return self.call("Base64", size, code=refusal(type, size), line_feeds=line_feeds)

    def array(self, name: str, each: Elements) -> Code:
        """Declare an array; the document limits the nesting of open values."""
        return self.call(name, each.element, **each.unique, open="True" if each.depth else None)

    def map(self, key: Code, value: Code, **keywords: Code | None) -> Code:  # noqa: ARG002 - keys are always texts
        """Declare a map, which is an object."""
        return self.call("Map", value, open="True" if keywords["depth"] else None, keys=keywords["keys"])

    def body(self, declared: Code, message: str, depth: int) -> Code:  # noqa: ARG002 - only for protobuf
        """Declare a JSON text inside of another encoding."""
        return self.call("Body", declared, depth="DEPTH", structural_depth=str(depth))

    def record(self, declared: Code, depth: int) -> Code:
        """Declare a record, which is one JSON text."""
        return self.call("Document", declared, depth="DEPTH", structural_depth=str(depth))
