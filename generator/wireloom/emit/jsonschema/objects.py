"""Generate JSON Schemas of objects, and of arrays by position, whose members depend on one another.

Conditions of members (`when`) and checks make branches: one for each combination of tags, merged if they leave the same
members. Decisions that depend on anything else are left open: such a member is optional, and such a check passes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import prod
from types import MappingProxyType

from wireloom.emit.jsonschema.constants import NEVER, Schema, one_of, values
from wireloom.emit.jsonschema.members import Choice, Key, Member, Members, Option, Scoped
from wireloom.emit.jsonschema.scopes import version_of

MAXIMUM_BRANCHES = 1024
"""A member is optional if the tags that decide about it have more combinations than this."""
MAXIMUM_FLAT = 64
"""The limit of branches if several groups are combined; members of groups beyond it are optional."""
_ANY: Mapping[int, int] = MappingProxyType({})
_MAXIMUM_UNDECIDED = 6  # elements of an array that may be present or absent


@dataclass(frozen=True, slots=True)
class Part:
    """A member in one branch: its schema, and whether it is required."""

    name: str
    schema: Schema
    required: bool
    narrows: bool = False  # whether it holds beside the others of its name, and not instead


@dataclass(frozen=True, slots=True)
class Group:
    """Members that depend on one another: the tags, the members they decide about, and the checks on the tags."""

    tags: tuple[Key, ...]
    members: tuple[Member, ...]
    checks: tuple[tuple[Scoped, ...], ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Combinations of tags with the same members: the options of each tag, and whether each member is present."""

    options: tuple[frozenset[Option], ...]
    present: tuple[bool | None, ...]


def objects(members: Members) -> Schema:
    """The schema of an object: one branch for each combination of the groups' branches."""
    if _never(members):
        return NEVER
    shown = [(group, each) for group, each in _decisive_groups(members) if _shows(group, each, members)]
    groups, branches = [group for group, _ in shown], [each for _, each in shown]
    shared = _shared(members, groups)
    schemas = [_object(shared, tuple(zip(chosen, groups, strict=True)), members) for chosen in product(*branches)]
    disjoint = all(_are_disjoint(group, each, members) for group, each in shown)
    return one_of(schemas, "oneOf" if disjoint else "anyOf")


def _decisive_groups(members: Members) -> list[tuple[Group, list[Branch]]]:
    """The groups whose branches are written out: the first, and others while the branches stay few."""
    kept: list[tuple[Group, list[Branch]]] = []
    combined = 1
    for group in _groups(members):
        branches = _branches(group, members)
        added = len(branches) if _shows(group, branches, members) else 1
        if combined == 1 or combined * added <= MAXIMUM_FLAT:
            combined *= added
            kept.append((group, branches))
    return kept


def _never(members: Members) -> bool:
    """Whether a check always fails, as for a union that has no case for the value of a parameter."""
    nothing = Choice()
    return any(members.violated(check, nothing) for check in members.checks)


def undecided(members: Members) -> tuple[list[Member], list[tuple[Scoped, ...]]]:
    """The members whose presence, and the checks whose result, the schema leaves open."""
    groups = [group for group, _ in _decisive_groups(members)]
    loose: dict[Member, None] = {}
    checks = [check for check in members.checks if not any(check in group.checks for group in groups)]
    for group in groups:
        for chosen in _choices(group.tags, members):
            loose |= {each: None for each in group.members if members.truth(each.conditions, chosen) is None}
            checks += [check for check in group.checks if check not in checks and _open(check, chosen, members)]
    decided, nothing = {member for group in groups for member in group.members}, Choice()
    for member in members.members:
        if member.name is not None and member not in decided and members.truth(member.conditions, nothing) is None:
            loose[member] = None
    return list(loose), [check for check in checks if _perhaps_open(check, members)]


def _perhaps_open(check: tuple[Scoped, ...], members: Members) -> bool:
    """Whether a check is open for some choice of tags."""
    tags = members.tags(check)
    few = prod(len(members.options(tag)) for tag in tags) <= MAXIMUM_BRANCHES
    return any(_open(check, chosen, members) for chosen in _choices(tags if few else (), members))


