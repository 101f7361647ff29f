"""List every expression of a format with its place, and find the fields that its names refer to.

Rules about whole formats (what builders can know, what always holds) iterate over these sites and need not walk the
model themselves. The expressions of a named union are listed for each struct that uses it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from wireloom.expr.ast import Call, Expression, FieldRef
from wireloom.expr.ast import parts as expression_parts
from wireloom.model import types
from wireloom.model.traversal import nested, parts, plain
from wireloom.model.types import Array, Attempt, Bit, Discard, Field, Select, Struct, Trial, Type
from wireloom.problems import Location, Problem
from wireloom.spec.documents import Place
from wireloom.spec.yaml import MappingNode

Types = Mapping[str, Type]
Node = tuple[str, str]
"""A struct, and the name of a field or bit in it."""


class Role(Enum):
    """What an expression is for."""

    CONDITION = "when"
    CHECK = "that"
    TAG = "select"
    OFFSET = "at"
    SIZE = "size"
    COUNT = "count"
    DERIVE = "derive"
    COMPUTE = "compute"
    MEANING = "values"
    COVERED = "over"
    SUMMED = "summed"  # beyond its range
    STORED = "stored"
    BOUND = "bytes"  # of `need` and `frame`
    GUARD = "guard"  # the `when` of a step, which decides nothing on the wire
    KEEP = "keep"  # of a discard: evaluated for an element
    BUILT = "buildWhen"  # of an alternative: evaluated for a value, which may lack any field


@dataclass(frozen=True, slots=True)
class Site:
    """An expression, with its struct, the index of its step, and its role."""

    struct: Struct
    position: int
    role: Role
    place: Place
    expression: Expression
    bit: str = ""  # if it belongs to the `derive` or meaning of a bit

    @property
    def field(self) -> Field | None:
        """The field it belongs to; None for other steps and versions, and after the last step."""
        step = next(iter(self.struct.steps[self.position :]), None)
        return step if isinstance(step, Field) else None


@dataclass(frozen=True, slots=True)
class Origin:
    """A field, or a bit of it, that a name refers to; `lender` is the flattened field through which it is found."""

    struct: Struct
    position: int
    field: Field
    bit: Bit | None = None
    lender: Field | None = None

    @property
    def node(self) -> Node:
        """The struct, and the name of the field or bit in it."""
        return self.struct.name, self.bit.name if self.bit else self.field.wire_name


def structs(named: Types) -> Iterator[Struct]:
    """The structs of a format, in the order of the spec."""
    return (type for type in named.values() if isinstance(type, Struct))


def every_site(root: Place, named: Types) -> Iterator[Site]:
    """The expressions of all structs."""
    return (site for struct in structs(named) for site in _sites(root, named, struct))


def _sites(root: Place, named: Types, struct: Struct) -> Iterator[Site]:
    """The expressions of a struct, including those of unions in it."""
    place = root / "types" / struct.name
    for version in struct.versions:
        if version.when is not None:
            where = place / "versions" / version.name / "when"
            yield Site(struct, 0, Role.CONDITION, where, version.when)
    for position, step in enumerate(struct.steps):
        for role, where, expression, bit in _step(root, named, place / "fields" / position, step):
            yield Site(struct, position, role, where, expression, bit)


_Found = tuple[Role, Place, Expression, str]


def _step(root: Place, named: Types, place: Place, step: types.Step) -> Iterator[_Found]:
    match step:
        case Field():
            yield from _field(root, named, place / step.wire_name, step)
        case types.Check(that=that, when=when):
            yield Role.CHECK, place / "check" / "that", that, ""
            yield from _if_stated(Role.GUARD, place / "check" / "when", when)
        case types.Verify(when=when):
            yield from _if_stated(Role.GUARD, place / "verify" / "when", when)
        case types.Need(bytes=size):
            yield Role.BOUND, place / "need" / "bytes", size, ""
        case types.Frame(bytes=size):
            yield Role.BOUND, place / "frame", size, ""
        case types.Discard(keep=keep, when=when):
            yield Role.KEEP, place / "discard" / "keep", keep, ""
            yield from _if_stated(Role.GUARD, place / "discard" / "when", when)
        case _:
            return


def _field(root: Place, named: Types, place: Place, field: Field) -> Iterator[_Found]:
    for role, key, expression in (
        (Role.OFFSET, "at", field.at),
        (Role.SIZE, "size", types.stated(field.size)),
        (Role.CONDITION, "when", field.when),
        (Role.DERIVE, "derive", field.derive),
        (Role.COMPUTE, "compute", field.compute),
    ):
        yield from _if_stated(role, place / key, expression)
    if field.packing is not None:
        yield from _if_stated(Role.TAG, place / "unpack" / "select", field.packing.tag)
    for mapping in field.mappings or ():
        yield Role.MEANING, place / "values", mapping.value, ""
    for bit in field.bits:
        yield from _if_stated(Role.DERIVE, place / "bits" / bit.name / "derive", bit.derive, bit.name)
        for mapping in bit.mappings or ():
            yield Role.MEANING, place / "bits" / bit.name / "values", mapping.value, bit.name
    if field.checksum is not None:
        yield Role.COVERED, place / "over", field.checksum.start, ""
        yield Role.COVERED, place / "over", field.checksum.end, ""
        yield from _if_stated(Role.STORED, place / "stored", field.checksum.stored)
        for extra in (*field.checksum.ahead, *field.checksum.after):
            yield Role.SUMMED, place / "over", extra.value, ""
    typed = place / "type" if isinstance(place.node, MappingNode) else place
    yield from _type(root, named, typed, field.type, frozenset())


def is_of_element(root: Place, named: Types, site: Site) -> bool:
    """Whether an expression belongs to the type of a list's elements, with no struct between."""
    listed = None if site.field is None else plain(types.not_null(site.field.type), named)
    element = _type(root, named, site.place, listed.element, frozenset()) if isinstance(listed, Array) else ()
    return any(expression is site.expression for _, _, expression, _ in element)


