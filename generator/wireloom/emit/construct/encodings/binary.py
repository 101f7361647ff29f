"""Construct declarations of binary structs."""

from wireloom.emit.code import Code, literal
from wireloom.emit.construct.encodings.base import Elements, Parsers
from wireloom.model.types import Bytes, Integer, Markers


class Binary(Parsers):
    """Values without headers or tags; numbers have a byte order, and sizes and counts are declared."""

    def integer(self, type: Integer, order: Code | None, **keywords: Code | None) -> Code:
        """Declare an integer in its form."""
        signed = str(type.signed)
        match type:
            case Integer(markers=Markers(first, widths)):
                return self.call("Extended", str(first), literal(widths), order=order)
            case Integer(ending=bytes(ending)) if ending:
                return self.call("Digits", literal(type.form.value), literal(ending), signed=signed)
            case Integer(bits=bits, digits=digits) if not type.is_plain:
                stated = str(digits) if digits else None
                return self.call("Numeral", literal(type.form.value), str(bits), signed=signed, digits=stated)
            case _:
                return super().integer(type, order, **keywords)

    def bytes(self, type: Bytes, size: Code | None) -> Code:
        """Declare bytes of a size, or all remaining bytes."""
        if type.filler:
            return self.call("Filler", size)
        return self.call("Bytes", size, charset=literal(type.charset) if type.charset else None)

    def array(self, name: str, each: Elements) -> Code:
        """Declare a list with a count, or one that fills its region."""
        return self.call(name, each.element, each.count, **each.unique)

    def nullable(self, inner: Code) -> Code:
        """Declare the value alone, since its size tells whether it is null."""
        return inner

    def carried(self, body: Code) -> Code:
        """Declare the struct alone, since its field delimits its bytes."""
        return body
