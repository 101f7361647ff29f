"""Measures `ingest` beside one process that decodes and writes Parquet: `nox -s bench`, or by hand with --megabytes 50.

Each job is a command of its own. What it costs is the processor time of all its processes, the wall time, and the most
memory that they have together, Java and Python. In each round everybody takes a turn, ratios are taken within a round,
and shown is the median.
"""

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import document
import engine_data
import pyarrow as pa
import pyarrow.parquet as pq

POLL = 0.02  # seconds
ADOPTS = 36  # Linux: PR_SET_CHILD_SUBREAPER
PAGE = os.sysconf("SC_PAGE_SIZE")
COMMAND = (
    sys.executable,
    "-m",
    "wireloom",
    "ingest",
    "--out",
    str(Path(engine_data.__file__).parents[2] / "generated"),
)
ONE_PROCESS = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
from importlib import import_module
name, path, column, output = sys.argv[1:]
codec, writer = import_module(f"wireloom_formats.{name}").CODEC, None
if column:
    file = pq.ParquetFile(path)
    parts = (codec.decode(batch.column(0)) for batch in file.iter_batches(20_000, columns=[column]))
    found = (part.records for part in parts)
else:
    found = (part.records for part in codec.decode_stream(open(path, "rb"), framing="concatenated"))
for records in found:
    batch = pa.RecordBatch.from_struct_array(records)
    writer = writer or pq.ParquetWriter(output, batch.schema)
    writer.write_batch(batch)
writer.close()
"""
SPARK_COPY = """
import sys
from wireloom.spark.session import session
path, output = sys.argv[1:]
with session() as spark:
    spark.read.parquet(path).write.parquet(output)
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took: seconds of wall and of processors, and bytes at the peak."""

    wall: float
    cpu: float
    peak: int


@dataclass(frozen=True, slots=True)
class Contest:
    """A job, who does it, who it is measured by, and what of their costs is compared with what is wanted."""

    title: str
    commands: dict[str, Sequence[str]]
    base: str
    judged: tuple[tuple[str, str, float], ...]  # name, kind of cost, the most that the ratio may be


def adopt() -> None:
    """Be the parent of whatever outlives the process that began it: so Java's time counts, for which nobody waits."""
    ctypes.CDLL(None, use_errno=True).prctl(ADOPTS, 1, 0, 0, 0)


def _reap() -> None:
    """Wait for all that was adopted."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def measured(command: Sequence[str], folder: Path) -> Cost:
    """Run a command in an empty folder; raises CalledProcessError where it fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begun, before = time.perf_counter(), os.times()
    environment = {**os.environ, "TMPDIR": str(folder)}
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, env=environment)
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(_memory(process.pid)))
            time.sleep(POLL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, (folder / "said").read_bytes()[-2000:])
    wall = time.perf_counter() - begun
    _reap()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(wall, cpu, peak)


def _memory(pid: int) -> Iterator[int]:
    """Resident bytes of a process and of those that it started."""
    with suppress(OSError, ValueError):
        yield int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _memory(int(child))


# --- inputs --------------------------------------------------------------------------------------------------------


def databus(path: Path, megabytes: int) -> Path:
    """Events back to back in one file."""
    made = b"".join(engine_data.databus(20_000, 100))
    with path.open("wb") as file:
        while file.tell() < megabytes << 20:
            file.write(made)
    return path