def _open(check: tuple[Scoped, ...], chosen: Choice, members: Members) -> bool:
    """Whether a check may fail for a choice of tags, but need not."""
    applies, holds = members.truth(check[:-1], chosen), members.truth(check[-1:], chosen)
    return applies is not False and holds is not True and not (applies and holds is False)


def arrays(members: Members, arities: Mapping[int, int] = _ANY) -> Schema:
    """The schema of an array whose elements are the members that are present, in order.

    If versions are told by the number of elements, `arities` has these numbers, and other arrays are refused.
    """
    if _never(members):
        return NEVER
    groups = list(_groups(members))
    tags = tuple(dict.fromkeys(tag for group in groups for tag in group.tags))
    decidable = prod(len(members.options(tag)) for tag in tags) <= MAXIMUM_BRANCHES
    checks = tuple(check for group in groups for check in group.checks)
    group = Group(tags if decidable else (), members.members, checks)
    branches = _branches(group, members)
    schemas = (_tuples(branch, group, members, _counts(branch, group, arities)) for branch in branches)
    return one_of(chain.from_iterable(schemas), "anyOf")


def _counts(branch: Branch, group: Group, arities: Mapping[int, int]) -> Collection[int]:
    """The allowed numbers of elements in a branch; empty if any number is allowed."""
    versions = version_of(dict(zip(group.tags, branch.options, strict=True)))
    return {count for place, count in arities.items() if versions is None or place in versions}


def _tuples(branch: Branch, group: Group, members: Members, counts: Collection[int]) -> Iterator[Schema]:
    """The arrays of a branch: one for each combination of elements that may be present or absent."""
    undecided = [place for place, present in enumerate(branch.present) if present is None]
    if len(undecided) > _MAXIMUM_UNDECIDED:
        yield {"type": "array"}
        return
    for choice in product((True, False), repeat=len(undecided)):
        decided = dict(zip(undecided, choice, strict=True))
        present = tuple(decided.get(place, is_present) for place, is_present in enumerate(branch.present))
        items = [part.schema for part in _parts(Branch(branch.options, present), group, members)]
        if counts and len(items) not in counts:
            continue
        placed: Schema = {"prefixItems": items} if items else {}
        yield {"type": "array", **placed, "items": False, "minItems": len(items)}


def _shared(members: Members, groups: Iterable[Group]) -> list[Part]:
    """The members that no group decides about."""
    grouped, nothing = {id(member) for group in groups for member in group.members}, Choice()
    tags = {key for group in groups for key in group.tags}
    free = (member for member in members.members if id(member) not in grouped and member.key not in tags)
    parts = (_part(member, members.truth(member.conditions, nothing)) for member in free)
    return [part for part in parts if part is not None]


# --- groups --------------------------------------------------------------------------------------------------------


def _groups(members: Members) -> Iterator[Group]:
    """The groups: tags that are connected by a common member or check, with all that they decide."""
    decided = _decided(members)
    checks = [(check, tags) for check in members.checks if _can_fail(check, tags := members.tags(check), members)]
    for connected in _connected([*decided.values(), *(tags for _, tags in checks)]):
        group = Group(
            tuple(dict.fromkeys(member.key for member in members.members if member.key in connected)),
            tuple(member for member in members.members if connected.intersection(decided.get(member, ()))),
            tuple(check for check, needed in checks if connected.intersection(needed)),
        )
        if prod(len(members.options(tag)) for tag in group.tags) <= MAXIMUM_BRANCHES:
            yield group


def _decided(members: Members) -> dict[Member, tuple[Key, ...]]:
    """The tags that decide about each member's presence; members of the same name are decided together."""
    tags: dict[str, dict[Key, None]] = {}
    narrowed = {member.name for member in members.members if member.narrows}
    for member in members.members:
        if member.name is not None:
            itself = [member.key] if member.name in narrowed and members.options(member.key) else []
            tags.setdefault(member.name, {}).update(dict.fromkeys([*members.tags(member.conditions), *itself]))
    return {
        member: tuple(tags[member.name])
        for member in members.members
        if member.name is not None and tags.get(member.name)
    }


