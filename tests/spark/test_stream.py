"""Ingest as a stream: every record once, in a table, in the quarantine, or counted as dropped, also after restarts."""

import gzip
import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app
from wireloom.failures import DataError, MachineError, MisuseError
from wireloom.ingest.job.metrics import Book
from wireloom.ingest.ledger import publishing
from wireloom.ingest.plan import Column, Files, Flow, Kafka, Plan
from wireloom.spark.ingest.stream import stream

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
PACKAGE = "ingest_formats"
TABLES = ("records", "quarantine")


def record(module, number):
    return module.build({"kind": "alarm", "urgent": False, "battery": 1, "sentAt": number, "readings": []})


def damaged(data):
    return data[:10] + bytes([data[10] ^ 1]) + data[11:]


@pytest.fixture
def flow(module, tmp_path):
    plan = Plan(f"{PACKAGE}.heartbeat", "heartbeat", module.DIGEST)
    (tmp_path / "input").mkdir()
    return Flow(plan, Files(str(tmp_path / "input")), str(tmp_path / "output"), trigger="available-now")


@pytest.fixture
def run(spark, tmp_path):
    def made(flow):
        return stream(spark, flow, Book(tmp_path / "metrics.jsonl"), threading.Event())

    return made


def metrics(tmp_path):
    return [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]


def test_a_stream_goes_on_where_it_was_and_its_metrics_tell_each_batch_once(spark, run, flow, module, tmp_path):
    bad = damaged(record(module, 1))
    (tmp_path / "input" / "a").write_bytes(record(module, 0) + bad + record(module, 2))
    assert run(flow).records == 3
    (tmp_path / "input" / "sub").mkdir()
    passing = tmp_path / "input" / "sub" / "b.gz.tmp"
    passing.write_bytes(gzip.compress(record(module, 3)))
    assert run(flow).records == 3, "a file that is not complete is no batch"
    passing.rename(passing.with_suffix(""))
    limited = replace(flow, options=(("maxFilesPerTrigger", "1"),))
    summary = run(limited)
    assert (summary.records, summary.decoded, summary.quarantined, summary.rows) == (4, 3, 1, 3)
    assert summary == run(flow), "nothing new came"
    with pytest.raises(MisuseError, match="which has tables of ingest"):
        run(replace(flow, output=f"{flow.output}/records"))
    found = spark.read.parquet(f"{flow.output}/records").collect()
    assert {(row["sentAt"], row["wireloom_batch"]) for row in found} == {(0, 0), (2, 0), (3, 2)}
    (row,) = pq.read_table(f"{flow.output}/quarantine").to_pylist()
    assert (row["raw"], row["code"], row["_record"], row["_offset"]) == (bad, "bad_checksum", 1, len(bad))
    assert [(line["batch"], line["records"], line["errors"]) for line in metrics(tmp_path)] == [
        (0, 3, {"bad_checksum": 1}),
        (1, 0, {}),
        (2, 1, {}),
    ]
    assert metrics(tmp_path)[0]["bytes"] == 3 * len(bad)
    assert metrics(tmp_path)[0]["kinds"] == {"kind": {"alarm": 2}}


def test_a_batch_that_the_ledger_has_is_not_written_again_and_its_metrics_are_made_up_for(run, flow, module, tmp_path):
    (tmp_path / "input" / "a").write_bytes(record(module, 0))
    run(flow)
    for name in ("0", ".0.crc"):
        (tmp_path / "output" / "_checkpoint" / "commits" / name).unlink()  # as if killed before Spark noted the end
    (tmp_path / "metrics.jsonl").write_text('{"stream": "half a li')
    summary = run(flow)
    assert (summary.records, summary.rows) == (1, 1)
    assert [line["batch"] for line in metrics(tmp_path)] == [0]


def test_a_path_that_hadoop_cannot_open_is_refused_with_what_to_add(spark):
    from wireloom.spark.ingest.storage import HadoopStorage

    with pytest.raises(MachineError, match="no file system for nosuch://") as caught:
        HadoopStorage(spark).exists("nosuch://bucket/out")
    assert "--engine local" in caught.value.remedy


def test_what_a_killed_batch_left_is_finished_or_removed(spark, run, flow, module, tmp_path):
    from wireloom.ingest.ledger.entries import Ledger
    from wireloom.spark.ingest.storage import HadoopStorage

    (tmp_path / "input" / "a").write_bytes(record(module, 0) + damaged(record(module, 1)))
    run(flow)
    home = tmp_path / "output"
    ledger = Ledger(HadoopStorage(spark), str(home), "batch")
    entry = ledger.entry(0)
    assert [target for _, target in entry.moves] == [f"file:{home}/{name}/wireloom_batch=0" for name in TABLES]
    killed = Path(entry.staging.removeprefix("file:"))  # between the two tables, as it seems
    killed.mkdir()
    (home / "quarantine" / "wireloom_batch=0").rename(killed / "quarantine")
    (home / "_staging" / "batch" / "two" / "records").mkdir(parents=True)  # killed while it was written
    summary = run(flow)
    assert (summary.rows, summary.quarantined) == (1, 1)
    assert spark.read.parquet(str(home / "quarantine")).count() == 1
    assert not list((home / "_staging" / "batch").iterdir())


def test_codes_that_are_dropped_are_counted_and_the_books_balance(spark, run, flow, module, tmp_path):
    (tmp_path / "input" / "a").write_bytes(record(module, 0) + damaged(record(module, 1)) + record(module, 2)[:9])
    summary = run(replace(flow, plan=replace(flow.plan, drop=("bad_checksum",))))
    assert summary.reconciles
    assert (summary.quarantined, summary.dropped) == (1, (("bad_checksum", 1),))
    assert [row["code"] for row in spark.read.parquet(f"{flow.output}/quarantine").collect()] == ["truncated"]


