"""The columns of a program as a numbered tree, made from the requested logical record.

Parents come before their children, as the validator requires. Reading programs write these columns, and writing
programs read them, so both compilers use the same tree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import assert_never

from wireloom.runtime.columns.logical import (
    KINDS,
    Alternatives,
    BigInteger,
    Binary,
    Boolean,
    Float,
    Integer,
    List,
    LogicalField,
    LogicalType,
    Map,
    Meant,
    Open,
    Record,
    Text,
    kind_name,
)

_INTEGERS = {
    (8, True): "int8",
    (16, True): "int16",
    (32, True): "int32",
    (64, True): "int64",
    (8, False): "int16",
    (16, False): "int32",
    (32, False): "int64",
    (64, False): "decimal",
    (65, True): "decimal",
}


@dataclass(eq=False, slots=True)
class Column:
    """A column: the engine's kind, the kind of value it takes (`kind_name`; "" for alternatives), and its children."""

    index: int
    kind: str
    takes: str
    parent: "Column | None"
    children: dict[str, "Column"] = field(default_factory=dict)
    bits: int = 0
    filled: "Column | None" = None  # when writing: the column with the wire value for each null

    @property
    def element(self) -> "Column":
        """The column of a list's elements."""
        return self.children["element"]


def outline(type: LogicalType, open_values: str = "variant") -> list[Column]:
    """The columns of a record or a list of records, parents first; an open value is one column unless VARIANT."""
    columns: list[Column] = []
    _add(columns, type, None, open_values)
    return columns


def links(columns: Sequence[Column], kinds: dict[str, int]) -> Iterator[tuple[int, int, int, int]]:
    """Kind, parent, first child and next sibling of each column, as numbers; -1 for none."""
    siblings: dict[int, int] = {}
    for column in columns:
        below = [child.index for child in column.children.values()]
        siblings.update(pairwise(below))
    for column in columns:
        parent = column.parent.index if column.parent is not None and column.parent.kind == "struct" else -1
        below = [child.index for child in column.children.values()]
        yield kinds[column.kind], parent, below[0] if below else -1, siblings.get(column.index, -1)


def _add(columns: list[Column], type: LogicalType, parent: Column | None, open_values: str) -> Column:
    plain = isinstance(type, Open) and open_values != "variant"
    kind, takes, bits = ("bytes", "variant", 0) if plain else _kind(type)
    column = Column(len(columns), kind, takes, parent, bits=bits)
    columns.append(column)
    for name, below in () if plain else _below(type):
        column.children[name] = _add(columns, below, column, open_values)
    return column


def _kind(type: LogicalType) -> tuple[str, str, int]:
    match type:
        case Boolean():
            return "boolean", "bool", 0
        case Integer(bits, signed):
            return _INTEGERS[bits, signed], "int", bits if signed else bits + 1
        case BigInteger():
            return "bytes", "big", 0
        case Float(bits):
            return ("float" if bits == 32 else "double"), "float", bits
        case Text():
            return "bytes", "str", 0
        case Binary():
            return "bytes", "bytes", 0
        case List():
            return "list", "list", 0
        case Map():
            return "list", "map", 0
        case Record():
            return "struct", "record", 0
        case Alternatives():
            return "struct", "", 0
        case Open():
            return "struct", "variant", 0
        case Meant(wire=wire):
            return _kind(wire)
        case _:
            assert_never(type)


def _below(type: LogicalType) -> list[tuple[str, LogicalType]]:
    match type:
        case List(element):
            return [("element", element)]
        case Map(key, value):
            entry = (LogicalField("key", key, nullable=False), LogicalField("value", value, nullable=True))
            return [("element", Record(entry))]
        case Record(fields):
            return [(member.name, member.type) for member in fields]
        case Alternatives(options):
            named = [(kind_name(option), option) for option in options]
            return sorted(named, key=lambda entry: KINDS.index(entry[0]))
        case Open():
            return [("value", Binary()), ("metadata", Binary())]
        case _:
            return []
