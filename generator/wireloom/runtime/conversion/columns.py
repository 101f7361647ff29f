"""Columns of one format to columns of another, by the types of both.

A member that the target lacks is left out, and reported for each record that had a value there. A record with a value
whose kind the target does not accept becomes null, and is reported. Other values go to the target's columns; a value of
several possible kinds goes to the column of its kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from wireloom.runtime.columns import logical, soundness
from wireloom.runtime.columns.arrow import arrow_type
from wireloom.runtime.columns.logical import LogicalType, Record
from wireloom.runtime.conversion.fitting import Side, options, takers, word
from wireloom.runtime.errors import EncodeError

Types = tuple[LogicalType, LogicalType]
_CONTAINERS = logical.List | logical.Map | logical.Record | logical.Open


@dataclass(frozen=True, slots=True)
class Fitted:
    """Records in the target's columns, null if the target refuses one; by row, the lost paths and the refusals."""

    records: pa.StructArray
    lost: Mapping[int, set[str]]
    refused: Mapping[int, EncodeError]


def fitted(records: pa.StructArray, source: Side, target: Side) -> Fitted:
    """The source's records in the columns of the target."""
    fitting = _Fitting(source, target)
    rows = pa.array(range(len(records)), pa.int64())
    made = fitting.record(records, (source.record, target.record), "", rows)
    if fitting.refused:
        bad = pa.array([row in fitting.refused for row in range(len(made))], pa.bool_())
        made = _struct(made.flatten(), list(made.type), pc.or_(made.is_null(), bad))
    return Fitted(made, fitting.lost, fitting.refused)


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The two sides, and the results so far; `rows` arguments map the values of a column to their records."""

    source: Side
    target: Side
    lost: dict[int, set[str]] = field(default_factory=dict)
    refused: dict[int, EncodeError] = field(default_factory=dict)

    def column(self, array: pa.Array, types: Types, path: str, rows: pa.Array) -> pa.Array:
        """A column converted to the target's type; the same array if nothing changes."""
        match types:
            case Record() as given, Record() as wanted if kinds.is_struct(array.type):
                return self.record(array, (given, wanted), f"{path}.", rows)
            case logical.List(element), logical.List(other) if kinds.is_list(array.type):
                return self.listed(array, (element, other), path, rows)
            case logical.Map() as given, logical.Map() as wanted if kinds.is_map(array.type):
                return self.mapped(array, (given, wanted), path, rows)
            case (logical.Alternatives(), _) | (_, logical.Alternatives()):
                return self.alternatives(array, types, path, rows)
            case given, wanted if _container(given) is not _container(wanted):
                self.refuse(array, types, path, rows)
                return pa.nulls(len(array), arrow_type(wanted))
            case _:
                return array

    def record(self, array: pa.StructArray, types: tuple[Record, Record], prefix: str, rows: pa.Array) -> pa.Array:
        """Structs with the members that both sides have."""
        given, wanted = ({each.name: each.type for each in type.fields} for type in types)
        placed = self.target.of(types[1]).members(prefix)
        own = self.source.of(types[0]).members(prefix)
        fields, children, same = [], [], True
        for member, child in zip(array.type, array.flatten(), strict=True):
            name = member.name
            if name in wanted and (name in placed or name not in own):
                made = self.column(child, (given[name], wanted[name]), prefix + name, rows) if name in given else child
                same = same and made is child
                children.append(made)
                fields.append(member.with_type(made.type))
            else:
                same = False
                self.lose(child, prefix + name, rows)
        return array if same else _struct(children, fields, array.is_null())

    def listed(self, array: pa.ListArray, types: Types, path: str, rows: pa.Array) -> pa.Array:
        """Lists of converted elements."""
        elements = array.flatten()
        made = self.column(elements, types, path, rows.take(pc.list_parent_indices(array)))
        if made is elements:
            return array
        type = pa.list_(array.type.value_field.with_type(made.type))
        return pa.ListArray.from_arrays(_offsets(array), made, type=type, mask=_nulls(array))

    def mapped(self, array: pa.MapArray, types: tuple[logical.Map, logical.Map], path: str, rows: pa.Array) -> pa.Array:
        """Maps of converted entries."""
        given, wanted = types
        listed = soundness.entries(array)
        below = rows.take(pc.list_parent_indices(listed))
        parts = [listed.flatten().field(place) for place in range(2)]
        pairs = ((given.key, wanted.key), (given.value, wanted.value))
        made = [self.column(part, pair, path, below) for part, pair in zip(parts, pairs, strict=True)]
        if all(after is before for after, before in zip(made, parts, strict=True)):
            return array
        fields = [array.type.key_field.with_type(made[0].type), array.type.item_field.with_type(made[1].type)]
        lists = pa.ListArray.from_arrays(_offsets(listed), _struct(made, fields, None), mask=_nulls(listed))
        return pa.Array.from_buffers(pa.map_(*fields), len(lists), lists.buffers()[:2], children=[lists.values])

    def alternatives(self, array: pa.Array, types: Types, path: str, rows: pa.Array) -> pa.Array:
        """Alternatives by kind, or the single kind that one of the sides has."""
        given, wanted = types
        columns = _by_kind(array, given)
        made: list[tuple[LogicalType, pa.Array]] = []
        same = True
        for option, taker in takers(given, wanted):
            column = columns.get(logical.kind_name(option))
            if column is None:
                continue
            if taker is None:
                self.refuse(column, (option, wanted), path, rows)
                same = False
            else:
                made.append((taker, self.column(column, (option, taker), path, rows)))
                same = same and made[-1][1] is column
        if not isinstance(wanted, logical.Alternatives):
            return made[0][1] if made else pa.nulls(len(array), arrow_type(wanted))
        if same and isinstance(given, logical.Alternatives):
            return array
        found = {logical.kind_name(taker): column for taker, column in made}
        names = [name for name, _ in logical.alternatives(wanted) if name in found]
        fields = [pa.field(name, found[name].type) for name in names]
        return _struct([found[name] for name in names], fields, array.is_null())

    def lose(self, array: pa.Array, path: str, rows: pa.Array) -> None:
        """Report a lost path for the rows that have a value."""
        for row in _rows_with(array, rows):
            self.lost.setdefault(row, set()).add(path)

    def refuse(self, array: pa.Array, types: Types, path: str, rows: pa.Array) -> None:
        """Report a refusal for the rows that have a value."""
        given, wanted = types
        expected = " or ".join(word(each) for each in options(wanted))
        for row in _rows_with(array, rows):
            self.refused.setdefault(row, EncodeError(expected, word(given)).at(path))


