"""Checks of Arrow arrays from callers: inconsistent arrays are refused before a pointer is followed.

An array may come from anywhere (a file, another process, `from_buffers`), and pyarrow itself checks only its lengths.
An offset, a view or a dictionary index that leads out of its buffers is found here, once per array; all later code may
then read and cast freely. Only the data that the slice refers to is checked, so many slices of one array cost together
what the array costs.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wireloom.runtime.errors import ParameterError

_BYTES = {
    pa.binary(): pa.binary(),
    pa.string(): pa.binary(),
    pa.large_binary(): pa.large_binary(),
    pa.large_string(): pa.large_binary(),
    pa.binary_view(): pa.binary_view(),
    pa.string_view(): pa.binary_view(),
}
"""Types of bytes and texts, and the type to check them as: invalid UTF-8 is an error of a record, not of the array."""


def records_of(array: object) -> pa.Array | pa.ChunkedArray:
    """The records passed to `decode`, as an array; raises ParameterError for another object, or ValueError."""
    if isinstance(array, list | tuple):
        return _listed(array)
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        raise ParameterError(
            f"records are an Arrow array or a list of binary or string values, not {type(array).__name__}"
        )
    if not (array.type in _BYTES or kinds.is_fixed_size_binary(array.type) or kinds.is_null(array.type)):
        raise ParameterError(f"records are an Arrow array of binary or string values, not of {array.type}; cast it")
    check(array, "the array of records")
    if kinds.is_null(array.type):
        return array.cast(pa.binary())
    if kinds.is_string_view(array.type):
        return array.cast(pa.binary_view())
    return array.cast(pa.large_binary()) if kinds.is_fixed_size_binary(array.type) else array


def _listed(records: Sequence[object]) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(records, pa.binary())
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise ParameterError(f"records are bytes or texts, one each: {error}") from None


def columns_of(records: object) -> pa.StructArray:
    """The columns passed to `encode`, one struct per row; raises ParameterError for another object, or ValueError."""
    if isinstance(records, pa.RecordBatch | pa.Table):
        check_all(records.columns, [f"the column {name!r}" for name in records.schema.names])
        records = records.to_struct_array()
    elif isinstance(records, pa.Array | pa.ChunkedArray) and kinds.is_struct(records.type):
        check(records, "the array of columns")
    else:
        shown = records.type if isinstance(records, pa.Array | pa.ChunkedArray) else type(records).__name__
        raise ParameterError(f"columns are a RecordBatch, a Table or an Arrow array of structs, not {shown}")
    if not isinstance(records, pa.ChunkedArray):
        return records
    return records.combine_chunks() if records.num_chunks != 1 else records.chunk(0)


def check_all(arrays: "Sequence[pa.Array | pa.ChunkedArray]", names: Sequence[str]) -> None:
    """`check` each array."""
    for array, name in zip(arrays, names, strict=True):
        check(array, name)


def check(array: "pa.Array | pa.ChunkedArray", name: str) -> None:
    """Raise ValueError if the array is inconsistent; otherwise every read of it stays within its buffers."""
    try:
        for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else (array,):
            chunk.validate()
            _check(chunk)
    except (pa.ArrowInvalid, pa.ArrowIndexError) as error:
        raise ValueError(f"{name} is inconsistent: {error}") from error


def _check(array: pa.Array) -> None:
    """Raise ArrowInvalid or ArrowIndexError if the array, or one below it, refers to data that it does not have."""
    type = array.type
    if type in _BYTES:
        _as(_BYTES[type], array).validate(full=True)
    elif kinds.is_struct(type):
        for place in range(type.num_fields):
            _check(array.field(place))
    elif kinds.is_list(type) or kinds.is_large_list(type) or kinds.is_map(type):
        _check_list(array)
    elif kinds.is_dictionary(type):
        _check_dictionary(array)
    elif not (kinds.is_primitive(type) or kinds.is_decimal(type) or kinds.is_null(type)):
        array.validate(full=True)


def _as(type: pa.DataType, array: pa.Array, children: Sequence[pa.Array] | None = None) -> pa.Array:
    """The array's own buffers as another type."""
    buffers = array.buffers()[:2] if children is not None else array.buffers()
    return pa.Array.from_buffers(type, len(array), buffers, offset=array.offset, children=children)


def _check_list(array: pa.Array) -> None:
    plain = (pa.large_list if kinds.is_large_list(array.type) else pa.list_)(pa.null())
    below = [array.keys, array.items] if kinds.is_map(array.type) else [array.values]
    _as(plain, array, [pa.nulls(min(len(each) for each in below))]).validate(full=True)
    for each in _elements(array, below):
        _check(each)


def _check_dictionary(array: pa.DictionaryArray) -> None:
    array.indices.validate(full=True)
    bounds = pc.min_max(array.indices)
    least, most = bounds["min"].as_py(), bounds["max"].as_py()
    size = len(array.dictionary)
    if least is not None and not (least >= 0 and most < size):
        raise pa.ArrowInvalid(f"an index of {least if least < 0 else most} into a dictionary of {size}")
    _check(array.dictionary)


def _elements(array: pa.Array, below: Sequence[pa.Array]) -> list[pa.Array]:
    """The parts of the arrays below a list array, which may be a slice, that it refers to."""
    offsets = array.offsets if len(array) else pa.array([0], pa.int32())
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    return [each.slice(first, last - first) for each in below]


def members(array: pa.StructArray) -> list[pa.Array]:
    """The members of structs, null where the struct is null, whatever their buffers have there."""
    if array.null_count:
        found: list[pa.Array] = array.flatten()
        return found
    return [array.field(place) for place in range(array.type.num_fields)]


def trimmed(array: pa.ListArray) -> pa.ListArray:
    """The lists, without values below them that they do not refer to (and that `check` has not checked).

    A null list may refer to values; they are not part of the record, and are dropped.
    """
    lengths = pc.fill_null(array.value_lengths(), 0) if array.null_count else None
    (values,) = _elements(array, [array.values])
    if lengths is not None and (pc.sum(lengths).as_py() or 0) < len(values):
        ends = pc.cumulative_sum(lengths)
        offsets = pa.concat_arrays([pa.array([0], ends.type), ends])
        return pa.ListArray.from_arrays(offsets, array.flatten(), type=array.type, mask=array.is_null())
    if len(values) == len(array.values):
        return array
    offsets = pc.subtract(array.offsets, array.offsets[0]) if len(array) else pa.array([0], pa.int32())
    mask = array.is_null() if array.null_count else None
    return pa.ListArray.from_arrays(offsets, values, type=array.type, mask=mask)


def entries(array: pa.MapArray) -> pa.ListArray:
    """A map array as lists of structs of key and value."""
    fields = [array.type.key_field, array.type.item_field]
    below = pa.StructArray.from_arrays([array.keys, array.items], fields=fields)
    return _as(pa.list_(pa.struct(fields)), array, [below])


def is_bytes(type: pa.DataType) -> bool:
    """Whether it is a type of bytes or texts."""
    return type in _BYTES
