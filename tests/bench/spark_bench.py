"""Decoding on Spark beside its peers: `python tests/bench/spark_bench.py [messages]`, local[2], noop sink.

Rounds are interleaved, so that what else the machine does hits all alike; the table shows medians of the ratios of a
round. Peers that are slow get a part of the messages, and their time is multiplied. What is not to be had is said.
"""
# ruff: noqa: T201 - it prints a table

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "generator"), str(ROOT / "generated"), str(ROOT / "tests"), str(Path(__file__).parent)]

import engine_data as data  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import pyspark  # noqa: E402
import spark_peers as peers  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from pyspark.sql.pandas.types import from_arrow_schema  # noqa: E402
from pyspark.sql.types import StructType  # noqa: E402

from integration.maven import SCALA, Module, UnavailableError, jars  # noqa: E402
from wireloom.spark.session import session  # noqa: E402
from wireloom_formats import functions as W  # noqa: E402
from wireloom_formats.kpl_record import descriptor  # noqa: E402

ROUNDS = 3
DISTINCT = 50_000  # messages that differ; files repeat them
GROUPS = 8  # row groups of a file
PER_AGGREGATE = 240
SLOW, SLOWER = 5, 50  # one in so many messages for a slow peer
ROWS = ("partitionKey", "data")
ONE_CORE = "--one-core"
DEAGGREGATOR = ("aws_kinesis_agg", "six")  # it does not say that it needs the second
COLUMNAR_OFF = {"spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false"}
Act = Callable[[], DataFrame]


@dataclass(frozen=True, slots=True)
class Job:
    """A contestant: what it does to one in `share` messages, and the other that its time is divided by."""

    act: Act
    base: str = ""
    target: str = ""
    share: int = 1
    settings: Mapping[str, str] = field(default_factory=dict)


def main(count: int) -> None:
    """Measure both formats, and the first once more on one core."""
    _measure(count)
    here = [sys.executable, __file__, ONE_CORE]
    done = subprocess.run([*here, str(count)], check=True, stdout=subprocess.PIPE, text=True)
    print(f"    on one core, in a process of its own: {done.stdout.strip()} s")


