"""Definitions that would be too large as a text: what stands in many places of them is a definition of its own, once.

What a struct may hold is said of each place where it stands, by what is known there, so that structs that hold
themselves to a depth come to a schema that is large as a text, though few of its parts differ.
"""

import json
from collections.abc import Mapping

from wireloom.emit.jsonschema.constants import Schema

_MOST = 50_000  # parts of the schemas that are written out
_SMALL = 24  # parts of an object that stays where it is


def parted(schemas: Mapping[str, object]) -> dict[str, object]:
    """The definitions; where they have too many parts, each of their larger objects once, by a name of its own."""
    sizes = _Sizes()
    if sum(map(sizes.of, schemas.values())) <= _MOST:
        return dict(schemas)
    parting = _Parting(sizes)
    found = {name: parting.within(each) if isinstance(each, dict) else each for name, each in schemas.items()}
    return found | parting.definitions


class _Sizes:
    """How many parts a schema has as a text, counted once for each that stands in several places."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}

    def of(self, schema: object) -> int:
        """The parts of the schema, itself among them."""
        if not isinstance(schema, dict | list):
            return 1
        if id(schema) not in self.known:
            inner = schema.values() if isinstance(schema, dict) else schema
            self.known[id(schema)] = 1 + sum(map(self.of, inner))
        return self.known[id(schema)]


class _Parting:
    def __init__(self, sizes: _Sizes) -> None:
        self.sizes = sizes
        self.definitions: dict[str, Schema] = {}
        self.names: dict[str, str] = {}  # by what the definition says
        self.known: dict[int, object] = {}

    def within(self, schema: Schema) -> Schema:
        """The schema, with references in place of the larger objects in it."""
        return {key: self._part(each) for key, each in schema.items()}

    def _part(self, part: object) -> object:
        if not isinstance(part, dict | list) or self.sizes.of(part) < _SMALL:
            return part
        if id(part) not in self.known:
            self.known[id(part)] = self._reference(part)
        return self.known[id(part)]

    def _reference(self, part: dict[str, object] | list[object]) -> object:
        if isinstance(part, list):
            return [self._part(each) for each in part]
        found = self.within(part)
        if part.get("type") != "object":
            return found
        name = self.names.setdefault(json.dumps(found), f"part.{len(self.names) + 1}")
        self.definitions[name] = found
        return {"$ref": f"#/$defs/{name}"}
