"""The differences between a spec and its description in another language."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireloom.problems import Location
from wireloom.spec.documents import Document
from wireloom.spec.places import Site, column, place
from wireloom.spec.yaml import child, entries


@dataclass(frozen=True, slots=True)
class Difference:
    """A part of a spec that the other language cannot express, and what the description has in its place.

    `where` is a part of the spec, or the path of a column.
    """

    kind: str
    where: Site | str
    message: str
    instead: str


@dataclass(frozen=True, slots=True)
class Exported:
    """The text of a description, and how it differs from the spec. The text is empty if there is no description."""

    text: str
    differences: tuple[Difference, ...] = ()


def difference_lines(differences: Sequence[Difference], document: Document) -> Iterator[str]:
    """The differences as lines, in the order of the spec: `specs/x.yaml:41:9: Event.crc: ...; ... [kind]`."""
    found = dict.fromkeys((_location(each.where, document), each) for each in differences)
    for location, each in sorted(found, key=lambda pair: (pair[0], pair[1].kind, pair[1].message)):
        yield f"{location}: {_named(each.where)}{each.message}; {each.instead} [{each.kind}]"


def _location(where: Site | str, document: Document) -> Location:
    if isinstance(where, Site):
        parameters = () if where.struct else entries(child(document.node, "parameters"))
        found = next((key.location for key, _ in parameters if key.text == where.field), None)
        return found or place(document, where)
    return column(document, where.rpartition(".")[2].rstrip("[]{}"))


def _named(where: Site | str) -> str:
    name = where if isinstance(where, str) else ".".join(filter(None, (where.struct, where.field)))
    return f"{name}: " if name else ""
