"""A job that would read its own output is refused before anything is written."""

import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from support.databus_events import built as record
from wireloom.cli.app import app
from wireloom.failures import MisuseError
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.job.overlap import refuse_overlap
from wireloom.ingest.plan import Column, Files, Job, Kafka, Plan
from wireloom_formats import databus_event


def refusal(input, output, checkpoint=""):
    with pytest.raises(MisuseError) as caught:
        refuse_overlap(Files(input), output, checkpoint)
    return str(caught.value)


@pytest.mark.parametrize(
    ("input", "output"),
    [
        ("/data", "/data"),
        ("/data/", "/data/out"),
        ("/data", "file:///data/deep/out"),
        ("file:/data", "/data/../data/out"),
        ("/data/*", "/data/out"),
        ("/data/{in,out}/*.bin", "/data/out/x.bin"),
        ("/", "/out"),
        ("s3://key:secret@bucket/data?region=x", "s3a://bucket/data/out"),
        ("hdfs://host:8020/data", "hdfs://host:8020/data/out"),
    ],
)
def test_an_output_in_the_input_is_refused(input, output):
    assert f"--output {output} is inside --input {input}, so the job would read what it writes" in refusal(
        input, output
    )


@pytest.mark.parametrize(
    ("input", "output"),
    [
        ("/data/out/records", "/data/out"),
        ("/data/out/_landing", "/data/out"),
        ("/data/out/landing/*.bin", "file:/data/out"),
        ("s3://bucket/out/landing", "s3://bucket/out/"),
    ],
)
def test_an_input_in_the_output_is_refused(input, output):
    assert refusal(input, output).startswith(f"--input {input} is inside --output {output}, where Wireloom writes")


def test_a_checkpoint_in_the_input_is_refused():
    assert refusal("/data", "/out", "/data/state").startswith("--checkpoint /data/state is inside --input /data")


@pytest.mark.parametrize(
    ("input", "output", "checkpoint"),
    [
        ("/data/in", "/data/out", "/data/out/_checkpoint"),
        ("/data/in", "/data/input", ""),
        ("/data", "/data/_tables", ""),  # which readers pass over
        ("/data/*.bin", "/data/out", ""),
        ("/data/[a-m]*", "/data/out", ""),
        ("s3://one/data", "s3://two/data/out", ""),
        ("s3://bucket/data", "/bucket/data/out", ""),
    ],
)
def test_what_lies_apart_is_not_refused(input, output, checkpoint):
    refuse_overlap(Files(input), output, checkpoint)
    refuse_overlap(Kafka("broker:9092", ("topic",)), input, input)


def test_links_are_followed(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "data")
    assert "so the job would read what it writes" in refusal(str(tmp_path / "data"), str(tmp_path / "link" / "out"))


@pytest.mark.parametrize("column", [None, "value"])
def test_nothing_is_written_where_the_job_is_refused(tmp_path, column):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.bin").write_bytes(record(1))
    plan = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.MEANING)
    job = Job(plan, str(tmp_path / "data"), str(tmp_path / "data" / "out"), column=column)
    assert job.source == (Files(job.input) if column is None else Column(job.input, column))
    with pytest.raises(MisuseError, match="is inside --input"):
        ingest(LocalEngine(1), job)
    assert [path.name for path in tmp_path.rglob("*")] == ["data", "one.bin"]


def test_the_command_refuses_it_before_java_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "data").mkdir()
    asked = ["ingest", "--format", "databus_event", "--out", GENERATED, "--input", tmp_path / "data"]
    asked += ["--output", tmp_path / "data" / "out"]
    for more in ([], ["--engine", "local"], ["--stream"], ["--stream", "--table-format", "delta"]):
        refused = CliRunner().invoke(app, [str(part) for part in (*asked, *more)])
        assert refused.exit_code == 2, refused.output
        assert "so the job would read what it writes" in " ".join(refused.output.split())
    assert list((tmp_path / "data").iterdir()) == []
