"""The members of a JSON object: which they are, what must hold for each to be there, and which of them decide that.

Structs that stand inline lend their members to the object around them. A member decides (it is a tag) where it has few
values, a constant, mapped ones, true and false, or where it may be absent.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wireloom.emit.jsonschema.conditions import Unknown, Value, evaluate, references
from wireloom.expr.ast import Expression, FieldRef, Membership
from wireloom.model.types import Boolean, Check, Field, FieldTag, Presence, Refusal, Scalar, Select, Struct, Type
from wireloom.model.types import Mapping as ValueMapping

Key = tuple[tuple[str, ...], str]  # the inlined structs around a field, and its name
Resolve = Callable[[Type], Type]


@dataclass(frozen=True, slots=True)
class Scoped:
    """An expression and the inlined structs that it stands in."""

    expression: Expression
    scope: tuple[str, ...]

    def key(self, reference: FieldRef) -> Key | None:
        """The field that a reference means; None where it is not of this object."""
        depth = len(self.scope) - reference.up
        return (self.scope[:depth], reference.name) if depth >= 0 else None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the object: its field, its type, and what must hold for it to be there."""

    key: Key
    field: Field
    type: Type
    conditions: tuple[Scoped, ...]

    @property
    def name(self) -> str:
        """The member's name in the JSON."""
        return self.field.member or self.field.wire_name


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that a tag can be: its JSON value and what expressions see, or absent."""

    wire: Scalar
    value: Value
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Members:
    """All members of an object, those of inlined structs among them, and the checks on them."""

    members: tuple[Member, ...]
    checks: tuple[tuple[Scoped, ...], ...]  # conditions, then what must hold under them
    parameters: Mapping[str, Value]
    closed: bool = True  # whether other members are refused

    @classmethod
    def of(
        cls, struct: Struct, parameters: Mapping[str, object], resolve: Resolve, *, closed: bool = True
    ) -> "Members":
        """The members of a struct."""
        known = {name: value if isinstance(value, (int, str)) else None for name, value in parameters.items()}
        members, checks = _collected(struct, (), (), resolve)
        return cls(tuple(members), tuple(checks), known, closed)

    def truth(self, conditions: Iterable[Scoped], chosen: Mapping[Key, Option]) -> bool | None:
        """Whether all conditions hold under a choice of tags; None where that is not known."""
        results = [self._value(condition, chosen) for condition in conditions]
        if any(not isinstance(result, Unknown) and not result for result in results):
            return False
        return None if any(isinstance(result, Unknown) for result in results) else True

    def violated(self, check: tuple[Scoped, ...], chosen: Mapping[Key, Option]) -> bool:
        """Whether a check is known to fail under a choice of tags."""
        return self.truth(check[:-1], chosen) is True and self.truth(check[-1:], chosen) is False

    def _value(self, condition: Scoped, chosen: Mapping[Key, Option]) -> Value:
        def lookup(reference: FieldRef) -> Value:
            option = chosen.get(key) if (key := condition.key(reference)) else None
            return option.value if option else Unknown.ANYTHING

        return evaluate(condition.expression, lookup, self.parameters)

    def tags(self, conditions: Iterable[Scoped]) -> tuple[Key, ...]:
        """The members that can decide the conditions."""
        keys = (c.key(reference) for c in conditions for reference in references(c.expression))
        return tuple(dict.fromkeys(key for key in keys if key is not None and self.options(key)))

    def options(self, key: Key) -> tuple[Option, ...]:
        """What a tag can be; none for a field that is no tag."""
        member = next((member for member in self.members if member.key == key), None)
        if member is None or member.conditions:
            return ()
        absent = (Option(None, _default(member.field), absent=True),) if _optional(member.field) else ()
        present = tuple(_present(member, self.parameters)) or ((Option(None, Unknown.SOMETHING),) if absent else ())
        return (*present, *absent)


def _collected(
    struct: Struct, scope: tuple[str, ...], conditions: tuple[Scoped, ...], resolve: Resolve
) -> tuple[list[Member], list[tuple[Scoped, ...]]]:
    members: list[Member] = []
    checks: list[tuple[Scoped, ...]] = []
    for step in struct.steps:
        when = getattr(step, "when", None)
        under = (*conditions, Scoped(when, scope)) if when is not None else conditions
        match step:
            case Check(that=that):
                checks.append((*under, Scoped(that, scope)))
            case Field(inline=True):
                for inner, case_conditions in _structs(step, scope, resolve):
                    more, inner_checks = _collected(
                        inner, (*scope, step.wire_name), (*under, *case_conditions), resolve
                    )
                    members += more
                    checks += inner_checks
            case Field() if step.compute is None and not step.counted:
                members += [
                    Member((scope, step.wire_name), step, type, (*under, *extra))
                    for type, extra in _types(step, scope, resolve)
                ]
            case _:
                pass  # other steps say nothing about members
    return members, checks


def _types(field: Field, scope: tuple[str, ...], resolve: Resolve) -> list[tuple[Type, tuple[Scoped, ...]]]:
    """The types that a field can have, with the conditions: several where its type is chosen by earlier members."""
    type = resolve(field.type)
    match type:
        case Select(tag=FieldTag(expression), cases=cases):
            return [
                (case.type, (Scoped(Membership(expression, _plain(case.values)), scope),))
                for case in cases
                if not isinstance(case.type, Refusal)
            ]
        case _:
            return [(field.type, ())]


def _structs(field: Field, scope: tuple[str, ...], resolve: Resolve) -> list[tuple[Struct, tuple[Scoped, ...]]]:
    resolved = [(resolve(type), conditions) for type, conditions in _types(field, scope, resolve)]
    return [(type, conditions) for type, conditions in resolved if isinstance(type, Struct)]


def _plain(values: Iterable[object]) -> tuple[int | bool | str | None, ...]:
    return tuple(value for value in values if value is None or isinstance(value, (int, str)))


def _optional(field: Field) -> bool:
    return field.presence is Presence.OPTIONAL


def _default(field: Field) -> Value:
    value = field.default if field.has_default else None
    return value if value is None or isinstance(value, (int, str)) else Unknown.SOMETHING


def _present(member: Member, parameters: Mapping[str, Value]) -> list[Option]:
    """The values of a member that has few: a constant, mapped values, a boolean."""
    field = member.field
    if field.const is not None:
        return [Option(field.const, field.const if isinstance(field.const, (int, str)) else Unknown.SOMETHING)]
    if field.mappings is not None:
        return [Option(mapping.wire, _mapped(mapping, parameters)) for mapping in field.mappings]
    return [Option(value, value) for value in (True, False)] if isinstance(member.type, Boolean) else []


def _mapped(mapping: ValueMapping, parameters: Mapping[str, Value]) -> Value:
    return evaluate(mapping.value, lambda _: Unknown.ANYTHING, parameters)
