"""Regions whose bytes are compressed, or are the text of other bytes."""

from wireloom.expr.ast import Position, references
from wireloom.model.traversal import parts
from wireloom.model.types import Array, Bytes, Last, Packing, Terminator, Text, Type, stated
from wireloom.resolve.types import Surroundings, chosen_by
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument


def packing_of(around: Surroundings, place: Place, document: FieldDocument, type: Type) -> Packing | None:
    """What a field says of the bytes of its region."""
    if document.unpack is None:
        return None
    if _looks_at_positions(type):
        message = "positions are those of the bytes around, which are others than those that come"
        around.reports(place, "wrong-shape", message, "put the type into a struct, where they are those of the struct")
    code = document.else_ or ""
    if isinstance(document.unpack, str):
        return Packing((((), document.unpack),), code=code)
    tag, cases = chosen_by(around, place, document.unpack.select, document.unpack.cases)
    return Packing(cases, tag, code, document.unpack.else_ or "unknown_case")


def _looks_at_positions(type: Type) -> bool:
    """Whether an amount outside of structs looks at where it stands."""
    match type:
        case Text(size=amount) | Bytes(size=amount) | Array(count=amount) if not isinstance(amount, Last | Terminator):
            expression = stated(amount)
            if expression is not None and any(isinstance(part, Position) for part in references(expression)):
                return True
        case _:
            pass
    return any(_looks_at_positions(part) for part in parts(type))
