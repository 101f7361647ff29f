"""The members of an object, whatever they stand for: what must hold for each to be there, and which decide that.

A member decides (it is a tag) where it has few values (a constant, mapped ones, true and false), where it may be
absent, and where conditions compare it with constants: it then is one of those, or another value. Members without a
name are not in the object, but may decide about those that are.
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

Scope = tuple[str, ...]  # the structs whose members stand in the object around them, from the outermost
Key = tuple[Scope, str]  # a scope, and the name that expressions use


@dataclass(frozen=True, slots=True)
class Scoped:
    """An expression and the scope that it stands in."""

    expression: Expression
    scope: Scope

    def key(self, reference: FieldRef) -> Key | None:
        """The field that a reference means; None where it is not of this object."""
        depth = len(self.scope) - reference.up
        return (self.scope[:depth], reference.name) if depth >= 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One thing that a tag can be: what stands in the JSON (or any other value, or nothing), what expressions see."""

    shown: object
    value: Value
    absent: bool = False
    open: bool = False


ABSENT = Option(None, None, absent=True)
OTHER = Option(None, Unknown.OTHER, open=True)
SOMETHING = Option(None, Unknown.SOMETHING, open=True)


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of the object: its schema, what must hold for it to be there, whether it then must be, its options.

    `options` are all that it can be. Where one of them is OTHER, it is told apart by the constants of `constant`, those
    that are within its bounds and spelled as it is.
    """

    key: Key
    name: str | None  # None where the JSON does not show it
    schema: Schema
    conditions: tuple[Scoped, ...] = ()
    required: bool = True
    options: tuple[Option, ...] = ()
    constant: type | None = None  # int or str: constants of this kind are options of it
    least: int | None = None
    greatest: int | None = None
    spelling: Spelling | None = None
    compute: Scoped | None = None  # what it always is, where it is computed
    narrows: bool = False  # whether it says what another member of its name must be, too

    @property
    def certain(self) -> bool:
        """Whether it always has a value."""
        nulls = (None, Unknown.ANYTHING)
        return not self.conditions and self.required and all(option.value not in nulls for option in self.options)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One option of each of some tags, and what computed members are under it: each is worked out once."""

    options: Mapping[Key, Option] = field(default_factory=dict)
    computed: dict[Member, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Members:
    """All members of an object, and the checks on them."""

    members: tuple[Member, ...]
    checks: tuple[tuple[Scoped, ...], ...] = ()  # conditions, then what must hold under them
    parameters: Mapping[str, Value] = field(default_factory=dict)
    closed: bool = True  # whether other members are refused
    rest: Schema | None = None  # or what each of them is, where a map takes those that have none of the names `besides`
    besides: tuple[str, ...] = ()
    spelled: Schema | None = None  # and what their names look like

    @property
    def names(self) -> Schema:
        """What the object's schema says of names that are none of its members'."""
        if self.spelled is None:
            return {}
        named = [{"enum": list(self.besides)}] if self.besides else []
        return {"propertyNames": {"anyOf": [*named, self.spelled]} if named else self.spelled}

    @property
    def others(self) -> Schema | bool:
        """The schema of each member that is not named."""
        return not self.closed if self.rest is None else self.rest

    def truth(self, conditions: Iterable[Scoped], chosen: Choice) -> bool | None:
        """Whether all conditions hold under a choice of tags; None where that is not known."""
        results = [self.value(condition, chosen) for condition in conditions]
        if any(not isinstance(result, Unknown) and result is not True for result in results):
            return False  # as parsers have it: a number is no condition that holds
        return None if any(isinstance(result, Unknown) for result in results) else True

    def violated(self, check: tuple[Scoped, ...], chosen: Choice) -> bool:
        """Whether a check is known to fail under a choice of tags."""
        return self.truth(check[:-1], chosen) is True and self.truth(check[-1:], chosen) is False

    def value(self, condition: Scoped, chosen: Choice) -> Value:
        """What an expression gives under a choice of tags."""
        match condition.expression:
            case Membership(FieldRef(members=()), options):  # of a tag itself, as the cases of a union are told
                tag = next((chosen.options.get(each.key) for each in self._mentioned(condition)), None)
                if tag is not None:
                    return membership(tag.value, options)
            case _:
                pass
        for member, compute in self._computed(condition, chosen.computed):
            chosen.computed[member] = passed(self._evaluated(compute, chosen))
        return self._evaluated(condition, chosen)

    def _evaluated(self, condition: Scoped, chosen: Choice) -> Value:
        """What an expression gives where the computed members that it needs are known."""

        def lookup(reference: FieldRef) -> Value:
            found = self._located(condition, reference)
            if found and found[0].key in chosen.options:
                return chosen.options[found[0].key].value
            if len(found) == 1 and found[0].compute is not None:
                return chosen.computed[found[0]]
            return Unknown.SOMETHING if any(member.certain for member in found) else Unknown.ANYTHING

        return evaluate(condition.expression, lookup, self.parameters)

    def tags(self, conditions: Iterable[Scoped]) -> tuple[Key, ...]:
        """The members that can decide the conditions."""
        found: dict[Key, None] = {}
        for condition in conditions:
            for member, compute in self._computed(condition, self._decisive):
                self._decisive[member] = self._deciding(compute)
            found |= self._deciding(condition)
        return tuple(found)

    def _deciding(self, condition: Scoped) -> dict[Key, None]:
        """The tags of an expression, where those of the computed members that it needs are known."""
        found: dict[Key, None] = {}
        for member in self._mentioned(condition):
            found |= dict.fromkeys([member.key] if self.options(member.key) else ())
            found |= self._decisive.get(member, {})
        return found

    def _computed(self, condition: Scoped, known: Collection[Member]) -> Iterator[tuple[Member, Scoped]]:
        """The computed members that an expression needs and that are not known, what each follows from before it.

        They may be as many as a struct has fields, so that no call goes from one to the next.
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
        """The members that an expression names."""
        found = self._mentions.get(id(condition))
        if found is None:
            located = (self._located(condition, reference)[:1] for reference in fields_in(condition.expression))
            found = self._mentions[id(condition)] = condition, [member for each in located for member in each]
        return found[1]

    def options(self, key: Key) -> tuple[Option, ...]:
        """What a tag can be; none for a member that is no tag."""
        return self._options.get(key, ())

    def _located(self, scoped: Scoped, reference: FieldRef) -> list[Member]:
        """The members that a reference means: of one key, in the scope itself or in a struct flattened into it."""
        key = scoped.key(reference)
        if key is None:
            return []
        if key in self._by_key:
            return self._by_key[key]
        scope, name = key
        lent = [other for other in self._by_key if other[1] == name and other[0][: len(scope)] == scope]
        return self._by_key[lent[0]] if len(lent) == 1 else []

    @cached_property
    def _decisive(self) -> dict[Member, dict[Key, None]]:
        """The tags that each computed member follows from, as far as was asked."""
        return {}

    @cached_property
    def _mentions(self) -> dict[int, tuple[Scoped, list[Member]]]:
        """The members that expressions name, by their ids, as far as was asked; the expression stays with them."""
        return {}

    @cached_property
    def _options(self) -> Mapping[Key, tuple[Option, ...]]:
        """The options of each tag: those of its member, and the constants that it is compared with."""
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
        """What members are compared with."""
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
    """Whether a member can have that value."""
    if type(constant) is not member.constant:
        return False
    if member.spelling is not None and not member.spelling.has(constant):
        return False
    if not isinstance(constant, int):
        return True
    return (member.least is None or constant >= member.least) and (
        member.greatest is None or constant <= member.greatest
    )
