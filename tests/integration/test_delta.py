"""A stream into Delta tables: each batch is there once, even if it was killed between the two tables."""

import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyspark
import pytest

from integration.conftest import obtained
from integration.maven import IN_SPARK, SCALA, Module, jars
from integration.sessions import started
from support.killed_runs import KilledError as Killed
from wireloom.failures import DataError, MachineError, MisuseError
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.job.metrics import Book
from wireloom.ingest.job.status import swept
from wireloom.ingest.plan import Files, Flow, Plan, Replay
from wireloom.ingest.quarantine.replay import formats as formats_on
from wireloom.ingest.quarantine.replay import replay as replay_on
from wireloom.spark.ingest import replay as replaying
from wireloom.spark.ingest.delta import SETTINGS, DeltaTables, make
from wireloom.spark.ingest.replay import finish, replay
from wireloom.spark.ingest.stream import stream
from wireloom_formats import databus_json

pytestmark = [pytest.mark.integration, pytest.mark.maven, pytest.mark.filterwarnings("default"), pytest.mark.thorough]
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
@pytest.mark.parametrize("settings", [{}, dict(SETTINGS)])  # the command makes the settings
def test_without_delta_the_message_has_its_coordinate(flow, settings):
    with started("local[1]", settings) as bare, pytest.raises(MachineError) as caught:
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
    with pytest.raises(MisuseError, match="is partitioned by sourceClass, but --partition-by says sequence"):
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


# --- replay --------------------------------------------------------------------------------------------------------

MENDED = (("unknownMembers", "ignore"),)
MORE = b'{"endOfPeriod":true,"sequence":%d,"timestampInNanos":0,"strange":1}\n'


def strange(flow, number):
    """A file of two lines that are good where unknown members are let go of, and one that is bad."""
    name = Path(flow.source.path) / str(number)
    name.write_bytes(MORE % (2 * number) + MORE % (2 * number + 1) + b"{}\n")


def again(flow, **changes):
    """Its replay, in which unknown members are let go of."""
    plan = replace(flow.plan, framing="none", parameters=MENDED, **changes)
    return Replay(plan, f"{flow.output}/quarantine", flow.output)


def test_what_decodes_now_moves_out_of_a_delta_quarantine_and_the_rest_stays(spark, flow):
    feed(flow, 0)
    strange(flow, 1)
    assert run(spark, flow).quarantined == 4
    done = replay(spark, again(flow))
    assert (done.number, done.summary.records, done.summary.decoded, done.summary.quarantined) == (1, 4, 2, 2)
    everything(spark, flow, 2)
    bad = spark.read.format("delta").load(f"{flow.output}/quarantine").collect()
    assert {(row["wireloom_batch"], row["spec_digest"]) for row in bad} == {(-1, databus_json.DIGEST)}
    assert sorted(row["_source"][-1] for row in bad) == ["0", "1"], "with the places that they had"
    strange(flow, 2)
    assert run(spark, flow).quarantined == 7, "the stream goes on"
    done = replay(spark, again(flow))
    assert (done.number, done.summary.records, done.summary.decoded) == (2, 5, 2)
    everything(spark, flow, 3)
    left = replay(spark, again(flow, drop=("missing_key",)))
    assert (left.summary.records, left.summary.quarantined, left.summary.discarded) == (3, 0, 3)


@pytest.mark.parametrize("killed", [0, 1, 2], ids=["entered", "between the tables", "behind both"])
def test_a_killed_replay_of_delta_tables_is_finished_by_the_next(spark, flow, monkeypatch, killed):
    feed(flow, 0)
    strange(flow, 1)
    run(spark, flow)
    made = []

    def killing(session, commit):
        if len(made) == killed:
            raise Killed
        made.append(commit)
        make(session, commit)
        if killed == 2 and len(made) == 2:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(replaying, "make", killing)
        with pytest.raises(Killed):
            replay(spark, again(flow))
    with pytest.raises(MisuseError, match=r"must still be committed to .*: run `wireloom replay`"):
        tuple(swept(flow.output, dry=False))
    strange(flow, 2)
    run(spark, flow)
    (finished,) = finish(spark, f"{flow.output}/quarantine")
    assert (finished.summary.decoded, finished.summary.quarantined) == (2, 2)
    records = spark.read.format("delta").load(f"{flow.output}/records")
    assert Counter(row["sequence"] for row in records.collect()) == Counter(range(4))
    assert spark.read.format("delta").load(f"{flow.output}/quarantine").count() == 2 + 3
    assert replay(spark, again(flow)).number == 2
    everything(spark, flow, 3)


def test_a_batch_that_its_stream_has_yet_to_enter_is_left_to_the_next_replay(spark, flow):
    feed(flow, 0)
    run(spark, flow)
    strange(flow, 1)
    run(spark, flow)
    for name in ("_ledger/batch-0000000001.json", "_ledger/.batch-0000000001.json.crc"):
        (Path(flow.output) / name).unlink()  # as if killed behind the second table
    for name in ("_checkpoint/commits/1", "_checkpoint/commits/.1.crc"):
        (Path(flow.output) / name).unlink()
    assert replay(spark, again(flow)).summary.records == 1
    assert run(spark, flow).records == 6
    assert replay(spark, again(flow)).summary.decoded == 2
    everything(spark, flow, 2)


def test_without_spark_a_delta_quarantine_is_refused_and_records_of_parquet_are(spark, flow, tmp_path):
    feed(flow, 0)
    run(spark, flow)
    with pytest.raises(MisuseError, match="is a Delta table, which needs Spark; drop --engine local"):
        formats_on(LocalEngine(1), f"{flow.output}/quarantine")
    with pytest.raises(MisuseError, match="is a Delta table"):
        replay_on(LocalEngine(1), again(flow))
    (tmp_path / "other" / "records" / "wireloom_batch=0").mkdir(parents=True)
    with pytest.raises(MisuseError, match="is not a Delta table, but"):
        replay(spark, replace(again(flow), output=str(tmp_path / "other")))
    done = replay(spark, replace(again(flow), output=str(tmp_path / "aside")))
    assert (done.summary.records, done.summary.quarantined) == (1, 1)
