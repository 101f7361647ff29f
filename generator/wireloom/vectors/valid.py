"""Makes valid records: the examples of the spec, and each of their values changed to extremes.

Values are changed in the canonical rendering. Results that the format refuses, or reads back differently, are dropped.
So a length that is derived from another value stays right, and the limits of a range need not be known.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from wireloom.expr.ast import Kind, Literal
from wireloom.model.format import Format
from wireloom.model.traversal import fields
from wireloom.model.types import Integer
from wireloom.model.types import Mapping as Mapped
from wireloom.runtime.codec import Codec
from wireloom.runtime.columns.logical import List, LogicalType, Named, Record
from wireloom.runtime.errors import WireloomError, render_path
from wireloom.vectors.manifest import Vector

_POWERS = (7, 8, 14, 15, 16, 21, 24, 28, 31, 32, 48, 53, 63, 64)
_TEXTS = ("", "a", "\u00e9", "\u6f22\u5b57", "\U0001f600", "a" * 128, "a" * 256)
_ANY: tuple[object, ...] = (0, 1, "", "a", True, [], {})  # tried for a value that is null in an example
_COMBINATIONS = 64  # most combinations of words, including those of examples
_MOST = 1000
"""Most vectors of one format."""

Step = str | int
Path = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Edges:
    """The extreme values of a format: integers, and words."""

    numbers: tuple[int, ...]
    words: tuple[str, ...]
    stated: tuple[int, ...] = ()
    """The numbers in the spec."""

    @classmethod
    def of(cls, format: Format) -> "Edges":
        """The edges of all fields of a format."""
        stated, words = set[int](), dict[str, None]()
        for found in fields(format):
            stated |= {limit for limit in (found.minimum, found.maximum) if limit is not None}
            if isinstance(found.type, Integer):
                stated |= {found.type.minimum, found.type.maximum}
            if found.meaning is not None and isinstance(found.meaning.shown, Named):
                stated |= {number for number, _ in found.meaning.shown.names if isinstance(number, int)}
                words |= dict.fromkeys(name for _, name in found.meaning.shown.names)
            for mappings in (found.mappings, *(bit.mappings for bit in found.bits)):
                words |= dict.fromkeys(_words(mappings or ()))
                stated |= {each.wire for each in mappings or () if isinstance(each.wire, int)}
        numbers = {0, 1} | stated | {(1 << power) + more for power in _POWERS for more in (-1, 0)}
        numbers |= {-each - 1 for each in numbers}
        return cls(tuple(sorted(numbers)), tuple(words), tuple(sorted(stated)))


def _words(mappings: Iterable[Mapped]) -> Iterator[str]:
    for mapping in mappings:
        if isinstance(mapping.value, Literal) and isinstance(mapping.value.value, str):
            yield mapping.value.value


def valid(format: Format, codec: Codec, edges: Edges) -> Iterator[Vector]:
    """The valid examples, then each of their values at its extremes; without duplicates."""
    seen: set[tuple[str, str, bytes]] = set()
    for vector in _Mover(format, codec, edges).vectors():
        key = vector.root, repr(sorted(vector.parameters.items())), vector.data
        if key not in seen:
            seen.add(key)
            yield vector
        if len(seen) == _MOST:
            return


def words_in(rendering: object, edges: Edges) -> tuple[str, ...]:
    """The words of the spec in a rendering."""
    return tuple(sorted({text for _, text in leaves(rendering) if isinstance(text, str) and text in edges.words}))


def options(format: Format, base: Vector) -> Iterator[Vector]:
    """The record's bytes with each other value of each parameter; 1 for integers."""
    for parameter in format.parameters:
        now = base.parameters.get(parameter.name, parameter.default)
        values: tuple[object, ...] = parameter.options
        if parameter.kind is Kind.BOOLEAN:
            values = (not now,)
        elif parameter.kind is Kind.INTEGER:
            values = (1,)
        for value in values:
            if value != now:
                name = f"{base.name}, {parameter.name} {value}"
                yield replace(base, name=name, parameters={**base.parameters, parameter.name: value})


