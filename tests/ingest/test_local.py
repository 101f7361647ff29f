"""The ingest job without Spark: the same tables and counts, by processes of this machine."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import wireloom_formats
from conftest import GENERATED, ROOT
from support.databus_events import built as record
from support.databus_events import damaged
from wireloom import pipeline
from wireloom.catalog import open_format
from wireloom.cli.app import app
from wireloom.failures import DataError, MisuseError
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.diagnosis import End
from wireloom.ingest.job.local import LocalEngine, begun
from wireloom.ingest.plan import Job, Plan
from wireloom.ingest.tables.agreement import Terms
from wireloom.ingest.tables.spark_columns import leaves, spark_columns
from wireloom.ingest.tables.views import view_text
from wireloom.model.meaning import meaning
from wireloom.project import Project
from wireloom_formats import databus_event

PLAN = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.DIGEST)


@pytest.fixture
def job(tmp_path):
    def made(plan=PLAN, **options):
        return Job(plan, str(tmp_path / "input"), str(tmp_path / "output"), **options)

    (tmp_path / "input").mkdir()
    return made


def run(job, processes=1):
    return ingest(LocalEngine(processes), job)


def sequences(folder):
    return sorted(pq.read_table(folder / "output" / "records")["sequence"].to_pylist())


@pytest.mark.parametrize("processes", [1, 2])
def test_every_record_is_in_one_table_and_the_books_balance(job, tmp_path, monkeypatch, processes):
    monkeypatch.setattr("wireloom.ingest.files.inputs.SMALLEST", 1_000)
    monkeypatch.setattr("wireloom.ingest.files.inputs.OPEN_COST", 0)
    records = [record(number) for number in range(60)]
    records[7], records[30] = damaged(records[7]), damaged(records[30])
    (tmp_path / "input" / "a b%20#?.bin").write_bytes(b"".join(records))
    (tmp_path / "input" / "tail.bin").write_bytes(record(60) + records[1][:5])
    (tmp_path / "input" / ".hidden").write_bytes(b"junk")
    summary = run(job(), processes)
    assert (summary.records, summary.decoded, summary.quarantined, summary.rows) == (62, 59, 3, 59)
    assert summary.reconciles
    assert sequences(tmp_path) == sorted(set(range(61)) - {7, 30})
    bad = pq.read_table(tmp_path / "output" / "quarantine").to_pylist()
    flipped = next(row for row in bad if row["_record"] == 7)
    assert (flipped["raw"], flipped["_offset"]) == (records[7], 7 * len(record(0)))
    assert flipped["_source"].endswith("/a b%20#?.bin")
    assert sorted(code for code, _ in summary.codes) == sorted({row["code"] for row in bad})


PROCESSES = """
import sys
from wireloom.ingest.job.skipped_imports import without_numpy
without_numpy()
from wireloom.cli.app import app
from wireloom.ingest.files import inputs
inputs.SMALLEST = 1_000
inputs.OPEN_COST = 0
app(standalone_mode=False)
print([each for each in sys.modules if each in ("numpy", "pandas")])
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "generator", GENERATED)))}


def process(*arguments):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)


def test_a_job_does_without_numpy_and_pandas(tmp_path):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "many.bin").write_bytes(b"".join(record(number) for number in range(60)))
    (tmp_path / "main.py").write_text(PROCESSES)
    asked = ["ingest", "--engine", "local", "--processes", "2", "--format", "databus_event", "--out", GENERATED]
    places = ["--input", tmp_path / "input", "--output", tmp_path / "output"]
    done = process("-W", "error", tmp_path / "main.py", *asked, *places)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["[]"]), done.stderr
    assert sequences(tmp_path) == list(range(60))


