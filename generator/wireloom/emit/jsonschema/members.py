"""The members of an object, the conditions under which each is present, and the tags that decide these conditions.

A tag is a member with few distinguishable values: a constant, mapped values, booleans, presence or absence, and the
constants that conditions compare it with (any other value is one further option). Members without a name are not in the
object, but may be tags.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from wireloom.emit.jsonschema.conditions import (
    Constant,
    Unknown,
    Value,
    compared,
    evaluate,
    membership,
    passed,
    same,
)
from wireloom.emit.jsonschema.constants import Schema
from wireloom.expr.ast import Expression, FieldRef, Membership, fields_in
from wireloom.model.types import Spelling

Scope = tuple[str, ...]  # the inline or flattened structs around a member, from the outermost
Key = tuple[Scope, str]  # a scope, and the name that expressions use


@dataclass(frozen=True, slots=True)
class Scoped:
    """An expression and the scope in which its names are resolved."""

    expression: Expression
    scope: Scope

    def key(self, reference: FieldRef) -> Key | None:
        """The key of the field that a reference names; None if it is outside of this object."""
        depth = len(self.scope) - reference.up
        return (self.scope[:depth], reference.name) if depth >= 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One option of a tag: its JSON value (a constant, any other value, or absence), and its value in expressions."""

    shown: object
    value: Value
    absent: bool = False
    open: bool = False


