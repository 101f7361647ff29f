"""Every example of every spec, shipped or in tests/cases, as `wireloom test` runs them."""

import importlib
from functools import cache
from pathlib import Path

import pytest

from conftest import CASES, SPECS
from wireloom import pipeline
from wireloom.examples import Failure
from wireloom.model.format import Example, Format
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.values import sourceless

# Values that building and decoding does not give again: what builders derive, or cannot bring back, is part of them.
NOT_AGAIN = {
    ("kpl_record", "an aggregate without user records"): "only an unknown field makes such a message long enough",
    ("kpl_record", "the same up to the bad record"): "lost user records cannot be built, so none is counted",
    ("kpl_record", "a hash key outside of the shard"): "discarded records cannot be built",
    ("wide_keys", "one outside of the range"): "discarded records cannot be built",
    ("wide_keys_strict", "a level that is too low"): "the same",
    ("wide_keys_strict", "a number that is excluded"): "the same",
    ("wide_keys_strict", "a text that is no number, and one that is too large"): "the same",
}


@cache
def specs(folder: Path) -> pipeline.Specs:
    return pipeline.read(folder)


@cache
def failures(folder: Path) -> dict[tuple[str, str], Failure]:
    report = pipeline.try_examples(specs(folder))
    return {(failure.format, failure.example): failure for failure in report.failures}


EXAMPLES = [
    pytest.param(folder, format, example, id=f"{format.name}: {example.name}")
    for folder in (SPECS, CASES)
    for format in specs(folder).formats
    for example in format.examples
]


@pytest.mark.parametrize(("folder", "format", "example"), EXAMPLES)
def test_the_example_holds(folder: Path, format: Format, example: Example):
    failure = failures(folder).get((format.name, example.name))
    assert failure is None, str(failure)


REBUILT_OTHERWISE = [each for each in EXAMPLES if each.values[2].error is None and not each.values[2].rebuilds]


@pytest.mark.parametrize(("folder", "format", "example"), REBUILT_OTHERWISE)
def test_bytes_built_otherwise_mean_the_same(folder: Path, format: Format, example: Example, case_package):
    package = "wireloom_formats" if folder == SPECS else case_package.__name__
    module = importlib.import_module(f"{package}.{format.name}")
    settings = {"root": example.root, **dict(example.parameters)}
    value = module.parse(example.data, **settings)
    assert module.parse(module.build(value, **settings), **settings) == value
    try:
        again = module.parse(module.build(sourceless(value), **settings), **settings)
    except EncodeError:
        again = None
    assert (again == value) == ((format.name, example.name) not in NOT_AGAIN)


def test_every_format_has_good_and_bad_examples():
    for format in specs(SPECS).formats:
        assert any(example.error is None for example in format.examples), format.name