KILLED = f"""
import os, signal, sys, time
from wireloom.ingest.job.skipped_imports import without_numpy
without_numpy()
from wireloom.ingest.job.local import LocalEngine, _pool, begun
from wireloom.ingest.plan import Plan

def killed(pool):
    for seconds in [600] * int(sys.argv[2]):
        pool.submit(time.sleep, seconds)
    pool.submit(int)
    print(*pool._processes, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "fork":
    with begun(Plan("wireloom_formats.databus_event", "databus_event", {databus_event.MEANING!r}), 2) as engine:
        killed(engine.pool)
else:
    with _pool(LocalEngine(2)) as pool:
        pool.submit(int).result()
        pool.submit(int).result()
        killed(pool)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are forked on Linux alone")
@pytest.mark.parametrize("busy", ["0", "1", "2"])
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_end_at_once_and_without_a_word_where_the_job_is_killed(way, busy):
    done = process("-c", KILLED, way, busy)  # which returns when the last process has closed its standard error
    said = [line for line in done.stderr.splitlines() if "resource_tracker" not in line and "warnings.warn" not in line]
    assert said == []  # but of Python's own tracker of semaphores, where processes are started anew
    started = done.stdout.split()
    assert len(started) == (2 if way == "fork" else 1 + (busy != "0"))
    deadline = time.monotonic() + 120
    while any(_lives(number) for number in started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_lives(number) for number in started)


def _lives(number):
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_where_there_are_threads_nothing_is_forked():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with begun(PLAN, 2) as engine:
            assert engine == LocalEngine(2)
    finally:
        done.set()
        thread.join()


def test_a_binary_column_of_parquet_with_nulls_and_several_row_groups(job, tmp_path):
    values = [record(1), None, b"", record(2)]
    table = pa.table({"key": ["a"] * 4, "value": pa.array(values, pa.binary())})
    pq.write_table(table, tmp_path / "input" / "t.parquet", row_group_size=3)
    summary = run(job(column="value"))
    assert (summary.records, summary.decoded) == (4, 2)
    assert dict(summary.codes) == {"no_data": 1, "truncated": 1}
    bad = pq.read_table(tmp_path / "output" / "quarantine").to_pylist()
    assert sorted(row["_record"] for row in bad) == [1, 2]
    assert pq.read_table(tmp_path / "output" / "records")["_record"].to_pylist() == [0, 3]


def test_what_is_no_binary_column_and_no_parquet_is_a_wrong_call(job, tmp_path):
    pq.write_table(pa.table({"value": pa.array([b""], pa.binary()), "key": ["a"]}), tmp_path / "input" / "t.parquet")
    with pytest.raises(MisuseError, match=r"not there; binary columns: value$"):
        run(job(column="valeu"))
    with pytest.raises(MisuseError, match=r"of type string; binary columns: value$"):
        run(job(column="key"))
    (tmp_path / "input" / "t.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(MisuseError, match="as Parquet"):
        run(job(column="value"))


def test_no_files_are_a_wrong_call_but_to_who_adds(job, tmp_path):
    (tmp_path / "input" / "a.tmp").write_bytes(record(1))
    for options in ({}, {"overwrite": True}):
        with pytest.raises(MisuseError, match=r"input has no files; skipped.*a\.tmp"):
            run(job(**options))
    assert not (tmp_path / "output").exists()
    (tmp_path / "input" / "a.tmp").rename(tmp_path / "input" / "a")
    run(job())
    (tmp_path / "input" / "a").unlink()
    assert run(job(append=True)).records == 0


def test_no_records_at_all_is_two_empty_tables(job, tmp_path):
    (tmp_path / "input" / "a").write_bytes(b"")
    summary = run(job())
    assert (summary.records, summary.rows, summary.quarantined) == (0, 0, 0)
    assert "sequence" in pq.read_table(tmp_path / "output" / "records").schema.names
    assert "raw" in pq.read_table(tmp_path / "output" / "quarantine").schema.names


def test_tables_are_replaced_only_on_request(job, tmp_path):
    (tmp_path / "input" / "one.bin").write_bytes(record(1))
    run(job())
    (tmp_path / "input" / "one.bin").write_bytes(record(2))
    with pytest.raises(MisuseError, match="--overwrite"):
        run(job())
    assert run(job(overwrite=True)).rows == 1
    assert sequences(tmp_path) == [2]


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("place", ["records", "quarantine/more", "v2", "other", "_ledger", "link"])
def test_no_tables_are_made_within_those_of_another_output(job, tmp_path, place):
    (tmp_path / "input" / "one.bin").write_bytes(record(1) + damaged(record(2)))
    run(job())
    output = tmp_path / "output"
    (tmp_path / "aside").symlink_to(output / "records")
    within = str(tmp_path / "aside" / "deep" if place == "link" else output / place)
    before = tree(output)
    for options in ({}, {"append": True}, {"overwrite": True}):
        with pytest.raises(MisuseError, match=rf"is in {output}, which has tables of ingest; .* or {output} itself"):
            run(replace(job(**options), output=within))
    assert tree(output) == before


def test_the_command_refuses_an_output_within_tables_before_java_starts(job, tmp_path, monkeypatch):
    (tmp_path / "input" / "one.bin").write_bytes(record(1))
    run(job())
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    output = tmp_path / "output"
    command = ["ingest", "--format", "databus_event", "--input", tmp_path / "input", "--out", GENERATED]
    before = tree(output)
    for options in (["--append"], ["--stream"], ["--engine", "local"]):
        done = invoked(*command, "--output", output / "records", *options)
        assert (done.exit_code, f"is in {output}, which has tables" in done.output) == (2, True), done.output
    assert tree(output) == before


def test_beside_tables_and_where_a_job_was_refused_tables_can_be_made(job, tmp_path):
    (tmp_path / "input" / "one.bin").write_bytes(record(1))
    run(job())
    (tmp_path / "around" / "records").mkdir(parents=True)
    with pytest.raises(MisuseError, match="records exists; choose another --output, or move it away"):
        run(replace(job(), output=str(tmp_path / "around")))
    for place in ("beside", "around/below"):
        assert run(replace(job(), output=str(tmp_path / place))).rows == 1


@pytest.mark.parametrize("there", ["records/keep.txt", "quarantine/keep.txt"])
def test_what_no_job_wrote_is_not_replaced(job, tmp_path, there):
    (tmp_path / "input" / "one.bin").write_bytes(record(1))
    own = tmp_path / "output" / there
    own.parent.mkdir(parents=True)
    own.write_text("keep")
    for options, said in (
        ({}, "choose another --output, or move it away, since wireloom did not write it"),
        ({"overwrite": True}, r"(records|quarantine): not written by wireloom; move it away"),
        ({"append": True}, r"keep\.txt: not written by wireloom; move it away"),
    ):
        with pytest.raises(MisuseError, match=said):
            run(job(**options))
        assert [path.name for path in (tmp_path / "output").iterdir()] == [own.parent.name]
    assert tree(tmp_path / "output") == {there: b"keep"}


@pytest.mark.parametrize("there", ["records/keep.txt", "quarantine/keep/me", "v7/notes.txt", "records.sql"])
def test_what_somebody_put_among_tables_is_not_replaced(job, tmp_path, there):
    (tmp_path / "input" / "one.bin").write_bytes(record(1))
    run(job())
    own = tmp_path / "output" / there
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("keep")
    before = tree(tmp_path / "output")
    with pytest.raises(MisuseError, match="not written by wireloom; move it away"):
        run(job(overwrite=True))
    assert tree(tmp_path / "output") == before
    own.unlink()
    if own.parent.name in ("keep", "v7"):
        own.parent.rmdir()
    assert run(job(overwrite=True)).rows == 1


def test_a_file_that_changes_between_planning_and_reading_is_told(job, tmp_path, monkeypatch):
    path = tmp_path / "input" / "one.bin"
    path.write_bytes(record(1))
    engine = LocalEngine(1)
    groups = LocalEngine.prepared.__globals__["groups"]

    def grown(*given):
        found = groups(*given)
        path.write_bytes(record(1) * 2)
        return found

    monkeypatch.setitem(LocalEngine.prepared.__globals__, "groups", grown)
    with pytest.raises(DataError, match=r"one\.bin had .* bytes when it was listed"):
        ingest(engine, job())


class KilledError(BaseException):
    """Here the process ends."""


@dataclass(slots=True)
class Dying:
    """Storage that stops before its step number `last`."""

    last: int
    steps: int = 0
    plain = PlainStorage()

    def __getattr__(self, name):
        act = getattr(self.plain, name)
        if name not in ("rename", "delete", "write"):
            return act

        def step(*given):
            self.steps += 1
            if self.steps > self.last:
                raise KilledError
            return act(*given)

        return step


@dataclass(frozen=True, slots=True)
class DyingEngine:
    """The engine over such a storage."""

    storage: Dying

    def ended(self):
        """As LocalEngine."""
        return End()

    def listed(self, source):
        """As LocalEngine."""
        return LocalEngine(1).listed(source)

    def prepared(self, job, found, batch, tables):
        """As LocalEngine."""
        return LocalEngine(1).prepared(job, found, batch, tables)


@pytest.mark.parametrize("option", ["", "overwrite", "append"])
def test_killed_before_any_step_the_next_run_ends_as_if_nobody_had_been(job, tmp_path, option):
    (tmp_path / "input" / "one.bin").write_bytes(record(1) + damaged(record(2)))
    asked = job(**{option: True} if option else {})
    for last in range(20):
        if option != "overwrite":
            shutil.rmtree(tmp_path / "output", ignore_errors=True)
        storage = Dying(last)
        try:
            ingest(DyingEngine(storage), asked)
        except KilledError:
            run(asked)
        assert sequences(tmp_path) == [1]
        assert pq.read_table(tmp_path / "output" / "quarantine").num_rows == 1
        assert not list((tmp_path / "output" / "_staging" / "batch").iterdir())
        if storage.steps <= last:
            break
    assert last >= 5, "entered, four tables moved, swept"


@pytest.mark.parametrize("name", sorted(wireloom_formats.FORMATS))
def test_the_columns_that_spark_finds_in_a_file_are_those_of_the_module(name):
    module = open_format(wireloom_formats, name)
    for root in module.CODEC.roots:
        found = module.CODEC.decode(pa.array([], pa.binary()), None, root=root, explode=True).records.type
        if pa.types.is_list(found):
            continue
        assert json.loads(spark_columns(pa.schema(list(found)))) == json.loads(
            module.struct_type(root=root, explode=True).json()
        )


def test_columns_with_values_are_named_as_parquet_names_them(tmp_path):
    deep = pa.map_(pa.string(), pa.list_(pa.struct([("a", pa.int64()), ("b", pa.large_list(pa.binary()))])))
    schema = pa.schema([("plain", pa.int8()), ("deep", deep)])
    pq.write_table(schema.empty_table(), tmp_path / "t")
    parquet = pq.ParquetFile(tmp_path / "t").schema
    assert leaves(schema) == [parquet.column(at).path for at in range(len(parquet.names))]


def invoked(*arguments):
    return CliRunner().invoke(app, [str(part) for part in arguments])


def test_the_command_does_it_without_java(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "in.bin").write_bytes(record(1) + damaged(record(2)))
    command = ["ingest", "--engine", "local", "--format", "databus_event", "--input", tmp_path / "in.bin"]
    done = invoked(*command, "--output", tmp_path / "out", "--out", GENERATED)
    assert done.exit_code == 0, done.output
    assert "2 records in = 1 decoded + 1 quarantined" in done.output
    (tmp_path / "file").write_bytes(b"precious")
    for wrong, said in (
        (["--engine", "lokal"], "it can be spark or local"),
        (["--engine", "local", "--stream"], "a stream runs on Spark"),
        (["--processes", "2"], "is only for --engine local"),
        (["--engine", "local", "--packages", "a:b:1"], "--packages is an option of Spark"),
        (["--engine", "local", "--driver-memory", "4g"], "--driver-memory is an option of Spark"),
        (["--engine", "local", "--master", "local[4]"], "--master is an option of Spark"),
        (["--engine", "local", "--input", tmp_path / "in.bin", "--output", tmp_path / "file"], "file is a file"),
        (["--input", tmp_path / "in.bin", "--output", tmp_path / "file" / "below"], "below cannot be made: "),
        (["--driver-memory", "much"], "such as 4g or 800m"),
        (["--conf", "executor.cores=2"], "begin with `spark.`"),
    ):
        refused = invoked(
            "ingest", "--format", "databus_event", "--output", tmp_path / "no", *wrong, "--out", GENERATED
        )
        assert refused.exit_code == 2
        assert said in refused.output


# --- adding to tables ----------------------------------------------------------------------------------------------

OLD = """
wireloom: 1
format: meter
title: A meter
encoding: binary
framing: concatenated
parameters: {scale: {type: int, default: 1}}
root: Meter
types:
  Meter:
    fields:
      - number: NUMBER
      - place: {type: Place}
  Place: {fields: [{row: uint8}, {column: uint8}]}
