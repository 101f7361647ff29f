"""A format that is being resolved, with what every pass needs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import TypeAdapter

from wireloom.encodings import ENCODINGS, Encoding
from wireloom.expr.ast import Kind
from wireloom.model.format import Versions
from wireloom.problems import Problems, nearest
from wireloom.resolve.bind import notation
from wireloom.resolve.bind.poison import Poison
from wireloom.spec.documents import Document, Place
from wireloom.spec.language import (
    AttemptType,
    Entry,
    FormatDocument,
    NamedType,
    OneOfType,
    Parameter,
    SelectType,
    StructType,
)
from wireloom.spec.yaml import Node, plain

TypeForm = str | SelectType | OneOfType | AttemptType | StructType
_FORM: TypeAdapter[TypeForm] = TypeAdapter(NamedType)


@dataclass(frozen=True)
class Draft:
    """A format's document with its problems and warnings."""

    document: Document
    content: FormatDocument
    problems: Poison
    warnings: Problems
    lent: tuple[str, ...] = ()  # the types of the imported libraries
    versions: Versions | None = None  # those of the format

    @property
    def place(self) -> Place:
        """The whole document."""
        return self.document.place

    @property
    def encoding(self) -> Encoding:
        """The encoding of structs that do not state one."""
        return ENCODINGS[self.content.encoding]

    @cached_property
    def with_parameters(self) -> Mapping[str, str]:
        """Types with parameters: for each name the whole key, as in `Counted(T)`.

        The first key if a name has several.
        """
        return {key.partition("(")[0]: key for key in reversed(self.content.types) if "(" in key}

    @property
    def entries(self) -> Iterator[tuple[str, int, Entry]]:
        """The items of `fields` of all structs: the struct, the item's index, and the item."""
        types = self.content.types.items()
        return ((name, number, entry) for name, form in types for number, entry in enumerate(entries_of(form)))

    def place_of(self, struct: str, number: int, entry: Entry) -> Place:
        """The place of an item of `fields`."""
        return self.place / "types" / struct / "fields" / number / entry.key

    def struct_encoding(self, struct: StructType) -> Encoding:
        """The encoding of a struct."""
        return ENCODINGS[struct.encoding] if struct.encoding else self.encoding

    def rewritten(self, node: Node, content: Mapping[str, Any]) -> "Draft":
        """The format with another document node, and with the new contents of the node's changed keys."""
        whole = self.content.model_copy(update=content)
        return replace(self, document=replace(self.document, node=node, content=whole), content=whole)

    def reports(self, place: Place, id: str, message: str, hint: str = "", *, column: int = 0) -> None:
        """Report a problem at a value."""
        self.problems.add(place.problem(id, message, hint, column=column))

    def reports_entry(self, place: Place, id: str, message: str, hint: str = "") -> None:
        """Report a problem of a whole entry, located at its key."""
        self.problems.add_entry(place.key_problem(id, message, hint))

    def marks(self, place: Place) -> None:
        """Note that this place depends on something that is already reported elsewhere."""
        self.problems.marked.append(place.shown_path)

    def has_problem(self, place: Place) -> bool:
        """Whether a problem was reported at a place or below it."""
        path = place.shown_path
        return any(each.path == path or each.path.startswith((f"{path}.", f"{path}[")) for each in self.problems.found)

    def is_poisoned(self, place: Place) -> bool:
        """Whether a type or one of its steps has a problem, or depends on something that has one."""
        return self.problems.is_poisoned(place.shown_path)

    def warns(self, place: Place, id: str, message: str, hint: str = "") -> None:
        """Add a warning about a value."""
        self.warnings.add(place.problem(id, message, hint))

    def warns_entry(self, place: Place, id: str, message: str, hint: str = "") -> None:
        """Add a warning about a whole entry, located at its key."""
        self.warnings.add(place.key_problem(id, message, hint))


def parameter_named(draft: Draft, place: Place, name: str) -> Parameter | None:
    """The parameter with this name; reports an unknown name and returns None."""
    known = draft.content.parameters
    if name not in known:
        hint = nearest(name, known) or "declare it in `parameters`"
        draft.reports(place, "unknown-parameter", f"there is no parameter {name}", hint)
    return known.get(name)


def parameter_kind(parameter: Parameter) -> Kind:
    """The kind of a parameter's value."""
    if (parameter.one_of is None) == (parameter.type is None):
        return Kind.ANY  # contradictory keys
    return {"int": Kind.INTEGER, "bool": Kind.BOOLEAN, "range": Kind.RANGE}.get(parameter.type or "", Kind.TEXT)


def form_of(node: Node, origin: TypeForm | None = None) -> TypeForm:
    """The type form of a node; a struct made from a library's struct keeps the library's encoding and byte order."""
    form = _FORM.validate_python(plain(node))
    if isinstance(form, StructType) and isinstance(origin, StructType):
        return form.model_copy(update={"encoding": origin.encoding, "byte_order": origin.byte_order})
    return form


def entries_of(form: TypeForm | None) -> Sequence[Entry]:
    """The items of `fields` of a struct; empty for other types."""
    return form.fields if isinstance(form, StructType) else ()


def written(text: str, otherwise: Callable[[notation.NotationError], None] | None = None) -> notation.Notation | None:
    """Parse the text of a type; on an error, call `otherwise` and return None."""
    try:
        return notation.parse(text)
    except notation.NotationError as error:
        if otherwise is not None:
            otherwise(error)
        return None
