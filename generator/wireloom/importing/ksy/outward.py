"""Tells whether a type uses outer structs, so that its meaning depends on where it is used."""

from collections.abc import Iterator

from wireloom.importing.ksy.definitions import Attribute, Definition
from wireloom.importing.ksy.reading import text
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode, entries


def looks_outward(definition: Definition) -> bool:
    """Whether expressions of the type, or of types inside it, refer to something outside of it."""
    if definition.looks_outward is None:
        definition.looks_outward = any(_reaches_out(each) for each in _used_types(definition))
    return definition.looks_outward


def _used_types(definition: Definition) -> list[Definition]:
    """The type and all types that it uses."""
    found = [definition]
    for each in found:
        for attribute in each.attributes:
            for name in _types(attribute):
                other = each.named(tuple(name.partition("(")[0].split("::")))
                if other is not None and other not in found:
                    found.append(other)
    return found


def _reaches_out(definition: Definition) -> bool:
    return any(
        attribute.get("pos") is not None
        or attribute.get("io") is not None
        or any(word in each for each in _texts(attribute.node) for word in ("_parent", "_root", "_io"))
        for attribute in definition.attributes
    )


def _types(attribute: Attribute) -> Iterator[str]:
    node = attribute.get("type")
    if isinstance(node, MappingNode):
        yield from (name for _, each in entries(attribute.get("type", "cases")) if (name := text(each)))
    elif (name := text(node)) is not None:
        yield name


def _texts(node: Node) -> Iterator[str]:
    match node:
        case ScalarNode():
            yield node.text
        case SequenceNode():
            for item in node.items:
                yield from _texts(item)
        case MappingNode():
            for key, each in node.entries:
                if key.text not in ("doc", "doc-ref", "id"):
                    yield from _texts(each)
