"""Conversion between formats with one schema: values survive the way back, or the loss is reported."""

import importlib
import json
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from conftest import shipped_formats
from proof.modules import documents, generated, resolved
from wireloom.cli.app import app
from wireloom.runtime.columns.logical import Binary, Boolean, Integer, List, LogicalField, Map, Record, Text
from wireloom.runtime.conversion import conversion, placing
from wireloom.runtime.conversion.columns import fitted
from wireloom.runtime.conversion.conversion import Conversion
from wireloom.runtime.conversion.fitting import Side, differences
from wireloom.runtime.errors import ParameterError
from wireloom.runtime.values import Pairs
from wireloom_formats import aerospike_json, aerospike_msgpack, databus_event, databus_json, kpl_record

PAIRS = [
    (aerospike_msgpack, aerospike_json),
    (aerospike_json, aerospike_msgpack),
    (databus_event, databus_json),
    (databus_json, databus_event),
]
OUT = str(Path(__file__).parents[2] / "generated")


def messages(module) -> list[bytes]:
    """The good examples of a format's default root and parameters."""
    (format,) = (each for each in shipped_formats() if each.name == module.FORMAT)
    root = format.roots[0].name
    found = [each for each in format.examples if each.root == root and each.error is None and not each.parameters]
    return [each.data for each in found]


def holds(before, after) -> bool:
    """Whether every non-null value survived; a required member may have a default instead of null."""
    match before:
        case None:
            return True
        case dict():
            return after is not None and all(holds(value, after[name]) for name, value in before.items())
        case list():
            return len(before) == len(after) and all(map(holds, before, after))
        case _:
            return before == after


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda module: module.FORMAT)
def test_members_not_reported_as_lost_survive_the_way_back(source, target):
    data = messages(source)
    there = conversion(source, target).of_messages(pa.array(data))
    back = conversion(target, source).of_messages(there.data)
    converted = 0
    for message, made, error, lost, again in zip(
        data, *(part.to_pylist() for part in (there.data, there.errors, there.lost, back.data)), strict=True
    ):
        assert (made is None) == (error is not None)
        if made is None:
            assert lost == []
            continue
        converted += 1
        target.parse(made)
        if not lost:
            assert holds(source.parse(message), source.parse(again))
    assert converted > len(data) / 3


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda module: module.FORMAT)
def test_a_strict_conversion_refuses_what_loses_something(source, target):
    data = pa.array(messages(source))
    loose = conversion(source, target).of_messages(data)
    strict = conversion(source, target, strict=True).of_messages(data)
    everything = sorted({path for lost in loose.lost.to_pylist() for path in lost})
    allowed = conversion(source, target, strict=True, may_lose=everything).of_messages(data)
    assert allowed == loose
    for made, lost, kept, error in zip(
        *(part.to_pylist() for part in (loose.data, loose.lost, strict.data, strict.errors)), strict=True
    ):
        assert kept == (None if lost else made)
        assert not lost or "the conversion is strict" in error


@pytest.mark.parametrize("source", [aerospike_json, databus_event], ids=lambda module: module.FORMAT)
def test_may_lose_names_a_member_at_any_depth(source):
    target = {aerospike_json: aerospike_msgpack, databus_event: databus_json}[source]
    for field in source.CODEC.root(None).logical.fields:
        conversion(source, target, strict=True, may_lose=[field.name, f"{field.name}[0]", f"{field.name}[0][1]"])
    name = source.CODEC.root(None).logical.fields[0].name
    with pytest.raises(ParameterError, match=f"may_lose '{name}x': .* has no such member; did you mean '{name}'"):
        conversion(source, target, strict=True, may_lose=[f"{name}x"])
    with pytest.raises(ParameterError, match=r"may_lose 'zz': .* has no such member; there are "):
        conversion(source, target, strict=True, may_lose=[name, "zz"])
    with pytest.raises(ParameterError, match="needs strict"):
        conversion(source, target, may_lose=[name])


def test_derived_members_are_not_lost():
    data = messages(databus_event)[0]
    made = conversion(databus_event, databus_json).of_messages(pa.array([data]))
    assert made.lost.to_pylist() == [[]]
    assert "headerCrc" not in json.loads(made.data[0].as_py())
    assert conversion(databus_json, databus_event).of_messages(made.data).data[0].as_py() == data


