"""Derived and computed values must not depend on themselves when building."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Literal, MarkRef, Position, fields_in, parts
from wireloom.model import types
from wireloom.model.traversal import NamedTypes, reached, with_fields, with_structs
from wireloom.model.types import Field, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.check.sources import is_seen, needs_source
from wireloom.resolve.facts.sites import Names, Node, Role, Site, Types, every_site, held, structs
from wireloom.spec.documents import Place

Given = frozenset[Node]
_REMEDY = "show one of them to readers, without `derive`, or derive it from other fields"
_Span = tuple[int, int]  # the first of some steps, and the one after the last


def check_circles(draft: Draft, named: Types, names: Names) -> Given:
    """Report values that depend on themselves; return the computed fields whose values builders must be given."""
    following = _Following(draft.place, named, names)
    reported = set[Node]()
    for node, place in following.places.items():
        circle = _circle(node, following.nodes)
        if circle and not reported & set(circle):
            reported |= set(circle)
            path = " <- ".join(name for _, name in (*circle, node))
            draft.reports(place, "circular-value", f"{node[1]} depends on itself: {path}", _REMEDY)
    return following.given


def with_given(named: NamedTypes, given: Given) -> NamedTypes:
    """The types, with these computed fields marked as given by the value."""

    def told(struct: Struct) -> Struct:
        return with_fields(struct, lambda each: replace(each, given=(struct.name, each.wire_name) in given))

    return with_structs(named, told) if given else named


class _Following:
    """The dependencies of derived and computed values when building, and the values that must be given."""

    def __init__(self, root: Place, named: Types, names: Names) -> None:
        self.nodes: dict[Node, list[Node]] = {}
        self.places: dict[Node, Place] = {}  # where each is stated
        self._conditions: dict[Node, list[Node]] = {}  # for each, what decides whether it is present
        self._written: dict[Node, str] = {}  # the structs of the nodes that decide which bytes are written
        self._spans: list[tuple[Node, Struct, _Span]] = []  # the steps whose bytes each node measures
        for site in every_site(root, named):
            self._add(site, names)
        for node, struct, span in self._spans:
            packed = set(_packed(struct, span, named))
            self.nodes[node] += [each for each, within in self._written.items() if within in packed]
        self.given = frozenset(self._given_values(set(_computed(named))))

    def _add(self, site: Site, names: Names) -> None:
        struct, field = site.struct, site.field
        if field is None or (site.role is Role.COMPUTE and field.derive is not None):
            return  # a value that is also derived is not computed by builders
        node = (struct.name, site.bit or field.wire_name)
        sources = [*names.nodes(struct, *fields_in(site.expression)), *_sums(names, struct, site.expression)]
        if site.role in (Role.COVERED, Role.SUMMED, Role.STORED):
            node = _sum(node)
        if site.role is Role.STORED:
            sources = [source for source in sources if source != node]  # the checksum itself
        if site.role is Role.OFFSET or (site.role is Role.SIZE and not is_seen(field)):
            node = (f"the place of {struct.name}", node[1])
            self.nodes.setdefault(node, []).extend(sources)
            self._written[node] = struct.name
        elif site.role in (Role.DERIVE, Role.COMPUTE, Role.COVERED, Role.SUMMED, Role.STORED):
            self.places[node] = site.place
            self.nodes.setdefault(node, []).extend(sources)
            self._spans += [(node, struct, span) for span in _spans(site, site.expression)]
            if site.role is not Role.COMPUTE:
                self._written[node] = struct.name
        elif site.role is Role.CONDITION and _follows_alone(field):
            # the presence of a visible field is given by the value
            for each in (node, *((struct.name, bit.name) for bit in field.bits)):
                if field.compute is None:
                    self._written[each] = struct.name
                self._conditions.setdefault(each, []).extend(sources)
                self.nodes.setdefault(each, []).extend(sources)

    def _given_values(self, computed: set[Node]) -> Iterator[Node]:
        """Computed values in a dependency circle with a derived value: the value must give them to break the circle."""
        for node in self.places:
            while circle := _circle(node, self.nodes):
                pairs = zip(circle, (*circle[1:], circle[0]), strict=True)
                candidates = [source for derived, source in pairs if source in computed and derived not in computed]
                if not candidates:
                    break
                self.nodes[candidates[0]] = self._conditions.get(candidates[0], [])
                computed.remove(candidates[0])
                yield candidates[0]


def _computed(named: Types) -> Iterator[Node]:
    """The computed fields that the value can give."""
    for struct in structs(named):
        for field in struct.fields:
            plain = field.derive is None and field.mappings is None and not (field.hidden or field.since or field.until)
            if field.compute is not None and plain:
                yield struct.name, field.wire_name


def _follows_alone(field: Field) -> bool:
    """Whether the condition alone decides a field's presence, because readers cannot see whether it is present."""
    return field.compute is not None or not (is_seen(field) or (needs_source(field) and not field.bits))


def _sums(names: Names, struct: Struct, expression: Expression) -> Iterator[Node]:
    """The checksums whose values, not only their size or presence, an expression uses."""
    match expression:
        case Call("present") | Call("len", (FieldRef(),)) | Binary("==" | "!=", FieldRef(), Literal(None)):
            return  # the size of a checksum is fixed
        case FieldRef():
            for origin in names.origins(struct, expression):
                if origin.field.checksum is not None:
                    yield _sum((origin.struct.name, origin.field.wire_name))
        case _:
            for part in parts(expression):
                yield from _sums(names, struct, part)


def _sum(checksum: Node) -> Node:
    """The node of a checksum's value; the checksum's own node stands for its presence."""
    struct, name = checksum
    return f"the sums of {struct}", name


def _spans(site: Site, expression: Expression) -> Iterator[_Span]:
    """The ranges of steps whose number of bytes an expression measures."""

    def behind(expression: Expression) -> int | None:
        match expression:
            case MarkRef(name=name):
                return site.struct.steps.index(types.Mark(name))
            case Position("here"):
                return site.position
            case Position("size"):
                return len(site.struct.steps)
            case _:
                return None

    match expression:
        case Binary("-", one, other) if (first := behind(one)) is not None and (last := behind(other)) is not None:
            yield min(first, last), max(first, last)
        case _ if (last := behind(expression)) is not None:
            yield 0, last
        case _:
            for part in parts(expression):
                yield from _spans(site, part)


def _packed(struct: Struct, span: _Span, named: Types, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The structs in the packed fields among some steps, and all structs within these."""
    for step in struct.steps[slice(*span)]:
        for inner, _ in held(step.type, named) if isinstance(step, Field) else ():
            if isinstance(step, Field) and step.packing is not None:
                yield inner.name
                yield from reached(inner, named)
            elif inner.name not in seen:
                yield from _packed(inner, (0, len(inner.steps)), named, seen | {inner.name})


def _circle(start: Node, follows: Mapping[Node, list[Node]]) -> tuple[Node, ...]:
    """The path from a value back to itself; empty if there is none."""
    came: dict[Node, Node] = {}
    waiting = [start]
    while waiting:
        node = waiting.pop(0)
        for source in follows.get(node, ()):
            if source == start:
                way = [node]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return tuple(reversed(way))
            if source not in came:
                came[source] = node
                waiting.append(source)
    return ()
