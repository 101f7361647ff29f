"""Replace recursive types with a `depth` by finite types: one copy for each level.

Later passes see only finite types. The outermost copy keeps the type's name. Beyond the `depth`, a value is kept
undecoded if its end is known without decoding (as bytes in a protobuf message or in a region, as text in JSON).
Otherwise it must be absent, or the error is `depth_limit`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wireloom.encodings import Encoding, Form
from wireloom.expr.ast import Binary, Call, Expression, FieldRef, Kind, Literal, Unary, fields_in, parts
from wireloom.model import types
from wireloom.model.presence import presence_condition
from wireloom.model.traversal import NamedTypes, plain, reached, with_parts, with_structs
from wireloom.model.types import Bytes, Field, JsonText, Reference, Refusal, Select, Struct, Type
from wireloom.resolve.facts.recursive_types import Levels, circle_of
from wireloom.resolve.facts.sites import Names, holders
from wireloom.runtime.values import ENTRY

CODE = "depth_limit"


def unrolled(named: NamedTypes, depths: Mapping[str, int]) -> NamedTypes:
    """The types, none of which is recursive except open unions."""
    if not depths:
        return named
    unrolling = _Unrolling(dict(named), depths)
    for name, _ in named:
        unrolling.name(name, ())
    used = {each for name, _ in named for each in (name, *reached(unrolling.made[name], unrolling.made))}
    made = {new: unrolling.made[new] for name, _ in named for new in reversed(unrolling.copies[name]) if new in used}
    names = Names(made, holders(made))
    return with_structs(tuple(made.items()), lambda struct: _counted(struct, struct, names))


@dataclass
class _Unrolling:
    """Makes the copies of each type, one for each combination of levels."""

    named: Mapping[str, Type]
    depths: Mapping[str, int]
    made: dict[str, Type] = field(default_factory=dict)
    copies: dict[str, list[str]] = field(default_factory=dict)
    known: dict[tuple[str, Levels], str | None] = field(default_factory=dict)
    circles: dict[str, frozenset[str]] = field(default_factory=dict)

    def name(self, name: str, levels: Levels) -> str | None:
        """The name of the copy of a type at these levels; None if it is beyond a depth."""
        circle = self.circles.setdefault(name, circle_of(self.named, name))
        counts = {each: level for each, level in levels if each in circle}
        if name in self.depths and circle:
            counts[name] = counts.get(name, 0) + 1
            if counts[name] > self.depths[name]:
                return None
        inner = tuple(sorted(counts.items()))
        key = (name, inner)
        if key not in self.known:
            copies = self.copies.setdefault(name, [])
            self.known[key] = new = name if name not in self.made else self._free(f"{name}_{len(copies) + 1}")
            self.made[new] = self.named[name]  # reserves the name while inner types are copied
            made = self._copy(self.named[name], inner, new)
            if made is None:
                self.known[key] = None
                del self.made[new]
            else:
                self.made[new] = made
                copies.append(new)
        return self.known[key]

    def _free(self, name: str) -> str:
        while name in self.named or name in self.made:
            name += "_"
        return name

    def _copy(self, type: Type, levels: Levels, name: str) -> Type | None:
        if not isinstance(type, Struct):
            return self._type(type, levels)
        steps: list[types.Step] = []
        deep: dict[str, Expression | None] = {}
        for step in type.steps:
            inner = self._type(step.type, levels) if isinstance(step, Field) else None
            if inner is not None and isinstance(step, Field):
                steps.append(replace(step, type=inner))
            elif not isinstance(step, Field):
                steps.append(step)
            elif (kept := self._kept(step, type.encoding)) is not None:
                steps.append(replace(step, type=kept))
                deep[step.wire_name] = None
            else:
                presence = presence_condition(step, type)
                is_told = presence is not None and _is_derived_from_field(type, step.wire_name, presence)
                steps += (_never(step, presence),) if is_told else _nothing(step, presence)
                deep[step.wire_name] = Literal(False) if is_told else _presence(step, presence)  # noqa: FBT003 - a value
        seen = (step for step in steps if not (isinstance(step, types.Discard) and step.field in deep))
        return replace(type, name=name, steps=tuple(_without(step, deep) for step in seen) if deep else tuple(steps))

    def _type(self, type: Type, levels: Levels) -> Type | None:
        """A type with the copies' names; None if it is beyond a depth."""
        match type:
            case Reference(name):
                found = self.name(name, levels)
                return None if found is None else Reference(found)
            case types.Array(element=element):
                inner = self._type(element, levels)
                if inner is None or (type.entries and self._lacks_value(inner)):
                    return None
                return replace(type, element=inner)
            case types.Nullable(type=single):
                inner = self._type(single, levels)
                return None if inner is None else replace(type, type=inner)
            case types.Map(value=value):
                inner = self._type(value, levels)
                return None if inner is None else replace(type, value=inner)
            case Select():
                return self._select(type, levels)
            case _:
                return type

    def _lacks_value(self, entry: Type) -> bool:
        """Whether a map's entries lose their value beyond the depth."""
        struct = plain(entry, self.made)
        seen = {each.name for each in struct.fields if not each.hidden} if isinstance(struct, Struct) else set(ENTRY)
        return ENTRY[1] not in seen

    def _select(self, type: Select, levels: Levels) -> Select:
        found = [
            (case, None if isinstance(case.type, Refusal) else self._type(case.type, levels)) for case in type.cases
        ]
        refused = any(not case.values and inner is None for case, inner in found)
        cases = [
            case if isinstance(case.type, Refusal) else replace(case, type=Refusal(CODE) if inner is None else inner)
            for case, inner in found
            if case.values or inner is not None
        ]
        return replace(type, cases=tuple(cases), code=CODE if refused else type.code)

    def _kept(self, step: Field, encoding: Encoding) -> Type | None:
        """The undecoded type of a field beyond the depth; None if its end is not known."""
        match step.type:
            case _ if encoding.numbered or encoding.text:
                return self._stand_in(step.type, encoding)
            case _ if not encoding.laid_out:
                return None
            case types.Array(count=None):
                return Bytes()  # all remaining bytes of the region
            case Reference() if step.size is not None:
                return Bytes()
            case types.Array(count=types.Terminator(behind=behind)) if behind and step.size:
                return Bytes()
            case _:
                return None

    def _stand_in(self, type: Type, encoding: Encoding) -> Type:
        match type:
            case types.Array(element=element):
                return replace(type, element=self._stand_in(element, encoding), unique=None)
            case types.Nullable(type=single):
                return replace(type, type=self._stand_in(single, encoding))
            case types.Map(value=value):
                return replace(type, value=self._stand_in(value, encoding))
            case Reference(name):
                return self._stand_in(self.named[name], encoding)
            case Struct(encoding=Encoding(text=True), form=form) if encoding.text:
                return JsonText("array" if form is Form.ARRAY else "object")
            case _:
                return Bytes(pieces=encoding.numbered)


