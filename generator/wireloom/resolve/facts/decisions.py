"""What builders decide by the value, and what they know only after layout: one half of the write plan.

Each name on the wire has one source, which its field says by itself (`wireloom.writing` shows it). Whether a field is
there is decided by its condition. Where the condition follows from just that field (a flag that is derived of its
presence, in this struct or another), or from places, the value decides: the field is there where the value has it, and
places are held against that. `runtime/parsers/facts` and `placement` execute this; a test holds them against it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from wireloom.expr.ast import Expression, FieldRef, MarkRef, Position, references
from wireloom.model.types import Bit, Field, Presence, Struct, Type
from wireloom.resolve.facts.sites import Names, Types, holders

Node = tuple[str, str]
"""A struct, and a name in it."""
_PLACES = (Position("here"), Position("size"))


class Decision(Enum):
    """What decides whether a field is there."""

    ALWAYS = "always"
    CONDITION = "its condition"
    VALUE = "the value"
    PLACES = "the value, held against the places"


@dataclass(frozen=True)
class Decisions:
    """The names of a format: what each follows from, and what decides whether it is there."""

    named: Types
    _meant: Names = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_meant", Names(self.named, holders(self.named)))

    def there(self, struct: Struct, asked: Field) -> Decision:
        """What decides whether a field is there."""
        if asked.when is None:
            is_open = asked.presence is Presence.OPTIONAL or asked.one_of
            return Decision.VALUE if is_open else Decision.ALWAYS
        if asked.hidden and all(bit.hidden for bit in asked.bits):
            return Decision.CONDITION
        if (struct.name, asked.wire_name) in self.reached(struct, asked.when):
            return Decision.VALUE
        return Decision.PLACES if self.is_late(struct, asked.when) else Decision.CONDITION

    def is_late(self, struct: Struct, expression: Expression) -> bool:
        """Whether an expression of a struct is known only once fields have their places."""
        return _asks_for_places(expression) or any(
            each.checksum is not None or any(map(_asks_for_places, _says(each, bit)))
            for node in self.reached(struct, expression)
            for _, each, bit in self._called(node)
        )

    def reached(self, struct: Struct, expression: Expression) -> frozenset[Node]:
        """All names that what an expression of a struct gives follows from."""
        left, found = list(self._asked(struct, expression)), set[Node]()
        while left:
            node = left.pop()
            if node in found:
                continue
            found.add(node)
            for owner, each, bit in self._called(node):
                left += (name for said in _says(each, bit) for name in self._asked(owner, said))
        return frozenset(found)

    def _asked(self, struct: Struct, expression: Expression) -> Iterator[Node]:
        for reference in references(expression):
            for origin in self._meant.origins(struct, reference) if isinstance(reference, FieldRef) else ():
                yield origin.struct.name, origin.bit.name if origin.bit else origin.field.wire_name
                yield from () if origin.lender is None else self._lenders(origin.struct.name, frozenset())

    def _lenders(self, name: str, seen: frozenset[str]) -> Iterator[Node]:
        """The fields through which the members of a struct melt into others."""
        for holder in self._meant.above.get(name, ()):
            lender = holder.struct.steps[holder.position]
            if isinstance(lender, Field) and lender.flatten and holder.struct.name not in seen:
                yield holder.struct.name, lender.wire_name
                yield from self._lenders(holder.struct.name, seen | {name})

    def _called(self, node: Node) -> Iterator[tuple[Struct, Field, Bit | None]]:
        """The fields and bits of a name."""
        owner, name = self.named[node[0]], node[1]
        if not isinstance(owner, Struct):
            return
        for each in owner.fields:
            for bit in (None, *each.bits):
                if name == (each.wire_name if bit is None else bit.name):
                    yield owner, each, bit


def with_decisions(named: tuple[tuple[str, Type], ...]) -> tuple[tuple[str, Type], ...]:
    """The types; fields of which nothing but the value decides whether they are there say so."""
    decisions = Decisions(dict(named))
    return tuple((name, _decided(type, decisions) if isinstance(type, Struct) else type) for name, type in named)


def _decided(struct: Struct, decisions: Decisions) -> Struct:
    steps = (
        replace(step, circular=True)
        if isinstance(step, Field) and _is_given(step) and decisions.there(struct, step) is Decision.VALUE
        else step
        for step in struct.steps
    )
    return replace(struct, steps=tuple(steps))


def _is_given(field: Field) -> bool:
    """Whether a field under a condition is nothing but what the value has of it."""
    told = field.const is not None or field.derive is not None or field.checksum is not None or field.has_default
    null = field.meaning is not None and field.meaning.null is not None
    return field.on_wire and field.when is not None and not (told or null or field.bits or field.flatten)


def _says(field: Field, bit: Bit | None) -> Iterator[Expression]:
    """The expressions that say what a name is for builders, and whether it is there."""
    told = field.derive if bit is None else bit.derive
    if bit is None and told is None and not field.given:
        told = field.compute
    yield from (each for each in (told, field.when) if each is not None)


def _asks_for_places(expression: Expression) -> bool:
    return any(isinstance(each, MarkRef) or each in _PLACES for each in references(expression))