def test_bad_records_and_nulls_stay_in_their_rows():
    data = messages(aerospike_json)[0]
    made = conversion(aerospike_json, aerospike_msgpack).of_messages(pa.array([data, b"{", None, data]))
    assert [each is None for each in made.data.to_pylist()] == [False, True, True, False]
    assert [each and each.partition(" ")[0] for each in made.errors.to_pylist()] == [None, "truncated,", None, None]


def test_what_the_target_cannot_say_in_values_of_any_type_becomes_text():
    key = {"namespace": "n", "set": None, "digest": bytes(20), "userKey": None}
    bins = [{"name": "b", "type": "LIST", "flags": 0, "value": [b"\1\2", {"k": b"x"}]}]
    value = {"msg": "write", "key": key, "generation": 1, "expiry": 0, "lut": 1, "bins": bins}
    made = conversion(aerospike_msgpack, aerospike_json).of_messages(pa.array([aerospike_msgpack.build(value)]))
    assert made.lost.to_pylist() == [["bins[0].value"]]
    assert json.loads(made.data[0].as_py())["bins"][0]["value"] == ["AQI=", {"k": "eA=="}]


def test_what_numbers_mean_is_converted_whatever_each_format_counts_in(case_package):
    record, line = (
        importlib.import_module(f"{case_package.__name__}.measurement_{name}") for name in ("record", "line")
    )
    there = conversion(record, line)
    assert {(each.path, each.detail) for each in there.differences} == {
        ("kindNumber", "the target has no member for it"),
        ("lasted", "the source has no such member"),
    }
    value = {
        "id": "00112233-4455-6677-8899-aabbccddeeff",
        "takenAt": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        "sentAt": datetime(2023, 11, 14, 22, 13, 20, 250000, tzinfo=UTC),
        "day": date(2023, 12, 4),
        "temperature": Decimal("-12.34"),
        "parent": 7,
        "ratio": 0.5,
        "kind": "heat",
        "count": 1005,
        "steps": [datetime(1970, 1, 1, tzinfo=UTC)],
    }
    data = record.build(value)
    made = there.of_messages(pa.array([data]))
    assert made.lost.to_pylist() == [[]]
    assert json.loads(made.data[0].as_py()) == {
        **{name: value[name] for name in ("id", "parent", "ratio", "kind", "count")},
        "takenAt": 1_700_000_000_000,
        "sentAt": "2023-11-14T22:13:20.250000Z",
        "day": "2023-12-04",
        "temperature": -12_340,
        "steps": [0],
    }
    back = conversion(line, record)
    assert [(each.path, each.detail) for each in back.differences if each.kind == "narrower"] == [
        ("takenAt", "the target counts in units of 1000000 us")
    ]
    assert back.of_messages(made.data).data.to_pylist() == [data]
    finer = line.build({**value, "takenAt": datetime(2023, 11, 14, 22, 13, 20, 1000, tzinfo=UTC)})
    assert "takenAt" in back.of_messages(pa.array([finer])).errors[0].as_py()


def test_formats_that_share_no_member_are_not_converted():
    with pytest.raises(ParameterError, match="no column of the same name"):
        conversion(kpl_record, aerospike_json, target_root="key")
    with pytest.raises(ParameterError, match="is a list"):
        conversion(aerospike_msgpack, aerospike_json, target_root="batch_keys")


# --- fitting ----------------------------------------------------------------------------------------------------------


def record(**types) -> Record:
    return Record(tuple(LogicalField(name, type, nullable=True) for name, type in types.items()))


def test_differences_are_found_wherever_they_are():
    inner, other = record(x=Integer(64, signed=True), y=Text()), record(x=Integer(32, signed=True), z=Boolean())
    source = record(a=inner, b=List(inner), c=Map(Text(), inner), d=Text(), e=Text())
    target = record(a=other, b=List(other), c=Map(Text(), other), d=Binary(), f=Text())
    found = {(each.path, each.kind) for each in differences(Side(source), Side(target, ("a.z",)))}
    inside = {(f"{name}.{member}", kind) for name in "abc" for member, kind in (("x", "narrower"), ("y", "dropped"))}
    assert found == inside | {("b.z", "null"), ("c.z", "null"), ("d", "narrower"), ("e", "dropped"), ("f", "null")}