def _can_fail(check: tuple[Scoped, ...], tags: tuple[Key, ...], members: Members) -> bool:
    """Whether the tags alone can make the check fail."""
    combined = prod(len(members.options(tag)) for tag in tags)
    return (
        bool(tags)
        and combined <= MAXIMUM_BRANCHES
        and any(members.violated(check, chosen) for chosen in _choices(tags, members))
    )


def _connected(sets: Iterable[tuple[Key, ...]]) -> list[set[Key]]:
    joined: list[set[Key]] = []
    for keys in sets:
        touching = [other for other in joined if other.intersection(keys)]
        joined = [other for other in joined if other not in touching] + [set(keys).union(*touching)]
    return joined


def _shows(group: Group, branches: Sequence[Branch], members: Members) -> bool:
    """Whether the object shows how the members of a group depend on one another.

    It does not if the tags are not in it and every combination of the members is possible.
    """
    if any(member.name is not None for member in members.members if member.key in group.tags):
        return True
    if not branches:
        return True  # the checks fail for all tags
    patterns = {branch.present for branch in branches}
    independent = len(patterns) == 1 << len(group.members) and not any(None in each for each in patterns)
    return bool(group.members) and not independent


# --- branches ------------------------------------------------------------------------------------------------------


def _choices(tags: tuple[Key, ...], members: Members) -> Iterator[Choice]:
    for options in product(*(members.options(tag) for tag in tags)):
        yield Choice(dict(zip(tags, options, strict=True)))


def _branches(group: Group, members: Members) -> list[Branch]:
    """The branches, each with all combinations of tags that leave the same members."""
    found: dict[tuple[bool | None, ...], list[tuple[frozenset[Option], ...]]] = {}
    for chosen in _choices(group.tags, members):
        if not any(members.violated(check, chosen) for check in group.checks) and not _misses(chosen, members):
            present = tuple(
                True if member.key in chosen.options else members.truth(member.conditions, chosen)
                for member in group.members
            )
            found.setdefault(present, []).append(tuple(frozenset([chosen.options[tag]]) for tag in group.tags))
    return [Branch(options, present) for present, every in found.items() for options in _merged(every)]


def _misses(chosen: Choice, members: Members) -> bool:
    """Whether a tag is absent although a case that is chosen requires it."""
    absent = {each.name for each in members.members if each.key in chosen.options and chosen.options[each.key].absent}
    needing = (each for each in members.members if each.narrows and each.required and each.name in absent)
    return any(members.truth(each.conditions, chosen) is True for each in needing)


def _merged(combined: list[tuple[frozenset[Option], ...]]) -> list[tuple[frozenset[Option], ...]]:
    """Merge combinations that differ in one tag only."""
    before = len(combined) + 1
    while len(combined) < before:
        before = len(combined)
        for place in range(len(combined[0])):
            joined: dict[tuple[frozenset[Option], ...], frozenset[Option]] = {}
            for options in combined:
                rest = (*options[:place], *options[place + 1 :])
                joined[rest] = joined.get(rest, frozenset()) | options[place]
            combined = [(*rest[:place], options, *rest[place:]) for rest, options in joined.items()]
    return combined


# --- schemas -------------------------------------------------------------------------------------------------------


def _are_disjoint(group: Group, branches: list[Branch], members: Members) -> bool:
    """Whether visible tags tell every two branches apart."""
    shown = [
        place
        for place, tag in enumerate(group.tags)
        if any(m.name is not None for m in members.members if m.key == tag)
    ]
    return all(
        any(first.options[place].isdisjoint(second.options[place]) for place in shown)
        for first, second in combinations(branches, 2)
    )


