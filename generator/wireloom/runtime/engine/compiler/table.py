"""Running a reading program: the engine's buffers become Arrow arrays of records, errors and flat rows.

`Table.compiled` makes the program of a request. `batches` runs it, reads each record that the engine gave up with the
parser, merges its value or error, and splits the result below Arrow's limit of 2 GiB. Values, errors and record
numbers are those that the parser would give.
"""

from array import array as numbers
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.columns import arrow, interpretation, repetition
from wireloom.runtime.columns.arrow import ERROR, Decoded
from wireloom.runtime.columns.logical import List, LogicalField, LogicalType, Record
from wireloom.runtime.columns.projection import project
from wireloom.runtime.columns.rows import row_record
from wireloom.runtime.engine.compiler import Compiler
from wireloom.runtime.engine.host import Host, Request
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.errors import DecodeError

_FORMS = {pa.binary(): 0, pa.string(): 0, pa.large_binary(): 1, pa.large_string(): 1, pa.binary_view(): 2}
_FAILED = 2
_ROWS = "rows"
_GIVEN_UP = "each record has something that the engine leaves to the parser, mostly a number beyond 64 bits in between"


@dataclass(frozen=True, slots=True)
class Followed:
    """The records read from a window: starts, sizes, the end of the last one, and whether the columns are full."""

    batch: Any
    starts: pa.Int64Array
    sizes: pa.Int64Array
    end: int
    full: bool


