"""Open values as Spark VARIANT: Spark reads what we write, and every value comes back unchanged."""

import json
import math
from operator import itemgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireloom.runtime.columns import variant
from wireloom.runtime.values import Extension, Pairs, same

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=80)
    | st.binary(max_size=80)
    | st.builds(Extension, st.integers(-128, 127), st.just("x"), st.text(max_size=5) | st.binary(max_size=5))
)


KEYS = st.text(alphabet="$ab\xe9\U0001f600\ue000", max_size=3)


def _containers(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return (
        st.lists(inner, max_size=5)
        | st.lists(st.tuples(inner, inner), max_size=4).map(Pairs)
        | st.lists(st.tuples(KEYS, inner), max_size=6, unique_by=itemgetter(0)).map(Pairs)
    )


OPEN_VALUES = st.recursive(SCALARS, _containers, max_leaves=15)


@pytest.mark.thorough
@settings(max_examples=300)
@given(OPEN_VALUES)
def test_every_open_value_comes_back_as_it_was(value: object) -> None:
    assert same(variant.decode(*variant.encode(value)), value)


PLAIN = [
    None,
    True,
    False,
    *(sign * (1 << bits) + step for bits in (7, 8, 15, 16, 31, 32, 62) for sign in (1, -1) for step in (-1, 0, 1)),
    2**63 - 1,
    -(2**63),
    1.5,
    -0.0,
    "",
    "x" * 63,
    "x" * 64,
    "é" * 40,
    b"",
    b"\x00\xff" * 200,
    [],
    [[], [None]],
    list(range(300)),
    ["y" * 1000] * 70,
]


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: repr(value)[:20])
def test_spark_reads_our_values(value: object) -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    assert same(spark.VariantVal(*variant.encode(value)).toPython(), value)


@pytest.mark.parametrize("count", [0, 1, 3, 255, 256, 300, 70000])
def test_spark_reads_maps_of_text_keys_as_objects(count: int) -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    entries = Pairs((f"key{number * 7919 % 100003}", number) for number in range(count))
    encoded = variant.encode(entries)
    assert spark.VariantVal(*encoded).toPython() == dict(entries)
    assert variant.decode(*encoded) == entries, "in wire order"


def test_spark_sees_the_reserved_names_of_maps_and_extensions() -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    value = [Pairs([(1, "a"), ("1", b"b")]), Pairs([("$x", 1)]), Extension(23, "geojson", "{}")]
    shown = json.loads(spark.VariantVal(*variant.encode(value)).toJson())
    assert shown == [{"$map": [[1, "a"], ["1", "Yg=="]]}, {"$map": [["$x", 1]]}, {"$ext": [23, "{}"]}]


def test_what_spark_writes_is_read() -> None:
    spark = pytest.importorskip("pyspark.sql.types")
    text = '{"b": [1, 2.5, -3e2, "x", null, true], "a": {}, "long": 12345678901234567890}'
    value = spark.VariantVal.parseJson(text)
    assert variant.decode(value.value, value.metadata) == Pairs(
        [("b", [1, 2.5, -300.0, "x", None, True]), ("a", Pairs()), ("long", 12345678901234567890)]
    )


def test_extension_codes_get_their_names() -> None:
    read = variant.decode(*variant.encode([Extension(7, "", b"j"), Extension(9, "", b"p")]), {7: "java_obj"})
    assert isinstance(read, list)
    assert [extension.name for extension in read] == ["java_obj", "ext9"]


def test_nan_is_kept() -> None:
    read = variant.decode(*variant.encode(math.nan))
    assert isinstance(read, float)
    assert math.isnan(read)


@settings(max_examples=200)
@given(OPEN_VALUES, st.data())
def test_damaged_bytes_never_crash_otherwise(value: object, data: st.DataObject) -> None:
    encoded, metadata = variant.encode(value)
    cut = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(ValueError, match="VARIANT"):
        variant.decode(cut, metadata)


def test_dates_are_refused() -> None:
    with pytest.raises(ValueError, match="type 11"):
        variant.decode(bytes([11 << 2, 0, 0, 0, 0]), b"\x01\x00\x00")


def test_a_python_object_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        variant.encode([object()])
