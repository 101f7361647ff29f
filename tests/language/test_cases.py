"""Formats that we do not ship: generated files as expected, columns, and tables on Spark.

The examples of the cases are run by test_examples.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import CASE_PACKAGE, CASES, ROOT, case_formats, case_project
from wireloom.encodings.json import JSON
from wireloom.model.format import Format
from wireloom.pipeline import Project

EXPECTED = sorted(path for path in CASES.glob("*/expected/*") if path.is_file())


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_a_file_is_generated_as_expected(path: Path, generated_cases: Project, request: pytest.FixtureRequest):
    made = generated_cases.out / CASE_PACKAGE / path.parent.parent.name / path.name
    generated = made.read_text(encoding="utf-8")
    if request.config.getoption("update_expected"):
        path.write_text(generated, encoding="utf-8")
    assert generated == path.read_text(encoding="utf-8"), "if the change is meant: pytest --update-expected"


@pytest.mark.parametrize("format", case_formats(), ids=lambda format: format.name)
def test_spark_and_arrow_columns_are_the_same(format: Format, case_package):
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    module = importlib.import_module(f"{CASE_PACKAGE}.{format.name}")
    assert from_arrow_schema(module.ARROW_SCHEMA).simpleString() == module.struct_type().simpleString()
    assert to_arrow_schema(module.struct_type(), timezone="UTC").equals(module.ARROW_SCHEMA, check_metadata=False)


@pytest.mark.parametrize("format", case_formats(), ids=lambda format: format.name)
def test_examples_become_rows_and_errors(format: Format, case_package):
    import pyarrow as pa

    module = importlib.import_module(f"{CASE_PACKAGE}.{format.name}")
    examples = [each for each in format.examples if not each.parameters and each.root == format.roots[0].name]
    decoded = module.decode(pa.array([example.data for example in examples], pa.binary()))
    codes = [error and error["code"] for error in decoded.errors.to_pylist()]
    assert codes == [example.error for example in examples]
    assert [row is None for row in decoded.records.to_pylist()] == [example.error is not None for example in examples]
    good = decoded.records.filter(decoded.errors.is_null())
    again = module.decode(module.encode(good))
    assert again.records.equals(good)


@pytest.mark.parametrize("format", case_formats(), ids=lambda format: format.name)
def test_values_fit_the_json_schema(format: Format, case_package):
    import jsonschema

    module = importlib.import_module(f"{CASE_PACKAGE}.{format.name}")
    validator = jsonschema.Draft202012Validator(module.JSON_SCHEMA)
    document = format.encoding == JSON
    for example in format.examples:
        if example.error is not None or example.root != format.roots[0].name or (document and example.parameters):
            continue  # schemas of documents are those of the default parameters
        value = module.parse(example.data, **dict(example.parameters))
        rendering = json.loads(json.dumps(module.to_canonical(value)))
        validator.validate(json.loads(example.data) if document else rendering)


@pytest.mark.thorough
@pytest.mark.integration
def test_a_stream_of_sensor_frames_becomes_a_table_and_a_quarantine(tmp_path: Path):
    import pyarrow.parquet as pq

    from wireloom import pipeline

    project = case_project(tmp_path)
    pipeline.generate(project)
    examples = next(format for format in case_formats() if format.name == "sensor_frame").examples
    stream = b"".join(len(example.data).to_bytes(4, "big") + example.data for example in examples)
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "one.bin").write_bytes(stream)
    options = {
        "format": "sensor_frame",
        "input": "frames",
        "output": "tables",
        "out": "generated",
        "package": CASE_PACKAGE,
        "fail-above": "100",
    }
    command = [sys.executable, "-m", "wireloom", "ingest", *(f"--{name}={value}" for name, value in options.items())]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'generator'}{os.pathsep}{project.out}"}
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    records = pq.read_table(tmp_path / "tables" / "records")
    quarantine = pq.read_table(tmp_path / "tables" / "quarantine")
    good = [example for example in examples if example.error is None]
    assert records.num_rows == len(good)
    assert {"sensor", "sentAt", "mode", "position", "readings"} <= set(records.column_names)
    assert sorted(quarantine["code"].to_pylist()) == sorted(example.error for example in examples if example.error)
