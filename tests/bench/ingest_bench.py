"""Measures `ingest` against one process that decodes and writes Parquet.

Run `nox -s bench`, or this file with --megabytes 50.

Commands start cold. Jobs of a warm Spark session run in a process that has run each of them before. The cost is the
processor time of all processes, Java and Python, the wall time, and for commands the peak memory of all processes. In
each round every contestant takes a turn. Ratios are computed within a round, and the median is shown.
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import document
import engine_data
import ingest_costs as costs
from ingest_costs import Cost, Measured
from racer import Racer

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
START = """
from wireloom.spark.session import session
with session():
    pass
"""
WARM = Path(__file__).with_name("ingest_warm.py")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The highest allowed cost of a contestant: a multiple of another's, plus seconds, plus the cost of a third."""

    who: str
    kind: str  # wall, cpu
    times: float
    of: str
    seconds: float = 0
    behind: str = ""

    def most(self, found: Mapping[str, Cost]) -> float:
        """The limit, given the others' costs in a round."""
        third = getattr(found[self.behind], self.kind) if self.behind else 0
        return float(self.times * getattr(found[self.of], self.kind) + self.seconds + third)

    def said(self, rounds: list[dict[str, Cost]]) -> str:
        """The measured and the allowed cost."""
        had = [getattr(found[self.who], self.kind) for found in rounds]
        if self.seconds:
            sum = " + ".join(filter(None, (self.behind, f"{self.seconds:g} s", f"{self.times:g} times {self.of}")))
            most = statistics.median(map(self.most, rounds))
            return f"{self.kind} {statistics.median(had):.2f} s, wanted {most:.2f} s: {sum}"
        times = [each / getattr(found[self.of], self.kind) for each, found in zip(had, rounds, strict=True)]
        shown = f"{statistics.median(times):.2f} times {self.of} (at best {min(times):.2f})"
        return f"{self.kind} {shown}, wanted {self.times:g}"

    def verdict(self, rounds: list[dict[str, Cost]]) -> str:
        """Whether the limit was kept."""
        share = statistics.median(getattr(found[self.who], self.kind) / self.most(found) for found in rounds)
        return "met" if share <= 1 else f"missed by {100 * (share - 1):.0f} %"


@dataclass(frozen=True, slots=True)
class Contest:
    """A job, its contestants, and the limits of their costs."""

    title: str
    contestants: dict[str, Measured]
    wanted: tuple[Wanted, ...]


# --- inputs --------------------------------------------------------------------------------------------------------


