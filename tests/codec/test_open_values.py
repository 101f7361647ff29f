"""Open values as wire bytes: columns show them, and only a single complete value is written back."""

import json

import pyarrow as pa
import pytest

from wireloom.runtime.errors import EncodeError
from wireloom_formats import aerospike_json, aerospike_msgpack

HEAD = "9301019594a474657374a464656d6fc414000102030405060708090a0b0c0d0e0f10111213070300cf0000017886ac90fc91"
VALUE = bytes.fromhex("92d20000000781a16bc0")  # a list of 7 in four bytes and a map
PACKED = bytes.fromhex(HEAD) + bytes.fromhex("94a16c1400") + VALUE


def json_record(text):
    """The first example with a list among its bins, which is `text` now."""
    record = aerospike_json.build(aerospike_msgpack.parse(PACKED))
    assert record.count(b'[7,{"k":null}]') == 1
    return record.replace(b'[7,{"k":null}]', text)


def shown(module, record):
    found = module.decode(pa.array([record], pa.binary()), open_values="binary").records
    assert found.null_count == 0
    return found, found.field("bins")[0][0]["value"]["variant"].as_py()


def test_messagepack_keeps_the_widths_of_the_wire():
    found, data = shown(aerospike_msgpack, PACKED)
    assert data == VALUE
    assert VALUE in aerospike_msgpack.encode(found)[0].as_py()


def test_json_keeps_the_text_of_the_member_without_the_space_around_it():
    found, data = shown(aerospike_json, json_record(b'  [7 , {"k":\tnull} ] '))
    assert data == b'[7 , {"k":\tnull} ]'
    again = aerospike_json.encode(found)[0].as_py()
    assert json.loads(again)["bins"] == json.loads(json_record(data))["bins"]


@pytest.mark.parametrize(
    ("data", "message"),
    [(VALUE * 2, "bytes of one value"), (VALUE[:-1], "truncated"), (b"", "a list"), (b"\xc1", "a list")],
)
def test_bytes_that_are_not_one_value_are_refused(data, message):
    with pytest.raises(EncodeError, match=message):
        aerospike_msgpack.encode(replaced(shown(aerospike_msgpack, PACKED)[0], data))


@pytest.mark.parametrize("data", [b"[7]]", b"[7", b"", b'{"a":1,"a":2}'])
def test_text_that_is_not_one_value_is_refused(data):
    with pytest.raises(EncodeError):
        aerospike_json.encode(replaced(shown(aerospike_json, json_record(b"[7]"))[0], data))


def replaced(records, data):
    """The record with other bytes in its one open value."""
    rows = records.to_pylist()
    rows[0]["bins"][0]["value"]["variant"] = data
    return pa.array(rows, records.type)


def test_null_is_null_and_equal_keys_count_whatever_their_width():
    rows = [PACKED[: -len(VALUE)] + value for value in (b"\x91\xc0", b"\x92\xc0\x01", b"\x91\x82\x01\xc0\xcc\x01\xc0")]
    found = aerospike_msgpack.decode(pa.array(rows, pa.binary()), open_values="binary")
    assert [each and each["code"] for each in found.errors.to_pylist()] == [None, None, "duplicate_key"]


def test_columns_have_the_type_of_the_form():
    for form, type in (("json", pa.string()), ("binary", pa.binary())):
        bins = aerospike_msgpack.decode(pa.array([], pa.binary()), open_values=form).records.type.field("bins")
        assert bins.type.value_type.field("value").type.field("variant").type == type
