"""Columns can hold every value of their type, on every decoding path."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from codec.test_small_records import record
from wireloom.runtime.errors import DecodeError

ONES = "ff" * 8
INT_OR_UINT = {"type": {"select": "signed", "cases": {"true": "int64", "false": "uint64"}}}
LISTS = {"type": {"select": "signed", "cases": {"true": "list(int64)", "false": "list(uint64)"}}}
WORDS = {"type": "uint8", "values": {0: 2**64 - 1, 1: 5}}
SIGNED_WORDS = {"type": "uint8", "values": {0: 2**64 - 1, 1: -5}}
UNSIGNED_BITS = {"type": "int64", "bits": {"bits": "0..63"}}
SIGNED_BITS = {"type": "uint64", "bits": {"high": {"at": "3..63", "signed": True}, "low": "0..2"}}

CASES: dict[str, tuple[list[Any], str, dict[str, Any]]] = {
    "unsigned integers": (
        [{"a": "uint64"}, {"b": "uint32"}, {"c": "uint16"}],
        "ff" * 14,
        {"a": 2**64 - 1, "b": 2**32 - 1, "c": 65535},
    ),
    "an integer of either sign": ([{"signed": "bool"}, {"n": INT_OR_UINT}], "01" + ONES, {"signed": True, "n": -1}),
    "an integer without a sign": (
        [{"signed": "bool"}, {"n": INT_OR_UINT}],
        "00" + ONES,
        {"signed": False, "n": 2**64 - 1},
    ),
    "lists of either": ([{"signed": "bool"}, {"n": LISTS}], "00" + ONES, {"signed": False, "n": [2**64 - 1]}),
    "a large meaning": ([{"word": WORDS}], "00", {"word": 2**64 - 1}),
    "a large meaning and a negative one": ([{"word": SIGNED_WORDS}], "01", {"word": -5}),
    "64 bits without a sign": ([{"all": UNSIGNED_BITS}], ONES, {"all": -1, "bits": 2**64 - 1}),
    "61 bits with a sign": ([{"all": SIGNED_BITS}], ONES, {"all": 2**64 - 1, "high": -1, "low": 7}),
    "a sum of two": (
        [{"a": "uint64"}, {"sum": {"compute": "a + a", "type": "uint128"}}],
        ONES,
        {"a": 2**64 - 1, "sum": str(2**65 - 2)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_holds(case, tmp_path):
    fields, data, wanted = CASES[case]
    with record(tmp_path, *fields) as format:
        decoded = format.decode(pa.array([bytes.fromhex(data)]))
        (row,) = decoded.records.to_pylist()
        assert plain(row) == wanted
        value = format.parse(bytes.fromhex(data))
        assert format.from_canonical(format.to_canonical(value)) == value
        assert {name: str(each) for name, each in value.items()} == {name: str(each) for name, each in wanted.items()}


def plain(value: Any) -> Any:
    """Decimals as integers."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case Decimal():
            return int(value)
        case _:
            return value


def test_a_meaning_that_is_computed_is_held_against_its_type(tmp_path):
    word = {"type": "uint8", "values": {0: "= a * 4294967296 * 4", 1: "= 0 - a"}}
    with record(tmp_path, {"a": "uint32"}, {"word": word}) as format:
        decoded = format.decode(pa.array([bytes.fromhex("ffffffff00"), bytes.fromhex("ffffffff01")]))
        assert [row and row["word"] for row in decoded.records.to_pylist()] == [None, -(2**32 - 1)]
        assert [error and (error["code"], error["path"]) for error in decoded.errors.to_pylist()] == [
            ("int_range", "word"),
            None,
        ]
        with pytest.raises(DecodeError, match="int_range at word, byte 4"):
            format.parse(bytes.fromhex("ffffffff00"))
