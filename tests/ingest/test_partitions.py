"""Partitioned tables: `ingest --partition-by`, without Spark."""

import importlib
import json
from collections import Counter
from dataclasses import replace
from datetime import date
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ingest.test_local import Dying, DyingEngine, KilledError
from wireloom import pipeline
from wireloom.cli.app import app
from wireloom.failures import DataError, MisuseError
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.job.status import output_status, swept
from wireloom.ingest.ledger.entries import BATCHES, Ledger
from wireloom.ingest.plan import RECORDS, FileSizes, Job, Plan
from wireloom.ingest.tables.parquet_files import Writing, tables
from wireloom.ingest.tables.partitions import NULL, parts_of
from wireloom.project import Project

SPEC = """
wireloom: 1
format: visit
title: A visit
encoding: json
framing: lines
root: Visit
types:
  Visit:
    fields:
      - kind: str?
      - day: TYPE
      - big: uint64
      - open: bool
      - ratio: float64
      - stops: list(str)
      - guide: {type: Guide}
  Guide: {fields: [{name: str}]}
"""
KINDS = ["plain", "a/b=c:d%", "", None, "007", "äöü €", "q\"uote's {[]^}", "tab\tline\nend", ".", "..", NULL]


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """The plan of the spec with other words in it, by a package of its own each time."""
    made = []

    def generated(**words):
        package = f"visits_{len(made)}_{tmp_path.name}".replace("-", "_").lower()
        text = SPEC
        for old, new in {**words, "TYPE": words.get("TYPE", "int8")}.items():
            text = text.replace(old, new)
        (tmp_path / package / "specs").mkdir(parents=True)
        (tmp_path / package / "specs" / "visit.yaml").write_text(text)
        pipeline.generate(Project(tmp_path / package / "specs", tmp_path / package, package))
        monkeypatch.syspath_prepend(str(tmp_path / package))
        importlib.invalidate_caches()
        made.append(package)
        module = importlib.import_module(f"{package}.visit")
        return Plan(module.__name__, module.FORMAT, module.MEANING)

    return generated


@pytest.fixture
def job(tmp_path):
    def made(plan, *by, **options):
        return Job(plan, str(tmp_path / "input"), str(tmp_path / "output"), partition=by, **options)

    (tmp_path / "input").mkdir()
    return made


def line(number, kind="plain", **changed):
    visit = {
        "kind": kind, "day": number % 3, "big": 2**64 - 1 - number % 2, "open": number % 2 == 0, "ratio": number / 7,
        "stops": [str(number)] * (number % 4), "guide": {"name": str(number)},
    }  # fmt: skip
    return json.dumps({**visit, **changed}).encode() + b"\n"


def feed(tmp_path, lines, name="a"):
    (tmp_path / "input" / name).write_bytes(b"".join(lines))


def run(job, processes=1, told=None):
    return ingest(LocalEngine(processes), job, (told if told is not None else []).append)


def found(output, table=RECORDS):
    """The rows of every file with the texts of its folders, each by its column."""
    for path in sorted((output / table).rglob("*.parquet")):
        folders = dict(part.split("=", 1) for part in path.relative_to(output / table).parts[:-1])
        texts = {name: None if text == NULL else unquote(text) for name, text in folders.items()}
        for row in pq.ParquetFile(path).read().to_pylist():
            assert not texts.keys() & row.keys(), "a column is a folder, or in the file"
            yield {**row, **texts}


