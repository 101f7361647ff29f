"""Recursive structs: which of them must state a depth, which depth fits, and what is too large for a spec.

Columns are finite, so a spec unrolls recursive structs to a depth. The size of the result is computed here before a
spec is written. The greatest depth that keeps records small is chosen. If no depth is small enough, the structs
farthest from the root are kept as bytes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

Graph = Mapping[str, Sequence[str]]
DEEPEST = 8  # greatest depth of recursive structs
_SMALL = 2000  # fields of a record, counted at each use of their struct
_LARGE = 15_000
WORDS = 50_000  # most words of enums in one spec
_HIGH = 30  # deepest nesting of structs


def cut(graph: Graph, avoided: Collection[str]) -> list[str]:
    """Structs whose removal breaks all cycles; `avoided` ones only if there is no other way."""
    chosen: list[str] = []
    order = {name: number for number, name in enumerate(graph)}
    while True:
        left = without(graph, chosen)
        alone = [name for name, held in left.items() if name in held]
        if alone:
            chosen += alone
            continue
        circle = next((each for each in _components(left) if len(each) > 1), None)
        if circle is None:
            return chosen
        held = Counter(each for name in circle for each in set(left[name]))
        ways = {name: held[name] * len(set(left[name]) & circle) for name in circle}
        chosen.append(min(circle, key=lambda name: (name in avoided, -ways[name], order[name])))


def fitting_roots(
    graph: Graph, widths: Mapping[str, int], levelled: Collection[str], roots: Iterable[str]
) -> list[str]:
    """The roots whose total size is small enough; always the first one."""
    found: list[str] = []
    total = 0
    for root in roots:
        width = _width(graph, widths, dict.fromkeys(levelled, 1), [root], _LARGE)
        if not found or total + width <= _LARGE:
            found.append(root)
            total += width
    return found


def fitting_depths(
    graph: Graph, widths: Mapping[str, int], levelled: Collection[str], roots: Sequence[str]
) -> dict[str, int]:
    """The depth of each recursive struct with which records stay small. Structs of one cycle get the same depth."""
    depths = dict.fromkeys(levelled, 1)
    most = max(_SMALL, 2 * _width(graph, widths, depths, roots, _LARGE))
    growing = [[name for name in each if name in depths] for each in _components(graph)]
    growing = [each for each in growing if each]
    for _ in range(1, DEEPEST):
        for circle in list(growing):
            deeper = depths | {name: depths[name] + 1 for name in circle}
            if _width(graph, widths, deeper, roots, most) <= most:
                depths = deeper
            else:
                growing.remove(circle)
    return depths


def beyond(graph: Graph, widths: Mapping[str, int], depths: Mapping[str, int], roots: Sequence[str]) -> set[str] | None:
    """The structs to keep as bytes, farthest from the roots first, so that the rest fits; None if nothing helps."""
    distances = _distances(graph, roots)
    for distance in range(max(distances.values()), -1, -1):
        far = {name for name, each in distances.items() if each > distance}
        if _width(without(graph, far), widths, depths, roots, _LARGE) <= _LARGE:
            return far
    return None


def without(graph: Graph, gone: Collection[str]) -> Graph:
    """The graph without the given structs."""
    return {name: [each for each in held if each not in gone] for name, held in graph.items() if name not in gone}


def _distances(graph: Graph, roots: Sequence[str]) -> dict[str, int]:
    """The shortest distance of each struct from a root."""
    found = dict.fromkeys(roots, 0)
    ahead = list(found)
    for name in ahead:
        for each in graph[name]:
            if each not in found:
                found[each] = found[name] + 1
                ahead.append(each)
    return found


def _width(graph: Graph, widths: Mapping[str, int], depths: Mapping[str, int], roots: Iterable[str], most: int) -> int:
    """The number of fields of the unrolled records; more than `most` if they are too large or too deep."""
    component = {name: number for number, each in enumerate(_components(graph)) for name in each}
    level: Counter[tuple[str, tuple[str, ...]]] = Counter((root, (root,) if root in depths else ()) for root in roots)
    total = 0
    for _ in range(_HIGH):
        inner: Counter[tuple[str, tuple[str, ...]]] = Counter()
        for (name, around), times in level.items():
            total += widths[name] * times
            for each in graph[name]:
                path = around if component[each] == component[name] else ()
                if each in depths:
                    path = tuple(sorted((*path, each)))
                if path.count(each) <= depths.get(each, 0):
                    inner[each, path] += times
        if total > most or not inner:
            return total
        level = inner
    return most + 1


def _components(graph: Graph) -> list[set[str]]:
    """The strongly connected components: sets of structs that contain each other, or single structs."""
    left: list[str] = []
    seen = set[str]()
    for start in graph:
        ahead = [(start, False)]
        while ahead:
            name, done = ahead.pop()
            if done:
                left.append(name)
            elif name not in seen:
                seen.add(name)
                ahead.append((name, True))
                ahead += [(each, False) for each in graph[name]]
    holders: dict[str, list[str]] = {name: [] for name in graph}
    for name, held in graph.items():
        for each in held:
            holders[each].append(name)
    found: list[set[str]] = []
    taken = set[str]()
    for start in reversed(left):
        component = set[str]()
        ahead_of = [start]
        while ahead_of:
            name = ahead_of.pop()
            if name not in taken:
                taken.add(name)
                component.add(name)
                ahead_of += holders[name]
        if component:
            found.append(component)
    return found