@pytest.mark.parametrize("start", [0, 1])
def test_members_are_left_out_within_lists_and_structs(start):
    values = [
        {"a": {"x": 1, "y": 2}, "b": [{"x": 1, "y": None}, {"x": 2, "y": 3}]},
        {"a": None, "b": []},
        {"a": {"x": None, "y": None}, "b": None},
        {"a": {"x": 1, "y": None}, "b": [{"x": 5, "y": 6}, None]},
    ]
    array = pa.array(values).slice(start)
    whole, part = (record(**dict.fromkeys(names, Integer(64, signed=True))) for names in ("xy", "x"))
    source, target = record(a=whole, b=List(whole)), record(a=part, b=List(part))
    made = fitted(array, Side(source), Side(target))
    assert made.records.to_pylist() == [
        {
            "a": each["a"] and {"x": each["a"]["x"]},
            "b": each["b"] if each["b"] is None else [one and {"x": one["x"]} for one in each["b"]],
        }
        for each in values[start:]
    ]
    rows = {"a.y": {0 - start} - {-1}, "b.y": {0 - start, 3 - start} - {-1}}
    assert {path: {row for row, lost in made.lost.items() if path in lost} for path in rows} == rows
    assert not made.refused
    assert fitted(array, Side(source), Side(source)).records is array
    assert "b" not in fitted(array, Side(source), Side(source, ("b",))).records[0].as_py()


@contextmanager
def formats(*types: str, encodings: tuple[str, str] = ("json", "json")) -> Iterator[list[ModuleType]]:
    """Modules of formats whose types these are, `R` the root."""
    head = {"wireloom": 1, "title": "T", "root": "R"}
    with ExitStack() as stack:
        found = []
        for place, (text, encoding) in enumerate(zip(types, encodings, strict=True)):
            name = f"side{place}"
            spec = head | {"format": name, "encoding": encoding, "types": yaml.safe_load(text)}
            made = stack.enter_context(generated(resolved(documents({f"{name}.yaml": spec}))))
            found.append(made.module)
        yield found


WHOLE, PART = "{a: int, b: 'int?'}", "{a: int}"
BARE = [{"a": 1, "b": 2}, {"a": 3, "b": None}]
CONTAINERS = {
    "a struct": ("S", lambda each: each),
    "a list": ("'list(S)'", lambda each: [each]),
    "a map": ("'map(str, S)'", lambda each: {"k": each}),
    "a list of lists": ("'list(list(S))'", lambda each: [[], [each]]),
    "a map of lists": ("'map(str, list(S?))'", lambda each: {"j": [], "k": [None, each]}),
    "a union": ("{oneOf: {i: int, s: S}}", lambda each: each),
    "a list of unions": ("'list(U)'", lambda each: [1, each]),
    "a union of a map": ("{oneOf: {i: int, m: 'map(str, S)'}}", lambda each: {"k": each}),
}


def fields(text: str) -> str:
    return "{fields: [" + ", ".join(f"{{{each}}}" for each in text.strip("{}").split(", ")) + "]}"


def types(type: str, struct: str) -> str:
    union = "\nU: {oneOf: {i: int, s: S}}" if "U" in type else ""
    return f"R: {{fields: [{{id: int}}, {{m: {{type: {type}, optional: true}}}}]}}\nS: {fields(struct)}{union}"


@pytest.mark.parametrize(("type", "holding"), CONTAINERS.values(), ids=CONTAINERS)
def test_members_that_only_one_format_has_are_left_out_wherever_they_are(type, holding):
    rows = [{"id": 1, "m": holding(each)} for each in BARE] + [{"id": 1}]
    with formats(types(type, WHOLE), types(type, PART)) as (source, target):
        there = conversion(source, target)
        assert [(each.path, each.kind) for each in there.differences] == [("m.b", "dropped")]
        made = there.of_messages(pa.array([source.build(each) for each in rows]))
        assert made.errors.to_pylist() == [None, None, None]
        assert made.lost.to_pylist() == [["m.b"], [], []]
        wanted = [{"id": 1, "m": holding({"a": each["a"]})} for each in BARE] + [{"id": 1}]
        assert made.data.to_pylist() == [target.build(each) for each in wanted]
        back = conversion(target, source).of_messages(made.data)
        assert back.lost.to_pylist() == [[], [], []]
        kept = [{"id": 1, "m": holding({"a": each["a"], "b": None})} for each in BARE] + [{"id": 1}]
        assert back.data.to_pylist() == [source.build(each) for each in kept]


