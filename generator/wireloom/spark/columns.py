"""The work of column functions on executors: one Arrow array in, one of the same length out.

SQL may give options as a second argument, a constant map. These cannot change the type of the result.
"""

from collections import Counter
from dataclasses import replace
from itertools import accumulate

import pyarrow as pa

from wireloom.runtime.errors import ParameterError
from wireloom.spark.decoding import Decoding, corrupt
from wireloom.spark.options import Options, Surface, read_options

_TOO_LARGE = (
    "a column of decoded values exceeds Arrow's 2 GiB: lower spark.sql.execution.arrow.maxBytesPerBatch, select "
    "fewer fields, or use decode(), which splits batches"
)


def records(decoding: Decoding, surface: Surface, values: pa.Array, given: pa.MapArray | None = None) -> pa.Array:
    """Decode each value to a struct, or to a list of structs if the root is a list."""
    settled = _settled(decoding, surface, given)
    try:
        found = settled.decoded(values)
    except OverflowError as error:
        raise OverflowError(_TOO_LARGE) from error
    if found.parents is not None:
        return _lists(found.records, found.parents, len(values))
    return with_added(found.records, found.errors, values, settled.options)


def problems(decoding: Decoding, surface: Surface, values: pa.Array, given: pa.MapArray | None = None) -> pa.Array:
    """The problems of each value: an empty list if there are none, null for null."""
    settled = _settled(decoding, surface, given)
    validator, options = settled.opened().VALIDATOR, settled.options
    return validator.validate_many(values, root=options.root, **dict(options.parameters))


def encoded(decoding: Decoding, surface: Surface, values: pa.StructArray, given: pa.MapArray | None = None) -> pa.Array:
    """Encode each struct to bytes."""
    settled = _settled(decoding, surface, given)
    options = settled.options
    return settled.opened().CODEC.encode(values, root=options.root, **dict(options.parameters))


def with_added(found: pa.StructArray, wrong: pa.StructArray, values: pa.Array, options: Options) -> pa.StructArray:
    """Records with the columns of the corrupt record and of the error, if these have names.

    A bad record is a struct with only these columns; null stays null.
    """
    children, fields = [], []
    if options.column_of_corrupt_record is not None:
        children.append(corrupt(values, wrong))
        fields.append(pa.field(options.column_of_corrupt_record, pa.binary()))
    if options.column_of_error is not None:
        children.append(wrong)
        fields.append(pa.field(options.column_of_error, wrong.type))
    if not children:
        return found
    mask = values.is_null() if values.null_count else None
    return pa.StructArray.from_arrays([*found.flatten(), *children], fields=[*found.type, *fields], mask=mask)


def _settled(decoding: Decoding, surface: Surface, given: pa.MapArray | None) -> Decoding:
    """The decoding with the options of a second argument."""
    if given is None or not len(given) or not given[0].is_valid:
        return decoding
    if not given[1:].equals(given[:-1]):
        raise ParameterError(f"the options of {surface.name} must be the same in all rows: a constant map")
    words = dict(given[0].as_py())
    said = read_options(words, decoding.opened().CODEC, surface)
    mode = said.mode if any(word.lower() == "mode" for word in words) else decoding.options.mode
    parameters = {**dict(decoding.options.parameters), **dict(said.parameters)}
    return replace(decoding, options=replace(decoding.options, mode=mode, parameters=tuple(parameters.items())))


def _lists(found: pa.StructArray, parents: pa.Array, length: int) -> pa.ListArray:
    """The records of each value as a list; null if the value is null or bad."""
    good = found.is_valid()
    counts = Counter(parents.filter(good).to_pylist())
    missing = set(parents.filter(found.is_null()).to_pylist())
    offsets = pa.array([0, *accumulate(counts[row] for row in range(length))], pa.int32())
    mask = pa.array([row in missing for row in range(length)], pa.bool_())
    type = pa.list_(pa.field("element", found.type))
    return pa.ListArray.from_arrays(offsets, found.filter(good), type=type, mask=mask)
