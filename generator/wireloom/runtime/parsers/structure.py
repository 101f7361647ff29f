"""Structs: fields and the checks between them, in the order of the spec.

A `Struct` is one construct for every encoding. Its `form` opens the container and finds the bytes of a field
(`Sequential` here, `Positional` in msgpack, objects in json, messages in protobuf). Parsing runs the steps in order, so
errors are reported in the order of the spec. Building lays the fields out first, then fills in values that depend on
positions: derived lengths, then checksums, inner ones before those that cover them.
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
    """Fields that follow one another in the stream itself: a source and a sink at once."""

    stream: Any

    def locate(self, field: Field) -> Any:
        """The stream, at its current position."""
        return self.stream

    def place(self, field: Field) -> Any:
        """The stream, at its current position."""
        return self.stream

    def offset(self, stream: Any) -> int:
        """The current position."""
        return int(stream.tell())

    def close(self) -> None:
        """Nothing to do: the stream continues after the struct."""


@dataclass(frozen=True)
class Sequential:
    """Binary: fields follow one another, or are at offsets."""

    def open(self, struct: WireStruct, stream: Any, scope: Container) -> Source:
        """The stream itself."""
        return StreamFields(stream)

    def create(self, struct: WireStruct, stream: Any, scope: Container, fields: Sequence[Field]) -> Sink:
        """The stream itself."""
        return StreamFields(stream)


@dataclass(frozen=True)
class Version:
    """A version of a struct, told by the length of its array or by a condition."""

    name: str
    arity: int | None = None
    when: Expression | None = None


class Struct(construct.Construct):
    """Named fields with checks between them; parses to a dict of the readers' members."""

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
        self._needed = frozenset(needs)  # required members, except those of other versions
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
        by_arity: dict[int, int | None] = {
            version.arity: place for place, version in enumerate(versions) if version.arity is not None
        }
        certain = sum(step.when is None and not step.optional for step in self.fields)
        self._arities = by_arity or dict.fromkeys(range(certain, len(self.fields) + 1))
        self._has_tail = any(step.is_tail for step in self.fields)
        self._counts = tuple(step.name for step in steps if isinstance(step, Counted))
        self._checksums = {step.name: step.checksum for step in self.fields if step.checksum is not None}

    @property
    def arities(self) -> dict[int, int | None]:
        """The lengths that the struct may have as an array, and the index of the version that each tells.

        If no version states a length, there is an element for each field that is present.
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
            _furthest=0,  # the end of what was read at marks of this struct
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
        for name in self._counts:  # a later step may have changed the count
            run.value[name] = scope[name]
        _leave_frame(run)
        return run.value

    # --- building ---

    def accepts(self, value: Mapping[str, Any], context: Container) -> bool:
        """Whether `value` can be of this struct: its constants, value tables and computed fields agree."""
        stated = [(member, given) for title, member in self._telling if (given := value.get(title)) is not None]
        if not all(_is_constant(member, given) for member, given in stated):
            return False
        stated = [each for each in stated if _asks_names(each[0])]
        if not stated:
            return True
        scope = Placement(self, value, None, context, len(self.versions) - 1).facts().scope
        return all(_agrees(member, given, scope) for member, given in stated)

    def takes(self, value: Mapping[str, Any]) -> bool:
        """Whether the struct has a place for each member of `value`, and `value` has all required members."""
        present = {name for name, member in value.items() if member is not None}
        return present <= self._titles and self._always <= present and not self._refuses(value)

    def _refuses(self, value: Mapping[str, Any]) -> bool:
        """Whether the range or the spelling of a member, flattened ones included, refuses its value."""
        return any(
            isinstance(field.subcon, Struct) and field.subcon._refuses(value)
            if field.flatten
            else refuses(field, value.get(field.title or field.name))
            for field in self._held
        )

    @cached_property
    def _held(self) -> Sequence[Field]:
        """The visible fields with a range or a spelling, and the flattened ones."""
        limits = ((field, field.minimum, field.maximum, field.spelling) for field in self.fields)
        return [
            field
            for field, *constraints in limits
            if field.flatten or (any(each is not None for each in constraints) and not field.hidden)
        ]

    @cached_property
    def _always(self) -> frozenset[str]:
        """The members that a value of any version must have."""
        conditional = {step.title or step.name for step in self.fields if step.when is not None}
        return self._needed - conditional

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(self.titles())

    @cached_property
    def _telling(self) -> Sequence[tuple[str, "Field | Bit | Computed"]]:
        """The visible members that cannot have just any value, by their readers' names."""
        return tuple(
            (member.title or member.name, member) for step in self.steps for member in _members(step) if _tells(member)
        )

    @cached_property
    def sources(self) -> Sources:
        """The sources of its names while building."""
        return Sources(self.steps)

    def visible_members(self, value: Mapping[str, Any], context: Container) -> Mapping[str, Any]:
        """The members of `value` as expressions see them."""
        return VisibleMembers(
            Placement(self, value, None, context, self._version_to_build(value, context)).facts().scope
        )

    def titles(self, *, hidden: bool = False) -> Iterator[str]:
        """The readers' names of the members, flattened ones included; with `hidden`, all names, hidden ones too."""
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
        """The version that a parameter names, else the newest one that the members of `value` fit."""
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
        """Whether a version has a place for each member of `value`, and `value` has all that it requires."""
        facts = Placement(self, value, None, context, version).facts()
        seen = [(index, step) for index, step in enumerate(self.steps) if isinstance(step, Field) and not step.hidden]
        present = {step.title or step.name for index, step in seen if facts.is_present(index, step)}
        for index, step in seen:
            is_there, is_given = facts.is_present(index, step), _is_given(step, facts)
            if is_given and not is_there and (step.title or step.name) in present:
                continue  # the member of another version has the same name
            if is_given != is_there and (is_given or self._is_needed(step)):
                return False
        return True

    def _is_needed(self, field: Field) -> bool:
        """Whether a value must have something for a field that is present."""
        if field.flatten:
            return any(_titles(field.subcon, hidden=False))
        return (field.title or field.name) in self._needed

    def _build(self, obj: Any, stream: Any, context: Container, path: Path) -> Any:
        if not isinstance(obj, dict) and not isinstance(obj, Mapping):
            raise EncodeError(f"a record ({self.name})", shown(obj))
        Placement(self, obj, stream, context, self._version_to_build(obj, context)).build()
        return obj


