"""The flat form of records: one row per element of a list in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wireloom.runtime.columns.logical import List, LogicalField, LogicalType, Record
from wireloom.runtime.columns.projection import unknown_name


@dataclass(frozen=True, slots=True)
class Rows:
    """Flat rows and, for each, the index of the value that it came from."""

    values: list[dict[str, object] | None]
    parents: list[int]


def row_record(record: Record, path: Sequence[str]) -> Record:
    """The flat row of a record whose rows are the elements of the list at `path`.

    The members of an element come first, then the record's others (except those with the name of an element's member).
    Without a path, the record is a row. Elements that are not records are a column with the list's name.
    """
    if not path:
        return record
    own, rest = _sides(record, path)
    return Record((*own, *rest))


def repeated(record: Record, path: Sequence[str]) -> Record:
    """The members of flat rows that come from the record, and are repeated in each of its rows."""
    return Record(_sides(record, path)[1])


def _sides(record: Record, path: Sequence[str]) -> tuple[tuple[LogicalField, ...], tuple[LogicalField, ...]]:
    """The members of a flat row that come from the element, and those from its record."""
    element, rest = _split(record, tuple(path))
    own = element.fields if isinstance(element, Record) else (LogicalField(path[-1], element, nullable=False),)
    names = {member.name for member in own}
    return own, tuple(member for member in rest.fields if member.name not in names)


def _split(record: Record, path: tuple[str, ...]) -> tuple[LogicalType, Record]:
    """The element type of the list at `path`, and the record without that list."""
    member = next((member for member in record.fields if member.name == path[0]), None)
    if member is None:
        raise ValueError(unknown_name("list", path[0], [member.name for member in record.fields]))
    others = tuple(other for other in record.fields if other is not member)
    match member.type:
        case List(element) if len(path) == 1:
            return element, Record(others)
        case Record() if len(path) > 1:
            element, rest = _split(member.type, path[1:])
            kept = (replace(member, type=rest),) if rest.fields else ()
            place = record.fields.index(member)
            return element, Record((*record.fields[:place], *kept, *record.fields[place + 1 :]))
        case _:
            raise ValueError(f"{'.'.join(path)!r} does not lead to a list through records")


def explode(values: Iterable[object], path: Sequence[str], *, elements: bool = False) -> Rows:
    """Flat rows of values: one per element of the list at `path`, or of the value itself with `elements`.

    A null value (a bad record) stays one null row, so that its error keeps a row; a record with no elements has no
    rows.
    """
    rows, parents = [], []
    for parent, value in enumerate(values):
        flat = _flat(value, tuple(path), elements=elements)
        rows.extend(flat)
        parents.extend([parent] * len(flat))
    return Rows(rows, parents)


def _flat(value: object, path: tuple[str, ...], *, elements: bool) -> list[dict[str, object] | None]:
    if value is None:
        return [None]
    if elements:
        return [row for element in _as_list(value) for row in _flat(element, path, elements=False)]
    record = as_record(value)
    if not path:
        return [record]
    found, rest = parted(record, path)
    return [{**rest, **(each if isinstance(each, dict) else {path[-1]: each})} for each in found]


def parted(value: Mapping[str, object], path: tuple[str, ...]) -> tuple[list[object], dict[str, object]]:
    """The elements of the list at `path`, which are rows, and the value without it."""
    inner = value.get(path[0])
    others = {name: member for name, member in value.items() if name != path[0]}
    if inner is None:
        return [], others
    if len(path) == 1:
        return _as_list(inner), others
    found, rest = parted(as_record(inner), path[1:])
    return found, {**others, path[0]: rest}


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got a {type(value).__name__}")
    return value


def as_record(value: object) -> dict[str, object]:
    """The value, checked to be a record; raises TypeError."""
    if not isinstance(value, dict):
        raise TypeError(f"expected a record, got a {type(value).__name__}")
    return value
