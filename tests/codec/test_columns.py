"""Columns: values to Arrow and back, projections, flat rows, errors."""

from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireloom.runtime.columns.arrow import (
    Tabulation,
    View,
    decoded,
    errors_array,
    schema,
    to_struct_array,
)
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    ExtensionType,
    Float,
    Integer,
    List,
    LogicalField,
    LogicalType,
    Map,
    Open,
    Record,
    Text,
)
from wireloom.runtime.columns.projection import project
from wireloom.runtime.columns.reading import from_struct_array
from wireloom.runtime.columns.rows import explode, row_record
from wireloom.runtime.columns.shape import fill
from wireloom.runtime.errors import EncodeError, ParameterError
from wireloom.runtime.values import Extension, Pairs, kind_of, same


def field(name: str, type: LogicalType, doc: str = "", unit: str = "") -> LogicalField:
    return LogicalField(name, type, nullable=True, doc=doc, unit=unit)


LONG = Integer(64, signed=True)
KEY = Record((field("namespace", Text()), field("id", Alternatives((Text(), LONG, Binary())))))
BIN = Record(
    (field("name", Text()), field("value", Alternatives((LONG, Float(64), Text(), Boolean(), Binary(), Open()))))
)
EVENT = Record(
    (
        field("key", KEY, doc="Key of the\nrecord"),
        field("bins", List(BIN)),
        field("size", Integer(64, signed=False), doc="Size", unit="bytes"),
        field("hash", BigInteger()),
        field("counts", Map(Text(), List(Integer(8, signed=False)))),
        field("open", Open()),
    )
)
VALUES: list[dict[str, object] | None] = [
    {
        "key": {"namespace": "a", "id": 7},
        "bins": [
            {"name": "i", "value": 1},
            {"name": "t", "value": True},
            {"name": "f", "value": 1.0},
            {"name": "o", "value": [Pairs([(1, Extension(23, "geojson", "{}"))]), None]},
            {"name": "n", "value": None},
        ],
        "size": 2**64 - 1,
        "hash": 2**128 - 1,
        "counts": Pairs([("b", [1, 255]), ("a", None)]),
        "open": Pairs([("z", 1), ("a", b"")]),
    },
    None,
    {"key": {"namespace": None, "id": "7"}, "bins": [], "size": 0, "hash": None, "counts": Pairs(), "open": []},
    {"key": None, "bins": None, "size": None, "hash": 0, "counts": None, "open": None},
    {"key": {"namespace": "", "id": b"7"}, "bins": [None], "size": 1, "hash": 1, "counts": None, "open": False},
]
EXTENSIONS = (ExtensionType(23, "geojson", text=True),)


@pytest.mark.parametrize("open_values", ["variant", "json"])
def test_values_come_back_from_columns(open_values: str) -> None:
    array = to_struct_array(VALUES, EVENT, open_values=open_values)  # type: ignore[arg-type]  # parametrized text
    array.validate(full=True)
    assert same(from_struct_array(array, EVENT, extensions=EXTENSIONS), VALUES)


def test_slices_and_batches_come_back() -> None:
    array = to_struct_array(VALUES, EVENT)
    assert same(from_struct_array(array[2:4], EVENT, extensions=EXTENSIONS), VALUES[2:4])
    batch = pa.RecordBatch.from_struct_array(to_struct_array([VALUES[0], VALUES[2]], EVENT))
    assert same(from_struct_array(batch, EVENT, extensions=EXTENSIONS), [VALUES[0], VALUES[2]])


def test_columns_have_the_types_of_the_schema() -> None:
    array = to_struct_array(VALUES, EVENT)
    assert pa.schema(list(array.type)).equals(schema(EVENT), check_metadata=True)
    assert schema(EVENT).field("size").type == pa.decimal128(20, 0)
    assert schema(EVENT).field("size").metadata == {b"comment": b"Size (unit: bytes)"}
    assert schema(EVENT).field("key").metadata == {b"comment": b"Key of the record"}


def test_alternatives_are_columns_in_a_fixed_order() -> None:
    assert [f.name for f in schema(BIN).field("value").type] == ["bool", "int", "float", "str", "bytes", "variant"]
    struct = to_struct_array([{"name": "x", "value": True}], BIN).field("value")[0].as_py()
    assert struct == {"bool": True, "int": None, "float": None, "str": None, "bytes": None, "variant": None}


def test_no_rows_make_columns_of_no_rows() -> None:
    assert len(to_struct_array([], EVENT)) == 0
    assert from_struct_array(to_struct_array([], EVENT), EVENT) == []


