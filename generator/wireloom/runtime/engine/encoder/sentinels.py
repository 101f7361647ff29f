"""Nulls that have a value on the wire: a column of such a field has another beside it, with that value for each null.

A field is written from the one beside it, which always has a value; what a record has and has not, how many members of
it a case has, and what comes back, is held against the column itself. Expressions see the value on the wire where the
field is there, else null. Where that cannot be told (whether a field is there follows from its own value, or a struct
that melts into another may not be the one that has it), the field is written from the column itself, and rows with such
a null are given up; so are those that leave out bits at which expressions look from outside their struct.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wireloom.runtime.columns.logical import Alternatives, List, LogicalType, Map, Meant, Record, kind_name
from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.encoder.implied_values import meant_by_null
from wireloom.runtime.engine.encoder.members import asks_for_place, own_fields, title_of
from wireloom.runtime.engine.encoder.protocols import Compiler, Part
from wireloom.runtime.engine.encoder.scope import Known, Node, Scope
from wireloom.runtime.engine.programs.columns import Column
from wireloom.runtime.engine.programs.expressions import Tree

_NO_VALUE = frozenset({"flatten", "compute", "counted", "bits"})
_FILLED = frozenset({"const", "default", "counted"})


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

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Give the names of a struct what is on the wire for null; what conditions decide of it is settled later."""
        self._load_melted(steps, scope)
        follows = self._follows(steps, version)
        names = Counter(field.name for field in nodes.fields(steps))
        for field in nodes.fields(steps):
            name = field.name
            column = None if _NO_VALUE & field.stated.keys() else member(scope.record, title_of(field))
            if column is None or column.filled is None:
                continue
            condition = self.compiler.reader.fields.condition(field, version)
            if column.index in self._refused or asks_for_place(condition):
                scope.unfilled.add(name)
            elif name in self.compiler.given.asked():
                if condition is None and names[name] == 1:
                    self._fill(name, column, scope)
                elif names[name] > 1 or not self._waits(name, column, condition, follows, scope):
                    scope.unfilled.add(name)

    def seen(self, column: Column, known: Known, record: Node, encoding: str) -> Column:
        """The column with what expressions see of a member of a record, where that is there."""
        if column.filled is not None and known.title in self._certain(record, encoding):
            return column.filled
        if column.filled is not None or _are_filled(known):
            self._refused.add(column.index)
        return column

    def is_refused(self, column: Column | None) -> bool:
        """Whether expressions look at a column and do not know what is written for its nulls."""
        return column is not None and column.index in self._refused

    def _fill(self, name: str, column: Column, scope: Scope) -> None:
        """The name is of what is on the wire."""
        found = self.compiler.names.value(column.filled, textual=False)
        found.coded = name in scope.names and scope.names[name].coded
        scope.names[name] = found

    def _load_melted(self, steps: Sequence[nodes.Step], scope: Scope) -> None:
        """Of structs that melt into this one, the members that are certain to be there."""
        melted = [field for field in nodes.fields(steps) if field.flatten]
        certain = {name for field in melted for name in self._melted(field, scope.encoding)}
        for known in self.compiler.names.fields(melted):
            column = None if known.attributes.get("hidden") else member(scope.record, known.title)
            if column is None or known.title not in self.compiler.given.asked():
                continue
            if column.filled is not None and known.title in certain:
                self._fill(known.title, column, scope)
            elif column.filled is not None or _are_filled(known):
                self._refused.add(column.index)

    def _melted(self, field: nodes.Field, encoding: str) -> Iterator[str]:
        """The members of a struct that always melts into the one around it."""
        if not field.is_conditional and not field.optional:
            yield from self._certain(field.type, encoding)

    def _certain(self, node: Node, encoding: str) -> Iterator[str]:
        """The members of a record, as readers know them, that are there wherever it is."""
        match self.compiler.reader.resolved(node):
            case nodes.Inline(inner):
                yield from self._certain(inner, encoding)
            case nodes.Struct(encoding=own, steps=steps) if own == encoding:
                for field in nodes.fields(steps):
                    if field.flatten:
                        yield from self._melted(field, encoding)
                    elif not field.is_conditional:
                        yield title_of(field)
                        yield from (bit.title for bit in field.bits if not bit.hidden)
            case _:
                return

    # --- under a condition -----------------------------------------------------------------------------------------

    def _waits(
        self, name: str, column: Column, condition: Tree, follows: Mapping[str, "_Follows"], scope: Scope
    ) -> bool:
        """Whether a name has the value on the wire once what its condition looks at is known.

        Where the condition looks at the field itself, null means that it is not there.
        """
        found = _reached(own_fields(condition), follows)
        if column.takes != "int" or name in found or not found <= follows.keys():
            return False
        is_late = any(follows[each].derived for each in found)
        if is_late and any(each.filled and name in _reached(each.names, follows) for each in follows.values()):
            return False
        given = f"\0{name} on the wire"
        scope.names[given] = self.compiler.names.value(column.filled, textual=False)
        late = scope.late if is_late else scope.early
        late[name] = nodes.If(condition, nodes.own(given), nodes.NullConstant())
        return True

    def _follows(self, steps: Sequence[nodes.Step], version: tuple[list[str], Tree]) -> dict[str, "_Follows"]:
        """What each name of a struct follows from."""
        found: dict[str, _Follows] = {}
        for field in nodes.fields(steps):
            name = field.name
            condition = own_fields(self.compiler.reader.fields.condition(field, version))
            trees = [each.tree for each in (field.derive, field.compute, field.build) if each is not None]
            bits = field.bits
            names = condition.union(*(own_fields(tree) for tree in trees), (bit.name for bit in bits))
            before = found.get(name, _Follows(set()))
            is_filled = before.filled or bool(_FILLED & field.stated.keys())
            found[name] = _Follows(before.names | names, derived=before.derived or bool(trees), filled=is_filled)
            for bit in bits:
                tree = bit.derive
                names = condition | {name} | (set() if tree is None else own_fields(tree))
                found[bit.name] = _Follows(names, derived=tree is not None, filled=tree is None)
        return found


@dataclass(frozen=True, slots=True)
class _Follows:
    """The names that one follows from, and when: once what is derived is, or with what builders fill in."""

    names: set[str]
    derived: bool = False
    filled: bool = False


def _are_filled(known: Known) -> bool:
    """Whether a member is bits that are written as something where the value has none, which is not null."""
    return known.bit is not None and meant_by_null(known.bit) != nodes.NullConstant()


def _reached(names: set[str], follows: Mapping[str, _Follows]) -> set[str]:
    """Names, and all that they follow from."""
    found, left = set[str](), set(names)
    while left:
        found |= left
        left = set().union(*(follows[name].names for name in left if name in follows)) - found
    return found
