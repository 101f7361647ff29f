"""Replays with a newer spec: records that decode move, the others stay with the new error, none is duplicated."""

import importlib
import threading
from collections import Counter
from dataclasses import dataclass, replace
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from support.killed_runs import killed_before
from wireloom.cli.app import app
from wireloom.failures import MisuseError
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import ingest as run
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.job.metrics import Book
from wireloom.ingest.plan import Files, Flow, Job, Plan, Replay
from wireloom.ingest.quarantine.replay import finish as finish_on
from wireloom.ingest.quarantine.replay import replay as replay_on
from wireloom.runtime.streams import framed
from wireloom.spark.ingest.batch import ingest
from wireloom.spark.ingest.replay import SparkReplays, finish, replay
from wireloom.spark.ingest.storage import HadoopStorage
from wireloom.spark.ingest.stream import stream

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
OLD, NEW, WIDER = "ingest_formats", "newer_formats", "wider_formats"


@pytest.fixture(scope="module")
def newer(place):
    """The same format with a kind of message more."""
    (spec,) = (place / "specs").rglob("heartbeat.yaml")
    known = "{1: measurement, 2: alarm}"
    assert known in spec.read_text()
    changed = spec.read_text().replace(known, "{1: measurement, 2: alarm, 3: test}")
    (place / "newer").mkdir(exist_ok=True)
    (place / "newer" / "heartbeat.yaml").write_text(changed)
    options = ["--specs", place / "newer", "--out", place / "build", "--package", NEW]
    assert CliRunner().invoke(app, ["generate", *map(str, options)]).exit_code == 0
    return importlib.import_module(f"{NEW}.heartbeat")


def record(module, number, kind="alarm"):
    return module.build({"kind": kind, "urgent": False, "battery": 1, "sentAt": number, "readings": []})


