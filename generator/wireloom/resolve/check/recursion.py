"""Check recursive types, and limit the nesting and number of fields of types."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from wireloom.expr.ast import FieldRef, fields_in
from wireloom.model.traversal import closure, nested, reached, references
from wireloom.model.types import Array, Attempt, Field, Last, OneOf, Presence, Reference, Struct, Type
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import Outlines, direct_names, nesting
from wireloom.resolve.facts.recursive_types import Levels, circle_of
from wireloom.resolve.facts.sites import Names, Role, Site, all_placed, every_site, held
from wireloom.resolve.logical.shapes import tables
from wireloom.spec.documents import Place
from wireloom.spec.language import OneOfType, StructType

_DEPTH = 64  # nesting of types
_SMALLER = "use a smaller `depth`, or keep nested values as bytes"
_FIELDS = 20_000  # of a record, counting each use of a type
_MOST = 20_000  # types measured, at each of their levels; each has at least one field


def fits(draft: Draft) -> bool:
    """Whether the expanded types stay within the limits; reports the first that does not."""
    mentions = {name: [each for each, _ in direct_names(draft, form)] for name, form in draft.content.types.items()}
    depths = stated_depths(draft)
    measured = _measured(draft, mentions, depths)
    for name in _innermost_first(mentions):
        fields, height = measured(name)
        place, at, hint = draft.place / "types" / name, "", "use fewer types inside of one another"
        if name in depths:
            place, at, hint = place / "depth", " at this depth", _SMALLER
        if height > _DEPTH:
            message = f"more than {_DEPTH} structs, lists, maps and choices are nested{at}"
        elif fields > _FIELDS:
            message = f"{name} has more than {_FIELDS} fields in all{at}"
        else:
            continue
        draft.reports_entry(place, "too-large", message, hint)
        return False
    return True


def _measured(
    draft: Draft, mentions: Mapping[str, list[str]], depths: Mapping[str, int]
) -> Callable[[str], tuple[int, int]]:
    """A function that measures a type: the number of its fields, counting each use, and its nesting.

    It stops after `_MOST` types: types that contain one another have as many levels as the product of their depths.
    """
    led = {name: closure(mentions[name], mentions.__getitem__) for name in mentions if depths}
    known: dict[tuple[str, Levels], tuple[int, int]] = {}

    def within(name: str, levels: Levels, above: int) -> tuple[int, int]:
        counts = {each: level for each, level in levels if each in led[name] and name in led[each]}
        if name in depths:
            counts[name] = counts.get(name, 0) + 1
        key = (name, tuple(sorted(counts.items())))
        if name in depths and counts[name] > depths[name]:
            return 0, 0
        if above > _DEPTH:
            return 1, _DEPTH + 1
        if len(known) > _MOST and key not in known:
            return _FIELDS + 1, 0
        if key not in known:
            known[key] = 0, 0  # an open union adds nothing to itself
            found = [within(each, key[1], above + 1) for each in mentions[name]]
            form = draft.content.types[name]
            own = len(form.fields) if isinstance(form, StructType) else 1
            height = 1 + nesting(form) + max((each for _, each in found), default=0)
            known[key] = own + sum(each for each, _ in found), height
        return known[key]

    return lambda name: within(name, (), 0)


def _innermost_first(mentions: Mapping[str, list[str]]) -> list[str]:
    """The types in an order where each comes after those it mentions, except in circles."""
    ordered: dict[str, None] = {}
    entered = set[str]()
    for start in mentions:
        waiting = [(start, False)]
        while waiting:
            name, left = waiting.pop()
            if left:
                ordered[name] = None
            elif name not in entered:
                entered.add(name)
                waiting.append((name, True))
                waiting.extend((each, False) for each in mentions[name])
    return list(ordered)


def check_recursion(draft: Draft, outlines: Outlines, named: Mapping[str, Type]) -> bool:
    """Check that recursive types have finite columns: unions by kind are open, structs state a `depth`.

    Returns False if types must not be expanded further, because their members would be members of themselves.
    """
    depths = stated_depths(draft)
    reported = set[str]()
    for name in draft.content.types:
        form = draft.content.types[name]
        place = draft.place / "types" / name
        if isinstance(form, OneOfType) and name in outlines.recursive:
            _check_open(draft, outlines, place, form, name)
        elif name in depths:
            _check_depth(draft, place / "depth", named, name, recursive=name in outlines.recursive)
        elif name in outlines.recursive and name in reached(named[name], named, without=depths):
            if not reported & circle_of(named, name):
                message = f"{name} contains itself, so its columns would never end"
                hint = "give a struct `depth: 4`, or use a `oneOf` of scalars, lists and maps"
                draft.reports_entry(place, "recursive-type", message, hint)
            reported.add(name)
    return not any(_flattens_circle(named[name], circle_of(named, name)) for name in outlines.recursive)


def stated_depths(draft: Draft) -> dict[str, int]:
    """The structs with a `depth`, and this depth."""
    forms = draft.content.types.items()
    return {name: form.depth for name, form in forms if isinstance(form, StructType) and form.depth is not None}


def _check_open(draft: Draft, outlines: Outlines, place: Place, form: OneOfType, name: str) -> None:
    for inner, _ in direct_names(draft, form):
        if isinstance(draft.content.types[inner], StructType) and inner not in outlines.recursive:
            message = f"the open union {name} contains the struct {inner}"
            hint = "use lists and maps; an open value has no structs"
            draft.reports_entry(place / "oneOf", "recursive-type", message, hint)


def _check_depth(draft: Draft, place: Place, named: Mapping[str, Type], name: str, *, recursive: bool) -> None:
    if not recursive:
        message = f"{name} does not contain itself"
        draft.reports_entry(place, "wrong-shape", message, "drop `depth`")
        return
    circle = circle_of(named, name)
    struct = named[name]
    if isinstance(struct, Struct) and struct.encoding.tells_kinds and not struct.encoding.text:
        hint = "use an open union: a `oneOf` of scalars, lists and maps"
        draft.reports_entry(place, "wrong-encoding", f"a struct of {struct.encoding.name} cannot contain itself", hint)
    if any(_is_tried(named[each], circle) for each in circle):
        message = f"{name} contains itself through an `attempt` or a `oneOf`"
        draft.reports_entry(place, "recursive-type", message, "use fields, lists and selects for the recursion")
    elif any(_flattens_circle(named[each], circle) for each in circle):
        message = f"{name} contains itself through `flatten` or `inline`"
        draft.reports_entry(place, "recursive-type", message, "drop `flatten` or `inline` there")
    elif _is_endless(named, name):
        message = f"every {name} contains another one, without an end"
        hint = "make the inner one optional: by `when`, a list or a select"
        draft.reports_entry(place, "recursive-type", message, hint)


def _is_tried(type: Type, circle: frozenset[str]) -> bool:
    """Whether a type continues the circle through an alternative that no tag selects."""
    return any(isinstance(each, Attempt | OneOf) and bool(circle & {*references(each)}) for each in nested(type))


def _flattens_circle(type: Type, circle: frozenset[str]) -> bool:
    """Whether a flattened or inline field of the type continues the circle."""
    fields = type.fields if isinstance(type, Struct) else ()
    return any((field.flatten or field.inline) and circle & set(references(field.type)) for field in fields)


def _is_endless(named: Mapping[str, Type], name: str) -> bool:
    """Whether every value of a struct contains another one."""

    def certain(name: str) -> Iterator[str]:
        struct = named[name]
        for field in struct.fields if isinstance(struct, Struct) else ():
            listed = isinstance(field.type, Array) and isinstance(field.type.count, Last)
            single = isinstance(field.type, Reference) or listed
            if single and field.presence is Presence.REQUIRED and not field.is_conditional:
                yield from references(field.type)

    return name in closure(certain(name), certain)


def check_views(draft: Draft, named: Mapping[str, Type], names: Names) -> None:
    """Report expressions that use a recursive field from within it: at the deepest level it is bytes."""
    circles = {name: circle_of(named, name) for name in stated_depths(draft)}
    for site in every_site(draft.place, named) if circles else ():
        for reference in _far(site):
            for origin in names.origins(site.struct, reference):
                inner = set(references(origin.field.type))
                if any(origin.struct.name in circle and inner & circle for circle in circles.values()):
                    message = f"in the deepest {origin.struct.name}, {origin.field.wire_name} is kept as bytes"
                    hint = f"use it only inside of {origin.struct.name}: add a `compute` field there"
                    draft.reports(site.place, "recursive-type", message, hint)
                    break


def _far(site: Site) -> Iterator[FieldRef]:
    """The names in an expression that refer to fields of enclosing structs."""
    inside = 1 if site.role is Role.KEEP else 0
    return (replace(each, up=each.up - inside) for each in fields_in(site.expression) if each.up > inside)


def check_entries(draft: Draft, named: Mapping[str, Type]) -> None:
    """Report references to a table whose entries contain the reference: their value would never end."""
    for place, struct, field in all_placed(draft.place, named):
        if field.refers is not None and struct.name in _all_within(field, named):
            message = f"the entries of the table {field.refers.table} contain {field.wire_name}, which refers to it"
            draft.reports(place / "refers", "recursive-type", message, "drop `refers`: then readers see the index")


def _all_within(field: Field, named: Mapping[str, Type]) -> set[str]:
    """The structs within a field as readers see it, at any depth."""

    def seen(*fields: Field) -> Iterator[str]:
        for each in fields:
            types = [each.type] if each.refers is None else [table.type for table in tables(each.refers, named)]
            yield from (struct.name for type in types for struct, _ in held(type, named))

    def inner(name: str) -> Iterator[str]:
        struct = named[name]
        return seen(*struct.fields) if isinstance(struct, Struct) else iter(())

    return set(closure(seen(field), inner))
