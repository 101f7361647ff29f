"""What may not collide: the names of fields, the tags of a message, the bytes of fields at stated offsets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wireloom.expr.ast import Binary, Expression, Literal, Position, Unary, integer_of, references
from wireloom.expr.sums import Sum, sum_of
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.ends import looks_at_end
from wireloom.model.traversal import parts as parts_of
from wireloom.model.types import Amount, Encoding, Field, Form, Struct, Type
from wireloom.resolve.draft import Draft
from wireloom.resolve.exclusion import never_both, never_in_one_version
from wireloom.resolve.sites import held
from wireloom.resolve.wording import byte_count
from wireloom.spec.documents import Place

Types = Mapping[str, Type]


_SIZE = Position("size")
_HERE = Position("here")
_ALL_LEFT = Binary("-", _SIZE, _HERE)
_ANYWHERE = Sum(0, {_HERE: 1})  # a place that only the record tells


def check_collisions(draft: Draft, named: Types) -> None:
    """Report collisions in every struct."""
    for name, type in named.items():
        if isinstance(type, types.Attempt):
            _check_attempt_names(draft, draft.place / "types" / name, type, named)
        if isinstance(type, Struct):
            place = draft.place / "types" / name / "fields"
            said = _check_wire_names(draft, place, type)
            _check_logical_names(draft, place, type, named, said)
            _check_tags(draft, place, type)
            if type.form is Form.OBJECT:
                _check_members(draft, place, type, named)
            if type.encoding is Encoding.BINARY:
                _check_offsets(draft, place, type, named)
                _check_greed(draft, place, type, named)
                _check_used_up(draft, place, type)
                _check_verified(draft, place, type)
                _check_elements(draft, place, type, named)


def _placed(struct: Struct, place: Place) -> Iterator[tuple[Place, Field]]:
    for position, step in enumerate(struct.steps):
        if isinstance(step, Field):
            yield place / position / step.wire_name, step


# --- names ---------------------------------------------------------------------------------------------------------


def _check_wire_names(draft: Draft, place: Place, struct: Struct) -> set[str]:
    """Names that expressions use: fields, bits and marks of one struct; those of bits that are there twice."""
    twice = set[str]()
    taken: dict[str, list[Field]] = {}  # with the fields of each name; bits and marks have theirs alone
    for where, field in _placed(struct, place):
        others = taken.get(field.wire_name, [])
        known = others[-1] if others else None
        if known is not None and struct.encoding is Encoding.PROTOBUF and field.on_wire and known.on_wire:
            message = f"{field.wire_name} is there twice, and a message has one field of each name"
            hint = f"give one of them another name, and `as: {field.wire_name}` for its readers"
            draft.reports_entry(where, "duplicate-field", message, hint)
        elif others and any(each.checksum is not None for each in (*others, field)):
            message = f"{field.wire_name} is there twice, once as a checksum, which is verified in every version"
            hint = f"give one of them another name, and `as: {field.name}` for its readers"
            draft.reports_entry(where, "duplicate-field", message, hint)
        elif field.wire_name in taken and not (
            others and all(never_in_one_version(struct, each, field) for each in others)
        ):
            draft.reports_entry(
                where,
                "duplicate-field",
                f"{field.wire_name} is there twice",
                "give each field one name; `as` gives readers another",
            )
            twice.update(() if others else {field.wire_name})
        taken[field.wire_name] = [*others, field]
        for bit in field.bits:
            if bit.name in taken:
                twice.add(bit.name)
                draft.reports_entry(
                    where / "bits" / bit.name,
                    "duplicate-field",
                    f"{bit.name} is there twice",
                    "give each field one name",
                )
            taken[bit.name] = []
    for position, step in enumerate(struct.steps):
        if isinstance(step, types.Mark):
            if step.name in taken:
                draft.reports_entry(
                    place / position / "mark",
                    "duplicate-field",
                    f"{step.name} is there twice",
                    "give the mark another name",
                )
            taken[step.name] = []
    return twice


def _check_logical_names(draft: Draft, place: Place, struct: Struct, named: Types, said: set[str]) -> None:
    """Names that readers use, with those that flattened structs lend; fields of different versions may share one.

    Of the names `said` it is said that expressions know two by them.
    """
    taken: dict[str, list[Field]] = {}
    for where, field in _placed(struct, place):
        own = () if field.flatten else tuple(logical_names(field, named, frozenset()))
        for name in dict.fromkeys(each for each in own if own.count(each) > 1):
            hint = "the field, its `raw` and its bits have a name each: hide one, or rename it with `as`"
            draft.reports_entry(where, "duplicate-field", f"readers see {name} twice", hint)
        for name in dict.fromkeys(logical_names(field, named, frozenset())):
            others = [each for each in taken.setdefault(name, []) if each.wire_name != field.wire_name]
            known = next((each for each in others if not never_both(struct, each, field)), None)
            if known is not None and name not in said:
                hint = f"the other is {known.wire_name}; {_how_to_part(known, field)}"
                draft.reports_entry(where, "duplicate-field", f"readers see {name} twice", hint)
            taken[name].append(field)


def _how_to_part(first: Field, second: Field) -> str:
    """What is to be done about two fields of one reader's name that may both be there."""
    if first.when is None or second.when is None or first.when == second.when:
        return "hide one, or rename it with `as`"
    apart = text_of(Binary("and", Unary("not", first.when), second.when))
    return f"where both conditions may hold say which one is there, as in `when: {apart}`"


