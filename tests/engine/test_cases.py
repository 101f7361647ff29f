"""The engine covers formats that we do not ship, and equals the parser on mutants of their examples."""

import importlib

import pyarrow as pa
import pytest

import differential
from conftest import case_formats
from support.drawing import drawn
from support.without_engine import LEFT
from wireloom.runtime import engine as engines

pytestmark = [
    pytest.mark.drawing,
    pytest.mark.skipif(not engines.available(), reason="the native engine is not built"),
]

COVERED = [format for format in case_formats() if format.name not in LEFT]


@pytest.mark.parametrize("name", LEFT)
def test_what_the_engine_leaves_to_the_parser_is_said(name, case_package):
    codec = importlib.import_module(f"{case_package.__name__}.{name}").CODEC
    examples = [each.data for format in case_formats() if format.name == name for each in format.examples]
    assert codec.decode_path().reason == LEFT[name]
    assert not codec.encode_path().native
    assert len(codec.decode(pa.array(examples, pa.binary())).errors) == len(examples)


@pytest.mark.parametrize("explode", [False, True], ids=["nested", "flat"])
@pytest.mark.parametrize("format", COVERED, ids=lambda format: format.name)
def test_engine_and_parser_agree_on_mutants_of_the_examples(format, explode, case_package):
    engine = importlib.import_module(f"{case_package.__name__}.{format.name}").CODEC.engine
    examples = [example for example in format.examples if example.root == engine.codec.default_root]
    given = list({repr(example.parameters): example.parameters for example in examples}.values())
    seeds = [example.data for example in examples]
    for parameters in given:
        request = engines.Request(engine.codec.default_root, engine.codec.settings(dict(parameters)), explode=explode)
        records = [
            *seeds,
            *differential.altered(engine, seeds, drawn(20 if explode else 40) // len(given), 7, request),
        ]
        assert differential.compare(engine, records, request) == [], parameters


@pytest.mark.parametrize("format", COVERED, ids=lambda format: format.name)
def test_what_is_left_out_of_a_case_changes_nothing_else(format, case_package):
    engine = importlib.import_module(f"{case_package.__name__}.{format.name}").CODEC.engine
    root = engine.codec.root(None)
    seeds = [example.data for example in format.examples if example.root == engine.codec.default_root]
    for name in [] if root.elements else [field.name for field in root.logical.fields]:
        request = engines.Request(engine.codec.default_root, engine.codec.settings({}), (name,))
        records = [*seeds, *differential.altered(engine, seeds, drawn(4), 11, request)]
        assert differential.compare(engine, records, request) == [], name
