"""What types lead to, and how many fields and levels those come to that hold themselves, to a stated depth."""

from collections.abc import Callable, Collection, Mapping

from wireloom.model import types
from wireloom.model.traversal import closure, parts
from wireloom.model.traversal import references as names_of
from wireloom.model.types import Reference, Struct, Type

Levels = tuple[tuple[str, int], ...]  # how deep each type with a depth stands


_Inner = Callable[[str], int]  # what is found of a type by its name


_DEEPEST = 128  # types in one another that are measured
_MOST = 20_000  # types at their levels that are measured; each has a field at least


def sizes_of(named: Mapping[str, Type], depths: Mapping[str, int], most: int) -> dict[str, int]:
    """The fields that each type with a depth comes to, counted where types are used; no further than beyond `most`."""

    def size(type: Type, inner: _Inner) -> int:
        found = len(type.fields) if isinstance(type, Struct) else 1
        for each in names_of(type):
            if found <= most:
                found += inner(each)
        return found

    found = _measured(named, depths, size, most, unmeasured=most + 1)
    return {name: found(name) for name in depths}


def heights_of(named: Mapping[str, Type], depths: Mapping[str, int], most: int) -> dict[str, int]:
    """How many structs, lists, maps and choices stand in one another in each type; no further than beyond `most`."""

    def height(type: Type, inner: _Inner) -> int:
        match type:
            case Reference(name):
                return inner(name)
            case Struct(fields=fields):
                return 1 + max((height(field.type, inner) for field in fields), default=0)
            case _:
                own = not isinstance(type, types.Nullable) and bool(parts(type))
                return own + max((height(each, inner) for each in parts(type)), default=0)

    found = _measured(named, depths, height, most, unmeasured=0)  # its size tells what is wrong with it
    return {name: found(name) for name in named}


def _measured(
    named: Mapping[str, Type],
    depths: Mapping[str, int],
    measure: Callable[[Type, _Inner], int],
    most: int,
    unmeasured: int,
) -> _Inner:
    """What a measure finds of a type, which asks for those within; beyond `most` of these in one another, more.

    `unmeasured` stands for a type after `_MOST` have been measured: several types that hold one another have as many
    levels as the product of their depths.
    """
    circles = {name: circle_of(named, name) for name in named if depths}
    known: dict[tuple[str, Levels], int] = {}

    def within(name: str, levels: Levels, above: int) -> int:
        counts = {each: level for each, level in levels if each in circles[name]}
        if name in depths:
            counts[name] = counts.get(name, 0) + 1
        key = (name, tuple(sorted(counts.items())))
        if counts.get(name, 0) > depths.get(name, 0):
            return 0
        if above > min(most, _DEEPEST):
            return most + 1
        if len(known) > _MOST and key not in known:
            return unmeasured
        if key not in known:
            known[key] = 0  # what an open union has of itself
            known[key] = measure(named[name], lambda inner: within(inner, key[1], above + 1))
        return known[key]

    return lambda name: within(name, (), 0)


def circle_of(named: Mapping[str, Type], name: str) -> frozenset[str]:
    """The types that a type leads to and that lead back to it; none where it does not hold itself."""
    return frozenset(each for each in reached(named, name) if name in reached(named, each))


def reached(named: Mapping[str, Type], name: str, without: Collection[str] = ()) -> set[str]:
    """The types that a type leads to, but for what only those that are left out lead to."""

    def inner(name: str) -> list[str]:
        return [each for each in names_of(named[name]) if each not in without]

    return set(closure(inner(name), inner))
