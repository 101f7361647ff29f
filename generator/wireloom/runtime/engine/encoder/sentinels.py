"""Nulls that have a value on the wire: a column of such a field has another beside it, with that value for each null.

A field is written from the one beside it, which always has a value; what a record has and has not, how many members of
it a case has, and what comes back, is held against the column itself. Expressions see the value on the wire where the
field is certain to be there. Where it is not (it has a condition, or is a member of another struct), and an expression
looks at it, the field is written from the column itself, and rows with such a null are given up; so are those that
leave out bits at which expressions look from outside their struct.
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
    """Put columns beside those whose nulls have a value on the wire, after all others."""
    for column in list(_meant(columns[0], type)):
        column.filled = Column(len(columns), column.kind, column.takes, column.parent, bits=column.bits)
        columns.append(column.filled)


def _meant(column: Column, type: LogicalType) -> Iterator[Column]:
    """The members of records that have such nulls; elements of lists always have a value."""
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
    """Which fields are written from the column beside theirs, and what expressions see of them."""

    def __init__(self, compiler: Compiler) -> None:
        super().__init__(compiler)
        self._refused: set[int] = set()  # columns of which expressions do not know whether they are there
        self._written: dict[int, bool] = {}  # whether each place of the format writes from the column beside

    def come_back(self, column: Column) -> bool:
        """Whether nulls come back as what is written for them, wherever the column is written."""
        return self._written.get(column.index, False)

    def written(self, name: str, column: Column | None, scope: Scope) -> Column | None:
        """The column that a field is written from."""
        if column is None or column.filled is None:
            return column
        is_filled = name not in scope.unfilled
        self._written[column.index] = is_filled and self._written.get(column.index, True)
        return column.filled if is_filled else column

    def is_refused(self, column: Column | None) -> bool:
        """Whether expressions look at a column and do not know what is written for its nulls."""
        return column is not None and column.index in self._refused

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Give the names of a struct what is on the wire for null, where they are certain to be there."""
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
        """An expression looks at a member of a record within: its nulls that are something on the wire are given up."""
        if column.filled is not None or _are_filled(known):
            self._refused.add(column.index)


def _are_filled(known: Known) -> bool:
    """Whether a member is bits that are written as something where the value has none, which is not null."""
    return known.bit is not None and meant_by_null(known.bit) != nodes.NullConstant()
