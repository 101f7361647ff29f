"""Ingest on Spark: every record goes to exactly one table, and the summary adds up."""

import gzip
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from wireloom.cli.app import app
from wireloom.failures import MisuseError
from wireloom.ingest.plan import Job, Plan
from wireloom.spark.ingest.batch import ingest

pytestmark = [pytest.mark.integration, pytest.mark.filterwarnings("default")]
PACKAGE = "ingest_formats"


@pytest.fixture
def job(module, tmp_path):
    def made(framing=None, **options):
        plan = Plan(f"{PACKAGE}.heartbeat", "heartbeat", module.DIGEST, framing=framing)
        return Job(plan, str(tmp_path / "input"), str(tmp_path / "output"), **options)

    (tmp_path / "input").mkdir()
    return made


def record(module, number):
    return module.build({"kind": "alarm", "urgent": False, "battery": 1, "sentAt": number, "readings": []})


def damaged(data):
    return data[:10] + bytes([data[10] ^ 1]) + data[11:]


def test_a_stream_with_bad_records_is_split_and_reconciles(spark, module, job, tmp_path):
    records = [record(module, number) for number in range(50)]
    records[7], records[30] = damaged(records[7]), damaged(records[30])
    (tmp_path / "input" / "a b%20#?.bin").write_bytes(b"".join(records))
    (tmp_path / "input" / "tail.bin.gz").write_bytes(gzip.compress(records[0] + records[1][:5]))
    (tmp_path / "input" / "more.tmp").write_bytes(records[0])
    told = []
    summary = ingest(spark, job(), told.append)
    passed, given_up = told
    assert passed.endswith(": more.tmp")
    assert "tail.bin.gz: gave up the last 5 bytes, after record 0" in given_up
    assert (summary.records, summary.decoded, summary.quarantined, summary.rows) == (52, 49, 3, 49)
    assert summary.reconciles
    assert dict(summary.codes) == {"bad_checksum": 2, "truncated": 1}
    rows = pq.read_table(tmp_path / "output" / "records").sort_by("sentAt").to_pylist()
    assert {row["sentAt"] for row in rows} == set(range(50)) - {7, 30}
    assert {"_source", "_record", "_offset"} <= rows[0].keys()
    bad = pq.read_table(tmp_path / "output" / "quarantine").to_pylist()
    flipped = next(row for row in bad if row["_record"] == 7)
    assert flipped["raw"] == records[7]
    assert flipped["raw_size"] == len(records[7])
    assert (flipped["code"], flipped["path"], flipped["offset"]) == ("bad_checksum", "checksum", 16)
    assert flipped["_offset"] == 7 * len(records[0])
    assert (flipped["format"], flipped["spec_digest"]) == ("heartbeat", module.DIGEST)
    assert flipped["_source"].endswith("/a b%20#?.bin")


def test_columns_keep_their_comments(spark, module, job, tmp_path):
    (tmp_path / "input" / "one.bin").write_bytes(record(module, 1))
    ingest(spark, job())
    table = spark.read.parquet(str(tmp_path / "output" / "records"))
    comments = {field.name: field.metadata.get("comment", "") for field in table.schema}
    assert "ms since epoch" in comments["sentAt"]
    assert comments["_record"]


def test_each_file_is_a_record_without_framing(spark, module, job, tmp_path):
    for number in range(3):
        (tmp_path / "input" / f"{number}.bin").write_bytes(record(module, number))
    (tmp_path / "input" / "two.bin").write_bytes(record(module, 8) * 2)
    summary = ingest(spark, job(framing="none"))
    assert (summary.records, summary.decoded) == (4, 3)
    assert dict(summary.codes) == {"trailing_bytes": 1}


def test_length_prefixed_streams_go_on_behind_a_bad_record(spark, module, job, tmp_path):
    records = [record(module, 1), b"junk", record(module, 2)]
    (tmp_path / "input" / "x").write_bytes(b"".join(len(each).to_bytes(4, "big") + each for each in records))
    summary = ingest(spark, job(framing="length-prefixed"))
    assert (summary.records, summary.decoded, summary.quarantined) == (3, 2, 1)


def test_a_binary_column_of_parquet_with_nulls(spark, module, job, tmp_path):
    values = [record(module, 1), None, b"", record(module, 2)]
    pq.write_table(
        pa.table({"key": ["a"] * 4, "value": pa.array(values, pa.binary())}), tmp_path / "input" / "t.parquet"
    )
    summary = ingest(spark, job(column="value"))
    assert (summary.records, summary.decoded) == (4, 2)
    assert dict(summary.codes) == {"no_data": 1, "truncated": 1}
    bad = pq.read_table(tmp_path / "output" / "quarantine").to_pylist()
    assert sorted(row["_record"] for row in bad) == [1, 2]


