"""The MessagePack extensions that open values of a format may contain."""

from wireloom.model.format import Format
from wireloom.model.traversal import nested
from wireloom.model.types import Extension, OneOf, Text
from wireloom.runtime.columns.logical import ExtensionType


def extensions(format: Format) -> tuple[ExtensionType, ...]:
    """Each extension in an open union, in the order of the spec."""
    found: dict[tuple[int, str], bool] = {}
    types = (*(type for _, type in format.types), *(root.type for root in format.roots))
    unions = (each for type in types for each in nested(type) if isinstance(each, OneOf) and each.open)
    for alternative in (each for union in unions for each in union.alternatives):
        if isinstance(alternative.type, Extension):
            key = (alternative.type.code, alternative.name)
            found.setdefault(key, isinstance(alternative.type.content, Text))
    return tuple(ExtensionType(code, name, text) for (code, name), text in found.items())
