"""JSON rows that the engine does not read back: it gives up those that would not come back equal."""

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import differential
import encoding
import engine_data as data
from read_back import agreed, programs
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
PACKAGE = "wireloom_certainty"
SPEC = """
wireloom: 1
format: sure
title: Every kind of member whose coming back is known beforehand, and one that is not
encoding: json
limits: {depth: 4}
root: Record
types:
  Record: {select: {member: of}, cases: {a: A, b: B, doubtful: Doubtful}}
  A:
    fields:
      - of: {type: str, const: a}
      - number: {type: int8, optional: true}
      - text: {type: str, optional: true, default: none}
      - word: {type: str, optional: true, values: {one: 1, two: 2}}
      - check: {that: not (present(number) and present(word)), else: too_much}
      - check: {that: number != 7, when: present(number), else: seven}
      - even: {type: bool, derive: present(word), hidden: true}
      - small: {type: uint8, when: even}
      - large: {member: small, type: str, when: not even, optional: true}
      - range: {compute: "present(number) and number > 4 ? 'high' : 'low'", type: str}
  B:
    fields:
      - of: {type: str, const: b}
      - either: int | str | bool | nil
      - open: Value
      - kept: json(array)
      - items: {type: list(Item), unique: name}
      - single: float32
      - data: {type: bytes, lineFeeds: true}
  Item: {fields: [{name: str}, {value: int}]}
  Doubtful:
    fields:
      - of: {type: str, const: doubtful}
      - number: int16
      - part: {type: Part, inline: true}
  Part: {fields: [{more: int8}]}
  Value: {oneOf: {nil: nil, int: int8, str: str, list: list(Value), map: "map(str, Value)"}}
errors: {too_much: A number beside a word., seven: Seven.}
"""


@pytest.fixture(scope="module", autouse=True)
def _package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    specs, out = tmp_path_factory.mktemp("specs"), tmp_path_factory.mktemp("certainty")
    (specs / "sure.yaml").write_text(SPEC)
    pipeline.generate(Project(specs, out, PACKAGE))
    sys.path.insert(0, str(out))
    yield
    sys.path.remove(str(out))


def codec() -> Any:
    return importlib.import_module(f"{PACKAGE}.sure").CODEC


def become(*rows: dict[str, Any] | None) -> list[int]:
    engine = codec().engine
    request = engines.Request(codec().default_root, codec().settings({}))
    return agreed(engine, request, arrow.to_struct_array(list(rows), codec().root(None).logical))[0]


def a(**members: Any) -> dict[str, Any]:
    return {"of": "a"} | members


def b(**members: Any) -> dict[str, Any]:
    rest = {"open": 1, "kept": "[1]", "items": [], "single": 0.1, "data": b""}
    return {"of": "b"} | rest | members


GOOD = {
    "what may be absent": a(),
    "what has a default": a(text="none", number=5, range="high"),
    "what follows": a(word=2, small=3, range="low"),
    "what a condition excludes is not given": a(number=1, large="é\n"),
    "alternatives": b(either="x", items=[{"name": "p", "value": 1}, {"name": "q", "value": 2}]),
    "values of any kind": b(open=[{"k": 127}], kept='[ {"a":[]} ]'),
    "bytes on several lines": b(data=bytes(200)),
    "a row in doubt": {"of": "doubtful", "number": 1, "part": {"more": 2}},
}
BAD = {
    "a check": a(number=1, word=1, small=1),
    "a check under a condition": a(number=7),
    "a member of another case": a(single=1.0),
    "a list of another case": a(items=[{"name": "p", "value": 1}]),
    "alternatives of another case": a(either=1),
    "a member whose condition does not hold": a(small=1),
    "a computed member that disagrees": a(number=5, range="low"),
    "a constant that disagrees": b(of="c"),
    "no word": a(word=3, small=1),
    "a number out of range": a(number=128),
    "elements that are alike": b(items=[{"name": "p", "value": 1}, {"name": "p", "value": 2}]),
    "many elements, two of them alike": b(items=[{"name": f"p{n % 30}", "value": n} for n in range(31)]),
    "an element that is null": b(items=[None]),
    "what is no JSON": b(kept="[1"),
    "more than one value": b(kept="[1],[2]"),
    "JSON of another kind": b(kept="{}"),
    "JSON that says a member twice": b(kept='[{"a":1,"a":2}]'),
    "JSON that is too deep": b(kept="[[[[[]]]]]"),
    "no finite number": b(single=float("inf")),
    "a number that is none in 32 bits": b(single=1e300),
    "a row in doubt": {"of": "doubtful", "number": 1, "part": {"more": 2}, "range": "low"},
}


@pytest.mark.parametrize("name", GOOD)
def test_what_comes_back_is_written(name: str) -> None:
    assert become(GOOD[name]) == [0]


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_come_back_is_given_up(name: str) -> None:
    assert become(BAD[name]) == [2]


def test_rows_in_doubt_are_read_back_among_those_that_are_not() -> None:
    rows = [*GOOD.values(), None, *BAD.values()] * 9
    wanted = [*(0 for _ in GOOD), 1, *(2 for _ in BAD)] * 9
    assert become(*rows) == wanted
    assert become(*reversed(rows)) == wanted[::-1]


def test_text_that_is_none_is_given_up() -> None:
    engine, request = codec().engine, engines.Request(codec().default_root, codec().settings({}))
    records = arrow.to_struct_array([a(large="xyz"), a(large="z")], codec().root(None).logical)
    certain, reading, _ = programs(engine, request)
    given = [each and list(each) for each in engine.writer(request).gathered(records)]
    for each in given:
        if each and each[2] is not None and b"xyzz" in bytes(each[2]):
            each[2] = bytes(each[2]).replace(b"xyzz", b"x\xc3zz")
    assert [list(program.run(given, 0, 2).status) for program in (certain, reading)] == [[2, 0]] * 2


def test_what_is_in_doubt_is_said() -> None:
    _, _, reasons = programs(codec().engine, engines.Request(codec().default_root, codec().settings({})))
    assert reasons == ["Doubtful: what is said of part"]
    event = data.engine("aerospike_json")
    for root in ("record", "key"):
        assert programs(event, engines.Request(root, event.codec.settings({})))[2] == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["aerospike_json", "databus_json"])
def test_altered_rows_become_the_same_whether_all_is_read_back_or_not(name: str) -> None:
    engine = data.engine(name)
    for place, settings in enumerate(encoding.SETTINGS[name]):
        request = engines.Request(engine.codec.default_root, engine.codec.settings(settings))
        type = arrow.arrow_type(engine.root(request).logical)
        rows = encoding.rows(engine, request, differential.seeds(name))
        status, _ = agreed(engine, request, encoding.as_columns(list(encoding.altered(rows, 3000, place)), type))
        assert {0, 2} <= set(status)