@dataclass(frozen=True, slots=True)
class Table:
    """A program with the types of its output."""

    engine: Host
    native: Any
    program: Any
    columns: Sequence[Column]
    type: Record | List
    open_values: arrow.OpenValues
    rows: str = ""  # the list whose elements become flat rows, if they are requested
    row: Record | None = None  # the type of a flat row
    varying: tuple[str, ...] = ()  # the columns of variable size that flat rows repeat

    @classmethod
    def compiled(cls, engine: Host, native: Any, request: Request) -> "Table":
        """Compile a request; raises Uncovered, and ValueError for unknown columns."""
        root = engine.root(request)
        type: Record | List
        rows, row, varying = "", None, tuple[str, ...]()
        if root.elements:
            type = List(project(root.logical, request.columns))
        elif request.explode and root.rows:
            rows, row, type = _flat(root.logical, root.rows, request.columns)
            bound = repetition.Bound.of(
                root.tabulation, arrow.View(request.columns, request.explode, request.open_values)
            )
            varying = () if bound is None else tuple(bound.names)
        else:
            type = project(root.logical, request.columns)
        shown = request.open_values
        compiler = Compiler(native, engine.layout, request.settings, type, shown, engine.codec.extensions)
        return cls(engine, native, compiler.program(request.root), compiler.columns, type, shown, rows, row, varying)

    @staticmethod
    def takes(array: object) -> bool:
        """Whether the engine can read an array of this type."""
        return isinstance(array, pa.Array | pa.ChunkedArray) and array.type in _FORMS

    def decode(self, array: pa.Array, request: Request) -> Decoded:
        """All columns in one part; raises OverflowError if they exceed Arrow's 2 GiB (use `batches`)."""
        batches = list(self.batches(array, request))
        if len(batches) != 1:
            raise arrow.too_many()
        return batches[0]

    def batches(self, array: pa.Array, request: Request, row_budget: int = 0) -> Iterator[Decoded]:
        """The columns in parts, each below 2 GiB and, for lists of rows, not far above the row budget."""
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        form, start, count = _FORMS[array.type], 0, len(array)
        limit = self.engine.root(request).size_limit(request.settings)
        bounds = *((row_budget, self._listed()) if row_budget else (0, -1)), -1 if limit is None else limit
        while True:
            batch = self.program.run(form, array.buffers(), array.offset, start, count, *bounds)
            records, errors, accepted = self._judged(array, batch, start, request)
            yield from (part for _, _, part in self.parts(records, errors, accepted, start=start))
            start += batch.consumed
            if start >= count:
                return

    def leading(self, array: pa.Array, request: Request, made: int) -> tuple[Decoded, int]:
        """The columns of the first values, up to about `made` bytes, and the number of these values."""
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        limit = self.engine.root(request).size_limit(request.settings)
        bounds = 0, -1, -1 if limit is None else limit, made
        batch = self.program.run(_FORMS[array.type], array.buffers(), array.offset, 0, len(array), *bounds)
        _, count, first = next(self.parts(*self._judged(array, batch, 0, request), made))
        return first, count

    def given_up(self, array: pa.Array, request: Request) -> Iterator[int]:
        """The rows that the engine gives up; no columns are made of the others."""
        form, start, count = _FORMS[array.type], 0, len(array)
        limit = self.engine.root(request).size_limit(request.settings)
        while start < count:
            batch = self.program.run(
                form, array.buffers(), array.offset, start, count, 0, -1, -1 if limit is None else limit
            )
            yield from (start + row for row in _failed(batch))
            start += batch.consumed

    def _listed(self) -> int:
        """The column whose elements are the rows; -1 if each record is a row."""
        root = self.columns[0]
        if root.kind == "list":
            return root.element.index
        return root.children[self.rows].element.index if self.rows else -1

    def _judged(
        self, array: pa.Array, batch: Any, start: int, request: Request
    ) -> tuple[pa.Array, dict[int, DecodeError], dict[int, Any]]:
        """The records of a batch, and by row the parser's errors and values for those that the engine gave up."""
        records = self.records(batch)
        errors: dict[int, DecodeError] = {}
        accepted: dict[int, Any] = {}
        doubtful = sorted([*_failed(batch), *self.excessive(records)])
        if not doubtful:
            return records, errors, accepted
        reader = self.engine.reader(request)
        for row in doubtful:
            try:
                data = array[start + row].as_buffer().to_pybytes()
                accepted[row] = reader.read_all(data, self.program.checkpoints(data))
            except DecodeError as error:
                if request.stop:
                    raise
                errors[row] = error.bare()
        return records, errors, accepted

    def follow(  # noqa: PLR0913 - a window, and the framing of its records
        self,
        window: bytes,
        position: int,
        ask: "Callable[[int, int, int], int]",
        request: Request,
        *,
        prefixed: bool,
        largest: int,
        ahead: int,
        made: int,
    ) -> "Followed":
        """Read the records in a window of a stream, up to the first incomplete one or to `made` bytes of columns.

        With fewer than `ahead` bytes left, a record is not taken for one of the second byte order.
        """
        limit = self.engine.root(request).size_limit(request.settings)
        bounds = -1 if limit is None else limit, largest, ahead
        batch, *places, end, full = self.native.follow(self.program, window, position, prefixed, *bounds, ask, made)
        starts, sizes = (
            pa.Array.from_buffers(pa.int64(), len(each) // 8, [None, pa.py_buffer(each)]) for each in places
        )
        return Followed(batch, starts, sizes, end, full)

    def records(self, batch: Any) -> pa.Array:
        """The records that the engine read, as an Arrow array."""
        return self._array(batch, self.columns[0], self.type)

    def excessive(self, records: pa.Array) -> list[int]:
        """The rows of records whose flat rows would repeat more than the limit allows; the parser reports them."""
        return [] if self._is_little(records) else repetition.excessive(self._repeated(records))

    def parts(
        self,
        records: pa.Array,
        errors: dict[int, DecodeError],
        accepted: dict[int, Any],
        most: int | None = None,
        start: int = 0,
    ) -> Iterator[tuple[int, int, Decoded]]:
        """The columns in parts: first row, end row, and the decoded columns of each.

        Flat rows repeat at most `most` bytes in each part (None: what a column may hold), except for a single record.
        `errors` and `accepted` are the parser's results, by row.
        """
        self.engine.reread += len(accepted)
        overruled = {row: None for row in errors if records[row].is_valid} if self.varying else {}
        if accepted or overruled:
            records = _merged(records, accepted | overruled, self.type, self.open_values)
        shown, good, bad = _errors(errors, len(records)), sorted(accepted), sorted(errors)
        for first, last in self._spans(records, most):
            part = self._shaped(records[first:last], shown[first:last], start + first)
            given, refused = (bisect_left(rows, last) - bisect_left(rows, first) for rows in (good, bad))
            reason = _GIVEN_UP if given and given + refused == last - first else ""
            yield first, last, replace(part, reread=given + refused, reason=reason)

    def _spans(self, records: pa.Array, most: int | None) -> Iterator[tuple[int, int]]:
        if self._is_little(records, most):
            return iter([(0, len(records))])
        return repetition.spans(self._repeated(records), most)

    def _is_little(self, records: pa.Array, most: int | None = None) -> bool:
        """Whether flat rows certainly repeat little data."""
        return not self.varying or repetition.is_little(records, self.varying, records.field(self.rows), most)

    def _repeated(self, records: pa.Array) -> pa.Int64Array:
        """How much data the flat rows of each record repeat."""
        return repetition.sizes(records, self.varying, pc.list_value_length(records.field(self.rows)))

    def _shaped(self, records: pa.Array, errors: pa.StructArray, start: int) -> Decoded:
        """The records, or their flat rows."""
        if not self.rows and isinstance(self.type, Record):
            return Decoded(records, errors)
        lists = records if isinstance(self.type, List) else records.field(self.rows)
        rows = _Rows.of(lists, records)
        found = rows.elements(lists)
        parents = rows.parents if not start else pc.add(rows.parents, pa.scalar(start, pa.int32()))
        if self.row is not None:
            found = self._joined(found, records, rows)
        shown = pa.nulls(len(found), ERROR) if errors.null_count == len(errors) else errors.take(rows.parents)
        return Decoded(found, shown, parents)

    def _joined(self, elements: pa.StructArray, records: pa.StructArray, rows: "_Rows") -> pa.StructArray:
        """The members of each element, with the other columns of its record."""
        assert self.row is not None
        own = {field.name for field in elements.type}
        if not self.row.fields:
            return elements
        parts = [
            elements.field(member.name) if member.name in own else records.field(member.name).take(rows.parents)
            for member in self.row.fields
        ]
        type = arrow.arrow_type(self.row, self.open_values)
        mask = elements.is_null() if elements.null_count else None
        return pa.StructArray.from_arrays(parts, fields=list(type), mask=mask)

    def _array(self, batch: Any, column: Column, type: LogicalType) -> pa.Array:
        wired = arrow.arrow_type(interpretation.on_wire(type), self.open_values)
        return interpretation.shown(_built(batch, column, wired), type, self.native)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The flat rows of lists: the record of each row, and its element (None: all elements, in order)."""

    parents: pa.Array
    places: pa.Array | None

    @classmethod
    def of(cls, lists: pa.ListArray, records: pa.Array) -> "_Rows":
        """The rows of lists; a null record has one null row."""
        if not records.null_count:
            return cls(pc.list_parent_indices(lists).cast(pa.int32()), None)
        starts, stops = lists.offsets[:-1], lists.offsets[1:]
        valid, one = records.is_valid(), pa.scalar(1, pa.int32())
        ends = pc.cumulative_sum(pc.if_else(valid, pc.subtract(stops, starts), one))
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        rows = pa.repeat(one, offsets[-1].as_py())
        parents = pc.list_parent_indices(pa.ListArray.from_arrays(offsets, rows)).cast(pa.int32())
        shift = pc.if_else(valid, pc.subtract(starts, offsets[:-1]), None)  # of rows and elements
        return cls(parents, pc.add(pc.subtract(pc.cumulative_sum(rows), one), shift.take(parents)))

    def elements(self, lists: pa.ListArray) -> pa.Array:
        """The element of each row."""
        if self.places is not None:
            return lists.values.take(self.places)
        first, last = (lists.offsets[place].as_py() for place in (0, -1))
        return lists.values[first:last]


def _built(batch: Any, column: Column, type: pa.DataType, *, nullable: bool = True) -> pa.Array:
    """Build a column and its children."""
    length, validity, offsets, data = batch.take(column.index)
    buffers = [pa.py_buffer(validity) if validity is not None and nullable else None]
    buffers += [pa.py_buffer(block) for block in (offsets, data) if block is not None]
    below = list(column.children.values())
    if column.kind == "list":
        children = [_built(batch, below[0], _element(type), nullable=not pa.types.is_map(type))]
    else:
        children = [
            _built(batch, child, field.type, nullable=field.nullable)
            for child, field in zip(below, list(type) if below else (), strict=True)
        ]
    return pa.Array.from_buffers(type, length, buffers, children=children or None)


def _element(type: pa.DataType) -> pa.DataType:
    """The Arrow type of a list's elements, or of a map's entries."""
    return pa.struct([type.key_field, type.item_field]) if pa.types.is_map(type) else type.value_type


def _failed(batch: Any) -> Iterator[int]:
    """The rows that the engine gave up."""
    status, row = batch.status, -1
    for _ in range(batch.failed):
        row = status.index(_FAILED, row + 1)
        yield row


def _errors(errors: dict[int, DecodeError], length: int) -> pa.StructArray:
    """One error struct for each failed row, null for the others."""
    nothing = pa.nulls(1 if errors else length, ERROR)
    if not errors:
        return nothing
    places = numbers("i", [len(errors)]) * length
    for place, row in enumerate(errors):
        places[row] = place
    found = pa.concat_arrays([arrow.errors_array(errors.values()), nothing])
    return found.take(pa.Array.from_buffers(pa.int32(), length, [None, pa.py_buffer(places)]))


def _merged(records: pa.Array, values: dict[int, Any], type: Record | List, open_values: arrow.OpenValues) -> pa.Array:
    """The records, with the parser's values in the rows that the engine gave up."""
    outer = Record((LogicalField(_ROWS, type, nullable=True),))
    rows = [{_ROWS: value} for value in values.values()]
    added = arrow.to_struct_array(rows, outer, open_values=open_values).field(_ROWS)
    places = numbers("q", range(len(records)))
    for place, row in enumerate(values):
        places[row] = len(records) + place
    both = pa.concat_arrays([records, added.cast(records.type)])
    return both.take(pa.Array.from_buffers(pa.int64(), len(records), [None, pa.py_buffer(places)]))


def _flat(record: Record, rows: Sequence[str], columns: Sequence[str] | None) -> tuple[str, Record, Record]:
    """The list of rows, the type of a requested flat row, and the type of the records it is made from."""
    if len(rows) != 1:
        raise Uncovered("`rows` that name a list inside of a nested record")
    member = next(member for member in record.fields if member.name == rows[0])
    if not isinstance(member.type, List) or not isinstance(member.type.element, Record):
        raise Uncovered("`rows` that name a list whose elements are not structs")
    row = project(row_record(record, rows), columns)
    own = {each.name for each in member.type.element.fields}
    inner = Record(tuple(each for each in row.fields if each.name in own))
    outer = tuple(each for each in row.fields if each.name not in own)
    listed = replace(member, type=replace(member.type, element=inner))
    return rows[0], row, Record((listed, *outer))
