"""Find the location of a format's parts in its spec: the key of a field or a type."""

from collections.abc import Iterator
from dataclasses import dataclass

from wireloom.problems import Location
from wireloom.spec.documents import Document
from wireloom.spec.entries import STEPS
from wireloom.spec.yaml import Node, ScalarNode, child, entries, entries_below


@dataclass(frozen=True, slots=True)
class Site:
    """A part of a spec: a field (by its wire name) of a struct, a struct, or the format if both are empty."""

    struct: str = ""
    field: str = ""


def place(document: Document, site: Site) -> Location:
    """The location of the field, else of its struct, else of the format."""
    node, types = document.node, child(document.node, "types")
    key, type = {key.text: (key, type) for key, type in entries(types)}.get(site.struct, (None, None))
    if site.field:
        key = next(_named(type, site.field), None) or next(_named(types, site.field), None) or key
    if key is not None:
        return key.location
    return next((key.location for key, _ in entries(node) if key.text == "format"), node.location)


def column(document: Document, name: str) -> Location:
    """The location of the field with this reader's name, else of the format."""
    types = child(document.node, "types")
    found = next(_named(types, name), None) or next(_with_readers_name(types, name), None)
    return place(document, Site()) if found is None else found.location


def _named(node: Node | None, name: str) -> Iterator[ScalarNode]:
    """The keys of fields and bits with this name, below a node."""
    return (key for key, _ in entries_below(node) if key.text == name and name not in STEPS)


def _with_readers_name(node: Node | None, name: str) -> Iterator[ScalarNode]:
    """The keys of fields that `as` or `raw` gives this reader's name."""
    for key, inner in entries_below(node):
        names = [child(inner, each) for each in ("as", "raw")]
        if any(isinstance(each, ScalarNode) and each.text == name for each in names):
            yield key
