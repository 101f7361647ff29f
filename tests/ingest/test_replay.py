"""Replays without Spark: records that decode move, the others stay, none is lost or duplicated."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from support.databus_events import built, damaged
from support.killed_runs import killed_before
from wireloom.cli.app import app
from wireloom.failures import MisuseError
from wireloom.ingest.files.inputs import Input
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job import local
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import Job, Plan, Replay
from wireloom.ingest.quarantine.replay import finish, formats, replay
from wireloom.ingest.tables.schemas import bad_type
from wireloom.runtime.streams import framed
from wireloom.runtime.streams.delimiters import stuffed
from wireloom.runtime.streams.framing import Delimited, Stuffed, bare, framing_of
from wireloom_formats import databus_event

PLAN = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.DIGEST)
LENIENT = replace(PLAN, framing="none", parameters=(("verifyCrc", False),))
GARBAGE = b"\x09" + bytes(20)


@pytest.fixture(name="source")
def _source(tmp_path: Path) -> Path:
    """Two files of ten events, three of them with a wrong checksum, and a file that has none."""
    folder = tmp_path / "in"
    folder.mkdir()
    records = [damaged(built(number)) if number in (1, 4, 9) else built(number) for number in range(10)]
    (folder / "a").write_bytes(b"".join(records[:6]))
    (folder / "b").write_bytes(b"".join(records[6:]))
    (folder / "c").write_bytes(GARBAGE)
    return folder


def rows(path: Path) -> list[dict[str, object]]:
    return pq.read_table(path).to_pylist()


def run(home: Path, processes: int = 1, plan: Plan = LENIENT):
    return replay(LocalEngine(processes), Replay(plan, str(home / "quarantine"), str(home)))


def everything(home: Path) -> None:
    """Check the tables after a replay."""
    assert Counter(row["sequence"] for row in rows(home / "records")) == Counter(range(10))
    assert [(row["code"], row["raw"]) for row in rows(home / "quarantine")] == [("bad_version", GARBAGE)]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_decodes_now_moves_and_the_rest_stays(source: Path, tmp_path: Path, processes: int) -> None:
    home = tmp_path / "out"
    assert ingest(LocalEngine(1), Job(PLAN, str(source), str(home))).quarantined == 4
    before = {(row["_source"], row["_record"], row["_offset"]) for row in rows(home / "quarantine")}
    assert formats(LocalEngine(1), str(home / "quarantine")) == ("databus_event",)
    done = run(home, processes)
    assert (done.summary.records, done.summary.decoded, dict(done.summary.codes)) == (4, 3, {"bad_version": 1})
    assert (done.number, done.before, done.cut) == (1, ((PLAN.digest, 4),), 0)
    everything(home)
    moved = [row for row in rows(home / "records") if str(row["wireloom_batch"]) == "-1"]
    assert {(row["_source"], row["_record"], row["_offset"]) for row in moved + rows(home / "quarantine")} == before
    again = run(home, processes)
    assert (again.number, again.summary.records, again.summary.decoded) == (2, 1, 0)
    everything(home)
    (source / "d").write_bytes(built(10))
    assert ingest(LocalEngine(1), Job(PLAN, str(source / "d"), str(home), append=True)).rows == 1


def test_who_adds_behind_a_replay_is_held_to_the_batches_before_it(source: Path, tmp_path: Path) -> None:
    home, aside = tmp_path / "out", tmp_path / "aside"
    ingest(LocalEngine(1), Job(PLAN, str(source), str(home)))
    replay(LocalEngine(1), Replay(LENIENT, str(home / "quarantine"), str(aside)))
    run(home)
    (source / "d").write_bytes(built(10))
    more = Job(PLAN, str(source / "d"), str(home), append=True)
    with pytest.raises(
        MisuseError, match=r"framing: as the spec says -> none(.|\n)*parameter verifyCrc: the default -> False"
    ):
        ingest(LocalEngine(1), replace(more, plan=LENIENT))
    assert ingest(LocalEngine(1), more).rows == 1
    assert ingest(LocalEngine(1), replace(more, output=str(aside))).rows == 1, "only replays have added to it"


def test_several_groups_are_several_tasks(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "out"
    for name in ("a", "b", "c"):
        ingest(LocalEngine(1), Job(PLAN, str(source / name), str(home), append=True))
    monkeypatch.setattr(local, "of_tables", lambda groups, _: Input(((group,) for group in groups), 0))
    assert run(home, 2).summary.decoded == 3
    everything(home)


def test_killed_at_any_move_the_next_replay_finishes_it(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for last in range(12):
        home = tmp_path / f"out-{last}"
        ingest(LocalEngine(1), Job(PLAN, str(source), str(home)))
        if not killed_before(last, PlainStorage, monkeypatch, lambda home=home: run(home)):
            break
        finished = finish(LocalEngine(1), str(home / "quarantine"))
        assert [entry.summary.decoded for entry in finished] == [3]
        everything(home)
        assert run(home).number == 2
        everything(home)
    assert last == 4, "two tables moved, the old one away, swept"


def test_records_that_lost_bytes_stay_unless_their_file_has_them(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(framed, "KEPT", 50)
    monkeypatch.setattr("wireloom.ingest.tables.splitting.KEPT", 50)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(built(0) + damaged(built(1)))
    home = tmp_path / "out"
    ingest(LocalEngine(1), Job(PLAN, str(tmp_path / "in"), str(home)))
    kept = run(home)
    assert (kept.cut, kept.summary.decoded, kept.summary.quarantined) == (1, 0, 1)
    read = run(home, plan=replace(LENIENT, from_source=True))
    assert (read.summary.decoded, read.summary.quarantined) == (1, 0)
    assert formats(LocalEngine(1), str(home / "quarantine")) == ()
    assert sorted(row["sequence"] for row in rows(home / "records")) == [0, 1]


@pytest.mark.parametrize("framing", ["slip", "cobs"])
def test_records_that_lost_bytes_are_read_from_files_in_which_they_have_escapes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, framing: str
) -> None:
    for module in (
        "wireloom.runtime.streams.framed",
        "wireloom.ingest.tables.splitting",
        "wireloom.ingest.quarantine.from_source",
    ):
        monkeypatch.setattr(f"{module}.KEPT", 50)
    escaped = 0xC0DB
    records = [built(0), damaged(built(escaped)), built(escaped + 1), damaged(built(1))]
    stands = bare(framing_of(framing))
    assert isinstance(stands, Delimited | Stuffed)
    pieces = [stuffed(stands, record) or b"" for record in records]
    assert len(pieces[1]) > len(records[1])
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(b"".join(piece + stands.delimiter for piece in pieces))
    home, lenient = tmp_path / "out", replace(LENIENT, from_source=True)
    assert ingest(LocalEngine(1), Job(replace(PLAN, framing=framing), str(tmp_path / "in"), str(home))).quarantined == 2
    (tmp_path / "in" / "a").rename(tmp_path / "a")
    assert run(home, plan=lenient).summary.quarantined == 2, "the file is gone"
    (tmp_path / "in" / "a").write_bytes(b"".join(piece + stands.delimiter for piece in (pieces[0], *pieces[2:])))
    assert run(home, plan=lenient).summary.quarantined == 2, "the file is another"
    (tmp_path / "a").rename(tmp_path / "in" / "a")
    done = run(home, plan=lenient)
    assert (done.summary.decoded, done.summary.quarantined) == (2, 0)
    offsets = [sum(len(piece) + 1 for piece in pieces[:at]) for at in range(4)]
    found = {row["sequence"]: (row["_record"], row["_offset"]) for row in rows(home / "records")}
    assert found == {number: (at, offsets[at]) for at, number in enumerate((0, escaped, escaped + 1, 1))}


def test_files_that_lack_a_column_have_nulls_in_it(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "out"
    ingest(LocalEngine(1), Job(PLAN, str(source), str(home)))
    (path,) = (home / "quarantine" / "wireloom_batch=0").glob("*.parquet")
    older = home / "quarantine" / "wireloom_batch=1"
    older.mkdir()
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["_offset"]), older / "part.parquet")
    done = run(home)
    assert (done.summary.records, done.summary.decoded) == (8, 6)
    moved = [row for row in rows(home / "records") if str(row["wireloom_batch"]) == "-1"]
    assert sum(row["_offset"] is None for row in moved) == 3


def test_a_replay_refuses_a_folder_that_is_no_quarantine(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "out"
    ingest(LocalEngine(1), Job(PLAN, str(source), str(home)))
    engine = LocalEngine(1)
    with pytest.raises(MisuseError, match=r"is not a quarantine: it has the columns .*, not raw, "):
        replay(engine, Replay(LENIENT, str(home / "records"), str(home)))
    with pytest.raises(MisuseError, match="is not a table"):
        replay(engine, Replay(LENIENT, str(home / "elsewhere"), str(home)))
    with pytest.raises(MisuseError, match="has records of databus_event, not of other"):
        replay(engine, Replay(replace(LENIENT, format="other"), str(home / "quarantine"), str(home)))
    strange = tmp_path / "strange" / "quarantine"
    strange.mkdir(parents=True)
    (strange / "part-0.parquet").write_bytes(b"no Parquet")
    with pytest.raises(MisuseError, match=r"cannot read .* as Parquet"):
        replay(engine, Replay(LENIENT, str(strange), str(home)))
    (strange / "_delta_log").mkdir()
    with pytest.raises(MisuseError, match="is a Delta table"):
        replay(engine, Replay(LENIENT, str(strange), str(home)))
    assert bad_type(pa.schema([])).names[0] == "raw"


def test_the_command_needs_no_spark(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    home = tmp_path / "out"
    ingest(LocalEngine(1), Job(PLAN, str(source), str(home)))
    asked = ["replay", str(home / "quarantine"), "--engine", "local", "--out", str(GENERATED), "--processes", "1"]
    result = CliRunner().invoke(app, [*asked, "-p", "verifyCrc=false"])
    assert result.exit_code == 0, result.output
    assert "4 records = 3 moved + 1 still bad" in result.output
    everything(home)
    result = CliRunner().invoke(app, [*asked, "--drop", "bad_version", "--fail-on-error"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, asked)
    assert "is empty; there is nothing to replay" in result.output
    for wrong in (["--engine", "loca"], ["--engine", "spark"], ["--driver-memory", "1g"]):
        result = CliRunner().invoke(app, [*asked, *wrong])
        assert result.exit_code == 2, result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "dns_message"], "are of databus_event, not of dns_message"),
        (["--format", "databus_evnt"], "did you mean databus_event?"),
        (["--root", "recrod"], "databus_event has no root 'recrod'"),
        (["--format", "databus_event", "--root", "recrod"], "databus_event has no root 'recrod'"),
        (["-p", "verifyCrcs=false"], "'verifyCrcs' is not a parameter of databus_event"),
        (["--drop", "bad_crcs"], "'bad_crcs' is not an error code of databus_event"),
        (["--output", "HOME/records"], "which has tables of ingest"),
        (["--output", "HOME/../in/a"], "cannot be made: "),
        (["--master", "local[2]"], "--master is an option of Spark"),
    ],
)
def test_a_replay_of_nothing_looks_at_its_options_all_the_same(source: Path, tmp_path: Path, options, said) -> None:
    home = tmp_path / "out"
    for name in ("a", "b", "c"):
        (source / name).write_bytes(built(1))
    ingest(LocalEngine(1), Job(PLAN, str(source), str(home)))
    command = ["replay", str(home / "quarantine"), "--engine", "local", "--out", str(GENERATED)]
    assert "nothing to replay" in CliRunner().invoke(app, [*command, "--root", "record"]).output
    refused = CliRunner().invoke(app, [*command, *(option.replace("HOME", str(home)) for option in options)])
    assert (refused.exit_code, said in refused.output) == (2, True), refused.output


def test_what_is_no_table_is_said_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name in ("nowhere", "file"):
        refused = CliRunner().invoke(app, ["replay", str(tmp_path / name), "--engine", "local"])
        assert (refused.exit_code, "is not a table; name the folder" in refused.output) == (2, True), refused.output
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_no_records_are_moved_into_the_tables_of_another_output(source: Path, tmp_path: Path) -> None:
    home, other = tmp_path / "out", tmp_path / "other"
    for place in (home, other):
        ingest(LocalEngine(1), Job(PLAN, str(source), str(place)))
    with pytest.raises(MisuseError, match=f"is in {other}, which has tables of ingest"):
        replay(LocalEngine(1), Replay(LENIENT, str(home / "quarantine"), str(other / "records")))
    assert not list((other / "records").glob("records*"))
    everything_moved = replay(LocalEngine(1), Replay(LENIENT, str(home / "quarantine"), str(home)))
    assert everything_moved.summary.decoded == 3
