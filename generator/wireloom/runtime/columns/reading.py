"""Values from Arrow columns, the inverse of `arrow.to_struct_array`: one pyarrow call per column.

Columns come from callers. A value that cannot belong to the format (bytes that are not a VARIANT, text that is not
UTF-8, a column of another shape) is an EncodeError at its path, never an error of Arrow or of Python.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import assert_never

import pyarrow as pa
import pyarrow.types as kinds

from wireloom.runtime.columns import soundness, variant
from wireloom.runtime.columns.canonical import from_tagged, loads
from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    ExtensionType,
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
from wireloom.runtime.columns.projection import unknown_name
from wireloom.runtime.errors import EncodeError, ParameterError, shown
from wireloom.runtime.values import OpenBytes, Pairs

_LONGEST = 40  # the most digits of an integer in a text column
Value = dict[str, object] | None


def from_struct_array(
    array: pa.StructArray | pa.RecordBatch, record: Record, *, extensions: Sequence[ExtensionType] = ()
) -> list[Value]:
    """The record value of each struct (null: None), with all members; the inverse of `to_struct_array`.

    Columns are found by name. A missing column reads as null, an unknown one is a ParameterError. The column's type
    tells VARIANT, tagged JSON text and wire bytes apart. `extensions` name the extension codes. Raises EncodeError for
    an invalid value, with its row and path.
    """
    return _records(soundness.columns_of(array), record, extensions)


def leading(
    array: pa.StructArray, record: Record, *, extensions: Sequence[ExtensionType] = ()
) -> tuple[list[Value], EncodeError | None]:
    """The values of the rows before the first bad one, and its error (None: all rows are good)."""
    error: EncodeError | None = None
    while True:
        try:
            return _records(array, record, extensions), error
        except EncodeError as found:
            array, error = array.slice(0, _row(found)), found


def _values(array: pa.Array, type: LogicalType, extensions: Sequence[ExtensionType]) -> list[object]:
    """The values of a column (of any Arrow type if it is empty); an EncodeError has the row in its path."""
    if not len(array):
        return []
    match type:
        case Boolean() | Float() | Text() | Binary():
            return _plain(array)
        case Integer():
            return _each(_integer, _plain(array))
        case BigInteger():
            return _each(_big_integer, _plain(array))
        case Meant(seen=seen):
            return _quantities(array, seen) if isinstance(seen, Scaled) else _values(array, seen, extensions)
        case List(element):
            return _listed(array, element, extensions)
        case Map():
            return _mapped(array, type, extensions)
        case Record():
            return list[object](_records(array, type, extensions))
        case Alternatives():
            return _alternative_values(array, type, extensions)
        case Open():
            return _open_values(array, extensions)
        case _:
            assert_never(type)


def _each(read: Callable[[object], object], values: Iterable[object]) -> list[object]:
    """Apply `read` to each value that is not null; an EncodeError has the index in its path."""
    found: list[object] = []
    for place, value in enumerate(values):
        try:
            found.append(None if value is None else read(value))
        except EncodeError as error:
            raise error.at(place) from error.__cause__
    return found


def _row(error: EncodeError) -> int:
    """Remove the row from the path of an error, and return it."""
    row = error.inward()
    assert isinstance(row, int)
    return row


def _refused(expected: str, array: pa.Array) -> EncodeError:
    """The error of a column of another shape, reported at its first row."""
    return EncodeError(expected, f"one of {array.type}").at(0)


# --- scalars ---------------------------------------------------------------------------------------------------------


def _plain(array: pa.Array) -> list[object]:
    """The Python values of a column of scalars."""
    type = array.type.value_type if kinds.is_dictionary(array.type) else array.type
    if not _is_scalar(type):
        raise _refused("a column of scalars", array)
    try:
        return list(array.to_pylist())
    except UnicodeDecodeError:
        return _each(_text, (value.as_buffer() if value.is_valid else None for value in _decoded(array)))
    except (OverflowError, ValueError, LookupError):
        return _each(_python, (value if value.is_valid else None for value in _decoded(array)))


def _python(value: object) -> object:
    """The Python value of a scalar; Arrow has times and time zones that Python lacks."""
    assert isinstance(value, pa.Scalar)
    try:
        return value.as_py()
    except (OverflowError, ValueError, LookupError) as error:
        raise EncodeError("a value of a format", f"a {value.type} beyond the calendar") from error


def _is_scalar(type: pa.DataType) -> bool:
    return bool(
        soundness.is_bytes(type)
        or kinds.is_fixed_size_binary(type)
        or kinds.is_boolean(type)
        or kinds.is_integer(type)
        or kinds.is_floating(type)
        or kinds.is_decimal(type)
        or kinds.is_timestamp(type)
        or kinds.is_date(type)
        or kinds.is_duration(type)
        or kinds.is_null(type)
    )


def _decoded(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if kinds.is_dictionary(array.type) else array


def _text(value: object) -> object:
    assert isinstance(value, pa.Buffer)
    data: bytes = value.to_pybytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise EncodeError("text in UTF-8", shown(data)) from error


def _integer(value: object) -> object:
    """The integer of a column's value; `build` refuses values of other kinds."""
    match value:
        case Decimal() if value.is_finite() and value == value.to_integral_value():
            return int(value)
        case Decimal():
            raise EncodeError("an integer", str(value))
        case _:
            return value


