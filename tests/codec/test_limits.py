"""Limits for sizes, depths and counts that come from untrusted records."""

import pyarrow as pa
import pytest

import wireloom_formats
from wireloom.runtime.errors import DecodeError


@pytest.fixture
def message_pack():
    return wireloom_formats.load("aerospike_msgpack")


def test_a_record_beyond_the_size_limit_is_refused_before_it_is_read(message_pack):
    with pytest.raises(DecodeError) as refused:
        message_pack.parse(b"\x90" * 100, root="batch_keys", max_size=99)
    assert (refused.value.code, refused.value.path, refused.value.offset) == ("size_limit", "", 0)
    assert message_pack.parse(b"\x90", root="batch_keys", max_size=1) == []


def test_a_depth_limit_beyond_the_stack_is_a_depth_limit_all_the_same(message_pack):
    key = b"\x94\xa1n\xc0\xc4\x14" + bytes(20) + b"\xc0"
    bin_value = b"\x91" * 50_000 + b"\x90"
    message = b"\x93\x01\x01\x95" + key + b"\xc0\xc0\xc0\x91\x94\xa1b\x14\x00" + bin_value
    for max_depth in (64, 1_000_000):
        with pytest.raises(DecodeError) as refused:
            message_pack.parse(message, max_depth=max_depth)
        assert refused.value.code == "depth_limit"


def test_containers_that_few_stacks_hold_are_left_to_the_parser():
    """Of JSON, the engine reads as many open values in one another as any stack of Python's holds."""
    text = wireloom_formats.load("aerospike_json")
    key = b'["shop","cart","ICEiIyQlJicoKSorLC0uLzAxMjM=",7]'
    line = b'{"msg":"write","key":%b,"gen":3,"exp":0,"lut":0,"bins":[{"name":"l","type":"list","value":%b}]}'
    for levels in (60, 70, 300):
        nested = line % (key, b"[" * levels + b"]" * levels)
        decoded = text.CODEC.decode(pa.array([nested], pa.binary()), max_depth=1000)
        try:
            value = text.parse(nested, max_depth=1000)
        except DecodeError as error:
            assert decoded.errors[0]["code"].as_py() == error.code == "depth_limit"
        else:
            assert decoded.errors.null_count == 1
            assert text.CODEC.build(value, max_depth=1000)
        assert decoded.reread == (levels > 64)


def test_a_declared_count_is_held_against_the_bytes_left(message_pack):
    with pytest.raises(DecodeError) as refused:
        message_pack.parse(b"\xdd\xff\xff\xff\xff\x93\x01", root="batch_records")
    assert refused.value.code == "truncated"
