"""Completes parsed values by their logical type: meanings, missing members, and the kind of an alternative."""

from collections.abc import Callable, Mapping
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
from wireloom.runtime.columns.meanings import meaning
from wireloom.runtime.values import Extension, Pairs, Parsed, Value, kind_of

Fill = Callable[[object], object]


# --- complete ------------------------------------------------------------------------------------------------------


def fill(value: Mapping[str, object], record: Record) -> dict[str, object]:
    """The value with exactly the record's members in the record's order, None for missing ones, at every depth.

    The hidden values of a parsed record, which only expressions see, are kept.
    """
    return filling(record)(value)


def filling(record: Record) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """`fill` for one record type, prepared once for many values."""
    members = [(member.name, _filling(member.type)) for member in record.fields]

    def filled(value: Mapping[str, object]) -> dict[str, object]:
        get = value.get
        found = {name: get(name) if fill is None else _unless_null(fill, get(name)) for name, fill in members}
        return Parsed(found, value.hidden) if isinstance(value, Value) else found

    return filled


def _unless_null(fill: Fill, value: object) -> object:
    return None if value is None else fill(value)


def _filling(type: LogicalType) -> Fill | None:
    """A function that completes a value of this type; None if nothing in it can be missing."""
    match type:
        case Boolean() | Integer() | BigInteger() | Float() | Text() | Binary() | Open():
            return None
        case Meant():
            return lambda value: meaning(value, type)
        case List(element):
            return _filling_elements(_filling(element))
        case Map(key, value):
            return _filling_entries(_filling(key), _filling(value))
        case Record():
            return _filling_members(type)
        case Alternatives(options):
            return _filling_option({kind_name(option): _filling(option) for option in options})
        case _:
            assert_never(type)


def _filling_members(record: Record) -> Fill:
    filled = filling(record)
    return lambda value: filled(value) if isinstance(value, Mapping) else value


def _filling_elements(fill: Fill | None) -> Fill | None:
    if fill is None:
        return None
    return lambda value: [_unless_null(fill, each) for each in value] if isinstance(value, (list, tuple)) else value


def _filling_entries(key: Fill | None, value: Fill | None) -> Fill | None:
    if key is None and value is None:
        return None
    fill_key, fill_value = key or _as_is, value or _as_is
    return lambda pairs: (
        Pairs((_unless_null(fill_key, k), _unless_null(fill_value, v)) for k, v in pairs)
        if isinstance(pairs, Pairs)
        else pairs
    )


def _filling_option(fills: dict[str, Fill | None]) -> Fill | None:
    if not any(fills.values()):
        return None

    def filled(value: object) -> object:
        fill = fills.get(kind_of(value))
        return value if fill is None else fill(value)

    return filled


def _as_is(value: object) -> object:
    return value


# --- choose --------------------------------------------------------------------------------------------------------


def chosen(alternatives: Alternatives, value: object) -> LogicalType | None:
    """The option for a value: the one of its kind, else the open one; None if there is neither.

    A projection does not change the choice.
    """
    options = {kind_name(option): option for option in alternatives.options}
    open_option = options.get("variant")
    if isinstance(value, Extension):
        no_open_one = "variant" not in options.keys() | alternatives.without
        return options.get(kind_of(value.value)) if no_open_one else open_option
    kind = kind_of(value)
    return None if kind in alternatives.without else options.get(kind, open_option)
