"""Computes where the fields of a binary struct begin, as far as the spec determines it.

It walks the fields in order, for every combination of conditions that can hold together. Each combination has an
offset: bytes from the start of the struct, or from the end of the last field of varying size.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from wireloom.escapes import code_span
from wireloom.expr.ast import Binary, Expression, Literal, ParameterRef, Unary
from wireloom.expr.text import text_of
from wireloom.model.format import Format
from wireloom.model.presence import presence_condition
from wireloom.model.types import Array, Field, Mark, Struct
from wireloom.resolve.facts.exclusion import exclusive
from wireloom.resolve.facts.sizes import fixed_size, from_end

_MOST = 64
"""Most combinations of conditions that are followed."""
_FEW = 3
"""Most offsets of a field that the page lists."""


@dataclass(frozen=True, slots=True)
class Offset:
    """Bytes from a base: an expression, or the end of a field if `after`; an empty base is the start of the struct."""

    base: str
    bytes: int
    after: bool = False


@dataclass(frozen=True, slots=True)
class _World:
    """A combination: the conditions that hold, those that do not, and the offset reached under them."""

    offset: Offset
    held: tuple[Expression, ...] = ()
    failed: tuple[Expression, ...] = ()


def offsets(struct: Struct, format: Format) -> Mapping[str, tuple[Offset, ...]]:
    """The possible offsets of each field and each mark, by name."""
    found: dict[str, tuple[Offset, ...]] = {}
    worlds = [_World(Offset("", 0))]
    for step in struct.steps:
        match step:
            case Mark(name=name):
                found[name] = _distinct(worlds)
                worlds = [_World(_renamed(each.offset, name), each.held, each.failed) for each in worlds]
            case Field() if step.in_struct and from_end(step) is None:
                if step.at is not None:
                    worlds = [_World(_stated(step.at))]
                    found[step.wire_name] = _distinct(worlds)
                    worlds = [_moved(worlds[0], step, format)]
                    continue
                apart = [_parted(each, presence_condition(step, struct), format) for each in worlds]
                there = [world for with_it, _ in apart for world in with_it]
                found[step.wire_name] = _distinct(there)
                worlds = [_moved(each, step, format) for each in there] + [each for _, rest in apart for each in rest]
                worlds = worlds if len(worlds) <= _MOST else [_World(Offset(step.wire_name, 0, after=True))]
            case _:
                pass
    return found


def offset_text(found: tuple[Offset, ...], before: str) -> str:
    """The start of a field in Markdown; `before` is the previous field."""
    if not found or len(found) > _FEW or (len(found) > 1 and any(each.base for each in found)):
        return "next"
    return " or ".join(_offset_text(each, before) for each in sorted(found, key=lambda each: each.bytes))


def _offset_text(offset: Offset, before: str) -> str:
    if not offset.base:
        return str(offset.bytes)
    if not offset.bytes and offset.base == before:
        return "next"
    base = f"{'end of ' if offset.after else ''}{code_span(offset.base)}"
    return f"{base} + {offset.bytes}" if offset.bytes else base


def _distinct(worlds: list[_World]) -> tuple[Offset, ...]:
    return tuple(dict.fromkeys(each.offset for each in worlds))


def _renamed(offset: Offset, mark: str) -> Offset:
    """The offset relative to a mark; fixed offsets stay numbers."""
    return offset if not offset.base else Offset(mark, 0)


def _stated(at: Expression) -> Offset:
    match at:
        case Literal(int(value)):
            return Offset("", value)
        case _:
            return Offset(text_of(at), 0)


def _moved(world: _World, field: Field, format: Format) -> _World:
    size = fixed_size(field, format.named)
    if size is None or (isinstance(field.type, Array) and field.type.packed):
        return replace(world, offset=Offset(field.wire_name, 0, after=True))
    return replace(world, offset=replace(world.offset, bytes=world.offset.bytes + size))


def _parted(world: _World, condition: Expression | None, format: Format) -> tuple[list[_World], list[_World]]:
    """Split a combination into those with the field and those without it; impossible ones are dropped."""
    if condition is None or condition in world.held:
        return [world], []
    if condition in world.failed:
        return [], [world]
    with_it = replace(world, held=(*world.held, condition))
    without = replace(world, failed=(*world.failed, condition))
    return [with_it] * _possible(with_it, format), [without] * _possible(without, format)


def _possible(world: _World, format: Format) -> bool:
    """Whether the conditions of a combination may all be true, as far as that can be told."""
    said = (*world.held, *(Unary("not", each) for each in world.failed))
    return not any(exclusive(*pair) for pair in combinations(said, 2)) and not _exhausted(world.failed, format)


def _exhausted(failed: tuple[Expression, ...], format: Format) -> bool:
    """Whether the failed conditions exclude all values of a parameter."""
    left = {each.name: set(each.options) for each in format.parameters if each.options}
    for each in failed:
        match each:
            case Binary("==", ParameterRef(name=name, members=()), Literal(str(value))) if name in left:
                left[name].discard(value)
            case _:
                pass
    return not all(left.values())
