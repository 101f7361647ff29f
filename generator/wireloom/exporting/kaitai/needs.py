"""The fields of outer structs that a struct uses: in Kaitai, they are parameters of its type.

A struct may be used in several others, and Kaitai's `_parent` then has no known type. So each use of a type passes the
values that the type and its inner types need. A need says how many structs outwards the field is.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from wireloom.expr.ast import Expression, FieldRef, Kind, Position, references
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import parts
from wireloom.model.types import (
    Array,
    Bytes,
    Check,
    Discard,
    End,
    Field,
    FieldTag,
    Frame,
    Last,
    Mark,
    Need,
    Reference,
    Select,
    Step,
    Struct,
    Terminator,
    Text,
    Type,
    Verify,
    stated,
)

PARAMETERS = {Kind.INTEGER: "s8", Kind.BOOLEAN: "bool", Kind.TEXT: "str", Kind.BYTES: "bytes", Kind.FLOAT: "f8"}
"""The kinds of values that can be parameters, and their types."""


@dataclass(frozen=True, slots=True)
class Outer:
    """A field `up` structs outwards; without a name, the index in the list that contains the struct."""

    up: int
    name: str = ""
    members: tuple[str, ...] = ()
    kind: Kind = Kind.INTEGER

    @property
    def is_index(self) -> bool:
        """Whether it is the index in a list."""
        return not self.name


def sorted_needs(needs: Iterable[Outer]) -> list[Outer]:
    """Needs in a deterministic order."""
    return sorted(needs, key=lambda each: (each.up, each.name, each.members))


class Needs:
    """The needs of every named struct."""

    def __init__(self, named: Mapping[str, Type]) -> None:
        self.named = named
        self.of_structs: dict[str, frozenset[Outer]] = {
            name: frozenset() for name, type in named.items() if isinstance(type, Struct)
        }
        changed = True
        while changed:
            changed = False
            for name in self.of_structs:
                type = named[name]
                assert isinstance(type, Struct)  # noqa: S101 - only structs are among them
                found = frozenset(self._of_struct(type))
                changed |= found != self.of_structs[name]
                self.of_structs[name] = found

    def _of_struct(self, struct: Struct) -> Iterator[Outer]:
        for step in struct.steps:
            for each in self._of_step(step, struct):
                if each.up > 0 or each.is_index:
                    yield each

    def _of_step(self, step: Step, struct: Struct) -> Iterator[Outer]:
        expressions: tuple[Expression | None, ...] = ()
        match step:
            case Field():
                condition = presence_condition(step, struct)
                expressions = (condition, step.at, step.compute, stated(step.size))
                if step.packing is not None:
                    expressions = (*expressions, step.packing.tag)
                if step.on_wire:
                    yield from self.of_type(step.type)
            case Check(that, when=when):
                expressions = (that, when)
            case Frame(amount) | Need(amount):
                expressions = (amount,)
            case Mark() | End() | Verify() | Discard():
                pass
        for expression in expressions:
            yield from _of(expression)

    def of_type(self, type: Type, seen: frozenset[str] = frozenset()) -> Iterator[Outer]:
        """The needs of a type, seen from the struct that uses it: `up` is 0 for that struct's own fields."""
        match type:
            case Reference(name):
                inner = self.named[name]
                if isinstance(inner, Struct):
                    yield from _outwards(self.of_structs[name])
                elif name not in seen:
                    yield from self.of_type(inner, seen | {name})
                return
            case Struct():
                yield from _outwards(self._of_struct(type))
                return
            case Text(size) | Bytes(size):
                yield from _of(stated(size))
            case Array(count=count):
                yield from _of(stated(count))
                if isinstance(count, Last):
                    yield from (each for each in _outwards(_of(count.holds)) if each.up >= 0)
                if isinstance(count, Terminator):
                    yield from _of(count.behind)
            case Select(FieldTag(expression)):
                yield from _of(expression)
            case _:
                pass
        in_list = isinstance(type, Array)  # the index of its elements is known there
        for part in parts(type):
            yield from (each for each in self.of_type(part, seen) if not (in_list and each.is_index))


def _outwards(needs: Iterable[Outer]) -> Iterator[Outer]:
    for each in needs:
        yield each if each.is_index else Outer(each.up - 1, each.name, each.members, each.kind)


def _of(expression: Expression | None) -> Iterator[Outer]:
    for each in () if expression is None else references(expression):
        match each:
            case FieldRef(up, name, members, kind) if kind in PARAMETERS:
                yield Outer(up, name, members, kind)
            case Position("index"):
                yield Outer(0)
            case _:
                pass
