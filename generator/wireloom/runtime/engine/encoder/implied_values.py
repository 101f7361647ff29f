"""The values that expressions see for members that the record leaves out: what the format gives them.

A constant, default or derived member has a value for expressions although its column is null. A member that depends on
one that is not known yet stays pending; an expression that asks for a pending member leaves the format to the
builders.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.encoder.members import FOLLOWING, fields_of, own_fields
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Scope
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.expressions import Tree, stated

_NOTHING: Tree = nodes.NullConstant()
_FILLED = {"const", "default", "counted"}


class Given(Part):
    """Names whose values do not stand in their columns alone."""

    _asked: frozenset[str] | None = None

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Give the names of a JSON struct the values that builders see."""
        fields = nodes.fields(steps)
        counts = Counter(field.name for field in fields)
        trees: dict[str, Tree] = {}
        for field in fields:
            name = field.name
            scope.pending.update(bit.name for bit in field.bits)
            if field.flatten:
                scope.pending.add(name)
                scope.pending.update(self._within(field.type))
            elif FOLLOWING & field.stated.keys():
                scope.pending.add(name)
                if counts[name] == 1 and name in self.asked():
                    trees[name] = self._tree(field, scope, version)
        scope.early |= scope.late
        scope.late.clear()
        self._settle(trees, scope)

    def fill(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> dict[str, Tree]:
        """Give constants, defaults, bits and what is counted their values where the columns say nothing.

        What these are that follow from what is derived, as where a derived flag says whether they are there.
        """
        trees: dict[str, Tree] = {}
        for field in nodes.fields(steps):
            name = field.name
            if field.flatten:
                scope.pending.update(self.asked() & set(self._within(field.type)))
            elif field.const is not None and field.when is not None:
                scope.pending.add(name)  # whether it is there, its column need not say
            elif name in self.asked() and _FILLED & field.stated.keys():
                scope.pending.add(name)
                trees[name] = self._tree(field, scope, version)
            for bit in field.bits:
                if bit.name in self.asked() and bit.derive is None:
                    scope.pending.add(bit.name)
                    trees[bit.name] = self._bit_tree(bit, field, scope, version)
        derived = set(_derived(steps))
        waiting: dict[str, Tree] = {
            name: tree for name, tree in trees.items() if tree is not None and own_fields(tree) & derived
        }
        self._settle({name: tree for name, tree in trees.items() if name not in waiting}, scope)
        return waiting

    def _settle(self, trees: dict[str, Tree], scope: Scope) -> None:
        """Compute what follows from settled members, and what conditions decide, until nothing is left that does."""
        scope.pending.update(scope.early)
        settled: dict[str, Tree] = {name: tree for name, tree in trees.items() if tree is not None}
        left = self._settled(settled | scope.early, scope)
        unsettled = left.keys() & scope.early.keys()
        if unsettled:
            scope.unfilled |= unsettled
            scope.pending -= unsettled
            self._settled({name: tree for name, tree in left.items() if name not in unsettled}, scope)
        scope.early.clear()

    def _settled(self, trees: dict[str, Tree], scope: Scope) -> dict[str, Tree]:
        """Compute what follows from settled members; what is left."""
        left = dict(trees)
        settled = True
        while settled:
            settled = False
            for name, tree in list(left.items()):
                try:
                    compiled = self.expressions.held(self.expressions.compiled(tree, scope))
                    register = self.assembly.register(compiled.kind if compiled.kind != "null" else "int")
                    self.compiler.compute(compiled, register)
                except Uncovered:
                    continue
                scope.names[name] = register
                scope.pending.discard(name)
                del left[name]
                settled = True
        return left

    def _tree(self, field: nodes.Field, scope: Scope, version: tuple[list[str], Tree]) -> Tree:
        """The value of a member, as an expression; None if it has none."""
        column = None if field.hidden else member(scope.record, field.title)
        given = f"\0{field.name}"
        scope.names[given] = self.compiler.names.value(column, textual=field.values is not None)
        is_nullable = isinstance(self.compiler.reader.resolved(field.type), nodes.Nullable)  # null is written then
        tree = _meant(field, nodes.own(given), is_nullable=is_nullable)
        condition = self.compiler.reader.fields.condition(field, version)
        return tree if tree is None or condition is None else nodes.If(condition, tree, _NOTHING)

    def _bit_tree(self, bit: nodes.Bits, field: nodes.Field, scope: Scope, version: tuple[list[str], Tree]) -> Tree:
        """The value of bits; if their column is null, of those of the integer that is given, or of zeros."""
        name, own, width = field.name, bit.name, bit.width
        scope.names[f"\0{own}"] = scope.names[own]
        given, zeros = nodes.own(f"\0{own}"), False if width == 1 else 0
        column = None if field.hidden else member(scope.record, field.title)
        other = meant_by_null(bit)
        if other is None:
            other = _read(bit, zeros)
            if column is not None:
                scope.names[f"\0{name}"] = self.compiler.names.value(column, textual=False)
                whole = nodes.own(f"\0{name}")
                part: Tree = nodes.Binary("&", nodes.Binary(">>", whole, bit.low), (1 << width) - 1)
                part = (
                    nodes.Binary("-", nodes.Binary("^", part, 1 << width - 1), 1 << width - 1) if bit.signed else part
                )
                other = nodes.If(
                    nodes.present(whole), _read(bit, nodes.Binary("==", part, 1) if width == 1 else part), other
                )
        tree = nodes.If(nodes.present(given), given, other)
        condition = self.compiler.reader.fields.condition(field, version)
        return tree if condition is None else nodes.If(condition, tree, _NOTHING)

    def _within(self, type: Any) -> Iterator[str]:
        """The members of a struct that melts into this one which have more than their columns say."""
        for name, attributes in self.compiler.names.members([nodes.Field("", type, flatten=True)]):
            if FOLLOWING & attributes.keys():
                yield name

    def asked(self) -> frozenset[str]:
        """The names in any expression of the format."""
        if self._asked is None:
            layout = self.compiler.reader.layout
            trees = [*layout["types"].values(), *layout["roots"].values()]
            self._asked = frozenset(name for name, *_ in fields_of(trees))
        return self._asked


def _derived(steps: Sequence[nodes.Step]) -> Iterator[str]:
    """The fields of a struct that are derived, and the bits."""
    for field in nodes.fields(steps):
        if field.derive is not None:
            yield field.name
        yield from (bit.name for bit in field.bits if bit.derive is not None)


def _meant(field: nodes.Field, given: Tree, *, is_nullable: bool) -> Tree:
    """What expressions see of a field, given what its column says; null is written of one that may be null."""
    present = nodes.present(given)
    match field:
        case nodes.Field(bits=(_, *_)):
            return None
        case nodes.Field(counted=True):
            return nodes.If(present, given, 0)
        case nodes.Field(given=True):
            return given
        case nodes.Field(build=nodes.Formula(tree)) | nodes.Field(compute=nodes.Formula(tree)):
            return tree
        case nodes.Field(const=const) if const is not None:
            tree = _constant(const)
            may_lack = field.optional and not field.hidden and tree is not None
            return nodes.If(present, tree, _NOTHING) if may_lack else tree
        case nodes.Field(derive=nodes.Formula(tree)):
            return tree
        case nodes.Field(optional=True, default=default) if field.has_default and not is_nullable:
            tree = _constant(default) if field.values is None else _meaning(field.values, default)
            return None if tree is None else nodes.If(present, given, tree)
        case _:
            return given


def meant_by_null(bit: nodes.Bits) -> Tree:
    """What expressions see of bits that are written for null; None if none are."""
    if bit.null is not None:
        return bool(bit.null) if bit.width == 1 else int(bit.null)
    return _NOTHING if any(each.means == _NOTHING for each in bit.values or ()) else None


def _read(bit: nodes.Bits, raw: Tree) -> Tree:
    """What bits mean, as an expression; null where they mean nothing, and nothing is written."""
    values = bit.values
    if values is None:
        return raw
    found: Tree = _NOTHING
    for each in reversed(values):
        found = nodes.If(nodes.Binary("==", raw, stated(each.wire)), each.means, found)
    return found


def _constant(value: Any) -> Tree:
    match value:
        case None:
            return _NOTHING
        case bool() | int():
            return value
        case str():
            return nodes.TextConstant(value)
        case bytes():
            return nodes.BytesConstant(value)
        case _:
            return None


def _meaning(values: Sequence[nodes.Meaning], default: Any) -> Tree:
    for each in values:
        if each.wire == default and type(each.wire) is type(default):
            return _NOTHING if each.means is None else each.means
    return None
