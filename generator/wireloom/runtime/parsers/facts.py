"""What expressions see of a struct while it is built.

Theory of operation. Each name of a struct has its sources: the steps that give it a value, in the order of the spec,
which are known from the struct alone (`Sources`). A value is worked out where an expression asks for it, and once: it
is what the caller gave, a constant, a default, or what follows from other names, of this struct, of those around it, or
of those within. So the order of the spec is no matter, nor is how many names stand between two others.

Names may ask for one another in a circle: a flag says whether a field is there, and follows from whether the value has
it. In such a circle a field that readers see is there where the value has it; whatever follows from itself otherwise is
what the value says of it. What depends on such an assumption is forgotten once the circle is settled (`Solver`).

What follows from places (`size`, marks, `here`) is pending until the struct is laid out: an expression that reaches it
raises PositionPendingError. Whether a field is there of which places decide is decided by the value, too; whoever lays
the struct out holds that against the places (`placement`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard

from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parsers.fields import Bit, Field, Step
from wireloom.runtime.parsers.protocol import MISSING, Scope, derives_anew, evaluate, guess, holds
from wireloom.runtime.parsers.steps import Computed, Counted
from wireloom.runtime.values import Value

PENDING = object()
_DEEP = 24  # names that ask for one another before the last of them is worked out first
NamedStep = Field | Computed | Counted
"""A step that gives names their values."""
Key = str | int
"""A name; or the place of a step in the list, of which it is asked whether it is there."""


class CircleError(Exception):
    """While building: what is asked for is being worked out."""


class _DeepError(Exception):
    """While building: what is asked for has to be worked out first, since too much waits for it."""

    def __init__(self, asked: "tuple[Facts, Key]") -> None:
        super().__init__()
        self.asked = asked


@dataclass(slots=True)
class Solver:
    """Works out what is asked for, of all structs of a record, whatever asks for whatever else."""

    active: "set[tuple[Facts, Key]]" = field(default_factory=set)
    assumed: "dict[tuple[Facts, Key], Any]" = field(default_factory=dict)  # until what was asked for first is known
    is_assumed: bool = False  # whether what is being worked out depends on an assumption
    deepest: int = _DEEP

    def solved(self, facts: "Facts", key: Key) -> Any:
        """The value of a name, or whether a step is there; raises PositionPendingError where places decide it."""
        if self.active:
            return self._solved((facts, key))
        try:
            value = self._first_of([(facts, key)])
        finally:
            if self.assumed:
                self.assumed.clear()
            self.is_assumed, self.deepest = False, _DEEP
        facts.keep(key, value)
        return value

    def _first_of(self, waiting: "list[tuple[Facts, Key]]") -> Any:
        """The value of the first of what waits, once what it waits for is known."""
        while True:
            try:
                value = self._solved(waiting[-1])
            except _DeepError as deep:
                if deep.asked in waiting:  # a circle that is longer than this
                    self.deepest *= 2
                    del waiting[1:]
                else:
                    waiting.append(deep.asked)
                continue
            except PositionPendingError:
                if len(waiting) == 1:
                    raise
                value = PENDING
            waiting.pop()
            if not waiting:
                return value

    def _solved(self, asked: "tuple[Facts, Key]") -> Any:
        facts, key = asked
        known = self.assumed.get(asked, MISSING)
        if known is PENDING:
            raise PositionPendingError
        if known is not MISSING:
            self.is_assumed = True
            return known
        if asked in self.active:
            raise CircleError(asked)
        if len(self.active) >= self.deepest:
            raise _DeepError(asked)
        around, self.is_assumed = self.is_assumed, False
        self.active.add(asked)
        try:
            value = self._worked_out(asked)
        except PositionPendingError:
            self.assumed[asked] = PENDING
            raise
        else:
            if self.is_assumed:
                self.assumed[asked] = value
            else:
                facts.keep(key, value)
            return value
        finally:
            self.active.discard(asked)
            self.is_assumed = self.is_assumed or around

    def _worked_out(self, asked: "tuple[Facts, Key]") -> Any:
        facts, key = asked
        try:
            return facts.work_out(key)
        except CircleError as circle:
            if circle.args[0] != asked:
                raise
            self.is_assumed = False
            return facts.from_value(key)


def solver_of(scope: Container) -> Solver:
    """What works out the names of the record that is being built."""
    found: Solver | None = scope._params.get("_solver")
    if found is None:
        found = scope._params["_solver"] = Solver()
    return found


class BuildingScope(Scope):
    """The names of a struct that is being built, each worked out where it is asked for."""

    def __missing__(self, name: str) -> Any:
        """The value; raises PositionPendingError where it is not settled yet."""
        if name.startswith("__"):
            raise KeyError(name)
        facts: Facts = self["_facts"]
        return facts.solver.solved(facts, name) if name in facts.sources.of else None


class VisibleMembers(Mapping[str, Any]):
    """What expressions see of the members of a record within."""

    def __init__(self, scope: BuildingScope) -> None:
        self.scope = scope

    def __getitem__(self, name: str) -> Any:
        """The value; raises PositionPendingError where it is not settled yet."""
        if name not in self:
            raise KeyError(name)
        return self.scope[name]

    def __contains__(self, name: object) -> bool:
        """Whether the record has such a member."""
        return name in self.scope["_facts"].sources.of

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self.scope["_facts"].sources.of)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.scope["_facts"].sources.of)


class Inner(Value):
    """The value of a field that is a record, whose members are worked out where an expression asks for them."""

    hidden: Mapping[str, Any]  # type: ignore[assignment]

    def __init__(
        self, given: Mapping[str, Any], subcon: Any, context: Container, hidden: Mapping[str, Any] | None = None
    ) -> None:
        dict.__init__(self, given)
        self._given, self._subcon, self._context = given, subcon, context
        if hidden is not None:
            self.hidden = hidden

    def __getattr__(self, name: str) -> Any:
        """The members, also those that readers do not see."""
        if name != "hidden":
            raise AttributeError(name)
        found = visible_members(self._subcon, self._given, self._context)
        if found and not solver_of(self._context).is_assumed:
            self.hidden = found
        return found


def assume(scope: Container) -> None:
    """What is worked out depends on an assumption, which the end of a circle may not bear out."""
    solver_of(scope).is_assumed = True


def visible_members(subcon: Any, value: Any, context: Container) -> Mapping[str, Any]:
    """What expressions see of the members of `value`, by their names on the wire."""
    if not isinstance(value, Mapping) or not hasattr(subcon, "visible_members"):
        return {}
    try:
        found: Mapping[str, Any] = subcon.visible_members(value, context)
    except (EncodeError, PositionPendingError):
        return {}
    return found


def _has_members(step: NamedStep) -> TypeGuard[Field]:
    """Whether a field is flattened, and its record knows what members it lends."""
    return isinstance(step, Field) and step.flatten and hasattr(step.subcon, "titles")


def _titles(step: NamedStep, *, hidden: bool) -> Iterator[str]:
    """What readers call the members that a flattened field lends; the names of `hidden` ones among them."""
    if _has_members(step):
        yield from step.subcon.titles(hidden=hidden)


class StructToBuild(Protocol):
    """What the facts of a struct are made from."""

    steps: Sequence[Step]

    @property
    def sources(self) -> "Sources":
        """Where its names have their values from."""


class Sources:
    """Where the names of a struct have their values from: the steps that give them one, in the order of the spec."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(
            (index, step) for index, step in enumerate(steps) if isinstance(step, Field | Computed | Counted)
        )
        self.visible_members = {
            index: frozenset(_titles(step, hidden=True)) for index, step in self.steps if _has_members(step)
        }
        self.of: dict[str, list[tuple[int, NamedStep, Bit | None]]] = {}
        for index, step in self.steps:
            for name in {step.name, *self.visible_members.get(index, ())}:
                self.of.setdefault(name, []).append((index, step, None))
            for bit in step.bits if isinstance(step, Field) else ():
                self.of.setdefault(bit.name, []).append((index, step, bit))


