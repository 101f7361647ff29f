"""An `inline` map that a value leaves out is empty, as readers see it, for builders and in columns."""

from pathlib import Path

import pyarrow as pa
import pytest

from wireloom import pipeline
from wireloom.examples import opened
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.values import Pairs

PARTS = [{"name": "s"}, {"name": "none"}, {"name": "t", "rest": {"p": {"n": 1}}}]
VALUES = [
    ("other_members", {"id": 1, "kind": "plain", "at": {"x": 2}}),
    ("other_members", {"id": 1, "kind": "detailed", "note": "n", "at": {"x": 2, "y": 3}, "parts": PARTS}),
    ("other_members_packed", {"id": 1, "kind": "plain"}),
    ("other_members_packed", {"id": 1, "kind": "plain", "parts": PARTS}),
]


@pytest.fixture(scope="module")
def modules():
    read = pipeline.read(Path(__file__).parents[1] / "cases" / "other_members")
    with opened(read.modules) as found:
        yield found


def filled(value):
    """The value with an empty map for each that is left out, as in columns."""
    parts = [
        {**part, "rest": part.get("rest", {})} if part["name"] != "none" else part for part in value.get("parts", ())
    ]
    return {**value, "counts": {}, **({"parts": parts} if parts else {})}


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_a_value_without_the_map_is_that_with_an_empty_one(modules, name, value):
    codec = modules[name].CODEC
    whole = filled(value)
    data = codec.build(value)
    assert data == codec.build(whole)
    assert codec.parse(data)["counts"] == Pairs()
    assert codec.parse(data)["many"] == 0
    columns = codec.decode(pa.array([data])).records
    bare = columns.to_pylist()[0]
    assert bare["counts"] == []
    bare["counts"] = None
    for part in bare["parts"] or ():
        for option in (part, *(each for each in part.values() if isinstance(each, dict))):
            if option.get("rest") == []:
                option["rest"] = None
    assert codec.encode(pa.array([bare], columns.type)).to_pylist() == [data]


def test_what_is_no_map_is_refused(modules):
    with pytest.raises(EncodeError, match="a map"):
        modules["other_members"].CODEC.build({**VALUES[0][1], "counts": [1]})