def _if_stated(role: Role, place: Place, expression: Expression | None, bit: str = "") -> Iterator[_Found]:
    if expression is not None:
        yield role, place, expression, bit


def _type(root: Place, named: Types, place: Place, type: Type, seen: frozenset[str]) -> Iterator[_Found]:
    match type:
        case types.Reference(name=name):
            if name not in seen and not isinstance(named[name], Struct):
                yield from _type(root, named, root / "types" / name, named[name], seen | {name})
        case types.Bytes(size=size) | types.Text(size=size):
            yield from _if_stated(Role.SIZE, place, types.stated(size))
        case types.Array(count=count, salvage=salvage):
            above = place if place.path[-1] != "type" else Place(place.document, place.path[:-1])
            yield from _if_stated(Role.COUNT, above / "count", types.stated(count))
            if isinstance(count, types.Last):
                yield Role.KEEP, above / "lastWhen", count.holds, ""
            if salvage is not None:
                yield Role.GUARD, above / "salvage" / "when", salvage.when, ""
        case types.Select(tag=types.FieldTag(expression=tag)):
            yield Role.TAG, place / "select", tag, ""
        case _:
            pass
    for part in parts(type):
        yield from _type(root, named, place, part, seen)


# --- resolving names -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holder:
    """A struct that contains another one, and at which step; `listed` if it contains it in a list."""

    struct: Struct
    position: int
    listed: bool = False


def holders(named: Types) -> Mapping[str, tuple[Holder, ...]]:
    """For each struct, the structs that contain it."""
    found: dict[str, list[Holder]] = {}
    for struct in structs(named):
        for position, step in enumerate(struct.steps):
            if isinstance(step, Field):
                for inner, listed in held(step.type, named):
                    found.setdefault(inner.name, []).append(Holder(struct, position, listed))
    return {name: tuple(each) for name, each in found.items()}