def _enclose(scope: Container, stream: Any) -> None:
    """Check that bytes read at a mark of the struct lie within the struct."""
    if scope._furthest > stream.tell():
        expected = f"the end of the struct at {scope._furthest - stream.origin} or later, after what it points to"
        raise DecodeError("bad_pointer", offset=stream.tell(), expected=expected, actual="its end")


def _leave_frame(run: Run) -> None:
    """Lift the bound that a Frame step set; the bytes up to it must have been used."""
    if run.frame is None:
        return
    position, end = run.stream.tell(), run.stream.limit
    run.stream.limit, run.stream.overrun = run.frame
    if position != end:
        raise DecodeError(
            "bad_region", offset=position, expected="the end of the record", actual=f"{amount(end - position)} more"
        )


def _is_given(step: Field, facts: Facts) -> bool:
    """Whether the value has something for a field."""
    return step.is_given(facts.value) if step.flatten else facts.given(step) is not None


def _members(step: Step) -> Iterator[Field | Bit | Computed]:
    """The members that a step gives to readers."""
    match step:
        case Field():
            yield step
            yield from step.bits
        case Computed():
            yield step
        case _:
            pass


def _tells(member: Field | Bit | Computed) -> bool:
    """Whether a visible member has a constant or a value table, or is computed from others."""
    match member:
        case Field():
            return not member.hidden and (member.mapped is not None or member.const is not MISSING)
        case Bit():
            return not member.hidden and member.mapped is not None and len(member.mapped.entries) == 1
        case Computed():
            return not (member.hidden or member.given) and member.derive is None


def _is_constant(member: Field | Bit | Computed, given: Any) -> bool:
    """Whether a value may be that of a member, as far as its constant or a constant value table decides it."""
    match member:
        case Bit(mapped=Mapped(constants=tuple(words))):
            return any(same(word, given) for word in words)
        case Field(mapped=None):
            return same(given, member.const)
        case _:
            return True


def _asks_names(member: Field | Bit | Computed) -> bool:
    """Whether the possible values of a member depend on names of the struct."""
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
        return True  # the read-back reports it
    except DecodeError:
        return False


def _free(steps: Sequence[Step]) -> Iterator[str]:
    """The readers' names of visible members that are derived from others, or fixed by the format."""
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
    """The readers' names of visible members that are derived from others even if they are given."""
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
    """The readers' name of a visible member; with `hidden`, also of a hidden one, and the name in expressions."""
    if hidden or not member.hidden:
        yield member.title or member.name
    if hidden and member.title:
        yield member.name


def _titles(subcon: Any, *, hidden: bool) -> Iterator[str]:
    if hasattr(subcon, "titles"):
        yield from subcon.titles(hidden=hidden)


__all__ = [  # the names that generated parsers use
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
