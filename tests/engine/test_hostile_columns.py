"""Arrow arrays from any source: inconsistent ones give a ValueError, unusable ones a ParameterError.

pyarrow's own checks accept every array here, but its offsets lead out of its buffers.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import wireloom_formats
from wireloom.runtime import engine as engines
from wireloom.runtime.engine.program_cache import MOST
from wireloom.runtime.errors import EncodeError, ParameterError, WireloomError

FORMATS = ("aerospike_msgpack", "aerospike_json", "databus_event", "kpl_record")


def int32s(*numbers: int) -> pa.Buffer:
    return pa.py_buffer(struct.pack(f"<{len(numbers)}i", *numbers))


def int64s(*numbers: int) -> pa.Buffer:
    return pa.py_buffer(struct.pack(f"<{len(numbers)}q", *numbers))


def view(size: int, buffer: int, place: int) -> pa.Buffer:
    """An Arrow view of bytes in another buffer."""
    return pa.py_buffer(struct.pack("<i4sii", size, b"xxxx", buffer, place))


DATA = pa.py_buffer(b"xxxx" * 8)
BYTES: dict[str, tuple[Any, list[pa.Buffer | None], int]] = {
    "offsets that go back": (pa.binary(), [None, int32s(0, -(2**30), 3), DATA], 2),
    "offsets that go too far": (pa.string(), [None, int32s(0, 2**30, 3), DATA], 2),
    "large offsets that go too far": (pa.large_binary(), [None, int64s(0, 2**61, 3), DATA], 2),
    "large offsets that go back": (pa.large_string(), [None, int64s(0, -1, 3), DATA], 2),
    "a view of no buffer": (pa.binary_view(), [None, view(20, 5, 0), DATA], 1),
    "a view beyond its buffer": (pa.string_view(), [None, view(20, 0, 2**30), DATA], 1),
    "a view of less than nothing": (pa.string_view(), [None, view(-20, 0, 0), DATA], 1),
}


def imported(type: pa.DataType, buffers: list[pa.Buffer | None], length: int) -> pa.Array:
    """An array as another process may pass it; those that pyarrow itself refuses are skipped."""
    try:
        return pa.Array.from_buffers(type, length, buffers)
    except (pa.ArrowInvalid, pa.ArrowIndexError):
        pytest.skip("pyarrow does not make it")


@pytest.fixture(params=FORMATS)
def codec(request: pytest.FixtureRequest) -> Any:
    return wireloom_formats.load(request.param).CODEC


@pytest.mark.parametrize("name", BYTES)
def test_records_that_contradict_themselves_are_refused_before_they_are_followed(codec: Any, name: str) -> None:
    array = imported(*BYTES[name])
    for given in (array, pa.chunked_array([array, array]), array[1:]):
        if len(given) < len(array) and not len(given):
            continue
        for act in (codec.decode, lambda each: list(codec.batches(each))):
            with pytest.raises(ValueError, match="is inconsistent"):
                act(given)


def leaves(
    type: pa.DataType, wrap: Callable[[pa.Array], pa.Array]
) -> Iterator[tuple[pa.DataType, Callable[[pa.Array], pa.Array]]]:
    """The leaves of a struct type, and how an array of such a leaf becomes one of the struct."""
    for field in type:
        yield from below(field, lambda array, field=field: wrap(pa.StructArray.from_arrays([array], [field.name])))


def below(
    field: pa.Field, wrap: Callable[[pa.Array], pa.Array]
) -> Iterator[tuple[pa.DataType, Callable[[pa.Array], pa.Array]]]:
    if pa.types.is_struct(field.type):
        yield from leaves(field.type, wrap)
    elif pa.types.is_list(field.type):
        yield from below(
            field.type.value_field,
            lambda array: wrap(pa.ListArray.from_arrays(pa.array(range(len(array) + 1), pa.int32()), array)),
        )
    elif pa.types.is_string(field.type) or pa.types.is_binary(field.type):
        yield field.type, wrap


@pytest.mark.parametrize("name", BYTES)
def test_columns_that_contradict_themselves_are_refused_before_they_are_followed(codec: Any, name: str) -> None:
    from wireloom.runtime.columns.arrow import arrow_type

    array, done = imported(*BYTES[name]), 0
    for _, wrap in leaves(arrow_type(codec.root(None).logical), lambda array: array):
        columns = wrap(array)
        for given in (columns, pa.chunked_array([columns]), pa.RecordBatch.from_struct_array(columns)):
            with pytest.raises(ValueError, match="is inconsistent"):
                codec.encode(given)
        done += 1
    assert done > 1


def test_lists_whose_offsets_lead_nowhere_are_refused() -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    bins = pa.array([{"name": "a", "type": "INTEGER"}])
    for type, offsets in (
        (pa.list_(bins.type), int32s(0, 2**30, 1)),
        (pa.list_(bins.type), int32s(0, -5, 1)),
        (pa.large_list(bins.type), int64s(0, 2**60, 1)),
    ):
        lists = pa.Array.from_buffers(type, 2, [None, offsets], children=[bins])
        with pytest.raises(ValueError, match="is inconsistent"):
            codec.encode(pa.StructArray.from_arrays([lists], ["bins"]))


@pytest.mark.parametrize("index", [2, -1, 2**31 - 1, -(2**31)])
def test_an_index_outside_of_its_dictionary_is_refused(index: int) -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    type = pa.dictionary(pa.int32(), pa.string())
    indices = pa.Array.from_buffers(pa.int32(), 2, [None, int32s(0, index)])
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["write", "delete"]), safe=False)
    assert column.type == type
    with pytest.raises(ValueError, match=r"is inconsistent.*dictionary of 2"):
        codec.encode(pa.StructArray.from_arrays([column], ["msg"]))
    nulls = pa.Array.from_buffers(pa.int32(), 2, [pa.py_buffer(b"\1"), int32s(0, index)], 0)
    hidden = pa.DictionaryArray.from_arrays(nulls, pa.array(["write", "delete"]), safe=False)
    with pytest.raises(ValueError):  # noqa: PT011 - the number of nulls, or the index
        codec.encode(pa.StructArray.from_arrays([hidden], ["msg"]))


def test_what_stands_outside_of_a_slice_is_neither_read_nor_judged() -> None:
    codec = wireloom_formats.load("kpl_record").CODEC
    good = codec.decode(pa.array([b"abc"]), ["records"]).records
    listed = good.field("records")
    assert codec.encode(good).to_pylist() == [b"abc"]
    payload = next(field.name for field in listed.type.value_type if field.type == pa.binary())
    wild = pa.Array.from_buffers(pa.binary(), 3, [None, int32s(0, 3, 2**30, 3), DATA])
    for start in (0, 1):
        offsets = int32s(*((0, 1, 3) if start == 0 else (2, 3, 3)))
        elements = pa.StructArray.from_arrays([wild], [payload])
        lists = pa.Array.from_buffers(pa.list_(elements.type), 2, [None, offsets], children=[elements])
        columns = pa.StructArray.from_arrays([lists], ["records"])
        with pytest.raises(ValueError, match="is inconsistent"):
            codec.encode(columns)
        if start == 0:
            assert codec.encode(columns[:1]).to_pylist() == [b"xxx"]


OTHERS = {
    "integers": pa.array([1, 2]),
    "a dictionary": pa.array([b"a"]).dictionary_encode(),
    "an extension": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)], pa.binary(16))),
    "lists": pa.array([[b"a"]]),
    "runs": pa.RunEndEncodedArray.from_arrays([1], pa.array([b"a"])),
    "a Python list": [{}],
    "a table": pa.table({"a": [b"a"]}),
    "None": None,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_array_of_records_is_a_parameter_error(codec: Any, name: str) -> None:
    with pytest.raises(ParameterError, match=r"records are (an Arrow array|bytes or texts)"):
        codec.decode(OTHERS[name])


def test_a_list_of_records_is_decoded_as_an_array_of_them(codec: Any) -> None:
    records = [b"\xff", None, b""]
    found, expected = codec.decode(records), codec.decode(pa.array(records, pa.binary()))
    assert (found.records, found.errors) == (expected.records, expected.errors)
    with pytest.raises(ParameterError, match="records are bytes or texts, one each"):
        codec.decode(["\ud800"])


@pytest.mark.parametrize("name", sorted(OTHERS.keys() - {"a table"}))
def test_what_are_no_columns_is_a_parameter_error(codec: Any, name: str) -> None:
    with pytest.raises(ParameterError, match="columns are a RecordBatch, a Table or an Arrow array of structs"):
        codec.encode(OTHERS[name])


def test_every_form_of_bytes_is_read_alike(codec: Any) -> None:
    records = pa.array([b"{}", None, b"\x90ab"])
    wanted = codec.decode(records)
    for type in (pa.large_binary(), pa.binary_view()):
        assert codec.decode(records.cast(type)).errors.equals(wanted.errors)
    texts = pa.array(["{}", None, "abc"])
    for type in (pa.string(), pa.large_string(), pa.string_view()):
        assert codec.decode(texts.cast(type)).errors.equals(codec.decode(texts.cast(pa.binary())).errors)
    fixed = pa.array([b"ab", None, b"cd"])
    assert codec.decode(fixed.cast(pa.binary(2))).errors.equals(codec.decode(fixed).errors)
    assert codec.decode(pa.nulls(3)).errors.null_count == 3


# --- values that a format cannot say -------------------------------------------------------------------------------


def row(**changed: Any) -> dict[str, Any]:
    """An Aerospike message of one bin, which is a list."""
    key = {"namespace": "n", "set": None, "digest": bytes(20), "userKey": None}
    value = {"variant": {"value": b"\x03\x00\x00", "metadata": b"\x01\x00\x00"}}
    bins = [{"name": "b", "type": "LIST", "flags": 0, "value": value}]
    return {"msg": "write", "key": key, "generation": None, "expiry": None, "lut": None, "bins": bins} | changed


def variant(value: bytes, metadata: bytes = b"\x01\x00\x00") -> dict[str, Any]:
    parts = {"value": value, "metadata": metadata}
    return {"name": "b", "type": "LIST", "flags": 0, "value": {"variant": parts}}


def nested(depth: int) -> bytes:
    """A VARIANT of lists in lists."""
    value = b"\x00"
    for _ in range(depth):
        value = b"\x0f\x01" + struct.pack("<II", 0, len(value)) + value
    return value


def sharing(depth: int) -> bytes:
    """Lists of four elements each, which are all the same bytes."""
    value = b"\x00"
    for _ in range(depth):
        value = b"\x03\x04" + bytes([0, 0, 0, 0, len(value)]) + value
    return value


def columns(*rows: dict[str, Any]) -> pa.StructArray:
    from wireloom.runtime.columns.arrow import arrow_type

    return pa.array(rows, arrow_type(wireloom_formats.load("aerospike_msgpack").CODEC.root(None).logical))


UNSAYABLE = {
    "a null bin": (row(bins=[None]), r"\[1\]\.payload\.bins\[0\]: expected a record"),
    "no VARIANT": (row(bins=[variant(b"")]), r"\[1\]\.bins\[0\]\.value: expected an open value, .*ends early"),
    "no metadata": (
        row(bins=[variant(b"\x00", b"")]),
        r"\[1\]\.bins\[0\]\.value: expected an open value, .*ends early",
    ),
    "nested beyond the limit": (row(bins=[variant(nested(65))]), r"depth_limit"),
    "nested beyond the stack": (row(bins=[variant(nested(5000))]), r"an open value that the stack can hold"),
    "shared bytes": (row(bins=[variant(sharing(11))]), r"parts of it share bytes"),
    "a date": (row(bins=[variant(b"\x2c" + bytes(4))]), r"primitive of type 11 is not an open value"),
}


@pytest.mark.parametrize("name", UNSAYABLE)
def test_what_a_format_cannot_say_is_an_encode_error_at_its_place(name: str) -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    given, message = UNSAYABLE[name]
    with pytest.raises(EncodeError, match=message):
        codec.encode(columns(row(), given))
    earlier = row(key=None)
    with pytest.raises(EncodeError, match=r"^\[0\]"):
        codec.encode(columns(earlier, given))


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view()])
def test_text_that_is_not_utf8_is_an_encode_error_at_its_place(type: pa.DataType) -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    good = columns(row(), row())
    raw = pa.array([b"write", b"\xff\xfe"]).cast(pa.binary_view() if type == pa.string_view() else pa.binary())
    if type == pa.large_string():
        raw = raw.cast(pa.large_binary())
    texts = pa.Array.from_buffers(type, 2, raw.buffers())
    names = [field.name for field in good.type]
    bad = pa.StructArray.from_arrays([texts if name == "msg" else good.field(name) for name in names], names)
    with pytest.raises(EncodeError, match=r"^\[1\]\.msg: expected text in UTF-8, found ff fe$"):
        codec.encode(bad)


def test_a_deep_value_that_the_limit_allows_is_written() -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    (data,) = codec.encode(columns(row(bins=[variant(nested(400))])), max_depth=500).to_pylist()
    assert data.endswith(b"\x91" * 400 + b"\xc0")


def test_a_value_that_holds_itself_is_an_encode_error() -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    itself: list[Any] = []
    itself.append(itself)
    value = codec.parse(codec.encode(columns(row()))[0].as_py())
    value["bins"][0]["value"] = itself
    with pytest.raises(EncodeError, match="holds itself"):
        codec.build(value)


@pytest.mark.parametrize(
    ("format", "parameter"),
    [
        ("aerospike_msgpack", {"max_depth": "1" * 5000}),
        ("aerospike_msgpack", {"max_depth": "٣"}),
        ("aerospike_msgpack", {"max_depth": 1.5}),
        ("kpl_record", {"shard_range": (5, 1)}),
        ("kpl_record", {"shard_range": "5..1"}),
        ("kpl_record", {"shard_range": (True, False)}),
        ("kpl_record", {"shard_range": "1" * 5000 + "..2"}),
    ],
)
def test_a_parameter_that_is_none_is_a_parameter_error(format: str, parameter: dict[str, Any]) -> None:
    module = wireloom_formats.load(format)
    for act in (
        lambda: module.parse(b"", **parameter),
        lambda: module.decode(pa.array([b""]), **parameter),
        lambda: module.CODEC.encode(pa.array([{}]), **parameter),
    ):
        with pytest.raises(ParameterError) as refused:
            act()
        assert len(str(refused.value)) < 200


def test_columns_of_other_shapes_are_wireloom_errors() -> None:
    codec = wireloom_formats.load("aerospike_msgpack").CODEC
    for refused in (
        pa.array([{"bins": 1}]),
        pa.array([{"bins": {"name": "a"}}]),
        pa.array([{"key": [1]}]),
        pa.array([{"msg": {"a": 1}}]),
        pa.array([{"generation": [1]}]),
        pa.array([{"generation": "7"}]),
        pa.StructArray.from_arrays([pa.array([1], pa.timestamp("us"))], ["generation"]),
        pa.StructArray.from_arrays([pa.array([1], pa.duration("us"))], ["msg"]),
        pa.StructArray.from_arrays([pa.RunEndEncodedArray.from_arrays([1], pa.array(["a"]))], ["msg"]),
    ):
        with pytest.raises(WireloomError):
            codec.encode(refused)


@pytest.mark.thorough
@pytest.mark.skipif(not engines.available(), reason="the native engine is not built")
def test_ever_new_parameters_keep_no_more_programs_than_a_few() -> None:
    codec = replace(wireloom_formats.load("aerospike_msgpack").CODEC)
    records, given = pa.array([b"\x90"]), columns(row())
    for depth in range(10, 10 + 3 * MOST):
        assert codec.decode(records, max_depth=depth).errors.null_count == 0
        assert codec.encode(given, max_depth=depth).null_count == 0
    assert len(codec.engine._programs) == len(codec.engine._writers) == MOST
    request = engines.Request(codec.default_root, codec.settings({"max_depth": 9 + 3 * MOST}))
    assert codec.engine.program(request) is codec.engine.program(request)
