"""Schemas of canonical renderings: each rule on a record of a few fields."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from wireloom import pipeline
from wireloom.emit import jsonschema

BITS = {
    "leap": "0..1",
    "sign": {"at": "2..4", "signed": True},
    "mode": {"at": "5..6", "values": {0: "idle", 1: "busy"}},
}
PAIR = {"fields": [{"left": "uint8"}, {"right": "uint8?"}]}
FIRST = {"fields": [{"magic": {"type": "uint8", "const": 7, "else": "bad_constant"}}, {"n": "uint8"}]}
REST = {"fields": [{"rest": "bytes"}]}
TRIES = {
    "attempt": [
        {"name": "framed", "type": "First", "fallback": [{"codes": ["bad_constant"]}]},
        {"name": "plain", "type": "Rest"},
    ]
}
A, B = {"fields": [{"a": "uint8"}]}, {"fields": [{"b": "uint8"}]}

RULES: dict[str, tuple[list[Any], dict[str, Any], list[Any], list[Any]]] = {
    "bits are as wide as they are": (
        [{"flags": {"type": "uint8", "bits": BITS}}],
        {},
        [{"flags": 255, "leap": 3, "sign": -4, "mode": "busy"}],
        [
            {"flags": 255, "leap": 4, "sign": -4, "mode": "busy"},
            {"flags": 255, "leap": 3, "sign": 4, "mode": "busy"},
            {"flags": 255, "leap": 3, "sign": 0, "mode": "off"},
            {"flags": 255, "leap": 3, "sign": 0},
        ],
    ),
    "constants, ranges and value tables are those of the wire": (
        [
            {"one": {"type": "uint8", "const": 1}},
            {"few": {"type": "int16", "range": "-3 .. 3"}},
            {"word": {"type": "uint8", "values": {0: "a", 1: None, 2: "b"}}},
            {"magic": {"type": "bytes(2)", "const": "cafe"}},
        ],
        {},
        [{"one": 1, "few": -3, "word": "b", "magic": "yv4="}, {"one": 1, "few": 3, "magic": "yv4="}],
        [
            {"one": 2, "few": 0, "magic": "yv4="},
            {"one": 1, "few": 4, "magic": "yv4="},
            {"one": 1, "few": 0, "word": "c", "magic": "yv4="},
            {"one": 1, "few": 0, "magic": "yv8="},
        ],
    ),
    "a case goes with its tag": (
        [{"kind": "uint8"}, {"body": {"type": {"select": "kind", "cases": {1: "A", "2, 3": "B", 4: "str(1)"}}}}],
        {"types": {"A": A, "B": B}},
        [
            {"kind": 1, "body": {"record": {"a": 1}}},
            {"kind": 3, "body": {"record": {"b": 1}}},
            {"kind": 4, "body": {"str": "x"}},
        ],
        [
            {"kind": 1, "body": {"record": {"b": 1}}},
            {"kind": 1, "body": {"str": "x"}},
            {"kind": 5, "body": {"str": "x"}},
            {"kind": 2},
            {"kind": 1, "body": {"record": {"a": 1, "b": 1}}},
        ],
    ),
    "members of a condition that is compared are there or not": (
        [
            {"kind": "uint8"},
            {"low": {"type": "uint8", "when": "kind == 0"}},
            {"high": {"type": "uint8", "when": "kind != 0"}},
            {"some": {"type": "uint8", "when": "kind > 7"}},
        ],
        {},
        [{"kind": 0, "low": 1}, {"kind": 9, "high": 1, "some": 1}, {"kind": 9, "high": 1}],
        [{"kind": 0}, {"kind": 0, "high": 1}, {"kind": 1}, {"kind": 1, "low": 1, "high": 1}],
    ),
    "what readers do not see may decide all the same": (
        [
            {"kind": {"type": "uint8", "hidden": True, "derive": "present(left) ? 1 : 2"}},
            {"left": {"type": "uint8", "when": "kind == 1"}},
            {"right": {"type": "uint8", "when": "kind != 1"}},
        ],
        {},
        [{"left": 1}, {"right": 1}],
        [{}, {"left": 1, "right": 1}],
    ),
    "computed members are there where they are no null": (
        [
            {"a": "uint8"},
            {"twice": {"compute": "a * 2", "type": "uint16"}},
            {"always": {"compute": "7", "type": "int8"}},
            {"perhaps": {"compute": "a == 1 ? 5 : null", "type": "int8"}},
        ],
        {},
        [{"a": 1, "twice": 2, "always": 7, "perhaps": 5}, {"a": 2, "twice": 4, "always": 7}],
        [
            {"a": 2, "always": 7},
            {"a": 2, "twice": 4},
            {"a": 2, "twice": 4, "always": 8},
            {"a": 1, "twice": 2, "always": 7},
            {"a": 1, "twice": 2, "always": 7, "perhaps": 6},
        ],
    ),
    "alternatives that are tried have their names and reasons": (
        [{"value": {"type": "Tries", "flatten": True}}],
        {"types": {"Tries": TRIES, "First": FIRST, "Rest": REST}},
        [{"kind": "framed", "magic": 7, "n": 1}, {"kind": "plain", "reason": "bad_constant", "rest": ""}],
        [
            {"kind": "framed", "reason": "bad_constant", "magic": 7, "n": 1},
            {"kind": "framed", "rest": ""},
            {"kind": "plain", "rest": ""},
            {"kind": "plain", "reason": "truncated", "rest": ""},
        ],
    ),
    "elements and entries may be null where their type says so": (
        [{"some": "list(int8?)"}, {"all": "list(list(int8))"}, {"pairs": "map(str, bool?)"}, {"pair": "Pair"}],
        {"encoding": "msgpack", "types": {"Pair": PAIR}},
        [{"some": [1, None], "all": [[1], []], "pairs": [["a", None], ["b", True]], "pair": {"left": 1}}],
        [
            {"some": [1], "all": [None], "pairs": [], "pair": {"left": 1}},
            {"some": [1], "all": [], "pairs": [[None, True]], "pair": {"left": 1}},
            {"some": [128], "all": [], "pairs": [], "pair": {"left": 1}},
            {"some": [], "all": [], "pairs": [], "pair": {"left": 1, "right": None}},
        ],
    ),
    "integers that are signed or unsigned are numbers": (
        [{"kind": "bool"}, {"n": {"type": {"select": "kind", "cases": {"true": "int64", "false": "uint64"}}}}],
        {},
        [{"kind": True, "n": -1}, {"kind": False, "n": 2**64 - 1}],
        [{"kind": True, "n": 2**64 - 1}, {"kind": False, "n": -1}, {"kind": True, "n": "-1"}],
    ),
}


def test_a_union_of_which_a_parameter_selects_no_case_takes_nothing(tmp_path: Path):
    union = {"type": {"select": "strict", "cases": {"true": "int8"}}}
    document = {"wireloom": 1, "format": "made", "title": "made", "encoding": "json", "root": "R"}
    document |= {
        "parameters": {"strict": {"type": "bool", "default": False}},
        "types": {"R": {"fields": [{"a": union}]}},
    }
    (tmp_path / "made.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    validator = Draft202012Validator(jsonschema.emit(format))
    assert not any(map(validator.is_valid, ({}, {"a": 1})))


@pytest.mark.parametrize("rule", RULES)
def test_renderings_are_held_to_the_wire(rule: str, tmp_path: Path):
    fields, more, taken, refused = RULES[rule]
    types = {"R": {"fields": fields}} | more.get("types", {})
    document = {"wireloom": 1, "format": "made", "title": "made", "encoding": "binary", "root": "R", **more}
    (tmp_path / "made.yaml").write_text(yaml.safe_dump(document | {"types": types}, sort_keys=False), encoding="utf-8")
    (format,) = pipeline.formats(tmp_path)
    schema = jsonschema.emit(format)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(json.loads(json.dumps(schema)))
    for rendering in taken:
        validator.validate(rendering)
    assert [rendering for rendering in refused if validator.is_valid(rendering)] == []
