"""A file is read once, whatever the current spec; on request it is read again, and its rows are replaced atomically."""

import json
import os
import shutil
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from ingest.test_local import Dying, DyingEngine, KilledError
from support.databus_events import built as record
from support.databus_events import damaged
from wireloom.cli.app import app
from wireloom.failures import MisuseError
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.job.status import output_status
from wireloom.ingest.ledger.entries import FOLDED, Entry, Ledger
from wireloom.ingest.ledger.files_read import known
from wireloom.ingest.plan import NOTHING, Job, Plan
from wireloom.ingest.quarantine.replay import Replay, replay
from wireloom_formats import databus_event

PLAN = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.MEANING)
OTHERWISE = {
    "another spec": replace(PLAN, drop=("value_crc",)),
    "another root or parameter": replace(PLAN, parameters=(("verifyCrc", False),)),
    "another framing": replace(PLAN, framing="concatenated"),
    "resync": replace(PLAN, resync=True),
    "an engine of another version": replace(PLAN, expansion=7),
}


@pytest.fixture
def folder(tmp_path):
    """Two files in an input, and their three good records in tables."""
    (tmp_path / "input").mkdir()
    put(tmp_path, "one.bin", record(1) + damaged(record(2)) + record(3))
    put(tmp_path, "two.bin", record(4))
    run(tmp_path)
    return tmp_path


def put(folder, name, data):
    (folder / "input" / name).write_bytes(data)


def job(folder, plan=PLAN, **options):
    return Job(plan, str(folder / "input"), str(folder / "output"), **options)


def run(folder, plan=PLAN, **options):
    return ingest(LocalEngine(1), job(folder, plan, **options))


def told(folder, plan=PLAN, **options):
    lines = []
    summary = ingest(LocalEngine(1), job(folder, plan, **options), lines.append)
    return summary, lines


def held(folder):
    """The records and quarantined records in the tables, by source file."""
    good = pq.read_table(folder / "output" / "records").to_pylist()
    bad = pq.read_table(folder / "output" / "quarantine").to_pylist()
    names = [
        sorted((row["_source"].rpartition("/")[2], row[key]) for row in rows)
        for rows, key in ((good, "sequence"), (bad, "_record"))
    ]
    return names[0], names[1]


THERE = ([("one.bin", 1), ("one.bin", 3), ("two.bin", 4)], [("one.bin", 1)])


@pytest.mark.parametrize("plan", OTHERWISE.values(), ids=OTHERWISE)
def test_a_file_that_is_in_the_tables_is_not_read_again_whatever_reads_it(folder, plan):
    put(folder, "three.bin", record(5))
    summary, lines = told(folder, plan, append=True, accept_changes=True)
    assert (summary.records, summary.passed) == (1, (("already in the tables", 2),))
    assert held(folder) == (sorted([*THERE[0], ("three.bin", 5)]), THERE[1])
    summary, lines = told(folder, plan, append=True, accept_changes=True)
    assert (summary.records, summary.passed) == (0, (("already in the tables", 3),))
    assert "nothing to do" in lines[-1]


def test_the_way_to_a_file_does_not_matter(folder, monkeypatch):
    (folder / "link").symlink_to(folder / "input")
    monkeypatch.chdir(folder)
    for way in ("input", "./input/", "link", str(folder / "input" / "*.bin"), f"file://{folder}/input", "link/one.bin"):
        summary = ingest(LocalEngine(1), replace(job(folder, append=True), input=way))
        assert (summary.records, summary.passed[0][0]) == (0, "already in the tables"), way
    ingest(LocalEngine(1), replace(job(folder, again=()), input="link"))
    assert held(folder) == THERE


def test_rows_of_a_folder_that_a_link_led_to_before_stay(tmp_path):
    for day in (1, 2):
        (tmp_path / f"day{day}").mkdir()
        (tmp_path / f"day{day}" / "a.bin").write_bytes(record(day))
    job = Job(PLAN, str(tmp_path / "current"), str(tmp_path / "output"), append=True)
    for day in (1, 2):
        (tmp_path / "current").unlink(missing_ok=True)
        (tmp_path / "current").symlink_to(tmp_path / f"day{day}")
        assert ingest(LocalEngine(1), job).records == 1
    ingest(LocalEngine(1), replace(job, append=False, again=()))
    assert held(tmp_path)[0] == [("a.bin", 1), ("a.bin", 2)]


