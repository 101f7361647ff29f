"""Computes the size of types in bits, if it is the same in all records."""

import re

from wireloom.importing.ksy.definitions import Attribute, Definition
from wireloom.importing.ksy.reading import text
from wireloom.spec.yaml import ScalarNode, SequenceNode

NUMBER = re.compile(r"(?P<kind>[usf])(?P<bytes>[1248])(?P<order>le|be)?")
BITS = re.compile(r"b(?P<bits>[1-9][0-9]?)(?P<order>le|be)?")


def size_of(definition: Definition) -> int | None:
    """The size of a type in bytes; None if it depends on the record."""
    bits = _bits(definition)
    return None if bits is None else -(-bits // 8)


def size_of_name(name: str, definition: Definition) -> int | None:
    """The size in bits of a type that is given by name, seen from another type."""
    if found := NUMBER.fullmatch(name):
        return 8 * int(found["bytes"])
    if found := BITS.fullmatch(name):
        return int(found["bits"])
    named = definition.named(tuple(name.partition("(")[0].split("::")))
    return None if named is None else _bits(named)


def _bits(definition: Definition) -> int | None:
    if definition.bits != -1:
        return definition.bits
    definition.bits = None  # a recursive type has no fixed size
    total = 0
    for each in definition.seq:
        bits = bits_of(each, definition)
        if bits is None:
            return None
        name = text(each.get("type")) or ""
        total = total + bits if BITS.fullmatch(name) else -(-total // 8) * 8 + bits
    definition.bits = total
    return total


def bits_of(each: Attribute, definition: Definition) -> int | None:
    """The size of an attribute in bits; None if it depends on the record."""
    if each.get("if") is not None or each.get("repeat") is not None:
        return None
    size = each.get("size")
    if size is not None:
        return 8 * size.value if isinstance(size, ScalarNode) and isinstance(size.value, int) else None
    contents = each.get("contents")
    if contents is not None:
        return 8 * (len(contents.items) if isinstance(contents, SequenceNode) else len((text(contents) or "").encode()))
    name = text(each.get("type"))
    return None if name is None else size_of_name(name, definition)