def test_no_records_at_all_is_two_empty_tables(spark, job, tmp_path):
    (tmp_path / "input" / "empty.bin").write_bytes(b"")
    summary = ingest(spark, job())
    assert (summary.records, summary.rows, summary.quarantined) == (0, 0, 0)
    assert "sentAt" in spark.read.parquet(str(tmp_path / "output" / "records")).columns


def test_tables_are_replaced_only_on_request(spark, module, job, tmp_path):
    (tmp_path / "input" / "one.bin").write_bytes(record(module, 1))
    ingest(spark, job())
    assert ingest(spark, job()).rows == 1, "it is done, and says so"
    (tmp_path / "input" / "two.bin").write_bytes(record(module, 1))
    with pytest.raises(MisuseError, match="--overwrite"):
        ingest(spark, job())
    assert ingest(spark, job(overwrite=True)).rows == 2
    with pytest.raises(MisuseError, match=r"records is in .*/output, which has tables of ingest"):
        ingest(spark, replace(job(append=True), output=str(tmp_path / "output" / "records")))
    (tmp_path / "output" / "records" / "keep.txt").write_text("keep")
    with pytest.raises(MisuseError, match=r"records/keep\.txt: not written by wireloom"):
        ingest(spark, job(overwrite=True))


def test_a_missing_input_and_a_missing_column_are_wrong_calls(spark, module, job, tmp_path):
    pq.write_table(pa.table({"value": pa.array([b""], pa.binary()), "key": ["a"]}), tmp_path / "input" / "t.parquet")
    with pytest.raises(MisuseError, match=r"binary columns: value$"):
        ingest(spark, job(column="valeu"))
    with pytest.raises(MisuseError, match=r"of type string; binary columns: value$"):
        ingest(spark, job(column="key"))
    gone = Job(job().plan, str(tmp_path / "gone"), str(tmp_path / "output"))
    with pytest.raises(MisuseError, match=r"there is no .*gone"):
        ingest(spark, gone)


def test_the_command_prints_the_summary_and_bad_records_do_not_fail_it(spark, module, place, tmp_path):
    (tmp_path / "in.bin").write_bytes(record(module, 1) + damaged(record(module, 2)))
    command = ["ingest", "--format", "heartbeat", "--input", tmp_path / "in.bin", "--output", tmp_path / "out"]
    where = ["--out", place / "build", "--package", PACKAGE]
    first = CliRunner().invoke(app, [str(part) for part in (*command, *where)])
    assert first.exit_code == 0, first.output
    assert "2 records in = 1 decoded + 1 quarantined" in first.output
    assert "1  bad_checksum" in first.output
    again = [*command, *where, "--overwrite", "--fail-on-error"]
    assert CliRunner().invoke(app, [str(part) for part in again]).exit_code == 1


@pytest.mark.parametrize(
    "scheme", ["file:", "viewfs://mounted"], ids=["files that pyarrow opens", "files that Spark alone opens"]
)
def test_a_file_is_read_once_and_again_on_request(spark, module, job, tmp_path, scheme):
    top = tmp_path.parts[1]
    spark._jsc.hadoopConfiguration().set(f"fs.viewfs.mounttable.mounted.link./{top}", f"file:///{top}")
    reading = replace(job(), input=f"{scheme}{tmp_path}/input")
    (tmp_path / "input" / "one.bin").write_bytes(record(module, 1) + damaged(record(module, 2)))
    ingest(spark, reading)
    (tmp_path / "input" / "two.bin").write_bytes(record(module, 3))
    other = replace(reading, plan=replace(reading.plan, drop=("bad_checksum",)))
    summary = ingest(spark, replace(other, append=True))
    assert (summary.records, summary.passed) == (1, (("already in the tables", 1),))
    assert ingest(spark, replace(other, append=True)).passed == (("already in the tables", 2),)
    summary = ingest(spark, replace(other, again=(f"{scheme}{tmp_path}/input/one.bin",)))
    assert (summary.decoded, summary.discarded) == (1, 1)
    rows = spark.read.parquet(str(tmp_path / "output" / "records")).collect()
    assert sorted(row["sentAt"] for row in rows) == [1, 3]
    assert spark.read.parquet(str(tmp_path / "output" / "quarantine")).count() == 0