@pytest.mark.parametrize(
    ("given", "wanted", "taken", "refused"),
    [
        ("int | str | list(int)", "int | str", [1, "x"], [([1], "expected int or str, found list")]),
        ("int | str", "int", [1], [("x", "expected int, found str")]),
        ("int", "int | str", [1], []),
        ("list(int | str)", "list(int)", [[1, 2], []], [([1, "x"], "expected int, found str")]),
        ("map(str, int)", "map(str, int | str)", [{"k": 1}, {}], []),
        ("map(str, int | str)", "map(str, str)", [{"k": "x"}, {}], [({"k": 1}, "expected str, found int")]),
        ("list(int)", "map(str, int)", [], [([1], "expected map, found list")]),
        ("list(int)", "int", [], [([1], "expected int, found list")]),
        ("int", "list(int)", [], [(1, "expected list, found int")]),
        ("int | str", "bool | list(int)", [], [(1, "expected bool or list, found int")]),
    ],
)
def test_a_value_of_a_kind_that_the_target_does_not_take_costs_its_record_alone(given, wanted, taken, refused):
    text = "R: {{fields: [{{id: int}}, {{u: {{type: '{}', optional: true}}}}]}}".format
    with formats(text(given), text(wanted)) as (source, target):
        rows = [{"id": 1, "u": each} for each in [*taken, *(value for value, _ in refused)]] + [{"id": 1}]
        there = conversion(source, target)
        assert bool(refused) == any(each.kind == "narrower" for each in there.differences)
        made = there.of_messages(pa.array([source.build(each) for each in rows]))
        assert made.errors.to_pylist() == [*(None for _ in taken), *(f"u: {said}" for _, said in refused), None]
        assert made.lost.to_pylist() == [[] for _ in rows]
        for row, value in enumerate(rows):
            if made.errors[row].as_py() is None:
                assert made.data[row].as_py() == target.build(value)


@pytest.mark.parametrize(
    ("type", "holding", "path"),
    [
        ("'list(S)'", lambda each: [each], "m[0].b"),
        ("'map(str, S)'", lambda each: {"k": each}, "m[0].b"),
        ("'list(map(str, S))'", lambda each: [{}, {"k": each}], "m[1][0].b"),
        ("{oneOf: {i: int, s: S}}", lambda each: each, "m.b"),
    ],
)
def test_a_member_without_a_place_in_this_record_is_lost_wherever_it_is(type, holding, path):
    rows = [{"id": 1, "m": holding(each)} for each in ({"a": 1, "b": 2}, {"a": 2, "b": 2}, {"a": 2, "b": None})]
    text = "R: {{fields: [{{id: int}}, {{m: {{type: {}}}}}]}}\nS: {{fields: [{{a: int}}, {{b: {}}}]}}".format
    sides = ("{type: int, optional: true}", "{type: int, when: a == 1, optional: true}")
    with formats(*(text(type, each) for each in sides)) as (source, target):
        made = conversion(source, target).of_messages(pa.array([source.build(each) for each in rows]))
        assert made.errors.to_pylist() == [None, None, None]
        assert made.lost.to_pylist() == [[], [path], []]
        assert made.data[1] == made.data[2]


def test_a_value_of_any_type_becomes_text_wherever_it_is():
    members = "[{id: int}, {m: 'map(str, S)'}, {u: 'int | list(S)'}]"
    open_types = "V: {{oneOf: {{n: nil, b: bool, i: int, f: float, s: str, l: list(V), {}}}}}".format
    kinds = ("raw: bytes, m: 'map(V, V)'", "m: 'map(str, V)'")
    sides = [f"R: {{fields: {members}}}\nS: {{fields: [{{v: V}}]}}\n{open_types(each)}" for each in kinds]
    with formats(*sides, encodings=("msgpack", "json")) as (source, target):
        value = {"id": 1, "m": {"j": {"v": 1}, "k": {"v": b"x"}}, "u": [{"v": {1: b"x"}}]}
        made = conversion(source, target).of_messages(pa.array([source.build(value)]))
        assert made.errors.to_pylist() == [None]
        assert made.lost.to_pylist() == [["m[1].v", "u[0].v"]]
        wanted = {"id": 1, "m": {"j": {"v": 1}, "k": {"v": "eA=="}}, "u": [{"v": {"1": "eA=="}}]}
        assert json.loads(made.data[0].as_py()) == wanted


