"""The engine on formats that nobody shipped: it covers them, and equals the parser on mutants of their examples."""

import importlib
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("bench", "fuzz")]

import differential  # noqa: E402

from conftest import CASE_PACKAGE, case_formats  # noqa: E402
from wireloom.runtime import engine as engines  # noqa: E402

pytestmark = pytest.mark.skipif(not engines.available(), reason="the native engine is not built")


@pytest.mark.parametrize("explode", [False, True], ids=["nested", "flat"])
@pytest.mark.parametrize("format", case_formats(), ids=lambda format: format.name)
def test_engine_and_parser_agree_on_mutants_of_the_examples(format, explode, case_package):
    assert case_package is not None
    engine = importlib.import_module(f"{CASE_PACKAGE}.{format.name}").CODEC.engine
    request = engines.Request(engine.codec.default_root, engine.codec.settings({}), explode=explode)
    seeds = [example.data for example in format.examples if example.root == engine.codec.default_root]
    records = [*seeds, *differential.altered(engine, seeds, 3000, 7, request)]
    assert differential.compare(engine, records, request) == []
