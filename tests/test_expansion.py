"""A record whose fields refer to a long entry of a table again and again is a bad one, not gigabytes of columns."""

import hashlib

import pyarrow as pa
import pytest

from wireloom.runtime.errors import DecodeError
from wireloom_formats import kpl_record

KEY, TIMES = b"k" * 100_000, 25_000


@pytest.fixture(scope="module")
def aggregate() -> bytes:
    """A quarter of a megabyte that would be two and a half gigabytes."""
    message = b"\x0a\xa0\x8d\x06" + KEY + b"\x1a\x04\x08\x00\x1a\x00" * TIMES
    return b"\xf3\x89\x9a\xc2" + message + hashlib.md5(message, usedforsecurity=False).digest()


def test_the_parser_refuses_it_where_it_is_too_much(aggregate: bytes) -> None:
    """67 108 864 bytes are 671 keys; the next is refused at its own path."""
    with pytest.raises(DecodeError) as refusal:
        kpl_record.parse(aggregate)
    assert (refusal.value.code, refusal.value.path) == ("size_limit", "message.records[671].partition_key_index")


@pytest.mark.parametrize("columns", [None, ["kind"], ["lost"]], ids=str)
def test_the_engine_gives_one_error_whatever_is_asked_for(aggregate: bytes, columns: list[str] | None) -> None:
    """A projection never changes which records are good."""
    plain = b"plain"
    decoded = kpl_record.decode(pa.array([plain, aggregate, plain]), columns)
    assert decoded.errors.field("code").to_pylist() == [None, "size_limit", None]
    assert decoded.records.is_valid().to_pylist() == [True, False, True]
