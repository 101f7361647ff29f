"""How a written record is read back, and how its columns are compared with the caller's.

The reader shows all columns; open values as MessagePack bytes, which the program knows because it wrote them. Members
that the caller omitted may come back if the format determines them: constants, computed, derived and counted members,
bits, and the name and error of an alternative. If only some structs with a column determine it, builders write the
rows that omit it.
"""

from collections.abc import Callable, Iterator, Sequence

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member, needs
from wireloom.runtime.engine.programs.columns import Column

_DETERMINED, _ALTERNATIVES, _OPEN, _FILLED = 1, 2, 4, 8
_DETERMINING = {"const", "derive", "checksum", "bits", "default", "compute", "counted"}


class Determined:
    """The columns that the format determines in every struct that has them."""

    def __init__(self) -> None:
        self._columns: dict[int, set[bool]] = {}

    def __contains__(self, column: Column) -> bool:
        return self._columns.get(column.index) == {True}

    def note(self, column: Column | None, *, determined: bool) -> None:
        """Note a struct that has the column, and whether it determines it."""
        if column is not None:
            self._columns.setdefault(column.index, set()).add(determined)

    def struct(self, steps: Sequence[nodes.Step], encoding: str, record: Column | None) -> None:
        """Note the members of a struct; a list that protobuf omits is empty, so it is determined.

        A map entry determines none of its members.
        """
        is_entry = record is not None and record.parent is not None and record.parent.takes == "map"
        for title, determined in _titles(steps, encoding):
            self.note(member(record, title), determined=determined and not is_entry)


def _titles(steps: Sequence[nodes.Step], encoding: str) -> Iterator[tuple[str, bool]]:
    """The names for readers of a struct's members, and whether it determines them."""
    for field in nodes.fields(steps):
        if field.flatten:
            continue
        if not field.hidden:
            repeated = encoding == "protobuf" and isinstance(field.type, nodes.ListOf | nodes.MapOf)
            yield field.title, repeated or (not field.given and bool(_DETERMINING & field.stated.keys()))
        for bit in field.bits:
            if not bit.hidden:
                yield bit.title, not needs(bit, shared=field.shared)


def matches(
    columns: Sequence[Column], shown: Sequence[Column], determined: Determined, is_filled: Callable[[Column], bool]
) -> Iterator[tuple[int, int, int]]:
    """For each column: the column to compare with, the form of comparison, and its filled column (-1: none)."""
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
