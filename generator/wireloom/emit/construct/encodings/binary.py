"""Values of binary structs."""

from wireloom.emit.code import Code, literal
from wireloom.emit.construct.encodings.base import Elements, Parsers
from wireloom.model.types import Bytes, Integer, Markers


class Binary(Parsers):
    """Numbers with a byte order, sizes and counts; values have no heads or tags."""

    def integer(self, type: Integer, order: Code | None, **keywords: Code | None) -> Code:
        """An integer in its form."""
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
        """Bytes of a size, or all that are left."""
        if type.filler:
            return self.call("Filler", size)
        return self.call("Bytes", size, charset=literal(type.charset) if type.charset else None)

    def array(self, name: str, each: Elements) -> Code:
        """So many elements, or as many as there are bytes for."""
        return self.call(name, each.element, each.count, **each.unique)

    def nullable(self, inner: Code) -> Code:
        """The value itself: its size shows whether it is null."""
        return inner

    def carried(self, body: Code) -> Code:
        """The struct itself: its field gives its bytes."""
        return body
