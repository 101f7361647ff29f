"""Construct declarations of protobuf messages."""

from collections.abc import Mapping

from wireloom.emit.code import Code, literal
from wireloom.emit.construct.encodings.base import Elements, Parsers
from wireloom.encodings import Form
from wireloom.model.types import Integer, NumberForm

_FORMS = {form: form.value for form in NumberForm} | {NumberForm.OWN: "varint"}


class Protobuf(Parsers):
    """Structs are messages, and lists are repeated fields."""

    containers: Mapping[Form, str] = {Form.MESSAGE: "MessageForm"}
    has_bodies = True

    def integer(self, type: Integer, order: Code | None, **keywords: Code | None) -> Code:
        """Declare an integer with its wire form."""
        return super().integer(type, order, **keywords, wire=literal(_FORMS[type.form]))

    def array(self, name: str, each: Elements) -> Code:
        """Declare a repeated field."""
        return self.call("Repeated" if name == "Array" else name, each.element, **each.unique, salvage=each.salvage)

    def body(self, declared: Code, message: str, depth: int) -> Code:  # noqa: ARG002 - only for JSON
        """Declare a message, parsed by its descriptor."""
        return self.call("Body", declared, "descriptor.DESCRIPTOR_SET", literal(message))
