"""Values of JSON texts."""

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
        """Bytes, as base64 in a string."""
        line_feeds = "True" if type.line_feeds else None
        return self.call("Base64", size, code=refusal(type, size), line_feeds=line_feeds)

    def array(self, name: str, each: Elements) -> Code:
        """An array; the document limits how deep its values nest."""
        return self.call(name, each.element, **each.unique, open="True" if each.depth else None)

    def map(self, key: Code, value: Code, **keywords: Code | None) -> Code:  # noqa: ARG002 - they are texts
        """An object."""
        return self.call("Map", value, open="True" if keywords["depth"] else None, keys=keywords["keys"])

    def body(self, declared: Code, message: str, depth: int) -> Code:  # noqa: ARG002 - that is of messages
        """A text within the bytes of others."""
        return self.call("Body", declared, depth="DEPTH", structural_depth=str(depth))

    def record(self, declared: Code, depth: int) -> Code:
        """The text of a record."""
        return self.call("Document", declared, depth="DEPTH", structural_depth=str(depth))
