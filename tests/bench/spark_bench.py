"""Decoding on Spark against its peers: `python tests/bench/spark_bench.py [messages] [--write]`, local[2], noop sink.

Slow peers get a part of the messages, and their time is scaled. Missing libraries are reported. `--write` puts the
table into docs/internals/benchmarks.md, between its marks.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "generator"), str(ROOT / "generated"), str(ROOT / "tests"), str(Path(__file__).parent)]

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import pyspark  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from pyspark.sql.pandas.types import from_arrow_schema  # noqa: E402
from pyspark.sql.types import StructType  # noqa: E402

import document  # noqa: E402
import engine_data as data  # noqa: E402
import spark_peers as peers  # noqa: E402
import tables  # noqa: E402
from contest import Action, Contestant, Result, Work, progress, results  # noqa: E402
from integration.maven import SPARK, Module, UnavailableError, jars  # noqa: E402
from racer import Racer  # noqa: E402
from wireloom.spark.session import session  # noqa: E402
from wireloom_formats import functions as W  # noqa: E402

ROUNDS = 5
DISTINCT = 50_000  # distinct messages; files repeat them
GROUPS = 8  # row groups of a file
PER_AGGREGATE = 240
SLOW, SLOWER = 5, 50  # slow peers get one of so many messages
DEAGGREGATOR = ("aws_kinesis_agg", "six")  # the second is an undeclared dependency of the first
COLUMNAR = "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled"
DONE_BEFORE = "the same columns, already decoded"
RAW = "raw rows through `mapInArrow`"
Measured = tuple[Work, Sequence[Result]]


def main() -> None:
    """Measure everything; print or write the results."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("messages", type=int, nargs="?", default=1_000_000)
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--older", metavar="PYTHON", help="one with a PySpark for which spark-protobuf is to be had")
    arguments.add_argument("--json", action="store_true", help="JSON alone, printed")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        files = _files(Path(place), asked.messages)
        if asked.json:
            sys.stdout.write("\n".join([*tables.contests(_on_two_cores(files, asked.messages, _json_works)[0]), ""]))
            return
        measured, missing = _on_two_cores(files, asked.messages, _works)
        measured.append(_two_against_one(files, asked.messages))
        for interpreter in (sys.executable, asked.older):
            try:
                if interpreter:
                    measured.append(_beside_from_protobuf(interpreter, files, asked.messages))
                    break
            except UnavailableError as error:
                missing.append(f"`from_protobuf` of PySpark {_version(interpreter)} is not measured: {error}.")
    count = f"{asked.messages:,}".replace(",", " ")
    head = f"Measured with {count} messages, {ROUNDS} rounds, PySpark {pyspark.__version__}, `local[2]`.\n"
    text = "\n".join([head, *tables.contests(measured), *(f"\n{each}" for each in missing), ""])
    if asked.write:
        document.put("tests/bench/spark_bench.py", text)
    else:
        sys.stdout.write(text)


# --- messages ------------------------------------------------------------------------------------------------------


