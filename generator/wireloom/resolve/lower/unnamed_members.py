"""The rest of an object: a map of the members that nothing else of the object names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from wireloom.model import types
from wireloom.model.traversal import parts
from wireloom.model.types import Field, MemberTag, Nullable, Select, Struct, Type
from wireloom.resolve.facts.members import members, rest_of

Types = Mapping[str, Type]
Named = tuple[tuple[str, Type], ...]


def with_rests(named: Named) -> Named:
    """The types, each field that takes the rest of its object with the names that are not of the rest."""
    known = dict(named)
    return tuple((name, _with_rest(type, known) if isinstance(type, Struct) else type) for name, type in named)


def _with_rest(struct: Struct, named: Types) -> Struct:
    if not any(rest_of(field, named) for field in struct.fields):
        return struct
    names = tuple(sorted({*_members(struct, named), *_tags(struct, named)}))
    steps = (
        replace(step, besides=names) if isinstance(step, Field) and rest_of(step, named) is not None else step
        for step in struct.steps
    )
    return replace(struct, steps=tuple(steps))


def _members(struct: Struct, named: Types) -> Iterator[str]:
    """The members that fields name, and those that tell what stands inline."""
    for field in struct.fields:
        yield from members(field, named, frozenset({struct.name}))
        if field.inline:
            yield from _told(field.type, named, frozenset())


def _told(type: Type, named: Types, seen: frozenset[str]) -> Iterator[str]:
    """The members by which a type is chosen."""
    match type:
        case types.Reference(name=name) if name not in seen:
            yield from _told(named[name], named, seen | {name})
        case Nullable(type=inner):
            yield from _told(inner, named, seen)
        case Select(tag=tag, cases=cases):
            if isinstance(tag, MemberTag):
                yield tag.member
            for case in cases:
                if not isinstance(case.type, types.Refusal):
                    yield from _told(case.type, named, seen)
        case _:
            return


def _tags(struct: Struct, named: Types) -> Iterator[str]:
    """The members that select the struct, whether it names them itself or not."""
    selects = [select for type in named.values() for select in _selects(type)]
    for select in selects:
        if isinstance(select.tag, MemberTag) and struct.name in _chosen(select, named, frozenset()):
            yield select.tag.member


def _selects(type: Type) -> Iterator[Select]:
    """The choices in a named type, those of its fields among them."""
    match type:
        case Struct(fields=fields):
            for field in fields:
                yield from _selects(field.type)
        case Select(cases=cases):
            yield type
            for case in cases:
                if not isinstance(case.type, types.Refusal):
                    yield from _selects(case.type)
        case types.Reference():
            return
        case _:
            for part in parts(type):
                yield from _selects(part)


def _chosen(type: Type, named: Types, seen: frozenset[str]) -> frozenset[str]:
    """The structs that a value of a type may be."""
    match type:
        case types.Reference(name=name):
            if isinstance(named[name], Struct):
                return frozenset({name})
            return frozenset() if name in seen else _chosen(named[name], named, seen | {name})
        case Nullable(type=inner):
            return _chosen(inner, named, seen)
        case Select(cases=cases):
            chosen = (case.type for case in cases if not isinstance(case.type, types.Refusal))
            return frozenset[str]().union(*(_chosen(each, named, seen) for each in chosen))
        case _:
            return frozenset()
