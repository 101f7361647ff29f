"""The named types of a format, resolved."""

from wireloom.model.types import Type
from wireloom.resolve.draft import Draft, TypeForm
from wireloom.resolve.outline import Outlines
from wireloom.resolve.scopes import Scope
from wireloom.resolve.structs import struct_of
from wireloom.resolve.types import Surroundings, attempt_of, one_of_of, select_of, type_of_text
from wireloom.spec.documents import Place
from wireloom.spec.language import AttemptType, OneOfType, SelectType, StructType


def named_types(draft: Draft, outlines: Outlines) -> tuple[tuple[str, Type], ...]:
    """Every named type, in the order of the spec."""
    return tuple(
        (name, _type(draft, outlines, draft.place / "types" / name, name, form))
        for name, form in draft.content.types.items()
    )


def _type(draft: Draft, outlines: Outlines, place: Place, name: str, form: TypeForm) -> Type:
    around = Surroundings(Scope(draft, outlines, name), outlines.encodings[name])
    match form:
        case str():
            return type_of_text(around, place, form)
        case SelectType():
            return select_of(around, place, form)
        case OneOfType():
            return one_of_of(around, place, form, open=name in outlines.recursive)
        case AttemptType():
            return attempt_of(around, place, form)
        case StructType():
            return struct_of(around, place, name, form)