def logical_names(field: Field, named: Types, seen: frozenset[str]) -> Iterator[str]:
    """What readers call the members that a field gives to its struct."""
    if field.flatten:
        yield from _lent_names(field.type, named, seen)
        return
    if not field.hidden:
        yield field.name
    if field.meaning is not None and field.meaning.raw:
        yield field.meaning.raw
    for bit in field.bits:
        if not bit.hidden:
            yield from dict.fromkeys((bit.name, bit.title))


def _lent_names(type: Type, named: Types, seen: frozenset[str]) -> Iterator[str]:
    match type:
        case types.Reference(name=name) if name not in seen:
            yield from _lent_names(named[name], named, seen | {name})
        case types.Nullable() | types.Select() | types.Attempt():
            yield from filter(None, (type.kind_field, type.reason_field)) if isinstance(type, types.Attempt) else ()
            for part in parts_of(type):
                yield from _lent_names(part, named, seen)
        case types.Struct(fields=fields):
            for field in fields:
                yield from logical_names(field, named, seen)
        case _:
            return


def _check_attempt_names(draft: Draft, place: Place, attempt: types.Attempt, named: Types) -> None:
    """The fields that say which alternative held are no members of the alternatives."""
    members = {name for trial in attempt.trials for name in _lent_names(trial.type, named, frozenset())}
    for key, name in (("kind", attempt.kind_field), ("reason", attempt.reason_field)):
        if name and (name in members or (key == "reason" and name == attempt.kind_field)):
            hint = f"`{key}: NAME` gives this one another name"
            draft.reports_entry(place, "duplicate-field", f"readers see {name} twice", hint)


