"""The repetition of record columns in flat rows is limited: huge records are bad, others come in parts."""

import io
from collections.abc import Iterator

import pyarrow as pa
import pytest

from proof.modules import documents, generated, resolved
from wireloom.ingest.files import values
from wireloom.ingest.plan import Plan
from wireloom.runtime.codec import Codec
from wireloom.runtime.columns import repetition
from wireloom.runtime.errors import DecodeError

MOST, COLUMN = 1_000, 5_000
SPEC = {
    "wireloom": 1,
    "format": "r",
    "title": "r",
    "encoding": "binary",
    "byteOrder": "big",
    "framing": "concatenated",
    "roots": {"plain": {"type": "Plain", "rows": "rows"}, "within": {"type": "Outer", "rows": "inner.rows"}},
    "types": {
        "Plain": {
            "fields": [{"text": "str(uint16)"}, {"n": "uint16"}, {"rows": {"type": "list(Row)", "count": "uint16"}}]
        },
        "Outer": {"fields": [{"text": "str(uint16)"}, {"n": "uint16"}, {"inner": "Inner"}]},
        "Inner": {"fields": [{"rows": {"type": "list(Row)", "count": "uint16"}}]},
        "Row": {"fields": [{"a": "uint8"}]},
    },
}


@pytest.fixture(scope="module")
def codec() -> Iterator[Codec]:
    with generated(resolved(documents({"r.yaml": SPEC}))) as made:
        yield made.module.CODEC


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetition, "REPEATED", MOST)
    monkeypatch.setattr(repetition, "COLUMN", COLUMN)


def record(text: int, rows: int) -> bytes:
    """The bytes of both roots are the same."""
    return text.to_bytes(2, "big") + b"x" * text + b"\0\7" + rows.to_bytes(2, "big") + bytes(range(rows))


SMALL, FULL, EXCESS = record(3, 2), record(100, 10), record(101, 10)
RECORDS = [
    SMALL,
    EXCESS,
    SMALL,
    b"\0",
    FULL,
    None,
    FULL,
    record(2_000, 0),
    record(0, 200),
    FULL,
    FULL,
    SMALL,
    FULL,
    EXCESS,
]
BAD = {1: "size_limit", 3: "truncated", 13: "size_limit"}


@pytest.mark.parametrize("root", ["plain", "within"])
def test_a_record_whose_rows_would_repeat_too_much_costs_itself(codec: Codec, root: str) -> None:
    parts = list(codec.batches(pa.array(RECORDS, pa.binary()), root=root, explode=True))
    errors = {
        parent: error["code"]
        for part in parts
        for parent, error in zip(part.parents.to_pylist(), part.errors.to_pylist(), strict=True)
        if error is not None
    }
    assert errors == BAD
    rows = [
        (parent, row)
        for part in parts
        for parent, row in zip(part.parents.to_pylist(), part.records.to_pylist(), strict=True)
    ]
    expected = []
    for place, data in enumerate(RECORDS):
        if data is None or place in BAD:
            expected.append((place, None))
            continue
        value = codec.parse(data, root="plain")
        expected += [(place, {**row, "text": value["text"], "n": value["n"]}) for row in value["rows"]]
    assert rows == expected


def test_rows_come_in_parts_that_repeat_no_more_than_a_column_may_have(codec: Codec) -> None:
    parts = list(codec.batches(pa.array([FULL] * 12, pa.binary()), root="plain", explode=True))
    assert [len(part.records) for part in parts] == [50, 50, 20]
    assert [part.parents.to_pylist()[0] for part in parts] == [0, 5, 10]
    with pytest.raises(OverflowError, match="2 GiB"):
        codec.decode(pa.array([FULL] * 12, pa.binary()), root="plain", explode=True)


def test_records_and_rows_that_repeat_nothing_of_any_length_are_not_bounded(codec: Codec) -> None:
    array = pa.array(RECORDS, pa.binary())
    for asked in ({"explode": False}, {"explode": True, "columns": ["a"]}, {"explode": True, "columns": ["a", "n"]}):
        errors = codec.decode(array, root="plain", **asked).errors.drop_null().to_pylist()
        assert [error["code"] for error in errors] == ["truncated"]


