"""Named versions in Python: choosing the version to write, and errors about members that it lacks."""

import importlib

import pyarrow as pa
import pytest

from conftest import CASE_PACKAGE
from wireloom.runtime.errors import EncodeError, ParameterError

PARTS = {"device": 7, "kind": "walk", "points": [{"x": 1, "y": 2}]}
OF_V1 = {"kind": "plain", "id": 5, "value": 7, "old": 1}


@pytest.fixture
def module(case_package, request):
    return importlib.import_module(f"{CASE_PACKAGE}.{request.param}")


def meter(**members: object) -> dict[str, object]:
    """A reading of the meter, without its version."""
    value = {"head": {"flags": 5}, "mode": "idle", "dry": False, "kind": "point", "body": {"x": 7}, "parts": []}
    return {**value, **members}


@pytest.mark.parametrize("module", ["meter_by_number"], indirect=True)
@pytest.mark.parametrize(
    ("version", "head"), [("v1", "4d0105"), ("v2", "4d020005"), ("v3", "4d040005")], ids=["v1", "v2", "v3"]
)
def test_build_writes_the_version_that_is_asked_for(module, version, head):
    data = module.build(meter(), version=version)
    assert data.hex().startswith(head)
    assert module.parse(data)["formatVersion"] == version


@pytest.mark.parametrize("module", ["meter_by_number"], indirect=True)
@pytest.mark.parametrize(
    ("members", "version", "path", "message"),
    [
        ({"parts": [{"id": 1, "weight": 2}]}, "v2", "parts[0].grams", "an integer, found null"),
        ({"dry": True, "checked": 9}, "v1", "checked", "null: version v1 does not have it, found 9"),
        ({"mode": "asleep"}, "v1", "mode", "mode != 'asleep' or head.version >= 2"),
        ({"kind": "area", "body": {"x": 1, "y": 2}}, "v2", "body", "a value for the case 'area', found no such case"),
        ({"head": {"version": 1, "flags": 5}}, "v2", "head.version", "2, as version v2 has it, found 1"),
    ],
    ids=["a member lacks", "a member too many", "a word", "a case", "another version"],
)
def test_what_the_version_does_not_have_is_an_error_at_its_path(module, members, version, path, message):
    with pytest.raises(EncodeError) as raised:
        module.build(meter(**members), version=version)
    assert raised.value.path == path
    assert message in str(raised.value)


@pytest.mark.parametrize("module", ["meter_by_number"], indirect=True)
def test_what_the_version_that_a_value_says_does_not_have_is_an_error_with_its_name(module):
    told = module.parse(module.build(meter(dry=True), version="v1"))
    with pytest.raises(EncodeError, match="checked: expected null: version v1 does not have it, found 9"):
        module.build({**told, "checked": 9})


@pytest.mark.parametrize("module", ["track_that_fits"], indirect=True)
@pytest.mark.parametrize(
    ("members", "version"),
    [
        ({}, "v1"),
        ({"speed": 3}, "v2"),
        ({"speed": 3, "points": [{"x": 1, "y": 2, "z": 3}]}, "v3"),
    ],
)
def test_without_a_version_the_newest_is_written_that_has_a_place_for_all_members(module, members, version):
    data = module.build({**PARTS, **members})
    assert module.parse(data)["formatVersion"] == version
    assert data == module.build({**PARTS, **members}, version=version)


@pytest.mark.parametrize("module", ["note_by_text"], indirect=True)
def test_a_text_that_the_value_lacks_is_found_by_its_members(module):
    built = module.build({"kind": "list", "author": {"name": "a", "mail": "b"}, "body": {"items": ["c"]}})
    assert module.parse(built)["version"] == "2.0"
    assert module.parse(module.build({"kind": "text", "text": "a", "author": {"name": "b"}}))["version"] == "1.1"


@pytest.mark.parametrize("module", ["probe_by_parameter"], indirect=True)
def test_a_version_that_a_parameter_tells_is_that_parameter(module):
    assert module.build(OF_V1, version="v1") == module.build(OF_V1, firmware="v1") == bytes.fromhex("01050701")
    assert b"".join(module.iter_build([OF_V1], version="v1", framing="size:4")) == bytes.fromhex("01050701")
    with pytest.raises(EncodeError, match="old: expected null: version v2 does not have it, found 1"):
        module.build(OF_V1, version="v2")
    with pytest.raises(ParameterError, match="firmware is 'v1', and version v2 is 'v2'; give one of them"):
        module.build(OF_V1, version="v2", firmware="v1")


@pytest.mark.parametrize("module", ["event_by_number"], indirect=True)
def test_columns_without_a_version_are_of_the_one_that_is_asked_for(module):
    rows = pa.RecordBatch.from_pylist([{"id": 5, "source": "a"}], schema=module.ARROW_SCHEMA)
    assert module.encode(rows, version="old").to_pylist() == [bytes.fromhex("930105a161")]
    assert list(module.encode_stream(rows, version="old", framing="concatenated")) == [bytes.fromhex("930105a161")]
    rows = pa.RecordBatch.from_pylist([{"id": 5, "level": 1, "tags": []}], schema=module.ARROW_SCHEMA)
    assert module.decode(module.encode(rows)).records.field("layout").to_pylist() == ["new"]
    told = pa.RecordBatch.from_pylist([{"layout": "new", "id": 5, "level": 1, "tags": []}], schema=module.ARROW_SCHEMA)
    with pytest.raises(EncodeError, match=r"\[0\].layout: expected 'old', as version old has it, found 'new'"):
        module.encode(told, version="old")


@pytest.mark.parametrize("module", ["event_by_number"], indirect=True)
def test_a_version_that_there_is_not_is_misuse(module):
    with pytest.raises(ParameterError, match="event_by_number has no version 'v9'; there are old, new"):
        module.build({"id": 5}, version="v9")


@pytest.mark.parametrize("module", ["sensor_frame"], indirect=True)
def test_a_format_without_versions_has_no_such_keyword(module):
    with pytest.raises(ParameterError, match="no parameter 'version'"):
        module.CODEC.build({}, version="v1")


@pytest.mark.parametrize("module", ["track_that_fits", "event_by_number", "probe_by_parameter"], indirect=True)
def test_the_metrics_count_versions(module):
    assert module.CODEC.versions is not None
    column = {"track_that_fits": "formatVersion", "event_by_number": "layout", "probe_by_parameter": "firmwareVersion"}
    assert column[module.FORMAT] in module.CODEC.root(None).kinds


@pytest.mark.parametrize("module", ["batch_of_versions"], indirect=True)
def test_a_version_is_of_each_record_of_a_list_and_of_no_other_root(module):
    value = {"s": {"a": 2}, "p": {"l": 3}}
    assert module.build([value, value], root="batch", version="v1").hex() == "010203" * 2
    assert module.build(value).hex() == "010203"  # version 2 needs more members
    with pytest.raises(ParameterError, match="records of the root other have no version"):
        module.build({"q": 1}, root="other", version="v1")
