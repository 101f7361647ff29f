"""What expressions see of a struct: members that a value leaves out have what the format gives them.

A constant, a default or a derived member is there for expressions though its column is null. What follows from members
that are not settled themselves stays pending: an expression that asks for it is the construct path's.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine.assembly import Uncovered
from wireloom.runtime.engine.compiler.scope import BIT_DERIVED, BIT_NULL, BIT_VALUES, member
from wireloom.runtime.engine.encoder.names import FOLLOWING, fields_of, own_fields
from wireloom.runtime.engine.encoder.part import Part
from wireloom.runtime.engine.encoder.scope import Node, Scope
from wireloom.runtime.engine.expressions import Tree

_NOTHING: Tree = ("null",)
_FILLED = {"const", "default", "counted"}


class Given(Part):
    """Names whose values do not stand in their columns alone."""

    _asked: frozenset[str] | None = None

    def load(self, steps: Sequence[Any], scope: Scope, version: tuple[list[str], Tree]) -> None:
        """Give the names of a JSON struct the values that builders see."""
        fields = [step for step in steps if step[0] == "field"]
        counts = Counter(name for _, name, *_ in fields)
        trees: dict[str, Tree] = {}
        for _, name, type, attributes in fields:
            scope.pending.update(bit[0] for bit in attributes.get("bits", ()))
            if attributes.get("flatten"):
                scope.pending.add(name)
                scope.pending.update(self._within(type))
            elif FOLLOWING & attributes.keys():
                scope.pending.add(name)
                if counts[name] == 1 and name in self.asked():
                    trees[name] = self._tree((name, type, attributes), scope, version)
        scope.early |= scope.late
        scope.late.clear()
        self._settle(trees, scope)

    def fill(self, steps: Sequence[Any], scope: Scope, version: tuple[list[str], Tree]) -> dict[str, Tree]:
        """Give constants, defaults, bits and what is counted their values where the columns say nothing.

        What these are that follow from what is derived, as where a derived flag says whether they are there.
        """
        trees: dict[str, Tree] = {}
        for step in steps:
            if step[0] != "field":
                continue
            _, name, type, attributes = step
            is_asked = name in self.asked()
            if attributes.get("flatten"):
                scope.pending.update(self.asked() & set(self._within(type)))
            elif "const" in attributes and "when" in attributes:
                scope.pending.add(name)  # whether it is there, its column need not say
            elif is_asked and _FILLED & attributes.keys():
                scope.pending.add(name)
                trees[name] = self._tree((name, type, attributes), scope, version)
            for bit in attributes.get("bits", ()):
                if bit[0] in self.asked() and bit[BIT_DERIVED] is None:
                    scope.pending.add(bit[0])
                    trees[bit[0]] = self._bit_tree(bit, name, attributes, scope, version)
        derived = set(_derived(steps))
        waiting = {name: tree for name, tree in trees.items() if tree is not None and own_fields(tree) & derived}
        self._settle({name: tree for name, tree in trees.items() if name not in waiting}, scope)
        return waiting

    def _settle(self, trees: dict[str, Tree], scope: Scope) -> None:
        """Compute what follows from settled members, and what conditions decide, until nothing is left that does."""
        scope.pending.update(scope.early)
        left = self._settled({name: tree for name, tree in trees.items() if tree is not None} | scope.early, scope)
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

    def _tree(self, field: tuple[str, Node, dict[str, Any]], scope: Scope, version: tuple[list[str], Tree]) -> Tree:
        """The value of a member, as an expression; None where it has none."""
        name, type, attributes = field
        column = None if attributes.get("hidden") else member(scope.record, attributes.get("as", name))
        given = f"\0{name}"
        scope.names[given] = self.compiler.names.value(column, textual="values" in attributes)
        is_nullable = self.compiler.reader.resolved(type)[0] == "nullable"  # then it is null that is written
        tree = _meant(_undefaulted(attributes) if is_nullable else attributes, ("field", 0, given))
        condition = self.compiler.reader.fields.condition(attributes, version)
        return tree if tree is None or condition is None else ("if", condition, tree, _NOTHING)

    def _bit_tree(
        self, bit: Sequence[Any], name: str, attributes: dict[str, Any], scope: Scope, version: tuple[list[str], Tree]
    ) -> Tree:
        """The value of bits; where their column is null, of those of the integer that is given, or of zeros."""
        own, low, width, signed, *_ = bit
        scope.names[f"\0{own}"] = scope.names[own]
        given, zeros = ("field", 0, f"\0{own}"), False if width == 1 else 0
        column = None if attributes.get("hidden") else member(scope.record, attributes.get("as", name))
        other = meant_by_null(bit)
        if other is None:
            other = _read(bit, zeros)
            if column is not None:
                scope.names[f"\0{name}"] = self.compiler.names.value(column, textual=False)
                whole = ("field", 0, f"\0{name}")
                part: Tree = ("&", (">>", whole, low), (1 << width) - 1)
                part = ("-", ("^", part, 1 << width - 1), 1 << width - 1) if signed else part
                other = ("if", ("present", whole), _read(bit, ("==", part, 1) if width == 1 else part), other)
        tree = ("if", ("present", given), given, other)
        condition = self.compiler.reader.fields.condition(attributes, version)
        return tree if condition is None else ("if", condition, tree, _NOTHING)

    def _within(self, type: Any) -> Iterator[str]:
        """The members of a struct that melts into this one which have more than their columns say."""
        for name, attributes in self.compiler.names.members([("field", "", type, {"flatten": True})]):
            if FOLLOWING & attributes.keys():
                yield name

    def asked(self) -> frozenset[str]:
        """The names in any expression of the format."""
        if self._asked is None:
            layout = self.compiler.reader.layout
            trees = [*layout["types"].values(), *layout["roots"].values()]
            self._asked = frozenset(name for name, *_ in fields_of(trees))
        return self._asked


def _derived(steps: Sequence[Any]) -> Iterator[str]:
    """The fields of a struct that are derived, and the bits."""
    for _, name, _, attributes in (step for step in steps if step[0] == "field"):
        if "derive" in attributes:
            yield name
        yield from (bit[0] for bit in attributes.get("bits", ()) if bit[BIT_DERIVED] is not None)


def _meant(attributes: dict[str, Any], given: Tree) -> Tree:
    optional, hidden = attributes.get("optional"), attributes.get("hidden")
    match attributes:
        case {"bits": _}:
            return None
        case {"counted": _}:
            return ("if", ("present", given), given, 0)
        case {"given": _}:
            return given
        case {"build": compute} | {"compute": compute}:
            return compute[1]
        case {"const": const}:
            tree = _constant(const)
            return ("if", ("present", given), tree, _NOTHING) if optional and not hidden and tree is not None else tree
        case {"derive": derive}:
            return derive[1]
        case {"default": default} if optional:
            tree = _constant(default) if "values" not in attributes else _meaning(attributes["values"], default)
            return None if tree is None else ("if", ("present", given), given, tree)
        case _:
            return given


def meant_by_null(bit: Sequence[Any]) -> Tree:
    """What expressions see of bits that are written for null; None where none are."""
    _, _, width, _, values, *_ = bit
    if len(bit) > BIT_NULL and bit[BIT_NULL] is not None:
        return bool(bit[BIT_NULL]) if width == 1 else int(bit[BIT_NULL])
    return _NOTHING if any(meaning == _NOTHING for _, meaning in values or ()) else None


def _read(bit: Sequence[Any], raw: Tree) -> Tree:
    """What bits mean, as an expression; null where they mean nothing, and nothing is written."""
    values = bit[BIT_VALUES]
    if values is None:
        return raw
    found: Tree = _NOTHING
    for wire, meaning in reversed(values):
        found = ("if", ("==", raw, wire), meaning, found)
    return found


def _undefaulted(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if key != "default"}


def _constant(value: Any) -> Tree:
    match value:
        case None:
            return _NOTHING
        case bool() | int():
            return value
        case str():
            return ("text", value)
        case bytes():
            return ("octets", value)
        case _:
            return None


def _meaning(values: Sequence[tuple[Any, Tree]], default: Any) -> Tree:
    for wire, meaning in values:
        if wire == default and type(wire) is type(default):
            return _NOTHING if meaning is None else meaning
    return None