def aerospike(folder: Path, count: int) -> Path:
    """Messages in a column of Parquet."""
    folder.mkdir()
    made = pa.array(engine_data.aerospike(20_000), pa.binary())
    with pq.ParquetWriter(folder / "messages.parquet", pa.schema([("value", pa.binary())])) as writer:
        for _ in range(max(count // 20_000, 1)):
            writer.write_batch(pa.RecordBatch.from_arrays([made], ["value"]))
    return folder


def pieces(folder: Path, count: int, size: int) -> Path:
    """So many files of about so many bytes."""
    folder.mkdir()
    event = engine_data.databus(1, 100)[0]
    for number in range(count):
        (folder / f"{number}.bin").write_bytes(event * (size // len(event)))
    return folder


def ingest(format: str, input: Path, *options: str) -> tuple[str, ...]:
    """The command."""
    return (*COMMAND, "--format", format, "--input", str(input), "--output", "out", *options)


def one_process(format: str, input: Path, column: str = "") -> tuple[str, ...]:
    """A single process that decodes and writes Parquet."""
    return (sys.executable, "-c", ONE_PROCESS, format, str(input), column, "records.parquet")


LOCAL = ("--engine", "local", "--processes", "2")
DECODER, ON_LOCAL, ON_SPARK, COPY = "one process", "`--engine local`", "Spark", "Spark copies the rows"


def contests(home: Path, megabytes: int, *, spark: bool) -> Iterator[Contest]:
    """Every job of the table but those of memory."""
    events = databus(home / "events.bin", megabytes)
    messages = aerospike(home / "messages", megabytes * 5_000)
    for title, format, input, column in (
        (f"{megabytes} MB of Databus in one file", "databus_event", events, ""),
        (f"{megabytes * 5_000} Aerospike messages in Parquet", "aerospike_msgpack", messages, "value"),
    ):
        options = (*(("--column", column) if column else ()),)
        given = input / "messages.parquet" if column else input
        commands = {DECODER: one_process(format, given, column), ON_LOCAL: ingest(format, input, *options, *LOCAL)}
        judged = [(ON_LOCAL, "cpu", 1.5), (ON_LOCAL, "wall", 0.75)]
        if spark:
            commands[ON_SPARK] = ingest(format, input, *options)
        yield Contest(title, commands, DECODER, tuple(judged))
        if spark and column:
            copy = (sys.executable, "-c", SPARK_COPY, str(input), "copy")
            yield Contest(f"{title}, against a copy", {COPY: copy, ON_SPARK: commands[ON_SPARK]}, COPY,
                          ((ON_SPARK, "wall", 0.5),))  # fmt: skip
    whole, parts = home / "whole.bin", pieces(home / "pieces", 2000, 3000)
    whole.write_bytes(b"".join(file.read_bytes() for file in parts.iterdir()))
    together, apart = "one file", "2000 files of 3 KB"
    commands = {together: ingest("databus_event", whole, *LOCAL), apart: ingest("databus_event", parts, *LOCAL)}
    yield Contest("the same 6 MB", commands, together, ((apart, "wall", 3),))


def large(home: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The inputs that take memory, with the options that they are read by."""
    events = home / "large"
    events.mkdir()
    (events / "events.bin").write_bytes(b"".join(engine_data.databus(120, 5_000_000)))
    yield "120 events of 5 MB", ("databus_event", str(events))
    folder = home / "kpl"
    folder.mkdir()
    pq.write_table(pa.table({"value": pa.array([engine_data.expanding(250_000)], pa.binary())}), folder / "kpl.parquet")
    yield "a KPL record of 250 KB that expands 10 000 times", ("kpl_record", str(folder), "--column", "value")
    noise = home / "noise.bin"
    noise.write_bytes(os.urandom(50_000_000))
    yield "50 MB of noise", ("databus_event", str(noise))


def compared(contest: Contest, folder: Path, rounds: int) -> Iterator[str]:
    """The rows of a contest."""
    found = [{name: measured(command, folder) for name, command in contest.commands.items()} for _ in range(rounds)]
    title = contest.title
    for name in contest.commands:
        costs = [each[name] for each in found]
        wall, cpu = (statistics.median(getattr(cost, kind) for cost in costs) for kind in ("wall", "cpu"))
        said, verdicts = [], []
        for judged, kind, most in contest.judged:
            if judged == name:
                ratio = statistics.median(
                    getattr(each[name], kind) / getattr(each[contest.base], kind) for each in found
                )
                said.append(f"{kind} {ratio:.2f} times, wanted {most:g}")
                verdicts.append("met" if ratio <= most else f"missed by {100 * (ratio / most - 1):.0f} %")
        yield f"| {title} | {name} | {wall:.2f} s | {cpu:.2f} s | {'; '.join(said)} | {', '.join(verdicts)} |"
        title = ""


def peaks(home: Path, *, spark: bool) -> Iterator[str]:
    """The rows of memory."""
    for title, (format, path, *options) in large(home):
        for name, engine in ((ON_LOCAL, LOCAL), (ON_SPARK, ()))[: 1 + spark]:
            cost = measured(ingest(format, Path(path), *options, *engine), home / "run")
            said = (home / "run" / "said").read_text().splitlines()
            verdict = "met" if cost.peak < 2 << 30 else "missed"
            books = next((line for line in said if "records in" in line), "")
            shown = title if name == ON_LOCAL else ""
            yield f"| {shown} | {name} | {cost.peak / 1e6:.0f} MB | {books} | {verdict} |"


def table(megabytes: int, rounds: int, *, spark: bool, told: Callable[[str], None]) -> list[str]:
    """All of it, as Markdown."""
    lines = [
        f"Measured with {rounds} rounds, Python {sys.version.split()[0]}, two cores.",
        "",
        "| job | who | wall | processors | times, against the first | |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        for contest in contests(home, megabytes, spark=spark):
            for line in compared(contest, home / "run", rounds):
                told(line)
                lines.append(line)
        lines += ["", "| memory | who | at the peak | books | under 2 GB |", "|---|---|---|---|---|"]
        for line in peaks(home, spark=spark):
            told(line)
            lines.append(line)
    return lines


def main() -> None:
    """Measure, print, and with --write put it into the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument("--write", action="store_true")
    given, _ = parser.parse_known_args()
    adopt()
    lines = table(given.megabytes, given.rounds, spark=not given.no_spark, told=print)
    if given.write:
        document.put("tests/bench/ingest_bench.py", "\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
