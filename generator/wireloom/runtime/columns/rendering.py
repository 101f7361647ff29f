"""The canonical JSON rendering of whole Arrow columns: one text per row, the same as `canonical` gives.

Each column becomes a column of JSON texts, and Arrow joins the texts of members, elements and entries. Python handles
single values only if Arrow cannot render them: floats, bytes, durations, and texts that need an escape. Open values
come as the JSON text of their tagged form (`open_values="json"`).
"""

import math
from binascii import b2a_base64
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import TypeVar, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns import soundness
from wireloom.runtime.columns.arrow import moment_texts
from wireloom.runtime.columns.canonical import dumps, to_canonical
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Float,
    Integer,
    List,
    LogicalType,
    Map,
    Meant,
    Open,
    Record,
    Scaled,
    Text,
    alternatives,
)
from wireloom.runtime.columns.meanings import duration_text

_T = TypeVar("_T")
_TEXT = pa.large_string()
_ESCAPED = r'["\\\x00-\x1f]'
_PLAIN_SCALE = 6  # digits after the point up to which Arrow writes no exponent


def rendered(array: pa.Array, type: LogicalType) -> pa.LargeStringArray:
    """The JSON text of each value of a column; null for null."""
    match type:
        case Boolean() | Integer():
            return array.cast(_TEXT)
        case BigInteger():
            return _joined('"', array.cast(_TEXT), '"')
        case Float():
            return _each(_float, array)
        case Text():
            return _text(array)
        case Binary():
            return _each(_base64, array)
        case Open():
            return array.cast(_TEXT)
        case Meant(seen=seen):
            return _quantity(array, seen) if isinstance(seen, Scaled) else rendered(array, seen)
        case List(element):
            return _listed(array, rendered(array.flatten(), element))
        case Map(key, value):
            return _mapped(array, key, value)
        case Record():
            return _members(array, [(field.name, field.type) for field in type.fields])
        case Alternatives():
            text = _members(array, alternatives(type))
            return text if type.without else pc.if_else(pc.equal(text, "{}"), None, text)
        case _:
            assert_never(type)


def rendered_lists(rows: pa.Array, type: LogicalType, parents: pa.Array, count: int) -> pa.LargeStringArray:
    """For each of `count` parents, the JSON text of the list of its rows; null rows are left out."""
    kept = pc.is_valid(rows)
    sizes = pc.value_counts(parents.filter(kept))
    found = pc.index_in(pa.array(range(count), parents.type), value_set=sizes.field("values"))
    lengths = pc.fill_null(sizes.field("counts").take(found), 0)
    return pc.fill_null(_grouped(rendered(rows.filter(kept), type), lengths, None), "[]")


def bytes_of_lines(texts: pa.LargeStringArray) -> memoryview:
    """The texts that are not null, each with a line feed."""
    joined = pc.binary_join_element_wise(texts.drop_null(), pa.scalar("\n", _TEXT), pa.scalar("", _TEXT))
    if not len(joined):
        return memoryview(b"")
    _, ends, data = joined.buffers()
    offsets = memoryview(ends).cast("q")[joined.offset : joined.offset + len(joined) + 1]
    return memoryview(data)[offsets[0] : offsets[-1]]


def _quantity(array: pa.Array, scaled: Scaled) -> pa.LargeStringArray:
    match scaled.kind:
        case "timestamp":
            return _joined('"', moment_texts(array, _TEXT), '"')
        case "date":
            return _joined('"', array.cast(_TEXT), '"')
        case "duration":
            return _each(_duration, array.cast(pa.int64()))
        case "decimal" if scaled.digits <= _PLAIN_SCALE:
            return _joined('"', array.cast(_TEXT), '"')
        case "decimal":
            return _each(lambda number: dumps(to_canonical(number, Meant(Integer(64, signed=True), scaled))), array)
        case "integer":
            return array.cast(_TEXT)
        case _:
            assert_never(scaled.kind)


# --- scalars ---------------------------------------------------------------------------------------------------------


def _each(text: Callable[[_T], str], array: pa.Array) -> pa.LargeStringArray:
    """The text of each value that is not null."""
    if not array.null_count:
        return pa.array(list(map(text, array.to_pylist())), _TEXT)
    return pa.array([None if value is None else text(value) for value in array.to_pylist()], _TEXT)


def _float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def _duration(count: int) -> str:
    return f'"{duration_text(count)}"'


def _base64(value: bytes) -> str:
    return f'"{b2a_base64(value, newline=False).decode("ascii")}"'


def _text(array: pa.Array) -> pa.LargeStringArray:
    if pc.any(pc.match_substring_regex(array, _ESCAPED)).as_py():
        return _each(encode_basestring, array)
    return _joined('"', array.cast(_TEXT), '"')


# --- containers ------------------------------------------------------------------------------------------------------


def _joined(*parts: pa.Array | str) -> pa.LargeStringArray:
    """The parts of each row, joined; null if one of them is null."""
    columns = [pa.scalar(part, _TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, pa.scalar("", _TEXT))


def _members(array: pa.StructArray, members: "list[tuple[str, LogicalType]]") -> pa.LargeStringArray:
    """Objects of the members that are not null."""
    parts: list[pa.Array | pa.Scalar] = []
    for place, (name, type) in enumerate(members):
        head, text = f",{dumps(name)}:", rendered(array.field(place), type)
        parts.append(_joined(head, text) if text.null_count else pa.scalar(head, _TEXT))
        if not text.null_count:
            parts.append(text)
    if not parts:
        text = pa.repeat(pa.scalar("{}", _TEXT), len(array))
    else:
        ends = pa.scalar("}", _TEXT), pa.scalar("", _TEXT)
        text = pc.binary_join_element_wise(*parts, *ends, null_handling="replace", null_replacement="")
        text = pc.binary_replace_slice(text, start=0, stop=1, replacement="{")
        text = pc.if_else(pc.equal(text, "{"), "{}", text)
    return pc.if_else(array.is_valid(), text, None) if array.null_count else text


def _listed(array: pa.Array, texts: pa.LargeStringArray) -> pa.LargeStringArray:
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    return _grouped(texts, lengths, array.is_valid() if array.null_count else None)


def _mapped(array: pa.MapArray, key: LogicalType, value: LogicalType) -> pa.LargeStringArray:
    listed = soundness.entries(array)
    entries = listed.flatten()
    both = (pc.fill_null(rendered(entries.field(place), type), "null") for place, type in enumerate((key, value)))
    first, second = both
    return _listed(listed, _joined("[", first, ",", second, "]"))


def _grouped(texts: pa.LargeStringArray, lengths: pa.Array, valid: pa.Array | None) -> pa.LargeStringArray:
    """The texts as elements of arrays of these lengths."""
    ends = pc.cumulative_sum(lengths.cast(pa.int64()))
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    lists = pa.LargeListArray.from_arrays(offsets, pc.fill_null(texts, "null"))
    text = _joined("[", pc.binary_join(lists, pa.scalar(",", _TEXT)), "]")
    return text if valid is None else pc.if_else(valid, text, None)
