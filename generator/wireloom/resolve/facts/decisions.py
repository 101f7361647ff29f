"""What builders decide by the value, and what they know only after layout: a part of the plan for writing.

Each name on the wire has one source, which its field states (`explain/write_plan` shows it). The condition of a field
decides whether it is present, with two exceptions: the condition is derived from the presence of this very field (a
flag, in this struct or another), or it uses offsets. Then the value decides: the field is present if the value has it,
and offsets are checked afterwards. `runtime/parsers/facts` and `placement` implement this; a test compares them.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from wireloom.expr.ast import Expression, Literal, MarkRef, Position, fields_in, references
from wireloom.model import types
from wireloom.model.traversal import NamedTypes, closure, nested, parts, plain, with_fields, with_structs
from wireloom.model.types import Bit, Field, Presence, Struct, Type
from wireloom.resolve.facts.sites import Names, Node, Types, held, holders

_PLACES = (Position("here"), Position("size"))


class Decision(Enum):
    """What decides whether a field is present."""

    ALWAYS = "always"
    CONDITION = "its condition"
    VALUE = "the value"
    PLACES = "the value, held against the places"


@dataclass(frozen=True)
class Decisions:
    """The dependencies of a format's names, and what decides whether each field is present."""

    named: Types
    _meant: Names = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_meant", Names(self.named, holders(self.named)))

    def there(self, struct: Struct, field: Field) -> Decision:
        """What decides whether a field is present."""
        if field.when is None:
            is_open = field.presence is Presence.OPTIONAL or field.one_of
            return Decision.VALUE if is_open else Decision.ALWAYS
        if field.hidden and all(bit.hidden for bit in field.bits):
            return Decision.CONDITION
        node = (struct.name, field.wire_name)
        if node in self._followed and node in closure(self._asked(struct, field.when), self._sources_of):
            return Decision.VALUE
        return Decision.PLACES if self.is_late(struct, field.when) else Decision.CONDITION

    def is_late(self, struct: Struct, expression: Expression) -> bool:
        """Whether the value of an expression is known only after layout."""
        return _asks_for_places(expression) or not self._late.isdisjoint(self._asked(struct, expression))

    @cached_property
    def _called(self) -> dict[Node, list[tuple[Struct, Field, Bit | None]]]:
        """The fields and bits with each name."""
        found: dict[Node, list[tuple[Struct, Field, Bit | None]]] = {}
        for owner in (each for each in self.named.values() if isinstance(each, Struct)):
            for each in owner.fields:
                for bit in (None, *each.bits):
                    name = each.wire_name if bit is None else bit.name
                    found.setdefault((owner.name, name), []).append((owner, each, bit))
        return found

    @cached_property
    def _sources(self) -> dict[Node, list[Node]]:
        """The names that each name depends on directly."""
        return {
            node: [
                name
                for owner, each, bit in called
                for expression in _source_expressions(each, bit)
                for name in self._asked(owner, expression)
            ]
            for node, called in self._called.items()
        }

    def _sources_of(self, node: Node) -> Sequence[Node]:
        return self._sources.get(node, ())

    @cached_property
    def _followed(self) -> AbstractSet[Node]:
        """The names that other names depend on."""
        return {source for sources in self._sources.values() for source in sources}

    @cached_property
    def _late(self) -> AbstractSet[Node]:
        """The names that are known only after layout."""
        following: dict[Node, list[Node]] = {}
        for node, sources in self._sources.items():
            for source in sources:
                following.setdefault(source, []).append(node)
        placed = (
            node
            for node, called in self._called.items()
            for _, each, bit in called
            if each.checksum is not None or any(map(_asks_for_places, _source_expressions(each, bit)))
        )
        return closure(placed, lambda node: following.get(node, ())).keys()

    def _asked(self, struct: Struct, expression: Expression) -> Iterator[Node]:
        for reference in fields_in(expression):
            for origin in self._meant.origins(struct, reference):
                yield origin.node
                yield from () if origin.lender is None else self._lenders(origin.struct.name, frozenset())

    def _lenders(self, name: str, seen: frozenset[str]) -> Iterator[Node]:
        """The flattened fields through which a struct's members belong to other structs."""
        for holder in self._meant.above.get(name, ()):
            lender = holder.struct.steps[holder.position]
            if isinstance(lender, Field) and lender.flatten and holder.struct.name not in seen:
                yield holder.struct.name, lender.wire_name
                yield from self._lenders(holder.struct.name, seen | {name})


def with_decisions(named: NamedTypes, roots: Sequence[Type]) -> NamedTypes:
    """The types, with what builders decide by the value.

    Fields whose presence only the value decides are marked. Structs that a union tells apart by their members list the
    members that a value must have.
    """
    decisions = Decisions(dict(named))
    by_members = _structs_in_unions(decisions.named, roots)
    return with_structs(named, lambda struct: _decided(struct, decisions, is_told=struct.name in by_members))


def _decided(struct: Struct, decisions: Decisions, *, is_told: bool) -> Struct:
    def circular(field: Field) -> Field:
        by_value = _is_given(field) and decisions.there(struct, field) is Decision.VALUE
        return replace(field, circular=True) if by_value else field

    is_told = is_told or any(version.arity is not None for version in struct.versions)
    needs = [each.name for each in struct.fields if is_told and _is_needed(each, decisions.named)]
    distinguishes_null = not struct.encoding.numbered  # in protobuf, null is the value of an absent field
    return replace(with_fields(struct, circular), needs=tuple(dict.fromkeys(needs)) if distinguishes_null else ())


def _structs_in_unions(named: Types, roots: Sequence[Type]) -> AbstractSet[str]:
    """The structs in unions whose case the value decides."""
    return {
        struct.name
        for each in (*named.values(), *roots)
        for type in nested(each)
        if isinstance(type, types.Attempt | types.OneOf | types.Select)
        for part in parts(type)
        for struct, _ in held(part, named)
    }


def _is_needed(field: Field, named: Types) -> bool:
    """Whether a value without the field cannot be written."""
    if field.hidden or field.when is not None or field.presence is Presence.OPTIONAL or not field.on_wire:
        return False
    follows = field.derive is not None or field.checksum is not None or field.const is not None or field.bits
    is_null = field.meaning is not None and field.meaning.null is not None
    is_null = is_null or any(each.value == Literal(None) for each in field.mappings or ())
    has_other_source = field.flatten or field.table or field.inline or field.has_default or field.refers is not None
    return not (follows or is_null or has_other_source) and _has_no_null(field.type, named)


def _has_no_null(type: Type, named: Types) -> bool:
    match found := plain(type, named):
        case types.Nullable() | types.Null() | types.JsonText():
            return False
        case types.Attempt() | types.OneOf() | types.Select():
            return all(_has_no_null(part, named) for part in parts(found))
        case _:
            return True


def _is_given(field: Field) -> bool:
    """Whether a field under a condition is present exactly if the value has it."""
    has_source = field.const is not None or field.derive is not None or field.checksum is not None or field.has_default
    null = field.meaning is not None and field.meaning.null is not None
    return field.on_wire and field.when is not None and not (has_source or null or field.bits or field.flatten)


def _source_expressions(field: Field, bit: Bit | None) -> Iterator[Expression]:
    """The expressions that determine a name and its presence when building."""
    source = field.derive if bit is None else bit.derive
    if bit is None and source is None and not field.given:
        source = field.compute
    yield from (each for each in (source, field.when) if each is not None)


def _asks_for_places(expression: Expression) -> bool:
    return any(isinstance(each, MarkRef) or each in _PLACES for each in references(expression))