def _check_members(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """Names of members in the object, those of inline structs among them."""
    taken: dict[str, Field] = {}
    for where, field in _placed(struct, place):
        for name in dict.fromkeys(members(field, named, frozenset({struct.name}))):
            known = taken.get(name)
            apart = (
                known is None
                or never_in_one_version(struct, known, field)
                or known.when is not None
                or field.when is not None
            )
            if known is not None and not apart and known.wire_name != field.wire_name:
                message = f"the member {name} is there twice"
                hint = f"the other is {known.wire_name}; give each field a member of its own"
                draft.reports_entry(where, "duplicate-field", message, hint)
            taken[name] = field


def rest_of(field: Field, named: Types) -> types.Map | None:
    """The map that takes all other members of the object; None where the field is something else."""
    type, seen = field.type, set[str]()
    while isinstance(type, types.Reference) and type.name not in seen:
        seen.add(type.name)
        type = named[type.name]
    return type if field.inline and isinstance(type, types.Map) else None


def members(field: Field, named: Types, seen: frozenset[str]) -> Iterator[str]:
    """The members that a field is read from."""
    if not field.on_wire:
        return
    if not field.inline:
        yield field.key
        return
    if rest_of(field, named) is not None:
        return
    for name, _ in held(field.type, named):
        inner = named[name]
        if isinstance(inner, Struct) and name not in seen:
            for each in inner.fields:
                yield from members(each, named, seen | {name})


def _check_tags(draft: Draft, place: Place, struct: Struct) -> None:
    taken: dict[int, str] = {}
    for where, field in _placed(struct, place):
        if field.tag in taken:
            message = f"{taken[field.tag]} has the tag {field.tag} already"
            draft.reports(where / "tag", "duplicate-tag", message, "give each field a tag of its own")
        if field.tag:
            taken.setdefault(field.tag, field.wire_name)


# --- bytes ---------------------------------------------------------------------------------------------------------


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


def _check_offsets(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """Fields at stated offsets overlap no other field and leave no unnamed byte."""
    _check_variable_offsets(draft, place, struct, named)
    if _check_behind_tail(draft, place, struct):
        _check_from_end(draft, place, struct, named)
    spans: list[_Span] = []
    gaps: list[_Gap] = []
    vague: list[int] = []  # where fields begin of which the record alone tells how far they reach
    reached: int | None = 0  # where the next field begins, where that is known
    furthest = 0  # where the last of the spans ends
    for where, field in _placed(struct, place):
        if not field.in_struct:
            continue
        start = _offset(field, reached)
        stated = field.at is not None
        if start is None:
            vague += [0] if stated and _from_end(field) is None else []
            reached = None
            continue
        size = fixed_size(field, named)
        end = start + (size if size is not None else 1)
        known = not field.is_conditional and size is not None
        within = spans if start < furthest else []
        crossed = next((span for span in within if start < span.end and span.start < end), None)
        if crossed is not None and (stated or (known and start < end)) and not never_both(struct, crossed.field, field):
            _report_crossed(draft, where, field, start, crossed)
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


def _report_crossed(draft: Draft, where: Place, field: Field, start: int, crossed: _Span) -> None:
    """Report a field that begins within another, at the offset that it states or behind the field before it."""
    message = f"{field.wire_name} at {start} overlaps {crossed.name} ({crossed.start} to {crossed.end - 1})"
    hint = f"{crossed.name} ends before {crossed.end}"
    if field.at is not None:
        draft.reports(where / "at", "overlapping-fields", message, hint)
    else:
        draft.reports_entry(
            where, "overlapping-fields", message, f"{hint}; say `at`, or list the fields in their order"
        )


def _check_gaps(draft: Draft, gaps: list[_Gap], spans: list[_Span]) -> None:
    """Report the first bytes that nothing names."""
    for gap in gaps:
        if found := gap.unnamed(spans):
            start, end = found
            at = "" if found == (gap.start, gap.end) else f", at: {start}"
            hint = f"`- reserved: {{type: bytes({end - start}){at}, hidden: true}}` does"
            draft.reports(gap.place, "gap-in-layout", f"nothing names the bytes {start} to {end - 1}", hint)
            return


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
    for where, field in _placed(struct, place):
        if not _is_in_turn(field):
            continue
        if field.at is not None:
            start = sum_of(field.at, reached)
            if start is not None and reached is not None and reached.terms:
                own = _size_sum(field, named, start)
                starts.append(_Start(where / "at", field, before, start, own, began, reached, jumped))
            if start is None or start != reached:
                jumped = True
                others.append((field, start))
            reached = start
        size = None if field.is_conditional or reached is None else _size_sum(field, named, reached)
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
    counted = [(at, where, field) for where, field in _placed(struct, place) if (at := _from_end(field)) is not None]
    tail = sorted(counted, key=lambda item: item[0])
    if not tail or any(field.is_conditional for _, _, field in tail):
        return
    if _check_room_of_tail(draft, tail[0][1] / "at", tail[0][2], struct, named):
        _check_before_tail(draft, tail[0][1] / "at", tail[0][2], struct, named)
    _check_pointed(draft, place, struct, named)
    elsewhere = any(not isinstance(field.at, Literal | None) for field in filter(_is_in_turn, struct.fields))
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


def _check_behind_tail(draft: Draft, place: Place, struct: Struct) -> bool:
    """Whether each field that is read behind one that counts from the end says where it stands; else report it."""
    tail: Field | None = None
    fine = True
    for where, field in _placed(struct, place):
        if not field.in_struct:
            continue
        if field.at is not None:
            tail = field if _counts_from_end(field) else None
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
    return condition is not None and _HERE in references(condition)


def _check_room_of_tail(draft: Draft, place: Place, first: Field, struct: Struct, named: Types) -> bool:
    """Whether no field is known to reach into the first one that counts from the end; else report it."""
    at = _from_end(first) or 0
    reached = Sum()
    for field in filter(_is_in_turn, struct.fields):
        start = reached if field.at is None else sum_of(field.at, reached) or _ANYWHERE
        end = None if field.is_conditional else _end_sum(field, named, start)
        room = None if end is None else Sum(at, {_SIZE: 1}).plus(end.times(-1))
        if room is not None and not room.terms and room.number < 0:
            message = f"{first.wire_name} at {at} overlaps {field.wire_name}"
            ends = f"{field.wire_name} ends {byte_count(-room.number)} behind that"
            draft.reports(place, "overlapping-fields", message, ends)
            return False
        reached = end or _ANYWHERE
    return True


def _end_sum(field: Field, named: Types, start: Sum) -> Sum | None:
    """Where a field ends, as a sum; at the end of the region where it takes all bytes left from a stated offset on."""
    if field.at is not None and _has_open_end(field, named, frozenset()):
        return Sum(0, {_SIZE: 1})
    size = _size_sum(field, named, start)
    return None if size is None else start.plus(size)


def _check_before_tail(draft: Draft, place: Place, first: Field, struct: Struct, named: Types) -> None:
    """What stands before the first field that counts from the end has to end there, whatever the region's size."""
    reached = _reached(struct, named)
    before = next((field.wire_name for field in reversed(struct.fields) if _is_in_turn(field)), "")
    if reached is None or not before:
        return
    at = _from_end(first) or 0
    gap = Sum(at, {_SIZE: 1}).plus(reached.times(-1))
    if gap.terms.get(_SIZE, 0) > 0 or (not gap.terms and gap.number > 0):
        message = (
            f"nothing names the bytes between the end of {before} and {first.wire_name}, which counts from the end"
        )
        draft.reports(place, "gap-in-layout", message, f"`- rest: bytes(size - {-at} - here)` before it does")


def _check_pointed(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """What fills a region up to its tail has no bytes where they are built unseen, and offsets lead nowhere then."""
    for where, field in _placed(struct, place):
        amounts = (types.stated(field.size), types.stated(getattr(field.type, "size", None)))
        fills = any(amount is not None and _SIZE in references(amount) for amount in amounts)
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


def start_of(struct: Struct, field: Field, named: Types) -> Sum | None:
    """Where a field begins, as a sum of what other fields say."""
    from_end = _from_end(field)
    if from_end is not None:
        return Sum(from_end, {_SIZE: 1})
    reached: Sum | None = Sum()
    for each in filter(_is_in_turn, struct.fields):
        if each.at is not None:
            reached = sum_of(each.at, reached)
        if each is field or reached is None:
            return reached
        certain = each.when is None and not each.since and not each.until
        size = _size_sum(each, named, reached) if certain else None
        reached = None if size is None else reached.plus(size)
    return None


def _reached(struct: Struct, named: Types) -> Sum | None:
    """The end of the fields that do not count from the end, where each follows the one before."""
    reached = Sum()
    for field in filter(_is_in_turn, struct.fields):
        start = reached if field.at is None else sum_of(field.at, reached)
        size = None if field.when is not None or start != reached else _size_sum(field, named, reached)
        if size is None:
            return None
        reached = reached.plus(size)
    return reached


def _size_sum(field: Field, named: Types, reached: Sum) -> Sum | None:
    """The bytes of a field, as a sum of what other fields say."""
    fixed = fixed_size(field, named)
    if fixed is not None:
        return Sum(fixed)
    if field.size is not None:
        return _sum_of(field.size, reached)
    match field.type:
        case types.Bytes(size=size) | types.Text(size=size) if size is not None:
            return _sum_of(size, reached)
        case types.Array(packed=0, count=count, element=element) if count is not None:
            each, many = type_size(element, named, frozenset()), _sum_of(count, reached)
            return None if each is None or many is None else many.times(each)
        case _:
            return None


def _sum_of(amount: Amount, reached: Sum | None) -> Sum | None:
    """An amount as a sum of what other fields say; None where it is none."""
    expression = types.stated(amount)
    return None if expression is None else sum_of(expression, reached)


def _check_greed(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """A field that takes all bytes left is the last, but for fields at offsets before it."""
    on_wire = [(where, field) for where, field in _placed(struct, place) if field.in_struct]
    for index, (where, field) in enumerate(on_wire):
        alone = field.when is None and field.size is None and field.at is None
        greedy = alone and is_greedy(field.type, named, frozenset())
        asking = looks_at_end(field.type, named) if field.size is None else ""
        case = _greedy_case(field.type, named, frozenset()) if alone else ""
        if not (greedy or asking or case):
            continue
        beside = (later for _, later in on_wire[index + 1 :] if not never_in_one_version(struct, field, later))
        followers = [later for later in beside if later.at is None or _counts_from_end(later)]
        if greedy and followers:
            message = f"{field.wire_name} takes all bytes left, and {followers[0].wire_name} follows"
            hint = _where_else_to_ask(field.type, named) or "give it a size: `bytes(n)`, `str(n)`, `count`, `size`"
            draft.reports_entry(where, "greedy-field", message, hint)
        elif asking and followers:
            behind = f"{followers[0].wire_name} follows {field.wire_name}"
            message = f"{asking} is there or not by where the bytes end, and {behind}"
            hint = f"give {field.wire_name} a `size`, or let a flag say whether {asking} is there"
            draft.reports_entry(where, "greedy-field", message, hint)
        always = [later for later in followers if later.when is None]
        if case and always:
            message = f"{field.wire_name} takes all bytes left where it is {case}, and {always[0].wire_name} follows"
            draft.reports_entry(where, "greedy-field", message, f"say in {case} how many bytes it has")
    for where, field in _placed(struct, place):
        _check_ends_within(draft, where, field, named)
        element = _greedy_element(field.type, named)
        if element:
            message = f"the first element of {field.wire_name} takes all bytes left"
            asks = isinstance(field.type, types.Array) and _where_else_to_ask(field.type.element, named)
            hint = asks or f"say in {element} how many bytes an element has"
            draft.reports_entry(where, "greedy-field", message, hint)


def _check_ends_within(draft: Draft, where: Place, field: Field, named: Types) -> None:
    """Where bytes end, elements of lists do not know, nor builders, of what is ignored up to there, how much it is."""
    listed = field.type if isinstance(field.type, types.Array) and field.type.count != Literal(1) else None
    if listed is not None and (flaw := end_of_element(listed.element, named)):
        draft.reports_entry(where, "greedy-field", *flaw)
    size = field.size.value if isinstance(field.size, Literal) else None
    if isinstance(size, int) and (ignored := _ignored(field.type, named, frozenset())):
        message = f"{field.wire_name} always has {size} bytes, and builders write none of {ignored}"
        hint = f"say how many it has: `type: bytes({size} - here)`"
        draft.reports_entry(where, "unknown-on-build", message, hint)


def end_of_element(element: Type, named: Types) -> tuple[str, str] | None:
    """What is wrong with an element that asks where the bytes end, and what would be right; None where none does."""
    asking = looks_at_end(element, named)
    message = f"{asking} is there or not by where the bytes end, and other elements stand there"
    return (message, f"let a flag say whether {asking} is there") if asking else None


def _ignored(type: Type, named: Types, seen: frozenset[str]) -> str:
    """The field, of a struct that it may be, that is the ignored rest of its region; empty where there is none."""
    match type:
        case types.Reference(name=name) if name not in seen:
            return _ignored(named[name], named, seen | {name})
        case types.Select():
            return next((found for each in parts_of(type) if (found := _ignored(each, named, seen))), "")
        case types.Struct(encoding=Encoding.BINARY, name=name):
            return next((f"{name}.{last.wire_name}" for last in _last(type) if _is_ignored_rest(last)), "")
        case _:
            return ""


def _is_ignored_rest(field: Field) -> bool:
    """Whether a field is all bytes left, which nobody sees, and nothing says."""
    is_rest = isinstance(field.type, types.Bytes | types.Text) and field.type.size is None and field.size is None
    return is_rest and field.hidden and field.derive is None and field.const is None and field.when is None


def _check_used_up(draft: Draft, place: Place, struct: Struct) -> None:
    """Nothing stands behind the step that asks for the end, but fields at offsets before it."""
    asked = next((position for position, step in enumerate(struct.steps) if isinstance(step, types.End)), None)
    for position, step in enumerate(struct.steps):
        if asked is not None and position > asked and isinstance(step, Field) and step.on_wire and step.at is None:
            message = f"{step.wire_name} stands behind `end`, where no byte is left"
            where, hint = place / position / step.wire_name, "let `end` be the last step"
            draft.reports_entry(where, "greedy-field", message, hint)
            return


def _counts_from_end(field: Field) -> bool:
    return _from_end(field) is not None


def _is_in_turn(field: Field) -> bool:
    """Whether a field stands in the struct behind those before it, or where it says, and not counted from the end."""
    return field.in_struct and _from_end(field) is None


def _from_end(field: Field) -> int | None:
    """The offset, below zero, of a field that counts from the end; None for others."""
    at = None if field.base else integer_of(field.at)
    return at if at is not None and at < 0 else None


def _check_elements(draft: Draft, place: Place, struct: Struct, named: Types) -> None:
    """An element that never has a byte leaves no way to tell how many there are."""
    for where, field in _placed(struct, place):
        match field.type:
            case types.Array(packed=0, element=element) if type_size(element, named, frozenset()) == 0:
                message = f"an element of {field.wire_name} has no bytes"
                hint = "count it in a field of its own: bytes cannot tell how many there are"
                draft.reports_entry(where, "wrong-shape", message, hint)
            case types.Array(is_open=True, element=element) if _is_conditional(element, named):
                message = f"an element of {field.wire_name} has no bytes where its condition does not hold"
                hint = f"say `when` of {field.wire_name}, or how many there are with `count`"
                draft.reports_entry(where, "wrong-shape", message, hint)
            case _:
                pass


def _is_conditional(type: Type, named: Types) -> bool:
    """Whether a struct is there as a whole or not at all: all of its bytes stand under one condition."""
    struct = named[type.name] if isinstance(type, types.Reference) else type
    if not isinstance(struct, Struct):
        return False
    on_wire = [field for field in struct.fields if field.in_struct]
    conditions = {field.when for field in on_wire}
    return bool(on_wire) and len(conditions) == 1 and None not in conditions


def _has_open_end(field: Field, named: Types, seen: frozenset[str]) -> bool:
    return is_greedy(field.type, named, seen) if field.size is None else field.size == _ALL_LEFT


def _greedy_element(type: Type, named: Types) -> str:
    """What an element without an end of its own is called; empty where elements have one, or there is one element."""
    match type:
        case types.Array(count=Literal(1)):
            return ""
        case types.Array(element=element) if is_greedy(element, named, frozenset()):
            return element.name if isinstance(element, types.Reference) else "its type"
        case types.Select():
            return next((found for each in parts_of(type) if (found := _greedy_element(each, named))), "")
        case _:
            return ""


def _greedy_case(type: Type, named: Types, seen: frozenset[str]) -> str:
    """What the case of a union that has no end of its own is called; empty where each has one."""
    match type:
        case types.Reference(name=name) if name not in seen:
            return _greedy_case(named[name], named, seen | {name})
        case types.Select() | types.Attempt():
            pass
        case _:
            return ""
    for each in parts_of(type):
        if is_greedy(each, named, frozenset()):
            return each.name if isinstance(each, types.Reference) else "one of its cases"
        if found := _greedy_case(each, named, seen):
            return found
    return ""


def is_greedy(type: Type, named: Types, seen: frozenset[str]) -> bool:
    """Whether a binary type has no end of its own."""
    match type:
        case types.Bytes(size=size) | types.Text(size=size):
            return size is None or size == _ALL_LEFT
        case types.Array(count=None):
            return True
        case types.Reference(name=name) if name not in seen:
            return is_greedy(named[name], named, seen | {name})
        case types.Struct(encoding=Encoding.PROTOBUF | Encoding.JSON):
            return True
        case types.Struct(encoding=Encoding.BINARY, fields=fields):
            open_end = any(last.at is None and _has_open_end(last, named, seen) for last in _last(type))
            return open_end or any(map(_counts_from_end, fields)) or _asks_for_end(type)
        case _:
            return False


def _last(struct: Struct) -> Iterator[Field]:
    """The fields that are the last one of some version."""
    in_struct = [field for field in struct.fields if field.in_struct]
    for place, field in enumerate(in_struct):
        if all(never_in_one_version(struct, field, later) for later in in_struct[place + 1 :]):
            yield field


def _where_else_to_ask(type: Type, named: Types) -> str:
    """What to do about a struct that asks for the end of its region; empty for other types."""
    struct = named[type.name] if isinstance(type, types.Reference) else type
    if not isinstance(struct, Struct) or not _asks_for_end(struct):
        return ""
    return f"ask for the `end` around {struct.name}, or give that a `size`"


def _asks_for_end(struct: Struct) -> bool:
    """Whether a struct is right only where its region ends with it."""
    return any(isinstance(step, types.End) for step in struct.steps)


def _check_verified(draft: Draft, place: Place, struct: Struct) -> None:
    verified = {step.field for step in struct.steps if isinstance(step, types.Verify)}
    if not verified <= {field.wire_name for field in struct.fields if field.checksum is not None}:
        return  # said of the step that verifies what is none
    for where, field in _placed(struct, place):
        if field.checksum is not None and field.wire_name not in verified:
            hint = f"add `- verify: {{field: {field.wire_name}}}` where it can be trusted"
            draft.reports_entry(where, "unverified-checksum", f"no step verifies {field.wire_name}", hint)


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


def fixed_size(field: Field, named: Types) -> int | None:
    """The bytes of a field, where they are always as many."""
    if field.size is not None:
        return field.size.value if isinstance(field.size, Literal) and isinstance(field.size.value, int) else None
    return type_size(field.type, named, frozenset())


def type_size(type: Type, named: Types, seen: frozenset[str]) -> int | None:
    """The bytes of a binary type, where they are always as many."""
    match type:
        case types.Integer():
            return type.width
        case types.Float(bits=bits):
            return bits // 8
        case types.Boolean(share=share):
            return 1 if share is None else share
        case types.Bytes(size=Literal(int(size))) | types.Text(size=Literal(int(size))):
            return size
        case types.Bytes(size=types.Padded(size)) | types.Text(size=types.Padded(size)):
            return size
        case types.Array(packed_size=int(size)):
            return size
        case types.Array(packed=0, count=Literal(int(count)), element=element, salvage=None):
            each = type_size(element, named, seen)
            return None if each is None else max(count, 0) * each
        case types.Reference(name=name) if name not in seen:
            return type_size(named[name], named, seen | {name})
        case types.Struct(encoding=Encoding.BINARY):
            return _struct_size(type, named, seen)
        case _:
            return None


def _struct_size(struct: Struct, named: Types, seen: frozenset[str]) -> int | None:
    total = 0
    for field in struct.fields:
        if not field.in_struct:
            continue
        size = type_size(field.type, named, seen)
        varies = field.is_conditional
        if size is None or varies or field.at is not None or field.size is not None:
            return None
        total += size
    return total