@dataclass(frozen=True, slots=True)
class _Reached:
    """A place that has been reached, as expressions ask for it."""

    place: int

    def tell(self) -> int:
        """The place."""
        return self.place


class Facts:
    """The names of one struct being built, and which of its steps are there."""

    def __init__(
        self,
        struct: StructToBuild,
        value: Mapping[str, Any],
        scope: BuildingScope,
        assumed: Mapping[str, Any],
        decided: dict[int, bool],
    ) -> None:
        """`assumed` is what late names came to in the pass before, `decided` whether steps are there by the value."""
        self.value, self.scope, self.assumed, self.decided = value, scope, assumed, decided
        self.sources = struct.sources
        self._struct = struct
        self.solver = solver_of(scope)
        self.places: dict[int, int] = {}  # of steps that have been reached
        self.late: set[str] = set()  # names that were asked for before places said them
        self.holds_places = False  # whether what is decided is held against the places
        self.is_first = True  # whether nothing is known of the places yet
        self._there: dict[int, bool] = {}
        self._visible_members: dict[int, Mapping[str, Any]] = {}

    def reach(self, index: int, place: int) -> None:
        """Note where a step stands."""
        self.places[index] = place

    def settle_places(self) -> None:
        """Work out anew what was worked out of what the pass before came to."""
        if not self.is_first or self.decided or self.late:
            for name in self.sources.of:
                self.scope.pop(name, None)
            self._there.clear()
        self.is_first, self.assumed = False, {}

    def keep(self, key: Key, value: Any) -> None:
        """What a name is, or whether a step is there, which nothing changes from here on."""
        if isinstance(key, str):
            self.scope[key] = value
        elif key not in self.decided:
            self._there[key] = value

    def is_present(self, index: int, step: Step) -> bool:
        """Whether the step's condition holds; where places decide that, whether there is something to write."""
        if not isinstance(step, Field | Computed) or step.when is None:
            return True
        known = self._there.get(index)
        found: bool = self.solver.solved(self, index) if known is None else known
        return found

    # --- asked by the solver ---

    def work_out(self, key: Key) -> Any:
        """What a name is, or whether a step is there."""
        if isinstance(key, int):
            return self._holds(key)
        try:
            for index, step, bit in reversed(self.sources.of[key]):
                value = self._of(key, index, step, bit)
                if value is not None:
                    return value
        except PositionPendingError:
            self.late.add(key)
            if key in self.assumed and self.assumed[key] is not PENDING:
                self.solver.is_assumed = True
                return self.assumed[key]
            raise
        return None

    def from_value(self, key: Key) -> Any:
        """What the value alone says of what follows from itself."""
        if isinstance(key, int):
            return self._is_wanted(self._step(key))
        for _, step, bit in reversed(self.sources.of[key]):
            value = self.value.get(key) if _has_members(step) else self.given(bit or step)
            if value is not None:
                return value
        return None

    def _step(self, index: int) -> Any:
        return self._struct.steps[index]

    def _holds(self, index: int) -> bool:
        if index in self.decided:
            self.solver.is_assumed = True
            return self.decided[index]
        step = self._step(index)
        try:
            return self.holds_at(index)
        except PositionPendingError:
            if isinstance(step, Computed) and not step.given:
                raise
            self.solver.is_assumed = True
            return self.decide(index, step)

    def decide(self, index: int, step: Field | Computed) -> bool:
        """Whether a step is there of which places decide: where there is something to write."""
        found = self._is_wanted(step) and not self._is_decided_before(index, step)
        self.decided[index] = found
        if not self.holds_places:
            guess(self.scope["_"])
        return found

    def holds_at(self, index: int) -> bool:
        """Whether the condition of a step holds at its place; `here` is pending where that has not been reached."""
        scope, around = self.scope, self.scope["_io"]
        scope["_io"] = _Reached(self.places[index]) if index in self.places else None
        try:
            return holds(self._step(index).when, scope)
        finally:
            scope["_io"] = around

    def _is_decided_before(self, index: int, step: Field | Computed) -> bool:
        """Whether a field before has what readers call the same; of such fields one is there at a time."""
        title = step.title or step.name
        return bool(step.title) and any(
            isinstance(other, Field | Computed)
            and (other.title or other.name) == title
            and self.is_present(before, other)
            for before, other in self.sources.steps
            if before < index
        )

    def _is_wanted(self, step: Field | Computed) -> bool:
        """Whether there is something to write."""
        if isinstance(step, Computed):
            return not step.given or self.given(step) is not None
        if step.flatten:
            return any(self.value.get(name) is not None for name in _titles(step, hidden=False))
        if step.derive is None or self.given(step) is not None:
            return self.given(step) is not None
        try:
            return evaluate(step.derive, self.scope) not in (None, 0, False)
        except PositionPendingError:
            return False

    # --- values ---

    def given(self, step: NamedStep | Bit) -> Any:
        """What the caller gave for a step."""
        if isinstance(step, Field):
            return step.given_in(self.value)
        return self.value.get(getattr(step, "title", "") or step.name)

    def _of(self, name: str, index: int, step: NamedStep, bit: Bit | None) -> Any:
        """What a step gives a name; null where it is not there."""
        if not self._seems_there(index, step):
            return None
        if index in self.sources.visible_members and name in self.sources.visible_members[index] and _has_members(step):
            member = self._member(name, step)
            if member is not None or name != step.name:
                return member
        scope, around = self.scope, self.scope["_io"]
        scope["_io"] = _Reached(self.places[index]) if index in self.places else None
        try:
            return self._value(step) if bit is None else self._bit(step, bit)
        finally:
            scope["_io"] = around

    def _seems_there(self, index: int, step: NamedStep) -> bool:
        """Whether a step is there; where that follows from what it is, whether the value has it."""
        if isinstance(step, Counted) or step.when is None:
            return True
        if isinstance(step, Field) and step.circular:
            return not self._is_left_out(step)
        try:
            found = self.is_present(index, step)
        except CircleError:
            if not (step.given if isinstance(step, Computed) else _is_seen(step)):
                raise
            self.solver.is_assumed = True
            return isinstance(step, Computed) or not self._is_left_out(step)
        follows = step.hidden or step.derive is not None
        if not found and follows and self.is_first and index in self.decided:
            raise PositionPendingError  # places may come to what makes it be there
        return found

    def _is_left_out(self, step: Field) -> bool:
        """Whether the value has nothing of what stands under a condition, which may look at just that."""
        if step.flatten:
            return not step.is_given(self.value)
        members: tuple[Field | Bit, ...] = (step, *(bit for bit in step.bits if not bit.hidden))
        return all(self.given(each) is None for each in members)

    def _value(self, step: NamedStep) -> Any:
        match step:
            case Counted():
                return self.given(step) or 0
            case Computed():
                return self._computed(step)
            case Field(flatten=True, optional=True) if _has_members(step):
                return self.value if step.is_given(self.value) else None
            case Field(flatten=True):
                return self.value
            case Field():
                return self._integer(step) if step.bits else self._field(step)

    def _computed(self, step: Computed) -> Any:
        value = self.given(step) if step.given or self._value_decides(step) else evaluate(step.built, self.scope)
        try:
            return step.held(value, 0)
        except DecodeError:
            return value  # reading back says so

    def _value_decides(self, step: Computed) -> bool:
        """Whether the value says what builders would derive, and that counts."""
        has_say = step.derive is not None and not step.hidden and not derives_anew(self.scope)
        return has_say and self.given(step) is not None

    def _member(self, name: str, step: Field) -> Any:
        """A member of a record that melts in."""
        members = self._visible_members.get(id(step))
        if members is None:
            members = visible_members(step.subcon, self.value, self.scope)
            if members and not self.solver.is_assumed:
                self._visible_members[id(step)] = members
        if name not in members:
            return self.value.get(name)
        if step.optional and not step.is_given(self.value):
            return None  # it is left out, and what is computed within it
        return members[name]

    def settle(self, step: Field, found: BuildingScope) -> None:
        """Take over what the members of a record come to where it is written."""
        self._visible_members[id(step)] = VisibleMembers(found)
        if isinstance(inner := self.scope.get(step.name), Inner):
            inner.hidden = VisibleMembers(found)

    def _field(self, step: Field) -> Any:
        given = step.on_wire(self.given(step))
        if step.const is not MISSING:
            return None if step.optional and given is None and not step.hidden else step.const
        if step.checksum is not None:
            if given is None or derives_anew(self.scope):
                raise PositionPendingError
            return given
        if step.derive is not None and step.stated(self.value, self.scope) is None:
            return evaluate(step.derive, self.scope)
        has_default = step.optional and step.default is not MISSING
        if given is None and has_default and not step.null_has_a_wire_form(self.scope):
            return step.default_meant(self.scope)
        if (
            not isinstance(given, int | str | bytes | list)
            and isinstance(given, Mapping)
            and hasattr(step.subcon, "visible_members")
        ):
            return Inner(given, step.subcon, self.scope, self._visible_members.get(id(step)))
        return getattr(step.subcon, "of_null", None) if given is None and not step.optional else given

    def _integer(self, step: Field) -> Any:
        """The integer that bits make; what the value has where they make none: writing says why."""
        try:
            return step.packed(self._derived(step), self.scope)
        except EncodeError:
            return self._field(step)

    def _derived(self, step: Field) -> Any:
        is_stated = step.stated(self.value, self.scope) is not None
        return None if step.derive is None or is_stated else evaluate(step.derive, self.scope)

    def _bit(self, step: NamedStep, bit: Bit) -> Any:
        """What some bits of an integer are, whatever the others are."""
        assert isinstance(step, Field)
        try:
            return bit.read(step.packed(self._derived(step), self.scope, only=bit), self.scope, 0)
        except (EncodeError, DecodeError):
            return self.given(bit)


def _is_seen(step: Field) -> bool:
    """Whether readers see of a field whether it is there."""
    return not step.hidden or any(not bit.hidden for bit in step.bits)
