"""Fields at stated offsets: they overlap no other field, and leave no byte without a name."""

from dataclasses import dataclass, replace

from wireloom.expr.ast import Expression, Literal, Unary, references
from wireloom.expr.sums import Sum, sum_of
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.types import Encoding, Field, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.facts.exclusion import never_both
from wireloom.resolve.facts.sites import Types, held, placed, structs
from wireloom.resolve.facts.sizes import (
    HERE,
    SIZE,
    counts_from_end,
    fixed_size,
    from_end,
    has_open_end,
    is_in_turn,
    size_sum,
)
from wireloom.spec.documents import Place

_DRAWN = 32  # bytes of a picture on either side of what is wrong
_ANYWHERE = Sum(0, {HERE: 1})  # a place that only the record tells


@dataclass(frozen=True, slots=True)
class _Span:
    field: Field
    start: int
    end: int

    @property
    def name(self) -> str:
        return self.field.wire_name


@dataclass(frozen=True, slots=True)
class _Gap:
    """Bytes before a field at a stated offset that no field further up names."""

    place: Place
    start: int
    end: int

    def unnamed(self, spans: list[_Span]) -> tuple[int, int] | None:
        """The first of them that no other field names either, and where these end."""
        start = self.start
        for span in sorted(spans, key=lambda span: span.start):
            if span.start > start:
                return start, min(span.start, self.end)
            start = max(start, span.end)
            if start >= self.end:
                return None
        return start, self.end


def check_offsets(draft: Draft, named: Types) -> None:
    """Fields at stated offsets overlap no other field and leave no unnamed byte."""
    for struct in structs(named):
        place = draft.place / "types" / struct.name
        if struct.encoding is Encoding.BINARY and not draft.is_poisoned(place):
            _check_offsets(draft, place / "fields", struct, named)


