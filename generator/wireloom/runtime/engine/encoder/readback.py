"""What is read back of a record that was written, and how its columns are compared with those of the caller.

The reader shows all columns, open values as their bytes: those of MessagePack, which the program knows since it wrote
them. Every column has its like there, and what the caller left out may come back where the format determines it: what
is constant, computed, derived, counted or a bit, and the name and the reason of an alternative. Where some of the
structs that have a column determine it, and others do not, the reader shows a column beside it that says of each record
whether it read one of the former.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from wireloom.runtime.columns.logical import (
    Alternatives,
    BigInteger,
    Boolean,
    List,
    LogicalField,
    LogicalType,
    Map,
    Record,
    kind_name,
)
from wireloom.runtime.engine import compiler as reading
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member, needs
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.columns import Column

_DETERMINED, _ALTERNATIVES, _OPEN, _FILLED = 1, 2, 4, 8
_DETERMINING = {"const", "derive", "checksum", "bits", "default", "compute", "counted"}


class Determined:
    """The columns that the format determines by itself, wherever it has them."""

    def __init__(self) -> None:
        self._columns: dict[int, set[bool]] = {}

    def __contains__(self, column: Column) -> bool:
        return self._columns.get(column.index) == {True}

    def sometimes(self, column: Column) -> bool:
        """Whether some places of the format determine it, and others do not."""
        return self._columns.get(column.index) == {True, False}

    def note(self, column: Column | None, *, determined: bool) -> None:
        """A place of the format where the column has its value."""
        if column is not None:
            self._columns.setdefault(column.index, set()).add(determined)

    def struct(self, steps: Sequence[nodes.Step], encoding: str, record: Column | None) -> None:
        """What a struct says of the members of its record; a list that protobuf leaves out has no elements.

        Of an entry of a map nothing comes back but what is given.
        """
        is_entry = record is not None and record.parent is not None and record.parent.takes == "map"
        for title, determined in _titles(steps, encoding):
            self.note(member(record, title), determined=determined and not is_entry)


def _titles(steps: Sequence[nodes.Step], encoding: str) -> Iterator[tuple[str, bool]]:
    """What readers call the members of a struct, and whether it determines them."""
    for field in nodes.fields(steps):
        if field.flatten:
            continue
        if not field.hidden:
            repeated = encoding == "protobuf" and isinstance(field.type, nodes.ListOf | nodes.MapOf)
            yield field.title, repeated or (not field.given and bool(_DETERMINING & field.stated.keys()))
        for bit in field.bits:
            if not bit.hidden:
                yield bit.title, not needs(bit, shared=field.shared)


def reader(  # noqa: PLR0913 - what a compiler is made of
    native: Any,
    layout: nodes.Layout,
    settings: Mapping[str, Any],
    type: Record,
    root: str,
    given: Column,
    determined: Determined,
) -> tuple[Any, Sequence[Column]]:
    """The program that reads back, and its columns; raises Uncovered. `given` is the column of the whole record."""
    names = frozenset(_sometimes(given, determined))
    if names:
        layout = {**layout, "types": {name: _telling(node, names) for name, node in layout["types"].items()}}
        type = _with_told(type, given, determined)
    try:
        return _read(native, layout, settings, type, root)
    except Uncovered:  # computed integers beyond 64 bits are not shown: a row that gives one is the construct path's
        return _read(native, layout, settings, _narrow(type), root)


def _read(
    native: Any, layout: nodes.Layout, settings: Mapping[str, Any], type: Record, root: str
) -> tuple[Any, Sequence[Column]]:
    compiler = reading.Compiler(native, layout, settings, type, "binary")
    return compiler.program(root), compiler.columns


# --- what some structs determine, and others do not ------------------------------------------------------------------


def _sometimes(column: Column, determined: Determined) -> Iterator[str]:
    """What readers call the members, of the record and of those below it, that some structs determine."""
    for name, below in column.children.items():
        if determined.sometimes(below):
            yield name
        yield from _sometimes(below, determined)


def _telling(node: Any, names: AbstractSet[str]) -> Any:
    """A layout of which each struct that determines one of these members says so."""
    match node:
        case nodes.Struct(name, encoding, form, versions, steps):
            inner = tuple(_telling(step, names) for step in steps)
            told = dict.fromkeys(title for title, determined in _titles(steps, encoding) if determined)
            says = (
                nodes.Field(_told(each), nodes.Bool(), compute=nodes.Formula(tree=True))
                for each in told
                if each in names
            )
            return nodes.Struct(name, encoding, form, versions, (*says, *inner))
        case nodes.Node():
            return node.changed(lambda part: _telling(part, names))
        case tuple():
            return tuple(_telling(each, names) for each in node)
        case _:
            return node


def _with_told(type: Any, column: Column, determined: Determined) -> Any:
    """The type with a column beside each of these members, which is true where the record read determines it."""
    match type:
        case Record(fields):
            below = [
                replace(each, type=_with_told(each.type, column.children[each.name], determined)) for each in fields
            ]
            told = [each.name for each in fields if determined.sometimes(column.children[each.name])]
            return Record((*below, *(LogicalField(_told(each), Boolean(), nullable=True) for each in told)))
        case List(element):
            return List(_with_told(element, column.element, determined))
        case Map(key, value):
            return Map(key, _with_told(value, column.element.children["value"], determined))
        case Alternatives(options):
            return replace(
                type,
                options=tuple(_with_told(each, column.children[kind_name(each)], determined) for each in options),
            )
        case _:
            return type


def _told(name: str) -> str:
    """What the column is called that says of a member whether the record read determines it; no name of a spec's."""
    return f"{name}\0"


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
) -> Iterator[tuple[int, int, int, int]]:
    """Of each column its like among those that are shown, how the two are compared, the one beside it (-1: none).

    Last, the one shown that says whether the record read determines it; -1 where all do, or none does.
    """
    likes = {index: found for index, *found in _likes(columns[0], shown[0], -1)}
    for column in columns:
        form = _DETERMINED if column in determined else 0
        if column.kind == "struct" and column.takes in ("", "variant"):
            form |= _OPEN if column.takes else _ALTERNATIVES
        form |= _FILLED if is_filled(column) else 0
        like, told = likes.get(column.index, (-1, -1))
        yield like, form, -1 if column.filled is None else column.filled.index, told


def _likes(column: Column, shown: Column, told: int) -> Iterator[tuple[int, int, int]]:
    yield column.index, shown.index, told
    for name, below in column.children.items():
        if name in shown.children:
            says = shown.children.get(_told(name))
            yield from _likes(below, shown.children[name], -1 if says is None else says.index)