def held(type: Type, named: Types) -> Iterator[tuple[Struct, bool]]:
    """The structs that a type leads to without passing through other structs, and whether each is within a list."""
    waiting, seen = [(type, False)], set[tuple[str, bool]]()
    while waiting:
        each, listed = waiting.pop()
        if not isinstance(each, types.Reference):
            waiting += [(part, listed or isinstance(each, types.Array)) for part in reversed(parts(each))]
        elif isinstance(struct := named[each.name], Struct):
            yield struct, listed
        elif (each.name, listed) not in seen:
            seen.add((each.name, listed))
            waiting.append((named[each.name], listed))


@dataclass(frozen=True, slots=True)
class Names:
    """Resolves the names in expressions."""

    named: Types
    above: Mapping[str, tuple[Holder, ...]]
    _steps: dict[int, tuple[Struct, Mapping[str, list[int]]]] = dataclasses.field(default_factory=dict, compare=False)

    def origins(self, struct: Struct, reference: FieldRef) -> tuple[Origin, ...]:
        """The fields that a reference at a struct refers to, one for each struct around it."""
        found = (origin for each in self.around(struct, reference.up) for origin in self.named_in(each, reference.name))
        return tuple(self._member(origin, reference.members) for origin in found)

    def nodes(self, struct: Struct, *references: FieldRef) -> Iterator[Node]:
        """The fields and bits that references at a struct refer to."""
        return (origin.node for each in references for origin in self.origins(struct, each))

    def around(self, struct: Struct, up: int) -> tuple[Struct, ...]:
        """The enclosing structs that many levels up, each once."""
        around = [struct]
        for _ in range(up):
            around = [holder.struct for each in around for holder in self.above.get(each.name, ())]
        return tuple({each.name: each for each in around}.values())

    def named_in(self, struct: Struct, name: str, seen: frozenset[str] = frozenset()) -> Iterator[Origin]:
        """The fields with a name in a struct, including those of structs flattened into it."""
        steps = self._naming(struct)
        for position in sorted({*steps.get(name, ()), *steps.get("", ())}):
            field = struct.steps[position]
            if not isinstance(field, Field):
                continue
            flattened = list(self._flattened(field, name, seen | {struct.name})) if field.flatten else []
            if field.wire_name == name and not flattened:
                yield Origin(struct, position, field)
            for bit in field.bits:
                if bit.name == name:
                    yield Origin(struct, position, field, bit)
            yield from flattened

    def _naming(self, struct: Struct) -> Mapping[str, list[int]]:
        """The indexes of fields by their names and their bits' names.

        Flattened fields are listed under the empty name.
        """
        found = self._steps.get(id(struct))
        if found is None:
            found = self._steps[id(struct)] = struct, {}
            for position, step in enumerate(struct.steps):
                if isinstance(step, Field):
                    for name in (step.wire_name, *(bit.name for bit in step.bits), *([""] if step.flatten else [])):
                        found[1].setdefault(name, []).append(position)
        return found[1]

    def _flattened(self, field: Field, name: str, seen: frozenset[str]) -> Iterator[Origin]:
        """The fields with a name in a flattened field's structs."""
        for inner, _ in held(field.type, self.named):
            if inner.name not in seen:
                for origin in self.named_in(inner, name, seen | {inner.name}):
                    yield Origin(origin.struct, origin.position, origin.field, origin.bit, field)

    def _member(self, origin: Origin, members: tuple[str, ...]) -> Origin:
        """The innermost field of a dotted name; the last field that is unique if a member is not."""
        for name in members:
            structs = (struct for struct, _ in held(origin.field.type, self.named))
            found = [each for struct in structs for each in self.named_in(struct, name)]
            if len(found) != 1:
                return origin
            origin = found[0]
        return origin


def values_asked(expression: Expression) -> Iterator[FieldRef]:
    """The fields whose values an expression uses, not only their presence."""
    match expression:
        case Call("present", (FieldRef(),)):
            return
        case FieldRef():
            yield expression
        case _:
            for part in expression_parts(expression):
                yield from values_asked(part)


