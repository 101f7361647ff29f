"""Where in its spec a part of a format is: the key of a field or a type."""

from collections.abc import Iterator
from dataclasses import dataclass

from wireloom.problems import Location
from wireloom.spec.documents import Document
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode, child, entries

_STEPS = frozenset({"check", "frame", "need", "end", "verify", "discard", "mark"})


@dataclass(frozen=True, slots=True)
class Site:
    """A part of a spec: a field (as the wire names it) of a struct, a struct, or the format where both are empty."""

    struct: str = ""
    field: str = ""


def place(document: Document, site: Site) -> Location:
    """The place of a field, else of its struct, else of the format."""
    node = document.node
    types = {key.text: (key, type) for key, type in entries(child(node, "types"))}
    key, type = types.get(site.struct, (None, None))
    if site.field:
        found = next(_named(type, site.field), None) if type is not None else None
        everywhere = () if found is not None else list(_named(child(node, "types"), site.field))
        if found is None and everywhere:
            found = everywhere[0]
        if found is not None:
            return found.location
    if key is not None:
        return key.location
    return next((key.location for key, _ in entries(node) if key.text == "format"), node.location)


def column(document: Document, name: str) -> Location:
    """The place of the field that readers call so; of the format where none is."""
    types = child(document.node, "types")
    found = next(_named(types, name), None) or next(_called(types, name), None)
    return place(document, Site()) if found is None else found.location


def _named(node: Node | None, name: str) -> Iterator[ScalarNode]:
    """The keys of that name of fields and bits below a node."""
    match node:
        case MappingNode():
            for key, inner in node.entries:
                if key.text == name and key.text not in _STEPS:
                    yield key
                yield from _named(inner, name)
        case SequenceNode():
            for inner in node.items:
                yield from _named(inner, name)
        case _:
            return


def _called(node: Node | None, name: str) -> Iterator[ScalarNode]:
    """The keys of fields that are given another name to readers, by `as` or `raw`."""
    match node:
        case MappingNode():
            for key, inner in node.entries:
                if any(
                    each.text in ("as", "raw") and isinstance(said, ScalarNode) and said.text == name
                    for each, said in entries(inner)
                ):
                    yield key
                yield from _called(inner, name)
        case SequenceNode():
            for inner in node.items:
                yield from _called(inner, name)
        case _:
            return
