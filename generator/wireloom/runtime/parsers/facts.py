"""The values that expressions see while a struct is built.

Theory of operation. Each name of a struct has sources: the steps that can give it a value, in the order of the spec
(`Sources`). A value is computed when an expression asks for it, and only once. It is what the caller gave, a constant,
a default, or computed from other names of this struct, an enclosing one or an inner one. So neither the order of the
spec nor the length of a chain of names matters.

Names may depend on each other in a circle: a flag tells whether a field is present, and is derived from whether the
value has the field. In a circle, a visible field is present if the value has it; any other name gets what the caller
gave for it. Results that rest on such an assumption are dropped once the circle is resolved (`Solver`).

Values that depend on positions (`size`, marks, `here`) are pending until the struct is laid out: an expression that
uses one raises PositionPendingError. If the presence of a field depends on positions, the value decides it at first,
and `placement` later compares that with the positions.
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
_DEEP = 24  # nested requests for names, after which the innermost is computed first
NamedStep = Field | Computed | Counted
"""A step that gives values to names."""
Key = str | int
"""What can be asked for: the value of a name, or whether the step with an index is present."""


class CircleError(Exception):
    """While building: the requested name is already being computed."""


class _DeepError(Exception):
    """While building: too many requests are nested, so this one must be computed first."""

    def __init__(self, asked: "tuple[Facts, Key]") -> None:
        super().__init__()
        self.asked = asked


@dataclass(slots=True)
class Solver:
    """Computes the requested names of all structs of a record, whatever depends on whatever else."""

    active: "set[tuple[Facts, Key]]" = field(default_factory=set)
    assumed: "dict[tuple[Facts, Key], Any]" = field(default_factory=dict)  # results until the first request is answered
    is_assumed: bool = False  # whether the current result rests on an assumption
    deepest: int = _DEEP

    def solved(self, facts: "Facts", key: Key) -> Any:
        """The value of a name, or whether a step is present; raises PositionPendingError if positions decide it."""
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
        """The value of the first request in `waiting`, after the requests that it waits for."""
        while True:
            try:
                value = self._solved(waiting[-1])
            except _DeepError as deep:
                if deep.asked in waiting:  # a circle longer than the current depth
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
        outer_assumed, self.is_assumed = self.is_assumed, False
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
            self.is_assumed = self.is_assumed or outer_assumed

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
    """The solver of the record that is being built."""
    found: Solver | None = scope._params.get("_solver")
    if found is None:
        found = scope._params["_solver"] = Solver()
    return found


class BuildingScope(Scope):
    """The names of a struct that is being built, each computed when it is asked for."""

    def __missing__(self, name: str) -> Any:
        """The value; raises PositionPendingError if it is not known yet."""
        if name.startswith("__"):
            raise KeyError(name)
        facts: Facts = self["_facts"]
        return facts.solver.solved(facts, name) if name in facts.sources.of else None


class VisibleMembers(Mapping[str, Any]):
    """The members of an inner record as expressions see them."""

    def __init__(self, scope: BuildingScope) -> None:
        self.scope = scope

    def __getitem__(self, name: str) -> Any:
        """The value; raises PositionPendingError if it is not known yet."""
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
        """The number of names."""
        return len(self.scope["_facts"].sources.of)


class Inner(Value):
    """The value of a record field; its members are computed when an expression asks for them."""

    hidden: Mapping[str, Any]  # type: ignore[assignment]

    def __init__(
        self, given: Mapping[str, Any], subcon: Any, context: Container, hidden: Mapping[str, Any] | None = None
    ) -> None:
        dict.__init__(self, given)
        self._given, self._subcon, self._context = given, subcon, context
        if hidden is not None:
            self.hidden = hidden

    def __getattr__(self, name: str) -> Any:
        """The members, including hidden ones."""
        if name != "hidden":
            raise AttributeError(name)
        found = visible_members(self._subcon, self._given, self._context)
        if found and not solver_of(self._context).is_assumed:
            self.hidden = found
        return found


def assume(scope: Container) -> None:
    """Mark the current result as resting on an assumption, which the end of a circle may disprove."""
    solver_of(scope).is_assumed = True


def visible_members(subcon: Any, value: Any, context: Container) -> Mapping[str, Any]:
    """The members of `value` as expressions see them, by their wire names."""
    if not isinstance(value, Mapping) or not hasattr(subcon, "visible_members"):
        return {}
    try:
        found: Mapping[str, Any] = subcon.visible_members(value, context)
    except (EncodeError, PositionPendingError):
        return {}
    return found


def _has_members(step: NamedStep) -> TypeGuard[Field]:
    """Whether a field is flattened, and its record can list its members."""
    return isinstance(step, Field) and step.flatten and hasattr(step.subcon, "titles")


def _titles(step: NamedStep, *, hidden: bool) -> Iterator[str]:
    """The readers' names of the members of a flattened field; with `hidden`, also those of hidden members."""
    if _has_members(step):
        yield from step.subcon.titles(hidden=hidden)


class StructToBuild(Protocol):
    """The parts of a struct that `Facts` need."""

    steps: Sequence[Step]

    @property
    def sources(self) -> "Sources":
        """The sources of its names."""


class Sources:
    """The sources of a struct's names: the steps that can give each a value, in the order of the spec."""

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
    """A position that building has reached, in place of the stream, for expressions that ask for `here`."""

    place: int

    def tell(self) -> int:
        """The position."""
        return self.place