def damaged(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def plan(module, package):
    return Plan(f"{package}.heartbeat", "heartbeat", module.DIGEST)


@dataclass(frozen=True, slots=True)
class Specs:
    """The plans of before and after, and the module of after."""

    old: Plan
    new: Plan
    module: ModuleType


@pytest.fixture
def specs(module, newer):
    return Specs(plan(module, OLD), plan(newer, NEW), newer)


@pytest.fixture
def source(module, newer, tmp_path):
    """Ten records, three of a new kind and two damaged."""
    (tmp_path / "in").mkdir()
    records = [record(newer, number, "test" if number in (1, 4, 9) else "alarm") for number in range(10)]
    records[2], records[7] = damaged(records[2]), damaged(records[7])
    (tmp_path / "in" / "a").write_bytes(b"".join(records[:6]))
    (tmp_path / "in" / "b").write_bytes(b"".join(records[6:]))
    return tmp_path / "in"


def rows(path):
    return pq.read_table(path).to_pylist()


def everything(home, specs):
    """Check the tables after a replay."""
    found = Counter(row["sentAt"] for row in rows(home / "records"))
    assert found == Counter(number for number in range(10) if number not in (2, 7))
    bad = rows(home / "quarantine")
    assert sorted((row["code"], row["spec_digest"]) for row in bad) == [("bad_checksum", specs.module.DIGEST)] * 2


def test_what_decodes_now_moves_and_the_rest_stays_with_the_new_error(spark, specs, source, tmp_path):
    home = tmp_path / "out"
    assert ingest(spark, Job(specs.old, str(source), str(home))).quarantined == 5
    before = {(row["_source"], row["_record"], row["_offset"]) for row in rows(home / "quarantine")}
    done = replay(spark, Replay(specs.new, str(home / "quarantine"), str(home)))
    assert (done.summary.records, done.summary.decoded, dict(done.summary.codes)) == (5, 3, {"bad_checksum": 2})
    assert done.before == ((specs.old.digest, 5),)
    everything(home, specs)
    moved = [row for row in rows(home / "records") if str(row["wireloom_batch"]) == "-1"]
    kept = rows(home / "quarantine")
    assert {(row["_source"], row["_record"], row["_offset"]) for row in moved + kept} == before
    again = replay(spark, Replay(specs.new, str(home / "quarantine"), str(home)))
    assert (again.number, again.summary.records, again.summary.decoded) == (2, 2, 0)
    everything(home, specs)


def test_a_stream_goes_on_beside_its_replayed_quarantine(spark, specs, source, tmp_path):
    home = tmp_path / "out"
    flow = Flow(
        specs.old, Files(str(source)), str(home), trigger="available-now", options=(("maxFilesPerTrigger", "1"),)
    )
    run = [spark, flow, Book(tmp_path / "metrics"), threading.Event()]
    assert stream(*run).quarantined == 5
    replay(spark, Replay(specs.new, str(home / "quarantine"), str(home)))
    everything(home, specs)
    (source / "c").write_bytes(damaged(record(specs.module, 11)) + record(specs.module, 12))
    assert (stream(*run).records, len(rows(home / "quarantine")), len(rows(home / "records"))) == (12, 3, 9)


@pytest.mark.thorough
def test_killed_at_any_move_the_next_replay_finishes_it(spark, specs, source, tmp_path, monkeypatch):
    first = tmp_path / "out-0"
    ingest(spark, Job(specs.old, str(source), str(first)))
    for last in range(12):
        home = tmp_path / f"out-{last}"
        if last:
            ingest(spark, Job(specs.old, str(source), str(home)))
        again = Replay(specs.new, str(home / "quarantine"), str(home))
        if not killed_before(last, HadoopStorage, monkeypatch, lambda again=again: replay(spark, again)):
            break
        finished = finish(spark, str(home / "quarantine"))
        assert [entry.summary.decoded for entry in finished] == ([3] if last else [])
        if not last:
            replay(spark, Replay(specs.new, str(home / "quarantine"), str(home)))
        everything(home, specs)
    assert last == 5, "entered, two tables moved, the old one away, swept"


def test_either_engine_finishes_what_the_other_was_killed_at(spark, specs, source, tmp_path, monkeypatch):
    engines = {HadoopStorage: SparkReplays(spark), PlainStorage: LocalEngine(1)}
    others = {HadoopStorage: LocalEngine(1), PlainStorage: SparkReplays(spark)}
    for storage, engine in engines.items():
        home = tmp_path / f"out-{storage.__name__}"
        run(LocalEngine(1), Job(specs.old, str(source), str(home)))
        again = Replay(specs.new, str(home / "quarantine"), str(home))
        assert killed_before(2, storage, monkeypatch, lambda engine=engine, again=again: replay_on(engine, again))
        finished = finish_on(others[storage], str(home / "quarantine"))
        assert [entry.summary.decoded for entry in finished] == [3]
        everything(home, specs)


def test_records_that_lost_bytes_stay_with_their_error(spark, specs, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    large = b"\xca\xff" + bytes(framed.KEPT)
    pq.write_table(
        pa.table({"v": pa.array([large, record(specs.module, 1, "test")], pa.binary())}), tmp_path / "in" / "a"
    )
    home = tmp_path / "out"
    ingest(spark, Job(specs.old, str(tmp_path / "in"), str(home), column="v"))
    done = replay(spark, Replay(specs.new, str(home / "quarantine"), str(home)))
    assert (done.cut, done.summary.decoded, done.summary.quarantined) == (1, 1, 1)
    (row,) = rows(home / "quarantine")
    assert (row["spec_digest"], row["raw_size"], len(row["raw"])) == (specs.old.digest, len(large), framed.KEPT)


def test_the_rest_of_a_file_is_taken_apart_where_asked(spark, specs, tmp_path):
    (tmp_path / "in").mkdir()
    kinds = ("alarm", "test", "alarm", "alarm", "alarm")
    records = [record(specs.module, number, kind) for number, kind in enumerate(kinds)]
    lost = records[0][:2] + b"\x00\x00" + records[0]  # a length that cannot be: the rest of the file is one record
    (tmp_path / "in" / "a").write_bytes(records[0])
    (tmp_path / "in" / "b").write_bytes(b"".join([records[1], records[2], damaged(records[3]), records[4]]))
    (tmp_path / "in" / "c").write_bytes(lost)
    home = tmp_path / "out"
    none = replace(specs.old, framing="none")
    assert ingest(spark, Job(none, str(tmp_path / "in"), str(home))).quarantined == 2
    framed = replace(specs.new, framing="concatenated")
    done = replay(spark, Replay(framed, str(home / "quarantine"), str(home)))
    assert (done.summary.records, done.summary.decoded) == (5, 3)
    size = len(records[0])
    found = {row["sentAt"]: (row["_record"], row["_offset"]) for row in rows(home / "records")}
    assert found == {0: (0, 0), 1: (0, 0), 2: (1, size), 4: (3, 3 * size)}


@pytest.fixture(scope="module")
def wider(place):
    """The newer format, whose time has a sign: a column of another type over the same bytes."""
    (spec,) = (place / "specs").rglob("heartbeat.yaml")
    text = spec.read_text().replace("{1: measurement, 2: alarm}", "{1: measurement, 2: alarm, 3: test}")
    assert "sentAt: {type: uint64" in text
    (place / "wider").mkdir(exist_ok=True)
    (place / "wider" / "heartbeat.yaml").write_text(text.replace("sentAt: {type: uint64", "sentAt: {type: int64"))
    options = ["--specs", place / "wider", "--out", place / "build", "--package", WIDER]
    assert CliRunner().invoke(app, ["generate", *map(str, options)]).exit_code == 0
    return importlib.import_module(f"{WIDER}.heartbeat")


@pytest.mark.thorough
@pytest.mark.parametrize("local", [True, False], ids=["written by processes", "written by Spark"])
def test_a_replay_begins_the_next_version_of_the_columns_where_asked(spark, specs, wider, source, local):
    home = source.parent / "out"
    job = Job(specs.old, str(source), str(home))
    assert (run(LocalEngine(1), job) if local else ingest(spark, job)).quarantined == 5
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    asked = Replay(plan(wider, WIDER), str(home / "quarantine"), str(home))
    with pytest.raises(MisuseError, match=r"sentAt: decimal\(20,0\) -> bigint\n(.|\n)*--new-version"):
        replay(spark, asked)
    assert set(home.rglob("*.parquet")) == {path for path in before if path.suffix == ".parquet"}
    done = replay(spark, replace(asked, new_version=True))
    assert (done.version, done.summary.decoded, done.summary.quarantined) == (2, 3, 2)
    assert sorted(row["sentAt"] for row in rows(home / "records")) == [0, 3, 5, 6, 8]
    moved = rows(home / "v2" / "records")
    assert sorted(row["sentAt"] for row in moved) == [1, 4, 9]
    assert {type(row["sentAt"]) for row in moved} == {int}
    assert [row["code"] for row in rows(home / "quarantine")] == ["bad_checksum"] * 2
    spark.sql((home / "records.sql").read_text().removesuffix(";\n"))
    assert spark.table("records").count() == 8
    (source / "c").write_bytes(record(specs.module, 11))
    more = Job(plan(wider, WIDER), str(source / "c"), str(home), append=True)
    assert (run(LocalEngine(1), more) if local else ingest(spark, more)).rows == 1
    assert len(rows(home / "v2" / "records")) == 4, "who adds goes on with that version"
    again = replay(spark, asked)
    assert (again.version, again.summary.decoded, again.summary.quarantined) == (2, 0, 2)


def test_a_replay_refuses_a_folder_that_is_no_quarantine(spark, specs, source, tmp_path):
    home = tmp_path / "out"
    ingest(spark, Job(specs.old, str(source), str(home)))
    with pytest.raises(MisuseError, match="is not a quarantine"):
        replay(spark, Replay(specs.new, str(home / "records"), str(home)))
    with pytest.raises(MisuseError, match="is not a table"):
        replay(spark, Replay(specs.new, str(home / "elsewhere"), str(home)))
    with pytest.raises(MisuseError, match="has records of heartbeat, not of other"):
        replay(spark, Replay(replace(specs.new, format="other"), str(home / "quarantine"), str(home)))
    (tmp_path / "flat" / "records").mkdir(parents=True)
    (tmp_path / "flat" / "records" / "part-0.parquet").write_bytes(b"")
    with pytest.raises(MisuseError, match=r"has part-0.parquet"):
        replay(spark, Replay(specs.new, str(home / "quarantine"), str(tmp_path / "flat")))


def test_the_command_says_what_moved_and_between_which_specs(spark, specs, place, source, tmp_path):
    home = tmp_path / "out"
    ingest(spark, Job(specs.old, str(source), str(home)))
    where = ["--out", place / "build", "--package", NEW]
    result = CliRunner().invoke(app, [str(part) for part in ("replay", home / "quarantine", *where)])
    assert result.exit_code == 0, result.output
    assert "5 records = 3 moved + 2 still bad" in result.output
    assert f"spec {specs.old.digest[:12]} -> {specs.module.MEANING[:12]}" in result.output
    strict = ("replay", home / "quarantine", *where, "--fail-on-error", "--drop", "bad_checksum")
    result = CliRunner().invoke(app, [str(part) for part in strict])
    assert result.exit_code == 0, result.output
    assert "2  bad_checksum (dropped)" in result.output
    result = CliRunner().invoke(app, [str(part) for part in strict])
    assert "is empty; there is nothing to replay" in result.output