@pytest.mark.parametrize(
    ("key", "text"),
    [(math.nan, "NaN"), (-math.inf, "-Infinity"), (1.5, "1.5"), ([math.nan, 1], '["NaN",1]'), (None, "null")],
)
def test_a_key_that_is_no_text_becomes_one_whatever_number_it_is(key, text):
    open_type = (
        "R: {{fields: [{{v: V}}]}}\nV: {{oneOf: {{n: nil, i: int, f: float, s: str, l: list(V), m: 'map({}, V)'}}}}"
    )
    with formats(*map(open_type.format, ("V", "str")), encodings=("msgpack", "json")) as (source, target):
        rows = [{"v": Pairs([(key, 1)])}, {"v": 2}]
        made = conversion(source, target).of_messages(pa.array([source.build(each) for each in rows]))
        assert made.errors.to_pylist() == [None, None]
        assert [json.loads(each) for each in made.data.to_pylist()] == [{"v": {text: 1}}, {"v": 2}]


# --- many records at once ---


def one_by_one(monkeypatch, there: Conversion, data: pa.Array):
    """The conversion with builders only."""
    with monkeypatch.context() as patched:
        patched.setattr(placing, "written", lambda records, *_: placing.Written([None] * len(records), {}))
        return there.of_messages(data)


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda module: module.FORMAT)
def test_records_that_are_written_together_are_those_that_builders_make(monkeypatch, source, target):
    data, there = pa.array(messages(source)), conversion(source, target)
    together, alone = there.of_messages(data), one_by_one(monkeypatch, there, data)
    assert replace(together, built=alone.built) == alone
    assert len(together.built) < len(alone.built)


PLACES = {
    "a condition": (["{a: int}", "{b: {type: int, when: a == 1, optional: true}}"], {"a": 2, "b": 5}, {"a": 1, "b": 5}),
    "a struct": (
        ["{a: int}", "{b: {type: S, when: a == 1, optional: true}}", "{c: {type: int, when: a == 1, optional: true}}"],
        {"a": 2, "b": {"x": 1}, "c": 3},
        {"a": 1, "b": {"x": 1}, "c": 3},
    ),
    "within a struct": (
        ["{a: int}", "{b: {type: T, optional: true}}", "{c: {type: int, when: a == 1, optional: true}}"],
        {"a": 2, "b": {"x": 2, "y": 3}, "c": 3},
        {"a": 1, "b": {"x": 1, "y": 3}, "c": 3},
    ),
    "conditions on one another": (
        [
            "{a: 'int?'}",
            "{b: {type: int, when: a == null, optional: true}}",
            "{c: {type: int, when: b == null, optional: true}}",
        ],
        {"a": 1, "b": 5, "c": 6},
        {"b": 5},
    ),
    "what follows from what has no place": (
        [
            "{a: int}",
            "{b: {type: int, when: a == 1, optional: true}}",
            "{f: {type: bool, derive: present(b), hidden: true}}",
            "{c: {type: int, when: f, optional: true}}",
        ],
        {"a": 2, "b": 5, "c": 6},
        {"a": 1, "b": 5, "c": 6},
    ),
    "a value that is refused where it has a place": (
        ["{a: int}", "{b: {type: int8, when: a == 1, optional: true}}"],
        {"a": 2, "b": 1000},
        {"a": 1, "b": 1000},
    ),
}
BY_ITSELF = {"a condition", "a struct", "within a struct"}  # of which the engine has the word, and no builder


def sides(members: list[str]) -> list[str]:
    """The types of a format in which each member may be there, and of one in which that depends on the record."""
    type = next((each for each in "ST" if any(f"type: {each}," in member for member in members)), "int")
    plain = f"{{a: 'int?'}}, {{b: {{type: {type}, optional: true}}}}, {{c: {{type: int, optional: true}}}}"
    inner = {
        "S": ("", ""),
        "T": (", {y: {type: int, optional: true}}", ", {y: {type: int, when: x == 1, optional: true}}"),
    }
    below = [f"{type}: {{fields: [{{x: int}}{each}]}}" for each in inner.get(type, ())] or ["", ""]
    return [f"R: {{fields: [{each}]}}\n{more}" for each, more in zip((plain, ", ".join(members)), below, strict=True)]


@pytest.mark.parametrize("case", PLACES)
def test_what_a_record_has_no_place_for_depends_on_that_record(monkeypatch, case):
    members, lacking, placed = PLACES[case]
    with formats(*sides(members)) as (source, target):
        data = pa.array([source.build(each) for each in (lacking, placed, lacking)])
        there = conversion(source, target)
        together, alone = there.of_messages(data), one_by_one(monkeypatch, there, data)
        assert replace(together, built=alone.built) == alone
        lost = together.lost.to_pylist()
        assert lost[0]
        assert lost == [lost[0], [], lost[0]]
        assert bool(together.built) != (case in BY_ITSELF)