def test_a_value_of_no_alternative_is_refused() -> None:
    with pytest.raises(TypeError, match="none of int, str, bytes"):
        to_struct_array([{"namespace": "a", "id": 1.5}], KEY)


def test_wide_integers_never_wrap() -> None:
    with pytest.raises(pa.ArrowInvalid):
        to_struct_array([{"a": 128}], Record((field("a", Integer(8, signed=True)),)))


@pytest.mark.parametrize(
    ("bits", "signed", "arrow"),
    [
        (8, True, pa.int8()),
        (8, False, pa.int16()),
        (16, False, pa.int32()),
        (32, False, pa.int64()),
        (64, False, pa.decimal128(20, 0)),
        (64, True, pa.int64()),
    ],
)
def test_extremes_of_integers_fit_their_columns(bits: int, *, signed: bool, arrow: pa.DataType) -> None:
    record = Record((field("a", Integer(bits, signed)),))
    extremes = [-(1 << bits - 1), (1 << bits - 1) - 1] if signed else [0, (1 << bits) - 1]
    values = [{"a": extreme} for extreme in extremes]
    assert schema(record).field("a").type == arrow
    assert from_struct_array(to_struct_array(values, record), record) == values


# --- projections ---------------------------------------------------------------------------------------------------


def test_a_projection_keeps_only_the_named_columns() -> None:
    array = to_struct_array(VALUES, EVENT, columns=["bins.name", "key.namespace", "bins.value.int"])
    assert array.to_pylist()[0] == {
        "key": {"namespace": "a"},
        "bins": [
            {"name": "i", "value": {"int": 1}},
            *({"name": name, "value": {"int": None}} for name in "tfo"),
            {"name": "n", "value": None},
        ],
    }
    assert array.to_pylist()[1] is None


