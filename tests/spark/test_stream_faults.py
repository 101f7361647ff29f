"""Faults under the stream: kills at random moments, a single bad record, poison messages; then all is counted.

`nox -s faults` sets WIRELOOM_FAULTS, which runs more of each than the ordinary tests.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import GENERATED, ROOT
from integration.faults import FULL
from wireloom.failures import MachineError
from wireloom.ingest.job.diagnosis import diagnosed
from wireloom.ingest.job.metrics import Book
from wireloom.ingest.plan import Column, Flow, Plan
from wireloom.spark.ingest.stream import stream
from wireloom.spark.session import ended
from wireloom_formats import aerospike_msgpack

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
KILLS = 12 if FULL else 1
MANY = 1_000_000 if FULL else 100_000
PACKAGE = "ingest_formats"
PROC = Path("/proc")
PER_FILE = 40  # records; every tenth is damaged
PATIENCE = 240  # seconds, on a machine that does much else


def record(module, number):
    return module.build({"kind": "alarm", "urgent": False, "battery": 1, "sentAt": number, "readings": []})


def damaged(data):
    return data[:-1] + bytes([data[-1] ^ 1])


# --- killed --------------------------------------------------------------------------------------------------------


def feed(module, folder, number):
    """A file appears in the folder, whole."""
    records = [record(module, number * PER_FILE + place) for place in range(PER_FILE)]
    data = b"".join(damaged(each) if place % 10 == 3 else each for place, each in enumerate(records))
    draft = folder / f".{number}"
    draft.write_bytes(data)
    draft.rename(folder / f"{number}.bin")


@contextmanager
def streaming(place, home, *options):
    """The command in a process group of its own, with its output in a file."""
    command = [sys.executable, "-m", "wireloom", "ingest", "--stream", "--format", "heartbeat"]
    command += ["--input", str(home / "in"), "--output", str(home / "out"), "--metrics", str(home / "metrics.jsonl")]
    command += ["--out", str(place / "build"), "--package", PACKAGE, "--max-per-batch", "2", "--master", "local[1]"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'generator'}{os.pathsep}{GENERATED}"}
    with (home / "log").open("ab") as log:
        process = subprocess.Popen(
            [*command, *options], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def entries(home):
    return len(list((home / "out" / "_ledger").glob("batch-*.json")))


def at_work(home, process, before):
    """Wait till the process has begun to write, or has ended."""
    end = time.monotonic() + PATIENCE
    staging = home / "out" / "_staging" / "batch"
    while process.poll() is None and not (staging.is_dir() and any(staging.iterdir())) and entries(home) == before:
        assert time.monotonic() < end, (home / "log").read_text()
        time.sleep(0.01)


@pytest.mark.thorough
def test_killed_again_and_again_every_record_is_once_in_the_table_or_the_quarantine(place, module, spark, tmp_path):
    chance = random.Random(7)  # noqa: S311 - moments, not secrets
    (tmp_path / "in").mkdir()
    files, killed = 0, 0
    while killed < KILLS:
        for _ in range(6):
            feed(module, tmp_path / "in", files)
            files += 1
        before = entries(tmp_path)
        with streaming(place, tmp_path) as process:
            at_work(tmp_path, process, before)
            time.sleep(chance.uniform(0, 6))
            assert process.poll() is None, (tmp_path / "log").read_text()
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
    with streaming(place, tmp_path, "--trigger", "available-now", "--max-per-batch", "20") as process:
        assert process.wait(2 * PATIENCE) == 0, (tmp_path / "log").read_text()
    everything(module, spark, tmp_path, files)


def everything(module, spark, home, files):
    """Check that each record of each file is in the right table once, and that the metrics agree."""
    total = files * PER_FILE
    bad = {number for number in range(total) if number % PER_FILE % 10 == 3}
    rows = Counter(row["sentAt"] for row in spark.read.parquet(str(home / "out" / "records")).collect())
    assert rows == Counter(set(range(total)) - bad)
    refused = Counter(bytes(row["raw"]) for row in spark.read.parquet(str(home / "out" / "quarantine")).collect())
    assert refused == Counter(damaged(record(module, number)) for number in bad)
    assert pq.read_table(home / "out" / "records").num_rows == total - len(bad), "for readers other than Spark too"
    told = [json.loads(line) for line in (home / "metrics.jsonl").read_text().splitlines()]
    assert [each["batch"] for each in told] == list(range(len(told)))
    assert sum(each["records"] for each in told) == total
    assert sum(each["quarantined"] for each in told) == len(bad)
    assert f"{total} records in = {total - len(bad)} decoded + {len(bad)} quarantined" in (home / "log").read_text()
    assert not list((home / "out" / "_staging" / "batch").iterdir())


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_finishes_the_batch_and_says_what_it_did(place, module, spark, tmp_path, number):
    (tmp_path / "in").mkdir()
    feed(module, tmp_path / "in", 0)
    with streaming(place, tmp_path) as process:
        at_work(tmp_path, process, 0)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does: everyone in the group
        else:
            process.send_signal(number)
        assert process.wait(PATIENCE) == 0, (tmp_path / "log").read_text()
    everything(module, spark, tmp_path, 1)
    assert "Traceback" not in (tmp_path / "log").read_text()
    assert "Exception" not in (tmp_path / "log").read_text()


@pytest.mark.thorough
def test_where_sparks_own_process_dies_the_message_says_what_to_do(place, module, spark, tmp_path):
    (tmp_path / "in").mkdir()
    feed(module, tmp_path / "in", 0)
    with streaming(place, tmp_path) as process:
        at_work(tmp_path, process, 0)
        (java,) = (pid for pid in children(process.pid) if b"java" in (PROC / pid / "comm").read_bytes())
        os.kill(int(java), signal.SIGKILL)
        assert process.wait(PATIENCE) == 3, (tmp_path / "log").read_text()
    (said,) = said_in(tmp_path)
    assert "Spark's Java process" in said
    assert "start it again to continue" in said
    with streaming(place, tmp_path, "--trigger", "available-now") as process:
        assert process.wait(PATIENCE) == 0, (tmp_path / "log").read_text()
    everything(module, spark, tmp_path, 1)


def said_in(home):
    """The command's own lines."""
    return [line for line in (home / "log").read_text().splitlines() if line.startswith("wireloom: ")]