@pytest.mark.parametrize("root", ["plain", "within"])
@pytest.mark.parametrize("framing", ["concatenated", "length-prefixed", "prefix:uint32:little"])
def test_a_stream_continues_after_a_record_with_too_many_rows(codec: Codec, root: str, framing: str) -> None:
    records = [SMALL, EXCESS, FULL, SMALL, EXCESS, SMALL]
    order = "little" if framing.endswith("little") else "big"
    prefixes = [b"" if framing == "concatenated" else len(each).to_bytes(4, order) for each in records]
    data = b"".join(prefix + each for prefix, each in zip(prefixes, records, strict=True))
    found = []
    for part in codec.decode_stream(io.BytesIO(data), root=root, framing=framing, explode=True):
        codes = dict(zip(part.parents.to_pylist(), part.errors.to_pylist(), strict=True))
        for place in range(len(part.offsets)):
            code = codes[place] and (codes[place]["code"], codes[place]["path"], codes[place]["offset"])
            found.append((part.first + place, part.offsets[place].as_py(), part.raw[place].as_py(), code))
    starts = [
        sum(len(p + r) for p, r in zip(prefixes[:n], records[:n], strict=True)) + len(prefixes[n]) for n in range(6)
    ]
    path = "rows" if root == "plain" else "inner.rows"
    assert found == [
        (n, start, each if each == EXCESS else None, ("size_limit", path, 0) if each == EXCESS else None)
        for n, (start, each) in enumerate(zip(starts, records, strict=True))
    ]
    with pytest.raises(DecodeError, match="rows that repeat at most") as caught:
        list(codec.decode_stream(io.BytesIO(data), root=root, framing=framing, explode=True, on_error="raise"))
    assert (caught.value.record_index, caught.value.record_offset) == (1, starts[1])
    *_, last = codec.decode_stream(io.BytesIO(data), root=root, framing=framing, explode=True, on_error="stop")
    assert last.first + len(last.offsets) == 2


@pytest.mark.parametrize("root", ["plain", "within"])
def test_the_first_error_is_raised_where_it_is_to_be(codec: Codec, root: str) -> None:
    for records, code in (([SMALL, EXCESS, b"\0"], "size_limit"), ([SMALL, b"\0", EXCESS], "truncated")):
        with pytest.raises(DecodeError) as caught:
            codec.decode(pa.array(records), root=root, explode=True, on_error="raise")
        assert caught.value.code == code


def test_what_is_repeated_is_counted_alike_in_columns_of_every_kind() -> None:
    inner = pa.struct([("a", pa.string()), ("b", pa.int8())])
    columns = {
        "text": (pa.string(), ["é", None, ""], [2, 0, 0]),
        "list": (pa.list_(pa.int64()), [[1, 2, 3], None, []], [3, 0, 0]),
        "texts": (pa.list_(pa.string()), [["ab", None, "c"], [], None], [6, 0, 0]),
        "lists": (pa.list_(pa.list_(pa.binary())), [[[b"x"], [], None, [b"yz", b""]], None, [[]]], [10, 0, 1]),
        "map": (pa.map_(pa.string(), pa.int8()), [[("ab", 1), ("c", None)], None, []], [5, 0, 0]),
        "maps": (pa.map_(pa.int8(), pa.list_(pa.int8())), [[(1, [1, 2]), (2, None)], [], None], [4, 0, 0]),
        "structs": (pa.list_(inner), [[{"a": "xyz", "b": 1}, None], None, [{"a": None, "b": 2}]], [5, 0, 1]),
        "struct": (inner, [{"a": "xyz", "b": 1}, None, {"a": "", "b": 2}], [3, 0, 0]),
    }
    counts = pa.array([1, 5, 2], pa.int32())
    for name, (type, given, expected) in columns.items():
        assert repetition.varies(type)
        whole = pa.array([given[2], *given, given[0]], type)
        records = pa.StructArray.from_arrays([whole], [name])[1:4]
        assert repetition.sizes(records, [name], counts).to_pylist() == [
            n * c for n, c in zip(expected, [1, 5, 2], strict=True)
        ]
    assert not any(map(repetition.varies, (pa.int8(), pa.bool_(), pa.decimal128(20), pa.timestamp("us"), pa.date32())))


def test_a_job_of_flat_rows_goes_on_behind_such_a_record() -> None:
    with generated(resolved(documents({"r.yaml": SPEC}))) as made:
        plan = Plan(made.module.__name__, made.module.FORMAT, made.module.DIGEST, framing="none", root="plain")
        batch = pa.record_batch({values.DATA: pa.array([SMALL, EXCESS, FULL], pa.binary())})
        found = list(values.values_of(plan, [batch]))
    assert sum(len(part.rows) for part in found) == 2 + 10
    bad = [row for part in found for row in part.bad.to_pylist()]
    assert [(row["code"], row["raw"]) for row in bad] == [("size_limit", EXCESS)]
