"""Running a writing program: Arrow columns become buffers for the engine, and its output an Arrow array of records.

`Table.batches` runs the program over the rows. If the value decides the byte order, a second program writes the rows
that the first gave up. The builders write the remaining ones, and report errors. The result has one record for each
row, or the error of the first row that cannot be encoded.
"""

from array import array as numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wireloom.runtime.columns import arrow, interpretation, reading, soundness
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
    Text,
    kind_name,
)
from wireloom.runtime.engine.encoder.program import compiled, orders
from wireloom.runtime.engine.host import NATIVE, Host, Path, Request
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.columns import Column

_GIVEN_UP = 2
Buffers = tuple[Any, Any, Any, int, int]  # validity, offsets, data; the array's own offset and its length


@dataclass(frozen=True, slots=True)
class Table:
    """A writing program, the columns that it reads, and what writes the rows that it gives up."""

    engine: Host
    native: Any
    program: Any
    columns: Sequence[Column]
    type: Record
    next: "Table | None"  # the program of the other byte order, if the value decides it; else the construct path
    path: Path

    @classmethod
    def compiled(cls, engine: Host, native: Any, request: Request, *, drafts: bool = False) -> "Table":
        """Compile a request, possibly for drafts; raises Uncovered."""
        type, found = engine.root(request).logical, None
        first, *others = orders(engine.layout, request.settings, request.root)
        if drafts and first:
            raise Uncovered("converting records that choose their byte order")
        for order in (*reversed(others), first):
            compiler, program = compiled(
                native, engine.layout, request.settings, type, order, request.root, drafts=drafts
            )
            found = cls(engine, native, program, compiler.columns, type, found, NATIVE)
        assert found is not None, "there is one order at least"
        return found

    def encode(self, records: pa.StructArray, request: Request) -> pa.Array:
        """All records in one array; raises OverflowError if they exceed Arrow's 2 GiB (use `batches`)."""
        batches = list(self.batches(records, request))
        if len(batches) != 1:
            raise OverflowError("the records do not fit into one Arrow array of 2 GiB; encode fewer rows at a time")
        return batches[0]

    def batches(self, records: pa.StructArray, request: Request) -> Iterator[pa.Array]:
        """The records in parts below 2 GiB; raises Uncovered, and EncodeError for the first row that is invalid."""
        start = 0
        while True:
            written = self.run(records, request, start)
            yield self._built(records, written, range(start, len(records)), request)
            start += written.consumed
            if start >= len(records):
                return

    def attempted(self, records: pa.StructArray, request: Request) -> pa.Array:
        """The records that the program wrote, null for those given up; raises Uncovered, also beyond Arrow's 2 GiB."""
        written = self.run(records, request)
        if written.consumed < len(records):
            raise Uncovered("records that do not fit into one Arrow array")
        blocks = [None if block is None else pa.py_buffer(block) for block in written.take()]
        found = pa.Array.from_buffers(pa.binary(), written.consumed, blocks)
        status = pa.Array.from_buffers(pa.uint8(), written.consumed, [None, pa.py_buffer(bytes(written.status))])
        return pc.if_else(pc.equal(status, _GIVEN_UP), pa.scalar(None, pa.binary()), found)

    def run(self, records: pa.StructArray, request: Request, start: int = 0) -> Any:
        """Run the program over the rows from `start` on; raises Uncovered."""
        given = self.gathered(records)
        limit = self.engine.root(request).size_limit(request.settings)
        return self.program.run(given, start, len(records), -1 if limit is None else limit)

    def gathered(self, records: pa.StructArray) -> list[Buffers | None]:
        """The buffers of each column, in the types that the program reads; raises Uncovered."""
        gathered = _Gathered(self.native, [None] * len(self.columns))
        _gather(records, self.columns[0], self.type, gathered)
        return gathered.buffers

    def _built(self, records: pa.StructArray, written: Any, rows: Sequence[int], request: Request) -> pa.Array:
        """The program's records, completed with those that it gave up; `rows` are the numbers of its rows."""
        found = pa.Array.from_buffers(
            pa.binary(), written.consumed, [None if block is None else pa.py_buffer(block) for block in written.take()]
        )
        failed = list(_given_up(written))
        if not failed:
            return found
        built = self._again(records, [rows[row] for row in failed], request)
        places = numbers("q", range(written.consumed))
        for place, row in enumerate(failed):
            places[row] = written.consumed + place
        taken = pa.Array.from_buffers(pa.int64(), written.consumed, [None, pa.py_buffer(places)])
        try:
            return pa.concat_arrays([found, *built]).take(taken)
        except pa.ArrowInvalid as error:
            raise OverflowError("the records do not fit into one Arrow array of 2 GiB; encode fewer rows") from error

    def _again(self, records: pa.StructArray, rows: list[int], request: Request) -> list[pa.Array]:
        """Write rows in the other byte order, or with the construct path."""
        if self.next is None:
            self.engine.rebuilt += len(rows)
            return [pa.array(self._rebuilt(records, rows, request), pa.binary())]
        built: list[pa.Array] = []
        for part in _taken(records, rows):
            start = 0
            while start < len(part):
                done = sum(map(len, built))
                written = self.next.run(part, request, start)
                built.append(self.next._built(records, written, rows[done:], request))
                start += written.consumed
        return built

    def _rebuilt(self, records: pa.StructArray, rows: list[int], request: Request) -> list[bytes]:
        """Build rows with the construct path; raises its EncodeError at the first row that cannot be encoded."""
        built: list[bytes] = []
        for part in _taken(records, rows):
            values, error = reading.leading(part, self.type, extensions=self.engine.codec.extensions)
            built += [
                self.engine.build(row, value, request) for row, value in zip(rows[len(built) :], values, strict=False)
            ]
            if error is not None:
                raise error.at(rows[len(built)])
        return built


