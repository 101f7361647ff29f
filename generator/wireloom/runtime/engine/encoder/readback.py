"""What is read back of a record that was written, and how its columns are compared with those of the caller.

The reader shows all columns, open values as their bytes: those of MessagePack, which the program knows since it wrote
them. Every column has its like there, and what the caller left out may come back where the format determines it: what
is constant, computed, derived, counted or a bit, and the name and the reason of an alternative.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wireloom.runtime.columns.logical import BigInteger, List, LogicalType, Record
from wireloom.runtime.engine import compiler as reading
from wireloom.runtime.engine.assembly import Uncovered
from wireloom.runtime.engine.compiler.scope import bit_title, member
from wireloom.runtime.engine.outline import Column

_DETERMINED, _ALTERNATIVES, _OPEN, _FILLED = 1, 2, 4, 8
_DETERMINING = {"const", "derive", "checksum", "bits", "default", "compute", "counted"}


class Determined:
    """The columns that the format determines by itself, wherever it has them."""

    def __init__(self) -> None:
        self._columns: dict[int, bool] = {}

    def __contains__(self, column: Column) -> bool:
        return self._columns.get(column.index, False)

    def note(self, column: Column | None, *, determined: bool) -> None:
        """A place of the format where the column has its value."""
        if column is not None:
            self._columns[column.index] = determined and self._columns.get(column.index, True)

    def struct(self, steps: Sequence[Any], encoding: str, record: Column | None) -> None:
        """What a struct says of the members of its record; a list that protobuf leaves out has no elements.

        Of an entry of a map nothing comes back but what is given.
        """
        is_entry = record is not None and record.parent is not None and record.parent.takes == "map"
        for step in steps:
            if step[0] != "field" or step[3].get("flatten"):
                continue
            _, name, type, attributes = step
            if not attributes.get("hidden"):
                column = member(record, attributes.get("as", name))
                repeated = encoding == "protobuf" and type[0] in ("list", "map")
                follows = "given" not in attributes and bool(_DETERMINING & attributes.keys())
                self.note(column, determined=(repeated or follows) and not is_entry)
            for bit in attributes.get("bits", ()):
                self.note(member(record, bit_title(bit)), determined=not is_entry)


def reader(
    native: Any, layout: Mapping[str, Any], settings: Mapping[str, Any], type: Record, root: str
) -> tuple[Any, Sequence[Column]]:
    """The program that reads back, and its columns; raises Uncovered."""
    try:
        return _read(native, layout, settings, type, root)
    except Uncovered:  # computed integers beyond 64 bits are not shown: a row that gives one is the construct path's
        return _read(native, layout, settings, _narrow(type), root)


def _read(
    native: Any, layout: Mapping[str, Any], settings: Mapping[str, Any], type: Record, root: str
) -> tuple[Any, Sequence[Column]]:
    compiler = reading.Compiler(native, layout, settings, type, "binary")
    return compiler.program(root), compiler.columns


def _narrow(type: Record) -> Record:
    """The record without integers beyond 64 bits."""
    fields = [member for member in type.fields if not isinstance(member.type, BigInteger)]
    return Record(tuple(replace(member, type=_narrowed(member.type)) for member in fields))


def _narrowed(type: LogicalType) -> LogicalType:
    match type:
        case Record():
            return _narrow(type)
        case List(element):
            return List(_narrowed(element))
        case _:
            return type


def matches(
    columns: Sequence[Column], shown: Sequence[Column], determined: Determined, is_filled: Callable[[Column], bool]
) -> Iterator[tuple[int, int, int]]:
    """Of each column its like among those that are shown, how the two are compared, the one beside it (-1: none)."""
    likes = dict(_likes(columns[0], shown[0]))
    for column in columns:
        form = _DETERMINED if column in determined else 0
        if column.kind == "struct" and column.takes in ("", "variant"):
            form |= _OPEN if column.takes else _ALTERNATIVES
        form |= _FILLED if is_filled(column) else 0
        yield likes.get(column.index, -1), form, -1 if column.filled is None else column.filled.index


def _likes(column: Column, shown: Column) -> Iterator[tuple[int, int]]:
    yield column.index, shown.index
    for name, below in column.children.items():
        if name in shown.children:
            yield from _likes(below, shown.children[name])
