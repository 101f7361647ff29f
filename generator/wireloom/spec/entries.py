"""Fields that are called as steps are: `- mark: uint8` names an offset, and no field."""

import re
from collections.abc import Iterator

from wireloom.names import another_name
from wireloom.problems import Problem
from wireloom.spec.language import Entry
from wireloom.spec.yaml import MappingNode, Node, Path, ScalarNode, SequenceNode, find, path_text

STEPS = tuple(Entry.model_fields)
_TYPE = re.compile(
    r"\s*(int|float|bit|bool|nil|json|str|bytes|(str|bytes|list|map|ext|json)\(.*\)"
    r"|(u?int|float|varint|zigzag|vlq|quic|sqlite|flac|ebml|bcd|u?packed|s?dec|hex|oct)[0-9]+)\??\s*"
)


def fields_named_as_steps(document: Node) -> Iterator[tuple[Path, Problem]]:
    """The items of `fields` that are meant as fields and read as steps, each with what to say of it."""
    types = find(document, ("types",))[1]
    if not isinstance(types, MappingNode) or types is document:
        return
    names = frozenset(key.text for key, _ in types.entries)
    for type_name, form in types.entries:
        fields = find(form, ("fields",))[1]
        for index, item in enumerate(fields.items if isinstance(fields, SequenceNode) and fields is not form else ()):
            if isinstance(item, MappingNode) and len(item.entries) == 1:
                key, value = item.entries[0]
                if key.text in STEPS and _is_meant_as_field(value, names):
                    path = ("types", type_name.text, "fields", index, key.text)
                    yield path[:-1], _problem(key, path)


def is_type(text: str, types: frozenset[str]) -> bool:
    """Whether a text is a type of the language, or one of these."""
    return text in types or _TYPE.fullmatch(text) is not None


def _is_meant_as_field(value: Node, types: frozenset[str]) -> bool:
    match value:
        case MappingNode():
            return value.entry("type") is not None
        case ScalarNode(text=text):
            return is_type(text, types)
        case _:
            return False


def _problem(key: ScalarNode, path: Path) -> Problem:
    name = key.text
    message = f"{name} is a step, and cannot be the name of a field"
    hint = another_name(name)
    return Problem("bad-name", message, hint, key.location, path_text(path))