@pytest.mark.thorough
def test_a_heap_that_is_too_small_is_told_as_that_and_not_to_be_tried_again(place, tmp_path):
    column_of([b"x" * 300_000_000], tmp_path)
    with streaming(place, tmp_path, "--column", "value", "--driver-memory", "600m", "--trigger", "once") as process:
        assert process.wait(PATIENCE) == 3, (tmp_path / "log").read_text()
    (said,) = said_in(tmp_path)
    assert "the memory of Spark's Java process is full; raise it with --driver-memory" in said
    assert "start it again" not in said
    assert "(details: " in said


@pytest.mark.thorough
def test_a_worker_that_is_killed_and_a_mistake_of_ours_are_told_in_a_line(spark, module, tmp_path):
    column_of([record(module, 1)], tmp_path)

    def killed(plan, batches):
        yield from ()
        os.kill(os.getpid(), signal.SIGKILL)

    def mistaken(plan, batches):
        yield from ()
        raise ZeroDivisionError("a bug")

    for read, said in (
        (killed, "a decoding process was killed"),
        (mistaken, "ZeroDivisionError: a bug"),
    ):
        with pytest.raises(MachineError, match=said) as failed, diagnosed(str(tmp_path / "out"), partial(ended, spark)):
            spark.range(1).mapInArrow(partial(read, None), "id long").collect()
        assert "\n" not in str(failed.value)


def children(pid):
    return (PROC / str(pid) / "task" / str(pid) / "children").read_text().split()


# --- one among many, and poison ------------------------------------------------------------------------------------


