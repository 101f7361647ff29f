"""Tells which columns of a format a table can store, and which names readers of tables would confuse.

Parquet, and so Delta, has no column without values: a struct without members, and lists and maps of such, are left out.
Spark treats names that differ only in case as equal, at every level, and refuses a table with both. A column with the
name of one of the columns that tables add is refused, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.plan import BATCH, VERSION

_OURS = {BATCH: "the batch that wrote a row", VERSION: "the version of its columns"}
_CURE = "another name for its readers: `as: NAME`"


def tabled(flat: pa.StructType) -> pa.StructType:
    """The row type without columns that have no values."""
    return pa.struct(_kept(flat))


def left_out(type: pa.DataType, path: str) -> Iterator[str]:
    """The paths of columns that `tabled` leaves out; if all parts of a column are left out, only its own path."""
    if path and _with_values(type) is None:
        yield path
        return
    for name, below in _parts(type):
        yield from left_out(below, ".".join(filter(None, (path, name))))


def fitted(array: pa.Array, type: pa.DataType) -> pa.Array:
    """The array converted to a type that has some of its members, by name, in any order."""
    if array.type.equals(type):
        return array
    if pa.types.is_struct(type):
        children = [fitted(array.field(field.name), field.type) for field in type]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=list(type), mask=mask)
    if pa.types.is_map(type):
        items = fitted(array.items, type.item_type)
        entries = pa.StructArray.from_arrays([array.keys, items], fields=[type.key_field, type.item_field])
        return _listed(array, type, entries)
    return _listed(array, type, fitted(array.values, type.value_type))


def refuse_unreadable(fields: Sequence[Mapping[str, Any]]) -> None:
    """Raise MisuseError if readers would confuse columns; `fields` are the format's columns in Spark's JSON."""
    for field in fields:
        if (ours := field["name"].lower()) in _OURS:
            raise MisuseError(f"{field['name']} is a reserved column name ({_OURS[ours]}): give the field {_CURE}")
    for one, other in _case_collisions({"type": "struct", "fields": fields}, ""):
        raise MisuseError(
            f"columns {one} and {other} differ only in case, so Spark cannot read the table: give a field {_CURE}"
        )


def _with_values(type: pa.DataType) -> pa.DataType | None:
    """The type without parts that have no values; None if nothing remains."""
    if pa.types.is_struct(type):
        fields = _kept(type)
        return pa.struct(fields) if fields else None
    if pa.types.is_map(type):
        item = _with_values(type.item_type)
        return None if item is None else pa.map_(type.key_field, type.item_field.with_type(item))
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        element = _with_values(type.value_type)
        made = pa.list_ if pa.types.is_list(type) else pa.large_list
        return None if element is None else made(type.value_field.with_type(element))
    return type


def _kept(type: pa.StructType) -> list[pa.Field]:
    return [field.with_type(held) for field in type if (held := _with_values(field.type)) is not None]


def _parts(type: pa.DataType) -> list[tuple[str, pa.DataType]]:
    if pa.types.is_struct(type):
        return [(field.name, field.type) for field in type]
    if pa.types.is_map(type):
        return [("", type.item_type)]
    return [("", type.value_type)] if pa.types.is_list(type) or pa.types.is_large_list(type) else []


def _listed(array: pa.Array, type: pa.DataType, child: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(type, len(array), array.buffers()[:2], offset=array.offset, children=[child])


def _case_collisions(type: Any, path: str) -> Iterator[tuple[str, str]]:
    """Paths of members of one struct whose names differ only in case."""
    match type:
        case {"type": "struct", "fields": fields}:
            there: dict[str, str] = {}
            for field in fields:
                place = ".".join(filter(None, (path, field["name"])))
                if (first := there.setdefault(field["name"].lower(), place)) != place:
                    yield first, place
                yield from _case_collisions(field["type"], place)
        case {"type": "array", "elementType": below} | {"type": "map", "valueType": below}:
            yield from _case_collisions(below, path)
        case _:
            pass