def test_a_binary_column_of_parquet_files_streams_too(spark, run, flow, module, tmp_path):
    values = pa.array([record(module, 0), None, record(module, 2)[:4]], pa.binary())
    pq.write_table(pa.table({"other": [1, 2, 3], "value": values}), tmp_path / "input" / "a.parquet")
    summary = run(replace(flow, source=Column(str(tmp_path / "input"), "value")))
    assert (summary.records, summary.decoded, dict(summary.codes)) == (3, 1, {"no_data": 1, "truncated": 1})
    bad = spark.read.parquet(f"{flow.output}/quarantine").orderBy("_record").collect()
    assert [row["_record"] for row in bad] == [1, 2]
    wrong = replace(flow, source=Column(str(tmp_path / "input"), "other"), output=f"{flow.output}-2")
    with pytest.raises(MisuseError, match="of type bigint; binary columns: value"):
        run(wrong)


def test_tables_and_checkpoint_belong_together(run, flow, module, tmp_path):
    (tmp_path / "input" / "a").write_bytes(record(module, 0))
    run(flow)
    with pytest.raises(MisuseError, match="--checkpoint"):
        run(replace(flow, checkpoint=str(tmp_path / "elsewhere")))
    with pytest.raises(MisuseError, match="did not write to"):
        run(replace(flow, output=str(tmp_path / "second"), checkpoint=str(tmp_path / "output" / "_checkpoint")))
    (tmp_path / "third" / "records").mkdir(parents=True)
    with pytest.raises(MisuseError, match="no stream made it"):
        run(replace(flow, output=str(tmp_path / "third")))


def test_what_spark_says_against_a_trigger_is_told(run, flow):
    with pytest.raises(MisuseError, match=r"does not start: .*parsecs"):
        run(replace(flow, trigger="10 parsecs"))


def test_without_the_kafka_connector_the_message_has_its_coordinate(spark, run, flow):
    with pytest.raises(MachineError) as caught:
        run(replace(flow, source=Kafka("localhost:9", ("t",))))
    assert caught.value.remedy == f"--packages org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"


def test_a_batch_of_which_a_file_is_lost_stops_the_job_and_is_in_no_table(run, flow, module, tmp_path, monkeypatch):
    (tmp_path / "input" / "a").write_bytes(record(module, 0) + record(module, 1) + damaged(record(module, 2)))
    sweep = publishing._sweep
    for table in ("records", "quarantine"):

        def losing(report, batch, writing, table=table):
            next(path for path in (tmp_path / "output" / "_staging").rglob(f"{table}/*.parquet")).unlink()
            sweep(report, batch, writing)

        monkeypatch.setattr(publishing, "_sweep", losing)
        with pytest.raises(DataError, match="1 written files are missing in"):
            run(flow)
        assert not (tmp_path / "output" / "records").exists()
    monkeypatch.setattr(publishing, "_sweep", sweep)
    assert run(flow).rows == 2


def test_what_a_failed_task_left_behind_is_in_no_table(run, flow, module, tmp_path, monkeypatch):
    (tmp_path / "input" / "a").write_bytes(record(module, 0))
    sweep = publishing._sweep

    def leaving(report, batch, writing):
        (made,) = (tmp_path / "output" / "_staging").rglob("records/*.parquet")
        shutil.copy(made, made.with_name("part-of-an-attempt-that-failed.parquet"))
        sweep(report, batch, writing)

    monkeypatch.setattr(publishing, "_sweep", leaving)
    assert run(flow).rows == 1
    assert pq.read_table(tmp_path / "output" / "records").num_rows == 1


def test_a_metrics_file_that_is_something_else_is_left_alone(tmp_path):
    (tmp_path / "other").write_text('{"batch": 1}\nhalf')
    with pytest.raises(MisuseError, match="not metrics"):
        Book(tmp_path / "other")
    assert (tmp_path / "other").read_text() == '{"batch": 1}\nhalf'


def invoked(*arguments):
    return CliRunner().invoke(app, [str(part) for part in arguments])


def test_the_command_streams_samples_without_any_source(spark, place, tmp_path):
    options = ["--format", "heartbeat", "--out", place / "build", "--package", PACKAGE, "--specs", place / "specs"]
    stream = ["--stream", "--samples", "50", "--trigger", "once", "--output", tmp_path / "out"]
    first = invoked("ingest", *options, *stream)
    assert first.exit_code == 0, first.output
    second = invoked("ingest", *options, *stream, "--metrics", tmp_path / "metrics.jsonl")
    assert second.exit_code == 0, second.output
    assert "quarantined" in second.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kafka", "x:1"], "add --stream"),
        (["--stream"], "you gave nothing"),
        (["--stream", "--kafka", "x:1", "--input", "y"], "--input and --kafka"),
        (["--stream", "--kafka", "x:1"], "needs a --topic"),
        (["--stream", "--input", "y", "--topic", "t"], "--kafka HOST:PORT"),
        (["--stream", "--input", "y", "--overwrite"], "only adds"),
        (["--stream", "--input", "y", "--table-format", "orc"], "parquet, delta"),
        (["--stream", "--kafka", "x:1", "--topic", "t", "--framing", "lines"], "drop --framing"),
        (["--stream", "--input", "y", "--source-option", "z"], "NAME=VALUE"),
        ([], "name it with --input"),
    ],
)
def test_a_call_that_does_not_fit_says_what_would(place, tmp_path, arguments, message):
    options = ["--format", "heartbeat", "--out", place / "build", "--package", PACKAGE, "--output", tmp_path / "out"]
    result = invoked("ingest", *options, *arguments)
    assert result.exit_code == 2
    assert message in result.output
