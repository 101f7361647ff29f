"""The values that expressions see for members that the record omits: those that the format implies.

A constant, default or derived member has a value for expressions although its column is null. These values are computed
at the start of the struct, in the order of their dependencies. A value that is not known then, because it depends on
positions or on what is written, stays pending; an expression that uses it leaves the format to the builders.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.scope import member
from wireloom.runtime.engine.encoder.members import FOLLOWING, fields_of, in_order
from wireloom.runtime.engine.encoder.protocols import Part
from wireloom.runtime.engine.encoder.scope import Scope
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.expressions import Tree, stated

_NOTHING: Tree = nodes.NullConstant()


class Given(Part):
    """Loads names whose values are not only in their columns."""

    _asked: frozenset[str] | None = None

    def load(self, steps: Sequence[nodes.Step], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Load the values that builders see, in the order of their dependencies."""
        trees: dict[str, Tree] = {}
        counts = Counter(
            name for field in nodes.fields(steps) for name in (field.name, *(bit.name for bit in field.bits))
        )
        for field in nodes.fields(steps):
            for name, tree in self._implied(field, scope, version):
                scope.pending.add(name)
                if tree is not None and counts[name] == 1:
                    trees[name] = tree
        for name in in_order(trees):
            self._settle(name, trees[name], scope)

    def _implied(self, field: nodes.Field, scope: Scope, version: tuple[list[str], Tree]) -> Iterator[tuple[str, Tree]]:
        """The names of a field whose values are not only in their columns, and these values; None if not known yet.

        An integer with `bits` and a checksum are known after they are written.
        """
        name, asked = field.name, self.asked()
        if field.flatten:
            yield from ((each, None) for each in self._within(field.type))
        elif field.bits or field.checksum is not None:
            yield name, None
        elif field.derive is not None or (FOLLOWING & field.stated.keys() and not field.given and name in asked):
            yield name, self._tree(field, scope, version)
        for bit in field.bits:
            if bit.derive is not None:
                yield bit.name, self._where(field, bit.derive, version)
            elif bit.name in asked:
                yield bit.name, self._bit_tree(bit, field, scope, version)

    def _settle(self, name: str, tree: Tree, scope: Scope) -> None:
        """Compute a value; if it depends on positions that are not known yet, it stays pending."""
        if scope.follows_places(tree):
            scope.following.add(name)
        if scope.waits(tree):
            return
        try:
            compiled = self.expressions.held(self.expressions.compiled(tree, scope))
            register = self.assembly.register(compiled.kind if compiled.kind != "null" else "int")
            self.compiler.compute(compiled, register)
        except Uncovered:
            return
        scope.names[name] = register
        scope.pending.discard(name)

    def _where(self, field: nodes.Field, tree: Tree, version: tuple[list[str], Tree]) -> Tree:
        """The value of an expression if the field is present, else null."""
        condition = self.compiler.reader.fields.condition(field, version)
        return tree if tree is None or condition is None else nodes.If(condition, tree, _NOTHING)

    def _tree(self, field: nodes.Field, scope: Scope, version: tuple[list[str], Tree]) -> Tree:
        """The value of a member, as an expression; None if it has none."""
        column = None if field.hidden else member(scope.record, field.title)
        given = f"\0{field.name}"
        scope.names[given] = self.compiler.names.value(column, textual=field.values is not None)
        is_nullable = isinstance(self.compiler.reader.resolved(field.type), nodes.Nullable)  # null is written then
        tree = _meant(field, nodes.own(given), is_nullable=is_nullable)
        return self._where(field, tree, version)

    def _bit_tree(self, bit: nodes.Bits, field: nodes.Field, scope: Scope, version: tuple[list[str], Tree]) -> Tree:
        """The value of bits; if their column is null, it comes from the whole integer or is 0."""
        scope.names[f"\0{bit.name}"] = scope.names[bit.name]
        given, other = nodes.own(f"\0{bit.name}"), meant_by_null(bit)
        if other is None:
            other = _read(bit, False if bit.width == 1 else 0)
            if not field.hidden:
                scope.names[f"\0{field.name}"] = self.compiler.names.value(
                    member(scope.record, field.title), textual=False
                )
                whole = nodes.own(f"\0{field.name}")
                other = nodes.If(nodes.present(whole), _read(bit, _part(bit, whole)), other)
        return self._where(field, nodes.If(nodes.present(given), given, other), version)

    def _within(self, type: Any) -> Iterator[str]:
        """The members of a flattened struct whose values are not only in their columns."""
        for name, attributes in self.compiler.names.members([nodes.Field("", type, flatten=True)]):
            if FOLLOWING & attributes.keys():
                yield name

    def asked(self) -> frozenset[str]:
        """The names in all expressions of the format."""
        if self._asked is None:
            layout = self.compiler.reader.layout
            trees = [*layout["types"].values(), *layout["roots"].values()]
            self._asked = frozenset(name for name, *_ in fields_of(trees))
        return self._asked


def _meant(field: nodes.Field, given: Tree, *, is_nullable: bool) -> Tree:
    """The value of a field for expressions, from its column's value `given`; a nullable field writes null."""
    present = nodes.present(given)
    match field:
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
    """The value, for expressions, of the bits written for null; None if no bits mean null."""
    if bit.null is not None:
        return bool(bit.null) if bit.width == 1 else int(bit.null)
    return _NOTHING if any(each.means == _NOTHING for each in bit.values or ()) else None


def _read(bit: nodes.Bits, raw: Tree) -> Tree:
    """The meaning of raw bits, as an expression; null if they have none."""
    values = bit.values
    if values is None:
        return raw
    found: Tree = _NOTHING
    for each in reversed(values):
        found = nodes.If(nodes.Binary("==", raw, stated(each.wire)), each.means, found)
    return found


def _part(bit: nodes.Bits, whole: Tree) -> Tree:
    """The bits of an integer, as a number or boolean."""
    part: Tree = nodes.Binary("&", nodes.Binary(">>", whole, bit.low), (1 << bit.width) - 1)
    if bit.width == 1:
        return nodes.Binary("==", part, 1)
    sign = 1 << bit.width - 1
    return nodes.Binary("-", nodes.Binary("^", part, sign), sign) if bit.signed else part


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
