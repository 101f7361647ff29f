"""Structs: fields and the checks between them, in the order of the spec.

A `Struct` is one construct for every encoding; its `form` says how the container is opened and where a field's bytes
are (`Sequential` here, `Positional` in msgpack, objects in json, messages in protobuf). Parsing runs the steps in
order, so the order of the spec is the order in which errors are reported. Building lays the fields out first, then
settles what follows from where fields stand: derived lengths, then checksums, inner ones before those that cover them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import construct
from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, amount, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parsers.facts import Facts, Sources, VisibleMembers
from wireloom.runtime.parsers.fields import (
    Bit,
    Checksum,
    Field,
    Form,
    Held,
    Keys,
    Mapped,
    Reference,
    Run,
    Sink,
    Source,
    Spelling,
    Step,
    WireStruct,
    refuses,
)
from wireloom.runtime.parsers.placement import Placement
from wireloom.runtime.parsers.protocol import (
    MISSING,
    Expression,
    Path,
    Scope,
    evaluate,
    same,
)
from wireloom.runtime.parsers.steps import Check, Computed, Counted, Discard, End, Frame, Mark, Need, Verify
from wireloom.runtime.values import Value


@dataclass
class StreamFields:
    """Fields that stand in the stream itself, one after the other: a source and a sink at once."""

    stream: Any

    def locate(self, field: Field) -> Any:
        """The stream, wherever it has come to."""
        return self.stream

    def place(self, field: Field) -> Any:
        """The stream, wherever it has come to."""
        return self.stream

    def offset(self, stream: Any) -> int:
        """Where the stream has come to."""
        return int(stream.tell())

    def close(self) -> None:
        """Nothing more: the stream goes on after the struct."""


@dataclass(frozen=True)
class Sequential:
    """Binary: fields one after the other, or at offsets."""

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> Source:
        """The stream itself."""
        return StreamFields(stream)

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[Field]) -> Sink:
        """The stream itself."""
        return StreamFields(stream)


@dataclass(frozen=True)
class Version:
    """A version of a struct, told by the arity of its array or by a condition."""

    name: str
    arity: int | None = None
    when: Expression | None = None


class Struct(construct.Construct):
    """Named fields with checks between them; parses to a dict of what readers see."""

    def __init__(
        self,
        name: str,
        *steps: Step,
        form: Form | None = None,
        versions: Sequence[Version] = (),
        needs: Sequence[str] = (),
        doc: str = "",
    ) -> None:
        super().__init__()
        self._needed = frozenset(needs)  # what a value of the struct has, beside those of other versions
        self.name = name
        self.docs = doc
        self.steps = steps
        self.form = form or Sequential()
        self.sequential = form is None
        self.in_turn = form is not None or not any(isinstance(step, Field) and step.stands for step in steps)
        self.versions = tuple(versions)
        self.fields = tuple(step for step in steps if isinstance(step, Field))
        self.given = tuple(step for step in steps if isinstance(step, Computed) and step.given)
        self._free = frozenset(_free(steps))
        self._derived = frozenset(_derived(steps))
        told: dict[int, int | None] = {
            version.arity: place for place, version in enumerate(versions) if version.arity is not None
        }
        certain = sum(step.when is None and not step.optional for step in self.fields)
        self._arities = told or dict.fromkeys(range(certain, len(self.fields) + 1))
        self._has_tail = any(step.is_tail for step in self.fields)
        self._counts = tuple(step.name for step in steps if isinstance(step, Counted))
        self._checksums = {step.name: step.checksum for step in self.fields if step.checksum is not None}

    @property
    def arities(self) -> dict[int, int | None]:
        """The arities that the struct may have as an array, and the place of the version that each tells.

        Where none does, there is an element for each field that is there.
        """
        return self._arities

    def _scope(self, context: Container, stream: Any) -> Container:
        return Scope(
            _=context,
            _params=context._params,
            _io=stream,
            _start=stream.tell() if hasattr(stream, "tell") else 0,
            _size=None,
            _marks={},
            _furthest=0,  # what was read elsewhere, for a mark of this struct
            _checksums=self._checksums,
            _version=len(self.versions) - 1,
        )

    def _parse(self, stream: Any, context: Container, path: Path) -> Value:
        scope = self._scope(context, stream)
        if hasattr(stream, "limit"):
            scope._size = stream.limit - scope._start
        source = self.form.open(self, stream, scope)
        run = Run(scope, source, stream, Value(self._free, self._derived), has_tail=self._has_tail)
        for step in self.steps:
            step.parse(run)
        if run.reached and run.reached > stream.tell():
            stream.seek(run.reached)
        if scope._furthest:
            _enclose(scope, stream)
        source.close()
        for name in self._counts:  # what came to be counted after its place
            run.value[name] = scope[name]
        _leave_frame(run)
        return run.value

    # --- building ---

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether `value` can be of this struct: its constants, mapped words and computed facts agree."""
        told = [(member, given) for title, member in self._telling if (given := value.get(title)) is not None]
        if not all(_is_constant(member, given) for member, given in told):
            return False
        told = [each for each in told if _asks_names(each[0])]
        if not told:
            return True
        scope = Placement(self, value, None, context, len(self.versions) - 1).facts().scope
        return all(_agrees(member, given, scope) for member, given in told)

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether there is a place for each member that `value` has, and it has what cannot be done without."""
        there = {name for name, member in value.items() if member is not None}
        return there <= self._titles and self._always <= there and not self._refuses(value)

    def _refuses(self, value: Mapping[str, Any]) -> bool:
        """Whether a range or a spelling of a member, or of one that melts in, refuses what `value` has of it."""
        return any(
            isinstance(field.subcon, Struct) and field.subcon._refuses(value)
            if field.flatten
            else refuses(field, value.get(field.title or field.name))
            for field in self._held
        )

    @cached_property
    def _held(self) -> Sequence[Field]:
        """The fields that readers see of which a range or a spelling may refuse a value; those that melt in."""
        limits = ((field, field.minimum, field.maximum, field.spelling) for field in self.fields)
        return [
            field
            for field, *said in limits
            if field.flatten or (any(each is not None for each in said) and not field.hidden)
        ]

    @cached_property
    def _always(self) -> frozenset[str]:
        """What a value of any version has."""
        conditional = {step.title or step.name for step in self.fields if step.when is not None}
        return self._needed - conditional

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(self.titles())

    @cached_property
    def _telling(self) -> Sequence[tuple[str, "Field | Bit | Computed"]]:
        """The members that readers see which cannot be everything, by what readers call them."""
        return tuple(
            (member.title or member.name, member) for step in self.steps for member in _members(step) if _tells(member)
        )

    @cached_property
    def sources(self) -> Sources:
        """Where the names have their values from while building."""
        return Sources(self.steps)

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """What expressions see of the members of `value`."""
        return VisibleMembers(
            Placement(self, value, None, context, self._version_to_build(value, context)).facts().scope
        )

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """What readers call the members of this struct, flattened ones included; all names of `hidden` ones, too."""
        for step in self.steps:
            match step:
                case Field(flatten=True):
                    yield from _titles(step.subcon, hidden=hidden)
                case Field():
                    yield from _called(step, hidden=hidden)
                    for bit in step.bits:
                        yield from _called(bit, hidden=hidden)
                case Computed():
                    yield from _called(step, hidden=hidden)
                case Counted():
                    yield step.name
                case _:
                    pass

    def _version_to_build(self, value: Mapping[str, Any], context: Container) -> int:
        """The version that a parameter names, else the newest with a place for what `value` has, and what it needs."""
        if not self.versions:
            return -1
        names, newest = [version.name for version in self.versions], len(self.versions) - 1
        for choice in context._params.values():
            if isinstance(choice, str) and choice in names:
                return names.index(choice)
        if not newest or all(version.arity is None for version in self.versions):
            return newest
        places = range(newest, -1, -1)
        return next((place for place in places if self._fits(value, context, place)), newest)

    def _fits(self, value: Mapping[str, Any], context: Container, version: int) -> bool:
        """Whether a version has a place for each member of `value`, and `value` has what it cannot do without."""
        facts = Placement(self, value, None, context, version).facts()
        seen = [(index, step) for index, step in enumerate(self.steps) if isinstance(step, Field) and not step.hidden]
        there = {step.title or step.name for index, step in seen if facts.is_present(index, step)}
        for index, step in seen:
            is_there, is_given = facts.is_present(index, step), _is_given(step, facts)
            if is_given and not is_there and (step.title or step.name) in there:
                continue  # it is what another version calls so
            if is_given != is_there and (is_given or self._is_needed(step)):
                return False
        return True

    def _is_needed(self, field: Field) -> bool:
        """Whether a value must have something of a field that is there."""
        if field.flatten:
            return any(_titles(field.subcon, hidden=False))
        return (field.title or field.name) in self._needed

    def _build(self, obj: Any, stream: Any, context: Container, path: Path) -> Any:
        if not isinstance(obj, dict) and not isinstance(obj, Mapping):
            raise EncodeError(f"a record ({self.name})", shown(obj))
        Placement(self, obj, stream, context, self._version_to_build(obj, context)).build()
        return obj


def _enclose(scope: Container, stream: Any) -> None:
    """What was read elsewhere, for a mark of the struct, is some of its bytes."""
    if scope._furthest > stream.tell():
        expected = f"the end of the struct at {scope._furthest - stream.origin} or behind, where what it points to ends"
        raise DecodeError("bad_pointer", offset=stream.tell(), expected=expected, actual="its end")


def _leave_frame(run: Run) -> None:
    """Lift the bound that a Frame step set; it must have been used up."""
    if run.frame is None:
        return
    position, end = run.stream.tell(), run.stream.limit
    run.stream.limit, run.stream.overrun = run.frame
    if position != end:
        raise DecodeError(
            "bad_region", offset=position, expected="the end of the record", actual=f"{amount(end - position)} more"
        )


def _is_given(step: Field, facts: Facts) -> bool:
    """Whether the value has something of a field."""
    return step.is_given(facts.value) if step.flatten else facts.given(step) is not None


def _members(step: Step) -> Iterator[Field | Bit | Computed]:
    """The members that a step gives readers."""
    match step:
        case Field():
            yield step
            yield from step.bits
        case Computed():
            yield step
        case _:
            pass


def _tells(member: Field | Bit | Computed) -> bool:
    """Whether readers see a member that has a constant or words, or is computed of others."""
    match member:
        case Field():
            return not member.hidden and (member.mapped is not None or member.const is not MISSING)
        case Bit():
            return not member.hidden and member.mapped is not None and len(member.mapped.entries) == 1
        case Computed():
            return not (member.hidden or member.given) and member.derive is None


def _is_constant(member: Field | Bit | Computed, given: Any) -> bool:
    """Whether a value may be that of a member, as far as its constant, and words that follow from nothing, say."""
    match member:
        case Bit(mapped=Mapped(constants=tuple(words))):
            return any(same(word, given) for word in words)
        case Field(mapped=None):
            return same(given, member.const)
        case _:
            return True


def _asks_names(member: Field | Bit | Computed) -> bool:
    """Whether names of the struct say what a member may be."""
    match member:
        case Field(mapped=mapped):
            return mapped is not None
        case Bit(mapped=Mapped(constants=constants)):
            return constants is None
        case _:
            return True


def _agrees(member: Field | Bit | Computed, given: Any, scope: Container) -> bool:
    match member:
        case Computed():
            return _may_be(member, given, scope)
        case Field(mapped=Mapped() as mapped):
            return mapped.means(given, scope, member.const)
        case Bit(mapped=Mapped() as mapped):
            return mapped.means(given, scope)
        case _:
            return True


def _may_be(step: Computed, given: Any, scope: Container) -> bool:
    try:
        return same(step.held(evaluate(step.compute, scope), 0), given)
    except PositionPendingError:
        return True  # reading back says so
    except DecodeError:
        return False


def _free(steps: Sequence[Step]) -> Iterator[str]:
    """What readers call the members that they see which follow from others, or from the format itself."""
    for step in steps:
        match step:
            case Field():
                if step.is_determined and not step.hidden:
                    yield step.title or step.name
                yield from (bit.title or bit.name for bit in step.bits if not (bit.hidden or step.needs(bit)))
            case Computed(given=False, hidden=False):
                yield step.title or step.name
            case Counted():
                yield step.name
            case _:
                pass


def _derived(steps: Sequence[Step]) -> Iterator[str]:
    """What readers call the members that they see which follow from others, and make way for what these say."""
    for step in steps:
        match step:
            case Field():
                if step.is_derived and not step.hidden:
                    yield step.title or step.name
                yield from (bit.title or bit.name for bit in step.bits if bit.derive is not None and not bit.hidden)
            case Computed(given=False, agrees=False, hidden=False):
                yield step.title or step.name
            case Counted():
                yield step.name
            case _:
                pass


def _called(member: Field | Bit | Computed, *, hidden: bool) -> Iterator[str]:
    """What readers call a member, where they see it; where `hidden` ones count, what expressions call it, too."""
    if hidden or not member.hidden:
        yield member.title or member.name
    if hidden and member.title:
        yield member.name


def _titles(subcon: Any, *, hidden: bool) -> Iterator[str]:
    if hasattr(subcon, "titles"):
        yield from subcon.titles(hidden=hidden)


__all__ = [  # what generated parsers declare structs with
    "Bit",
    "Check",
    "Checksum",
    "Computed",
    "Counted",
    "Discard",
    "End",
    "Field",
    "Frame",
    "Held",
    "Keys",
    "Mapped",
    "Mark",
    "Need",
    "Reference",
    "Spelling",
    "Struct",
    "Verify",
    "Version",
]
