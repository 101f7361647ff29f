"""The engine reads back and compares its output: it gives up exactly the values that a record cannot hold."""

import importlib
import sys
from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow as pa
import pytest

import encoding
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow
from wireloom.runtime.errors import DecodeError, EncodeError

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
PACKAGE = "wireloom_readback"
SPECS = {
    "choosy": """
wireloom: 1
format: choosy
title: What a tag, a condition and a count leave out
encoding: binary
root: Record
types:
  Record:
    fields:
      - kind: uint8
      - width: {type: uint8, derive: len(name)}
      - name: str(width)
      - extra: {type: uint16, when: kind == 1}
      - number: {type: float64, when: kind == 2}
      - narrow: {type: float32, when: kind == 2}
      - count: uint8
      - items: {type: list(Item), count: count}
      - double: {compute: kind * 2, type: int32}
      - rest: bytes
  Item: {fields: [{length: {type: uint8, derive: len(text), hidden: true}}, {text: str(length)}]}
""",
    "whole": """
wireloom: 1
format: whole
title: Bits that take all of an integer, or its sign
encoding: binary
root: Record
types:
  Record:
    fields:
      - first: {type: int64, bits: {all: 0..63}}
      - second: {type: uint64, bits: {high: {at: 3..63, signed: true}, low: 0..2}}
""",
    "narrow": """
wireloom: 1
format: narrow
title: Bits that are derived of what they cannot hold
encoding: binary
root: Record
types:
  Record:
    fields:
      - flags:
          type: uint8
          hidden: true
          bits:
            most: {at: 0..2, derive: number, hidden: true}
            least: {at: 4..6, derive: number, signed: true, hidden: true}
      - low: {type: uint3, derive: number, hidden: true}
      - high: {type: int5, derive: number, hidden: true}
      - number: int8
""",
    "greedy": """
wireloom: 1
format: greedy
title: A list that takes what is left
encoding: binary
root: Record
types: {Record: {fields: [{items: {type: list(uint8), when: size < 9}}]}}
""",
    "namesakes": """
wireloom: 1
format: namesakes
title: Fields that readers do not see, and others that have their names
encoding: binary
root: Record
types:
  Record:
    fields:
      - flags: {type: uint8, as: mode, hidden: true, bits: {mode: 1..2}}
      - next: {type: uint8, derive: number + 1, hidden: true}
      - other: {type: uint8, as: next}
      - number: uint8
""",
    "sentinels": """
wireloom: 1
format: sentinels
title: Values that mean null
encoding: binary
root: Record
types:
  Record:
    fields:
      - number: {type: int16, "null": -1}
      - at: {type: int64, logical: {timestamp: ms}, "null": -1}
      - items: {type: list(Item), count: uint8}
      - kind: uint8
      - late: {type: int8, "null": 0, when: kind == 3}
      - next: {type: int8, derive: "present(late) ? late + 1 : 0", hidden: true}
      - told: {type: uint8, derive: "present(own) ? 1 : 0", hidden: true}
      - own: {type: float32, "null": 0.5, when: told == 1}
      - melted: {type: {select: kind, cases: {1: Plain, 2: Plain, 3: Melted}}, flatten: true}
      - body: {type: {select: kind, cases: {1: One, 2: Two, 3: Three}}}
      - last: Read
  Item: {fields: [{n: {type: int32, "null": -1}}]}
  Plain: {fields: [{pad: {type: uint8, const: 0, hidden: true}}]}
  Melted: {fields: [{wide: {type: uint64, "null": 18446744073709551615}}]}
  One: {fields: [{x: {type: int8, "null": 0}}]}
  Two: {fields: [{y: uint8}]}
  Three: {fields: [{text: {type: str(uint8), "null": none}}, {x: {type: int8, "null": 0}}]}
  Read: {select: {peek: uint8}, cases: {1: Left, 2: Right}}
  Left: {fields: [{tag: {type: uint8, const: 1, hidden: true}}, {p: {type: int8, "null": 0}}]}
  Right:
    fields:
      - tag: {type: uint8, const: 2, hidden: true}
      - p: {type: int8, "null": 0}
      - q: {type: int8, "null": 9}
""",
    "texts": """
wireloom: 1
format: texts
title: Values that mean null, in JSON
encoding: json
root: Record
types:
  Record:
    fields:
      - id: {type: int8, "null": 0}
      - late: {type: str, "null": "-", when: id == 0}
      - body: Body
  Body: {select: {member: kind}, cases: {a: A, b: B}}
  A:
    fields:
      - kind: {type: str, const: a, hidden: true}
      - day: {type: str, logical: date, "null": ""}
  B:
    fields:
      - kind: {type: str, const: b, hidden: true}
      - day: {type: str, logical: date, "null": ""}
      - n: {type: int8, "null": 7}
""",
    "tried": """
wireloom: 1
format: tried
title: Values that mean null, in alternatives and versions
encoding: msgpack
root: Record
errors: {not_framed: Not framed.}
types:
  Record:
    attempt: [{name: framed, type: Framed, fallback: [{codes: [not_framed]}]}, {name: plain, type: Plain}]
  Framed:
    fields:
      - magic: {type: uint8, const: 1, else: not_framed, hidden: true}
      - n: {type: int8, "null": 0}
      - m: {type: float32, "null": -1}
  Plain:
    versions: {old: {arity: 2}, new: {arity: 3}}
    fields:
      - magic: {type: uint8, const: 2, hidden: true}
      - n: {type: int8, "null": 0}
      - fresh: {type: int16, "null": 500, since: new}
""",
    "called": """
wireloom: 1
format: called
title: Conditions by members that readers call otherwise
encoding: binary
root: Record
types:
  Record:
    fields:
      - command: Command
      - delay: {type: uint8, when: command.type == 1}
      - speed: {type: uint8, when: command.kind == 1}
      - level: {type: uint8, when: command.mode == 'fast'}
  Command:
    fields:
      - kind: {type: uint8, as: type}
      - type: {type: uint8, as: class}
      - flags: {type: uint8, hidden: true, bits: {mode: {at: 1..3, values: {0: slow, 1: fast}, raw: modeNumber}}}
""",
    "melted": """
wireloom: 1
format: melted
title: A choice in JSON whose members are those of the record around it
encoding: json
root: Record
types:
  Record:
    fields:
      - id: int8
      - body: {type: {select: id, cases: {1: One, 2: Two}}, flatten: true}
      - last: int8
  One: {fields: [{n: int8}]}
  Two: {fields: []}
""",
    "kinds": """
wireloom: 1
format: kinds
title: Elements that are of different kinds
encoding: msgpack
root: Record
types:
  Record: {fields: [{points: {type: list(Point), unique: id}}]}
  Point: {fields: [{id: bool | int | nil}]}
""",
    "tabled": """
wireloom: 1
format: tabled
title: A table of numbers that are hard to tell apart
encoding: protobuf
root: Record
types:
  Record:
    fields:
      - numbers: {type: list(float), tag: 1, table: true}
      - points: {type: list(Point), tag: 2}
  Point: {fields: [{number: {type: uint8, tag: 1, refers: numbers}}]}
""",
    "open": """
wireloom: 1
format: open
title: Open values and alternatives
encoding: msgpack
root: Record
types:
  Record:
    fields:
      - first: Value
      - other: int | str | nil
      - all: list(Value)
  Value:
    oneOf: {nil: nil, int: int, float: float, str: str, bytes: bytes, list: list(Value), map: "map(Value, Value)"}
""",
}