def databus(path: Path, megabytes: int) -> Path:
    """Concatenated events in one file."""
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
    """`count` files of about `size` bytes."""
    folder.mkdir()
    event = engine_data.databus(1, 100)[0]
    for number in range(count):
        (folder / f"{number}.bin").write_bytes(event * (size // len(event)))
    return folder


def ingest(format: str, input: Path, *options: str) -> tuple[str, ...]:
    """The command."""
    return (*COMMAND, "--format", format, "--input", str(input), "--output", "out", *options)


LOCAL = ("--engine", "local", "--processes", "2")
DECODER, ON_LOCAL, ON_SPARK, COPY, STARTED = (
    "one process", "`--engine local`", "Spark", "Spark copies the rows", "a session's start",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Input:
    """The input of contests, and how to read it."""

    title: str
    format: str
    path: Path
    column: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `ingest`."""
        return ("--column", self.column) if self.column else ()

    def one_process(self) -> tuple[str, ...]:
        """A single process that decodes it and writes Parquet."""
        path = self.path / "messages.parquet" if self.column else self.path
        return (sys.executable, "-c", ONE_PROCESS, self.format, str(path), self.column, "records.parquet")


def contests(home: Path, megabytes: int, *, spark: bool) -> Iterator[Contest]:
    """Every job of the table, except those about memory."""
    run = partial(partial, costs.command, folder=home / "run")
    count = megabytes * 5_000
    events = Input(f"{megabytes} MB of Databus in one file", "databus_event", databus(home / "events.bin", megabytes))
    messages = Input(
        f"{count} Aerospike messages in Parquet", "aerospike_msgpack", aerospike(home / "messages", count), "value"
    )
    for given in (events, messages):
        alone = run(given.one_process())
        local = run(ingest(given.format, given.path, *given.options, *LOCAL))
        wanted = (Wanted(ON_LOCAL, "cpu", 1.5, DECODER), Wanted(ON_LOCAL, "wall", 0.75, DECODER))
        if spark:
            cold = run(ingest(given.format, given.path, *given.options))
            start = run((sys.executable, "-c", START))
            contestants = {DECODER: alone, ON_LOCAL: local, STARTED: start, ON_SPARK: cold}
            yield Contest(given.title, contestants, (*wanted, Wanted(ON_SPARK, "wall", 0.75, DECODER, 3, STARTED)))
            yield from _warm(home / "warm", given, alone)
        else:
            yield Contest(given.title, {DECODER: alone, ON_LOCAL: local}, wanted)
    yield _two_files(home / "two", megabytes, events, run)
    whole, parts = home / "whole.bin", pieces(home / "pieces", 2000, 3000)
    whole.write_bytes(b"".join(file.read_bytes() for file in parts.iterdir()))
    together, apart = "one file", "2000 files of 3 KB"
    contestants = {
        together: run(ingest("databus_event", whole, *LOCAL)),
        apart: run(ingest("databus_event", parts, *LOCAL)),
    }
    yield Contest("the same 6 MB", contestants, (Wanted(apart, "wall", 3, together),))


def _warm(folder: Path, given: Input, alone: Measured) -> Iterator[Contest]:
    """The same in a session that has run every job before."""
    arguments = (str(folder), given.format, str(given.path), given.column)
    with Racer((sys.executable, str(WARM), *arguments)) as racer:
        jobs = ("copy", "ingest") if given.column else ("ingest",)
        for job in jobs:
            racer.run(job)
        contestants = {DECODER: alone, ON_SPARK: partial(costs.job, racer, "ingest")}
        wanted = [Wanted(ON_SPARK, "cpu", 1.5, DECODER), Wanted(ON_SPARK, "wall", 0.75, DECODER)]
        if given.column:
            contestants[COPY] = partial(costs.job, racer, "copy")
            wanted.append(Wanted(ON_SPARK, "wall", 0.5, COPY))
        yield Contest(f"{given.title}, in a warm session", contestants, tuple(wanted))


def _two_files(folder: Path, megabytes: int, whole: Input, run: Callable[..., Measured]) -> Contest:
    """As many megabytes in two files, which need not be split."""
    folder.mkdir()
    for name in ("first.bin", "second.bin"):
        databus(folder / name, megabytes // 2)
    contestants = {DECODER: run(whole.one_process()), ON_LOCAL: run(ingest(whole.format, folder, *LOCAL))}
    title = whole.title.replace("in one file", "in two files")
    return Contest(title, contestants, (Wanted(ON_LOCAL, "wall", 0.6, DECODER, 1),))


def large(home: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The inputs that need much memory, with their options."""
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


def compared(contest: Contest, rounds: int) -> Iterator[str]:
    """The rows of a contest."""
    found = [{name: measured() for name, measured in contest.contestants.items()} for _ in range(rounds)]
    title = contest.title
    for name in contest.contestants:
        wall, cpu = (statistics.median(getattr(each[name], kind) for each in found) for kind in ("wall", "cpu"))
        wanted = [each for each in contest.wanted if each.who == name]
        said = "; ".join(each.said(found) for each in wanted)
        verdicts = ", ".join(each.verdict(found) for each in wanted)
        yield f"| {title} | {name} | {wall:.2f} s | {cpu:.2f} s | {said} | {verdicts} |"
        title = ""


def peaks(home: Path, *, spark: bool) -> Iterator[str]:
    """The rows of memory."""
    for title, (format, path, *options) in large(home):
        for name, engine in ((ON_LOCAL, LOCAL), (ON_SPARK, ()))[: 1 + spark]:
            cost = costs.command(ingest(format, Path(path), *options, *engine), home / "run")
            said = (home / "run" / "said").read_text().splitlines()
            verdict = "met" if cost.peak < 2 << 30 else "missed"
            books = next((line for line in said if "records in" in line), "")
            shown = title if name == ON_LOCAL else ""
            yield f"| {shown} | {name} | {cost.peak / 1e6:.0f} MB | {books} | {verdict} |"


def table(megabytes: int, rounds: int, *, spark: bool, notify: Callable[[str], None]) -> list[str]:
    """The whole table as Markdown."""
    lines = [
        f"Measured with {rounds} rounds, Python {sys.version.split()[0]}, two cores.",
        "",
        "| job | who | wall | processors | against others | |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        for contest in contests(home, megabytes, spark=spark):
            for line in compared(contest, rounds):
                notify(line)
                lines.append(line)
        lines += ["", "| memory | who | at the peak | books | under 2 GB |", "|---|---|---|---|---|"]
        for line in peaks(home, spark=spark):
            notify(line)
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
    costs.adopt()
    lines = table(given.megabytes, given.rounds, spark=not given.no_spark, notify=print)
    if given.write:
        document.put("tests/bench/ingest_bench.py", "\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
