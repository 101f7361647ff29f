"""Partitioned tables, written and read by Spark: each column with its type, each value with its rows."""

import json
import threading
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from wireloom.failures import MisuseError
from wireloom.ingest.job.metrics import Book
from wireloom.ingest.plan import RECORDS, Files, Flow, Job, Plan, Replay
from wireloom.ingest.tables.agreement import Terms
from wireloom.ingest.tables.parquet_files import Writing, tables
from wireloom.ingest.tables.spark_columns import spark_columns
from wireloom.ingest.tables.views import view_text
from wireloom.spark.ingest.batch import ingest
from wireloom.spark.ingest.replay import replay
from wireloom.spark.ingest.stream import stream

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
PACKAGE = "ingest_formats"
KINDS = ("alarm", "measurement")


@pytest.fixture
def plan(module):
    return Plan(f"{PACKAGE}.heartbeat", "heartbeat", module.MEANING)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "input").mkdir()
    return tmp_path


def record(module, number):
    return module.build(
        {"kind": KINDS[number % 2], "urgent": number % 3 == 0, "battery": number % 4, "sentAt": number, "readings": []}
    )


def typed(spark, output):
    """The records with the types of the view."""
    for statement in (output / "records.sql").read_text().split(";\n")[:-1]:
        spark.sql(statement)
    return spark.table("records")


def values(rows):
    return sorted((row["sentAt"], row["kind"], row["urgent"], row["battery"]) for row in rows.collect())


def wanted(*numbers):
    return [(number, KINDS[number % 2], number % 3 == 0, number % 4) for number in numbers]


def test_a_batch_by_folders_is_what_it_is_without_them(spark, module, plan, folder):
    (folder / "input" / "a").write_bytes(b"".join(record(module, number) for number in range(50)) + b"junk")
    whole = Job(plan, str(folder / "input"), str(folder / "whole"))
    job = replace(whole, output=str(folder / "parted"), partition=("kind", "urgent", "battery"))
    summary = ingest(spark, job)
    assert (summary.rows, summary.quarantined) == (ingest(spark, whole).rows, 1)
    one, other = spark.read.parquet(f"{whole.output}/records"), typed(spark, folder / "parted")
    assert {field.name: field.dataType.simpleString() for field in one.schema} == {
        field.name: field.dataType.simpleString() for field in other.schema
    }
    assert values(one) == values(other) == wanted(*range(50))
    guessed = spark.read.parquet(f"{job.output}/records")
    assert (
        guessed.where("kind = 'alarm' and battery = 2").count() == one.where("kind = 'alarm' and battery = 2").count()
    )
    assert "PartitionFilters: [isnotnull(kind" in plan_text(guessed.where("kind = 'alarm'"))


def plan_text(frame):
    return frame._jdf.queryExecution().toString()


@pytest.mark.thorough
def test_streams_and_replays_go_on_with_the_folders_of_the_table(spark, module, plan, folder):
    flow = Flow(plan, Files(str(folder / "input")), str(folder / "out"), trigger="available-now", partition=("kind",))

    def run(flow):
        return stream(spark, flow, Book(folder / "metrics"), threading.Event())

    (folder / "input" / "a").write_bytes(record(module, 0) + record(module, 1))
    run(flow)
    (folder / "input" / "b").write_bytes(b"".join(record(module, number) for number in (2, 3)))
    (folder / "input" / "c").write_bytes(b"\x00" + record(module, 4))
    assert run(replace(flow, partition=())).records == 5
    with pytest.raises(MisuseError, match="is partitioned by kind, but --partition-by says battery"):
        run(replace(flow, partition=("battery",)))
    again = replace(plan, framing="concatenated", resync=True)
    replayed = replay(spark, Replay(again, f"{flow.output}/quarantine", flow.output))
    assert replayed.summary.decoded == 1
    assert values(typed(spark, folder / "out")) == wanted(*range(5))
    names = {path.name for path in (folder / "out" / RECORDS).rglob("*") if path.is_dir()}
    assert names == {"wireloom_batch=0", "wireloom_batch=1", "wireloom_batch=-1", "kind=alarm", "kind=measurement"}
    (folder / "input" / "d").write_bytes(record(module, 5))
    run(replace(flow, partition=("battery",), new_version=True))
    assert values(typed(spark, folder / "out")) == wanted(*range(6))


def test_spark_reads_each_value_back_that_a_folder_can_have(spark, folder):
    texts = ["plain", "007", "a/b=c:d%", "äöü €", "q\"uote's {[]^}", "tab\tline\n", ".", "1e5", "true", " x ", None]
    count = len(texts)
    columns = {
        "text": pa.array(texts),
        "tiny": pa.array([-128, 127, None] + [0] * (count - 3), pa.int8()),
        "long": pa.array([-(2**63), 2**63 - 1] + [1] * (count - 2), pa.int64()),
        "big": pa.array([Decimal(2**64 - 1)] + [Decimal(0)] * (count - 1), pa.decimal128(20, 0)),
        "flag": pa.array([True, False, None] + [True] * (count - 3)),
        "day": pa.array([date(1, 1, 1), date(9999, 12, 31)] + [date(2024, 2, 29)] * (count - 2)),
        "at": pa.array([datetime(2024, 2, 29, 1, 2, 3, 456789, UTC)] * count, pa.timestamp("us", "UTC")),
        "local": pa.array([datetime(1970, 1, 1)] * (count - 1) + [None], pa.timestamp("us")),  # noqa: DTZ001
        "number": pa.array(range(count)),
    }
    by = ("text", "tiny", "long", "big", "flag", "day", "at", "local")
    rows = pa.table(columns)
    files = tables(
        Writing(str(folder / RECORDS / "wireloom_batch=0"), partition=by),
    )[RECORDS]
    files.add(rows.to_struct_array().combine_chunks())
    files.close()
    (folder / RECORDS / "wireloom_batch=0" / RECORDS).rename(folder / RECORDS / "wireloom_batch=1")
    described = json.loads(spark_columns(rows.schema))
    (folder / "records.sql").write_text(
        view_text(str(folder), [Terms("f", "", "", {}, "", described, described, partition=by)], "parquet")
    )
    for zone in ("America/New_York", "UTC"):  # the second is that of every session
        spark.conf.set("spark.sql.session.timeZone", zone)
        read = typed(spark, folder).drop("wireloom_batch").toArrow().select(rows.column_names).sort_by("number")
        assert read.cast(rows.schema).to_pylist() == rows.to_pylist()
