"""JSON Schemas of objects whose members depend on one another.

A member with a condition (`when`), and checks on which members are present, make branches: one for each combination of
tags (members that decide), as far as the branches differ. What other things decide is left open: such a member is
optional, such a check passes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from wireloom.emit.jsonschema.constants import values, written
from wireloom.emit.jsonschema.members import Key, Member, Members, Option, Scoped
from wireloom.emit.jsonschema.rendering import Schema
from wireloom.model.types import Field, Presence, Type

Property = Callable[[Field, Type], Schema]
MAXIMUM_BRANCHES = 1024
"""Members that more combinations of tags decide about are optional."""


@dataclass(frozen=True, slots=True)
class Part:
    """A member in one branch: its schema, and whether it must be there."""

    name: str
    schema: Schema
    required: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Members that depend on one another: the tags that decide, the members decided about, the checks on the tags."""

    tags: tuple[Key, ...]
    members: tuple[Member, ...]
    checks: tuple[tuple[Scoped, ...], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Combinations of tags that leave the same members: the options of each tag, whether each member is there."""

    options: tuple[frozenset[Option], ...]
    present: tuple[bool | None, ...]


def objects(members: Members, property: Property) -> Schema:
    """The schema of an object: flat branches where one group of members decides, else one choice for each group."""
    groups = list(_groups(members))
    branches = [[_parts(branch, group, members, property) for branch in _branches(group, members)] for group in groups]
    shared = _shared(members, groups, property)
    if len(groups) > 1:
        choices = [
            {"oneOf": [_body(parts, _names(group, members)) for parts in each]}
            for group, each in zip(groups, branches, strict=True)
        ]
        return {"type": "object", **_body(shared), "allOf": choices, "unevaluatedProperties": not members.closed}
    if not groups:
        return _object(shared, members, ())
    schemas = [_object([*shared, *parts], members, _names(groups[0], members)) for parts in branches[0]]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _shared(members: Members, groups: Iterable[Group], property: Property) -> list[Part]:
    """The members that no group decides about."""
    grouped = {key for group in groups for key in (*group.tags, *(member.key for member in group.members))}
    free = (member for member in members.members if member.key not in grouped)
    parts = (_part(member, members.truth(member.conditions, {}), property) for member in free)
    return [part for part in parts if part is not None]


# --- groups --------------------------------------------------------------------------------------------------------


def _groups(members: Members) -> Iterator[Group]:
    """The sets of tags that are connected by a member or a check, with all that they decide."""
    decided = _decided(members)
    checks = [(check, tags) for check in members.checks if _tells(check, tags := members.tags(check), members)]
    for connected in _connected([*decided.values(), *(tags for _, tags in checks)]):
        group = Group(
            tuple(member.key for member in members.members if member.key in connected),
            tuple(member for member in members.members if connected.intersection(decided.get(member, ()))),
            tuple(check for check, needed in checks if connected.intersection(needed)),
        )
        if prod(len(members.options(tag)) for tag in group.tags) <= MAXIMUM_BRANCHES:
            yield group


def _decided(members: Members) -> dict[Member, tuple[Key, ...]]:
    """The members whose presence tags decide; members of one name are decided about together."""
    tags: dict[str, dict[Key, None]] = {}
    for member in members.members:
        tags.setdefault(member.name, {}).update(dict.fromkeys(members.tags(member.conditions)))
    return {member: tuple(tags[member.name]) for member in members.members if tags[member.name] and member.conditions}


def _tells(check: tuple[Scoped, ...], tags: tuple[Key, ...], members: Members) -> bool:
    """Whether the check can be seen to fail by tags alone."""
    combinations = prod(len(members.options(tag)) for tag in tags)
    return (
        bool(tags)
        and combinations <= MAXIMUM_BRANCHES
        and any(members.violated(check, chosen) for chosen in _choices(tags, members))
    )


def _connected(sets: Iterable[tuple[Key, ...]]) -> list[set[Key]]:
    joined: list[set[Key]] = []
    for keys in sets:
        touching = [other for other in joined if other.intersection(keys)]
        joined = [other for other in joined if other not in touching] + [set(keys).union(*touching)]
    return joined


# --- branches ------------------------------------------------------------------------------------------------------


def _choices(tags: tuple[Key, ...], members: Members) -> Iterator[Mapping[Key, Option]]:
    for options in product(*(members.options(tag) for tag in tags)):
        yield dict(zip(tags, options, strict=True))


def _branches(group: Group, members: Members) -> list[Branch]:
    found = [
        Branch(
            tuple(frozenset([chosen[tag]]) for tag in group.tags),
            tuple(members.truth(member.conditions, chosen) for member in group.members),
        )
        for chosen in _choices(group.tags, members)
        if not any(members.violated(check, chosen) for check in group.checks)
    ]
    return _merged(found)


def _merged(branches: list[Branch]) -> list[Branch]:
    """Branches of the same members that differ in one tag are one branch."""
    for place, branch in enumerate(branches):
        for other in branches[place + 1 :]:
            union = _union(branch, other)
            if union is not None:
                rest = [each for each in branches[place + 1 :] if each is not other]
                return _merged([*branches[:place], union, *rest])
    return branches


def _union(left: Branch, right: Branch) -> Branch | None:
    if left.present != right.present:
        return None
    pairs = list(zip(left.options, right.options, strict=True))
    if sum(a != b for a, b in pairs) != 1:
        return None
    return Branch(tuple(a | b for a, b in pairs), left.present)


# --- schemas -------------------------------------------------------------------------------------------------------


def _parts(branch: Branch, group: Group, members: Members, property: Property) -> list[Part]:
    """The members of a branch."""
    options = dict(zip(group.tags, branch.options, strict=True))
    present = {id(member): there for member, there in zip(group.members, branch.present, strict=True)}
    parts = (
        _tag_part(member, options[member.key], members, property)
        if member.key in options
        else _part(member, present.get(id(member), False), property)
        for member in members.members
    )
    return [part for part in parts if part is not None]


def _part(member: Member, present: bool | None, property: Property) -> Part | None:  # noqa: FBT001  # three-valued
    if present is False:
        return None
    required = present is True and member.field.presence is Presence.REQUIRED
    return Part(member.name, property(member.field, member.type), required)


def _tag_part(member: Member, options: frozenset[Option], members: Members, property: Property) -> Part | None:
    """A tag with the values that it has in this branch."""
    every = members.options(member.key)
    here = [option for option in every if option in options and not option.absent]
    if not here:
        return None
    schema = property(member.field, member.type)
    if len(here) < sum(not option.absent for option in every):
        kept = {key: value for key, value in schema.items() if key in ("description", "default")}
        schema = {**kept, **values([written(option.wire) for option in here])}
    required = not any(option.absent for option in options)
    if required:
        schema = {key: value for key, value in schema.items() if key != "default"}
    return Part(member.name, schema, required)


def _names(group: Group, members: Members) -> tuple[str, ...]:
    """The names that a group decides about."""
    named = (member.name for member in members.members if member.key in group.tags or member in group.members)
    return tuple(dict.fromkeys(named))


def _object(parts: list[Part], members: Members, decided: Iterable[str]) -> Schema:
    """An object in the members' own order; where others may be there, those of other branches may not."""
    order = {member.name: place for place, member in reversed(list(enumerate(members.members)))}
    ordered = sorted(parts, key=lambda part: order[part.name])
    body = _body(ordered, () if members.closed else decided)
    return {"type": "object", **body, "additionalProperties": not members.closed}


def _body(parts: Iterable[Part], decided: Iterable[str] = ()) -> Schema:
    """Properties and what of them is required; of the `decided` names, those that are no part are forbidden."""
    properties: dict[str, object] = {}
    required: list[str] = []
    for part in parts:
        earlier = properties.get(part.name)
        properties[part.name] = part.schema if earlier is None else {"anyOf": [earlier, part.schema]}
        required += [part.name] if part.required and part.name not in required else []
    forbidden = {name: False for name in decided if name not in properties}
    return {"properties": {**properties, **forbidden}, "required": required}