def _taken(records: pa.StructArray, rows: list[int]) -> Iterator[pa.StructArray]:
    """The rows in one array, or one by one if pyarrow cannot take them (from columns of views)."""
    try:
        yield records.take(pa.array(rows, pa.int64()))
    except pa.ArrowNotImplementedError:
        yield from (records.slice(row, 1) for row in rows)


def _given_up(written: Any) -> Iterator[int]:
    """The rows that the engine gave up."""
    row = -1
    for _ in range(written.failed):
        row = written.status.index(_GIVEN_UP, row + 1)
        yield row


# --- columns ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The buffers of each column so far, and the engine."""

    native: Any
    buffers: list[Buffers | None]


def _gather(array: pa.Array, column: Column, type: LogicalType, given: _Gathered) -> None:
    """Collect the buffers of a column and its children; missing ones stay None."""
    match type:
        case Record(fields):
            _members(array, column, {member.name: member.type for member in fields}, given)
        case Alternatives(options):
            _members(array, column, {kind_name(option): option for option in options}, given)
        case Open():
            _variant(array, column, given)
        case List(element):
            listed = _listed(array)
            validity, offsets = listed.buffers()[:2]
            given.buffers[column.index] = validity, offsets, None, listed.offset, len(listed)
            _gather(listed.values, column.element, element, given)
        case Boolean() | Integer() | BigInteger() | Float() | Text() | Binary():
            given.buffers[column.index] = _buffers(_plain(array, type))
        case Meant():
            _put(_wired(array, type, given.native), column, type, given)
        case Map(key, value):
            if not kinds.is_map(array.type):
                raise Uncovered(f"a map column of type {array.type}")
            listed = _trimmed(soundness.entries(array))
            given.buffers[column.index] = *listed.buffers()[:2], None, listed.offset, len(listed)
            entries = listed.values
            given.buffers[column.element.index] = entries.buffers()[0], None, None, entries.offset, len(entries)
            for name, part, below in (("key", entries.field(0), key), ("value", entries.field(1), value)):
                _gather(part, column.element.children[name], below, given)
        case _:
            assert_never(type)


def _put(wired: pa.Array, column: Column, type: Meant, given: _Gathered) -> None:
    """Collect the buffers of wire values: with nulls, and in the filled column with the values of the nulls."""
    filled = interpretation.with_sentinels(wired, type)
    given.buffers[column.index] = _buffers(filled if column.filled is None else wired)
    if column.filled is not None:
        given.buffers[column.filled.index] = _buffers(filled)


