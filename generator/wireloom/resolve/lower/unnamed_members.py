"""A map of all members of an object that no field names."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from wireloom.model.traversal import NamedTypes, with_fields, with_structs, within
from wireloom.model.types import MemberTag, Nullable, Select, Struct, Type
from wireloom.resolve.facts.members import members_of, rest_of
from wireloom.resolve.facts.sites import Types


def with_rests(named: NamedTypes) -> NamedTypes:
    """The types, where each field with such a map lists the names that do not belong to it."""
    known = dict(named)
    return with_structs(named, lambda struct: _with_rest(struct, known))


def _with_rest(struct: Struct, named: Types) -> Struct:
    if not any(rest_of(field, named) for field in struct.fields):
        return struct
    inline = (each for field in struct.fields if field.inline for each in within(field.type, named, Nullable, Select))
    names = tuple(sorted({*members_of(struct, named), *_tag_members(inline), *_tags(struct, named)}))
    return with_fields(struct, lambda field: replace(field, besides=names) if rest_of(field, named) else field)


def _tag_members(found: Iterable[Type]) -> Iterator[str]:
    """The members that select cases."""
    return (each.tag.member for each in found if isinstance(each, Select) and isinstance(each.tag, MemberTag))


def _tags(struct: Struct, named: Types) -> Iterator[str]:
    """The members that select the struct, whether or not it has a field for them."""
    for type in named.values():
        for each in (field.type for field in type.fields) if isinstance(type, Struct) else (type,):
            for select in within(each, named):
                if isinstance(select, Select) and struct in within(select, named, Nullable, Select):
                    yield from _tag_members([select])