def one_core(count: int) -> None:
    """Print the time of decoding all columns where Spark and its workers have one core together."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with (
        tempfile.TemporaryDirectory() as place,
        session((ROOT / "generated", Path(__file__).parent)) as spark,
    ):
        frame = _written(spark, f"{place}/a", data.aerospike(min(count, DISTINCT)), count)
        job = Job(lambda: W.decode_aerospike_msgpack(frame, "value"))
        _seconds(spark, job)
        print(f"{statistics.median(_seconds(spark, job) for _ in range(ROUNDS)):.2f}")


def _measure(count: int) -> None:
    jars, reason = _protobuf_jars()
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{f'--jars {jars}' if jars else ''} pyspark-shell"
    with (
        tempfile.TemporaryDirectory() as place,
        session((ROOT / "generated", Path(__file__).parent)) as spark,
    ):
        spark.sparkContext.setLogLevel("ERROR")
        messages = data.aerospike(min(count, DISTINCT))
        aerospike = {
            share: _written(spark, f"{place}/a{share}", messages, count // share) for share in (1, SLOW, SLOWER)
        }
        aggregates = data.kpl(GROUPS)
        kpl = {
            share: _written(spark, f"{place}/k{share}", aggregates, count // PER_AGGREGATE // share)
            for share in (1, SLOW)
        }
        _report(spark, f"{count} Aerospike messages", _aerospike(aerospike))
        _report(spark, f"{count} user records of KPL", _kpl(kpl, protobuf=bool(jars)))
        if not jars:
            print(f"from_protobuf is not measured: {reason}")


def _written(spark: SparkSession, folder: str, values: list[bytes], count: int) -> DataFrame:
    """A table of so many values in two files of several row groups."""
    Path(folder).mkdir()
    half = pa.array((values * (count // 2 // len(values) + 1))[: count // 2], pa.binary())
    for number in range(2):
        rows = max(1, len(half) // GROUPS)
        path = f"{folder}/{number}.parquet"
        pq.write_table(pa.table({"value": half}), path, row_group_size=rows, compression="none")
    return spark.read.parquet(folder)


# --- contestants ---------------------------------------------------------------------------------------------------


def _aerospike(frames: Mapping[int, DataFrame]) -> Mapping[str, Job]:
    frame, slow, slower = frames[1], frames[SLOW], frames[SLOWER]
    construct = F.udf(peers.construct_value, peers.PLAIN)
    theirs = from_arrow_schema(next(peers.msgpack_arrow(_batches(slow))).schema)
    _same(
        slow.limit(1000).mapInArrow(peers.msgpack_arrow, theirs), W.decode_aerospike_msgpack(slow.limit(1000), "value")
    )
    whole, raw, base = "decode, all columns", "raw rows through mapInArrow", "the same columns, already decoded"
    fields = {"mode": "FAILFAST", "fields": "generation"}
    return {
        base: Job(lambda: _floor("aerospike", partial(W.decode_aerospike_msgpack, frame, "value"))),
        whole: Job(lambda: W.decode_aerospike_msgpack(frame, "value"), base, "<= 1.25"),
        raw: Job(lambda: frame.mapInArrow(peers.through, "value binary")),
        "decode, one column": Job(lambda: W.decode_aerospike_msgpack(frame, "value", fields), raw, "<= 1.3"),
        "from_, all columns": Job(lambda: frame.select(W.from_aerospike_msgpack("value")), whole),
        "from_, all columns, columnar input off": Job(
            lambda: frame.select(W.from_aerospike_msgpack("value")), whole, settings=COLUMNAR_OFF
        ),
        "msgpack-python + pyarrow in mapInArrow": Job(
            lambda: slow.mapInArrow(peers.msgpack_arrow, theirs), whole, ">= 2.5", SLOW
        ),
        "construct in a Python UDF, two columns": Job(
            lambda: slower.select(construct("value")), whole, ">= 20", SLOWER
        ),
    }


def _kpl(frames: Mapping[int, DataFrame], *, protobuf: bool) -> Mapping[str, Job]:
    frame, slow = frames[1], frames[SLOW]
    whole, base = "decode, all columns, flat rows", "the same columns, already decoded"
    two = "decode, two columns, flat rows"
    some = {"mode": "FAILFAST", "columns": ",".join(ROWS)}
    jobs = {
        base: Job(lambda: _floor("kpl", partial(W.decode_kpl_record, frame, "value"))),
        whole: Job(lambda: W.decode_kpl_record(frame, "value"), base, "<= 1.25"),
        two: Job(lambda: W.decode_kpl_record(frame, "value", some)),
    }
    if all(map(find_spec, DEAGGREGATOR)):
        _same(slow.mapInArrow(peers.deaggregated, peers.USER_RECORDS), W.decode_kpl_record(slow, "value"))
        jobs["aws-kinesis-agg in mapInArrow, two columns"] = Job(
            lambda: slow.mapInArrow(peers.deaggregated, peers.USER_RECORDS), two, ">= 3", SLOW
        )
    else:
        print(f"the deaggregator is not measured: {' and '.join(DEAGGREGATOR)} are not installed")
    if protobuf:
        _same(_from_protobuf(slow), W.decode_kpl_record(slow, "value"))
        jobs["from_protobuf and explode, MD5 not looked at"] = Job(lambda: _from_protobuf(frame), two, ">= 1")
        jobs["from_protobuf and explode, MD5 compared"] = Job(lambda: _from_protobuf(_proved(frame)), two)
    return jobs


def _floor(name: str, job: partial[DataFrame]) -> DataFrame:
    """The job with a Python side that has its results already."""
    original = type(job.args[0]).mapInArrow

    def caught(frame: DataFrame, act: peers.Act, schema: StructType) -> DataFrame:
        return original(frame, partial(peers.already, name, act), schema)

    with patch.object(type(job.args[0]), "mapInArrow", caught):
        return job()


def _from_protobuf(frame: DataFrame) -> DataFrame:
    """The user records as Spark alone can get them."""
    from pyspark.sql.protobuf.functions import from_protobuf

    message = "kpl_record.AggregatedRecord"
    body = F.expr("substring(value, 5, length(value) - 20)")
    parsed = from_protobuf(body, message, binaryDescriptorSet=descriptor.DESCRIPTOR_SET).alias("it")
    record = F.explode("it.records").alias("record")
    rows = frame.select(parsed).select("it.partition_key_table", record)
    place = F.col("record.partition_key_index").cast("int")
    return rows.select(F.get("partition_key_table", place).alias("partitionKey"), F.col("record.data").alias("data"))


def _proved(frame: DataFrame) -> DataFrame:
    """The aggregates whose digest is right."""
    digest = "lower(hex(substring(value, length(value) - 15, 16)))"
    return frame.where(f"md5(substring(value, 5, length(value) - 20)) = {digest}")


# --- measuring -----------------------------------------------------------------------------------------------------


def _report(spark: SparkSession, title: str, jobs: Mapping[str, Job]) -> None:
    for job in jobs.values():
        _seconds(spark, job)
    rounds = [{name: _seconds(spark, job) for name, job in jobs.items()} for _ in range(ROUNDS)]
    print(title)
    for name, job in jobs.items():
        seconds = statistics.median(each[name] for each in rounds)
        ratio = statistics.median(each[name] / each[job.base] for each in rounds) if job.base else 0
        held = f"{ratio:>7.2f} x {job.base}" if job.base else ""
        wanted = f", wanted {job.target}" if job.target else ""
        part = f" (one in {job.share})" if job.share > 1 else ""
        print(f"    {name + part:<56} {seconds:>7.2f} s {held}{wanted}", flush=True)


def _seconds(spark: SparkSession, job: Job) -> float:
    """The time of all messages."""
    for name, value in job.settings.items():
        spark.conf.set(name, value)
    frame = job.act()
    start = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    spent = time.perf_counter() - start
    for name in job.settings:
        spark.conf.unset(name)
    return spent * job.share


def _batches(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    return iter(frame.limit(10).toArrow().to_batches())


def _same(theirs: DataFrame, ours: DataFrame) -> None:
    """Both have the same values in the columns that both have, as far as these are simple."""
    simple = ("string", "bigint", "binary")
    own = dict(ours.dtypes)
    shared = [name for name, type in theirs.dtypes if type in simple and own.get(name) == type]
    sums = [frame.select(F.count("*"), F.sum(F.hash(*shared))).first() for frame in (theirs, ours)]
    assert shared
    assert sums[0] == sums[1], (shared, sums)


def _protobuf_jars() -> tuple[str, str]:
    """Spark's jar for protobuf, and why there is none."""
    reasons = []
    for revision in (pyspark.__version__, "4.2.0"):
        module = Module("org.apache.spark", f"spark-protobuf_{SCALA}", revision, transitive=False)
        try:
            return ",".join(map(str, jars((module,)))), ""
        except UnavailableError as error:
            reasons.append(str(error))
    return "", "; ".join(dict.fromkeys(reasons))


if __name__ == "__main__":
    messages = int(next((word for word in sys.argv[1:] if word.isdecimal()), 1_000_000))
    (one_core if ONE_CORE in sys.argv else main)(messages)
