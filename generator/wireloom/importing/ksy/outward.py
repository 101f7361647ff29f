"""Whether a type looks at what is around it, so that it may mean something else in another place."""

from collections.abc import Iterator

from wireloom.importing.ksy.definitions import Attribute, Definition
from wireloom.importing.ksy.reading import entries, text
from wireloom.spec.yaml import MappingNode, Node, ScalarNode, SequenceNode


def looks_outward(definition: Definition, seen: frozenset[int] = frozenset()) -> bool:
    """Whether its expressions, or those of types that it holds, reach out of it."""
    if id(definition) in seen:
        return False
    seen |= {id(definition)}
    for attribute in (*definition.seq, *definition.instances.values()):
        if attribute.get("pos") is not None or attribute.get("io") is not None:
            return True
        if any(word in each for each in _texts(attribute.node) for word in ("_parent", "_root", "_io")):
            return True
        for name in _types(attribute):
            found = definition.named(tuple(name.partition("(")[0].split("::")))
            if found is not None and looks_outward(found, seen):
                return True
    return False


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
