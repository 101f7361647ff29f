"""Streams of files, read and written: every record once, even if processes are killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import GENERATED, ROOT
from integration.faults import FULL
from support.databus_events import LONG_KEY
from wireloom.failures import MisuseError
from wireloom.spark.source import write as source_write
from wireloom.spark.source.options import READS, WRITES, CheckedOptions
from wireloom.spark.source.read import Portion
from wireloom.spark.source.stream import FOLDER, LIMITED, stream_reader
from wireloom.spark.source.write import StreamFileWriter, Written, _Files, writing
from wireloom_formats import databus_event

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
KILLS = 5 if FULL else 1
VALUE = databus_event.parse(LONG_KEY)
limited = pytest.mark.skipif(not LIMITED, reason="PySpark 4.1 has no limits of a batch")


def events(*numbers):
    return b"".join(databus_event.build({**VALUE, "sequence": number}) for number in numbers)


class Landing:
    """A directory that files are moved into, one sequence number after the other."""

    def __init__(self, home):
        self.home, self.landed = home / "in", 0
        self.home.mkdir()

    def land(self, records, modified=None):
        """Move a file of `records` records in, perhaps with an older time."""
        passing = self.home.parent / f"{self.landed}.passing"
        passing.write_bytes(events(*range(self.landed, self.landed + records)))
        if modified is not None:
            os.utime(passing, (modified, modified))
        passing.rename(self.home / f"{self.landed:06}.bin")
        self.landed += records


@pytest.fixture
def landing(tmp_path):
    return Landing(tmp_path)


# --- offsets, without Spark ----------------------------------------------------------------------------------------


def reader(landing, **options):
    given = CheckedOptions.of({"format": "databus_event", "path": str(landing.home), **options}, READS)
    return stream_reader(given, given.reading(databus_event.struct_type()))


def sequences(read, start, end):
    rows = [row for portion in read.partitions(start, end) for batch in read.read(portion) for row in batch.to_pylist()]
    return [row["sequence"] for row in rows]


def limit_of(read):
    return read.getDefaultReadLimit()


def test_offsets_stay_small_and_mean_the_same_files_for_ever(landing):
    landing.land(3)
    read = reader(landing)
    start = read.initialOffset()
    first = read.latestOffset(start, limit_of(read))
    for _ in range(50):
        landing.land(1)
    second = read.latestOffset(first, limit_of(read))
    assert len(json.dumps(second)) < 80
    again = reader(landing)
    assert sequences(again, reader(landing).initialOffset(), first) == [0, 1, 2]
    assert sequences(again, first, second) == list(range(3, 53))
    assert again.latestOffset(second, limit_of(again)) == second
    assert again.partitions(second, second) == []


def test_late_files_with_equal_and_older_times_are_read_once(landing):
    now = time.time()
    landing.land(1, modified=now)
    read = reader(landing)
    offset = read.latestOffset(read.initialOffset(), limit_of(read))
    for modified in (now, now - 3600, now, 0):
        landing.land(1, modified=modified)
        read = reader(landing)
        following = read.latestOffset(offset, limit_of(read))
        assert sequences(read, offset, following) == [landing.landed - 1]
        offset = following


@limited
def test_a_batch_takes_no_more_than_its_limit(landing):
    for _ in range(5):
        landing.land(1)
    read = reader(landing, maxfilespertrigger="2")
    start = read.initialOffset()
    ends = [start]
    while (end := read.latestOffset(ends[-1], limit_of(read))) != ends[-1]:
        ends.append(end)
    assert [end["files"] for end in ends] == [0, 2, 4, 5]
    assert read.reportLatestOffset()["files"] == 5
    read = reader(landing, maxbytespertrigger="130")
    assert read.latestOffset(read.initialOffset(), limit_of(read))["files"] == 2
    read = reader(landing, maxbytespertrigger="1")
    assert read.latestOffset(read.initialOffset(), limit_of(read))["files"] == 1  # one at least, or it would never end
    with pytest.raises(MisuseError, match="give only one of"):
        reader(landing, maxbytespertrigger="1", maxfilespertrigger="1")


def test_a_stream_that_ends_by_itself_reads_what_was_there(landing):
    landing.land(2)
    read = reader(landing)
    read.prepareForTriggerAvailableNow()
    landing.land(1)
    end = read.latestOffset(read.initialOffset(), limit_of(read))
    assert sequences(read, read.initialOffset(), end) == [0, 1]
    assert read.latestOffset(end, limit_of(read)) == end


@pytest.mark.skipif(LIMITED, reason="from PySpark 4.2 on there are limits")
def test_limits_that_pyspark_4_1_cannot_keep_are_refused(landing):
    for name in ("maxFilesPerTrigger", "maxBytesPerTrigger"):
        with pytest.raises(MisuseError, match=f"{name}: PySpark 4.1 always reads all files"):
            reader(landing, **{name.lower(): "2"})


def test_pyspark_4_1_which_gives_no_start_goes_on_after_a_restart(landing):
    landing.land(2)
    read = reader(landing)
    first = read.latestOffset()
    landing.land(1)
    read = reader(landing)
    second = read.latestOffset()
    assert second["log"] == first["log"]
    assert sequences(read, first, second) == [2]


def test_streams_of_several_places_need_a_folder_for_their_list(landing, tmp_path):
    landing.land(1)
    with pytest.raises(MisuseError, match="the option fileLog is missing"):
        reader(landing, path=f"{landing.home}/*.bin")
    read = reader(landing, path=f"{landing.home}/*.bin", filelog=str(tmp_path / "list"))
    read.latestOffset(read.initialOffset(), limit_of(read))
    assert not (landing.home / FOLDER).exists()
    assert len(list((tmp_path / "list").iterdir())) == 1


def test_partitions_are_values_without_the_list(landing):
    import pickle

    landing.land(1)
    read = reader(landing)
    end = read.latestOffset(read.initialOffset(), limit_of(read))
    (portion,) = read.partitions(read.initialOffset(), end)
    assert isinstance(portion, Portion)
    assert len(pickle.dumps(read)) < 20_000
    sent = pickle.loads(pickle.dumps((read, portion)))  # noqa: S301 - its own
    assert sum(batch.num_rows for batch in sent[0].read(sent[1])) == 1


# --- commits, without Spark -----------------------------------------------------------------------------------------


class KilledError(Exception):
    """The end of a process."""


def stream_writer(out):
    given = CheckedOptions.of({"format": "databus_event", "path": str(out)}, WRITES)
    return StreamFileWriter(writing(given, databus_event.struct_type()))


def task(writer, partition, batch, numbers):
    """The result of a batch's task: a hidden file, and its message."""
    rows = pa.RecordBatch.from_struct_array(databus_event.decode(pa.array([events(n) for n in numbers])).records)
    files = _Files(writer._write, writer._temporary("query", batch), f"part-{batch}-{partition}-query")
    return Written(files.written([rows], partition), "query")