@pytest.mark.parametrize("change", ["grown", "of the same size", "touched", "shorter"])
def test_a_file_that_has_changed_is_named_and_read_on_request(folder, change):
    path = folder / "input" / "two.bin"
    data = {
        "grown": record(4) + record(5),
        "of the same size": record(6),
        "touched": record(4),
        "shorter": record(4)[:9],
    }
    path.write_bytes(data[change])
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 5_000_000_000))
    summary, lines = told(folder, append=True)
    assert (summary.records, held(folder)) == (0, THERE)
    assert dict(summary.passed) == {"already in the tables": 1, "changed since it was read": 1}
    assert f"--again {path} replaces its rows" in lines[0]
    assert "two.bin has changed since" in lines[0]
    run(folder, again=(str(path),))
    good = {"grown": [4, 5], "of the same size": [6], "touched": [4], "shorter": []}[change]
    bad = [("two.bin", 0)] if change == "shorter" else []
    assert held(folder) == ([("one.bin", 1), ("one.bin", 3), *(("two.bin", each) for each in good)], [*THERE[1], *bad])
    assert run(folder, append=True).passed == (("already in the tables", 2),)


def test_files_are_read_again_by_another_plan_and_their_rows_are_replaced(folder):
    put(folder, "three.bin", record(5))
    run(folder, append=True)
    summary, lines = told(folder, replace(PLAN, drop=("value_crc",)), again=(str(folder / "input" / "one.bin"),))
    assert (summary.records, summary.decoded, summary.discarded) == (3, 2, 1)
    assert held(folder) == (sorted([*THERE[0], ("three.bin", 5)]), [])
    assert "read 1 file again: 2 rows and 1 quarantined records are replaced" in lines
    assert summary.passed == (("not named after --again", 2),) or dict(summary.passed) == {"already in the tables": 2}


def test_all_files_again_take_in_new_ones_and_need_no_consent_to_changes(folder):
    put(folder, "three.bin", record(5))
    other = replace(PLAN, framing="concatenated")
    with pytest.raises(MisuseError, match="--accept-changes"):
        run(folder, other, append=True)
    with pytest.raises(MisuseError, match="--accept-changes"):
        run(folder, other, again=(str(folder / "input" / "one.bin"),))
    assert run(folder, other, again=()).records == 5
    assert held(folder) == (sorted([*THERE[0], ("three.bin", 5)]), THERE[1])


def test_named_files_and_new_ones_are_two_requests(folder):
    put(folder, "three.bin", record(5))
    one = (str(folder / "input" / "one.bin"),)
    assert dict(run(folder, again=one).passed) == {"already in the tables": 1, "not named after --again": 1}
    assert dict(run(folder, again=one, append=True).passed) == {"already in the tables": 1}
    assert held(folder) == (sorted([*THERE[0], ("three.bin", 5)]), THERE[1])


def test_again_is_of_files_that_the_input_has(folder):
    (folder / "other.bin").write_bytes(record(9))
    for path in ("other.bin", "none.bin"):
        with pytest.raises(MisuseError, match=path):
            run(folder, again=(str(folder / path),))
    assert held(folder) == THERE


def test_rows_of_all_versions_and_of_replays_and_in_folders_are_replaced(tmp_path):
    (tmp_path / "input").mkdir()
    put(tmp_path, "one.bin", record(1) + damaged(record(2)) + record(3))
    put(tmp_path, "two.bin", record(4))
    run(tmp_path, partition=("opcode",))
    plan = replace(PLAN, framing="none", parameters=(("verifyCrc", False),))
    replay(LocalEngine(1), Replay(plan, str(tmp_path / "output" / "quarantine"), str(tmp_path / "output")))
    assert (tmp_path / "output" / "records" / "wireloom_batch=-1").exists()
    before = pq.read_table(tmp_path / "output" / "records")
    assert len(before) == 4
    run(tmp_path, again=(str(tmp_path / "input" / "one.bin"),))
    assert held(tmp_path) == THERE
    after = pq.read_table(tmp_path / "output" / "records")
    assert sorted(after.schema.names) == sorted(before.schema.names)


def test_files_of_tables_keep_their_columns_as_spark_finds_them(folder):
    def columns():
        files = (folder / "output" / "records").rglob("*.parquet")
        return {pq.ParquetFile(file).metadata.metadata[b"org.apache.spark.sql.parquet.row.metadata"] for file in files}

    (before,) = columns()
    schema = pq.ParquetFile(next((folder / "output" / "records").rglob("*.parquet"))).schema_arrow
    run(folder, again=(str(folder / "input" / "two.bin"),))
    assert columns() == {before}
    assert all(
        pq.ParquetFile(file).schema_arrow.equals(schema) for file in (folder / "output" / "records").rglob("*.parquet")
    )


@pytest.mark.parametrize("paths", [(), ("one.bin",)], ids=["all", "one"])
def test_killed_before_any_step_no_row_is_lost_or_there_twice(folder, paths):
    shutil.copytree(folder / "output", folder / "first")
    asked = job(folder, again=tuple(str(folder / "input" / path) for path in paths))
    last = 0
    for last in range(40):
        shutil.rmtree(folder / "output")
        shutil.copytree(folder / "first", folder / "output")
        storage = Dying(last)
        try:
            ingest(DyingEngine(storage), asked)
        except KilledError:
            run(folder, append=True)
        assert held(folder) == THERE, last
        assert not list((folder / "output" / "_staging" / "batch").iterdir())
        if storage.steps <= last:
            break
    assert 6 <= last < 39, "entered, moved in, moved away, swept"


