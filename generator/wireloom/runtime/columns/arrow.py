"""Arrow columns of decoded values and of their errors; `reading` goes the other way.

Types follow Spark's own mapping (no unsigned integers, every column nullable), so that the same columns pass through
Arrow and Spark unchanged. Values are transposed level by level: one pyarrow call for each column, not for each value.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, assert_never, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns import variant
from wireloom.runtime.columns.canonical import dumps, to_tagged
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Float,
    Integer,
    List,
    LogicalField,
    LogicalType,
    Map,
    Meant,
    Open,
    Record,
    Scaled,
    Text,
    alternatives,
    kind_name,
)
from wireloom.runtime.columns.projection import project
from wireloom.runtime.columns.rows import as_record, explode, row_record
from wireloom.runtime.columns.shape import chosen
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.values import Extension, OpenBytes

OpenValues = Literal["variant", "json", "binary"]
"""The form of open values: Spark VARIANT, the text of their tagged JSON rendering, or their wire bytes."""

VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"}),
    ]
)

_OPEN = {"variant": VARIANT, "json": pa.string(), "binary": pa.binary()}

ERROR = pa.struct(
    [
        pa.field("code", pa.string()),
        pa.field("path", pa.string()),
        pa.field("offset", pa.int64()),
        pa.field("expected", pa.string()),
        pa.field("actual", pa.string()),
        pa.field("meaning", pa.string()),
    ]
)

_COMPONENT = re.compile(r"\[(\d+)\]|([^.\[]+)")

_INTEGERS = {
    (8, True): pa.int8(),
    (16, True): pa.int16(),
    (32, True): pa.int32(),
    (64, True): pa.int64(),
    (8, False): pa.int16(),
    (16, False): pa.int32(),
    (32, False): pa.int64(),
    (64, False): pa.decimal128(20, 0),
    (65, True): pa.decimal128(20, 0),
}


_SCALED = {
    "timestamp": pa.timestamp("us", "UTC"),
    "date": pa.date32(),
    "duration": pa.duration("us"),
    "integer": pa.int64(),
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """The result of decoding an Arrow array: three arrays of equal length.

    `records` are null for bad records, `errors` for good ones. With exploded rows, `parents` is the index of each row's
    input value, else None. `reread` counts the records that the construct parser read: all of them if the engine does
    not cover the request (the `reason` says why), else those that it gave up, good or bad.
    """

    records: pa.StructArray
    errors: pa.StructArray
    parents: pa.Array | None = None
    reread: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tabulation:
    """How the values of a root become rows: the record, the path of its list of rows, whether the root is a list.

    If the root is a list, `record` is its element, and its elements are rows, exploded or not.
    """

    record: Record
    rows: Sequence[str] = ()
    elements: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """The requested columns (None: all), flat rows or records, and the form of open values."""

    columns: Sequence[str] | None = None
    explode: bool = False
    open_values: OpenValues = "variant"


# --- types ---------------------------------------------------------------------------------------------------------


def schema(record: Record, *, open_values: OpenValues = "variant") -> pa.Schema:
    """The Arrow schema of a record: one column for each member."""
    return pa.schema([_field(member, open_values) for member in record.fields])


def comment(member: LogicalField) -> str:
    """The comment of a column: its documentation and its unit."""
    unit = f"unit: {member.unit}" if member.unit else ""
    doc = " ".join(member.doc.split())
    return f"{doc} ({unit})" if doc and unit else doc or unit


@lru_cache(maxsize=1024)  # every part of a stream needs the same types
def arrow_type(type: LogicalType, open_values: OpenValues = "variant") -> pa.DataType:
    """The Arrow type of a column of this logical type."""
    match type:
        case Boolean():
            return pa.bool_()
        case Integer(bits, signed):
            return _INTEGERS[bits, signed]
        case Float(bits):
            return pa.float32() if bits == 32 else pa.float64()
        case Text() | BigInteger():
            return pa.string()
        case Binary():
            return pa.binary()
        case List(element):
            return pa.list_(pa.field("element", arrow_type(element, open_values)))
        case Map(key, value):
            key_field = pa.field("key", arrow_type(key, open_values), nullable=False)
            return pa.map_(key_field, pa.field("value", arrow_type(value, open_values)))
        case Record():
            return pa.struct([_field(member, open_values) for member in type.fields])
        case Alternatives():
            return pa.struct([pa.field(name, arrow_type(option, open_values)) for name, option in alternatives(type)])
        case Open():
            return _OPEN[open_values]
        case Meant(seen=seen):
            return _quantity_type(seen) if isinstance(seen, Scaled) else arrow_type(seen)
        case _:
            assert_never(type)


def _quantity_type(scaled: Scaled) -> pa.DataType:
    return pa.decimal128(scaled.precision, scaled.digits) if scaled.kind == "decimal" else _SCALED[scaled.kind]


def _field(member: LogicalField, open_values: OpenValues) -> pa.Field:
    text = comment(member)
    return pa.field(member.name, arrow_type(member.type, open_values), metadata={"comment": text} if text else None)


def moment_texts(moments: pa.Array, text: pa.DataType) -> pa.Array:
    """Timestamps as RFC 3339 texts in UTC, without a fraction of zeros."""
    found = moments.cast(pa.timestamp("us")).cast(text)  # with a time zone, Arrow is thirty times slower
    found = pc.binary_replace_slice(found, start=10, stop=11, replacement="T")
    return pc.binary_join_element_wise(
        pc.replace_substring(found, ".000000", ""), pa.scalar("Z", text), pa.scalar("", text)
    )


# --- values to columns ---------------------------------------------------------------------------------------------


def decoded(
    values: Sequence[object],
    errors: Sequence[DecodeError | None],
    tabulation: Tabulation,
    view: View,
    *,
    reason: str = "",
) -> Decoded:
    """The columns of parsed values (None: bad) and of their errors (None: good).

    A bad value keeps one null row, beside its error; a record with an empty list has no rows. `reason`: as in
    `Decoded`.
    """
    path = tabulation.rows if view.explode else ()
    reread = sum(value is not None or error is not None for value, error in zip(values, errors, strict=True))
    if not (path or tabulation.elements):
        return Decoded(_records_array(values, tabulation.record, view), errors_array(errors), None, reread, reason)
    flat = explode(values, path, elements=tabulation.elements)
    return Decoded(
        _records_array(flat.values, row_record(tabulation.record, path), view),
        errors_array([errors[parent] for parent in flat.parents]),
        pa.array(flat.parents, pa.int32()),
        reread,
        reason,
    )


def _records_array(values: Iterable[object], record: Record, view: View) -> pa.StructArray:
    return to_struct_array(values, record, columns=view.columns, open_values=view.open_values)


def to_struct_array(
    values: Iterable[object],
    record: Record,
    *,
    columns: Sequence[str] | None = None,
    open_values: OpenValues = "variant",
) -> pa.StructArray:
    """One struct per record value (None: null), with only `columns` if they are given (`project`)."""
    return _array(list(values), project(record, columns), open_values)


def errors_array(errors: Iterable[DecodeError | None]) -> pa.StructArray:
    """One struct per error, null for None."""
    rows = [None if error is None else {field.name: getattr(error, field.name) for field in ERROR} for error in errors]
    return pa.array(rows, ERROR)


def error_of(row: Mapping[str, Any]) -> DecodeError:
    """The error in a row of `errors_array`."""
    error = DecodeError(
        row["code"],
        offset=row["offset"],
        expected=row["expected"] or "",
        actual=row["actual"] or "",
        meaning=row["meaning"] or "",
    )
    components = [int(place) if place else name for place, name in _COMPONENT.findall(row["path"] or "")]
    for component in reversed(components):
        error.at(component)
    return error


def _array(values: list[object], type: LogicalType, open_values: OpenValues) -> pa.Array:
    match type:
        case Boolean() | Float() | Text() | Binary() | Integer() | Meant():
            return _one_array(values, arrow_type(type))
        case BigInteger():
            return _one_array([None if value is None else str(value) for value in values], pa.string())
        case List():
            return _list_array(values, type, open_values)
        case Map():
            return _map_array(values, type, open_values)
        case Record():
            names = [member.name for member in type.fields]
            children = [
                _array(_column(values, name), member.type, open_values)
                for name, member in zip(names, type.fields, strict=True)
            ]
            return _struct_array(values, children, arrow_type(type, open_values))
        case Alternatives():
            return _alternatives_array(values, type, open_values)
        case Open():
            return _OPEN_ARRAYS[open_values](values)
        case _:
            assert_never(type)


def too_many() -> OverflowError:
    """The error for columns that exceed one Arrow array."""
    return OverflowError("the columns do not fit into one Arrow array of 2 GiB; decode fewer records at a time")


def _one_array(values: Sequence[object], type: pa.DataType) -> pa.Array:
    found = pa.array(values, type)
    if isinstance(found, pa.ChunkedArray):
        raise too_many()
    return found


def _column(values: list[object], name: str) -> list[object]:
    return [None if value is None else as_record(value).get(name) for value in values]


def _struct_array(values: list[object], children: list[pa.Array], type: pa.StructType) -> pa.StructArray:
    mask = pa.array([value is None for value in values], pa.bool_())
    return pa.StructArray.from_arrays(children, fields=list(type), mask=mask)


def _list_array(values: list[object], type: List, open_values: OpenValues) -> pa.ListArray:
    offsets, elements = _flattened(values)
    return pa.ListArray.from_arrays(
        offsets, _array(elements, type.element, open_values), type=arrow_type(type, open_values)
    )


def _map_array(values: list[object], type: Map, open_values: OpenValues) -> pa.MapArray:
    offsets, entries = _flattened(values)
    pairs = cast("list[tuple[object, object]]", entries)
    keys = _array([key for key, _ in pairs], type.key, open_values)
    items = _array([item for _, item in pairs], type.value, open_values)
    return pa.MapArray.from_arrays(offsets, keys, items, type=arrow_type(type, open_values))


def _flattened(values: list[object]) -> tuple[pa.Array, list[object]]:
    """The offsets of an Arrow list array (null: a null list), and the elements of all lists joined."""
    offsets: list[int | None] = []
    elements: list[object] = []
    for value in values:
        offsets.append(None if value is None else len(elements))
        if isinstance(value, (list, tuple)):
            elements.extend(value)
        elif value is not None:
            raise TypeError(f"expected a list, got a {type(value).__name__}")
    return pa.array([*offsets, len(elements)], pa.int32()), elements


def _alternatives_array(values: list[object], type: Alternatives, open_values: OpenValues) -> pa.StructArray:
    kinds = [_kind(value, type) for value in values]
    children = [
        _array(
            [_content(value, option) if kind == name else None for value, kind in zip(values, kinds, strict=True)],
            option,
            open_values,
        )
        for name, option in alternatives(type)
    ]
    return _struct_array(values, children, arrow_type(type, open_values))


def _kind(value: object, type: Alternatives) -> str | None:
    if value is None:
        return None
    option = chosen(type, value)
    if option is None and not type.without:
        raise TypeError(f"{value!r} is none of {', '.join(name for name, _ in alternatives(type))}")
    return None if option is None else kind_name(option)


def _content(value: object, option: LogicalType) -> object:
    return value.value if isinstance(value, Extension) and not isinstance(option, Open) else value


def _variant_array(values: list[object]) -> pa.StructArray:
    variants = [(b"", b"") if value is None else variant.encode(value) for value in values]
    children = [_one_array([part[i] for part in variants], pa.binary()) for i in (0, 1)]
    return _struct_array(values, children, VARIANT)


def _tagged_array(values: list[object]) -> pa.StringArray:
    return _one_array([None if value is None else dumps(to_tagged(value)) for value in values], pa.string())


def _bytes_array(values: list[object]) -> pa.BinaryArray:
    return _one_array([value.data if isinstance(value, OpenBytes) else value for value in values], pa.binary())


_OPEN_ARRAYS = {"variant": _variant_array, "json": _tagged_array, "binary": _bytes_array}
