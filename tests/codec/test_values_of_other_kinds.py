"""Values and columns of other kinds than the format's are accepted if equal, otherwise errors of their rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import yaml

from proof.modules import Made, documents, generated, resolved
from wireloom.runtime.errors import EncodeError

LATE = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=-14)))


@contextmanager
def made(field: str, encoding: str = "binary") -> Iterator[Made]:
    """The module of a format of one field."""
    head = {"wireloom": 1, "format": "kinds", "title": "Kinds", "encoding": encoding, "root": "R"}
    spec = head | {"types": {"R": {"fields": [{"v": yaml.safe_load(field)}]}}}
    with generated(resolved(documents({"kinds.yaml": spec}))) as module:
        yield module


def encoded(codec: Any, column: pa.Array) -> list[bytes] | str:
    """The records, or the error of the first bad value."""
    try:
        return list(codec.encode(pa.StructArray.from_arrays([column], ["v"])).to_pylist())
    except EncodeError as error:
        return str(error)


def by_both_paths(field: str, column: pa.Array) -> list[bytes] | str:
    """The engine's result for a column, which must equal the builders'."""
    with made(field) as module:
        codec = module.module.CODEC
        found = encoded(codec, column)
        assert found == encoded(replace(codec, layout=None), column)
        return found


DECIMAL, DAY, SPAN = (
    "{type: int16, scale: 0.01}",
    "{type: int32, logical: date}",
    "{type: int64, logical: {duration: ms}}",
)
WORDS = "{type: uint8, values: {1: '7', 2: '8'}, raw: w}"


@pytest.mark.parametrize(
    ("field", "column"),
    [
        (DECIMAL, pa.array([1.2345])),
        (DECIMAL, pa.array(["1.25"])),
        (DECIMAL, pa.array([True])),
        (DAY, pa.array([datetime(2026, 1, 1, 5, tzinfo=UTC)])),
        (DAY, pa.array([5], pa.int32())),
        (DAY, pa.array([86_400_005], pa.int64()).view(pa.date64())),
        (SPAN, pa.array([5000])),
        ("{type: bytes(4), logical: ipv4}", pa.array([b"1.2.3.4"])),
        ("{type: str(2), charset: latin-1}", pa.array([12])),
        (WORDS, pa.array([7])),
        ("int64", pa.array(["1"])),
        ("uint64", pa.array(["1"])),
        ("{type: int16, null: 7}", pa.array(["1"])),
        ("{type: str, logical: int32}", pa.array(["1"])),
    ],
)
def test_columns_of_other_kinds_are_what_builders_make_of_their_values(field, column):
    """A cast would round them, or read their texts."""
    assert isinstance(by_both_paths(field, column), str)


@pytest.mark.parametrize(
    ("field", "column"),
    [
        (DECIMAL, pa.array([Decimal("1.25")])),
        (DECIMAL, pa.array([7])),
        (DAY, pa.array([date(2026, 1, 31)])),
        ("{type: str(2), charset: latin-1}", pa.array(["ab"], pa.large_string())),
        (WORDS, pa.array(["7", "8"], pa.string_view())),
    ],
)
def test_columns_that_say_the_same_are_written_by_the_engine(field, column):
    assert isinstance(by_both_paths(field, column), list)


@pytest.mark.parametrize("encoding", ["binary", "json", "msgpack"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("{type: str, logical: timestamp}", LATE),
        ("{type: float32, null: 3}", 10**400),
        ("{type: uint8, const: 1}", Decimal("sNaN")),
        ("{type: int16}", Decimal("sNaN")),
    ],
)
def test_numbers_that_cannot_be_computed_with_are_errors_of_the_value(encoding, field, value):
    with made(field, encoding) as module, pytest.raises(EncodeError):
        module.module.build({"v": value})


def test_values_without_a_rendering_are_errors():
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    with made("{type: int16, scale: 0.01}", "json") as module:
        for value in (10**400, deep):
            with pytest.raises(EncodeError):
                module.module.to_canonical({"v": value})
        with pytest.raises(EncodeError):
            module.module.from_canonical({"v": deep})
    with made("bytes", "msgpack") as module, pytest.raises(EncodeError):
        module.module.build({"v": memoryview(b"abcd")[::2]})


def test_a_slice_of_large_lists_of_run_ends_is_an_error_of_its_row():
    """Arrow's cast of such a slice is invalid, and accessing it crashes the process."""
    text = pa.array(["x"] * 6)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([6], pa.int32()), pa.array([b"y"]))
    elements = pa.StructArray.from_arrays([text, runs], ["a", "b"])
    lists = pa.LargeListArray.from_arrays(pa.array(range(7), pa.int64()), elements)
    rows = pa.StructArray.from_arrays([lists], ["v"]).slice(4)
    spec = {"wireloom": 1, "format": "kinds", "title": "Kinds", "encoding": "msgpack", "root": "R"}
    types = {"R": {"fields": [{"v": "list(P)"}]}, "P": {"fields": [{"a": "str"}, {"b": "bytes"}]}}
    format = resolved(documents({"kinds.yaml": spec | {"types": types}}))
    with generated(format) as module, pytest.raises(EncodeError, match="run_end_encoded"):
        module.module.CODEC.encode(rows)
