"""A project of `wireloom new pipeline`, run by Spark's own program."""

import importlib.util
import os
import subprocess
import sys
from hashlib import md5
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from conftest import GENERATED, ROOT
from wireloom.cli.app import app

pyspark = pytest.importorskip("pyspark")

PLAIN = b"one plain record"
MAGIC, BODY = (
    bytes.fromhex("f3899ac2"),
    bytes.fromhex("0a01610a0162120234321a0708001a036f6e651a09080110001a0374776f1a0408001a00"),
)
AGGREGATE = MAGIC + BODY + md5(BODY, usedforsecurity=False).digest()
WRONG = BODY.replace(b"\x08\x00\x1a\x03one", b"\x08\x05\x1a\x03one")
BROKEN = MAGIC + WRONG + md5(WRONG, usedforsecurity=False).digest()
OPTIONS = ["--package", "wireloom_formats", "--out", str(GENERATED)]


def started(folder: Path, *options: str) -> str:
    """The exit code and output of the command."""
    result = CliRunner().invoke(app, ["new", "pipeline", str(folder), *options, *OPTIONS])
    return f"{result.exit_code} {result.output}"


def test_a_new_pipeline_is_a_complete_project_of_linted_code(tmp_path):
    for source in ("kafka", "parquet", "files"):
        folder = tmp_path / source
        assert started(folder, "--format", "kpl_record", "--source", source).startswith("0 ")
        subprocess.run(
            [sys.executable, "-m", "ruff", "format", "--check", "--isolated", "--line-length=120", folder], check=True
        )
        assert (folder / "landing").is_dir() == (source != "kafka")
    assert "kpl_record.topic" in (tmp_path / "kafka" / "spark-pipeline.yml").read_text()


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    assert "is already there" in started(tmp_path, "--format", "kpl_record")
    assert list(tmp_path.iterdir()) == []


def test_what_a_pipeline_cannot_read_is_refused_with_what_can(tmp_path):
    said = started(tmp_path / "new", "--format", "databus_event", "--source", "files")
    assert said.startswith("2 ")
    assert "--source parquet" in said
    assert "did you mean parquet" in started(tmp_path / "new", "--format", "kpl_record", "--source", "parket")


@pytest.mark.thorough
@pytest.mark.integration
@pytest.mark.skipif(not importlib.util.find_spec("grpc"), reason="pyspark[pipelines] is not installed: no grpc")
def test_every_record_of_bronze_is_in_silver_or_in_the_quarantine(tmp_path):
    folder = tmp_path / "pipeline"
    started(folder, "--format", "kpl_record", "--source", "parquet")
    land(folder, "one", [PLAIN, AGGREGATE, BROKEN, None])
    run(folder)
    assert len(table(folder, "bronze_kpl_record")) == 4
    silver = table(folder, "silver_kpl_record")
    assert sorted(row["data"] for row in silver) == [b"", b"one", PLAIN, b"two"]
    assert {Path(row["_file"]).name for row in silver} == {"one.parquet"}
    bad = {row["raw"]: (row["code"], row["path"]) for row in table(folder, "quarantine_kpl_record")}
    assert bad == {BROKEN: ("pk_index", "message.records[0].partition_key_index"), None: (None, None)}


def land(folder: Path, name: str, values: list[bytes | None]) -> None:
    """One more file in the landing folder."""
    pq.write_table(pa.table({"value": pa.array(values, pa.binary())}), folder / "landing" / f"{name}.parquet")


def run(folder: Path) -> None:
    """Run the pipeline to its end."""
    home = Path(pyspark.__file__).parent
    settings = ["--conf=spark.sql.catalogImplementation=hive", "--conf=spark.connect.grpc.binding.port=0"]
    surroundings = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_TESTING": "1",  # the client asks which port the server got
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "generator"), str(GENERATED)]),
    }
    command = [home / "bin" / "spark-pipelines", "run", *settings]
    done = subprocess.run(
        command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def table(folder: Path, name: str) -> list[dict]:
    """The rows of a table of the pipeline."""
    return ds.dataset(folder / "spark-warehouse" / name, format="parquet").to_table().to_pylist()
