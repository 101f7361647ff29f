"""Every example of every spec, shipped or in tests/cases, passes as in `wireloom test`."""

import importlib
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import CASES, SPECS, specs_below
from support.without_engine import LEFT
from wireloom import pipeline
from wireloom.examples import Failure
from wireloom.model.format import Example, Format
from wireloom.runtime import engine as engines
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.values import sourceless

# Values that building and decoding does not give again: what builders derive, or cannot bring back, is part of them.
NOT_AGAIN = {
    ("databus_event", "a little-endian event, byte order unknown"): "no member says the order; other checksums follow",
    ("kpl_record", "an aggregate without user records"): "only an unknown field makes such a message long enough",
    ("kpl_record", "the same up to the bad record"): "lost user records cannot be built, so none is counted",
    ("kpl_record", "a hash key outside of the shard"): "discarded records cannot be built",
    ("wide_keys", "one outside of the range"): "discarded records cannot be built",
    ("wide_keys_strict", "a level that is too low"): "the same",
    ("wide_keys_strict", "a number that is excluded"): "the same",
    ("wide_keys_strict", "a text that is no number, and one that is too large"): "the same",
}

_CODE = "which code an alternative fails with is part of the value, and the engine knows only that it fails"
_NUMBER = "an expression has a number beyond 63 bits, or a result beyond 64"
_PIECES = "a message came in pieces that others stand between, or without a part; the parser puts it together"
_REPLACED = "text that is not UTF-8 is replaced by the parser"
# Valid examples that the engine leaves to the parser, each with the reason.
REREAD = {
    ("kpl_record", "the same as one plain record"): _CODE,
    ("kpl_record", "the same up to the bad record"): "which records come before the bad one is the parser's to say",
    ("kpl_record", "broken protobuf as one plain record"): _CODE,
    ("kpl_record", "the same, replaced"): _REPLACED,
    ("kafka_record_batch", "the same, read as Java clients do"): _REPLACED,
    ("beyond_63_bits", "numbers beyond"): _NUMBER,
    ("expressions", "the product is beyond 128 bits, and so is null"): _NUMBER,
    ("expressions", "the first alone, and a shift by less than 0"): "such a shift is null, as the parser has it",
    ("expressions", "nothing is divided by zero"): "a division by zero is null, as the parser has it",
    ("items", "a number of eight bytes"): _NUMBER,
    ("change_that_fits", "a current one"): _CODE,
    ("tried_note", "another word"): _CODE,
    ("tried_note", "no JSON behind the mark"): _CODE,
    ("protobuf_groups", "a message of a group that another field drove out in between"): _PIECES,
    ("protobuf_groups", "of entries of one key the last counts"): "entries of one key are put together by the parser",
    ("protobuf_groups", "entries that lack their key, their value or both"): _PIECES,
    ("recursive_message", "and several pieces of it are one"): _PIECES,
    ("some_elements", "an event whose points have what their flags say"): _CODE,
    ("some_elements", "no last point of a single one"): _CODE,
    ("some_elements", "a note behind"): _CODE,
    ("some_elements", "a note and a level"): _CODE,
    ("varints", "of many bytes"): _NUMBER,
    ("wire_groups", "a group that another field drove out"): _PIECES,
    ("wire_groups", "a group that came back without what it had"): _PIECES,
}


@cache
def failures(folder: Path) -> dict[tuple[str, str], Failure]:
    report = pipeline.try_examples(specs_below(folder))
    return {(failure.format, failure.example): failure for failure in report.failures}


EXAMPLES = [
    pytest.param(folder, format, example, id=f"{format.name}: {example.name}")
    for folder in (SPECS, CASES)
    for format in specs_below(folder).formats
    for example in format.examples
]


@pytest.mark.parametrize(("folder", "format", "example"), EXAMPLES)
def test_the_example_holds(folder: Path, format: Format, example: Example):
    failure = failures(folder).get((format.name, example.name))
    assert failure is None, str(failure)


VALID = [each for each in EXAMPLES if each.values[2].error is None]


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
@pytest.mark.parametrize(("folder", "format", "example"), [each for each in VALID if each.values[1].name not in LEFT])
def test_the_engine_reads_the_example_by_itself(folder: Path, format: Format, example: Example, case_package):
    package = "wireloom_formats" if folder == SPECS else case_package.__name__
    codec = importlib.import_module(f"{package}.{format.name}").CODEC
    request = engines.Request(example.root, codec.settings(dict(example.parameters)))
    assert codec.engine.decode_path(request).native, codec.engine.decode_path(request).reason
    decoded = codec.decode_request(pa.array([example.data], pa.binary()), request)
    assert decoded.reread == ((format.name, example.name) in REREAD)


def test_what_the_engine_leaves_to_the_parser_are_valid_examples():
    assert REREAD.keys() <= {(each.values[1].name, each.values[2].name) for each in VALID}


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
    for format in specs_below(SPECS).formats:
        assert any(example.error is None for example in format.examples), format.name