"""


@pytest.fixture
def meters(tmp_path, monkeypatch):
    """The module of the spec with other words in it, by a package of its own each time."""
    made = []

    def generated(**words):
        package = f"meters_{len(made)}_{tmp_path.name}".replace("-", "_").lower()
        text = OLD
        for old, new in words.items():
            text = text.replace(old, new)
        (tmp_path / package / "specs").mkdir(parents=True)
        (tmp_path / package / "specs" / "meter.yaml").write_text(text)
        pipeline.generate(Project(tmp_path / package / "specs", tmp_path / package, package))
        monkeypatch.syspath_prepend(str(tmp_path / package))
        importlib.invalidate_caches()
        made.append(package)
        module = importlib.import_module(f"{package}.meter")
        return Plan(module.__name__, module.FORMAT, module.DIGEST)

    return generated


def added(job, plan, **options):
    told = []
    ingest(LocalEngine(1), job(plan, append=True, **options), told.append)
    return told


def test_batches_are_added_and_what_is_new_is_told(job, tmp_path, meters):
    (tmp_path / "input" / "a").write_bytes(bytes([0, 1, 2, 3] * 5))
    old = meters(NUMBER="uint16")
    assert added(job, old) == []
    (tmp_path / "input" / "a").rename(tmp_path / "input" / "b")
    assert added(job, old) == []
    assert pq.read_table(tmp_path / "output" / "records").num_rows == 10
    (tmp_path / "input" / "c").write_bytes(bytes([0, 1, 2, 3, 4] * 5))
    new = meters(**{"NUMBER": "uint16", "{column: uint8}": "{column: uint8}, {level: {type: uint8, doc: Which floor}}"})
    assert added(job, new) == ["new column place.level: smallint"]
    (tmp_path / "input" / "c").rename(tmp_path / "input" / "d")
    assert added(job, old)[0] == "column place.level is gone; it stays in older rows"


def test_columns_of_another_type_are_refused_each_with_both_types(job, tmp_path, meters):
    (tmp_path / "input" / "a").write_bytes(bytes([0, 1, 2, 3] * 5))
    added(job, meters(NUMBER="uint16"))
    before = sorted(path.name for path in (tmp_path / "output").rglob("*"))
    wider = meters(**{"NUMBER": "uint32", "row: uint8": "row: uint32"})
    told = r"other types.*\n  number: int -> bigint\n  place\.row: smallint -> bigint\n"
    with pytest.raises(MisuseError, match=told):
        added(job, wider, accept_changes=True)
    assert sorted(path.name for path in (tmp_path / "output").rglob("*")) == before


def test_a_new_version_begins_beside_the_old_one_and_goes_on(job, tmp_path, meters):
    (tmp_path / "input" / "a").write_bytes(bytes([0, 1, 2, 3] * 5))
    old = meters(NUMBER="uint16")
    added(job, old)
    wider = meters(**{"NUMBER": "uint32", "row: uint8": "row: uint32"})
    (tmp_path / "input" / "a").unlink()
    (tmp_path / "input" / "c").write_bytes(bytes([0, 0, 0, 1, 0, 0, 0, 2, 3] * 4))
    told = added(job, wider, new_version=True)
    output = tmp_path / "output"
    assert told == [
        f"version 2 of the columns begins, in file:{output}/v2",
        "number: int -> bigint",
        "place.row: smallint -> bigint",
        f"file:{output}/records.sql has a view over all versions",
    ]
    assert [pq.read_table(output / folder / "records").num_rows for folder in (".", "v2")] == [5, 4]
    (tmp_path / "input" / "c").rename(tmp_path / "input" / "b")
    assert added(job, wider) == [], "who goes on need not ask for it"
    assert [pq.read_table(output / folder / "records").num_rows for folder in (".", "v2")] == [5, 8]
    with pytest.raises(MisuseError, match=r"number: bigint -> int\n.*\n.*--new-version"):
        added(job, old)
    view = (output / "records.sql").read_text()
    assert "CAST(`number` AS bigint) AS `number`" in view
    assert "named_struct('row', CAST(`place`.`row` AS bigint), 'column', `place`.`column`)" in view
    assert f"FROM parquet.`file:{output}/v2/records`" in view
    assert ingest(LocalEngine(1), job(wider, overwrite=True)).rows == 4
    assert sorted(path.name for path in output.iterdir() if path.name[0] != "_") == ["quarantine", "records"]


def test_columns_without_a_common_type_are_each_in_the_view():
    def of(*fields, version=1):
        columns = {"type": "struct", "fields": [{"name": name, "type": type} for name, type in fields]}
        return Terms("f", "", "", {}, "", columns, columns, version)

    array = {"type": "array", "elementType": "byte"}
    wide = {"type": "array", "elementType": "long"}
    first = of(("a", "string"), ("b", "float"), ("list", array), ("gone", "date"))
    text = view_text(
        "/out", [first, of(("a", "long"), ("b", "double"), ("list", wide), ("new`", "date"), version=2)], "delta"
    )
    old, new = text.split("UNION ALL")
    for select, lines in (
        (
            old,
            (
                "`a` AS `a_v1`",
                "CAST(NULL AS bigint) AS `a`",
                "CAST(`b` AS double) AS `b`",
                "CAST(NULL AS date) AS `new```",
            ),
        ),
        (
            old,
            (
                "transform(`list`, x0 -> CAST(x0 AS bigint)) AS `list`",
                "1 AS wireloom_version",
                "FROM delta.`/out/records`",
            ),
        ),
        (new, ("`a` AS `a`", "CAST(NULL AS string) AS `a_v1`", "`list` AS `list`", "CAST(NULL AS date) AS `gone`")),
        (new, ("2 AS wireloom_version", "FROM delta.`/out/v2/records`")),
    ):
        for line in lines:
            assert line in select, line


def test_tables_without_terms_are_compared_by_their_files(job, tmp_path, meters):
    (tmp_path / "input" / "a").write_bytes(bytes([0, 1, 2, 3] * 5))
    added(job, meters(NUMBER="uint16"))
    (tmp_path / "output" / "_ledger" / "batch-0000000000.json").unlink()
    with pytest.raises(MisuseError, match=r"number: int -> bigint"):
        added(job, meters(NUMBER="uint32"))


def test_another_parameter_or_framing_is_refused_unless_it_is_meant(job, tmp_path, meters):
    (tmp_path / "input" / "a").write_bytes(bytes([0, 1, 2, 3] * 5))
    plan = meters(NUMBER="uint16")
    added(job, plan)
    other = replace(plan, framing="none", parameters=(("scale", 3),))
    with pytest.raises(MisuseError, match=r"framing: as the spec says -> none\n  parameter scale: the default -> 3\n"):
        added(job, other)
    (tmp_path / "input" / "a").rename(tmp_path / "input" / "c")
    hint, *told, why = added(job, other, accept_changes=True)
    assert hint.endswith("input/c looks like concatenated: use --framing concatenated")
    assert told == ["framing: as the spec says -> none", "parameter scale: the default -> 3"]
    assert "1 of 1 records (100 %) were refused" in why
    (tmp_path / "input" / "c").rename(tmp_path / "input" / "b")
    assert [line for line in added(job, other) if "looks like" not in line and "refused" not in line] == []


def test_a_comment_is_no_change(job, tmp_path, meters):
    (tmp_path / "input" / "a").write_bytes(bytes([0, 1, 2, 3] * 5))
    added(job, meters(NUMBER="uint16"))
    (tmp_path / "input" / "a").rename(tmp_path / "input" / "b")
    assert added(job, meters(NUMBER="{type: uint16, doc: Its number}")) == []


BASE = OLD.replace("NUMBER", "uint16")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("title: A meter", "title: Another title  # and a comment", True),
        ("- number: uint16", "- number: {type: uint16, doc: Its number}", True),
        ("root: Meter", "root: Meter\nexamples:\n  - {name: one, hex: '0001 02 03', value: {}}", True),
        ("- number: uint16", "- number: int16", False),
        ("- number: uint16", "- number: {type: uint16, range: 0 .. 9}", False),
        ("- number: uint16", "- other: uint16", False),
        ("framing: concatenated", "framing: none", False),
        ("default: 1", "default: 2", False),
        ("{row: uint8}, {column: uint8}", "{column: uint8}, {row: uint8}", False),
    ],
)
def test_the_meaning_of_a_spec_is_what_readers_of_data_notice(tmp_path, old, new, same):
    assert old in BASE
    found = []
    for name, text in (("a", BASE), ("b", BASE.replace(old, new))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meter.yaml").write_text(text)
        (format,) = pipeline.formats(tmp_path / name)
        found.append((format.digest, meaning(format)))
    (text, sense), (other_text, other_sense) = found
    assert text != other_text
    assert (sense == other_sense) == same


def test_no_process_of_the_command_spends_its_time_on_pandas(tmp_path):
    (tmp_path / "found" / "pandas").mkdir(parents=True)
    spent = tmp_path / "spent"
    (tmp_path / "found" / "pandas" / "__init__.py").write_text(f"open({str(spent)!r}, 'a').close()\n")
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / name).write_bytes(record(1) * 100_000)
    places = (tmp_path / "found", ROOT / "generator", GENERATED, os.environ.get("PYTHONPATH", ""))
    command = [
        sys.executable,
        "-m",
        "wireloom",
        "ingest",
        "--engine",
        "local",
        "--processes",
        "2",
        "--input",
        tmp_path / "in",
    ]
    options = ["--format", "databus_event", "--output", tmp_path / "out", "--out", GENERATED]
    done = subprocess.run(
        [str(part) for part in (*command, *options)],
        env={**os.environ, "PYTHONPATH": ":".join(map(str, places))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "200000 rows" in done.stdout
    assert not spent.exists()