@pytest.mark.parametrize("processes", [1, 2])
def test_each_row_is_in_the_folder_of_its_values_and_nowhere_else(visits, job, tmp_path, monkeypatch, processes):
    monkeypatch.setattr("wireloom.ingest.files.inputs.SMALLEST", 100)
    monkeypatch.setattr("wireloom.ingest.files.inputs.OPEN_COST", 0)
    lines = [line(number, KINDS[number % len(KINDS)]) for number in range(100)]
    feed(tmp_path, [*lines, b"{}\n"])
    told = []
    summary = run(job(visits(), "kind", "open", "big"), processes, told)
    assert (summary.records, summary.rows, summary.quarantined) == (101, 100, 1)
    rows = {int(row["guide"]["name"]): row for row in found(tmp_path / "output")}
    assert sorted(rows) == list(range(100))
    for number, row in rows.items():
        said = json.loads(lines[number])
        named_null = said["kind"] in ("", NULL)  # which Spark's own folders do not tell from null
        assert row["kind"] == (None if named_null else said["kind"])
        assert row["open"] == ("true" if said["open"] else "false")
        assert (row["big"], row["stops"], row["ratio"]) == (str(said["big"]), said["stops"], said["ratio"])
    (bad,) = found(tmp_path / "output", "quarantine")
    assert bad["_record"] == 100
    folders = {path.name for path in (tmp_path / "output" / RECORDS / "wireloom_batch=0").iterdir()}
    assert {"kind=a%2Fb%3Dc%3Ad%25", f"kind={NULL}", "kind=äöü €", "kind=tab%09line%0Aend", "kind=.."} <= folders
    view = f"file:{tmp_path}/output/records.sql"
    assert told == [f"{view} has a view with the types of kind, open, big, which readers guess from folders"]


def test_columns_have_their_types_in_the_view(visits, job, tmp_path):
    feed(tmp_path, [line(1, "007")])
    run(job(visits(), "kind", "day"))
    view = (tmp_path / "output" / "records.sql").read_text()
    assert "CREATE OR REPLACE TEMPORARY VIEW records (\n  `kind` string,\n  `day` tinyint,\n" in view
    assert f"wireloom_batch int\n) USING parquet OPTIONS (path 'file:{tmp_path}/output/records');" in view


def test_no_records_are_a_table_with_the_columns_of_its_folders(visits, job, tmp_path):
    feed(tmp_path, [])
    run(job(visits(), "kind", "day"))
    (file,) = (tmp_path / "output" / RECORDS).rglob("*.parquet")
    assert file.parent.relative_to(tmp_path / "output" / RECORDS).parts == (
        "wireloom_batch=0", f"kind={NULL}", f"day={NULL}",
    )  # fmt: skip
    assert not {"kind", "day"} & set(pq.ParquetFile(file).schema_arrow.names)
    assert list(found(tmp_path / "output")) == []


def test_many_folders_at_once_keep_few_files_open_and_few_rows_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("wireloom.ingest.tables.parquet_files.MOST_OPEN", 3)
    files = tables(Writing(str(tmp_path), group_bytes=4_000, partition=("kind",)))[RECORDS]
    rows = pa.StructArray.from_arrays
    held, most = [], []
    for start in range(0, 3_000, 30):
        numbers = pa.array(range(start, start + 30))
        files.add(rows([pa.array([f"k{number % 17}" for number in numbers.to_pylist()]), numbers], ["kind", "n"]))
        held.append(files._bytes)
        most.append(len(files._open))
    assert files.close() == 3_000
    assert max(held) < 4 * 4_000
    assert max(most) == 3
    read = Counter(
        (file.name.split("/")[0], number)
        for file in files.done
        for number in pq.ParquetFile(tmp_path / RECORDS / file.name).read()["n"].to_pylist()
    )
    assert read == Counter((f"kind=k{number % 17}", number) for number in range(3_000))


def test_files_of_a_folder_go_on_and_end_where_they_are_large(tmp_path):
    files = tables(Writing(str(tmp_path), group_bytes=2_000, file_bytes=10_000, partition=("kind",)))[RECORDS]
    for start in range(0, 8_000, 40):
        numbers = pa.array(range(start, start + 40))
        files.add(pa.StructArray.from_arrays([pa.array(["a", "b"] * 20), numbers], ["kind", "n"]))
    files.close()
    by_folder = Counter(file.name.split("/")[0] for file in files.done)
    assert set(by_folder) == {"kind=a", "kind=b"}
    assert by_folder["kind=a"] > 1
    assert all(file.bytes < 30_000 for file in files.done)
    groups = [pq.ParquetFile(tmp_path / RECORDS / file.name).metadata for file in files.done]
    assert max(each.row_group(at).num_rows for each in groups for at in range(each.num_row_groups)) * 8 <= 2 * 2_000


