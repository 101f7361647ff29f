"""Schemas that would be too large as a text: their objects are definitions, and mean what they meant."""

from typing import Any

from wireloom.emit.jsonschema.definitions import parted


def nested(levels: int) -> dict[str, Any]:
    """An object whose members are alike, as those of structs that hold themselves."""
    inner: dict[str, Any] = {"type": "integer", "minimum": levels}
    if levels:
        inner = {"oneOf": [nested(levels - 1), {"type": "null"}]}
    names = [f"member{place}" for place in range(8)]
    members = dict.fromkeys(names, inner)
    return {"type": "object", "properties": members, "required": names, "additionalProperties": False}


def written_out(schema: Any, definitions: dict[str, Any]) -> Any:
    """The schema with what it refers to in place of each reference."""
    match schema:
        case {"$ref": name}:
            return written_out(definitions[name.removeprefix("#/$defs/")], definitions)
        case dict():
            return {key: written_out(each, definitions) for key, each in schema.items()}
        case list():
            return [written_out(each, definitions) for each in schema]
        case _:
            return schema


def test_a_schema_that_is_not_too_large_stays_as_it_is():
    schemas = {"record": nested(3)}
    assert parted(schemas) == schemas


def test_what_stands_in_many_places_is_a_definition_once_and_means_the_same():
    schemas = {"record": nested(5), "other": nested(4)}
    found = parted(schemas)
    assert len(str(found)) < 10_000
    assert len(found) == len(schemas) + 5
    assert {name: written_out(found[name], found) for name in schemas} == schemas
