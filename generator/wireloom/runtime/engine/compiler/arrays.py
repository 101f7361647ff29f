"""MessagePack structs that are arrays: an element for each field that is present; trailing elements may be omitted.

If conditions decide which fields are present, their number is known only while they are read. So elements are counted:
the array must have an element for the next field that is present, and none after the last field.
"""

from collections.abc import Sequence

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.core import Part
from wireloom.runtime.engine.compiler.scope import Item, Located, Scope, Sink
from wireloom.runtime.engine.programs.assembly import Label, Register
from wireloom.runtime.engine.programs.expressions import Code, Constant, Tree

_ELEMENTS, _LOCATED = "\0elements", "\0located"  # the array's length; the number of conditional elements read so far


class Arrays(Part):
    """Reads the elements of a struct's array."""

    def open(self, fields: Sequence[nodes.Field], arities: dict[int, int], scope: Scope, version: Register) -> None:
        """Open an array, whose length may determine the version."""
        lengths = arities
        if depends(fields, arities):
            lengths = arities or dict.fromkeys(possible(fields), 0)
            scope.names[_ELEMENTS], scope.names[_LOCATED] = (self.assembly.register("int") for _ in range(2))
            scope.located = Located(min(lengths))
            self.assembly.emit("PACK_COUNT", scope.names[_ELEMENTS].read())
            self._locate(scope, 0)
        elif not arities:
            scope.names[_ELEMENTS] = version
            lengths = _shorter(fields, scope)
        words = [word for entry in lengths.items() for word in entry]
        self.assembly.emit("PACK_ARITY", self.assembly.table([len(lengths), *words]), version, None)

    def element(self, item: Item, when: Tree) -> None:
        """Read the next element; an optional one may be missing if the array is too short."""
        scope, optional, absent = item.scope, item.field.optional, Label()
        if optional:
            self._go_on(_more(scope) or scope.elements[item.name], absent, scope)
        else:
            self._require(_more(scope), scope)
        if scope.located is not None:
            self._count(scope.located, scope, certain=not optional and self._is_certain(when, scope))
        self.compiler.fields.read(item)
        if optional:
            self.compiler.fields.defaulted(item, absent, has_default=item.field.has_default)

    def close(self, scope: Scope) -> None:
        """After the last step: check that no element is left."""
        if scope.located is not None:
            self._require(nodes.Binary("==", nodes.own(_ELEMENTS), _number(scope.located)), scope)

    def _require(self, that: Tree, scope: Scope) -> None:
        if that is not None:
            self.compiler.structs.check(self.expressions.condition(that, scope), "bad_arity")

    def _go_on(self, when: Tree, otherwise: Label, scope: Scope) -> None:
        holds = self.expressions.condition(when, scope)
        assert isinstance(holds, Code), "the length is the record's"
        self.compiler.unless(holds, otherwise)

    def _is_certain(self, when: Tree, scope: Scope) -> bool:
        return when is None or isinstance(self.expressions.condition(when, scope), Constant)

    def _count(self, located: Located, scope: Scope, *, certain: bool) -> None:
        """Count one more element, which all records have, or only some."""
        if certain:
            located.certain += 1
        else:
            located.unsure = True
            self._locate(scope, nodes.Binary("+", nodes.own(_LOCATED), 1))

    def _locate(self, scope: Scope, number: Tree) -> None:
        """Set the number of elements read that other records may lack."""
        sink = Sink(scope.names[_LOCATED], None)
        self.compiler.fields.computed(self.expressions.compiled(number, scope), sink)


def depends(fields: Sequence[nodes.Field], arities: dict[int, int]) -> bool:
    """Whether conditions decide how many elements the array has."""
    return any(field.when is not None or (not arities and field.is_conditional) for field in fields)


def possible(fields: Sequence[nodes.Field]) -> Sequence[int]:
    """The lengths that an array may have, with an element for each field that is present."""
    certain = sum(not (field.is_conditional or field.optional) for field in fields)
    return range(certain, len(fields) + 1)


def _more(scope: Scope) -> Tree:
    """Whether the array has another element; None if its length already guarantees that."""
    located = scope.located
    if located is None or (not located.unsure and located.certain < located.least):
        return None
    return nodes.Binary(">", nodes.own(_ELEMENTS), _number(located))


def _number(located: Located) -> Tree:
    """The number of elements read so far."""
    return nodes.Binary("+", nodes.own(_LOCATED), located.certain) if located.unsure else located.certain


def _shorter(fields: Sequence[nodes.Field], scope: Scope) -> dict[int, int]:
    """The possible lengths of an array, each with its number of optional elements; the scope gets their conditions."""
    last = [field.name for field in fields if field.optional]
    for count, name in enumerate(last, 1):
        scope.elements[name] = nodes.Binary(">=", nodes.own(_ELEMENTS), count)
    return {len(fields) - len(last) + count: count for count in range(len(last) + 1)}
