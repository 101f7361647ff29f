"""What documents and renderings share: under which conditions a struct's fields and the cases of a union are there."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from wireloom.emit.jsonschema.conditions import Listed
from wireloom.emit.jsonschema.members import Member, Option, Scope, Scoped
from wireloom.expr.ast import Expression, FieldRef, Membership, Unary
from wireloom.model.types import Case, Field, FieldTag, Float, Refusal, Scalar, Select, Struct, Type, not_null

Conditions = tuple[Scoped, ...]
Checks = list[tuple[Scoped, ...]]

_VERSION = "_version"  # what the conditions of versions call the place of the one that the arity tells


def under(conditions: Conditions, when: Expression | None, scope: Scope) -> Conditions:
    """The conditions, and one more where there is one."""
    return conditions if when is None else (*conditions, Scoped(when, scope))


def hidden_tag(scope: Scope, name: str, options: Iterable[Listed]) -> Member:
    """A choice that nothing in the JSON shows."""
    return Member((scope, name), None, {}, options=tuple(Option(each, each) for each in options))


def chosen(tag: Member, options: tuple[Listed, ...]) -> Scoped:
    """The condition that a hidden choice is one of these."""
    scope, name = tag.key
    return Scoped(Membership(FieldRef(0, name), options), scope)


def told(field: Field, compute: Expression, scope: Scope, conditions: Conditions) -> Scoped | None:
    """What a computed field always is, where its expression says it: no table or float's digits change it."""
    changed = field.mappings is not None or isinstance(not_null(field.type), Float)
    return None if conditions or changed else Scoped(compute, scope)


def version_tag(struct: Struct, scope: Scope) -> Iterator[Member]:
    """What the arity of an array says: which version it is."""
    if any(version.arity is not None for version in struct.versions):
        told = [place for place, version in enumerate(struct.versions) if version.arity is not None]
        yield hidden_tag(scope, _VERSION, told)


def arities(struct: Struct) -> Mapping[int, int]:
    """How many elements the array has in each version that its arity tells, by the version's place."""
    return {place: each.arity for place, each in enumerate(struct.versions) if each.arity is not None}


def version_of(tags: Mapping[tuple[Scope, str], Collection[Option]]) -> Collection[object] | None:
    """The places of the versions that tags leave; None where none of them is the version."""
    found = next((options for (_, name), options in tags.items() if name == _VERSION), None)
    return None if found is None else {option.value for option in found}


def cases(type: Type, declared: Type, scope: Scope) -> Iterator[tuple[Type, Conditions]]:
    """The types that a field declared so can have, with the conditions: several where earlier members choose it."""
    match type:
        case Select(tag=FieldTag(expression), cases=each):
            for case in each:
                if not isinstance(case.type, Refusal):
                    yield case.type, (Scoped(selecting(case, each, expression), scope),)
        case _:
            yield declared, ()


def selecting(case: Case, cases: Iterable[Case], tag: Expression) -> Expression:
    """The condition under which a tag selects a case: one without values is selected where no other is."""
    if case.values:
        return Membership(tag, constants(case.values))
    return Unary("not", Membership(tag, constants(value for each in cases for value in each.values)))


def exhausted(type: Type, conditions: Conditions, scope: Scope) -> Checks:
    """A tag must be one of the cases that are no errors."""
    match type:
        case Select(tag=FieldTag(expression), cases=each):
            known = [value for case in each if not isinstance(case.type, Refusal) for value in constants(case.values)]
            refused = [value for case in each if isinstance(case.type, Refusal) for value in constants(case.values)]
            if type.otherwise is None or isinstance(type.otherwise.type, Refusal):
                return [(*conditions, Scoped(Membership(expression, tuple(known)), scope))]
            held = Unary("not", Membership(expression, tuple(refused)))
            return [(*conditions, Scoped(held, scope))] if refused else []
        case _:
            return []


def constants(values: Iterable[Scalar]) -> tuple[Listed, ...]:
    """The values that expressions can be compared with."""
    return tuple(value for value in values if value is None or isinstance(value, int | str | bytes))