def test_a_column_and_its_member_are_the_column() -> None:
    assert project(EVENT, ["key", "key.id"]) == Record((EVENT.fields[0],))
    assert project(EVENT, None) is EVENT


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("bin", "no column 'bin'; did you mean 'bins'?"),
        ("key.namspace", "no column 'key.namspace'; did you mean 'key.namespace'?"),
        ("bins.value.integer", "no column 'bins.value.integer'; did you mean 'bins.value.int'?"),
        ("hash.x", "column 'hash.x': 'hash' has no members"),
        ("qqqq", "no column 'qqqq'; there are: key, bins, size, hash, counts, open"),
    ],
)
def test_unknown_columns_are_named_with_the_nearest(column: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole text is compared
        project(EVENT, [column])
    assert str(caught.value) == message


def test_missing_columns_read_as_null_and_unknown_ones_are_refused() -> None:
    array = pa.array([{"name": "x"}, None])
    assert from_struct_array(array, BIN) == [{"name": "x", "value": None}, None]
    with pytest.raises(ParameterError, match="no column 'nam'; did you mean 'name'"):
        from_struct_array(pa.array([{"nam": "x"}]), BIN)


def test_other_widths_of_the_same_kind_are_read() -> None:
    array = pa.StructArray.from_arrays(
        [pa.array(["a"], pa.large_string()), pa.array([5], pa.uint64())], names=["namespace", "size"]
    )
    record = Record((field("namespace", Text()), field("size", Integer(64, signed=False))))
    assert from_struct_array(array, record) == [{"namespace": "a", "size": 5}]


# --- flat rows -----------------------------------------------------------------------------------------------------

BATCH = Record(
    (
        field("kind", Text()),
        field("records", List(Record((field("data", Binary()), field("lost", LONG))))),
        field("lost", LONG),
        field("meta", Record((field("at", LONG),))),
    )
)
BATCHES: list[object] = [
    {"kind": "a", "records": [{"data": b"1", "lost": 9}, {"data": b"2", "lost": None}], "lost": 3, "meta": {"at": 1}},
    None,
    {"kind": "b", "records": [], "lost": 0, "meta": None},
    {"kind": "c", "records": [{"data": b"3", "lost": 1}], "lost": 0, "meta": None},
]


@dataclass(frozen=True)
class Failure:
    code: str
    path: str = "records[1]"
    offset: int | None = 4
    expected: str | None = None
    actual: str | None = "x"
    meaning: str | None = "Cut."


def test_rows_repeat_the_rest_of_their_record() -> None:
    assert [member.name for member in row_record(BATCH, ["records"]).fields] == ["data", "lost", "kind", "meta"]
    assert explode(BATCHES, ["records"]).values[:3] == [
        {"data": b"1", "lost": 9, "kind": "a", "meta": {"at": 1}},
        {"data": b"2", "lost": None, "kind": "a", "meta": {"at": 1}},
        None,
    ]


def test_exploded_columns_know_their_parents_and_keep_bad_records() -> None:
    errors = [None, Failure("bad"), None, None]
    result = decoded(BATCHES, errors, Tabulation(BATCH, ["records"]), View(["data", "kind"], explode=True))
    assert result.parents is not None
    assert result.parents.to_pylist() == [0, 0, 1, 3]
    assert result.records.to_pylist() == [
        {"data": b"1", "kind": "a"},
        {"data": b"2", "kind": "a"},
        None,
        {"data": b"3", "kind": "c"},
    ]
    assert [error and error["code"] for error in result.errors.to_pylist()] == [None, None, "bad", None]


def test_lists_as_roots_are_rows() -> None:
    batch = [{"namespace": "a", "id": 1}, {"namespace": "b", "id": b""}]
    result = decoded([batch, []], [None, None], Tabulation(KEY, elements=True), View())
    assert result.records.field("namespace").to_pylist() == ["a", "b"]
    assert result.parents is not None
    assert result.parents.to_pylist() == [0, 0]


def test_rows_of_lists_inside_records() -> None:
    record = Record((field("body", Record((field("items", List(LONG)), field("n", LONG)))), field("id", LONG)))
    assert [member.name for member in row_record(record, ["body", "items"]).fields] == ["items", "body", "id"]
    rows = explode([{"body": {"items": [5, 6], "n": 1}, "id": 2}, {"body": None, "id": 3}], ["body", "items"])
    assert rows.values == [{"items": each, "body": {"n": 1}, "id": 2} for each in (5, 6)]


def test_a_path_to_no_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no list 'record'; did you mean 'records'"):
        row_record(BATCH, ["record"])
    with pytest.raises(ValueError, match="'kind' does not lead to a list"):
        row_record(BATCH, ["kind"])


def test_errors_are_null_where_there_is_none() -> None:
    assert errors_array([None, Failure("truncated")]).to_pylist() == [
        None,
        {"code": "truncated", "path": "records[1]", "offset": 4, "expected": None, "actual": "x", "meaning": "Cut."},
    ]
    assert len(errors_array([])) == 0


# --- values --------------------------------------------------------------------------------------------------------


def test_fill_completes_and_orders_at_every_depth() -> None:
    filled = fill({"_io": 1, "bins": [{"value": [1]}, None], "key": {"id": 1}}, EVENT)
    assert list(filled) == ["key", "bins", "size", "hash", "counts", "open"]
    assert filled["key"] == {"namespace": None, "id": 1}
    assert filled["bins"] == [{"name": None, "value": [1]}, None]


def test_kinds_tell_values_apart() -> None:
    values = [None, True, 1, 1.0, "", b"", [], Pairs(), {}, Extension(1, "x", b"")]
    kinds = ["null", "bool", "int", "float", "str", "bytes", "list", "map", "record", "extension"]
    assert [kind_of(value) for value in values] == kinds


def test_pairs_equal_only_pairs() -> None:
    assert Pairs([(1, 2)]) == Pairs([(1, 2)])
    assert Pairs() != []
    assert repr(Pairs([(1, 2)])) == "Pairs([(1, 2)])"


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()
BINS = st.fixed_dictionaries(
    {
        "name": st.none() | st.text(),
        "value": SCALARS | st.lists(SCALARS) | st.lists(st.tuples(SCALARS, SCALARS)).map(Pairs),
    }
)


@settings(max_examples=100)
@given(st.lists(st.none() | BINS, max_size=6))
def test_any_bins_come_back(bins: list[dict[str, object] | None]) -> None:
    assert same(from_struct_array(to_struct_array(bins, BIN), BIN), bins)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (pa.timestamp("s"), 2**62),
        (pa.timestamp("us", "UTC"), 2**62),
        (pa.duration("s"), 2**60),
        (pa.date64(), 86_400_000 * 10**9),
    ],
)
def test_a_time_beyond_the_calendar_is_refused_at_its_row(type: pa.DataType, value: int) -> None:
    column = pa.array([None, value], pa.int64()).cast(type)
    record = Record((field("a", LONG),))
    with pytest.raises(EncodeError) as caught:
        from_struct_array(pa.StructArray.from_arrays([column], ["a"]), record)
    assert caught.value.components == (1, "a")