def column_of(values, home):
    (home / "in").mkdir()
    pq.write_table(pa.table({"value": pa.array(values, pa.binary())}), home / "in" / "a.parquet", row_group_size=20_000)
    return Column(str(home / "in"), "value")


def run(spark, module, source, home):
    plan = Plan(module.__name__, module.FORMAT, module.DIGEST)
    flow = Flow(plan, source, str(home / "out"), trigger="available-now")
    return stream(spark, flow, Book(home / "metrics.jsonl"), threading.Event())


def test_one_bad_record_among_very_many_costs_itself_alone(spark, module, tmp_path):
    values, wrong = [record(module, 1)] * MANY, MANY * 2 // 3
    values[wrong] = damaged(values[wrong])
    summary = run(spark, module, column_of(values, tmp_path), tmp_path)
    assert (summary.records, summary.rows, summary.codes) == (MANY, MANY - 1, (("bad_checksum", 1),))
    found = spark.read.parquet(str(tmp_path / "out" / "records")).selectExpr("count(distinct _record)").first()[0]
    assert found == MANY - 1
    (row,) = spark.read.parquet(str(tmp_path / "out" / "quarantine")).collect()
    assert (row["_record"], bytes(row["raw"])) == (wrong, values[wrong])


GOOD = bytes.fromhex("9301029594a474657374c0c414000102030405060708090a0b0c0d0e0f10111213c00104c0c0")
POISON = {
    "an array of four thousand million": b"\xdd\xff\xff\xff\xff",
    "a text of four gigabytes": GOOD[:5] + b"\xdb\xff\xff\xff\xff" + b"a" * 40,
    "a map inside it that says the same": b"\x93\x01\x02\x95" + b"\xdf\xff\xff\xff\xff" + b"\x01" * 50,
    "nested 64 deep": b"\x93\x01\x02" + b"\x91" * 64 + b"\xc0",
    "nested 100,000 deep": b"\x93\x01\x02" + b"\x91" * 100_000 + b"\xc0",
    "30 MB that nothing says": b"\xc6\x01\xe0\x00\x00" + bytes(30 << 20),
    "30 MB of ones": b"\x01" * (30 << 20),
}


def test_poison_is_quarantined_and_its_neighbours_are_not(spark, tmp_path):
    values = [each for poison in POISON.values() for each in (GOOD, poison, GOOD)]
    summary = run(spark, aerospike_msgpack, column_of(values, tmp_path), tmp_path)
    assert (summary.records, summary.rows, summary.quarantined) == (len(values), 2 * len(POISON), len(POISON))
    rows = spark.read.parquet(str(tmp_path / "out" / "quarantine")).orderBy("_record").collect()
    assert [row["raw_size"] for row in rows] == [len(poison) for poison in POISON.values()]
    assert all(bytes(row["raw"]) == poison[: 16 << 20] for row, poison in zip(rows, POISON.values(), strict=True))


LIMITED = """
import resource, sys
import pyarrow as pa
from wireloom.ingest.plan import Plan
from wireloom.ingest.files.values import values_of
from wireloom_formats import aerospike_msgpack as module

value = open(sys.argv[1], "rb").read()
batch = pa.record_batch([pa.array([0, 1]), pa.array([value, value], pa.binary())], ["_record", "data"])
list(values_of(plan := Plan(module.__name__, module.FORMAT, module.DIGEST), [batch.slice(0, 0)]))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20),) * 2)
rows = [row for made in values_of(plan, [batch]) for row in made.bad.to_pylist()]
assert [row["raw_size"] for row in rows] == [len(value)] * 2
"""


QUICK = ("an array of four thousand million", "nested 100,000 deep", "30 MB of ones")


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in POISON]
)
def test_poison_takes_bounded_memory(name, tmp_path):
    (tmp_path / "value").write_bytes(POISON[name])
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'generator'}{os.pathsep}{GENERATED}"}
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "value")]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
