"""Partition folders, named as in Hive and Spark: `kind=a%2Fb/day=2024-05-01`.

The partition columns are left out of the files; readers take their values from the folder names. A name is text, so
columns whose values have no exact text (floats, bytes, nested columns) are refused before anything is read.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.failures import DataError, MisuseError, unknown

NULL = "__HIVE_DEFAULT_PARTITION__"
"""The folder value for null, and for an empty text, which Spark's own writer does not distinguish either."""
LONGEST = 255
"""Most bytes of a folder's name in common file systems."""
_EXACT = ("boolean", "byte", "short", "integer", "long", "string", "date", "timestamp", "timestamp_ntz")
_ESCAPED = {char: f"%{ord(char):02X}" for char in (*(chr(code) for code in (*range(0x20), 0x7F)), *"\"#%'*/:=?\\{[]^")}


def refuse_unfit(fields: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Raise MisuseError for names that are no columns, or whose values cannot name folders; `fields` are Spark's."""
    types = {field["name"]: field["type"] for field in fields}
    for at, name in enumerate(names):
        if name not in types:
            raise unknown("column of the records", name, types)
        if name in names[:at]:
            raise MisuseError(f"--partition-by names {name} twice")
        type = types[name]
        if not isinstance(type, str):
            why = f"it has the type {type['type']}"
        elif type in _EXACT or type.startswith("decimal"):
            continue
        else:
            why = f"a folder name cannot hold every {type} exactly"
        raise MisuseError(f"tables cannot be partitioned by {name}: {why}; choose a column of single values")


def parts_of(rows: pa.Table, by: Sequence[str]) -> Iterator[tuple[str, pa.Table]]:
    """The rows for each folder, in order and without the partition columns; raises DataError for an unfit value."""
    if not by:
        yield "", rows
        return
    codes = _codes(rows, by)
    order = pc.array_sort_indices(codes)
    ends = pc.run_end_encode(codes.take(order)).run_ends.to_pylist()
    rows = rows.take(order)
    firsts = rows.select(list(by)).take([0, *ends[:-1]])
    names = [[_named(name, value) for value in _texts(firsts[name])] for name in by]
    rows = rows.drop_columns(list(by))
    for folder, (start, end) in zip(zip(*names, strict=True), pairwise([0, *ends]), strict=True):
        yield "/".join(folder), rows.slice(start, end - start)


def nulls(by: Sequence[str]) -> str:
    """The folder of a row whose partition columns are all null."""
    return "/".join(_named(name, None) for name in by)


def _codes(rows: pa.Table, by: Sequence[str]) -> pa.Array:
    """A number for each row, equal for rows of the same folder."""
    codes: pa.Array | None = None
    for name in by:
        column = rows[name].combine_chunks()
        if not pa.types.is_dictionary(column.type):
            column = pc.dictionary_encode(column, null_encoding="encode")
        numbers = pc.fill_null(column.indices.cast(pa.int64()), len(column.dictionary))
        # re-encoded at each step, so that products stay below the square of the number of rows
        codes = numbers if codes is None else pc.add(pc.multiply(codes, len(column.dictionary) + 1), numbers)
        codes = pc.dictionary_encode(codes).indices.cast(pa.int64())
    return cast(pa.Array, codes)


def _texts(values: pa.ChunkedArray) -> list[str | None]:
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return cast(list[str | None], values.cast(pa.string()).to_pylist())


def _named(name: str, value: str | None) -> str:
    folder = f"{_escaped(name)}={_escaped(value) if value else NULL}"
    if (size := len(folder.encode())) > LONGEST:
        raise DataError(
            f"records cannot be partitioned by {name}: a value would give a folder name of {size} bytes, "
            f"but at most {LONGEST} are possible; partition by another column, in another --output"
        )
    return folder


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(char, char) for char in text)
