"""Applies filters of a query in Arrow before rows leave the Python worker, if the result is exactly Spark's.

These are comparisons with a literal, `in`, `is null` and their negations, on columns of integers, decimals, text, bytes
and booleans, at any depth of structs. Both sides compare texts by their bytes. Floating-point columns are left to
Spark, where NaN equals itself. A row is kept if the filter is true, not false or null.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

_COMPARISONS = {
    EqualTo: pc.equal,
    GreaterThan: pc.greater,
    GreaterThanOrEqual: pc.greater_equal,
    LessThan: pc.less,
    LessThanOrEqual: pc.less_equal,
}
_TEXTS = {StringStartsWith: pc.starts_with, StringEndsWith: pc.ends_with, StringContains: pc.match_substring}


@dataclass(frozen=True, slots=True)
class Predicate:
    """A filter that is exact here, with literals of the column's type."""

    filter: Filter
    column: tuple[str, ...]
    literals: tuple[Any, ...]
    negated: bool

    def kept(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """For each row: true, false or null."""
        column = batch.column(self.column[0])
        if len(self.column) > 1:
            column = pc.struct_field(column, list(self.column[1:]))
        found = _answers(self.filter, column, self.literals)
        return pc.invert(found) if self.negated else found


def predicate(filter: Filter, schema: pa.Schema) -> Predicate | None:
    """The filter, if it is exact for a column of this schema; otherwise None."""
    negated = isinstance(filter, Not)
    inner: Any = filter.child if isinstance(filter, Not) else filter
    if isinstance(inner, Not) or type(inner) not in {
        *(EqualNullSafe, In, IsNull, IsNotNull),
        *_COMPARISONS,
        *_TEXTS,
    }:
        return None
    column = tuple(inner.attribute)
    found = _type(schema, column)
    if found is None or not _exact(found):
        return None
    literals = _literals(inner, found)
    return None if literals is None else Predicate(inner, column, literals, negated)


def filtered(batch: pa.RecordBatch, predicates: Sequence[Predicate]) -> pa.RecordBatch:
    """The rows for which every filter is true."""
    for each in predicates:
        batch = batch.filter(each.kept(batch))
    return batch


def _type(schema: pa.Schema, column: tuple[str, ...]) -> pa.DataType | None:
    """The type of a column inside of structs only; None if its name is unknown or ambiguous."""
    fields: Any = schema
    type: pa.DataType | None = None
    for name in column:
        index = fields.get_field_index(name)
        if index < 0:
            return None
        type = fields.field(index).type
        fields = type if pa.types.is_struct(type) else pa.struct([])
    return type


def _exact(type: pa.DataType) -> bool:
    types = pa.types
    return any(
        is_type(type)
        for is_type in (types.is_integer, types.is_decimal, types.is_string, types.is_binary, types.is_boolean)
    )


def _literals(filter: Any, type: pa.DataType) -> tuple[Any, ...] | None:
    """The literals of a filter as Arrow scalars; None if one is not a value of the type."""
    match filter:
        case IsNull() | IsNotNull():
            return ()
        case In():
            given = [value for value in filter.value if value is not None]
            if len(given) < len(filter.value):
                return None  # `in` with a null is never false, which `not in` depends on
        case _:
            given = [filter.value]
    if any(value is None for value in given):
        return None
    try:
        found = tuple(pa.scalar(value, type) for value in given)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    same = all(scalar.as_py() == value for scalar, value in zip(found, given, strict=True))
    return found if same and all(isinstance(value, bool) == pa.types.is_boolean(type) for value in given) else None


def _answers(filter: Filter, column: pa.Array, literals: tuple[Any, ...]) -> pa.BooleanArray:
    match filter:
        case IsNull():
            return pc.is_null(column)
        case IsNotNull():
            return pc.is_valid(column)
        case EqualNullSafe():
            return pc.fill_null(pc.equal(column, literals[0]), fill_value=False)
        case In():
            found = pc.is_in(column, value_set=pa.array([each.as_py() for each in literals], column.type))
            return pc.if_else(pc.is_valid(column), found, None)
        case StringStartsWith() | StringEndsWith() | StringContains():
            return _TEXTS[type(filter)](column, pattern=literals[0].as_py())
        case _:
            return _COMPARISONS[type(filter)](column, literals[0])
