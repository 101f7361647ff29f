"""Refusals of a job on Spark are reported before Java starts, in one line."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED
from support.databus_events import built as record
from wireloom.cli.app import app
from wireloom.ingest.job.batch import ingest
from wireloom.ingest.job.local import LocalEngine
from wireloom.ingest.plan import Job, Plan
from wireloom_formats import databus_event

PLAN = Plan(databus_event.__name__, databus_event.FORMAT, databus_event.MEANING)


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    """Whoever starts Spark here fails."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "wireloom.spark.session", None)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.bin").write_bytes(record(1))
    (tmp_path / "empty").mkdir()
    (tmp_path / "parquet").mkdir()
    pq.write_table(pa.table({"value": [record(1)], "number": [1]}), tmp_path / "parquet" / "a.parquet")
    ingest(LocalEngine(1), Job(PLAN, str(tmp_path / "input"), str(tmp_path / "tables")))
    (tmp_path / "input" / "b.bin").write_bytes(record(2))
    return tmp_path


def refused(*arguments):
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert "Traceback" not in done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--input", "IN/none", "--output", "IN/out"], "there is no "),
        (["--input", "IN/none*", "--output", "IN/out"], "there is no "),
        (["--input", "IN/empty", "--output", "IN/out"], "empty has no files"),
        (["--input", "IN/input", "--output", "IN/parquet/a.parquet/out"], "is a file"),
        (["--input", "IN/input", "--output", "/proc/out"], "cannot be written"),
        (["--input", "IN/parquet", "--column", "other", "--output", "IN/out"], "binary columns: value"),
        (["--input", "IN/parquet", "--column", "number", "--output", "IN/out"], "is of type int64"),
        (["--input", "IN/input", "--column", "value", "--output", "IN/out"], "as Parquet"),
        (["--input", "IN/input", "--output", "IN/tables"], "--append"),
        (
            ["--input", "IN/input", "--append", "--framing", "none", "--output", "IN/tables"],
            "was written with other options",
        ),
        (["--input", "IN/input", "--again", "IN/none", "--output", "IN/tables"], "none"),
        (["--stream", "--input", "IN/none", "--output", "IN/out"], "there is no "),
        (["--stream", "--input", "IN/input", "--output", "/proc/out"], "cannot be written"),
    ],
)
def test_a_wrong_call_ends_before_java(folder, options, said):
    options = [str(each).replace("IN", str(folder)) for each in options]
    code, output = refused("ingest", "--format", "databus_event", "--out", GENERATED, *options)
    assert (code, said in output) == (2, True), output


@pytest.mark.parametrize(
    ("path", "said"), [("none/quarantine", "there is no"), ("empty", "is not a table"), ("tables", "holds both")]
)
def test_a_replay_of_no_table_ends_before_java(folder, path, said):
    code, output = refused("replay", folder / path, "--out", GENERATED)
    assert (code, said in output) == (2, True), output


def test_a_missing_jdk_is_said_before_pyspark_is_imported(folder, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(folder / "no-jdk"))
    code, output = refused(
        *("ingest", "--format", "databus_event", "--out", GENERATED),
        *("--input", folder / "input", "--output", folder / "out"),
    )
    assert (code, "Java" in output, "JDK" in output) == (3, True, True), output