def _big_integer(value: object) -> object:
    """The integer of a value beyond 64 bits, whose column has decimal texts."""
    match value:
        case str() if value.removeprefix("-").isdecimal() and value.isascii() and len(value) <= _LONGEST:
            return int(value)
        case str():
            raise EncodeError("the decimal text of an integer", shown(value))
        case _:
            return _integer(value)


def _quantities(array: pa.Array, scaled: Scaled) -> list[object]:
    match scaled.kind:
        case "timestamp" | "duration":
            return _plain(_in_microseconds(array))
        case "date":
            return _plain(_cast_each(array, pa.date32(), "a day") if kinds.is_date64(array.type) else array)
        case "integer":
            return _each(_integer, _plain(array))
        case "decimal":
            return _plain(array)
        case _:
            assert_never(scaled.kind)


def _in_microseconds(array: pa.Array) -> pa.Array:
    """Times in whole microseconds; an EncodeError has the first row that is finer.

    Timestamps are converted to UTC, since another zone may move one out of Python's years.
    """
    if not kinds.is_timestamp(array.type) and not kinds.is_duration(array.type):
        return array
    zone = "UTC" if getattr(array.type, "tz", None) else None
    wanted = pa.timestamp("us", zone) if kinds.is_timestamp(array.type) else pa.duration("us")
    return _cast_each(array, wanted, "a time of whole microseconds")


def _cast_each(array: pa.Array, wanted: pa.DataType, expected: str) -> pa.Array:
    """The column as another type; an EncodeError has the first row that does not fit."""
    try:
        return array.cast(wanted)
    except pa.ArrowInvalid as error:
        place = next((row for row in range(len(array)) if not _casts(array.slice(row, 1), wanted)), 0)
        raise EncodeError(expected, f"a value of {array.type}").at(place) from error


def _casts(array: pa.Array, wanted: pa.DataType) -> bool:
    try:
        array.cast(wanted)
    except pa.ArrowInvalid:
        return False
    return True


# --- containers ------------------------------------------------------------------------------------------------------


def _listed(array: pa.Array, element: LogicalType, extensions: Sequence[ExtensionType]) -> list[object]:
    if kinds.is_null(array.type):
        return [None] * len(array)
    if not kinds.is_list(array.type) and not kinds.is_large_list(array.type):
        raise _refused("a column of lists", array)
    spans = _spans(array)
    elements = _elements(array.flatten(), element, extensions, spans)
    return [elements[start:end] if valid else None for start, end, valid in spans]


def _mapped(array: pa.Array, type: Map, extensions: Sequence[ExtensionType]) -> list[object]:
    if kinds.is_null(array.type):
        return [None] * len(array)
    if not kinds.is_map(array.type):
        raise _refused("a column of maps", array)
    listed = soundness.entries(array)
    spans, entries = _spans(listed), listed.flatten()
    keys, items = (
        _elements(entries.field(place), below, extensions, spans) for place, below in enumerate((type.key, type.value))
    )
    pairs = list(zip(keys, items, strict=True))
    return [Pairs(pairs[start:end]) if valid else None for start, end, valid in spans]


def _spans(array: pa.ListArray) -> list[tuple[int, int, bool]]:
    """The start and end of each list in the flattened elements, and whether the list is not null."""
    lengths = array.value_lengths().fill_null(0).to_pylist()
    ends = list(accumulate(lengths))
    return list(zip([0, *ends], ends, array.is_valid().to_pylist(), strict=False))


def _elements(
    array: pa.Array, type: LogicalType, extensions: Sequence[ExtensionType], spans: Sequence[tuple[int, int, bool]]
) -> list[object]:
    """The values in lists; an EncodeError has the row and the index in its list."""
    try:
        return _values(array, type, extensions)
    except EncodeError as error:
        place = _row(error)
        row = bisect_right(spans, place, key=lambda span: span[1])
        raise error.at(place - spans[row][0]).at(row) from error.__cause__


