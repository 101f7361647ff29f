"""Compares the columns of tables by their Arrow types, from which those of Spark, Delta and Parquet follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from wireloom.model.format import Format
from wireloom.runtime.columns.arrow import arrow_type
from wireloom.runtime.columns.logical import List, LogicalField, LogicalType, Map, Record

_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_WIDER = (
    *((narrow, wide) for at, narrow in enumerate(_INTEGERS) for wide in _INTEGERS[at + 1 :]),
    *((narrow, pa.float64()) for narrow in (*_INTEGERS[:3], pa.float32())),
)
"""Types that Delta can widen in place, and the wider types."""


@dataclass(frozen=True, slots=True)
class Change:
    """A column that changed."""

    rule: str
    column: str
    message: str
    consequence: str
    old: str = ""  # the name in the old spec
    new: str = ""


def changes(old: Format, new: Format, renamed: Mapping[str, str]) -> Iterator[Change]:
    """Every column that changed, of every root that both formats have."""
    others = {root.name: root for root in new.roots}
    for root in old.roots:
        other = others.get(root.name) or (new.roots[0] if len(old.roots) == len(new.roots) == 1 else None)
        if other is None:
            continue
        if (root.rows, root.elements) != (other.rows, other.elements):
            said = f"rows: {'.'.join(root.rows) or 'records'} before, {'.'.join(other.rows) or 'records'} now"
            yield Change("rows-changed", root.name, said, "Tables get other rows for the same records.")
        yield from _members(root.logical, other.logical, renamed, "")


def _members(old: Record, new: Record, renamed: Mapping[str, str], above: str) -> Iterator[Change]:
    before = {each.name: each for each in old.fields}
    after = {each.name: each for each in new.fields}
    taken = set[str]()
    for name, field in before.items():
        path = above + name
        other = renamed.get(name, "")
        if name in after:
            yield from _column(field, after[name], renamed, path)
        elif other in after and other not in before:
            taken.add(other)
            yield Change(
                "column-renamed",
                path,
                f"{path} is called {above}{other} now",
                f"Tables get {above}{other} beside {path}, each null where the other is set; "
                f"queries of decoded records that name {path} fail.",
                name,
                other,
            )
            yield from _column(field, after[other], renamed, path)
        else:
            said = f"Tables keep {path}, null in new rows; queries of decoded records that name it fail."
            yield Change("column-removed", path, f"{path} is gone", said, name)
    for name in after:
        if name not in before and name not in taken:
            yield Change("column-added", above + name, f"{above}{name} is new", "Rows of before have null.", "", name)


def _column(old: LogicalField, new: LogicalField, renamed: Mapping[str, str], path: str) -> Iterator[Change]:
    if old.nullable is not new.nullable and new.nullable:
        said = "Queries meet null where there was none; the type in tables is the same."
        yield Change("column-nullable", path, f"{path} may be null", said, old.name, new.name)
    found = list(_types(old.type, new.type, renamed, path, (old.name, new.name)))
    yield from found
    if old.unit != new.unit and not found:
        said = "Values of before and now stand in one column, and their unit is not the same."
        message = f"{path}: unit {old.unit or 'none'} before, {new.unit or 'none'} now"
        yield Change("unit-changed", path, message, said, old.name, new.name)


def _types(
    old: LogicalType, new: LogicalType, renamed: Mapping[str, str], path: str, names: tuple[str, str]
) -> Iterator[Change]:
    match old, new:
        case Record(), Record():
            yield from _members(old, new, renamed, f"{path}.")
        case List(element), List(inner):
            yield from _types(element, inner, renamed, path, names)
        case Map(key, value), Map(other_key, other):
            yield from _types(key, other_key, renamed, path, names)
            yield from _types(value, other, renamed, path, names)
        case _:
            before, after = arrow_type(old), arrow_type(new)
            if before != after:
                yield Change(
                    "column-retyped", path, f"{path}: {before} before, {after} now", _retyped(before, after), *names
                )


def _retyped(before: pa.DataType, after: pa.DataType) -> str:
    said = "Batches that append, and streams from a checkpoint, stop before they write"
    if (before, after) in _WIDER:
        return f"{said}. A Delta table with type widening takes the new type in place."
    return f"{said}. Delta does not change the type in place."
