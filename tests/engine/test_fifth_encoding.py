"""A fifth encoding needs only an entry in the registry of each stage, and no change of a stage.

docs/decisions/0023 lists the files.
"""

from unittest.mock import patch

import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

from engine.fifth import registered
from proof.modules import documents, generated, resolved
from wireloom.pages.page import files
from wireloom.problems import SpecProblems
from wireloom.runtime import engine as engines
from wireloom.runtime.engine.compiler import program as reading
from wireloom.runtime.engine.encoder import program as writing
from wireloom.runtime.errors import DecodeError, EncodeError

SPEC = {
    "wireloom": 1,
    "format": "probe",
    "title": "Probe",
    "root": "Record",
    "encoding": "columns",
    "types": {
        "Record": {
            "fields": [
                {"name": "str(6)"},
                {"kind": {"type": "str(2)", "const": "KA"}},
                {"total": {"type": "dec5", "range": "0 .. 500"}},
                {"more": {"type": "str(2)", "when": "total > 99"}},
                {"length": {"type": "dec1", "derive": "count(marks)", "hidden": True}},
                {"marks": {"type": "list(dec2)", "count": "length"}},
            ]
        }
    },
}
RECORDS = {
    b"anna  KA000420": {"name": "anna", "kind": "KA", "total": 42, "more": None, "marks": []},
    b"ludwigKA00123x 20107": {"name": "ludwig", "kind": "KA", "total": 123, "more": "x", "marks": [1, 7]},
}
BAD = {
    b"anna  KA0042": ("truncated", "total", 8),
    b"anna  KA0042x0": ("int_range", "total", 8),
    b"anna  KA005010": ("out_of_range", "total", 8),
    b"anna  KB000420": ("bad_constant", "kind", 6),
    b"anna  KA0004200": ("trailing_bytes", "", 14),
    b"ann\xff  KA000420": ("invalid_utf8", "name", 3),
}


@pytest.fixture(scope="module")
def made():
    with registered(), generated(resolved(documents({"probe.yaml": SPEC}))) as made:
        yield made


def test_records_are_read_and_written_by_parser_and_engine(made):
    codec = made.module.CODEC
    for data, value in RECORDS.items():
        assert codec.parse(data) == value
        assert codec.build(value) == data
    decoded = codec.decode(pa.array(RECORDS))
    assert decoded.records.to_pylist() == list(RECORDS.values())
    assert made.module.encode(decoded.records).to_pylist() == list(RECORDS)


@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_the_engine_leaves_nothing_to_the_parser(made):
    assert made.module.CODEC.decode_path().native
    assert made.module.CODEC.encode_path().native


def test_without_programs_the_parser_reads_and_the_builders_write():
    with (
        registered(),
        patch.dict(reading.OTHERS, clear=True),
        patch.dict(writing.OTHERS, clear=True),
        generated(resolved(documents({"probe.yaml": SPEC}))) as made,
    ):
        paths = made.module.CODEC.decode_path(), made.module.CODEC.encode_path()
        assert [(each.native, each.reason) for each in paths] == [(False, "the encoding columns")] * 2
        decoded = made.module.decode(pa.array(RECORDS)).records
        assert decoded.to_pylist() == list(RECORDS.values())
        assert made.module.encode(decoded).to_pylist() == list(RECORDS)


def test_parser_and_engine_find_the_same_errors(made):
    decoded = made.module.CODEC.decode(pa.array(BAD)).errors.to_pylist()
    for (data, expected), found in zip(BAD.items(), decoded, strict=True):
        with pytest.raises(DecodeError) as raised:
            made.module.parse(data)
        assert (raised.value.code, raised.value.path, raised.value.offset) == expected
        assert (found["code"], found["path"], found["offset"]) == expected


def test_a_text_that_has_no_room_is_an_encode_error(made):
    with pytest.raises(EncodeError):
        made.module.build({**RECORDS[b"anna  KA000420"], "name": "annemarie"})


def test_schema_and_page_know_it(made):
    for data, value in RECORDS.items():
        assert made.module.validate(data) == made.module.validate(value) == []
        Draft202012Validator(made.schema).validate({name: each for name, each in value.items() if each is not None})
    page = files(made.format, {})["probe.md"]
    assert "UTF-8 text of 6 bytes" in page
    assert "5 decimal digits in ASCII" in page


def test_a_type_that_it_lacks_has_something_instead():
    fields = [{"name": "uint16"}]
    with registered(), pytest.raises(SpecProblems) as raised:
        resolved(documents({"probe.yaml": {**SPEC, "types": {"Record": {"fields": fields}}}}))
    (problem,) = raised.value.problems
    assert (problem.id, problem.hint) == ("wrong-encoding", "write dec5, of five digits")
    assert problem.message == "uint16 has no form in columns"
