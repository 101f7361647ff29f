"""What a field says of each element of its list: a range, values and what they mean, how texts are spelled."""

from dataclasses import replace

from wireloom.expr.ast import Literal
from wireloom.model.types import Array, Held, Map, Mapping, Nullable, Type, not_null
from wireloom.resolve.types import Surroundings
from wireloom.spec.documents import Place
from wireloom.spec.language import FieldDocument

KEYS = ("values", "range", "length", "pattern")


def single_of(type: Type) -> Type:
    """The type of the innermost elements of a list; the type itself where it is no list, or one of maps."""
    inner = not_null(type)
    if not isinstance(inner, Array):
        return type
    found = single_of(inner.element)
    return type if isinstance(not_null(found), Map) else found


def check(
    around: Surroundings, place: Place, document: FieldDocument, element: Type, mappings: tuple[Mapping, ...] | None
) -> None:
    """Report what cannot be said of elements."""
    for key in sorted(document.given & {*KEYS}) if Array(element).packed else ():
        message, hint = f"`{key}` of elements that share their bytes", f"drop `{key}`, or give them whole bytes"
        around.scope.draft.reports_entry(place / key, "wrong-shape", message, hint)
    if mappings is None:
        return
    report = around.scope.draft.reports_entry
    if isinstance(element, Nullable):
        message, hint = "elements that may be null have no values", "drop the `?`, or make each element a struct"
        report(place / "values", "wrong-shape", message, hint)
    if any(not isinstance(each.value, Literal) for each in mappings):
        message, hint = "what an element means is computed", "compute it in a struct that is the element"
        report(place / "values", "wrong-shape", message, hint)


def holding(type: Type, held: Held) -> Type:
    """The list, with what its innermost elements are held against; itself where that is nothing."""
    return type if held == Held(held.code) else _with(type, held)


def _with(type: Type, held: Held) -> Type:
    match type:
        case Nullable(inner):
            return Nullable(_with(inner, held))
        case Array(element=element) if isinstance(not_null(element), Array):
            return replace(type, element=_with(element, held))
        case Array():
            return replace(type, held=held)
        case _:
            return type
