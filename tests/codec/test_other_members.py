"""A field for the members that no other field names writes exactly those back."""

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from conftest import CASE_PACKAGE
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.values import OpenBytes, Pairs

SPECS = Path(__file__).parent / "other_members"
EVENT = {"id": 1, "kind": "plain", "at": {"x": 2}}


@pytest.fixture
def members(case_package: object) -> Any:
    return importlib.import_module(f"{CASE_PACKAGE}.other_members")


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    out = tmp_path_factory.mktemp("entries")
    specs = shutil.copytree(SPECS, tmp_path_factory.mktemp("specs") / "specs")  # the language's schema is put there
    pipeline.generate(Project(specs, out, "entries_package"))
    sys.path.insert(0, str(out))
    yield importlib.import_module("entries_package.other_entries")
    sys.path.remove(str(out))


@pytest.mark.parametrize("name", ["id", "k", "note", "x", "parts"])
def test_a_member_that_a_field_names_is_no_key_of_the_rest(members: Any, name: str):
    with pytest.raises(EncodeError) as raised:
        members.build({**EVENT, "counts": {"a": 1, name: 5}})
    assert raised.value.path == "counts[1]"


def test_what_tells_which_object_it_is_is_no_key_of_the_rest(members: Any):
    part = {"name": "n", "rest": {"secret": {"n": 1, "rest": {}}}}
    with pytest.raises(EncodeError) as raised:
        members.build({**EVENT, "counts": {}, "parts": [part]})
    assert raised.value.path == "parts[0].rest[0]"


def test_a_key_twice_is_refused_in_either_encoding(members: Any, entries: Any):
    twice = Pairs([("a", 1), ("a", 2)])
    with pytest.raises(EncodeError):
        members.build({**EVENT, "counts": twice})
    with pytest.raises(EncodeError):
        entries.build({"id": 1, "labels": twice})
    with pytest.raises(EncodeError):
        entries.build({"id": 1, "labels": {"n": 2}})


def test_the_engine_refuses_the_keys_that_builders_refuse_and_writes_the_others(members: Any):
    values = [{"a": 1, "b": -5}, {"note": 1}, {"parts": 1}, {}, {"é": 7}]
    rows = [{**EVENT, "counts": list(each.items())} for each in values]
    for row, value in zip(rows, values, strict=True):
        table = pa.Table.from_pylist([row], schema=members.ARROW_SCHEMA)
        if "note" in value or "parts" in value:
            with pytest.raises(EncodeError, match=r"counts\[0\]"):
                members.encode(table)
        else:
            assert members.encode(table).to_pylist() == [members.build({**EVENT, "counts": value})]
    if engine.available():
        assert members.CODEC.encode_path().native


def test_open_members_are_kept_as_the_bytes_of_a_map_of_them(entries: Any):
    record = bytes.fromhex("82 a26964 01 a470617274 83 a161 cd0001 a46e616d65 a170 a162 a178")
    decoded = entries.decode(pa.array([record], pa.binary()), open_values="binary")
    kept = decoded.records.to_pylist()[0]["part"]["rest"]
    assert kept == bytes.fromhex("82 a161 cd0001 a162 a178")
    part = {"name": "p", "rest": OpenBytes(kept, None)}
    assert entries.parse(entries.build({"id": 1, "labels": {}, "part": part})) == entries.parse(record)
