"""Building a struct: fields go to a buffer first, then values that depend on their positions are filled in.

A field at an offset is written there once all fields have positions. Then derived values are filled in, then checksums,
inner ones before the ones that cover them. If something had to be assumed (a condition over the struct's own size), the
fields are placed again with the result, until assumption and result agree.
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from construct import Container

from wireloom.runtime.errors import DecodeError, EncodeError, shown
from wireloom.runtime.expressions import PositionPendingError
from wireloom.runtime.parsers.facts import PENDING, BuildingScope, Facts, Sources
from wireloom.runtime.parsers.fields import Field, Form, Sink, Step, WireStruct
from wireloom.runtime.parsers.protocol import (
    MISSING,
    derives_anew,
    evaluate,
    guess,
    holds,
    marked,
    unsettle,
)
from wireloom.runtime.parsers.steps import Computed, Mark, with_hole
from wireloom.runtime.values import FILLED
from wireloom.runtime.writing_order import APART, FOLLOWS, PLACED, REST, UNKNOWN, Stand, Turns

_PASSES = 6
_COMPARED = 1024  # bytes compared at once; most blocks are equal
_GAP = 1 << 24  # the largest gap before a field at an offset, in bytes


class Buildable(WireStruct, Protocol):
    """The parts of a struct that building needs."""

    steps: Sequence[Step]
    fields: tuple[Field, ...]
    form: Form
    sequential: bool
    given: Sequence[Computed]
    in_turn: bool

    @property
    def sources(self) -> Sources:
        """The sources of its names."""


@dataclass(frozen=True)
class Outcome:
    """The result of placing the fields of a struct: its size, its marks, and the values of late names."""

    size: int | None = None
    marks: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, Any] = field(default_factory=dict)

    def bears_out(self, assumed: "Outcome") -> bool:
        """Whether the result is what was assumed while the values were written."""
        late = all(name in assumed.late and assumed.late[name] == value for name, value in self.late.items())
        return late and (self.size, self.marks) == (assumed.size, assumed.marks)


@dataclass(frozen=True)
class WrittenElsewhere:
    """Bytes of a field, of this struct or an inner one, to be written at an offset of the struct of `placement`."""

    placement: "Placement"
    offset: int
    data: bytes
    name: str


@dataclass
class Memory:
    """The last result of building a struct, and of its inner structs by their fields and their order there.

    Each pass over a struct builds its inner structs again. They start from the result of the pass before; otherwise
    each level of nesting would double the number of passes.
    """

    outcome: Outcome | None = None
    decided: dict[int, bool] = field(default_factory=dict)  # presence that depends on positions, by step
    placed: set[int] = field(default_factory=set)  # those whose condition needs more than the current position
    within: dict[tuple[str, int, int, int], "Memory"] = field(default_factory=dict)


class Placement:
    """One struct that is being built, in one of its versions."""

    def __init__(
        self, struct: Buildable, value: Mapping[str, Any], stream: Any, context: Container, version: int = -1
    ) -> None:
        self.struct, self.value, self.stream, self.context, self.version = struct, value, stream, context, version
        self.binary = struct.sequential
        self.writing: Field | None = None
        self.built = 0  # inner structs built so far in the current field
        self.memory = Memory()
        self.region_size: int | None = context.get("_region_size") if self.binary and stream is not None else None
        self.guessed = False
        self.is_unsettled = False  # some written value depends on an enclosing struct
        self.pending: list[tuple[Field, int]] = []
        self.ends: dict[int, int] = {}  # the ends of values of variable width, by their starts
        self.overwrites = False
        self.elsewhere: list[WrittenElsewhere] = []

    def build(self) -> None:
        """Write the struct to the stream."""
        enclosing: Placement | None = self.context.get("_placement")
        if enclosing is not None:
            self.memory = enclosing.remembered(self.struct, self.version)
        if not self.binary:
            self._place_fields(self.stream, Outcome())
            self._tell()
            return
        assumed = self.memory.outcome
        largest = idle = 0
        while idle < _PASSES:
            self.guessed = self.overwrites = self.is_unsettled = False
            self.elsewhere = []
            target = io.BytesIO()
            outcome = self._place_fields(target, assumed or Outcome())
            is_decided = self._is_decided()
            is_settled = not self.guessed if assumed is None else outcome.bears_out(assumed)
            if is_decided and is_settled:
                self._keep(target.getvalue(), enclosing)
                self.memory.outcome = assumed
                return
            assumed = outcome
            idle = 0 if (outcome.size or 0) > largest else idle + 1
            largest = max(largest, outcome.size or 0)
        raise EncodeError("fields whose offsets settle", "offsets that change each other")

    def _keep(self, data: bytes, enclosing: "Placement | None") -> None:
        """Write the finished bytes."""
        self.stream.write(data)
        if self.overwrites:
            self.context._params.get("_overwritten", []).append(self.struct)
        if enclosing is not None:
            enclosing.elsewhere += [each for each in self.elsewhere if each.placement is not self]
        self._tell()

    def _is_decided(self) -> bool:
        """Whether the steps present are those that the positions require; if not, correct them for the next pass."""
        changed = False
        for index, decided in list(self._facts.decided.items()):
            try:
                found = self._facts.holds_at(index)
            except PositionPendingError:
                self._leave_unsettled()
                continue
            self._facts.decided[index] = found
            changed = changed or found != decided
        return not changed

    def _tell(self) -> None:
        """Give the enclosing struct the final members of this one.

        Raises PositionPendingError if something is not known yet and there is no enclosing struct that could settle it.
        """
        if self.is_unsettled:
            unsettle(self.context)
        enclosing = self.context.get("_placement")
        if enclosing is not None and enclosing.writing is not None:
            enclosing._facts.settle(enclosing.writing, self.scope)

    def remembered(self, struct: Buildable, version: int) -> Memory:
        """The result of the pass before for the next struct within the current field."""
        name = "" if self.writing is None else self.writing.name
        self.built += 1
        return self.memory.within.setdefault((name, self.built, id(struct), version), Memory())

    def facts(self) -> Facts:
        """The values that expressions see before any bytes are written."""
        self._open(None, Outcome())
        return self._facts

    def _open(self, target: Any, assumed: Outcome) -> None:
        start = target.tell() if not self.binary and hasattr(target, "tell") else 0
        self.target, self.pending, self.ends = target, [], {}
        self.scope = BuildingScope(
            _=self.context,
            _params=self.context._params,
            _io=None,
            _start=start,
            _size=assumed.size if self.region_size is None else self.region_size,
            _region_size=None,
            _marks=dict(assumed.marks),
            _version=self.version,
            _value=self.value,
            _placement=None if target is None else self,
        )
        self._facts = Facts(self.struct, self.value, self.scope, assumed.late, self.memory.decided)
        self.scope._facts = self._facts
        self._facts.holds_places = self.binary and target is not None
        self._facts.is_first = assumed.size is None

    def _place_fields(self, target: Any, assumed: Outcome) -> Outcome:
        self._open(target, assumed)
        for computed in self.struct.given:
            self._hold(computed)
        self.scope._io = target
        steps = list(enumerate(self.struct.steps))
        is_present = self._facts.is_present
        fields = [] if self.binary else [each for at, each in steps if isinstance(each, Field) and is_present(at, each)]
        sink = self.struct.form.create(self.struct, target, self.scope, fields)
        if self.struct.in_turn:
            for index, step in steps:
                self._place(index, step, sink)
        else:
            self._place_in_turns(steps, sink)
        if self.elsewhere:
            self._write_elsewhere()
        sink.close()
        return self._settled() if self.binary else Outcome()

    def _place_in_turns(self, steps: Sequence[tuple[int, Step]], sink: Sink) -> None:
        """Place the steps; those that wait for others come last."""
        turns = Turns[tuple[int, Step]]()
        for index, step in steps:
            if turns.comes((index, step), self._stand(index, step)):
                self._place(index, step, sink)
        self._write_elsewhere()
        for index, step in turns.kept():
            self._place(index, step, sink)

    def _stand(self, index: int, step: Step) -> Stand:
        """The position of a step relative to the others; an absent step counts as following the one before."""
        if not (isinstance(step, Field) and step.stands) or not self._facts.is_present(index, step):
            return FOLLOWS
        if isinstance(step.at, int) and step.is_tail:
            return step.at
        if step.at is not None:
            return APART if step.base else self._placed(step)
        return REST if self._is_empty(step) else FOLLOWS

    def _placed(self, step: Field) -> Stand:
        try:
            step.offset(self.scope)
        except PositionPendingError:
            return UNKNOWN
        return PLACED

    def _is_empty(self, step: Field) -> bool:
        """Whether the step is a filler up to the end for which builders have no bytes yet."""
        try:
            return step.is_filler and step.value_to_build(self.scope) == b""
        except PositionPendingError:
            return False

    def _place(self, index: int, step: Step, sink: Sink) -> None:
        """Run a step at the current position."""
        if isinstance(step, Mark) and self.binary:
            self.scope._marks[step.name] = self.target.tell()
            return
        if self.binary or hasattr(self.target, "tell"):
            self._facts.reach(index, self.target.tell())
        if isinstance(step, Field) and self._is_there(index, step):
            self._write(step, sink)

    def _write_elsewhere(self) -> None:
        """Write the fields at marks of this struct, and continue after the last byte."""
        found, self.elsewhere = self.elsewhere, []
        for written in found:
            if written.placement is self:
                self._write_at_its_offset(written)
            else:
                self.elsewhere.append(written)
        if self.binary:
            self.target.seek(0, io.SEEK_END)

    def _is_there(self, index: int, step: Field) -> bool:
        """Whether the field is present; a condition on the current position can only be evaluated now."""
        facts = self._facts
        if step.when is None or not self.binary or index in self.memory.placed:
            return facts.is_present(index, step)
        try:
            found = holds(step.when, self.scope)
        except PositionPendingError:
            self.memory.placed.add(index)
            return facts.decided[index] if index in facts.decided else facts.decide(index, step)
        if facts.decided.get(index, found) != found:
            guess(self.scope)
        if index in facts.decided:
            facts.decided[index] = found
        return found

    def _hold(self, step: Computed) -> None:
        """Check a given value of a computed field against its type."""
        try:
            step.held(self._facts.given(step), 0)
        except DecodeError as error:
            raise EncodeError(error.expected, error.actual).at(step.title or step.name) from None

    def _write(self, step: Field, sink: Sink) -> None:
        self.writing, self.built = step, 0
        try:
            stream = sink.place(step)
            if step.base:
                self._build_elsewhere(step)
                return
            self._seek(step)
            start = self.target.tell() if self.binary else 0
            value = self._value(step, start)
            if value is MISSING:
                return
            before = self._written(start) if self.binary and step.at is not None else b""
            self.scope._region_size = self._region_size(step)
            step.write(value if value != b"" or not step.is_filler else self._filling(), stream, self.scope)
            if step.has_any_width and self.binary:
                self.ends[start] = self.target.tell()
            if before:
                self._compare(before, self._written(start, len(before)))
        except EncodeError as error:
            raise (error if step.shared and error.path else error.at(step.title or step.name)) from None

    def _region_size(self, step: Field) -> int | None:
        """The size of the region for a struct, if something other than the struct's own length sets it."""
        if (
            (step.size is None and self.region_size is None)
            or not self.binary
            or not step.is_record
            or step.packing is not None
        ):
            return None
        if step.size is None:
            return None if self.region_size is None else max(self.region_size - self.target.tell(), 0)
        try:
            found = evaluate(step.size, self.scope) if callable(step.size) else None
        except PositionPendingError:
            return None
        return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None

    def _filling(self) -> bytes:
        """Zeros up to the end of the region, if the end is known and no offset counts from it."""
        if self.region_size is None or any(each.is_tail for each in self.struct.fields):
            return b""
        return bytes(min(max(self.region_size - self.target.tell(), 0), FILLED))

    def _build_elsewhere(self, step: Field) -> None:
        """Build a field at a mark, and leave the writing to the struct that has the mark."""
        owner, body = marked(step.base, self.scope), io.BytesIO()
        try:
            step.write(step.value_to_build(self.scope), body, self.scope)
            offset = step.offset(self.scope)
        except PositionPendingError:
            guess(self.scope)
            return
        start = owner._marks[step.base] + offset if isinstance(offset, int) else -1
        if start < 0:
            raise EncodeError("an offset of the struct that has the mark", shown(offset))
        self.elsewhere.append(WrittenElsewhere(owner._placement, start, body.getvalue(), step.title or step.name))

    def _write_at_its_offset(self, written: WrittenElsewhere) -> None:
        """Write bytes at their offset, over existing bytes or after zeros."""
        try:
            self._go_to(written.offset)
        except EncodeError as error:
            raise error.at(written.name) from None
        before = self._written(written.offset, len(written.data))
        self.target.write(written.data)
        self._compare(before, written.data[: len(before)])

    def _go_to(self, place: int) -> None:
        """Go to an offset, back or forward; a gap is filled with zeros."""
        end = self.target.seek(0, io.SEEK_END)
        if place - end > _GAP:
            raise EncodeError(f"an offset at most {_GAP} bytes after the end of the earlier fields", shown(place))
        self.target.write(bytes(max(place - end, 0)))
        self.target.seek(place)

    def _written(self, start: int, size: int | None = None) -> bytes:
        """The bytes from `start` on; empty unless a field at an offset overwrites others."""
        with self.target.getbuffer() as buffer:
            return bytes(buffer[start:] if size is None else buffer[start : start + size])

    def _compare(self, before: bytes, after: bytes) -> None:
        """Note if bytes of other fields have changed.

        A changed zero may have been a gap, so it does not count; if it was a value, the read-back finds it. A float
        whose zeros change into other bytes is not mistaken for a rounded one.
        """
        for start in range(0, len(before), _COMPARED):
            was, came = before[start : start + _COMPARED], after[start : start + _COMPARED]
            if was != came and any(old and old != new for old, new in zip(was, came, strict=True)):
                self.overwrites = True
                return

    def _value(self, step: Field, start: int) -> Any:
        """The value to write; if it depends on positions, a placeholder of the same width, overwritten later.

        For a value of variable width, the placeholder is the result of the pass before. If its width changes, another
        pass follows.
        """
        if step.checksum is None or self._is_stated(step):
            try:
                value = step.value_to_build(self.scope)
            except PositionPendingError:
                if not self.binary:
                    self._leave_unsettled()
            else:
                if step.bits and isinstance(value, int):
                    self._know(step, value)
                return value
        self.pending.append((step, start))
        self._facts.late.add(step.name)
        return self._came_to(step) if step.has_any_width else step.placeholder

    def _came_to(self, step: Field) -> Any:
        """The wire value from the pass before."""
        known = self._facts.assumed.get(step.name)
        if known is PENDING or known is None:
            return step.placeholder
        return known if step.mapped is None else step.mapped.write(known, self.scope)

    def _is_stated(self, step: Field) -> bool:
        """Whether a checksum is written as the caller gave it; it need not be right if nothing verifies it."""
        return not derives_anew(self.scope) and step.given_in(self.value) is not None

    def _seek(self, step: Field) -> None:
        """Go to the field's offset, if it has one that counts from the start."""
        if step.at is None or step.is_tail:
            return
        try:
            target = step.offset(self.scope)
        except PositionPendingError:
            guess(self.scope)
            return
        if not isinstance(target, int) or target < 0:
            raise EncodeError("an offset", shown(target))
        self._go_to(target)

    # --- values that depend on positions ---

    def _settled(self) -> Outcome:
        """Fill in derived values first, then checksums, each after the ones that it covers."""
        size = self.target.seek(0, io.SEEK_END)
        self.scope._size = size if self.region_size is None else self.region_size
        self._facts.settle_places()
        if not (self.pending or self._facts.late):
            return Outcome(size, dict(self.scope._marks))
        self._settle_checksums(self._settled_values([each for each in self.pending if each[0].checksum is None]))
        late = {name: self._came(name) for name in self._facts.late}
        return Outcome(size, dict(self.scope._marks), late)

    def _came(self, name: str) -> Any:
        """The final value of a name; PENDING if it is not known."""
        try:
            return self.scope[name]
        except PositionPendingError:
            return PENDING

    def _settled_values(self, waiting: list[tuple[Field, int]]) -> list[tuple[Field, int]]:
        """Write the values that are known by now; returns those that are not."""
        return [item for item in waiting if not self._is_settled(*item)]

    def _is_settled(self, step: Field, start: int) -> bool:
        self.target.seek(start)
        try:
            value = step.value_to_build(self.scope)
        except PositionPendingError:
            return False
        self._patch(step, start, value)
        return True

    def _know(self, step: Field, value: Any) -> None:
        """Give the final wire value to expressions."""
        with suppress(DecodeError):  # the read-back reports it
            self.scope[step.name] = value if step.mapped is None else step.mapped.read(value, self.scope, 0)
            for bit in step.bits:
                self.scope[bit.name] = bit.read(value, self.scope, 0)

    def _settle_checksums(self, values: list[tuple[Field, int]]) -> None:
        """Write checksums, inner ones first, and `values` derived from them before the checksums that cover these."""
        waiting = [(step, start, *self._range(step)) for step, start in self.pending if step.checksum is not None]

        def covering(item: tuple[Field, int, int, int]) -> tuple[int, int]:
            inner = sum(other is not item and item[2] <= other[1] < item[3] for other in waiting)
            return sum(item[2] <= start < item[3] for _, start in values), inner

        while waiting:
            step, start, first, last = item = min(waiting, key=covering)
            waiting.remove(item)
            assert step.checksum is not None
            covered = with_hole(self.target.getvalue()[first:last], start - first, step.checksum.octets)
            try:
                value = step.checksum.of(step.name, covered, self.scope)
            except PositionPendingError:
                self._leave_unsettled()
                continue
            self._patch(step, start, value)
            self._know(step, value)
            values = self._settled_values(values)
        if values:
            self._leave_unsettled()

    def _leave_unsettled(self) -> None:
        guess(self.scope)
        self.is_unsettled = True

    def _range(self, step: Field) -> tuple[int, int]:
        assert step.checksum is not None
        try:
            first, last = evaluate(step.checksum.start, self.scope), evaluate(step.checksum.end, self.scope)
        except PositionPendingError:
            self._leave_unsettled()
            return 0, 0
        if not isinstance(first, int) or not isinstance(last, int) or first < 0:
            raise EncodeError("a range of bytes for its checksum", f"{shown(first)} .. {shown(last)}").at(
                step.title or step.name
            )
        return first, last

    def _patch(self, step: Field, start: int, value: Any) -> None:
        body = io.BytesIO()
        try:
            step.write(value, body, self.scope)
        except EncodeError as error:
            raise error.at(step.title or step.name) from None
        if step.has_any_width and start + len(body.getvalue()) != self.ends[start]:
            self.guessed = True
            return
        self.target.seek(start)
        self.target.write(body.getvalue())
        self.target.seek(0, io.SEEK_END)