@pytest.fixture(scope="module", autouse=True)
def _package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    specs, out = tmp_path_factory.mktemp("specs"), tmp_path_factory.mktemp("readback")
    for name, text in SPECS.items():
        (specs / f"{name}.yaml").write_text(text)
    pipeline.generate(Project(specs, out, PACKAGE))
    sys.path.insert(0, str(out))
    yield
    sys.path.remove(str(out))


def codec(name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.{name}").CODEC


def given_up(name: str, rows: list[dict[str, Any] | None]) -> set[int]:
    """The rows that the engine gives up on; checks that it reads the others back unchanged."""
    found = codec(name)
    request = engines.Request(found.default_root, found.settings({}))
    records = arrow.to_struct_array(rows, found.root(None).logical)
    data, left = encoding.written(found.engine, records, request)
    good = [row for row in range(len(rows)) if row not in left]
    again = found.decode(data.take(pa.array(good, pa.int64())))
    assert again.errors.null_count == len(good)
    return left


def row(**members: Any) -> dict[str, Any]:
    return {"kind": 0, "name": "n", "count": 0, "items": [], "rest": b""} | members


GOOD = {
    "nothing special": row(),
    "what is derived is left out": row(width=None, double=None),
    "what is derived agrees": row(width=1, double=0),
    "a member under its condition": row(kind=1, extra=7, double=2),
    "not a number": row(kind=2, number=float("nan"), narrow=1.5),
    "a number of 32 bits": row(kind=2, number=0.1, narrow=0.1),
    "elements": row(count=2, items=[{"text": "a"}, {"text": ""}]),
}
BAD = {
    "a member whose condition does not hold": row(extra=7),
    "a number whose condition does not hold": row(kind=1, extra=7, number=1.0),
    "a derived member that disagrees": row(width=2),
    "a computed member that disagrees": row(double=1),
    "more elements than are counted": row(count=1, items=[{"text": "a"}, {"text": "b"}]),
    "elements that another member swallows": row(count=0, items=[{"text": "a"}]),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_comes_back_is_written(name: str) -> None:
    assert given_up("choosy", [GOOD[name]]) == set()


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_come_back_is_given_up(name: str) -> None:
    assert given_up("choosy", [BAD[name]]) == {0}


@pytest.mark.parametrize("places", [[0], [63], [64], [62, 63, 64, 65], [199], list(range(0, 200, 7)), list(range(200))])
def test_of_many_rows_those_alone_that_do_not_come_back_are_given_up(places: list[int]) -> None:
    good, bad = list(GOOD.values()), list(BAD.values())
    rows: list[dict[str, Any] | None] = [good[place % len(good)] for place in range(200)]
    for place in places:
        rows[place] = bad[place % len(bad)]
    assert given_up("choosy", rows) == set(places)
    for place in range(5, 200, 11):
        rows[place] = None
    assert given_up("choosy", rows) == {place for place in places if rows[place] is not None}


def written_alike(name: str, rows: list[dict[str, Any]]) -> set[int]:
    """The rows that the engine gives up on; of all of them it writes what builders write."""
    found = codec(name)
    records = arrow.to_struct_array(rows, found.root(None).logical)
    assert found.encode(records).to_pylist() == [found.build(each) for each in rows]
    return given_up(name, list(rows))


def test_conditions_by_members_that_readers_call_otherwise_are_decided_by_the_engine() -> None:
    def command(kind: int, type: int, mode: str | None, number: int) -> dict[str, Any]:
        return {"type": kind, "class": type, "mode": mode, "modeNumber": number}

    rows: list[dict[str, Any]] = [
        {"command": command(1, 1, "fast", 1), "delay": 5, "speed": 6, "level": 7},
        {"command": command(2, 1, "slow", 0), "delay": 5, "speed": None, "level": None},
        {"command": command(1, 2, None, 7), "delay": None, "speed": 6, "level": None},
    ]
    assert written_alike("called", rows) == set()


def test_nulls_that_have_a_value_on_the_wire_are_written() -> None:
    def row(kind: int, **members: Any) -> dict[str, Any]:
        body = {1: {"x": 1}, 2: {"y": 1}, 3: {"text": None, "x": None}}[kind]
        last = {"p": None, "q": None}
        return {"number": None, "at": None, "items": [], "kind": kind, "body": body, "last": last} | members

    rows = [row(1), row(1, number=5, body={"x": None}), row(2), row(2, own=1.5, last={"p": 1, "q": None})]
    rows += [row(3), row(3, late=7, wide=3), row(3, items=[{"n": None}, {"n": 0}], last={"p": None, "q": 3})]
    rows += [row(3, body={"text": "a", "x": None}), row(3, body={"text": None, "x": 7}, own=2.5)]
    used = {4, 6, 7, 8}  # an expression uses the fields of kind 3, which have a condition
    assert written_alike("sentinels", rows) == used


def test_nulls_under_a_condition_that_does_not_hold_stay_null() -> None:
    found = codec("sentinels")
    row = {"kind": 2, "items": [], "body": {"y": 1}, "last": {}}
    (data,) = found.encode(arrow.to_struct_array([row], found.root(None).logical)).to_pylist()
    assert data == bytes.fromhex("ffff ffffffffffffffff 00 02 00 00 00 01 01 00")
    for wrong in ({"late": 1}, {"wide": 1}, {"body": {"y": 1, "x": 1}}):
        assert given_up("sentinels", [row | wrong]) == {0}


def test_columns_that_are_missing_are_nulls_that_have_a_value() -> None:
    found = codec("sentinels")
    rows = [{"items": [], "kind": 2, "body": {"y": y}, "last": {"q": 1}} for y in (1, 2)]
    records = arrow.to_struct_array(rows, found.root(None).logical)
    names = ["items", "kind", "body", "last"]
    fewer = pa.StructArray.from_arrays([records.field(name) for name in names], names)
    before = found.engine.rebuilt
    assert found.encode(fewer).equals(found.encode(records))
    assert found.encode(fewer.slice(1)).equals(found.encode(records.slice(1)))
    assert found.engine.rebuilt == before


def test_nulls_that_have_a_value_are_written_in_json() -> None:
    rows: list[dict[str, Any]] = [{"id": None, "late": None, "body": {"day": None}}, {"id": 1, "body": {"n": 1}}]
    rows += [{"id": None, "late": "x", "body": {"day": date(2026, 1, 31), "n": None}}]
    assert written_alike("texts", rows) == set()


def test_nulls_that_have_a_value_are_written_in_alternatives_and_versions() -> None:
    rows: list[dict[str, Any]] = [{"kind": kind, "n": n} for kind in ("framed", "plain", None) for n in (None, 1)]
    rows += [{"kind": "framed", "n": None, "m": 3.0}, {"kind": "plain", "n": None, "fresh": 7}]
    assert written_alike("tried", rows) == set()


def test_what_melts_into_a_record_in_json_leaves_its_other_members_alone() -> None:
    assert written_alike("melted", [{"id": 1, "n": 5, "last": 1}, {"id": 2, "n": None, "last": 1}]) == set()
    assert given_up("melted", [{"id": 2, "n": 5, "last": 1}, {"id": 1, "n": None, "last": 1}]) == {0, 1}


def test_rows_that_are_long_come_back_as_well() -> None:
    long = [row(rest=bytes([place]) * (1 << 17), count=1, items=[{"text": str(place)}]) for place in range(40)]
    assert given_up("choosy", list(long)) == set()
    long[17] |= {"extra": 5}
    assert given_up("choosy", list(long)) == {17}


def test_open_values_come_back_as_they_were_written() -> None:
    values: list[Any] = [
        1,
        "a",
        b"b",
        None,
        1.5,
        [1, [2, {"k": None}]],
        {"a": {"b": [b""]}},
        -(1 << 63),
        float("nan"),
    ]
    rows: list[dict[str, Any] | None] = []
    for place, value in enumerate(values):
        rows.append({"first": value, "other": None, "all": values[:place]})
        rows.append({"first": values[-1 - place], "other": "x" if place % 2 else 7, "all": [value] * place})
    assert given_up("open", rows * 20) == set()


def test_bits_up_to_the_highest_are_built_where_the_engine_has_no_room_for_them() -> None:
    found = codec("whole")
    for data in (b"\xff" * 16, bytes(16), b"\x80" + bytes(14) + b"\x07"):
        read = found.decode(pa.array([data]))
        assert read.errors.null_count == 1
        assert read.records.to_pylist() == [found.parse(data)]
        assert found.encode(read.records).to_pylist() == [data] == [found.build(found.parse(data))]
    assert not found.encode_path().native


def test_bits_that_are_derived_of_what_they_cannot_hold_are_given_up() -> None:
    numbers = [0, 3, 4, 7, 8, 15, 16, -1, -4, -16, -17, 127, -128]
    assert given_up("narrow", [{"number": number} for number in numbers]) == set(range(2, len(numbers)))


def test_a_list_that_is_null_does_not_come_back_as_one_without_elements() -> None:
    rows: list[dict[str, Any] | None] = [{"items": [1]}, {"items": []}, {"items": None}, {"items": [0] * 9}]
    assert given_up("greedy", rows) == {2, 3}


def test_of_elements_that_shall_differ_true_is_not_one() -> None:
    found = codec("kinds")
    data = bytes.fromhex("91 95 91c3 9101 91c2 9100 91c0")
    value = found.parse(data)
    assert [each["id"] for each in value["points"]] == [True, 1, False, 0, None]
    assert found.build(value) == data
    assert found.decode(pa.array([data])).errors.null_count == 1
    with pytest.raises(DecodeError, match="duplicate_element"):
        found.parse(bytes.fromhex("91 93 91c3 9101 91c3"))


def test_a_table_has_one_entry_for_what_is_the_same_and_two_for_zeros_of_either_sign() -> None:
    found, numbers = codec("tabled"), [float("nan"), 0.0, -0.0, float("nan"), 0.0]
    data = found.build({"points": [{"number": number} for number in numbers]})
    value = found.parse(data)
    assert [str(each) for each in value["numbers"]] == ["nan", "0.0", "-0.0"]
    assert [str(each["number"]) for each in value["points"]] == [str(number) for number in numbers]
    assert found.encode(found.decode(pa.array([data])).records).to_pylist() == [data]


def test_a_table_that_is_given_has_every_entry_that_is_referred_to() -> None:
    found, points = codec("tabled"), [{"number": 2.0}]
    records = found.decode(pa.array([found.build({"points": points})])).records
    for numbers in ([2.0], [1.0, 2.0, 2.5]):
        row = {"numbers": numbers, "points": points}
        data = found.build(row)
        assert found.parse(data)["numbers"] == numbers
        assert found.encode(pa.array([row], records.type)).to_pylist() == [data]
    for write in (found.build, lambda row: found.encode(pa.array([row], records.type))):
        with pytest.raises(EncodeError, match="a list of 1 to be read back, found a list of 2"):
            write({"numbers": [1.0], "points": points})


def test_what_readers_do_not_see_takes_nothing_of_what_has_its_name() -> None:
    found, value = codec("namesakes"), {"mode": 1, "next": 9, "number": 4}
    assert found.build(value) == bytes.fromhex("02 05 09 04")
    assert given_up("namesakes", [value]) == set()
    records = arrow.to_struct_array([value], found.root(None).logical)
    assert found.encode(records).to_pylist() == [found.build(value)]