def _files(place: Path, count: int) -> Mapping[str, Path]:
    """Folders of messages by name: `kpl/5` has a fifth of them."""
    aerospike, kpl = data.aerospike(min(count, DISTINCT)), data.kpl(GROUPS)
    made = {f"aerospike/{share}": (aerospike, count // share) for share in (1, SLOW, SLOWER)} | {
        f"kpl/{share}": (kpl, count // PER_AGGREGATE // share) for share in (1, SLOW)
    }
    made["aerospike_json/1"] = data.aerospike_json(min(count, DISTINCT)), count
    made["databus_json/1"] = data.databus_json(min(count, DISTINCT)), count
    return {name: _written(place / name, *each) for name, each in made.items()}


def _written(folder: Path, values: list[bytes], count: int) -> Path:
    """A table of so many values in two files of several row groups."""
    folder.mkdir(parents=True)
    half = pa.array((values * (count // 2 // len(values) + 1))[: count // 2], pa.binary())
    for number in range(2):
        rows = max(1, len(half) // GROUPS)
        pq.write_table(pa.table({"value": half}), folder / f"{number}.parquet", row_group_size=rows, compression="none")
    return folder


def _size(folder: Path) -> float:
    """Bytes of a message, on average."""
    read = pq.read_table(folder).column("value")
    return read.nbytes / len(read)


# --- contests ------------------------------------------------------------------------------------------------------


Works = Callable[[SparkSession, Mapping[str, DataFrame], Mapping[str, Path], int], tuple[list[Work], list[str]]]


def _on_two_cores(files: Mapping[str, Path], count: int, works: Works) -> tuple[list[Measured], list[str]]:
    """The measurements in one session, and the missing libraries."""
    with session((ROOT / "generated", Path(__file__).parent)) as spark:
        spark.sparkContext.setLogLevel("ERROR")
        frames = {name: spark.read.parquet(str(folder)) for name, folder in files.items()}
        found, missing = works(spark, frames, files, count)
        return [(work, results(work, ROUNDS)) for work in found], missing


def _works(
    spark: SparkSession, frames: Mapping[str, DataFrame], files: Mapping[str, Path], count: int
) -> tuple[list[Work], list[str]]:
    kpl, missing = _kpl(frames)
    json = _json_works(spark, frames, files, count)[0]
    works = [
        Work("Aerospike MessagePack", count, _size(files["aerospike/1"]), _aerospike(spark, frames)),
        Work("KPL aggregates", count // PER_AGGREGATE, _size(files["kpl/1"]), kpl),
    ]
    return [*works, *json], missing


def _json_works(
    _: SparkSession,
    frames: Mapping[str, DataFrame],
    files: Mapping[str, Path],
    count: int,
) -> tuple[list[Work], list[str]]:
    lines, messages, twins = (frames[f"{name}/1"] for name in ("databus_json", "aerospike_json", "aerospike"))
    peers.same(peers.from_json(lines.limit(1000)), W.decode_databus_json(lines.limit(1000), "value"))
    peers.same(peers.from_variant(messages.limit(1000)), W.decode_aerospike_json(messages.limit(1000), "value"))
    whole = "`decode_`, all columns"
    databus = (
        _job(whole, lambda: W.decode_databus_json(lines, "value")),
        _job("`from_json`, base64 undone", lambda: peers.from_json(lines), target=2),
    )
    aerospike = (
        _job(whole, lambda: W.decode_aerospike_json(messages, "value")),
        _job("its MessagePack twin, `decode_`", lambda: W.decode_aerospike_msgpack(twins, "value"), target=1 / 1.5),
        _job("`parse_json` and `variant_get`", lambda: peers.from_variant(messages), target=2),
    )
    return [
        Work("Databus JSON", count, _size(files["databus_json/1"]), databus),
        Work("Aerospike JSON", count, _size(files["aerospike_json/1"]), aerospike),
    ], []


def _aerospike(spark: SparkSession, frames: Mapping[str, DataFrame]) -> tuple[Contestant, ...]:
    frame, slow, slower = (frames[f"aerospike/{share}"] for share in (1, SLOW, SLOWER))
    construct = F.udf(peers.construct_value, peers.PLAIN)
    theirs = from_arrow_schema(next(peers.msgpack_arrow(_batches(slow))).schema)
    peers.same(
        slow.limit(1000).mapInArrow(peers.msgpack_arrow, theirs), W.decode_aerospike_msgpack(slow.limit(1000), "value")
    )
    whole = "`decode_`, all columns"
    one = {"mode": "FAILFAST", "fields": "generation"}
    return (
        _job(DONE_BEFORE, lambda: _floor("aerospike", partial(W.decode_aerospike_msgpack, frame, "value"))),
        _job(whole, lambda: W.decode_aerospike_msgpack(frame, "value"), most=1.25),
        _job(RAW, lambda: frame.mapInArrow(peers.through, "value binary")),
        _job("`decode_`, one column", lambda: W.decode_aerospike_msgpack(frame, "value", one), base=RAW, most=1.3),
        _job("`from_`, all columns", lambda: frame.select(W.from_aerospike_msgpack("value")), base=whole),
        Contestant(
            "`from_`, all columns, columnar input off",
            lambda: _rows_given(spark, lambda: peers.written(frame.select(W.from_aerospike_msgpack("value")))),
            base=whole,
        ),
        _job(
            "msgpack-python + pyarrow in `mapInArrow`",
            lambda: slow.mapInArrow(peers.msgpack_arrow, theirs),
            1 / SLOW,
            base=whole,
            target=2.5,
        ),
        _job(
            "construct in a Python UDF, two columns",
            lambda: slower.select(construct("value")),
            1 / SLOWER,
            base=whole,
            target=20,
        ),
    )


def _kpl(frames: Mapping[str, DataFrame]) -> tuple[tuple[Contestant, ...], list[str]]:
    frame, slow = frames["kpl/1"], frames[f"kpl/{SLOW}"]
    two = "`decode_`, two columns, flat rows"
    some = {"mode": "FAILFAST", "columns": ",".join(peers.ROWS)}
    jobs = (
        _job(DONE_BEFORE, lambda: _floor("kpl", partial(W.decode_kpl_record, frame, "value"))),
        _job("`decode_`, all columns, flat rows", lambda: W.decode_kpl_record(frame, "value"), most=1.25),
        _job(two, lambda: W.decode_kpl_record(frame, "value", some)),
    )
    if not all(map(find_spec, DEAGGREGATOR)):
        return jobs, [f"The deaggregator is not measured: {' and '.join(DEAGGREGATOR)} are not installed."]
    theirs = "aws-kinesis-agg in `mapInArrow`, two columns"
    peers.same(slow.mapInArrow(peers.deaggregated, peers.USER_RECORDS), W.decode_kpl_record(slow, "value"))
    act = partial(slow.mapInArrow, peers.deaggregated, peers.USER_RECORDS)
    return (*jobs, _job(theirs, act, 1 / SLOW, base=two, target=3)), []


def _two_against_one(files: Mapping[str, Path], count: int) -> Measured:
    """All of Spark, with its workers, on two cores and on one; each in a process of its own."""
    folder = files["aerospike/1"]
    with ExitStack() as stack:
        two, one = (stack.enter_context(_racer(sys.executable, "spark_alone.py", cores, folder)) for cores in (2, 1))
        work = Work(
            "Aerospike MessagePack, `decode_`",
            count,
            _size(folder),
            (
                Contestant("all columns, on two cores", lambda: two.run("decode")),
                Contestant("all columns, on one core", lambda: one.run("decode"), target=1.7),
            ),
        )
        return work, results(work, ROUNDS)


def _beside_from_protobuf(interpreter: str, files: Mapping[str, Path], count: int) -> Measured:
    """Spark's own reader of protobuf, on the interpreter's PySpark; raises UnavailableError where it has no jar."""
    version = _version(interpreter)
    scala = "2.13" if version >= "4" else "2.12"
    (jar,) = jars((Module(SPARK, f"spark-protobuf_{scala}", version, transitive=False),))
    with _racer(interpreter, "spark_protobuf.py", jar, files["kpl/1"]) as racer:
        work = Work(
            f"KPL aggregates, two columns, PySpark {version}",
            count // PER_AGGREGATE,
            _size(files["kpl/1"]),
            (
                Contestant("engine in `mapInArrow`, MD5 compared", lambda: racer.run("engine")),
                Contestant("`from_protobuf`, MD5 not looked at", lambda: racer.run("from_protobuf"), target=1),
                Contestant("`from_protobuf`, MD5 compared", lambda: racer.run("proved"), target=1),
            ),
        )
        return work, results(work, ROUNDS)


def _racer(interpreter: str, program: str, *arguments: object) -> Racer:
    progress(f"{program} starts")
    return Racer([interpreter, str(Path(__file__).with_name(program)), *map(str, arguments)])


def _version(interpreter: str) -> str:
    """That of its PySpark."""
    command = [interpreter, "-c", "import pyspark; print(pyspark.__version__)"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# --- contestants ---------------------------------------------------------------------------------------------------


def _job(  # noqa: PLR0913 - what a contestant has
    name: str,
    act: Callable[[], DataFrame],
    share: float = 1,
    *,
    base: str = "",
    target: float | None = None,
    most: float | None = None,
) -> Contestant:
    """A contestant whose rows are discarded."""
    return Contestant(name, lambda: peers.written(act()), share, target, most, base)


def _rows_given(spark: SparkSession, action: Action) -> None:
    """Run something while Spark passes rows of a columnar scan to Python as rows."""
    spark.conf.set(COLUMNAR, "false")
    action()
    spark.conf.unset(COLUMNAR)


def _floor(name: str, job: partial[DataFrame]) -> DataFrame:
    """The job with a Python side that already has its results."""
    original = type(job.args[0]).mapInArrow

    def caught(frame: DataFrame, act: peers.Act, schema: StructType) -> DataFrame:
        return original(frame, partial(peers.already, name, act), schema)

    with patch.object(type(job.args[0]), "mapInArrow", caught):
        return job()


def _batches(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    return iter(frame.limit(10).toArrow().to_batches())


if __name__ == "__main__":
    main()