def _members(array: pa.Array, column: Column, types: dict[str, LogicalType], given: _Gathered) -> None:
    """Collect a struct and its members by name; raises Uncovered for unknown names."""
    if kinds.is_null(array.type):
        return
    names = [field.name for field in array.type] if kinds.is_struct(array.type) else []
    if not kinds.is_struct(array.type) or len(set(names)) < len(names) or not types.keys() >= set(names):
        raise Uncovered("columns with other names or types than the schema")
    given.buffers[column.index] = array.buffers()[0], None, None, array.offset, len(array)
    members = dict(zip(names, soundness.members(array), strict=True))
    for name, type in types.items():
        if isinstance(type, Meant) and type.raw and name in members:
            _interpreted(members, column, types, name, given)
            del members[name]
            members.pop(type.raw, None)
    for name, member in members.items():
        _gather(member, column.children[name], types[name], given)
    for name, below in column.children.items():
        if below.filled is not None and given.buffers[below.filled.index] is None:
            type = types[name]
            _gather(pa.nulls(len(array), arrow.arrow_type(type)), below, type, given)


def _interpreted(
    members: dict[str, pa.Array], column: Column, types: dict[str, LogicalType], name: str, given: _Gathered
) -> None:
    """Collect a meaning and its raw wire value, which is computed if only the meaning is given."""
    type = types[name]
    assert isinstance(type, Meant)
    values = _wired(members[name], type, given.native)
    raw = members[type.raw] if type.raw in members else pa.nulls(len(values))
    stated = types[type.raw]  # may be wider than the wire value, if schemas are merged
    own = _wired(raw, stated, given.native) if isinstance(stated, Meant) else _plain(raw, stated)
    chosen, written = interpretation.agreed(values.cast(own.type), own, type, given.native)
    _put(chosen.cast(values.type), column.children[name], type, given)
    if isinstance(stated, Meant):
        _put(written, column.children[type.raw], stated, given)
    else:
        given.buffers[column.children[type.raw].index] = _buffers(written)


def _variant(array: pa.Array, column: Column, given: _Gathered) -> None:
    if kinds.is_null(array.type):
        return
    if not kinds.is_struct(array.type) or {field.name for field in array.type} != {"value", "metadata"}:
        raise Uncovered("a column of open values that is not VARIANT")
    _members(array, column, {"value": Binary(), "metadata": Binary()}, given)


def _listed(array: pa.Array) -> pa.ListArray:
    if kinds.is_list(array.type):
        return _trimmed(array)
    if kinds.is_large_list(array.type):
        narrow = _cast(array, pa.list_(array.type.value_field))
        try:
            narrow.validate()
        except pa.ArrowInvalid as error:  # Arrow casts slices of some nested types to invalid arrays
            raise Uncovered(f"a list column of type {array.type}") from error
        return _trimmed(narrow)
    raise Uncovered(f"a list column of type {array.type}")


def _trimmed(array: pa.ListArray) -> pa.ListArray:
    try:
        return soundness.trimmed(array)
    except pa.ArrowNotImplementedError as error:  # pyarrow cannot concatenate all types
        raise Uncovered(str(error)) from error


def _buffers(array: pa.Array) -> Buffers:
    validity, *rest = array.buffers()
    offsets, data = rest if len(rest) == 2 else (None, rest[0])  # offsets, and the bytes
    return validity, offsets, data, array.offset, len(array)


def _plain(array: pa.Array, type: LogicalType) -> pa.Array:
    """The array in the emitted schema's type, if the cast keeps all values."""
    target = arrow.arrow_type(type)
    if kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.type == target:
        return array
    if kinds.is_null(array.type):
        return pa.nulls(len(array), target)
    if not _same_values(array.type, target):
        raise Uncovered(f"a column of type {array.type} in place of {target}")
    return _cast(array, target)


def _wired(array: pa.Array, type: Meant, native: Any) -> pa.Array:
    """The wire values of an array; raises Uncovered if some value has none, which builders then report."""
    if type.shown is not None and kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    try:
        if type.shown is None:
            return interpretation.without_sentinels(_plain(array, type.wire), type)
        return interpretation.wire_array(array, type, native)
    except (interpretation.MeaninglessError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Uncovered(str(error)) from error


def _same_values(given: pa.DataType, target: pa.DataType) -> bool:
    """Whether a safe cast keeps the values."""
    if kinds.is_integer(target) or kinds.is_decimal(target):
        return bool(kinds.is_integer(given) or (kinds.is_decimal(given) and given.scale == 0))
    if kinds.is_string(target):
        return bool(kinds.is_large_string(given) or kinds.is_string_view(given))
    if kinds.is_binary(target):
        return bool(kinds.is_large_binary(given) or kinds.is_binary_view(given) or kinds.is_fixed_size_binary(given))
    return bool(kinds.is_float64(target) and kinds.is_float32(given))


def _cast(array: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return array.cast(target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise Uncovered(str(error)) from error
