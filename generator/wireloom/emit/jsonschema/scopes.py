"""Helpers for schemas of documents and of renderings: the conditions of a struct's fields and a union's cases."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from wireloom.emit.jsonschema.conditions import Listed
from wireloom.emit.jsonschema.members import Member, Option, Scope, Scoped
from wireloom.expr.ast import Expression, FieldRef, Membership, Unary
from wireloom.model.types import Case, Field, FieldTag, Float, Refusal, Scalar, Select, Struct, Type, not_null

Conditions = tuple[Scoped, ...]
Checks = list[tuple[Scoped, ...]]

_VERSION = "_version"  # the name that conditions use for the index of the version that the arity decides


def under(conditions: Conditions, when: Expression | None, scope: Scope) -> Conditions:
    """The conditions, with `when` added if there is one."""
    return conditions if when is None else (*conditions, Scoped(when, scope))


def hidden_tag(scope: Scope, name: str, options: Iterable[Listed]) -> Member:
    """A tag that the JSON does not show."""
    return Member((scope, name), None, {}, options=tuple(Option(each, each) for each in options))


def chosen(tag: Member, options: tuple[Listed, ...]) -> Scoped:
    """The condition that a hidden tag has one of these options."""
    scope, name = tag.key
    return Scoped(Membership(FieldRef(0, name), options), scope)


def told(field: Field, compute: Expression, scope: Scope, conditions: Conditions) -> Scoped | None:
    """The expression that equals a computed field; None if conditions, tables or rounding change it."""
    changed = field.mappings is not None or isinstance(not_null(field.type), Float)
    return None if conditions or changed else Scoped(compute, scope)


def version_tag(struct: Struct, scope: Scope) -> Iterator[Member]:
    """A hidden tag for the version, if the number of elements of an array decides it."""
    if any(version.arity is not None for version in struct.versions):
        indexes = [place for place, version in enumerate(struct.versions) if version.arity is not None]
        yield hidden_tag(scope, _VERSION, indexes)


def arities(struct: Struct) -> Mapping[int, int]:
    """The number of elements in each version that it decides, by the version's index."""
    return {place: each.arity for place, each in enumerate(struct.versions) if each.arity is not None}


def version_of(tags: Mapping[tuple[Scope, str], Collection[Option]]) -> Collection[object] | None:
    """The indexes of the versions that the tags' options allow; None if the version is not a tag."""
    found = next((options for (_, name), options in tags.items() if name == _VERSION), None)
    return None if found is None else {option.value for option in found}


def cases(type: Type, declared: Type, scope: Scope) -> Iterator[tuple[Type, Conditions]]:
    """The types that a field can have, with their conditions; several if an earlier member selects among them."""
    match type:
        case Select(tag=FieldTag(expression), cases=each):
            for case in each:
                if not isinstance(case.type, Refusal):
                    yield case.type, (Scoped(selecting(case, each, expression), scope),)
        case _:
            yield declared, ()


def selecting(case: Case, cases: Iterable[Case], tag: Expression) -> Expression:
    """The condition under which a tag selects a case; a case without values is selected if no other case is."""
    if case.values:
        return Membership(tag, constants(case.values))
    return Unary("not", Membership(tag, constants(value for each in cases for value in each.values)))


def exhausted(type: Type, conditions: Conditions, scope: Scope) -> Checks:
    """The check that the tag's value has a case that is not an error."""
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