@dataclass(frozen=True, slots=True)
class _Mover:
    """Changes the values of records; `moved` has the places that were changed already."""

    format: Format
    codec: Codec
    edges: Edges
    moved: set[tuple[object, ...]] = field(default_factory=set)

    def vectors(self) -> Iterator[Vector]:
        """The examples, the examples under other parameters, and records with changed values."""
        known = []
        for example in self.format.examples:
            if example.stated and example.error is None:
                given = dict(example.parameters)
                value = self.codec.parse(example.data, root=example.root, **given)
                rendering = self.codec.to_canonical(value, root=example.root)
                known.append(Vector(example.name, example.data, example.root, given, rendering, example.rebuilds))
        known += self._versions(known)
        yield from known
        for base in known:
            yield from self._otherwise(base)
        waiting = deque(known)
        combinations = {words_in(each.value, self.edges) for each in known}
        while waiting:
            for vector in self._moved(waiting.popleft()):
                yield vector
                words = words_in(vector.value, self.edges)
                if words not in combinations and len(combinations) < _COMBINATIONS:
                    combinations.add(words)
                    waiting.append(vector)  # a record with a combination of words that no example has

    def _versions(self, known: Sequence[Vector]) -> list[Vector]:
        """For each version without an example, a record made from an example of another version."""
        versions, found = self.codec.versions, list[Vector]()
        told = {versions.name_of(each.value, each.parameters) for each in known} if versions else set()
        for name in versions.names if versions else ():
            made = (self._in_version(base, name) for base in known if name not in told)
            if (first := next((each for each in made if each is not None), None)) is not None:
                found.append(first)
        return found

    def _in_version(self, base: Vector, name: str) -> Vector | None:
        """The record in another version with the same members; None if that version refuses them."""
        assert self.codec.versions is not None  # noqa: S101 - the caller asked
        value = self.codec.from_canonical(self.codec.versions.without(base.value), root=base.root)
        given = {key: each for key, each in base.parameters.items() if key != self.codec.versions.parameter}
        try:
            data = self.codec.build(value, root=base.root, version=name, **given)
            given |= self.codec.versions.stated(name)
            read = self.codec.parse(data, root=base.root, **given)
        except WireloomError:
            return None
        rendering = self.codec.to_canonical(read, root=base.root)
        return Vector(f"{base.name}, in version {name}", data, base.root, given, rendering, rebuilds=True)

    def _otherwise(self, base: Vector) -> Iterator[Vector]:
        """The record under other parameters, if it is valid and has another value."""
        for vector in options(self.format, base):
            try:
                value = self.codec.parse(vector.data, root=vector.root, **vector.parameters)
                rendering = self.codec.to_canonical(value, root=vector.root)
                built = self.codec.build(value, root=vector.root, **vector.parameters)
            except WireloomError:
                continue
            if rendering != base.value:
                yield replace(vector, value=rendering, rebuilds=built == vector.data)

    def _moved(self, base: Vector) -> Iterator[Vector]:
        """Records with one value at an extreme, for each place that was not changed before."""
        logical = next(root.logical for root in self.format.roots if root.name == base.root)
        base = replace(base, value=_whole(base.value, logical))
        words = words_in(base.value, self.edges)
        for path, leaf in leaves(base.value):
            plain = tuple(step if isinstance(step, str) else 0 for step in path)
            key = base.root, plain, words, repr(sorted(base.parameters.items()))
            if key not in self.moved:
                self.moved.add(key)
                yield from _kept(self._tried(base, path, _edges(leaf, self.edges)))

    def _tried(self, base: Vector, path: Path, values: Iterable[object]) -> Iterator[tuple[object, Vector]]:
        """The valid records with such a value; if a word needs other members or parameters, with those."""
        for value in values:
            rendering = with_value(base.value, path, value)
            bases: Iterable[tuple[Vector, object]] = [(base, rendering)]
            if _at(base.value, path) in self.edges.words:
                others = ((other, rendering) for other in options(self.format, base))
                bases = chain(bases, ((base, other) for other in _with_companions(rendering, path)), others)
            for under, tried in bases:
                made = self._built(under, tried)
                if made is not None and _at(made.value, path) == value and made.value != base.value:
                    yield value, replace(made, name=f"{under.name}: {render_path(path)} = {_short(value)}")
                    break

    def _built(self, base: Vector, rendering: object) -> Vector | None:
        """The record of a rendering; None if the format refuses it."""
        try:
            value = self.codec.from_canonical(rendering, root=base.root)
            data = self.codec.build(value, root=base.root, **base.parameters)
            came = self.codec.to_canonical(self.codec.parse(data, root=base.root, **base.parameters), root=base.root)
        except WireloomError:
            return None
        return replace(base, data=data, value=came, rebuilds=True)


