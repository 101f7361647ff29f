"""Spec files after reading: the checked document, and the position of each part in its file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from wireloom.problems import Location, Problem, Problems
from wireloom.spec.language import FormatDocument, LibraryDocument, SchemaDocument
from wireloom.spec.yaml import Node, Path, Scalar, ScalarNode, find, path_in_file, path_text

Content = FormatDocument | LibraryDocument | SchemaDocument
_Content = TypeVar("_Content", FormatDocument, LibraryDocument, SchemaDocument)


@dataclass(frozen=True, slots=True)
class Document:
    """One spec file; `path` is relative to the specs folder.

    `dropped` has the names that were removed because their definition has the wrong shape, or is None if the document
    is complete. `imported` are the libraries whose parts were copied into this document.
    """

    file: str
    path: str
    data: bytes
    node: Node
    content: Content
    dropped: frozenset[str] | None = None
    imported: tuple["Document", ...] = ()

    @property
    def place(self) -> "Place":
        """The whole document."""
        return Place(self, ())


@dataclass(frozen=True, slots=True)
class Documents:
    """All spec files that could be read, and the problems of the others.

    A file with mistakes is included without its faulty parts. `unread` names the schemas and libraries that have
    mistakes.
    """

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...] = ()
    unread: tuple[str, ...] = ()

    def formats(self) -> Iterator[tuple[Document, FormatDocument]]:
        """The formats."""
        return ((each, each.content) for each in self.documents if isinstance(each.content, FormatDocument))

    def without_outcomes(self) -> "Documents":
        """The same documents without the examples' outcomes, to read a spec whose outcomes are out of date."""
        return replace(self, documents=tuple(map(_without_outcomes, self.documents)))

    def libraries(self) -> Iterator[tuple[Document, LibraryDocument]]:
        """The libraries."""
        return ((each, each.content) for each in self.documents if isinstance(each.content, LibraryDocument))

    def schemas(self) -> Iterator[tuple[Document, SchemaDocument]]:
        """The shared schemas."""
        return ((each, each.content) for each in self.documents if isinstance(each.content, SchemaDocument))


def _without_outcomes(document: Document) -> Document:
    content = document.content
    if not isinstance(content, FormatDocument):
        return document
    examples = [each.without_outcome() for each in content.examples]
    return replace(document, content=content.model_copy(update={"examples": examples}))


def unlike(found: Iterable[tuple[Document, _Content]], key: str, problems: Problems) -> list[tuple[Document, _Content]]:
    """Documents whose name under `key` is unique; report each further document with the same name."""
    first: dict[str, Document] = {}
    kept = list[tuple[Document, _Content]]()
    for document, content in found:
        place = document.place / key
        if place.text in first:
            message, hint = f"the {key} {place.text} is defined twice", f"the first is in {first[place.text].path}"
            problems.add(place.problem("duplicate-format", message, hint))
        else:
            first[place.text] = document
            kept.append((document, content))
    return kept


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a document, identified by its path."""

    document: Document
    path: Path

    def __truediv__(self, step: str | int) -> "Place":
        """The part one step below."""
        return Place(self.document, (*self.path, step))

    @property
    def node(self) -> Node:
        """The part's node."""
        return find(self.document.node, self.path)[1]

    @property
    def text(self) -> str:
        """The text of the scalar as the file writes it."""
        node = self.node
        return node.text if isinstance(node, ScalarNode) else ""

    @property
    def key(self) -> Scalar:
        """The value of the key that leads to this part."""
        key = find(self.document.node, self.path)[0]
        return None if key is None else key.value

    def value_location(self, column: int = 0) -> Location:
        """The location of the value, or of the character at `column` of a scalar written on one line."""
        return location_in(self.node, column)

    def key_location(self) -> Location:
        """The location of the key."""
        key, node = find(self.document.node, self.path)
        return (key or node).location

    def problem(self, id: str, message: str, hint: str = "", *, column: int = 0) -> Problem:
        """A problem located at the value."""
        return Problem(id, self._qualified(message), hint, self.value_location(column), self.shown_path)

    def key_problem(self, id: str, message: str, hint: str = "") -> Problem:
        """A problem of the whole entry, located at its key."""
        return Problem(id, self._qualified(message), hint, self.key_location(), self.shown_path)

    def _qualified(self, message: str) -> str:
        """Add the type's own name to the message, if the file defines several types under one key."""
        key = find(self.document.node, self.path[:2])[0]
        return f"{message}, in {key.stands_for}" if key is not None and key.stands_for else message

    @property
    def shown_path(self) -> str:
        """The path as problems show it, with item numbers as in the file."""
        return path_text(path_in_file(self.document.node, self.path))


def location_in(node: Node, column: int, *, mapped: bool = False) -> Location:
    """The location of a character of a node's text; with `mapped`, `column` counts characters in the file."""
    start = node.location
    if not isinstance(node, ScalarNode) or "\n" in node.text:
        return start
    if node.columns and not mapped:
        column = node.columns[min(column, len(node.columns) - 1)]
    return Location(start.file, start.line, start.column + column + (1 if node.quoted else 0) * (column > 0))