def _is_derived_from_field(struct: Struct, name: str, condition: Expression) -> bool:
    """Whether a field's condition depends on a value that is derived from the field, so it cannot be present and empty.

    For a visible value, any use of the field counts; for a hidden value, only a test for its presence.
    """
    derived_values = [(each.wire_name, each.hidden, each.derive) for each in struct.fields]
    derived_values += [(bit.name, bit.hidden, bit.derive) for each in struct.fields for bit in each.bits]
    names = set(_names(condition))
    return any(
        derive is not None and each in names and (_asks(derive, name) if hidden else name in _names(derive))
        for each, hidden, derive in derived_values
    )


def _asks(expression: Expression, name: str) -> bool:
    """Whether an expression tests the presence of a field of its own struct."""
    match expression:
        case Call("present", (FieldRef(up=0, name=asked, members=()),)):
            return asked == name
        case _:
            return any(_asks(each, name) for each in parts(expression))


def _names(expression: Expression) -> Iterator[str]:
    """The fields of its own struct that an expression refers to."""
    return (each.name for each in fields_in(expression) if not each.up)


def _nothing(step: Field, presence: Expression | None) -> Iterator[types.Step]:
    """The steps that replace a field that must be empty; it still has bytes on the wire if `presence` holds."""
    guard = Field(step.name, step.wire_name, types.Boolean(), code=CODE, at=step.at, size=step.size, when=step.when)
    guard = replace(guard, base=step.base, hidden=True, since=step.since, until=step.until)
    match step.type:
        case types.Array(count=types.Prefix(number, null=True)):
            yield replace(guard, type=number, minimum=-1, maximum=0, derive=Literal(-1))
        case types.Array(count=types.Prefix(number) | types.Blocks(number)):
            yield replace(guard, type=number, const=0)
        case types.Array(count=types.Terminator(data, behind=None)):
            yield replace(guard, type=Bytes(Literal(len(data))), const=data)
        case types.Array(count=types.Last() | types.Terminator()):
            yield _never(step, presence)
        case types.Array(count=amount) if (count := types.stated(amount)) is not None:
            yield types.Check(Binary("==", count, Literal(0)), CODE, _first(count) or step.wire_name, presence)
            if step.size is not None:  # its bytes are present nevertheless
                yield replace(guard, type=Bytes(Literal(0)), const=b"")
        case _:
            yield _never(step, presence)


