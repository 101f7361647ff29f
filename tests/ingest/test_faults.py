"""Faults under `ingest --engine local`, at every step: after the next run, each record exists once."""

import errno
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ingest.test_inputs import plan, record
from wireloom.failures import MachineError, MisuseError
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import FileSizes, Job
from wireloom.ingest.tables.parquet_files import TableFiles
from wireloom.runtime.streams import parts

RECORDS = 60


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job of several row groups and files, with one bad record."""
    monkeypatch.setattr(parts, "WINDOW", 1500)
    made = [record(number) for number in range(RECORDS)]
    made[7] = made[7][:-1] + bytes([made[7][-1] ^ 1])
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a").write_bytes(b"".join(made))
    return Job(plan(), str(tmp_path / "input"), str(tmp_path / "output"), sizes=FileSizes(1, 1))


def run(job):
    return ingest(LocalEngine(1), job)


def holds_each_record_once(folder):
    good = pq.read_table(folder / "output" / "records")["sequence"].to_pylist()
    bad = pq.read_table(folder / "output" / "quarantine")["_record"].to_pylist()
    assert (sorted(good), bad) == (sorted(set(range(RECORDS)) - {7}), [7])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS], ids=["a full disk", "an output that turns read-only"])
@pytest.mark.parametrize("place", range(4))
def test_a_disk_that_fails_while_rows_are_written_leaves_nothing_and_the_next_run_does_it(
    job, tmp_path, monkeypatch, number, place
):
    flush, flushed = TableFiles._flush, iter(range(1000))

    def failing(files):
        if next(flushed) == place:
            raise OSError(number, os.strerror(number))
        flush(files)

    with monkeypatch.context() as patched:
        patched.setattr(TableFiles, "_flush", failing)
        with pytest.raises(MachineError, match=r"(?i)no space|full|read-only|written"):
            run(job)
    assert not (tmp_path / "output" / "records").exists()
    assert run(job).reconciles
    holds_each_record_once(tmp_path)


FULL = """
import errno, os, sys, time
from pathlib import Path
from wireloom.ingest.job.skipped_imports import without_numpy
without_numpy()
from ingest.test_inputs import plan
from wireloom.failures import MachineError
from wireloom.ingest.files import inputs
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine, begun
from wireloom.ingest.plan import Job
from wireloom.ingest.tables.parquet_files import TableFiles

folder = Path(sys.argv[2])
inputs.SMALLEST, inputs.OPEN_COST = 1000, 0
flush = TableFiles._flush

def failing(files):
    try:
        (folder / "failed").touch(exist_ok=False)
    except FileExistsError:
        deadline = time.monotonic() + 1  # the job removes what is staged meanwhile, or waits for us
        while any(folder.glob("output/_staging/*/*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        flush(files)
    else:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

def run(engine):
    try:
        ingest(engine, Job(plan(), str(folder / "input"), str(folder / "output")))
    except MachineError as error:
        print(error)

if __name__ == "__main__":
    TableFiles._flush = failing
    with begun(plan(), 2) as engine:
        assert engine.pool is not None
        run(engine)
    print(*(path for path in folder.glob("output/_staging/**/*") if path.is_file()))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are forked on Linux alone")
def test_where_the_disk_is_full_for_one_process_nothing_that_another_writes_meanwhile_stays(tmp_path):
    (tmp_path / "input").mkdir()
    for name in "ab":
        (tmp_path / "input" / name).write_bytes(b"".join(record(number) for number in range(RECORDS)))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FULL, "-", str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    said, left = done.stdout.splitlines()
    assert re.search("(?i)no space|full", said), said
    assert left == ""


@pytest.mark.parametrize("act", ["rename", "write"])
def test_an_output_that_turns_read_only_between_two_steps_is_finished_by_the_next_run(job, tmp_path, monkeypatch, act):
    for last in range(6):
        does, steps = getattr(PlainStorage, act), iter(range(1000))

        def failing(storage, *given, does=does, steps=steps, last=last):
            if next(steps) >= last:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
            return does(storage, *given)

        with monkeypatch.context() as patched:
            patched.setattr(PlainStorage, act, failing)
            try:
                run(job)
            except (MachineError, MisuseError, OSError):
                pass
            else:
                break
        with suppress(MisuseError):  # it was there already
            run(job)
        holds_each_record_once(tmp_path)
        for name in ("records", "quarantine"):
            (tmp_path / "output" / name).rename(tmp_path / f"old-{name}-{act}{last}")
        (tmp_path / "output").rename(tmp_path / f"output-{act}{last}")


def test_of_two_jobs_on_one_output_one_writes_and_the_other_says_so(job, tmp_path):
    said = []

    def one():
        try:
            said.append(run(job).records)
        except (MachineError, MisuseError) as error:
            said.append(str(error))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert RECORDS in said
    holds_each_record_once(tmp_path)