ABSENT = Option(None, None, absent=True)
OTHER = Option(None, Unknown.OTHER, open=True)
SOMETHING = Option(None, Unknown.SOMETHING, open=True)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of the object: its schema, its conditions, whether it is required under them, and its options.

    If OTHER is among `options`, every constant of the type `constant` that conditions compare the member with is an
    option of its own, provided it fits the member's bounds and spelling.
    """

    key: Key
    name: str | None  # None if it is not in the JSON
    schema: Schema
    conditions: tuple[Scoped, ...] = ()
    required: bool = True
    options: tuple[Option, ...] = ()
    constant: type | None = None  # int or str: constants of this type are options of their own
    least: int | None = None
    greatest: int | None = None
    spelling: Spelling | None = None
    compute: Scoped | None = None  # its value, if it is computed
    narrows: bool = False  # whether its schema restricts another member of the same name

    @property
    def certain(self) -> bool:
        """Whether it always has a value other than null."""
        nulls = (None, Unknown.ANYTHING)
        return not self.conditions and self.required and all(option.value not in nulls for option in self.options)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One option for each of some tags, and a cache of the computed members' values under it."""

    options: Mapping[Key, Option] = field(default_factory=dict)
    computed: dict[Member, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Members:
    """All members of an object, and the checks on them."""

    members: tuple[Member, ...]
    checks: tuple[tuple[Scoped, ...], ...] = ()  # conditions, then the expression that must hold under them
    parameters: Mapping[str, Value] = field(default_factory=dict)
    closed: bool = True  # whether unknown members are refused
    rest: Schema | None = None  # the schema of members with no name in `besides`, if a map receives them
    besides: tuple[str, ...] = ()
    spelled: Schema | None = None  # the schema of their names

    @property
    def names(self) -> Schema:
        """The keywords that restrict the names of members without a field."""
        if self.spelled is None:
            return {}
        named = [{"enum": list(self.besides)}] if self.besides else []
        return {"propertyNames": {"anyOf": [*named, self.spelled]} if named else self.spelled}

    @property
    def others(self) -> Schema | bool:
        """The schema of members without a field; True or False if they are allowed or refused as such."""
        return not self.closed if self.rest is None else self.rest

    def truth(self, conditions: Iterable[Scoped], chosen: Choice) -> bool | None:
        """Whether all conditions hold for a choice of options; None if that is unknown."""
        results = [self.value(condition, chosen) for condition in conditions]
        if any(not isinstance(result, Unknown) and result is not True for result in results):
            return False  # as in parsers, a number is not a condition that holds
        return None if any(isinstance(result, Unknown) for result in results) else True

    def violated(self, check: tuple[Scoped, ...], chosen: Choice) -> bool:
        """Whether a check certainly fails for a choice of options."""
        return self.truth(check[:-1], chosen) is True and self.truth(check[-1:], chosen) is False

    def value(self, condition: Scoped, chosen: Choice) -> Value:
        """The value of an expression for a choice of options."""
        match condition.expression:
            case Membership(FieldRef(members=()), options):  # a comparison of a tag itself, as in a union's cases
                tag = next((chosen.options.get(each.key) for each in self._mentioned(condition)), None)
                if tag is not None:
                    return membership(tag.value, options)
            case _:
                pass
        for member, compute in self._computed(condition, chosen.computed):
            chosen.computed[member] = passed(self._evaluated(compute, chosen))
        return self._evaluated(condition, chosen)

    def _evaluated(self, condition: Scoped, chosen: Choice) -> Value:
        """The value of an expression whose computed members have their values in `chosen`."""

        def lookup(reference: FieldRef) -> Value:
            found = self._located(condition, reference)
            if found and found[0].key in chosen.options:
                return chosen.options[found[0].key].value
            if len(found) == 1 and found[0].compute is not None:
                return chosen.computed[found[0]]
            return Unknown.SOMETHING if any(member.certain for member in found) else Unknown.ANYTHING

        return evaluate(condition.expression, lookup, self.parameters)

    def tags(self, conditions: Iterable[Scoped]) -> tuple[Key, ...]:
        """The tags that can decide the conditions."""
        found: dict[Key, None] = {}
        for condition in conditions:
            for member, compute in self._computed(condition, self._decisive):
                self._decisive[member] = self._deciding(compute)
            found |= self._deciding(condition)
        return tuple(found)

    def _deciding(self, condition: Scoped) -> dict[Key, None]:
        """The tags of an expression whose computed members are in `_decisive`."""
        found: dict[Key, None] = {}
        for member in self._mentioned(condition):
            found |= dict.fromkeys([member.key] if self.options(member.key) else ())
            found |= self._decisive.get(member, {})
        return found

    def _computed(self, condition: Scoped, known: Collection[Member]) -> Iterator[tuple[Member, Scoped]]:
        """The computed members that an expression depends on and that are not in `known`, in order of dependency.

        A chain of them may be as long as the struct, so this loops in place of recursion.
        """
        pending = [(each, each.compute) for each in self._mentioned(condition) if each.compute is not None]
        while pending:
            member, compute = pending[-1]
            needed = [(each, each.compute) for each in self._mentioned(compute) if each.compute is not None]
            missing = [each for each in needed if each[0] not in known]
            pending += missing
            if not missing:
                pending.pop()
                if member not in known:
                    yield member, compute

    def _mentioned(self, condition: Scoped) -> list[Member]:
        """The members that an expression refers to."""
        found = self._mentions.get(id(condition))
        if found is None:
            located = (self._located(condition, reference)[:1] for reference in fields_in(condition.expression))
            found = self._mentions[id(condition)] = condition, [member for each in located for member in each]
        return found[1]

    def options(self, key: Key) -> tuple[Option, ...]:
        """The options of a tag; empty for a member that is not a tag."""
        return self._options.get(key, ())

    def _located(self, scoped: Scoped, reference: FieldRef) -> list[Member]:
        """The members that a reference can mean: in its scope, or in a struct flattened into it."""
        key = scoped.key(reference)
        if key is None:
            return []
        if key in self._by_key:
            return self._by_key[key]
        scope, name = key
        flattened = [other for other in self._by_key if other[1] == name and other[0][: len(scope)] == scope]
        return self._by_key[flattened[0]] if len(flattened) == 1 else []

    @cached_property
    def _decisive(self) -> dict[Member, dict[Key, None]]:
        """A cache: the tags that decide each computed member."""
        return {}

    @cached_property
    def _mentions(self) -> dict[int, tuple[Scoped, list[Member]]]:
        """A cache: the members that expressions refer to, by the expression's id; keeping it keeps the id unique."""
        return {}

    @cached_property
    def _options(self) -> Mapping[Key, tuple[Option, ...]]:
        """The options of each tag: those of its member, and the constants it is compared with."""
        return {
            key: options
            for key, (member, *others) in self._by_key.items()
            if not others and not member.conditions and (options := self._options_of(member))
        }

    def _options_of(self, member: Member) -> tuple[Option, ...]:
        constants = self._constants.get(member.key, ()) if OTHER in member.options else ()
        listed = (Option(constant, constant) for constant in constants if _fits(constant, member))
        options = (*listed, *member.options)
        return options if len(options) > 1 or not any(option.open for option in options) else ()

    @cached_property
    def _by_key(self) -> Mapping[Key, list[Member]]:
        found: dict[Key, list[Member]] = {}
        for member in self.members:
            found.setdefault(member.key, []).append(member)
        return found

    @cached_property
    def _constants(self) -> Mapping[Key, list[Constant]]:
        """The constants that each member is compared with."""
        found: dict[Key, list[Constant]] = {}
        for scoped in self._expressions():
            for reference, constant in compared(scoped.expression):
                for member in self._located(scoped, reference)[:1]:
                    known = found.setdefault(member.key, [])
                    known += [] if any(same(constant, each) for each in known) else [constant]
        return found

    def _expressions(self) -> Iterator[Scoped]:
        for member in self.members:
            yield from member.conditions
            if member.compute is not None:
                yield member.compute
        for check in self.checks:
            yield from check


def _fits(constant: Constant, member: Member) -> bool:
    """Whether a member can have this value."""
    if type(constant) is not member.constant:
        return False
    if member.spelling is not None and not member.spelling.has(constant):
        return False
    if not isinstance(constant, int):
        return True
    return (member.least is None or constant >= member.least) and (
        member.greatest is None or constant <= member.greatest
    )