def test_a_value_that_no_column_takes_costs_the_others_nothing():
    text = "R: {{fields: [{{a: {}}}]}}".format
    with formats(text("int"), text("int8")) as (source, target):
        made = conversion(source, target).of_messages(pa.array([source.build({"a": n}) for n in (1, 2, 1000, 3, 4)]))
        assert [each is None for each in made.data.to_pylist()] == [False, False, True, False, False]
        assert made.built == {2}


# --- the command -----------------------------------------------------------------------------------------------------


def run(*arguments: object) -> object:
    return CliRunner().invoke(app, ["convert", *map(str, arguments), "--out", OUT])


def test_convert_writes_a_stream_in_the_framing_of_its_format(tmp_path):
    lines, stream = tmp_path / "events.jsonl", tmp_path / "events.bin"
    lines.write_bytes(b"\n".join([*messages(aerospike_json)[:3], b"{}"]) + b"\n")
    result = run(
        "--from", "aerospike_json", "--to", "aerospike_msgpack", lines, "-o", stream, "--to-framing", "length-prefixed"
    )
    assert result.exit_code == 1
    assert "record 3, at byte" in result.stderr
    assert "3 records converted, 1 not" in result.stderr
    again = run("--from", "aerospike_msgpack", "--to", "aerospike_json", stream, "--framing", "length-prefixed")
    assert again.exit_code == 0, again.output
    given = [aerospike_json.parse(each) for each in messages(aerospike_json)[:3]]
    assert [aerospike_json.parse(line) for line in again.stdout_bytes.splitlines()] == given


def test_convert_explains_what_will_be_lost():
    result = run("--from", "databus_event", "--to", "databus_json", "--explain")
    assert result.exit_code == 0
    assert "attributes is lost: the target has no member for it" in result.output


def test_a_file_that_was_there_stays_where_no_record_is_converted(tmp_path):
    lines, target, link = tmp_path / "lines", tmp_path / "there" / "target", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to(target)
    asked = ("--from", "aerospike_json", "--to", "aerospike_msgpack", "--to-framing", "length-prefixed", lines)
    lines.write_bytes(b"{}\n[]\n")
    for output in (target, link):
        for before in (None, b"precious"):
            target.unlink(missing_ok=True)
            if before is not None:
                target.write_bytes(before)
            result = run(*asked, "-o", output)
            assert (result.exit_code, "0 records converted, 2 not" in result.stderr) == (1, True)
            assert (target.read_bytes() if target.exists() else None) == before
    lines.write_bytes(b"{}\n" + messages(aerospike_json)[0] + b"\n")
    result = run(*asked, "-o", link)
    assert (result.exit_code, "1 record converted, 1 not" in result.stderr) == (1, True)
    good = target.read_bytes()
    assert aerospike_msgpack.parse(good[4:]) == aerospike_json.parse(messages(aerospike_json)[0])
    assert link.is_symlink()
    lines.write_bytes(b"")
    assert run(*asked, "-o", target).exit_code == 0
    assert target.read_bytes() == b"", "no records are no bad ones"
    assert sorted(path.name for path in (*tmp_path.iterdir(), *target.parent.iterdir())) == [
        "lines", "link", "target", "there",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--may-lose", "opcode"], "--may-lose needs --strict"),
        (["--strict", "--may-lose", "opcod"], "did you mean 'opcode'?"),
    ],
)
def test_convert_refuses_a_loss_that_means_nothing(tmp_path, options, said):
    (tmp_path / "in").write_bytes(messages(databus_event)[0])
    asked = ("--from", "databus_event", "--to", "databus_json", tmp_path / "in", "-o", tmp_path / "out")
    result = run(*asked, *options)
    assert (result.exit_code, said in result.output, (tmp_path / "out").exists()) == (2, True, False), result.output


def test_convert_asks_for_what_is_missing(tmp_path):
    assert "name the file" in run("--from", "databus_event", "--to", "databus_json").output
    file = tmp_path / "x"
    file.write_bytes(b"")
    assert run("--from", "databus_event", "--to", "databus_json", file, "-o", file).exit_code == 2