def seen(out):
    found = []
    for path in out.glob("[!_]*"):
        found += [record.value["sequence"] for record in databus_event.iter_parse(path.read_bytes())]
    return sorted(found)


def test_a_batch_is_committed_once_wherever_its_commit_was_killed(tmp_path, monkeypatch):
    moves, dies_at = [0], [0]
    move = source_write._move

    def dying(system, files):
        for each in files:
            moves[0] += 1
            if moves[0] == dies_at[0]:
                raise KilledError
            move(system, [each])

    monkeypatch.setattr(source_write, "_move", dying)
    for moment in range(1, 9):
        out = tmp_path / str(moment)
        moves[0], dies_at[0] = 0, moment
        for batch in (0, 1):
            for _ in range(3):
                writer = stream_writer(out)
                messages = [task(writer, partition, batch, [batch * 10 + partition]) for partition in range(3)]
                try:
                    writer.commit(messages, batch)
                except KilledError:
                    continue
                break
        assert seen(out) == [0, 1, 2, 10, 11, 12]
        assert not list(out.glob("_temporary*"))
    assert moves[0] == 6


def test_records_that_are_files_of_their_own_are_as_many_files(tmp_path):
    given = CheckedOptions.of({"format": "databus_event", "framing": "none", "path": str(tmp_path)}, WRITES)
    writer = StreamFileWriter(writing(given, databus_event.struct_type()))
    writer.commit([task(writer, 0, 0, [1, 2, 3])], 0)
    assert (len(list(tmp_path.glob("part-*"))), seen(tmp_path)) == (3, [1, 2, 3])