def _container(type: LogicalType) -> type | None:
    """The class of a container type; None for a scalar."""
    return type.__class__ if isinstance(type, _CONTAINERS) else None


def _by_kind(array: pa.Array, type: LogicalType) -> dict[str, pa.Array]:
    """The columns of the values, by kind."""
    if not isinstance(type, logical.Alternatives):
        return {logical.kind_name(type): array}
    if not kinds.is_struct(array.type):
        return {}
    return dict(zip((field.name for field in array.type), array.flatten(), strict=True))


def _rows_with(array: pa.Array, rows: pa.Array) -> list[int]:
    """The records that have a value in a column."""
    return list(rows.filter(array.is_valid()).to_pylist())


def _offsets(array: pa.ListArray) -> pa.Array:
    """The offsets of the lists' elements in the flattened array, which has no elements of null lists."""
    ends = pc.cumulative_sum(array.value_lengths().fill_null(0))
    return pa.concat_arrays([pa.array([0], pa.int32()), ends.cast(pa.int32())])


def _nulls(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _struct(children: list[pa.Array], fields: list[pa.Field], mask: pa.Array | None) -> pa.StructArray:
    """Structs of these members, null where the mask is true."""
    if children:
        return pa.StructArray.from_arrays(children, fields=fields, mask=mask)
    assert mask is not None
    return pa.array([None if null else {} for null in mask.to_pylist()], pa.struct([]))
