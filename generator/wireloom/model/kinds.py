"""The columns that tell kinds of records apart: what a spec selects by, if readers see it.

These are fields with a value table or a constant, bits with a value table, and the columns that name the alternative of
an attempt. They have few distinct values, so counting records by them is useful.
"""

from collections.abc import Iterator, Mapping

from wireloom.model.format import Format, Root
from wireloom.model.traversal import parts
from wireloom.model.types import Array, Attempt, Field, Nullable, OneOf, Reference, Select, Struct, Type
from wireloom.runtime.columns.logical import Boolean, Integer, Record, Text
from wireloom.runtime.columns.rows import row_record


def kinds(format: Format, root: Root) -> tuple[str, ...]:
    """The columns of a root's flat rows that tell kinds of records apart, in column order."""
    found = set(_names(root.type, format.named, root.rows, frozenset()))
    if format.named_versions is not None:
        found.update((format.named_versions.column, *format.named_versions.path[:1]))
    record: Record = row_record(root.logical, root.rows)
    return tuple(
        field.name
        for field in record.fields
        if field.name in found and isinstance(field.type, Text | Integer | Boolean)
    )


def _names(type: Type, named: Mapping[str, Type], rows: tuple[str, ...], seen: frozenset[str]) -> Iterator[str]:
    """The readers' names of such fields in the record, and in the elements of its list of rows."""
    match type:
        case Reference(name):
            if name not in seen:
                yield from _names(named[name], named, rows, seen | {name})
        case Nullable() | Array() | Select() | OneOf() | Attempt():
            yield from filter(None, (type.kind_field, type.reason_field) if isinstance(type, Attempt) else ())
            for each in parts(type):
                yield from _names(each, named, rows, seen)
        case Struct():
            for field in type.fields:
                yield from _telling(field)
                if field.flatten or field.inline:
                    yield from _names(field.type, named, rows, seen)
                elif rows and field.name == rows[0]:
                    yield from _names(field.type, named, rows[1:], seen)
        case _:
            return


def _telling(field: Field) -> Iterator[str]:
    if not field.hidden and (field.mappings is not None or isinstance(field.const, int | str)):
        yield field.name
    yield from (bit.name for bit in field.bits if bit.mappings is not None and not bit.hidden)