def _edges(leaf: object, edges: Edges) -> Iterable[object]:
    match leaf:
        case bool():
            return (not leaf,)
        case int():
            return edges.numbers
        case float():
            return (0.0, -1.5, 1e-300, 1e300, 3.0)
        case str():
            words = edges.words if leaf in edges.words else ()
            return (*_TEXTS, *words, "00", "ff" * 16, *map(str, edges.numbers[:1] + edges.numbers[-1:]), None)
        case []:
            return (None,)
        case list():
            return ([], leaf[:1], [*leaf, leaf[-1]], None)
        case dict():
            return ({}, None)
        case None:
            return (*_ANY, *edges.words)
        case _:
            return ()


def _with_companions(rendering: Any, path: Path) -> Iterator[object]:  # noqa: ANN401 - what JSON has
    """The rendering with one other member of the same record added or removed."""
    holder = _at(rendering, path[:-1])
    for name, member in holder.items() if isinstance(holder, dict) else ():
        if name != path[-1]:
            for other in _ANY if member is None else (None,):
                yield with_value(rendering, (*path[:-1], name), other)


def _whole(rendering: Any, type: LogicalType) -> Any:  # noqa: ANN401 - what JSON has
    """The rendering with null for every missing member."""
    match type, rendering:
        case Record(fields=fields), dict():
            return {field.name: _whole(rendering.get(field.name), field.type) for field in fields}
        case List(element=element), list():
            return [_whole(each, element) for each in rendering]
        case Record(), list():  # a root that is a list of rows
            return [_whole(each, type) for each in rendering]
        case _:
            return rendering


def _kept(found: Iterable[tuple[object, Vector]]) -> Iterator[Vector]:
    """Of integers, only the least, the greatest, zero, and those where the size changes; all other values."""
    numbers: list[tuple[int, Vector]] = []
    for value, vector in found:
        if isinstance(value, int) and not isinstance(value, bool):
            numbers.append((value, vector))
        else:
            yield vector
    last = len(numbers) - 1
    for place, (number, vector) in enumerate(numbers):
        around = (numbers[max(place - 1, 0)][1], numbers[min(place + 1, last)][1])
        if place in (0, last) or number == 0 or any(len(other.data) != len(vector.data) for other in around):
            yield vector


def leaves(rendering: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Every value in a rendering, including containers, with its path."""
    entries: Iterable[tuple[Step, object]] = ()
    match rendering:
        case dict():
            entries = rendering.items()
        case list():
            entries = enumerate(rendering)
        case _:
            pass
    for step, member in entries:
        yield (*path, step), member
        yield from leaves(member, (*path, step))


def with_value(rendering: Any, path: Sequence[Step], value: object) -> Any:  # noqa: ANN401 - what JSON has
    """The rendering with another value at a path."""
    if not path:
        return value
    step, *rest = path
    if isinstance(rendering, Mapping):
        return {**rendering, step: with_value(rendering[step], rest, value)}
    return [with_value(each, rest, value) if place == step else each for place, each in enumerate(rendering)]


def _at(rendering: Any, path: Path) -> object:  # noqa: ANN401 - what JSON has
    for step in path:
        try:
            rendering = rendering[step]
        except (LookupError, TypeError):
            return None
    return rendering


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:20]}... ({len(text)})"
