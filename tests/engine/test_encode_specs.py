"""Native encoding of specs with every kind of field, on drawn values and on altered columns."""

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import encoding
from conftest import specs_below
from support.format_values import values
from wireloom import pipeline
from wireloom.pipeline import Project
from wireloom.runtime import engine as engines
from wireloom.runtime.columns import arrow

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
SPECS = Path(__file__).parent / "encode_specs"
PACKAGE = "wireloom_encode_specs"
MANY = settings(
    max_examples=60,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
CASES = [
    ("fixed", {}),
    ("fixed", {"order": "big"}),
    ("fixed", {"named": False}),
    ("packed", {}),
    ("packed", {"layout": "old"}),
    ("packed", {"deep": 1}),
    ("message", {}),
]


@pytest.fixture(scope="module", autouse=True)
def _package(tmp_path_factory):
    out = tmp_path_factory.mktemp("encode_specs")
    specs = shutil.copytree(SPECS, tmp_path_factory.mktemp("specs") / "specs")  # the language's schema is put there
    pipeline.generate(Project(specs, out, PACKAGE))
    sys.path.insert(0, str(out))
    yield
    sys.path.remove(str(out))


def written(codec: Any, format: Any, parameters: dict[str, Any]) -> pa.StructArray:
    """Columns of values of the model."""
    rows: list[pa.StructArray] = []
    record = codec.root(None).logical

    @MANY
    @given(values(format, codec.default_root, parameters))
    def collect(value: Any) -> None:
        absent = dict.fromkeys(("any", "either")) if parameters.get("layout") == "old" else {}
        rows.append(arrow.to_struct_array([value | absent], record))

    collect()
    return pa.concat_arrays(rows)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_rows_are_written_as_built_or_left_to_the_construct_path(name, parameters):
    codec = importlib.import_module(f"{PACKAGE}.{name}").CODEC
    format = next(each for each in specs_below(SPECS).formats if each.name == name)
    request = engines.Request(codec.default_root, codec.settings(parameters))
    records = written(codec, format, parameters)
    assert encoding.compare(codec.engine, records, request) == []
    found, given_up = encoding.written(codec.engine, records, request)
    assert len(given_up) < len(records) / 2
    assert found.type == pa.binary()
    good = records.filter(pa.array([row not in given_up for row in range(len(records))]))
    read = codec.decode(codec.encode(good, **parameters), **parameters)
    assert read.errors.null_count == len(good)
    assert codec.encode(read.records, **parameters).equals(codec.encode(good, **parameters))
    altered = list(encoding.altered(read.records.to_pylist(), 300, 4))
    batch = encoding.as_columns(altered, records.type)
    assert encoding.compare(codec.engine, batch, request) == []