def _check_offsets(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    _check_variable_offsets(draft, place, struct, named)
    if _check_behind_tail(draft, place, struct):
        _check_from_end(draft, place, struct, named)
    spans: list[_Span] = []
    gaps: list[_Gap] = []
    vague: list[int] = []  # where fields begin of which the record alone tells how far they reach
    reached: int | None = 0  # where the next field begins, where that is known
    furthest = 0  # where the last of the spans ends
    for where, field in placed(struct, place):
        if not field.in_struct:
            continue
        start = _offset(field, reached)
        stated = field.at is not None
        if start is None:
            vague += [0] if stated and from_end(field) is None else []
            reached = None
            continue
        size = fixed_size(field, named)
        end = start + (size if size is not None else 1)
        known = not field.is_conditional and size is not None
        within = spans if start < furthest else []
        crossed = next((span for span in within if start < span.end and span.start < end), None)
        if crossed is not None and (stated or (known and start < end)) and not never_both(struct, crossed.field, field):
            _report_crossed(draft, where, [*spans, _Span(field, start, end)], crossed)
            return  # what follows is as far off
        if stated and reached is not None and start > reached:
            gaps.append(_Gap(where / "at", reached, start))
        if known:
            spans.append(_Span(field, start, end))
            furthest = max(furthest, end)
        else:
            vague.append(start)
        reached = end if known else None
    _check_gaps(draft, [gap for gap in gaps if all(start >= gap.end for start in vague)], spans)


def _report_crossed(draft: Draft, where: Place, spans: list[_Span], crossed: _Span) -> None:
    """Report the last of the fields, which begins within another: where it states that, or behind the one before it."""
    field, start, drawn = spans[-1].field, spans[-1].start, _drawn(spans)
    message = f"{field.wire_name} at {start} overlaps {crossed.name} ({crossed.start} to {crossed.end - 1})"
    hint = f"{crossed.name} ends before {crossed.end}"
    if field.at is not None:
        problem = (where / "at").problem("overlapping-fields", message, hint)
        draft.problems.add(replace(problem, picture=drawn))
    else:
        hint += "; say `at`, or list the fields in their order"
        draft.problems.add_entry(replace(where.key_problem("overlapping-fields", message, hint), picture=drawn))


def _check_gaps(draft: Draft, gaps: list[_Gap], spans: list[_Span]) -> None:
    """Report the first bytes that nothing names."""
    for gap in gaps:
        if found := gap.unnamed(spans):
            start, end = found
            at = "" if found == (gap.start, gap.end) else f", at: {start}"
            hint = f"`- reserved: {{type: bytes({end - start}){at}, hidden: true}}` does"
            problem = gap.place.problem("gap-in-layout", f"nothing names the bytes {start} to {end - 1}", hint)
            draft.problems.add(replace(problem, picture=_drawn(spans, (start, end))))
            return


def _drawn(spans: list[_Span], gap: tuple[int, int] | None = None) -> tuple[str, ...]:
    """The bytes of fields around what is wrong, a line each: of the last of them, or of a gap."""
    first, last = gap or (spans[-1].start, spans[-1].end)
    left = max(0, first - _DRAWN)
    lines = [(each.start, each.end, each.name, "#") for each in spans if each.end > left and each.start < last + _DRAWN]
    lines += [] if gap is None else [(first, last, "(nothing)", ".")]
    width = max(len(name) for _, _, name, _ in lines)
    return tuple(
        f"{name:<{width}}  bytes {start} to {end - 1}  ".ljust(width + 20)
        + " " * (max(start, left) - left)
        + mark * min(end - max(start, left), _DRAWN)
        for start, end, name, mark in sorted(lines)
    )


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a field stands that says so: behind what was reached, unless `jumped`, from the beginning on."""

    place: Place
    field: Field
    before: str
    at: Sum
    size: Sum | None
    began: Sum | None  # where the one before does
    reached: Sum
    jumped: bool

    @property
    def is_clear(self) -> bool:
        """Whether it ends before the one before begins."""
        apart = None if self.began is None else self.began.plus(self.at.times(-1))
        if apart is None or apart.terms or apart.number <= 0:
            return False
        over = None if self.size is None else apart.plus(self.size.times(-1))
        return over is None or bool(over.terms) or over.number >= 0

    @property
    def gap(self) -> Sum:
        """The bytes between what was reached and the field."""
        return self.at.plus(self.reached.times(-1))

    def is_filled_by(self, at: Sum | None) -> bool:
        """Whether a field at this place may stand in the gap."""
        ahead = None if at is None else at.plus(self.reached.times(-1))
        if ahead is None or ahead.terms or self.gap.terms:
            return ahead is None or bool(ahead.terms) or ahead.number >= 0
        return 0 <= ahead.number < self.gap.number


def _check_variable_offsets(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """The same behind fields whose sizes follow from the record: offsets are sums of what other fields say."""
    reached: Sum | None = Sum()
    began: Sum | None = None
    before = ""
    jumped = False
    starts: list[_Start] = []
    others: list[tuple[Field, Sum | None]] = []  # fields that say where they stand, other than where they stood anyway
    for where, field in placed(struct, place):
        if not is_in_turn(field):
            continue
        if field.at is not None:
            start = sum_of(field.at, reached)
            if start is not None and reached is not None and reached.terms:
                own = size_sum(field, named, start)
                starts.append(_Start(where / "at", field, before, start, own, began, reached, jumped))
            if start is None or start != reached:
                jumped = True
                others.append((field, start))
            reached = start
        size = None if field.is_conditional or reached is None else size_sum(field, named, reached)
        began, before = reached, field.wire_name
        reached = None if reached is None or size is None else reached.plus(size)
    for each in starts:
        filled = any(each.is_filled_by(at) for field, at in others if field is not each.field)
        _check_start(draft, each, filled=filled)


def _check_start(draft: Draft, start: _Start, *, filled: bool) -> None:
    gap, before, at = start.gap, start.before, text_of(start.field.at) if start.field.at is not None else ""
    if gap.terms and (start.at.terms or start.jumped):
        return  # the record alone tells
    if gap.terms or gap.number > 0:
        message = f"nothing names the bytes between the end of {before} and {at}"
        hint = f"`- reserved: bytes({at} - here)` before it does"
        if not filled:
            draft.reports(start.place, "gap-in-layout", message, hint)
    elif gap.number < 0 and not start.is_clear:
        message = f"{start.field.wire_name} at {at} overlaps {before}"
        ends = f"{before} ends {byte_count(-gap.number)} behind that"
        draft.reports(start.place, "overlapping-fields", message, ends)


def _check_from_end(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """Fields that count from the end follow one another up to it, and the other fields reach up to them."""
    counted = [(at, where, field) for where, field in placed(struct, place) if (at := from_end(field)) is not None]
    tail = sorted(counted, key=lambda item: item[0])
    if not tail or any(field.is_conditional for _, _, field in tail):
        return
    _check_pointed(draft, place, struct, named)
    elsewhere = any(not isinstance(field.at, Literal | None) for field in filter(is_in_turn, struct.fields))
    ends = [*((start, next.wire_name) for start, _, next in tail[1:]), (0, "the end")]
    for (start, where, field), (end, following) in zip(tail, ends, strict=True):
        size = fixed_size(field, named)
        left = end - start - (size or 0)
        if size is not None and left > 0 and not elsewhere:
            message = f"nothing names the {byte_count(left)} between {field.wire_name} and {following}"
            hint = f"`- reserved: {{type: bytes({left}), at: {end - left}, hidden: true}}` does"
            draft.reports(where / "at", "gap-in-layout", message, hint)
        elif size is not None and left < 0:
            message = f"{field.wire_name} has {byte_count(size)}, and {end - start} are there before {following}"
            draft.reports(where / "at", "overlapping-fields", message, f"`at: {end - size}` gives it room")
    if _check_room_of_tail(draft, tail[0][1] / "at", tail[0][2], struct, named):
        _check_before_tail(draft, tail[0][1] / "at", tail[0][2], struct, named)


def _check_behind_tail(draft: Draft, place: Place, struct: Struct) -> bool:
    """Whether each field that is read behind one that counts from the end says where it stands; else report it."""
    tail: Field | None = None
    fine = True
    for where, field in placed(struct, place):
        if not field.in_struct:
            continue
        if field.at is not None:
            tail = field if counts_from_end(field) else None
        elif tail is not None and _comes_with(field, tail):
            message = f"{field.wire_name} goes on behind {tail.wire_name}, which counts from the end"
            move = f"move {field.wire_name} before {tail.wire_name}, or give it `at`"
            hint = f"fields are read in the order of the list: {move}"
            draft.reports_entry(where, "overlapping-fields", message, hint)
            fine = False
    return fine


def _comes_with(field: Field, other: Field) -> bool:
    """Whether another field is there wherever a field is."""
    same = other.when == field.when and (other.since, other.until) == (field.since, field.until)
    return not other.is_conditional or (same and not _depends_on_place(other.when))


def _depends_on_place(condition: Expression | None) -> bool:
    """Whether a condition is another one behind the field that it is of."""
    return condition is not None and HERE in references(condition)


def _check_room_of_tail(draft: Draft, place: Place, first: Field, struct: Struct, named: Types) -> bool:
    """Whether no field is known to reach into the first one that counts from the end; else report it."""
    at = from_end(first) or 0
    reached = Sum()
    for field in filter(is_in_turn, struct.fields):
        start = reached if field.at is None else sum_of(field.at, reached) or _ANYWHERE
        end = None if field.is_conditional else _end_sum(field, named, start)
        room = None if end is None else Sum(at, {SIZE: 1}).plus(end.times(-1))
        if room is not None and not room.terms and room.number < 0:
            message = f"{first.wire_name} at {at} overlaps {field.wire_name}"
            ends = f"{field.wire_name} ends {byte_count(-room.number)} behind that"
            draft.reports(place, "overlapping-fields", message, ends)
            return False
        reached = end or _ANYWHERE
    return True


def _end_sum(field: Field, named: Types, start: Sum) -> Sum | None:
    """Where a field ends, as a sum; at the end of the region where it takes all bytes left from a stated offset on."""
    if field.at is not None and has_open_end(field, named, frozenset()):
        return Sum(0, {SIZE: 1})
    size = size_sum(field, named, start)
    return None if size is None else start.plus(size)


def _check_before_tail(draft: Draft, place: Place, first: Field, struct: Struct, named: Types) -> None:
    """What stands before the first field that counts from the end has to end there, whatever the region's size."""
    reached = _reached(struct, named)
    before = next((field.wire_name for field in reversed(struct.fields) if is_in_turn(field)), "")
    if reached is None or not before:
        return
    at = from_end(first) or 0
    gap = Sum(at, {SIZE: 1}).plus(reached.times(-1))
    if gap.terms.get(SIZE, 0) > 0 or (not gap.terms and gap.number > 0):
        message = (
            f"nothing names the bytes between the end of {before} and {first.wire_name}, which counts from the end"
        )
        draft.reports(place, "gap-in-layout", message, f"`- rest: bytes(size - {-at} - here)` before it does")


def _check_pointed(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """What fills a region up to its tail has no bytes where they are built unseen, and offsets lead nowhere then."""
    for where, field in placed(struct, place):
        amounts = (types.stated(field.size), types.stated(getattr(field.type, "size", None)))
        fills = any(amount is not None and SIZE in references(amount) for amount in amounts)
        unseen = field.hidden and field.const is None and field.derive is None and field.checksum is None
        marks = (step.name for step in struct.steps if isinstance(step, types.Mark))
        pointed = next((mark for mark in marks if _leads_to(struct, mark, named, {struct.name})), "")
        if fills and unseen and pointed and isinstance(field.type, types.Bytes | types.Text):
            message = f"builders write none of {field.wire_name}, where offsets from {pointed} lead to"
            draft.reports_entry(where, "unknown-on-build", message, f"let readers see {field.wire_name}: drop `hidden`")


def _leads_to(struct: Struct, mark: str, named: Types, seen: set[str]) -> bool:
    """Whether a field of a struct, or of those that stand in it and have no such mark of their own, counts from it."""
    if any(field.base == mark for field in struct.fields):
        return True
    for name, _ in (each for field in struct.fields for each in held(field.type, named)):
        inner = named[name]
        if name in seen or not isinstance(inner, Struct):
            continue
        seen.add(name)
        own = any(isinstance(step, types.Mark) and step.name == mark for step in inner.steps)
        if not own and _leads_to(inner, mark, named, seen):
            return True
    return False


def _reached(struct: Struct, named: Types) -> Sum | None:
    """The end of the fields that do not count from the end, where each follows the one before."""
    reached = Sum()
    for field in filter(is_in_turn, struct.fields):
        start = reached if field.at is None else sum_of(field.at, reached)
        size = None if field.when is not None or start != reached else size_sum(field, named, reached)
        if size is None:
            return None
        reached = reached.plus(size)
    return reached


def _offset(field: Field, reached: int | None) -> int | None:
    match field.at:
        case None:
            return reached
        case Literal(int(offset)) if offset >= 0:
            return offset
        case Unary():
            return None
        case _:
            return None