def _never(step: Field, condition: Expression | None) -> types.Check:
    that: Expression = Literal(False) if step.when is None else Unary("not", step.when)  # noqa: FBT003 - a value
    return types.Check(that, CODE, step.wire_name, condition)


def _first(expression: Expression) -> str:
    return next(_names(expression), "")


def _presence(step: Field, condition: Expression | None) -> Expression:
    """Whether a field that must be empty is present: an empty list is."""
    match step.type:
        case types.Array(count=types.Last()):
            return Literal(False)  # noqa: FBT003 - a value
        case types.Array(count=types.Prefix(null=True)):
            return Binary("==", FieldRef(0, step.wire_name, kind=Kind.INTEGER), Literal(0))
        case types.Array():
            return Literal(True) if condition is None else condition  # noqa: FBT003 - a value
        case _:
            return Literal(False)  # noqa: FBT003 - a value


def _without(part: Any, deep: Mapping[str, Expression | None], up: int = 0) -> Any:  # noqa: ANN401 - part of a step
    """A part of a struct, with expressions changed that refer to members of fields beyond the depth.

    `deep` has the presence of each such field, or None if it is kept undecoded and its own presence counts. If a field
    derived from one of them decides its presence, builders take it as absent.
    """
    match part:
        case Field(wire_name=name, derive=derive) | types.Bit(name=name, derive=derive) if derive is not None:
            given = {each: there and _as_given(there, name) for each, there in deep.items()}
            rest = with_parts(replace(part, derive=None), lambda each: _without(each, deep, up))
            return replace(rest, derive=_without(derive, given, up))
        case Call(function="present", arguments=(FieldRef(up=found, name=name, members=()),)) if (
            found == up and name in deep
        ):
            presence = deep[name]
            return part if presence is None else presence
        case Call(function="count", arguments=(FieldRef(up=found, name=name, members=()),)) if (
            found == up and name in deep
        ):
            return Literal(None if deep[name] is None else 0)
        case FieldRef(up=found, name=name, members=members) if found == up and name in deep:
            return part if deep[name] is None and not members else Literal(None)
        case types.Last(holds):
            return replace(part, holds=_without(holds, deep, up + 1))
        case types.Discard(keep=keep, when=when):
            return replace(part, keep=_without(keep, deep, up + 1), when=_without(when, deep, up))
        case _:
            return with_parts(part, lambda each: _without(each, deep, up))


def _as_given(presence: Expression, derived: str) -> Expression:
    """The presence of a field beyond the depth when building; absent if a value derived from it decides that."""
    return Literal(False) if derived in _names(presence) else presence  # noqa: FBT003 - a value


def _counted(part: Any, struct: Struct, names: Names) -> Any:  # noqa: ANN401 - part of a step
    """A part of a struct, where the count of lists in other structs has an unknown kind if they are kept as bytes."""
    match part:
        case types.Last() | types.Discard():
            return part  # their conditions are about an element
        case Call(function="count", arguments=(FieldRef(kind=Kind.LIST) as reference,)):
            kept = any(isinstance(each.field.type, Bytes) for each in names.origins(struct, reference))
            return replace(part, arguments=(replace(reference, kind=Kind.ANY),)) if kept else part
        case _:
            return with_parts(part, lambda each: _counted(each, struct, names))