def test_rows_of_a_folder_keep_their_order_and_dictionaries_do():
    kinds = pa.array(["b", "a", None, "b", "a"]).dictionary_encode()
    days = pa.array([date(2024, 1, 2)] * 4 + [None])
    rows = pa.table({"n": range(5), "kind": kinds, "day": days})
    parts = {folder: part["n"].to_pylist() for folder, part in parts_of(rows, ("kind", "day"))}
    assert parts == {
        "kind=b/day=2024-01-02": [0, 3],
        "kind=a/day=2024-01-02": [1],
        f"kind={NULL}/day=2024-01-02": [2],
        f"kind=a/day={NULL}": [4],
    }


def test_a_value_that_no_folder_can_be_called_by_ends_the_job_in_words(visits, job, tmp_path):
    feed(tmp_path, [line(1, "x" * 300)])
    with pytest.raises(DataError, match=r"partitioned by kind: .* a folder name of 305 bytes, but at most 255"):
        run(job(visits(), "kind"))
    assert not (tmp_path / "output" / RECORDS).exists()


@pytest.mark.parametrize("option", ["", "overwrite", "append"])
def test_killed_before_any_step_the_next_run_ends_as_if_nobody_had_been(visits, job, tmp_path, option):
    feed(tmp_path, [*(line(number, f"k{number % 3}") for number in range(9)), b"{}\n"])
    plan = visits()
    asked = job(plan, "kind", "day", **{option: True} if option else {})
    for last in range(30):
        if option != "overwrite":
            PlainStorage().delete(str(tmp_path / "output"))
        storage = Dying(last)
        try:
            ingest(DyingEngine(storage), asked)
        except KilledError:
            run(asked)
        assert sorted(int(row["guide"]["name"]) for row in found(tmp_path / "output")) == list(range(9))
        assert len(list(found(tmp_path / "output", "quarantine"))) == 1
        assert not list((tmp_path / "output" / "_staging" / "batch").iterdir())
        if storage.steps <= last:
            break
    assert last >= 5


def test_what_a_failed_task_left_in_folders_is_not_in_the_table(visits, job, tmp_path, monkeypatch):
    feed(tmp_path, [line(number, f"k{number % 2}") for number in range(4)])
    reports = LocalEngine.prepared.__globals__["_reports"]

    def twice(task, groups, processes):
        known = list(groups)
        list(reports(task, iter(known), processes))  # whose report is lost
        return reports(task, iter(known), processes)

    monkeypatch.setitem(LocalEngine.prepared.__globals__, "_reports", twice)
    assert run(job(visits(), "kind")).rows == 4
    assert sorted(int(row["guide"]["name"]) for row in found(tmp_path / "output")) == [0, 1, 2, 3]


# --- the guard -----------------------------------------------------------------------------------------------------


def test_who_adds_to_a_table_goes_on_with_its_folders(visits, job, tmp_path):
    plan = visits()
    feed(tmp_path, [line(0, "a")])
    run(job(plan, "kind", append=True))
    feed(tmp_path, [line(1, "b")], "b")
    (tmp_path / "input" / "a").unlink()
    run(job(plan, append=True))
    assert sorted((row["wireloom_batch"], row["kind"]) for row in found(tmp_path / "output")) == [
        ("0", "a"),
        ("1", "b"),
    ]
    for by in (("day",), ("kind", "day")):
        feed(tmp_path, [line(2, "c")], "c")
        with pytest.raises(MisuseError, match=r"is partitioned by kind, but --partition-by says .*day: drop it, .*"
                           r"--new-version"):  # fmt: skip
            run(job(plan, *by, append=True))
    told = []
    run(job(plan, "day", append=True, new_version=True), told=told)
    assert told[1] == "partitioned by kind -> day"
    assert [row["day"] for row in found(tmp_path / "output" / "v2")] == ["2"]
    view = (tmp_path / "output" / "records.sql").read_text()
    assert "TEMPORARY VIEW records_v1 (" in view
    assert "FROM records_v1\nUNION ALL" in view


