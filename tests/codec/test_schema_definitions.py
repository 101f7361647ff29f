"""The definitions of a schema: one for each named type, wherever it is used."""

from pathlib import Path
from typing import Any

import pytest

from conftest import case_formats, shipped_formats
from wireloom.emit import jsonschema
from wireloom.model.format import Format
from wireloom.resolve import resolve
from wireloom.spec import load

TWO_PLACES = """
wireloom: 1
format: two_places
title: A type in two places
source: none
encoding: binary
root: Message
types:
  Message:
    fields:
      - kind: uint8
      - first: Item
      - second: {type: Item, doc: Another}
      - items: {type: list(Item), count: kind}
      - last: Item2
      - body: {type: {select: kind, cases: {0: Numbers, 1: Words}}, flatten: true}
  Numbers: {fields: [{entry: Item}]}
  Words: {fields: [{entry: Word}]}
  Item: {fields: [{v: uint8}]}
  Word: {fields: [{v: str(uint8)}]}
  Item2: {fields: [{w: uint8}]}
"""


def referred(schema: Any) -> set[str]:
    """The definitions that a schema refers to."""
    match schema:
        case dict():
            own = {schema["$ref"].removeprefix("#/$defs/")} if isinstance(schema.get("$ref"), str) else set()
            return own.union(*map(referred, schema.values()))
        case list():
            return set().union(*map(referred, schema))
        case _:
            return set()


def test_a_named_type_is_one_definition_wherever_it_is_used(tmp_path: Path):
    path = tmp_path / "two_places.yaml"
    path.write_text(TWO_PLACES, encoding="utf-8")
    (format,) = resolve(load([path], tmp_path))
    found = jsonschema.emit(format)["$defs"]
    assert isinstance(found, dict)
    assert found["record"] == {"$ref": "#/$defs/Message"}
    members = found["Message"]["oneOf"][0]["properties"]
    assert members["first"] == {"$ref": "#/$defs/Item"}
    assert members["second"] == {"description": "Another", "$ref": "#/$defs/Item"}
    assert members["items"]["items"] == {"$ref": "#/$defs/Item"}


def test_a_type_whose_columns_are_wider_in_a_union_has_a_definition_for_that_with_a_name_of_its_own(tmp_path: Path):
    path = tmp_path / "two_places.yaml"
    path.write_text(TWO_PLACES, encoding="utf-8")
    (format,) = resolve(load([path], tmp_path))
    found = jsonschema.emit(format)["$defs"]
    assert isinstance(found, dict)
    assert found["Message"]["oneOf"][0]["properties"]["entry"] == {"$ref": "#/$defs/Item3"}  # Item2 is a type
    assert found["Item"]["properties"]["v"]["type"] == "integer"
    assert found["Item3"]["properties"]["v"]["properties"].keys() == {"int"}


@pytest.mark.parametrize("format", [*shipped_formats(), *case_formats()], ids=lambda format: format.name)
def test_every_definition_is_used_and_every_reference_leads_to_one(format: Format):
    schema = jsonschema.emit(format)
    found = schema["$defs"]
    assert isinstance(found, dict)
    roots = {name for root in format.roots for name in (root.name, f"{root.name}.root")}
    assert referred(schema) <= found.keys()
    assert found.keys() <= referred(schema) | roots


def test_what_a_text_is_held_against_is_said_of_the_text_where_a_union_tags_it(tmp_path: Path):
    path = tmp_path / "two_places.yaml"
    path.write_text(TWO_PLACES.replace("{v: str(uint8)}", "{v: {type: str(uint8), length: 2 .. 3}}"), encoding="utf-8")
    (format,) = resolve(load([path], tmp_path))
    found = jsonschema.emit(format)["$defs"]
    assert isinstance(found, dict)
    tagged = found["Word"]["properties"]["v"]
    assert tagged["properties"]["str"] == {"type": "string", "minLength": 2, "maxLength": 3}
    assert "minLength" not in tagged
