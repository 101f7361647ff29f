"""The columns of a format that tables store, and names that readers of tables would confuse."""

import importlib
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wireloom import pipeline
from wireloom.failures import MisuseError
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import Job, Plan
from wireloom.ingest.tables.agreement import Terms, compared
from wireloom.ingest.tables.storable_columns import fitted, left_out, tabled
from wireloom.ingest.tables.views import view_text
from wireloom.project import Project

SPEC = """
wireloom: 1
format: thing
title: A thing
encoding: json
framing: lines
root: Thing
types:
  Thing: {fields: [FIELDS]}
"""


@pytest.fixture
def things(tmp_path, monkeypatch):
    """A job of such fields and of these lines."""

    def made(fields, *lines, types=""):
        package = f"things_{tmp_path.name}".replace("-", "_").lower()
        for name in ("specs", "input"):
            (tmp_path / name).mkdir()
        (tmp_path / "specs" / "thing.yaml").write_text(SPEC.replace("FIELDS", fields) + types)
        pipeline.generate(Project(tmp_path / "specs", tmp_path / "made", package))
        monkeypatch.syspath_prepend(str(tmp_path / "made"))
        importlib.invalidate_caches()
        module = importlib.import_module(f"{package}.thing")
        (tmp_path / "input" / "a").write_text("".join(json.dumps(line) + "\n" for line in lines))
        plan = Plan(module.__name__, module.FORMAT, module.MEANING)
        return Job(plan, str(tmp_path / "input"), str(tmp_path / "output"))

    return made


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("{a: int32}, {wireloom_batch: int32}", "wireloom_batch is a reserved column name"),
        ("{a: int32}, {Wireloom_Version: int32}", "Wireloom_Version is a reserved column name"),
        ("{a: int32}, {A: str}", "columns a and A differ only in case"),
        ("{a: int32}, {l: 'list(map(str, S))'}", r"columns l\.b and l\.B differ only in case"),
    ],
)
def test_columns_that_readers_would_take_for_others_are_refused_before_anything_is_written(
    things, tmp_path, fields, said
):
    job = things(fields, {}, types="  S: {fields: [{b: int32}, {B: int32}]}\n" if "S)" in fields else "")
    with pytest.raises(MisuseError, match=f"{said}.*`as: NAME`"):
        ingest(LocalEngine(1), job)
    assert not (tmp_path / "output" / "records").exists()


def test_names_below_the_columns_may_be_those_of_the_tables(things):
    job = things("{s: S}", {"s": {"wireloom_batch": 5}}, types="  S: {fields: [{wireloom_batch: int32}]}\n")
    assert ingest(LocalEngine(1), job).rows == 1


def test_what_has_no_value_is_left_out_of_tables_and_a_line_says_so(things, tmp_path):
    types = "  E: {fields: []}\n  T: {fields: [{e: E?}, {x: int32}, {m: 'map(str, E)'}]}\n"
    fields = "{e: E}, {a: int32}, {n: 'list(list(E))'}, {s: 'T?'}, {ts: 'list(map(str, T))'}"
    lines = [
        {"e": {}, "a": 1, "n": [[{}]], "s": {"e": {}, "x": 5, "m": {"k": {}}}, "ts": []},
        {"e": {}, "a": 2, "n": [], "s": None, "ts": [{}, {"q": {"e": None, "x": 7, "m": {}}}]},
        {"e": {}, "a": "three"},
    ]
    told = []
    summary = ingest(LocalEngine(1), things(fields, *lines, types=types), told.append)
    assert (summary.rows, summary.quarantined) == (2, 1)
    assert told == ["without the columns e, n, s.e, s.m, ts.e, ts.m: they have no values"]
    table = pq.read_table(tmp_path / "output" / "records")
    assert table.schema.names[:3] == ["a", "s", "ts"]
    assert table.select(["a", "s", "ts"]).to_pylist() == [
        {"a": 1, "s": {"x": 5}, "ts": []},
        {"a": 2, "s": None, "ts": [[], [("q", {"x": 7})]]},
    ]


def test_a_format_without_any_value_has_rows_with_their_places(things, tmp_path):
    assert ingest(LocalEngine(1), things("", {}, {})).rows == 2
    assert pq.read_table(tmp_path / "output" / "records")["_record"].to_pylist() == [0, 1]


def test_slices_are_fitted_as_what_they_refer_to():
    none = pa.struct([])
    below = pa.struct([("e", none), ("x", pa.int32())])
    type = pa.struct([("l", pa.large_list(below)), ("m", pa.map_(pa.string(), below)), ("e", pa.list_(none))])
    rows = [
        {"l": [{"e": {}, "x": number}, None], "m": [(str(number), {"x": number})], "e": [{}]} if number % 3 else None
        for number in range(7)
    ]
    array = pa.array(rows, type).slice(2, 4)
    assert [*left_out(type, "")] == ["l.e", "m.e", "e"]
    kept = tabled(type)
    assert [field.name for field in kept] == ["l", "m"]
    assert fitted(array, kept).to_pylist() == [
        row and {"l": [{"x": row["l"][0]["x"]}, None], "m": [(row["m"][0][0], {"x": row["m"][0][1]["x"]})]}
        for row in rows[2:6]
    ]


def of(version, *fields):
    columns = {"type": "struct", "fields": [{"name": name, "type": type} for name, type in fields]}
    return Terms("f", "", "", {}, "", columns, columns, version)


def test_a_view_takes_names_that_differ_in_case_for_one_column_and_gives_no_name_twice():
    first = of(1, ("Number", "integer"), ("level", "string"), ("level_v1", "integer"))
    text = view_text("/out", [first, of(2, ("number", "long"), ("level", "long"), ("level_V1", "integer"))], "delta")
    old, new = text.split("UNION ALL")
    for line in ("CAST(`Number` AS bigint) AS `number`", "`level` AS `level_v1_`", "`level_v1` AS `level_V1`"):
        assert line in old
    for line in ("`number` AS `number`", "`level` AS `level`", "AS string) AS `level_v1_`"):
        assert line in new


def test_a_column_of_another_type_is_another_type_whatever_its_case():
    changes = compared(of(1, ("A", "integer")), of(1, ("a", "string")))
    assert changes.refused == ("A: int -> string", "quarantine A: int -> string")
    assert compared(of(1, ("A", "integer")), of(1, ("a", "integer"))).refused == ()
