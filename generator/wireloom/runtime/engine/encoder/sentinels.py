"""Nulls with a value on the wire: each such column gets a "filled" column, in which the nulls have that value.

The field is written from the filled column. Whether the member is present, how many members of a case the record has,
and the read-back use the column itself. Expressions see the wire value if the field is certainly present. If it has a
condition or is a member of another struct, and an expression uses it, the field is written from the column itself, and
rows with such a null are given up. So are rows without bits that expressions outside of the struct use.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from wireloom.runtime.columns.logical import Alternatives, List, LogicalType, Map, Meant, Record, kind_name
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.encoder.implied_values import meant_by_null
from wireloom.runtime.engine.encoder.members import asks_for_place, title_of
from wireloom.runtime.engine.encoder.protocols import Compiler, Part
from wireloom.runtime.engine.encoder.scope import Known, Scope
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Tree

_NO_VALUE = frozenset({"flatten", "compute", "counted", "bits"})


def with_filled(columns: list[Column], type: LogicalType) -> None:
    """Append the filled columns."""
    for column in list(_meant(columns[0], type)):
        column.filled = Column(len(columns), column.kind, column.takes, column.parent, bits=column.bits)
        columns.append(column.filled)


def _meant(column: Column, type: LogicalType) -> Iterator[Column]:
    """The members of records that have such nulls; elements of lists are never null on the wire."""
    match type:
        case Record(fields):
            for each in fields:
                below = column.children[each.name]
                if isinstance(each.type, Meant) and each.type.null is not None:
                    yield below
                yield from _meant(below, each.type)
        case List(element):
            yield from _meant(column.element, element)
        case Map(_, value):
            yield from _meant(column.element.children["value"], value)
        case Alternatives(options):
            for option in options:
                yield from _meant(column.children[kind_name(option)], option)
        case _:
            return


class Sentinels(Part):
    """Decides which fields are written from their filled columns, and what expressions see."""

    def __init__(self, compiler: Compiler) -> None:
        super().__init__(compiler)
        self._refused: set[int] = set()  # columns whose nulls expressions cannot interpret
        self._written: dict[int, bool] = {}  # by column: whether all its fields write the filled one

    def come_back(self, column: Column) -> bool:
        """Whether nulls read back as their wire values, wherever the column is written."""
        return self._written.get(column.index, False)

    def written(self, name: str, column: Column | None, scope: Scope) -> Column | None:
        """The column from which a field is written."""
        if column is None or column.filled is None:
            return column
        is_filled = name not in scope.unfilled
        self._written[column.index] = is_filled and self._written.get(column.index, True)
        return column.filled if is_filled else column

    def is_refused(self, column: Column | None) -> bool:
        """Whether an expression uses a column without knowing what is written for its nulls."""
        return column is not None and column.index in self._refused

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Let names see the wire values of nulls, if their fields are certainly present."""
        for known in self.compiler.names.fields([field for field in nodes.fields(steps) if field.flatten]):
            column = None if known.attributes.get("hidden") else member(scope.record, known.title)
            if column is not None and known.title in self.compiler.given.asked():
                self.see(column, known)
        names = Counter(field.name for field in nodes.fields(steps))
        for field in nodes.fields(steps):
            name = field.name
            column = None if _NO_VALUE & field.stated.keys() else member(scope.record, title_of(field))
            if column is None or column.filled is None:
                continue
            asked = name in self.compiler.given.asked()
            condition = self.compiler.reader.fields.condition(field, version)
            is_unsure = asked and (condition is not None or names[name] > 1)
            if column.index in self._refused or asks_for_place(condition) or is_unsure:
                scope.unfilled.add(name)
            elif asked:
                found = self.compiler.names.value(column.filled, textual=False)
                found.coded = name in scope.names and scope.names[name].coded
                scope.names[name] = found

    def see(self, column: Column, known: Known) -> None:
        """Note that an expression uses a member of a nested record; rows whose nulls have wire values are given up."""
        if column.filled is not None or _are_filled(known):
            self._refused.add(column.index)


def _are_filled(known: Known) -> bool:
    """Whether bits are written for null that do not mean null."""
    return known.bit is not None and meant_by_null(known.bit) != nodes.NullConstant()