def names_told_by(type: Type) -> Iterator[str]:
    """The names that a type itself depends on: of unique members, of tags, and in `buildWhen` of alternatives."""
    for part in nested(type):
        match part:
            case Array(unique=str(name)) | Select(tag=types.MemberTag(name, presence=False)):
                yield name
            case Attempt(trials=trials):
                conditions = [trial.build_when for trial in trials if trial.build_when is not None]
                used = (each for condition in conditions for each in values_asked(condition))
                yield from (name for each in used for name in (each.name, *each.members))
            case _:
                pass


def placed(struct: Struct, place: Place) -> Iterator[tuple[Place, Field]]:
    """The fields of a struct with their places, below the place of its steps."""
    for position, step in enumerate(struct.steps):
        if isinstance(step, Field):
            yield place / position / step.wire_name, step


def all_placed(root: Place, named: Types) -> Iterator[tuple[Place, Struct, Field]]:
    """The fields of all structs with their places."""
    for struct in structs(named):
        for where, field in placed(struct, root / "types" / struct.name / "fields"):
            yield where, struct, field


def all_sites(root: Place, named: Types) -> Iterator[tuple[str, Site]]:
    """The expressions of a format, each with the struct it is evaluated for, and the name of the type that has it."""
    for site in every_site(root, named):
        element = _element(site, named) if site.role is Role.KEEP else site.struct
        if element is site.struct:
            yield site.struct.name, site
        elif element is not None:
            yield site.struct.name, replace(site, struct=element, position=len(element.steps))
    for name, type in named.items():
        for place, trial in enumerate(type.trials if isinstance(type, Attempt) else ()):
            struct_tried = plain(trial.type, named)
            if isinstance(struct_tried, Struct):
                where = root / "types" / name / "attempt" / place
                yield from ((name, each) for each in _of_trial(where, trial, struct_tried))


def _of_trial(place: Place, trial: Trial, struct: Struct) -> Iterator[Site]:
    """The conditions of an alternative, evaluated for its struct."""
    after_all = len(struct.steps)
    for number, fallback in enumerate(trial.fallbacks):
        if fallback.when is not None:
            yield Site(struct, after_all, Role.GUARD, place / "fallback" / number / "when", fallback.when)
    if trial.build_when is not None:
        yield Site(struct, after_all, Role.BUILT, place / "buildWhen", trial.build_when)


def _element(site: Site, named: Types) -> Struct | None:
    """The struct of the elements that an expression is evaluated for; None if there is none or several."""
    step = site.struct.steps[site.position]
    name = step.field if isinstance(step, Discard) else step.wire_name if isinstance(step, Field) else ""
    lists = [plain(field.type, named) for field in site.struct.fields if field.wire_name == name]
    found = [plain(each.element, named) for each in lists if isinstance(each, Array)]
    return found[0] if len(lists) == len(found) == 1 and isinstance(found[0], Struct) else None


def in_all_uses(root: Place, named: Types, find: Callable[[Site], Iterable[Problem]]) -> Iterator[Problem]:
    """Find problems in the expressions of a format.

    An expression that is written once may belong to several structs, by type parameters or a union. It is a problem
    only if it is one in all of them.
    """
    found: dict[tuple[Role, Location], dict[tuple[str, int], list[Problem]]] = {}
    for owner, site in all_sites(root, named):
        uses = found.setdefault((site.role, site.place.node.location), {})
        uses.setdefault((owner, site.position), []).extend(find(site))
    for uses in found.values():
        everywhere = set.intersection(*({(each.id, each.location) for each in problems} for problems in uses.values()))
        for problem in (each for problems in uses.values() for each in problems):
            if (problem.id, problem.location) in everywhere:
                yield problem


def has_tag(select: Select, site: Site) -> bool:
    """Whether the expression is the union's tag."""
    return isinstance(select.tag, types.FieldTag) and select.tag.expression is site.expression
