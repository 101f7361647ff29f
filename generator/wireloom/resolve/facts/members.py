"""The names that a field adds to its struct: those that readers see, and members of an object."""

from collections.abc import Iterator

from wireloom.model import types
from wireloom.model.traversal import parts as parts_of
from wireloom.model.traversal import plain
from wireloom.model.types import Field, Type
from wireloom.resolve.facts.sites import Types, held


def logical_names(field: Field, named: Types, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The readers' names of the members that a field adds to its struct."""
    if field.flatten:
        yield from lent_names(field.type, named, seen)
        return
    if not field.hidden:
        yield field.name
    if field.meaning is not None and field.meaning.raw:
        yield field.meaning.raw
    for bit in field.bits:
        if not bit.hidden:
            yield from dict.fromkeys((bit.name, bit.title))


def lent_names(type: Type, named: Types, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The readers' names of the members that a flattened type adds to the struct around it."""
    match type:
        case types.Reference(name=name) if name not in seen:
            yield from lent_names(named[name], named, seen | {name})
        case types.Nullable() | types.Select() | types.Attempt():
            yield from filter(None, (type.kind_field, type.reason_field)) if isinstance(type, types.Attempt) else ()
            for part in parts_of(type):
                yield from lent_names(part, named, seen)
        case types.Struct(fields=fields):
            for field in fields:
                yield from logical_names(field, named, seen)
        case _:
            return


def rest_of(field: Field, named: Types) -> types.Map | None:
    """The map that receives all other members of the object; None if the field is something else."""
    type = plain(field.type, named) if field.inline else None
    return type if isinstance(type, types.Map) else None


def members(field: Field, named: Types, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The members of the object that a field is read from."""
    if not field.on_wire:
        return
    if not field.inline:
        yield field.key
        return
    if rest_of(field, named) is not None:
        return
    for inner, _ in held(field.type, named):
        for each in inner.fields if inner.name not in seen else ():
            yield from members(each, named, seen | {inner.name})


def members_of(struct: types.Struct, named: Types) -> Iterator[str]:
    """The members of the object that a struct reads."""
    for field in struct.fields:
        yield from members(field, named, frozenset({struct.name}))
