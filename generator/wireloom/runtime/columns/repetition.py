"""The limit on what flat rows repeat: each row has the columns of its record.

A text of a megabyte in a record with a thousand rows is a gigabyte of columns. So the rows of several records are made
in parts, each of which repeats a bounded number of bytes. A record whose own rows would repeat too much is a bad
record.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns.arrow import OpenValues, Tabulation, View, arrow_type, to_struct_array
from wireloom.runtime.columns.logical import Record
from wireloom.runtime.columns.projection import project
from wireloom.runtime.columns.rows import parted, repeated, row_record
from wireloom.runtime.errors import DecodeError

REPEATED = 1 << 30
"""The most bytes and list elements that the rows of one record may repeat."""
COLUMN = (1 << 31) - 1
"""The most that one Arrow column can hold, for all records together."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The limit on what the flat rows of a record repeat, checked on its value."""

    path: tuple[str, ...]
    beside: Record
    open_values: OpenValues

    @classmethod
    def of(cls, tabulation: Tabulation, view: View) -> "Bound | None":
        """The limit for a view of a root; None if rows are records, or repeat only values of fixed size."""
        path = tuple(tabulation.rows)
        if not (path and view.explode) or tabulation.elements:
            return None
        names = {member.name for member in repeated(tabulation.record, path).fields}
        row = project(row_record(tabulation.record, path), view.columns)
        beside = (member for member in row.fields if member.name in names)
        varying = tuple(each for each in beside if varies(arrow_type(each.type, view.open_values)))
        return cls(path, Record(varying), view.open_values) if varying else None

    def size(self, value: Mapping[str, Any]) -> int:
        """The bytes and elements that the rows of a value repeat."""
        elements, rest = parted(value, self.path)
        if not elements:
            return 0
        records = to_struct_array([rest], self.beside, open_values=self.open_values)
        (size,) = sizes(records, self.names, pa.array([len(elements)])).to_pylist()
        return cast(int, size)

    def hold(self, value: Mapping[str, Any]) -> None:
        """Raises DecodeError if the rows of a value repeat too much."""
        size = self.size(value)
        if size > REPEATED:
            expected = f"rows that repeat at most {REPEATED} bytes of their record"
            error = DecodeError("size_limit", offset=0, expected=expected, actual=f"{size} bytes")
            for name in reversed(self.path):
                error.at(name)
            raise error

    @property
    def names(self) -> list[str]:
        """The repeated columns of variable size."""
        return [member.name for member in self.beside.fields]


def varies(type: pa.DataType) -> bool:
    """Whether values of a type vary in bytes or elements."""
    if pa.types.is_struct(type):
        return any(varies(field.type) for field in type)
    return not pa.types.is_primitive(type) and not pa.types.is_decimal(type)


def is_little(records: pa.StructArray, names: Sequence[str], lists: pa.ListArray, most: int | None = None) -> bool:
    """A quick test whether the rows of all records surely repeat at most `most` (None: the limit of one record).

    Buffers have at least one bit per repeated byte or element, and no list is longer than the longest.
    """
    most = REPEATED if most is None else most
    bits: int = 8 * sum(records.field(name).nbytes for name in names)
    return bits * len(lists.values) <= most or bits * _longest(lists) <= most


def _longest(lists: pa.ListArray) -> int:
    return cast(int, pc.max(pc.list_value_length(lists)).as_py() or 0)


def sizes(records: pa.StructArray, names: Sequence[str], counts: pa.Array) -> pa.Int64Array:
    """What the rows of each record repeat of these columns, given the number of its rows."""
    held = _sum([_size(records.field(name)) for name in names], len(records))
    return pc.multiply(pc.min_element_wise(held, COLUMN), pc.fill_null(counts.cast(pa.int64()), 0))


def excessive(repeated: pa.Int64Array) -> list[int]:
    """The records whose rows repeat too much."""
    return cast("list[int]", pc.indices_nonzero(pc.greater(repeated, REPEATED)).to_pylist())


def spans(repeated: pa.Int64Array, most: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of records that together repeat at most `most` (None: the limit of a column), or of a single record."""
    most = COLUMN if most is None else most
    if (pc.sum(repeated).as_py() or 0) <= most:
        yield 0, len(repeated)
        return
    first = total = 0
    for row, size in enumerate(repeated.to_pylist()):
        if row > first and total + size > most:
            yield first, row
            first, total = row, 0
        total += size
    yield first, len(repeated)


def _size(values: pa.Array) -> pa.Int64Array:
    """The bytes of texts and the elements of lists in each value; 0 for null."""
    if pa.types.is_struct(values.type):
        varying = [each for each in values.flatten() if varies(each.type)]
        return _sum([_size(each) for each in varying], len(values))
    if isinstance(values, pa.ListArray | pa.MapArray):
        below = [values.keys, values.items] if isinstance(values, pa.MapArray) else [values.values]
        own = pa.repeat(pa.scalar(1, pa.int64()), len(below[0]))
        each = _sum([own, *(_size(child) for child in below if varies(child.type))], len(own))
        until = pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(each)])
        ends = until.take(values.offsets)
        found = pc.subtract(ends[1:], ends[:-1])
    else:
        found = pc.binary_length(values).cast(pa.int64())
    return pc.if_else(values.is_valid(), found, 0)


def _sum(parts: Sequence[pa.Int64Array], count: int) -> pa.Int64Array:
    total = pa.repeat(pa.scalar(0, pa.int64()), count)
    for part in parts:
        total = pc.add(total, part)
    return total
