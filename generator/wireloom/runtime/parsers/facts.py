"""What expressions see of a struct while it is built, before its bytes are there.

What the caller gave stands in the scope, then what is derived and computed from it, and null for what is absent because
its condition does not hold; since each may follow from the others, this is repeated until nothing changes. What follows
from places (`size`, marks, `here`) is pending: an expression that reaches it raises PositionPendingError, and whoever
has to go on without it makes a guess, which a further pass over the fields puts right.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, TypeGuard

from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parsers.fields import Bit, Field
from wireloom.runtime.parsers.protocol import MISSING, Scope, Step, derives_anew, evaluate, guess, holds
from wireloom.runtime.parsers.steps import Computed, Counted
from wireloom.runtime.values import Value

PENDING = object()
_SWEEPS = 16


class BuildingScope(Scope):
    """The names of a struct that is being built."""

    def __getitem__(self, name: str) -> Any:
        """The value; raises PositionPendingError where it is not settled yet."""
        found = super().__getitem__(name)
        if found is PENDING:
            raise PositionPendingError
        return found


class Lent(dict[str, Any]):
    """What expressions see of the members of a record within."""

    def __getitem__(self, name: str) -> Any:
        """The value; raises PositionPendingError where it is not settled yet."""
        found = super().__getitem__(name)
        if found is PENDING:
            raise PositionPendingError
        return found


class Inner(Value):
    """The value of a field that is a record, whose hidden members are worked out where an expression asks for them."""

    def __init__(self, given: Mapping[str, Any], subcon: Any, context: Container) -> None:
        dict.__init__(self, given)
        self._given, self._subcon, self._context = given, subcon, context

    def __getattr__(self, name: str) -> Any:
        """The hidden members."""
        if name != "hidden":
            raise AttributeError(name)
        self.hidden = Lent(lent(self._subcon, self._given, self._context))
        return self.hidden

    def settle(self, scope: Mapping[str, Any]) -> None:
        """Take over what the members came to, once the record is laid out."""
        self.hidden = Lent(scope)


def lent(subcon: Any, value: Any, context: Container) -> dict[str, Any]:
    """What expressions see of the members of `value`, by their names on the wire."""
    if not isinstance(value, Mapping) or not hasattr(subcon, "lent"):
        return {}
    try:
        found: dict[str, Any] = subcon.lent(value, context)
    except (EncodeError, PositionPendingError):
        return {}
    return found


def _lends(step: Field | Computed | Counted) -> TypeGuard[Field]:
    """Whether a field is flattened, and its record knows what members it lends."""
    return isinstance(step, Field) and step.flatten and hasattr(step.subcon, "titles")


def _titles(step: Field | Computed | Counted, *, hidden: bool) -> Iterator[str]:
    """What readers call the members that a flattened field lends; the names of `hidden` ones among them."""
    if _lends(step):
        yield from step.subcon.titles(hidden=hidden)


class StructToBuild(Protocol):
    """What the facts of a struct are made from."""

    steps: Sequence[Step]


class Facts:
    """The scope of one struct being built, and which of its steps are there."""

    def __init__(
        self,
        struct: StructToBuild,
        value: Mapping[str, Any],
        scope: BuildingScope,
        assumed: Mapping[str, Any],
        present: Sequence[bool],
    ) -> None:
        self.value, self.scope, self.assumed = value, scope, assumed
        self.steps = [
            (index, step) for index, step in enumerate(struct.steps) if isinstance(step, Field | Computed | Counted)
        ]
        self.guessed_present = present
        self.present = [True] * len(struct.steps)
        self.late: dict[str, Any] = {}  # names that were pending at first
        self._in_doubt: set[int] = set()  # steps of which a guess says whether they are there
        self._changed = False

    def settle(self) -> None:
        """Sweep over the steps until nothing changes."""
        for _, step in self.steps:
            self._set(step.name, self._first(step))
            for name in _titles(step, hidden=True):
                self._set(name, self.value.get(name))
        for _, step in self.steps:
            if isinstance(step, Field) and (step.flatten or self._may_be_absent(step)):
                continue
            self._derive(step)
        for _ in range(_SWEEPS):
            self._changed = False
            self._sweep()
            if not self._changed:
                return

    def _sweep(self) -> None:
        there: set[str] = set()
        self._in_doubt.clear()
        for index, step in self.steps:
            self.present[index] = not isinstance(step, Field | Computed) or self.is_present(index, step)
            if isinstance(step, Computed) and index in self._in_doubt:
                self._set(step.name, self.given(step) if step.given else PENDING)
            elif self.present[index]:
                there.add(step.name)
                self._derive(step)
                there.update(self._flattened(step, there))
            elif step.name not in there:
                absent = PENDING if index in self._in_doubt else None
                self._set(step.name, absent)
                for bit in step.bits if isinstance(step, Field) else ():
                    self._set(bit.name, absent)

    def is_present(self, index: int, step: Field | Computed) -> bool:
        """Whether the step's condition holds; a guess where that is not settled."""
        try:
            return holds(step.when, self.scope)
        except PositionPendingError:
            guess(self.scope)
            if self.guessed_present:
                return self.guessed_present[index]
            self._in_doubt.add(index)
            return self._is_wanted(step) and not self._is_said_before(index, step)

    def _is_said_before(self, index: int, step: Field | Computed) -> bool:
        """Whether a field before has what readers call the same; of such fields one is there at a time."""
        title = step.title or step.name
        return bool(step.title) and any(
            self.present[before] and isinstance(other, Field | Computed) and (other.title or other.name) == title
            for before, other in self.steps
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
        return self._known(step.derive) not in (None, 0, False, PENDING)

    # --- values ---

    def given(self, step: Field | Bit | Computed | Counted) -> Any:
        """What the caller gave for a step."""
        if isinstance(step, Field):
            return step.given_in(self.value, self.scope)
        return self.value.get(getattr(step, "title", "") or step.name)

    def _may_be_absent(self, step: Field) -> bool:
        """Whether the value has nothing of what stands under a condition, which may look at just that."""
        members: tuple[Field | Bit, ...] = (step, *(bit for bit in step.bits if not bit.hidden))
        is_seen = not step.hidden or len(members) > 1
        return step.when is not None and is_seen and all(self.given(each) is None for each in members)

    def _first(self, step: Field | Computed | Counted) -> Any:
        """What is known of a step before anything is worked out: a flattened record is there where a member is."""
        return self._melted(step) if _lends(step) else self.given(step)

    def _melted(self, step: Field) -> Mapping[str, Any] | None:
        """A flattened record, where a member of it is given."""
        return self.value if step.is_given(self.value) else None

    def _derive(self, step: Field | Computed | Counted) -> None:
        match step:
            case Counted():
                self._set(step.name, self.given(step) or 0)
            case Computed():
                self._set(step.name, self._computed(step))
            case Field(flatten=True, optional=True) if _lends(step):
                self._set(step.name, self._melted(step))
            case Field(flatten=True):
                self._set(step.name, self.value)
            case Field():
                if not self._bits(step):
                    self._set(step.name, self._field(step))

    def _computed(self, step: Computed) -> Any:
        is_given = step.given or self._is_said(step)
        value = self.given(step) if is_given else self._pending(step.name, self._known(step.built))
        try:
            return value if value is PENDING else step.held(value, 0)
        except DecodeError:
            return value  # reading back says so

    def _is_said(self, step: Computed) -> bool:
        """Whether the value says what builders would derive, and that comes first."""
        has_say = step.derive is not None and not step.hidden and not derives_anew(self.scope)
        return has_say and self.given(step) is not None

    def _flattened(self, step: Field | Computed | Counted, there: AbstractSet[str]) -> set[str]:
        """The names that a flattened struct gives a value."""
        if not (isinstance(step, Field) and step.flatten):
            return set()
        found = lent(step.subcon, self.value, self.scope)
        if step.optional and not step.is_given(self.value):
            found = dict.fromkeys(found)  # it is left out, and what is computed within it
        for name, value in found.items():
            if value is not None or name not in there:
                self._set(name, value)
        return {name for name, value in found.items() if value is not None}

    def _field(self, step: Field) -> Any:
        given = step.on_wire(self.given(step))
        if step.const is not MISSING:
            return None if step.optional and given is None and not step.hidden else step.const
        if step.checksum is not None:
            return self._pending(step.name, PENDING if given is None or derives_anew(self.scope) else given)
        if step.is_derived_for(self.scope) and step.stated(self.value, self.scope) is None:
            return self._pending(step.name, self._known(step.derive))
        has_default = step.optional and step.default is not MISSING
        if given is None and has_default and not step.null_has_a_wire_form(self.scope):
            return step.default_meant(self.scope)
        if isinstance(given, Mapping) and hasattr(step.subcon, "lent"):
            return Inner(given, step.subcon, self.scope)
        return getattr(step.subcon, "of_null", None) if given is None and not step.optional else given

    def _bits(self, step: Field) -> bool:
        """Set the integer that the bits make, and what each of them then is; false where they make none."""
        if not step.bits:
            return False
        try:
            derived = step.is_derived_for(self.scope) and step.stated(self.value, self.scope) is None
            raw = step.packed(evaluate(step.derive, self.scope) if derived else None, self.scope)  # type: ignore[arg-type]
        except PositionPendingError:
            self._set(step.name, self._pending(step.name, PENDING))
            for bit in step.bits:
                known = self.given(bit) if bit.derive is None else self._known(bit.derive)
                self._set(bit.name, self._pending(bit.name, known))
            return True
        except EncodeError:  # what is derived may be another value once those bits are known that it follows from
            self._independent_bits(step)
            return False  # else writing says so
        self._set(step.name, raw)
        for bit in step.bits:
            self._set_bit(bit, raw)
        return True

    def _independent_bits(self, step: Field) -> None:
        """Set what those bits are that follow from nothing, where the others make no integer yet."""
        try:
            raw = step.packed(None, self.scope, derived=False)
        except (EncodeError, PositionPendingError):
            return
        for bit in step.bits:
            if bit.derive is None:
                self._set_bit(bit, raw)

    def _set_bit(self, bit: Bit, raw: int) -> None:
        try:
            self._set(bit.name, bit.read(raw, self.scope, 0))
        except DecodeError:
            self._set(bit.name, self.given(bit))

    def _known(self, expression: Any) -> Any:
        try:
            return evaluate(expression, self.scope)
        except PositionPendingError:
            return PENDING

    def _pending(self, name: str, value: Any) -> Any:
        """The value; where it is pending, what was assumed of it."""
        if value is not PENDING:
            return value
        self.late[name] = PENDING
        return self.assumed.get(name, PENDING)

    def _set(self, name: str, value: Any) -> None:
        old = self.scope.get(name, MISSING)
        if old is value or (isinstance(value, Inner) and isinstance(old, Inner)):
            return
        if type(old) is not type(value) or not isinstance(value, int | str | bytes | float) or old != value:
            self._changed = True
        self.scope[name] = value
