"""Projections: a logical record with only the requested columns.

Everything after a projection (fields left out on the way to columns) follows from the smaller record.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

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


def project(record: Record, columns: Sequence[str] | None) -> Record:
    """The record with only the named columns, in its own order; None: all of them.

    A column is a member (`bins`) or a dotted path (`key.namespace`, `bins.name`), through lists and maps to the
    members of their elements and values, and into alternatives by their kinds (`bins.value.int`).
    """
    if columns is None:
        return record
    return _project(record, [tuple(column.split(".")) for column in columns], ())


def _project(record: Record, paths: Sequence[tuple[str, ...]], above: tuple[str, ...]) -> Record:
    _refuse_unknown([member.name for member in record.fields], paths, above)
    members = [(member, [path[1:] for path in paths if path[0] == member.name]) for member in record.fields]
    return Record(
        tuple(
            replace(member, type=_projected(member.type, rests, (*above, member.name)))
            for member, rests in members
            if rests
        )
    )


def _projected(type: LogicalType, paths: list[tuple[str, ...]], above: tuple[str, ...]) -> LogicalType:
    if () in paths:
        return type
    match type:
        case Record():
            return _project(type, paths, above)
        case List(element):
            return replace(type, element=_projected(element, paths, above))
        case Map(value=value):
            return replace(type, value=_projected(value, paths, above))
        case Alternatives():
            return _project_kinds(type, paths, above)
        case Boolean() | Integer() | BigInteger() | Float() | Text() | Binary() | Open() | Meant():
            raise ValueError(f"column {'.'.join((*above, *paths[0]))!r}: {'.'.join(above)!r} has no members")
        case _:
            assert_never(type)


def _project_kinds(type: Alternatives, paths: list[tuple[str, ...]], above: tuple[str, ...]) -> Alternatives:
    _refuse_unknown([kind_name(option) for option in type.options], paths, above)
    options = [(option, [path[1:] for path in paths if path[0] == kind_name(option)]) for option in type.options]
    kept = tuple(_projected(option, rests, (*above, kind_name(option))) for option, rests in options if rests)
    without = {kind_name(option) for option, rests in options if not rests}
    return Alternatives(kept, type.without | without)


def _refuse_unknown(names: Sequence[str], paths: Sequence[tuple[str, ...]], above: tuple[str, ...]) -> None:
    for path in paths:
        if path[0] not in names:
            raise ValueError(unknown_name("column", path[0], names, above))


def unknown_name(what: str, name: object, names: Sequence[str], above: tuple[str, ...] = ()) -> str:
    """The message for an unknown name, with the nearest known one, or all; `name` may be a key that is not text."""
    from difflib import get_close_matches

    near = get_close_matches(str(name), names, n=1)
    hint = f"did you mean {'.'.join((*above, near[0]))!r}?" if near else f"there are: {', '.join(names)}"
    return f"no {what} {'.'.join((*above, name)) if isinstance(name, str) else name!r}; {hint}"
