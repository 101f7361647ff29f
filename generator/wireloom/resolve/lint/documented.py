"""The columns that readers see, with the fields of the spec that they come from."""

from collections.abc import Iterator
from dataclasses import dataclass

from wireloom.model.format import Format
from wireloom.model.traversal import columns as within
from wireloom.runtime.columns.logical import LogicalField, Record
from wireloom.spec import Document
from wireloom.spec.documents import Place
from wireloom.spec.language import Bits, FieldDocument, FormatDocument, StructType


@dataclass(frozen=True, slots=True)
class Column:
    """A field that readers see, the name of its struct's type, and its document."""

    place: Place
    type: str
    name: str
    field: FieldDocument | Bits | str

    @property
    def doc(self) -> str:
        """The documentation; empty if there is none."""
        return "" if isinstance(self.field, str) else self.field.doc


def records(format: Format) -> Iterator[tuple[LogicalField, ...]]:
    """The columns of every record that readers see, at any depth."""
    for root in format.roots:
        for _, type in within(root.logical):
            if isinstance(type, Record):
                yield type.fields


def columns(document: Document, content: FormatDocument) -> Iterator[Column]:
    """Every visible field of every struct, and every visible bit field."""
    for type, form in content.types.items():
        if not isinstance(form, StructType):
            continue
        for number, entry in enumerate(form.fields):
            if entry.is_field:
                place = document.place / "types" / type / "fields" / number / entry.key
                yield from _columns(place, type, entry.key, entry.field)


def _columns(place: Place, type: str, name: str, field: FieldDocument | str) -> Iterator[Column]:
    if isinstance(field, str):
        yield Column(place, type, name, field)
        return
    if not field.hidden and not field.flatten:
        yield Column(place, type, field.as_ or name, field)
    for bit, form in (field.bits or {}).items():
        hidden = not isinstance(form, str | int) and form.hidden
        if not hidden:
            yield Column(place / "bits" / bit, type, bit, form if isinstance(form, Bits) else "")