def test_a_replay_finishes_what_takes_rows_out_of_the_tables(folder):
    shutil.copytree(folder / "output", folder / "first")
    plan = replace(PLAN, framing="none")
    for last in range(40):
        shutil.rmtree(folder / "output")
        shutil.copytree(folder / "first", folder / "output")
        storage = Dying(last)
        try:
            ingest(DyingEngine(storage), job(folder, again=()))
        except KilledError:
            replay(LocalEngine(1), Replay(plan, str(folder / "output" / "quarantine"), str(folder / "output")))
            run(folder, append=True)
        assert held(folder) == THERE, last
        if storage.steps <= last:
            return
    raise AssertionError


def as_older_versions_wrote(folder):
    """The ledger with digests of files and of how they were read, which cannot be taken apart."""
    for path in (folder / "output" / "_ledger").glob("batch-*.json"):
        entry = json.loads(path.read_text())
        entry["files"] = [f"{number:016x}" for number, _ in enumerate(entry["files"])]
        entry.pop("removed")
        path.write_text(json.dumps(entry))


def test_a_ledger_of_an_older_version_tells_files_by_the_rows_of_the_tables(folder):
    as_older_versions_wrote(folder)
    put(folder, "three.bin", record(5))
    summary = run(folder, replace(PLAN, drop=("value_crc",)), append=True)
    assert (summary.records, summary.passed) == (1, (("already in the tables", 2),))
    put(folder, "one.bin", record(1))
    os.utime(folder / "input" / "one.bin", ns=(1, 1 << 62))
    assert dict(run(folder, append=True).passed) == {"already in the tables": 2, "changed since it was read": 1}
    run(folder, again=())
    assert held(folder)[0] == [("one.bin", 1), ("three.bin", 5), ("two.bin", 4)]


def test_folded_batches_still_tell_their_files(tmp_path):
    ledger = Ledger(PlainStorage(), str(tmp_path), "batch")
    summary = replace(NOTHING, records=1, decoded=1)
    for number in range(2 * FOLDED):
        ledger.add(Entry(number, summary, "", f"2026-11-28T00:00:{number % 60:02}", files=(f"{number:016x}-1-2",)))
    before = known(ledger.read(), list).states
    ledger.fold()
    assert len(ledger.entries()) == FOLDED
    assert known(ledger.read(), list).states == before
    assert len(before) == 2 * FOLDED
    ledger.add(Entry(500, summary, "", "", moves=(("x", "y/old-records/z"),), files=("ff-1-2",)))
    assert list(known(ledger.read(), list).states) == ["ff"]


def test_the_standing_counts_rows_that_are_there(folder):
    run(folder, again=(str(folder / "input" / "one.bin"),))
    found = output_status(str(folder / "output"))
    assert (found.summary.rows - found.removed.rows, found.removed.files) == (3, 1)
    shown = invoked("status", folder / "output").output
    assert "3 rows" in shown
    assert "1 file read again" in shown


# --- the command ---------------------------------------------------------------------------------------------------


def invoked(*arguments):
    return CliRunner().invoke(app, [str(part) for part in arguments])


def command(folder, *options):
    return invoked(
        *("ingest", "--engine", "local", "--processes", "1", "--format", "databus_event", "--out", GENERATED),
        *("--input", folder / "input", "--output", folder / "output", *options),
    )


def test_the_summary_says_how_many_files_were_passed_over_and_why(folder):
    put(folder, "two.bin", record(4) + record(5))
    put(folder, "three.bin", record(6))
    done = command(folder, "--append", "--drop", "value_crc")
    assert done.exit_code == 0, done.output
    assert "2 files skipped: 1 already in the tables, 1 changed since it was read" in done.output
    done = command(folder, "--again", folder / "input" / "two.bin")
    assert done.exit_code == 0, done.output
    assert held(folder)[0] == [("one.bin", 1), ("one.bin", 3), ("three.bin", 6), ("two.bin", 4), ("two.bin", 5)]
    assert command(folder, "--append", "--again").exit_code == 0
    assert len(held(folder)[0]) == 5


def test_paths_belong_to_again_and_again_not_to_streams(folder):
    assert "--again" in command(folder, "--append", "one.bin").output
    stream = ["ingest", "--format", "databus_event", "--out", GENERATED, "--stream", "--again"]
    for refused in (
        command(folder, "--overwrite", "--again"),
        invoked(*stream, "--input", folder / "input", "--output", folder / "output"),
    ):
        assert (refused.exit_code, "--again" in refused.output) == (2, True)
