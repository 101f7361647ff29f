"""Operating ingest: the state of tables, safe restarts, and messages about failures."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED, ROOT
from support.databus_events import built as record
from support.databus_events import damaged
from wireloom.cli.app import app
from wireloom.cli.terminal import job_progress
from wireloom.failures import LimitError, MachineError, MisuseError
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.diagnosis import diagnosis, noted
from wireloom.ingest.job.limits import Limits
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.job.metrics import metrics
from wireloom.ingest.job.report import summary_lines
from wireloom.ingest.job.status import output_status
from wireloom.ingest.ledger import lease
from wireloom.ingest.ledger.entries import Ledger
from wireloom.ingest.ledger.lease import Holder, leased
from wireloom.ingest.plan import Job, Plan
from wireloom_formats import databus_event

PLAN = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.MEANING)


@pytest.fixture
def job(tmp_path):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "one.bin").write_bytes(record(1) + damaged(record(2)) + record(3))

    def made(**options):
        return Job(PLAN, str(tmp_path / "input"), str(tmp_path / "output"), **options)

    return made


def run(job, processes=1):
    told = []
    return ingest(LocalEngine(processes), job, told.append), told


def invoked(*arguments):
    return CliRunner().invoke(app, [str(part) for part in arguments])


def rows(folder):
    return pq.read_table(folder / "output" / "records").num_rows


def ledger(folder, kind="batch"):
    return Ledger(PlainStorage(), str(folder / "output"), kind)


# --- again ---------------------------------------------------------------------------------------------------------


def test_a_finished_job_that_is_run_again_says_so(job, tmp_path):
    summary, told = run(job())
    assert told == []
    again, told = run(job())
    assert (again, len(told)) == (summary, 1)
    assert "is complete: batch 0 of" in told[0]
    added, told = run(job(append=True))
    assert (added.records, added.passed) == (0, (("already in the tables", 1),)), "the same files are not added twice"
    assert "nothing to do" in told[0]
    command = ["ingest", "--engine", "local", "--format", "databus_event", "--input", job().input, "--out", GENERATED]
    done = invoked(*command, "--output", job().output)
    assert (done.exit_code, rows(tmp_path)) == (0, 2)
    assert "nothing to do" in done.output


def test_another_plan_or_another_file_is_another_job(job, tmp_path):
    run(job())
    with pytest.raises(MisuseError, match="--append"):
        run(replace(job(), plan=replace(PLAN, drop=("value_crc",))))
    (tmp_path / "input" / "two.bin").write_bytes(record(4))
    with pytest.raises(MisuseError, match="--append"):
        run(job())
    assert run(job(overwrite=True))[0].records == 4
    assert run(job(overwrite=True))[1] == [], "who asks for it gets new tables"


def test_what_was_replaced_is_not_in_the_tables(job, tmp_path):
    run(job())
    one = (tmp_path / "input" / "one.bin").rename(tmp_path / "one.bin")
    (tmp_path / "input" / "two.bin").write_bytes(record(4))
    run(job(overwrite=True))
    (tmp_path / "input" / "two.bin").rename(tmp_path / "two.bin")
    one.rename(tmp_path / "input" / "one.bin")
    summary, told = run(job(append=True))
    assert (summary.records, told, rows(tmp_path)) == (3, [], 3)


# --- two at once ---------------------------------------------------------------------------------------------------


def test_of_two_jobs_on_one_output_the_second_is_told_in_one_line(job, tmp_path):
    with leased(PlainStorage(), ledger(tmp_path), "stream"):
        refused = invoked(
            *("ingest", "--engine", "local", "--format", "databus_event", "--input", job().input),
            *("--output", job().output, "--out", GENERATED),
        )
        assert refused.exit_code == 2
        assert refused.output.startswith(f"wireloom: file:{job().output} is in use by stream (process ")
        assert refused.output.count("\n") == 1
        with leased(PlainStorage(), ledger(tmp_path, "replay"), "replay"):
            pass
    assert run(job())[0].records == 3


def left_by(folder, **changed):
    """The lease of a job that ended without removing it."""
    own = replace(Holder.own("ingest"), **changed)
    PlainStorage().write(lease.lease_path(ledger(folder)), json.dumps(asdict(own)))


def test_what_a_killed_job_holds_is_nobodys(job, tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for changed in ({"process": dead.pid, "born": "1"}, {"born": "1"}, {}, {"process": 1, "born": "never"}):
        left_by(tmp_path, **changed)
        assert run(job(overwrite=True))[0].records == 3


def test_a_job_of_another_machine_lives_while_it_gives_signs(job, tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "PATIENCE", 0.3)
    monkeypatch.setattr(lease, "POLL", 0.05)
    left_by(tmp_path, place="elsewhere", host="far")

    def beat(_seconds):
        path, storage = lease.lease_path(ledger(tmp_path)), PlainStorage()
        found = json.loads(storage.read(path))
        storage.replace(path, json.dumps({**found, "beat": found["beat"] + 1}))

    with monkeypatch.context() as waiting:
        waiting.setattr(lease.time, "sleep", beat)  # while one job waits, the other gives its sign
        with pytest.raises(MisuseError, match=r"in use by ingest \(process .* on far"):
            run(job())
    summary, told = run(job())
    assert summary.records == 3
    assert "checking if ingest (process " in told[0]


def test_a_lease_gives_signs_of_life_and_is_gone_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "BEAT", 0.02)
    with leased(PlainStorage(), ledger(tmp_path), "ingest"):
        until = time.monotonic() + 120
        while lease.holder(PlainStorage(), ledger(tmp_path)).beat < 3:
            assert time.monotonic() < until
            time.sleep(0.01)
    assert not list((tmp_path / "output" / "_ledger").iterdir())


# --- how it stands -------------------------------------------------------------------------------------------------


def test_status_says_what_is_in_the_tables_and_what_was_refused(job, tmp_path):
    run(job())
    (tmp_path / "input" / "two.bin").write_bytes(record(5)[:20])
    run(job(append=True))
    shown = invoked("status", job().output)
    assert shown.exit_code == 0, shown.output
    for line in ("2 batches, ", "4 records (", "1  truncated", "1  value_crc", "no job is running", "since batch 0"):
        assert line in shown.output
    found = json.loads(invoked("status", job().output, "--json").output)
    assert found["batches"] == 2
    assert found["summary"]["errors"] == {"truncated": 1, "value_crc": 1}
    codes = {failure["code"]: failure for failure in found["failures"]}
    assert bytes.fromhex(codes["value_crc"]["first"]) == record(2)[:32]
    assert codes["value_crc"]["origin"].endswith(f"one.bin, record 1, at byte {len(record(1))}")
    assert found["running"] == found["staged"] == []
    bad = len(record(2)) + 20
    assert f"2 decoded + 2 quarantined ({bad} B)" in shown.output
    assert found["summary"]["bytesQuarantined"] == bad


def test_status_says_what_stopped_jobs_last(job, tmp_path):
    run(job())
    path = noted(job().output, "the output is read-only\n\nTraceback")
    shown = invoked("status", job().output)
    assert "last stopped by" in shown.output
    assert "the output is read-only" in shown.output
    assert "Traceback" not in shown.output
    (stop, *_) = json.loads(invoked("status", job().output, "--json").output)["stops"]
    assert (stop["path"], stop["said"]) == (path, "the output is read-only")


def test_too_little_memory_for_a_row_group_is_not_the_fault_of_the_file(job, tmp_path, monkeypatch):
    table = pa.table({"value": pa.array([record(1)], pa.binary())})
    (tmp_path / "input" / "one.bin").unlink()
    pq.write_table(table, tmp_path / "input" / "t.parquet")

    def full(*_):
        raise pa.ArrowMemoryError("malloc of size 1000 failed")

    monkeypatch.setattr("wireloom.ingest.files.parquet.values_of", full)
    with pytest.raises(MachineError, match="memory"):
        run(job(column="value"))


def test_status_of_what_is_no_output_is_a_wrong_call(tmp_path):
    assert "there is no" in invoked("status", tmp_path / "no").output
    refused = invoked("status", tmp_path)
    assert (refused.exit_code, "no tables of ingest" in refused.output) == (2, True)


def staged(folder, name):
    place = folder / "output" / "_staging" / "batch" / name / "records"
    place.mkdir(parents=True)
    (place / "part.parquet").write_bytes(b"half")
    return place.parent


def test_clean_removes_what_no_entry_names_and_nothing_of_a_running_job(job, tmp_path):
    run(job())
    left = staged(tmp_path, "left")
    (tmp_path / "output" / "_ledger" / ".batch-0000000001.json.abc").write_text("{")
    before = sorted((tmp_path / "output").rglob("*"))
    assert json.loads(invoked("status", job().output, "--json").output)["staged"][0]["files"] == 1
    dry = invoked("clean", job().output, "--dry-run")
    assert f"would remove file:{left} (1 file, 4 B)" in dry.output
    assert sorted((tmp_path / "output").rglob("*")) == before
    with leased(PlainStorage(), ledger(tmp_path), "ingest"):
        assert "in use" in invoked("status", job().output).output
        for options in ([], ["--dry-run"]):
            refused = invoked("clean", job().output, *options)
            assert (refused.exit_code, "is in use" in refused.output) == (2, True)
    assert left.exists()
    assert "removed" in invoked("clean", job().output).output
    assert not left.exists()
    assert sorted((tmp_path / "output").rglob(".*")) == []
    assert (rows(tmp_path), invoked("clean", job().output).exit_code) == (2, 0)


def test_clean_moves_what_is_entered_and_was_not_moved(job, tmp_path):
    run(job())
    (entry,) = ledger(tmp_path).entries()
    for source, target in entry.moves:
        PlainStorage().rename(target, source)
    assert "batch 0 is in the ledger" in invoked("status", job().output).output
    assert "finished batch 0" in invoked("clean", job().output).output
    assert rows(tmp_path) == 2


def test_a_job_that_fails_leaves_nothing_staged(job, tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("wireloom.ingest.job.local.entered", failing)
    with pytest.raises(MachineError, match="a disk error"):
        run(job())
    assert output_status(job().output).staged == ()


# --- what goes wrong, for real -------------------------------------------------------------------------------------

WEAK = """
import ctypes, os, resource, signal
{before}
if os.getuid() == 0:  # without root's rights over files
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(header, none) == 0
from wireloom.cli import main
main()
"""


def command(job, before="", *options):
    """The command in a process of its own, without root's rights; `before` is done in it first."""
    asked = ["ingest", "--engine", "local", "--format", "databus_event", "--input", job.input, "--output", job.output]
    paths = os.pathsep.join([str(ROOT / "generator"), str(GENERATED)])
    return subprocess.run(
        [
            sys.executable,
            "-c",
            WEAK.format(before=before),
            *asked,
            "--out",
            str(GENERATED),
            "--progress",
            "none",
            *options,
        ],
        env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(Path(job.input).parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def one_line(done, code):
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) == (code, 1), done.stderr
    return lines[0]


def details(line):
    path = line.rpartition("(details: ")[2].rstrip(")")
    return Path(path.removeprefix("file:"))


def test_an_output_that_may_not_be_written_is_one_line_that_names_it(job, tmp_path):
    (tmp_path / "output").mkdir(mode=0o555)
    line = one_line(command(job()), 2)
    assert f"output cannot be written: {tmp_path}/output: Permission denied" in line
    assert "choose another --output" in line


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["/bin/mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "none", disk], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["/bin/umount", disk], check=True)


def test_a_full_disk_is_one_line_and_leaves_its_tables_as_they_were(job, tmp_path, small_disk):
    full = replace(job(), output=str(small_disk / "output"))
    noise = random.Random(1).randbytes(3_000_000)  # noqa: S311 - bytes, not secrets
    (tmp_path / "input" / "one.bin").write_bytes(b"\xfe" + noise)
    line = one_line(command(full), 3)
    assert "there is no space left for" in line
    assert "of 1.0 MB" in line
    assert "start it again" in line
    assert details(line).exists()
    left = [path for path in small_disk.rglob("*") if path.is_file() and "_failures" not in path.parts]
    assert left == [], "room is made again"


def test_a_file_that_may_not_grow_is_one_line(job, tmp_path):
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    line = one_line(command(job(), limit), 3)
    assert "too large for a file" in line
    assert "ulimit -f" in line


def test_too_little_memory_says_what_was_read(job, tmp_path, monkeypatch):
    def short(*_, **__):
        raise MemoryError

    monkeypatch.setattr(type(databus_event.CODEC), "decode_stream", short)
    with pytest.raises(MachineError, match=r"memory ran out, while reading file:.*one\.bin; run fewer"):
        run(job())


def killed(group):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.thorough
def test_a_process_that_is_killed_says_what_was_in_hand(job, tmp_path, monkeypatch):
    (tmp_path / "input" / "two.bin").write_bytes(record(4))
    monkeypatch.setattr("wireloom.ingest.files.inputs.SMALLEST", 1)
    monkeypatch.setattr("wireloom.ingest.job.local._Task.__call__", killed)
    monkeypatch.setattr("wireloom.ingest.job.local._Task.__reduce__", lambda _: (partial, (killed,)), raising=False)
    with pytest.raises(MachineError, match=r"SIGKILL.* at file:.*one\.bin, file:.*two\.bin; run fewer"):
        run(job(), 2)


def test_the_details_of_the_newest_failures_are_kept(tmp_path):
    for number in range(30):
        (tmp_path / "_failures").mkdir(exist_ok=True)
        (tmp_path / "_failures" / f"2020-{number:02}.txt").write_text("old")
    path = noted(str(tmp_path), "why")
    assert Path(path).read_text() == "why"
    assert len(list((tmp_path / "_failures").iterdir())) == 20


def test_failures_of_one_second_have_a_file_each_in_their_order(tmp_path):
    (tmp_path / "_ledger").mkdir()
    (tmp_path / "_failures").mkdir()
    (tmp_path / "_failures" / "20200101T000000-7.txt").write_text("of an older version\n")
    paths = [noted(str(tmp_path), f"failure {number}\n") for number in range(5)]
    assert [Path(path).read_text() for path in paths] == [f"failure {number}\n" for number in range(5)]
    assert sorted(paths) == paths
    assert [stop.said for stop in output_status(str(tmp_path)).stops] == ["failure 4", "failure 3", "failure 2"]
    for path in paths[1:]:
        Path(path).unlink()
    older = output_status(str(tmp_path)).stops[1]
    assert (older.said, older.time) == ("of an older version", "2020-01-01T00:00:00+00:00")


JAVA = "py4j.protocol.Py4JNetworkError: Answer from Java side is empty"


@pytest.mark.parametrize(
    ("text", "java", "said", "again"),
    [
        (JAVA, 52, "memory of Spark's Java process is full", False),
        ("java.lang.OutOfMemoryError: Java heap space", None, "--driver-memory", False),
        (JAVA, -9, "SIGKILL", True),
        (JAVA, 143, "SIGTERM", True),
        (JAVA, None, "does not answer", True),
        ("java.io.IOException: No space left on device", None, "no space left", True),
        (
            "OSError: [Errno 30] Read-only file system: '/data/t'",
            None,
            "/data/t is on a read-only file system",
            False,
        ),
        ("PermissionError: [Errno 13] Permission denied: '/data/t'", None, "permission is denied: /data/t", False),
        (
            "NotADirectoryError: [Errno 20] Cannot create directory '/file/_ledger'",
            None,
            "/file/_ledger cannot be made: a file is in its path; choose another --output",
            False,
        ),
        (
            "FileNotFoundError: [Errno 2] Cannot create directory '/proc/x'",
            None,
            "cannot make the folder /proc/x; choose another --output",
            False,
        ),
        (
            "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: x",
            None,
            "executor was lost",
            True,
        ),
        (
            "java.lang.ClassNotFoundException: org.apache.hadoop.fs.s3a.S3AFileSystem",
            None,
            "lacks org.apache.hadoop.fs.s3a",
            False,
        ),
        (
            'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3"',
            None,
            "no file system for s3://; use --engine local",
            False,
        ),
        (
            "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)",
            None,
            "killed",
            False,
        ),
        (
            "org.apache.kafka.common.errors.TimeoutException: Timed out",
            None,
            "Kafka does not answer: TimeoutException",
            True,
        ),
        (
            "pyspark.errors.PythonException: wireloom.failures.DataError: file:/a had 3 bytes",
            None,
            "file:/a had 3 bytes",
            False,
        ),
    ],
)
def test_each_failure_has_its_own_words_and_start_it_again_only_where_that_helps(text, java, said, again):
    found = diagnosis(text, "/data", java)
    assert said in f"{found.what}; {found.advice}"
    assert ("start it again" in found.advice) == again


# --- how much may be bad -------------------------------------------------------------------------------------------


def test_bytes_are_counted_in_and_quarantined(job):
    summary, _ = run(job())
    assert (summary.size, summary.bad_size) == (3 * len(record(1)), len(record(2)))
    assert metrics("s", ledger(Path(job().output).parent).entries()[0])["bytesQuarantined"] == len(record(2))
    assert "189 B in, 63 B of them quarantined" in list(summary_lines(summary, "out"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail-above", "33"], "33.3 % of the records are bad (value_crc 1), more than --fail-above 33"),
        (["--max-quarantine", "62b"], "63 B go to the quarantine"),
    ],
)
def test_more_bad_than_is_allowed_stops_with_a_code_of_its_own_and_changes_nothing(job, options, said):
    command = ["ingest", "--engine", "local", "--format", "databus_event", "--input", job().input, "--out", GENERATED]
    stopped = invoked(*command, "--output", job().output, *options)
    assert stopped.exit_code == 4
    assert said in stopped.output
    assert not (Path(job().output) / "records").exists()
    assert output_status(job().output).staged == ()
    raised = [options[0], {"33": "34", "62b": "63"}[options[1]]]
    assert invoked(*command, "--output", job().output, *raised).exit_code == 0


def test_the_quarantine_of_all_batches_together_is_bounded_and_its_tasks_stop_early(job, tmp_path):
    limits = Limits(size=130)
    ingest(LocalEngine(1), job(append=True), limits=limits)
    for number in range(2):
        (tmp_path / "input" / f"more{number}.bin").write_bytes(damaged(record(number)))
        if number:
            with pytest.raises(LimitError, match="189 B go to the quarantine"):
                ingest(LocalEngine(1), job(append=True), limits=limits)
        else:
            ingest(LocalEngine(1), job(append=True), limits=limits)
    for path in (tmp_path / "input").iterdir():
        path.unlink()
    (tmp_path / "input" / "one.bin").write_bytes(damaged(record(9)) * 1_000)
    with pytest.raises(LimitError):
        ingest(LocalEngine(1), job(overwrite=True), limits=limits)
    assert ingest(LocalEngine(1), job(overwrite=True), limits=Limits(size=63_000)).bad_size == 63_000


def test_progress_is_told_in_bytes_and_shown_as_asked(job, capsys, monkeypatch):
    told = []
    watcher = type("Watcher", (), {"at": lambda _, *given: told.append(given)})()
    ingest(LocalEngine(1), job(), watcher=watcher)
    assert told == [(0, 189, "bytes"), (189, 189, "bytes")]
    monkeypatch.setattr(job_progress, "INTERVAL", 0.01)
    noted, note = threading.Event(), job_progress.note
    monkeypatch.setattr(job_progress, "note", lambda text: (note(text), noted.set()))
    for kind, said in (("line", "100 %, 189 B of 189 B, "), ("none", ""), ("bar", "")):
        with job_progress.shown(kind) as shown:
            shown.at(189, 189, "bytes")
            noted.clear()
            assert kind != "line" or noted.wait(120)
        assert said in capsys.readouterr().err
    refused = invoked("ingest", "--format", "a", "--output", "b", "--progress", "lots")
    assert "it can be none, line, bar" in refused.output