def _parts(branch: Branch, group: Group, members: Members) -> list[Part]:
    """The members of a branch."""
    options = dict(zip(group.tags, branch.options, strict=True))
    present = {id(member): is_present for member, is_present in zip(group.members, branch.present, strict=True)}
    parts = (
        _tag_part(member, options[member.key], members)
        if member.key in options
        else _part(member, present.get(id(member), False))
        for member in members.members
    )
    return [part for part in parts if part is not None]


def _part(member: Member, present: bool | None) -> Part | None:  # noqa: FBT001  # three-valued
    if present is False or member.name is None:
        return None
    return Part(member.name, member.schema, present is True and member.required, member.narrows)


def _tag_part(member: Member, options: frozenset[Option], members: Members) -> Part | None:
    """A tag with the values that it has in this branch."""
    every = [option for option in members.options(member.key) if not option.absent]
    here = [option for option in every if option in options]
    if not here or member.name is None:
        return None
    schema = member.schema
    if len(here) < len(every):
        schema = _narrowed(schema, here, [option for option in every if option not in options])
    required = member.required or not any(option.absent for option in options)
    if required:
        schema = {key: value for key, value in schema.items() if key != "default"}
    return Part(member.name, schema, required)


def _narrowed(schema: Schema, here: list[Option], elsewhere: list[Option]) -> Schema:
    """The schema of a tag that has only some of its values."""
    if any(option.open for option in here):
        return {**schema, "not": values([option.shown for option in elsewhere])}
    kept = {key: value for key, value in schema.items() if key in ("description", "default")}
    return {**kept, **values([option.shown for option in here])}


def _others(branch: Branch, group: Group, members: Members) -> tuple[str, ...]:
    """The names of a group's members that are forbidden in a branch, unless they are among its parts.

    If unknown members are allowed, only the names whose absence defines the branch are forbidden.
    """
    options = dict(zip(group.tags, branch.options, strict=True))
    named = [each for each in members.members if each.key in options or each in group.members]
    if not members.closed:
        chosen = [Choice(dict(zip(group.tags, each, strict=True))) for each in product(*branch.options)]
        named = [
            each
            for each in named
            if each.key in options and any(members.truth(each.conditions, tags) is not False for tags in chosen)
        ]
    return tuple(dict.fromkeys(each.name for each in named if each.name is not None))


def _object(shared: list[Part], chosen: Iterable[tuple[Branch, Group]], members: Members) -> Schema:
    """The schema of an object with one branch of each group, in the members' own order."""
    order = {member.name: place for place, member in reversed(list(enumerate(members.members)))}
    parts, others = list(shared), list[str]()
    for branch, group in chosen:
        parts += _parts(branch, group, members)
        others += () if members.closed else _others(branch, group, members)
    body = _body(sorted(parts, key=lambda part: order[part.name]), others, _aside(members))
    return {"type": "object", **body, "additionalProperties": members.others, **members.names}


def _both(first: Schema, second: Schema) -> Schema:
    """The schema of values that both schemas accept."""
    if second == NEVER:
        return NEVER
    return {"allOf": [first, second]} if first.keys() & second.keys() else {**first, **second}


def _aside(members: Members) -> dict[str, bool]:
    """The names that the map of other members does not receive; allowed only if unknown members are."""
    return dict.fromkeys(members.besides, not members.closed)


def _body(parts: Iterable[Part], others: Iterable[str], apart: Mapping[str, bool]) -> Schema:
    """The properties and the required names; names in `others` that are not parts are forbidden.

    Names in `apart` that are not parts are allowed or forbidden as stated there.
    """
    options: dict[str, list[Schema]] = {}
    required: dict[str, None] = {}
    for part in parts:
        known = options.setdefault(part.name, [])
        if part.narrows:
            options[part.name] = [_both(one_of(known or [part.schema], "anyOf"), part.schema)]
        elif part.schema not in known:
            known.append(part.schema)
        required |= {part.name: None} if part.required else {}
    properties = {name: one_of(known, "anyOf") for name, known in options.items()}
    forbidden = {name: False for name in others if name not in properties}
    left = {name: allowed for name, allowed in apart.items() if name not in {**properties, **forbidden}}
    return {"properties": {**properties, **forbidden, **left}, "required": [*required]}