def test_a_table_without_folders_gets_none(visits, job, tmp_path):
    plan = visits()
    feed(tmp_path, [line(0)])
    run(job(plan))
    feed(tmp_path, [line(1)])
    with pytest.raises(MisuseError, match="is partitioned by nothing, but --partition-by says kind"):
        run(job(plan, "kind", append=True))
    assert run(job(plan, "kind", overwrite=True)).rows == 1
    assert [row["kind"] for row in found(tmp_path / "output")] == ["plain"]
    assert run(job(plan, overwrite=True)).rows == 1
    assert not (tmp_path / "output" / "records.sql").exists()


def test_a_column_that_is_a_folder_may_not_go_or_change(visits, job, tmp_path):
    feed(tmp_path, [line(0)])
    run(job(visits(), "day", append=True))
    feed(tmp_path, [line(1)])
    for changed, said in (
        ({"- day: TYPE": "- date: int8"}, "is partitioned by day, but visit cannot be: .day. is not a column"),
        ({"- day: TYPE": "- day: float64"}, "is partitioned by day, but visit cannot be: .* every double exactly"),
        ({"TYPE": "int32"}, "other types.*\n  day: tinyint -> int"),
    ):
        with pytest.raises(MisuseError, match=f"{said}(.|\n)*--new-version"):
            run(job(visits(**changed), append=True))


def test_the_same_files_by_other_folders_are_not_done_already(visits, job, tmp_path):
    plan = visits()
    feed(tmp_path, [line(0)])
    run(job(plan, "kind"))
    told = []
    assert run(job(plan), told=told).rows == 1
    assert "nothing to do" in told[0]
    with pytest.raises(MisuseError, match="has these files already, partitioned by kind; replace the tables"):
        run(job(plan, "day"))
    run(job(plan, "day", overwrite=True))
    assert [row["day"] for row in found(tmp_path / "output")] == ["0"]


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("kin", "'kin' is not a column of the records; did you mean kind?"),
        ("kind,kind", "names kind twice"),
        ("ratio", "cannot hold every double exactly"),
        ("stops", "it has the type array"),
        ("guide", "it has the type struct"),
        ("guide.name", "is not a column of the records"),
        ("_source", "is not a column of the records"),
    ],
)
def test_what_cannot_be_a_folder_is_refused_before_anything_starts(visits, tmp_path, monkeypatch, by, said):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    package = visits().module.partition(".")[0]
    options = ["--format", "visit", "--input", tmp_path / "in", "--output", tmp_path / "out", "--package", package]
    for more in ([], ["--engine", "local"], ["--stream"], ["--stream", "--table-format", "delta"]):
        asked = ["ingest", *options, "--out", tmp_path / package, "--partition-by", by, *more]
        refused = CliRunner().invoke(app, [str(part) for part in asked])
        assert refused.exit_code == 2, refused.output
        assert said in " ".join(refused.output.split())


def test_status_and_clean_know_of_folders(visits, job, tmp_path):
    feed(tmp_path, [line(number, f"k{number}") for number in range(3)])
    asked = job(visits(), "kind", "day", sizes=FileSizes(group=100))
    run(asked)
    output = str(tmp_path / "output")
    assert output_status(output).partition == ("kind", "day")
    shown = CliRunner().invoke(app, ["status", output]).output
    assert "partitioned by kind, day" in shown
    assert json.loads(CliRunner().invoke(app, ["status", output, "--json"]).output)["partition"] == ["kind", "day"]
    ledger = Ledger(PlainStorage(), output, BATCHES)
    files = tables(replace(Writing(ledger.staging()), partition=("kind",)))[RECORDS]
    files.add(pa.StructArray.from_arrays([pa.array(["a", "b"]), pa.array([1, 2])], ["kind", "n"]))
    files.close()
    (left,) = swept(output, dry=False)
    assert left.files == 2
    assert not ledger.staged()
    assert len(list(found(tmp_path / "output"))) == 3
