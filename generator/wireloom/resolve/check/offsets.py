"""Fields at stated offsets must not overlap other fields, and must leave no unnamed bytes.

Offsets are sums of values of the record. Two offsets are compared only if their difference is a constant number;
otherwise it depends on the record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from wireloom.expr.ast import Literal, references
from wireloom.expr.sums import Sum, sum_of
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.types import Field, Struct
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.wording import byte_count
from wireloom.resolve.facts.exclusion import never_both
from wireloom.resolve.facts.sites import placed, structs
from wireloom.resolve.facts.sizes import SIZE, Sizes, counts_from_end, from_end
from wireloom.spec.documents import Place

_END = Sum(0, {SIZE: 1})
_DRAWN = 32  # bytes of a picture on either side of the mistake


@dataclass(frozen=True, slots=True)
class _Item:
    """A field with its start, its certain end, and the end of the field before it."""

    place: Place
    field: Field
    start: Sum | None
    end: Sum | None
    reached: Sum | None
    before: str

    @property
    def is_moved(self) -> bool:
        """Whether it has a stated offset that is not the end of the field before it."""
        return self.field.at is not None and (self.start is None or self.start != self.reached)


def check_offsets(draft: Draft, sizes: Sizes) -> None:
    """Report fields at stated offsets that overlap others or leave unnamed bytes."""
    bases = {field.base for struct in structs(sizes.named) for field in struct.fields if field.base}
    for struct in structs(sizes.named):
        place = draft.place / "types" / struct.name
        if not struct.encoding.laid_out or draft.is_poisoned(place):
            continue
        items = list(_items(struct, place / "fields", sizes))
        tail = sorted(
            (each for each in items if counts_from_end(each.field)), key=lambda each: from_end(each.field) or 0
        )
        body = [each for each in items if not counts_from_end(each.field)]
        after_tail = _is_after_tail(draft, items)
        if not _overlaps(draft, struct, body):
            _check_gaps(draft, body)
        if tail and not after_tail and not any(each.field.is_conditional for each in tail):
            _check_tail(draft, body, tail)
            if bases.intersection(step.name for step in struct.steps if isinstance(step, types.Mark)):
                _check_pointed(draft, body)


def _items(struct: Struct, place: Place, sizes: Sizes) -> Iterator[_Item]:
    reached: Sum | None = Sum()
    before = "the start"
    for where, field in placed(struct, place):
        if not field.in_struct:
            continue
        offset = from_end(field)
        start = reached if field.at is None else sum_of(field.at, reached) if offset is None else Sum(offset, {SIZE: 1})
        size = None if field.is_conditional or start is None else sizes.sum_of(field, start)
        end = None if start is None or size is None else start.plus(size)
        if end is None and field.at is not None and not field.is_conditional and sizes.of_field(field).open:
            end = _END
        yield _Item(where, field, start, end, reached, before)
        if offset is None:
            reached, before = end, field.wire_name


def _distance(first: Sum | None, second: Sum | None) -> int | None:
    """The distance from one offset to another; None if it depends on the record."""
    gap = None if first is None or second is None else second.plus(first.times(-1))
    return None if gap is None or gap.terms else gap.number


def _overlaps(draft: Draft, struct: Struct, items: Sequence[_Item]) -> bool:
    """Whether a field overlaps one before it in the list; the first such field is reported."""
    moved = False
    for index, item in enumerate(items):
        moved = moved or item.is_moved
        stated = item.field.at is not None
        end = item.end if item.end is not None or item.start is None else item.start.plus(Sum(1))
        for other in items[:index] if moved else ():
            over, own = _distance(item.start, other.end), _distance(other.start, end)
            is_crossed = own > 0 if own is not None else other is items[index - 1]
            is_known = over is not None and over > 0 and (stated or item.end is not None)
            if is_known and is_crossed and not never_both(struct, other.field, item.field):
                message = f"{item.field.wire_name}{_at(item)} overlaps {other.field.wire_name}"
                hint = f"{other.field.wire_name} ends {byte_count(over or 0)} after that"
                _report_crossed(draft, item, message, hint, _drawn(items[:index], item))
                return True
    return False


def _at(item: _Item) -> str:
    if item.field.at is not None:
        return f" at {text_of(item.field.at)}"
    return "" if item.start is None or item.start.terms else f" at {item.start.number}"


def _report_crossed(draft: Draft, item: _Item, message: str, hint: str, picture: tuple[str, ...]) -> None:
    """Report an overlapping field, at its `at` if it has one, else at its key."""
    if item.field.at is not None:
        problem = (item.place / "at").problem("overlapping-fields", message, hint)
        draft.problems.add(replace(problem, picture=picture))
    else:
        hint += "; add `at`, or list the fields in their order"
        problem = item.place.key_problem("overlapping-fields", message, hint)
        draft.problems.add_entry(replace(problem, picture=picture))


def _drawn(items: Sequence[_Item], about: "_Item | tuple[int, int]") -> tuple[str, ...]:
    """Draw the fields around a mistake, one line each, with the gap if there is one.

    Empty if offsets depend on the record.
    """
    gap = about if isinstance(about, tuple) else None
    known = (*items, about) if isinstance(about, _Item) else items
    ends = [(_distance(Sum(), each.start), _distance(Sum(), each.end), each.field.wire_name) for each in known]
    spans = [(start, end, name, "#") for start, end, name in ends if start is not None and end is not None]
    if not spans or (gap is None and ends[-1][:2] != spans[-1][:2]):
        return ()
    first, last = gap or spans[-1][:2]
    left = max(0, first - _DRAWN)
    lines = [each for each in spans if each[1] > left and each[0] < last + _DRAWN]
    lines += [] if gap is None else [(first, last, "(nothing)", ".")]
    width = max(len(name) for _, _, name, _ in lines)
    return tuple(
        f"{name:<{width}}  bytes {start} to {end - 1}  ".ljust(width + 20)
        + " " * (max(start, left) - left)
        + mark * min(end - max(start, left), _DRAWN)
        for start, end, name, mark in sorted(lines)
    )


def _check_gaps(draft: Draft, items: Sequence[_Item]) -> None:
    """Report the first unnamed bytes before a field at a stated offset."""
    moved = False
    for item in items:
        if item.field.at is None or item.start is None or item.reached is None or not item.is_moved:
            continue
        others = [each for each in items if each is not item]
        size = _distance(item.reached, item.start)
        found: tuple[int, int] | None = None
        if size is not None and size > 0:
            found = _unnamed(item, size, others)
        elif size is None and not item.start.terms and not moved and not any(each.is_moved for each in others):
            found = 0, 0
        moved = True
        if found is not None:
            at = text_of(item.field.at)
            message = f"no field names the bytes between {item.before} and {item.field.wire_name} at {at}"
            hint = f"add `- reserved: bytes({at} - here)` before it"
            picture: tuple[str, ...] = ()
            if not item.reached.terms and found != (0, 0):
                start, end = (item.reached.number + each for each in found)
                where = "" if start == item.reached.number else f", at: {start}"
                message = f"no field names the bytes {start} to {end - 1}"
                hint = f"add `- reserved: {{type: bytes({end - start}){where}, hidden: true}}`"
                picture = _drawn(items, (start, end))
            problem = (item.place / "at").problem("gap-in-layout", message, hint)
            draft.problems.add(replace(problem, picture=picture))
            return


def _unnamed(item: _Item, size: int, others: Sequence[_Item]) -> tuple[int, int] | None:
    """The first range of bytes before a field that no other field can have; None if there is none."""
    spans: list[tuple[int, int]] = []
    for each in others:
        start, end = _distance(item.reached, each.start), _distance(item.reached, each.end)
        if start is None:
            if each.is_moved:
                return None  # it may be within the gap
        elif end is not None:
            spans.append((start, end))
        elif start < size:
            return None  # it may extend into the gap
    reached = 0
    for start, end in sorted(spans):
        if start > reached:
            return reached, min(start, size)
        reached = max(reached, end)
        if reached >= size:
            return None
    return reached, size


# --- fields that count from the end --------------------------------------------------------------------------------


def _is_after_tail(draft: Draft, items: Sequence[_Item]) -> bool:
    """Report fields without an offset that are read after one that counts from the end."""
    tail: Field | None = None
    found = False
    for item in items:
        field = item.field
        if field.at is not None:
            tail = field if counts_from_end(field) else None
        elif tail is not None and (not tail.is_conditional or tail.when == field.when):
            message = f"{field.wire_name} follows {tail.wire_name}, which counts from the end"
            move = f"move {field.wire_name} before {tail.wire_name}, or give it `at`"
            hint = f"fields are read in the order of the list: {move}"
            draft.reports_entry(item.place, "overlapping-fields", message, hint)
            found = True
    return found


def _check_tail(draft: Draft, body: Sequence[_Item], tail: Sequence[_Item]) -> None:
    """Fields that count from the end must follow one another up to it, and start where the other fields end."""
    first = tail[0]
    for item in body:
        space = _distance(item.end, first.start)
        if space is not None and space < 0:
            message = f"{first.field.wire_name}{_at(first)} overlaps {item.field.wire_name}"
            hint = f"{item.field.wire_name} ends {byte_count(-space)} after that"
            draft.reports(first.place / "at", "overlapping-fields", message, hint)
            return
    reached = None if not body or any(each.is_moved for each in body) else body[-1].end
    if reached is not None and first.start is not None and first.start.plus(reached.times(-1)).terms.get(SIZE, 0) > 0:
        what = f"{body[-1].field.wire_name} and {first.field.wire_name}, which counts from the end"
        hint = f"add `- rest: bytes(size - {-(from_end(first.field) or 0)} - here)` before it"
        draft.reports(first.place / "at", "gap-in-layout", f"no field names the bytes between {what}", hint)
    elsewhere = any(not isinstance(each.field.at, Literal | None) for each in body)
    before = "" if reached is None else body[-1].field.wire_name
    ends = [(each.start, each.end, each.field.wire_name, each.place) for each in tail]
    for start, end, name, place in (*ends, (_END, None, "the end", tail[-1].place)):
        gap = _distance(reached, start)
        if gap is not None and gap > 0 and not elsewhere:
            at = (_distance(_END, reached) or 0) if reached is not None and reached.terms else 0
            hint = f"add `- reserved: {{type: bytes({gap}){f', at: {at}' if at else ''}, hidden: true}}`"
            message = f"no field names the {byte_count(gap)} between {before} and {name}"
            draft.reports(place / "at", "gap-in-layout", message, hint)
        elif gap is not None and gap < 0:
            message, hint = f"{before} overlaps {name}", f"{before} ends {byte_count(-gap)} after that"
            draft.reports(place / "at", "overlapping-fields", message, hint)
        reached, before = end, name


def _check_pointed(draft: Draft, body: Sequence[_Item]) -> None:
    """Report hidden fields that fill a region up to its tail: builders write no bytes for them to point into."""
    for item in body:
        field = item.field
        amounts = (types.stated(field.size), types.stated(getattr(field.type, "size", None)))
        fills = any(amount is not None and SIZE in references(amount) for amount in amounts)
        unseen = field.hidden and field.const is None and field.derive is None and field.checksum is None
        if fills and unseen and isinstance(field.type, types.Bytes | types.Text):
            message = f"builders write no bytes for {field.wire_name}, but offsets may point into it"
            hint = f"show {field.wire_name} to readers: drop `hidden`"
            draft.reports_entry(item.place, "unknown-on-build", message, hint)