def _records(array: pa.StructArray, record: Record, extensions: Sequence[ExtensionType]) -> list[Value]:
    if kinds.is_null(array.type):
        return [None] * len(array)
    columns = _members(array, {member.name: member.type for member in record.fields}, extensions)
    names = [member.name for member in record.fields]
    valid = array.is_valid().to_pylist()
    if not columns:
        return [{} if good else None for good in valid]
    rows = zip(*columns, strict=True)
    return [dict(zip(names, row, strict=True)) if good else None for row, good in zip(rows, valid, strict=True)]


def _members(
    array: pa.StructArray, types: Mapping[str, LogicalType], extensions: Sequence[ExtensionType], *, named: bool = True
) -> list[Sequence[object]]:
    """The values of each member, null if its struct is null or the column is missing."""
    columns = _columns(array, list(types))
    nulls = [None] * len(array)
    found: list[Sequence[object]] = []
    for name, type in types.items():
        try:
            found.append(_values(columns[name], type, extensions) if name in columns else nulls)
        except EncodeError as error:
            row = _row(error)
            raise (error.at(name) if named else error).at(row) from error.__cause__
    return found


def _columns(array: pa.StructArray, names: Sequence[str]) -> dict[str, pa.Array]:
    """The members of a struct by name; raises ParameterError for an unknown or a repeated one."""
    if not kinds.is_struct(array.type):
        raise _refused("a column of structs", array)
    present = [field.name for field in array.type]
    for name in sorted(set(present) - set(names)):
        raise ParameterError(unknown_name("column", name, names))
    for name in present:
        if present.count(name) > 1:
            raise ParameterError(f"there are two columns {name!r}; drop one, or rename it")
    return dict(zip(present, array.flatten(), strict=True))


def _alternative_values(array: pa.Array, type: Alternatives, extensions: Sequence[ExtensionType]) -> list[object]:
    """The one member of each struct that is not null."""
    if kinds.is_null(array.type):
        return [None] * len(array)
    options = dict(alternatives(type))
    columns = _members(array, options, extensions, named=False)
    return _each(lambda values: _only(values, list(options)), zip(*columns, strict=True))


def _only(values: object, names: Sequence[str]) -> object:
    assert isinstance(values, tuple)
    present = [(name, value) for name, value in zip(names, values, strict=True) if value is not None]
    if len(present) > 1:
        raise EncodeError("a value of one kind", " and ".join(name for name, _ in present))
    return present[0][1] if present else None


# --- open values -----------------------------------------------------------------------------------------------------


def _open_values(array: pa.Array, extensions: Sequence[ExtensionType]) -> list[object]:
    if kinds.is_struct(array.type):
        return _variants(array, extensions)
    values = _plain(array)
    return _each(lambda value: _open_value(value, extensions), values)


def _open_value(value: object, extensions: Sequence[ExtensionType]) -> object:
    """The open value of wire bytes, or of tagged JSON text."""
    match value:
        case bytes():
            return OpenBytes(value)
        case str():
            return _checked_value(lambda: from_tagged(loads(value), extensions))
        case _:
            raise EncodeError("an open value", shown(value))


def _variants(array: pa.StructArray, extensions: Sequence[ExtensionType]) -> list[object]:
    columns = _columns(array, ["value", "metadata"])
    if len(columns) < 2:
        raise _refused("a column of VARIANT", array)
    names = {extension.code: extension.name for extension in reversed(extensions)}
    parts = [_plain(columns[name]) for name in ("value", "metadata")]
    valid = array.is_valid().to_pylist()
    pairs = [both if good else None for both, good in zip(zip(*parts, strict=True), valid, strict=True)]
    return _each(lambda both: _variant(both, names), pairs)


def _variant(parts: object, names: Mapping[int, str]) -> object:
    match parts:
        case (bytes(value), bytes(keys)):
            return _checked_value(lambda: variant.decode(value, keys, names))
        case _:
            raise EncodeError("the bytes of a VARIANT", "a VARIANT without them")


def _checked_value(read: Callable[[], object]) -> object:
    """The open value that `read` returns; raises EncodeError."""
    try:
        return read()
    except ValueError as error:
        raise EncodeError("an open value", str(error)) from error
    except RecursionError:
        raise EncodeError("an open value that the stack can hold", "one that is nested deeper") from None
