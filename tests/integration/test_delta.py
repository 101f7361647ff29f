"""A stream into Delta tables: each batch is there once, also where it was killed between the two tables."""

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyspark
import pytest

from integration.conftest import obtained
from integration.maven import IN_SPARK, SCALA, Module, jars
from integration.sessions import started
from wireloom.failures import DataError, MachineError, MisuseError
from wireloom.ingest.metrics import Book
from wireloom.ingest.plan import Files, Flow, Plan
from wireloom.spark.ingest.delta import SETTINGS, DeltaTables
from wireloom.spark.ingest.stream import stream
from wireloom_formats import databus_json

pytestmark = [pytest.mark.integration, pytest.mark.maven, pytest.mark.filterwarnings("default")]
VERSION = ".".join(pyspark.__version__.split(".")[:2])
DELTA = (Module("io.delta", f"delta-spark_{VERSION}_{SCALA}", "4.4.0", excluded=IN_SPARK),)
FEW = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "2"}
"""Tasks of which Delta has dozens for each look at a table otherwise."""
LINE = b'{"endOfPeriod":true,"sequence":%d,"timestampInNanos":0}\n'


@pytest.fixture(scope="module")
def spark():
    found = ",".join(map(str, obtained(lambda: jars(DELTA))))
    with started("local[2]", {"spark.jars": found, **FEW, **dict(SETTINGS)}) as session:
        yield session


@pytest.fixture
def flow(tmp_path):
    (tmp_path / "in").mkdir()
    plan = Plan(databus_json.__name__, databus_json.FORMAT, databus_json.DIGEST)
    files = Files(str(tmp_path / "in"))
    return Flow(plan, files, str(tmp_path / "out"), trigger="available-now", table_format="delta")


class KilledError(Exception):
    """Here the process ends."""


def feed(flow, number):
    """A file of three lines; the third is bad."""
    name = Path(flow.source.path) / str(number)
    name.write_bytes(LINE % (2 * number) + LINE % (2 * number + 1) + b"{}\n")


def run(spark, flow):
    return stream(spark, flow, Book(Path(flow.output).parent / "metrics"), threading.Event())


def everything(spark, flow, files):
    records, bad = (spark.read.format("delta").load(f"{flow.output}/{name}") for name in ("records", "quarantine"))
    assert Counter(row["sequence"] for row in records.collect()) == Counter(range(2 * files))
    assert bad.count() == files


# first, before the others' session: a second one would go on with its Java process, which has Delta
def test_without_delta_the_message_has_its_coordinate(flow):
    with started("local[1]", {}) as bare, pytest.raises(MachineError) as caught:
        run(bare, flow)
    assert f"io.delta:delta-spark_{VERSION}_{SCALA}" in caught.value.remedy


def test_every_record_is_once_in_a_delta_table_though_batches_are_killed(spark, flow, monkeypatch):
    feed(flow, 0)
    assert run(spark, flow).records == 3
    publish = DeltaTables.publish

    def killed(tables, name, *rest):
        if name == "quarantine":
            raise KilledError("before the second table")
        return publish(tables, name, *rest)

    feed(flow, 1)
    monkeypatch.setattr(DeltaTables, "publish", killed)
    with pytest.raises(KilledError):
        run(spark, flow)
    monkeypatch.setattr(DeltaTables, "publish", publish)
    with pytest.raises(DataError, match="another drop"):
        run(spark, replace(flow, plan=replace(flow.plan, drop=("bad_json",))))
    assert run(spark, flow).records == 6
    everything(spark, flow, 2)
    for name in ("_ledger/batch-0000000001.json", "_ledger/.batch-0000000001.json.crc"):
        (Path(flow.output) / name).unlink()  # as if killed behind the second table
    for name in ("_checkpoint/commits/1", "_checkpoint/commits/.1.crc"):
        (Path(flow.output) / name).unlink()
    feed(flow, 2)
    assert run(spark, flow).records == 9
    everything(spark, flow, 3)


def test_delta_tables_are_partitioned_by_columns_and_go_on_so(spark, flow):
    feed(flow, 0)
    run(spark, replace(flow, partition=("sourceClass",)))
    feed(flow, 1)
    run(spark, flow)
    everything(spark, flow, 2)
    detail = spark.sql(f"DESCRIBE DETAIL delta.`{flow.output}/records`").first()
    assert detail["partitionColumns"] == ["sourceClass"]
    assert spark.read.format("delta").load(f"{flow.output}/records").where("sourceClass = 'end_of_period'").count() == 4
    with pytest.raises(MisuseError, match="is partitioned by sourceClass, and --partition-by says sequence"):
        run(spark, replace(flow, partition=("sequence",)))
    feed(flow, 2)
    run(spark, replace(flow, partition=("sequence",), new_version=True))
    feed(flow, 3)
    run(spark, flow)
    found = spark.read.format("delta").load(f"{flow.output}/v2/records")
    assert sorted(row["sequence"] for row in found.collect()) == [4, 5, 6, 7]
    spark.sql(Path(f"{flow.output}/records.sql").read_text().removesuffix(";\n"))
    assert sorted(row["sequence"] for row in spark.table("records").collect()) == list(range(8))


def test_delta_tables_are_not_gone_on_with_as_parquet(spark, flow):
    feed(flow, 0)
    run(spark, flow)
    with pytest.raises(MisuseError, match="--table-format"):
        run(spark, replace(flow, table_format="parquet"))