class Facts:
    """The names of one struct that is being built, and which of its steps are present."""

    def __init__(
        self,
        struct: StructToBuild,
        value: Mapping[str, Any],
        scope: BuildingScope,
        assumed: Mapping[str, Any],
        decided: dict[int, bool],
    ) -> None:
        """`assumed` has the late names from the pass before, `decided` the steps whose presence the value decided."""
        self.value, self.scope, self.assumed, self.decided = value, scope, assumed, decided
        self.sources = struct.sources
        self._struct = struct
        self.solver = solver_of(scope)
        self.places: dict[int, int] = {}  # the offsets of steps that were reached
        self.late: set[str] = set()  # names that were asked for before positions were known
        self.holds_places = False  # whether `decided` is compared with the positions later
        self.is_first = True  # whether no positions are known yet
        self._there: dict[int, bool] = {}
        self._visible_members: dict[int, Mapping[str, Any]] = {}

    def reach(self, index: int, place: int) -> None:
        """Note the offset of a step."""
        self.places[index] = place

    def settle_places(self) -> None:
        """Drop all results that rest on the pass before, so that they are computed again."""
        if not self.is_first or self.decided or self.late:
            for name in self.sources.of:
                self.scope.pop(name, None)
            self._there.clear()
        self.is_first, self.assumed = False, {}

    def keep(self, key: Key, value: Any) -> None:
        """Store a final result: the value of a name, or whether a step is present."""
        if isinstance(key, str):
            self.scope[key] = value
        elif key not in self.decided:
            self._there[key] = value

    def is_present(self, index: int, step: Step) -> bool:
        """Whether the step's condition holds; if positions decide it, whether there is something to write."""
        if not isinstance(step, Field | Computed) or step.when is None:
            return True
        known = self._there.get(index)
        found: bool = self.solver.solved(self, index) if known is None else known
        return found

    # --- asked by the solver ---

    def work_out(self, key: Key) -> Any:
        """Compute the value of a name, or whether a step is present."""
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
        """The result according to the value alone, for a name that depends on itself."""
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
        """Decide by the value whether a step is present, as positions are not known yet."""
        found = self._is_wanted(step) and not self._is_decided_before(index, step)
        self.decided[index] = found
        if not self.holds_places:
            guess(self.scope["_"])
        return found

    def holds_at(self, index: int) -> bool:
        """Whether the condition of a step holds at its position; `here` is pending if that is not known."""
        scope, stream = self.scope, self.scope["_io"]
        scope["_io"] = _Reached(self.places[index]) if index in self.places else None
        try:
            return holds(self._step(index).when, scope)
        finally:
            scope["_io"] = stream

    def _is_decided_before(self, index: int, step: Field | Computed) -> bool:
        """Whether an earlier field with the same readers' name is present; only one of them may be."""
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
        """The caller's value for a step."""
        if isinstance(step, Field):
            return step.given_in(self.value)
        return self.value.get(getattr(step, "title", "") or step.name)

    def _of(self, name: str, index: int, step: NamedStep, bit: Bit | None) -> Any:
        """The value that a step gives to a name; None if the step is absent."""
        if not self._seems_there(index, step):
            return None
        if index in self.sources.visible_members and name in self.sources.visible_members[index] and _has_members(step):
            member = self._member(name, step)
            if member is not None or name != step.name:
                return member
        scope, stream = self.scope, self.scope["_io"]
        scope["_io"] = _Reached(self.places[index]) if index in self.places else None
        try:
            return self._value(step) if bit is None else self._bit(step, bit)
        finally:
            scope["_io"] = stream

    def _seems_there(self, index: int, step: NamedStep) -> bool:
        """Whether a step is present; if its condition depends on the step itself, whether the value has it."""
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
            raise PositionPendingError  # the final positions may make it present
        return found

    def _is_left_out(self, step: Field) -> bool:
        """Whether the value has nothing for a conditional field; the condition may depend on that alone."""
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
            return value  # the read-back reports it

    def _value_decides(self, step: Computed) -> bool:
        """Whether the given value of a derived member is used instead of deriving it."""
        has_say = step.derive is not None and not step.hidden and not derives_anew(self.scope)
        return has_say and self.given(step) is not None

    def _member(self, name: str, step: Field) -> Any:
        """A member of a flattened record."""
        members = self._visible_members.get(id(step))
        if members is None:
            members = visible_members(step.subcon, self.value, self.scope)
            if members and not self.solver.is_assumed:
                self._visible_members[id(step)] = members
        if name not in members:
            return self.value.get(name)
        if step.optional and not step.is_given(self.value):
            return None  # the record is left out, with its computed members
        return members[name]

    def settle(self, step: Field, found: BuildingScope) -> None:
        """Take over the final members of an inner record, as it is written."""
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
        """The integer made of its bits; if they do not fit, the given value, as writing reports the error."""
        try:
            return step.packed(self._derived(step), self.scope)
        except EncodeError:
            return self._field(step)

    def _derived(self, step: Field) -> Any:
        is_stated = step.stated(self.value, self.scope) is not None
        return None if step.derive is None or is_stated else evaluate(step.derive, self.scope)

    def _bit(self, step: NamedStep, bit: Bit) -> Any:
        """The value of one bit range, whatever the other bits are."""
        assert isinstance(step, Field)
        try:
            return bit.read(step.packed(self._derived(step), self.scope, only=bit), self.scope, 0)
        except (EncodeError, DecodeError):
            return self.given(bit)


def _is_seen(step: Field) -> bool:
    """Whether readers can tell if a field is present."""
    return not step.hidden or any(not bit.hidden for bit in step.bits)