def test_an_abort_behind_a_commit_takes_nothing_away(tmp_path):
    writer = stream_writer(tmp_path)
    message = task(writer, 0, 0, [1])
    writer.commit([message], 0)
    again = task(writer, 0, 0, [1])
    writer.abort([again], 0)
    writer.commit([again], 0)
    assert seen(tmp_path) == [1]
    left = task(writer, 0, 1, [2])
    writer.abort([left, None], 1)
    assert not list(tmp_path.glob("_temporary-query-1"))
    assert seen(tmp_path) == [1]


# --- on Spark ------------------------------------------------------------------------------------------------------


def started(spark, landing, out, **options):
    frame = spark.readStream.format("wireloom").options(format="databus_event", **options).load(str(landing.home))
    sink = frame.writeStream.format("wireloom").option("format", "databus_event")
    return sink.option("checkpointLocation", str(out) + ".checkpoint").trigger(availableNow=True).start(str(out))


def written(spark, out):
    read = spark.read.format("wireloom").options(format="databus_event", columns="sequence", mode="FAILFAST")
    return sorted(row["sequence"] for row in read.load(str(out)).collect())


@pytest.mark.thorough
def test_a_stream_is_written_as_it_is_read_across_restarts(spark, landing, tmp_path):
    for _ in range(4):
        landing.land(25)
    query = started(spark, landing, tmp_path / "out", **({"maxFilesPerTrigger": "3"} if LIMITED else {}))
    query.awaitTermination(60)
    batches = [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]
    assert batches == ([75, 25] if LIMITED else [100])
    landing.land(5, modified=1)
    started(spark, landing, tmp_path / "out").awaitTermination(60)
    assert written(spark, tmp_path / "out") == list(range(105))
    assert all(name.startswith(("_", "part-")) for name in os.listdir(tmp_path / "out"))  # noqa: PTH208


PROGRAM = """
import sys
from wireloom.spark.session import session
landing, out, checkpoint, once = sys.argv[1:]
with session() as spark:
    read = spark.readStream.format("wireloom").option("format", "databus_event")
    if once == "limited":
        read = read.option("maxFilesPerTrigger", "2")
    write = read.load(landing).writeStream.format("wireloom").option("format", "databus_event")
    write = write.option("checkpointLocation", checkpoint)
    write = write.trigger(availableNow=True) if once == "once" else write.trigger(processingTime="50 milliseconds")
    query = write.start(out)
    print("started", flush=True)
    if once == "all":
        query.processAllAvailable()
        query.stop()
    query.awaitTermination()
"""


def run(landing, out, once):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(landing.home), str(out), f"{out}.checkpoint", once],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'generator'}:{GENERATED}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )


def kill(process):
    """Kill a process with Java and the workers, and wait until none of them is left.

    Python's workers are a group of their own. They notice that Java is gone when they have done what is in hand, which
    takes a while on a busy machine: till then they take files for the stream, and move those of its last batch, beside
    whoever goes on with it.
    """
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    end = time.monotonic() + 60
    while any(in_session(int(name), process.pid) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208
        assert time.monotonic() < end, "workers that do not end"
        time.sleep(0.05)


def in_session(process, session):
    with suppress(ProcessLookupError, FileNotFoundError):
        return os.getsid(process) == session and "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2]
    return False


@pytest.mark.thorough
def test_a_stream_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing(spark, landing, tmp_path):
    chance = random.Random(5)  # noqa: S311 - a test's
    now = time.time()
    for _ in range(KILLS):
        query = run(landing, tmp_path / "out", "limited" if LIMITED else "unlimited")
        try:
            assert query.stdout.readline() == "started\n"
            until = time.monotonic() + chance.uniform(0.5, 5)
            while time.monotonic() < until:
                landing.land(chance.randrange(1, 30), modified=now - chance.choice([0, 0, 3600]))
                time.sleep(0.3)
        finally:
            kill(query)
            query.stdout.close()
    last = run(landing, tmp_path / "out", "once" if LIMITED else "all")
    try:
        last.communicate(timeout=300)
    finally:
        if last.poll() is None:
            kill(last)
    assert last.returncode == 0
    assert written(spark, tmp_path / "out") == list(range(landing.landed))
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith("_temporary")]
