"""The canonical JSON rendering is lossless in both directions, and errors have paths."""

import json
import math
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codec.test_small_records import record
from wireloom.runtime.columns.canonical import dumps, from_canonical, from_tagged, loads, to_canonical, to_tagged
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
from wireloom.runtime.errors import EncodeError
from wireloom.runtime.values import Extension, Pairs, same

EXTENSIONS = (ExtensionType(7, "java_obj", text=False), ExtensionType(23, "geojson", text=True))
BIN = Record(
    (
        LogicalField("name", Text(), nullable=False),
        LogicalField(
            "value",
            Alternatives((Integer(64, signed=True), Float(64), Text(), Boolean(), Binary(), Open())),
            nullable=True,
        ),
    )
)
EVENT = Record(
    (
        LogicalField("id", Integer(64, signed=False), nullable=False),
        LogicalField("hash", BigInteger(), nullable=True),
        LogicalField("digest", Binary(4), nullable=True),
        LogicalField("ratio", Float(64), nullable=True),
        LogicalField("counts", Map(Text(), Integer(32, signed=True)), nullable=True),
        LogicalField("bins", List(BIN, nullable=True), nullable=True),
    )
)

VALUE = {
    "id": 2**64 - 1,
    "hash": 2**127 + 1,
    "digest": b"\x00\x01\xfe\xff",
    "ratio": math.inf,
    "counts": Pairs([("b", 1), ("a", None)]),
    "bins": [
        None,
        {"name": "n", "value": None},
        {"name": "t", "value": True},
        {"name": "i", "value": 1},
        {"name": "f", "value": 1.0},
        {"name": "b", "value": b""},
        {"name": "o", "value": [Pairs([(1, "x"), (b"1", Extension(23, "geojson", "{}"))]), math.nan, None]},
    ],
}
RENDERING = {
    "id": 18446744073709551615,
    "hash": "170141183460469231731687303715884105729",
    "digest": "AAH+/w==",
    "ratio": "Infinity",
    "counts": [["b", 1], ["a", None]],
    "bins": [
        None,
        {"name": "n"},
        {"name": "t", "value": {"bool": True}},
        {"name": "i", "value": {"int": 1}},
        {"name": "f", "value": {"float": 1.0}},
        {"name": "b", "value": {"bytes": ""}},
        {
            "name": "o",
            "value": {
                "variant": {
                    "list": [
                        {"map": [[{"int": 1}, {"str": "x"}], [{"bytes": "MQ=="}, {"geojson": "{}"}]]},
                        {"float": "NaN"},
                        None,
                    ]
                }
            },
        },
    ],
}


def test_a_record_renders_as_documented() -> None:
    assert to_canonical(VALUE, EVENT) == RENDERING


def test_a_rendering_reads_back_to_the_last_bit() -> None:
    assert same(from_canonical(json.loads(dumps(RENDERING)), EVENT, EXTENSIONS), VALUE)


def test_text_is_compact_and_not_escaped() -> None:
    assert dumps({"a": [1, "é"]}) == '{"a":[1,"é"]}'


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8)
    | st.builds(Extension, st.just(7), st.just("java_obj"), st.binary(max_size=8))
    | st.builds(Extension, st.just(23), st.just("geojson"), st.text(max_size=8))
)
OPEN_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(inner, inner), max_size=4).map(Pairs),
    max_leaves=20,
)


@settings(max_examples=200)
@given(OPEN_VALUES)
def test_every_open_value_survives_its_text(value: object) -> None:
    assert same(from_tagged(loads(dumps(to_tagged(value))), EXTENSIONS), value)


REFUSED: list[tuple[object, LogicalType, str]] = [
    ({"id": 1, "bin": []}, EVENT, "no member 'bin'; did you mean 'bins'"),
    ({"id": True}, EVENT, "id: expected an integer, got True"),
    ({"id": 1.0}, EVENT, "id: expected an integer"),
    ({"hash": 7}, EVENT, "hash: expected decimal text"),
    ({"digest": "AA=A"}, EVENT, "digest: expected canonical base64 text"),
    ({"digest": "AB=="}, EVENT, "digest: expected canonical base64 text with padding"),
    ({"ratio": "nan"}, EVENT, "ratio: expected a number"),
    ({"counts": {"a": 1}}, EVENT, "counts: expected a list"),
    ({"counts": [["a"]]}, EVENT, r"counts: expected a list of \[key, value\]"),
    ({"bins": [{"value": {"integer": 1}}]}, EVENT, r"bins\[0\].value: no alternative 'integer'; did you mean 'int'"),
    ({"bins": [{"value": 1}]}, EVENT, r"bins\[0\].value: expected an object of one tag"),
    ([], EVENT, "expected a record"),
    ({1: 2}, EVENT, "no member 1; there are"),
    ({"variant": {"list": [{"geo": ""}]}}, Alternatives((Open(),)), r"\[0\]: no tag 'geo'"),
    ({"str": 1}, Open(), "expected text"),
]


@pytest.mark.parametrize(("rendering", "type", "message"), REFUSED)
def test_what_does_not_fit_is_refused_at_its_path(rendering: object, type: LogicalType, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_canonical(rendering, type, EXTENSIONS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"int":1,"int":2}', "'int' appears twice"),
        ('{"list":[{"float":1e400}]}', "'1e400' is beyond"),
        ('{"float":NaN}', "NaN is not a JSON number"),
        ('{"bytes":"AB=="}', "canonical base64"),
    ],
)
def test_a_text_that_says_no_single_value_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        from_tagged(loads(text), EXTENSIONS)
    open_type = {"oneOf": {"i": "int", "f": "float", "l": "list(V)", "b": "bytes", "n": "nil"}}
    with record(tmp_path, {"v": "V"}, encoding="msgpack", V=open_type) as format:
        rows = pa.array([{"v": text}], pa.struct([("v", pa.string())]))
        with pytest.raises(EncodeError, match=message):
            format.CODEC.encode(rows)


def test_a_value_of_no_alternative_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="none of str, bytes"):
        to_canonical(1, Alternatives((Text(), Binary())))


@pytest.mark.parametrize(
    "value", [{"at": "now"}, {"at": 5}, 5, [], {"price": "cheap"}, {"data": 1}, {1: 2}, {"share": 10**400}]
)
def test_rendering_a_value_outside_of_the_format_is_an_encode_error(value, tmp_path):
    fields = {"at": {"type": "int64", "logical": {"timestamp": "s"}}, "price": {"type": "int32", "scale": 0.01}}
    with (
        record(
            tmp_path, *({name: field} for name, field in fields.items()), {"data": "bytes(2)"}, {"share": "float64"}
        ) as format,
        pytest.raises(EncodeError, match="expected"),
    ):
        format.to_canonical(value)
