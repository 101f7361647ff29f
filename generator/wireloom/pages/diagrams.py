"""The picture of a type: a ruler of bytes for binary structs, a list of boxes for others, branches for choices.

In a binary struct, fields of a fixed place are on a grid of eight bytes a row. A field with a condition, of no fixed
size, or of many bytes has a row of its own. Below are the bits of each integer that has names for them. Arrows lead
from a length, a count or an offset to the field that it is about.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from wireloom.expr.ast import Expression, FieldRef, Literal, references
from wireloom.expr.text import text_of
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.types import Bit, Field, Form, Struct, Type
from wireloom.pages.drawing import WIDTH, Drawing, cut, halves, width_of
from wireloom.pages.offsets import Offset, offsets
from wireloom.pages.rules import literal
from wireloom.resolve.facts.sizes import fixed_size, from_end
from wireloom.writing import type_name

_LEFT, _COLUMN, _COLUMNS = 78, 78, 8
_RIGHT = _LEFT + _COLUMN * _COLUMNS
_HEIGHT, _GAP = 36, 8
_LANES, _LANE = 5, 9
_BIT, _MOST_BITS = 26, 16
_ROW = 26
_MOST_CASES = 40
_WORDS = {"plain": "value", "constant": "constant", "derived": "computed", "checksum": "checksum", "open": "any size"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a type, and what it shows in words."""

    svg: str
    words: str


def picture(name: str, type: Type, format: Format) -> Picture | None:
    """The picture of a named type; None of one that has no parts to show."""
    drawing = Drawing()
    match types.not_null(type):
        case Struct() as struct if not _has_parts(struct):
            return None
        case Struct(form=Form.SEQUENCE) as struct:
            words = _Binary(struct, format, drawing).drawn()
        case Struct() as struct:
            words = _listed(struct, drawing)
        case types.Select(cases=cases, tag=tag) as select if len(cases) > 1:
            words = _branches(
                name, _tag(tag), [(_values(each, select.notation), _leads(each)) for each in cases], drawing
            )
        case types.OneOf(alternatives=each) if len(each) > 1:
            words = _branches(name, "kind", [(one.name, type_name(one.type)) for one in each], drawing)
        case types.Attempt(trials=trials):
            words = _branches(name, "first that fits", [(one.name, type_name(one.type)) for one in trials], drawing)
        case _:
            return None
    title = f"Layout of {name}"
    return Picture(drawing.svg(format, title, words), f"{title}: {words}")


def _has_parts(struct: Struct) -> bool:
    """Whether there is more to show than one field, which the table says as well."""
    return sum(each.on_wire for each in struct.fields) > 1 or any(each.bits for each in struct.fields)


# --- binary structs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a field was drawn: the middle of its lower edge, the middle of its right edge."""

    x: float
    below: float
    right: float
    middle: float


@dataclass(slots=True)
class _Binary:
    struct: Struct
    format: Format
    drawing: Drawing
    spots: dict[str, _Spot] = field(default_factory=dict)
    y: float = 26
    reached: Offset | None = None  # the byte of the grid that comes next; None: a new grid begins
    row: int = 0  # the first byte of the row that has been drawn last
    kinds: dict[str, None] = field(default_factory=dict)

    def drawn(self) -> str:
        """Draw all of the struct; what is drawn, in words."""
        begins = offsets(self.struct, self.format)
        words: list[str] = []
        ruled = False
        for step in sorted(self.struct.steps, key=_is_apart):
            if isinstance(step, types.Mark) and begins.get(step.name):
                self._mark(step.name)
            if not isinstance(step, Field) or not step.on_wire:
                continue
            start, size = _start(step, begins), fixed_size(step, self.format.named)
            fixed = start is not None and not start.base
            words.append(f"{_title(step)} at {start.bytes}" if start and fixed else f"then {_title(step)}")
            if size is not None and start is not None and 0 < size <= 2 * _COLUMNS and not step.is_conditional:
                ruled = self._ruler(ruled)
                self._grid(step, start, size)
            else:
                self._own_row(step, _place(step, start), size)
        self._bits()
        self._arrows()
        self._legend()
        return ", ".join(words)

    def _ruler(self, ruled: bool) -> bool:  # noqa: FBT001
        """The numbers of the columns, once."""
        if not ruled:
            for column in range(_COLUMNS):
                self.drawing.text(_LEFT + _COLUMN * (column + 0.5), 16, f"+{column}", "small", "middle")
        return True

    def _grid(self, each: Field, start: Offset, size: int) -> None:
        """A field of a fixed place: one box, or a piece in each row that it reaches into."""
        if self.reached != start:
            self._next_row(start)
        pieces: list[tuple[float, float, float]] = []
        left = size
        while left:
            column = start.bytes + size - left - self.row
            if column >= _COLUMNS:
                column = 0
                self._next_row(replace(start, bytes=self.row + _COLUMNS))
            count = min(left, _COLUMNS - column)
            pieces.append((_LEFT + _COLUMN * column, self.y - _HEIGHT - _GAP, _COLUMN * count))
            left -= count
        self.reached = replace(start, bytes=start.bytes + size)
        widest = max(pieces, key=lambda piece: piece[2])
        for x, y, width in pieces:
            self.drawing.box(x, y, width, _HEIGHT, self._kind(each), _title(each))
            if (x, y, width) == widest:
                self._label(each, x, y, width)
            else:
                self.drawing.text(x + width / 2, y + 22, "…", "small", "middle")
        x, y, width = pieces[-1]
        self.spots[each.wire_name] = _Spot(x + width / 2, y + _HEIGHT, x + width, y + _HEIGHT / 2)
        self._note_bits(each)

    def _next_row(self, start: Offset) -> None:
        self.row = start.bytes
        self.drawing.text(_LEFT - 8, self.y + 22, cut(_start_text(start), _LEFT - 12, "small"), "small", "end")
        self.y += _HEIGHT + _GAP

    def _label(self, each: Field, x: float, y: float, width: float) -> None:
        lines = halves(_title(each), width - 6)
        second = lines[1] if len(lines) > 1 else cut(_kind_text(each), width - 6, "small")
        self.drawing.text(x + width / 2, y + 15, lines[0], "name", "middle")
        self.drawing.text(x + width / 2, y + 29, second, "name" if len(lines) > 1 else "small", "middle")

    def _own_row(self, each: Field, place: str, size: int | None) -> None:
        """A field that has a row of its own, with its condition."""
        self.reached = None
        y, width = self.y, _COLUMN * (_COLUMNS if size is None else min(max(size, 2), _COLUMNS))
        self.drawing.text(_LEFT - 8, y + 22, cut(place, _LEFT - 12, "small"), "small", "end")
        maybe = " maybe" if each.is_conditional else ""
        self.drawing.box(_LEFT, y, width, _HEIGHT, f"{self._kind(each)}{maybe}", _title(each))
        bytes_ = "" if size is None else f", {size} byte{'' if size == 1 else 's'}"
        said = f"{_kind_text(each)}{bytes_}"
        self.drawing.text(_LEFT + 8, y + 15, cut(_title(each), width - 12))
        when = f"if {_when(each)}" if each.is_conditional else ""
        second = said if width < _COLUMN * 4 or not when else f"{said}; {when}"
        self.drawing.text(_LEFT + 8, y + 29, cut(second, width - 14, "small"), "small")
        if when and second == said:
            self.drawing.text(_LEFT + width + 8, y + 22, cut(when, _RIGHT - _LEFT - width - 10, "small"), "small")
        self.spots[each.wire_name] = _Spot(_LEFT + width / 2, y + _HEIGHT, _LEFT + width, y + _HEIGHT / 2)
        self.y += _HEIGHT + _GAP
        self._note_bits(each)

    def _note_bits(self, each: Field) -> None:
        for bit in each.bits:
            self.spots.setdefault(bit.name, self.spots[each.wire_name])

    def _mark(self, name: str) -> None:
        self.drawing.path(f"M{_LEFT - 6} {self.y - _GAP / 2} H{_RIGHT}", "back")
        self.drawing.text(_RIGHT, self.y + 8, name, "small", "end")
        self.y += 14
        self.reached = None

    def _kind(self, each: Field) -> str:
        kind = _kind(each, self.format)
        self.kinds[kind] = None
        return kind

    # --- bits, arrows, legend --------------------------------------------------------------------------------------

    def _bits(self) -> None:
        for each in self.struct.fields:
            width = each.type.bits if isinstance(each.type, types.Integer) else 0
            if each.bits and width:
                self._register(each, width)

    def _register(self, each: Field, width: int) -> None:
        """The bits of an integer, sixteen a row from the highest, each with a line to its name."""
        self.y += 18
        title = "bits" if each.shared else f"{each.wire_name}: bits"
        self.drawing.text(_LEFT, self.y, title, "small")
        self.y += 6
        for top in range(width - 1, -1, -_MOST_BITS):
            self._bit_row(each, top, max(top - _MOST_BITS + 1, 0))

    def _bit_row(self, each: Field, top: int, low: int) -> None:
        y, count = self.y + 12, top - low + 1
        for place in range(count):
            self.drawing.text(_LEFT + _BIT * (place + 0.5), y - 3, str(top - place), "small", "middle")
        named = [bit for bit in each.bits if bit.low <= top and bit.low + bit.width > low]
        used = {place for bit in named for place in range(bit.low, bit.low + bit.width)}
        for place in range(low, top + 1):
            if place not in used:
                self.drawing.box(_LEFT + _BIT * (top - place), y, _BIT, 18, "plain maybe")
        for turn, bit in enumerate(sorted(named, key=lambda one: one.low)):
            last, first = min(bit.low + bit.width - 1, top), max(bit.low, low)
            x, wide = _LEFT + _BIT * (top - last), _BIT * (last - first + 1)
            self.drawing.box(x, y, wide, 18, "derived" if bit.derive is not None else "plain", bit.name)
            line, right = y + 32 + turn * 15, _LEFT + _BIT * count + 14
            self.drawing.path(f"M{x + wide / 2:g} {y + 18:g} V{line:g} H{right}")
            self.drawing.text(right + 5, line + 4, cut(_bit_text(bit), WIDTH - right - 12))
        self.y = y + 26 + 15 * len(named)

    def _arrows(self) -> None:
        """From what tells a length, a count or an offset to the field that it is about."""
        lanes = 0
        for each in self.struct.fields:
            target = self.spots.get(each.wire_name)
            if target is None:
                continue
            if _jumps(each.type) and lanes < _LANES:
                self._back(target, lanes)
                lanes += 1
            for name in dict.fromkeys(_told_by(each)):
                source = self.spots.get(name)
                if source is not None and source is not target and lanes < _LANES:
                    self._arrow(source, target, lanes)
                    lanes += 1

    def _arrow(self, source: _Spot, target: _Spot, lane: int) -> None:
        x, below = _RIGHT + 12 + _LANE * lane, source.below + 3
        self.drawing.path(
            f"M{source.x:g} {source.below:g} V{below:g} H{x:g} V{target.middle:g} H{target.right + 5:g}", "arrow"
        )
        self._head(target.right, target.middle)

    def _back(self, target: _Spot, lane: int) -> None:
        """A pointer to bytes before."""
        x = _RIGHT + 12 + _LANE * lane
        self.drawing.path(f"M{target.right:g} {target.middle:g} H{x:g} V22 H{_RIGHT + 5:g}", "back")
        self._head(_RIGHT, 22)

    def _head(self, x: float, y: float) -> None:
        self.drawing.path(f"M{x:g} {y:g} l8 -4 v8 z", "head")

    def _legend(self) -> None:
        self.y = max(self.y, self.drawing.bottom) + 16
        x = float(_LEFT)
        for kind, word in _WORDS.items():
            if kind in self.kinds:
                self.drawing.box(x, self.y - 10, 12, 12, kind)
                self.drawing.text(x + 18, self.y, word, "small")
                x += 34 + width_of(word, "small")
        if any(each.is_conditional for each in self.struct.fields):
            self.drawing.box(x, self.y - 10, 12, 12, "plain maybe")
            self.drawing.text(x + 18, self.y, "only under a condition", "small")


def _is_apart(step: types.Step) -> bool:
    """Whether a field is not drawn in turn: it counts from the end, or is part of a struct around."""
    return isinstance(step, Field) and (bool(step.base) or from_end(step) is not None)


def _start(each: Field, begins: Mapping[str, tuple[Offset, ...]]) -> Offset | None:
    """Where a field begins, if that is one offset."""
    found = begins.get(each.wire_name, ())
    return found[0] if len(found) == 1 and from_end(each) is None and not each.base else None


def _place(each: Field, start: Offset | None) -> str:
    """The label to the left of a row."""
    end = from_end(each)
    if end is not None:
        return f"end - {-end}"
    return "elsewhere" if each.base else "" if start is None else _start_text(start)


def _start_text(start: Offset) -> str:
    if not start.base:
        return str(start.bytes)
    base = "" if start.after else start.base
    return f"{base}+{start.bytes}" if start.bytes else base


def _kind(each: Field, format: Format) -> str:
    """How the box of a field is filled."""
    if each.checksum is not None:
        return "checksum"
    if each.const is not None:
        return "constant"
    if each.derive is not None:
        return "derived"
    return "plain" if fixed_size(each, format.named) is not None else "open"


def _told_by(each: Field) -> Iterator[str]:
    """The fields that tell the size, the count or the place of a field."""
    plain = types.not_null(each.type)
    amounts = [each.size, each.at]
    amounts += [plain.size] if isinstance(plain, types.Text | types.Bytes) else []
    amounts += [plain.count] if isinstance(plain, types.Array) else []
    for amount in amounts:
        found = types.stated(amount)
        if found is not None:
            yield from _fields(found)


def _fields(expression: Expression) -> Iterator[str]:
    yield from (each.name for each in references(expression) if isinstance(each, FieldRef) and not each.up)


def _jumps(type: Type) -> bool:
    count = type.count if isinstance(type, types.Array) else None
    return isinstance(count, types.Terminator) and count.jump is not None


# --- lists of boxes --------------------------------------------------------------------------------------------------


def _listed(struct: Struct, drawing: Drawing) -> str:
    """The fields of a message, an object or an array: tag, member or place; type; name."""
    fields = [each for each in struct.fields if each.on_wire]
    head = {Form.MESSAGE: "tag", Form.OBJECT: "member", Form.ARRAY: "place"}.get(struct.form, "")
    keys = [_key(each, place, struct.form) for place, each in enumerate(fields)]
    wide = min(max(max(width_of(key) for key in keys) + 20, 60), 220)
    drawing.text(_LEFT, 16, head, "small")
    y = 24.0
    for key, each in zip(keys, fields, strict=True):
        maybe = " maybe" if _may_be_absent(each) else ""
        kind = "constant" if each.const is not None else "derived" if each.derive is not None else "plain"
        if isinstance(types.not_null(each.type), types.Array):
            drawing.box(_LEFT + wide + 3, y + 3, _RIGHT - _LEFT - wide, _ROW - 6, f"{kind}{maybe}")
        drawing.box(_LEFT, y, wide, _ROW - 6, f"{kind}{maybe}", key)
        drawing.box(_LEFT + wide, y, _RIGHT - _LEFT - wide, _ROW - 6, f"{kind}{maybe}", _title(each))
        drawing.text(_LEFT + wide / 2, y + 14, cut(key, wide - 8), "name", "middle")
        said = f"{type_name(each.type)}" if key == _title(each) else f"{_title(each)}: {type_name(each.type)}"
        when = f"; if {_when(each)}" if each.is_conditional else ""
        drawing.text(_LEFT + wide + 8, y + 14, cut(said + when, _RIGHT - _LEFT - wide - 14))
        y += _ROW
    notes = [
        *(["dashed: may be absent"] if any(map(_may_be_absent, fields)) else []),
        *(["doubled: a list"] if any(isinstance(types.not_null(each.type), types.Array) for each in fields) else []),
    ]
    drawing.text(_LEFT, y + 10, "; ".join(notes), "small")
    return ", ".join(
        f"{key} {_title(each)}" if key != _title(each) else key for key, each in zip(keys, fields, strict=True)
    )


def _may_be_absent(each: Field) -> bool:
    return each.is_conditional or each.presence is types.Presence.OPTIONAL


def _key(each: Field, place: int, form: Form) -> str:
    match form:
        case Form.MESSAGE:
            return str(each.tag)
        case Form.OBJECT:
            return "…" if each.inline else each.key
        case _:
            return str(place)


# --- choices ---------------------------------------------------------------------------------------------------------


def _branches(name: str, tag: str, cases: list[tuple[str, str]], drawing: Drawing) -> str:
    """A box for what is chosen, and a line to each case."""
    shown = cases[:_MOST_CASES]
    height = _ROW * len(shown)
    middle = 20 + height / 2 - 3
    drawing.box(_LEFT - 60, middle - 18, 200, _HEIGHT, "derived", tag)
    drawing.text(_LEFT + 40, middle - 3, cut(name, 190), "name", "middle")
    drawing.text(_LEFT + 40, middle + 11, cut(f"by {tag}", 190, "small"), "small", "middle")
    x = _LEFT + 200
    for place, (value, leads) in enumerate(shown):
        y = 20 + _ROW * place
        drawing.path(f"M{_LEFT + 140} {middle:g} H{_LEFT + 165} V{y + 10:g} H{x}")
        drawing.box(x, y, 200, _ROW - 6, "constant", value)
        drawing.text(x + 8, y + 14, cut(value, 186))
        drawing.box(x + 200, y, _RIGHT - x - 200, _ROW - 6, "plain", leads)
        drawing.text(x + 208, y + 14, cut(leads, _RIGHT - x - 214))
    return ", ".join(f"{value} is {leads}" for value, leads in cases)


def _tag(tag: types.FieldTag | types.PeekTag | types.MemberTag) -> str:
    match tag:
        case types.FieldTag(expression=expression):
            return text_of(expression)
        case types.PeekTag():
            return "the first bytes"
        case types.MemberTag(member=member):
            return f"member {member}"


def _values(case: types.Case, notation: str) -> str:
    return ", ".join(literal(value, notation) for value in case.values) or "any other"


def _leads(case: types.Case) -> str:
    return f"error {case.type.code}" if isinstance(case.type, types.Refusal) else type_name(case.type)


# --- texts -----------------------------------------------------------------------------------------------------------


def _title(each: Field) -> str:
    return "(bits)" if each.shared else each.wire_name


def _kind_text(each: Field) -> str:
    """The second line of a box."""
    if each.const is not None:
        return f"= {literal(each.const, each.notation)}"
    plain = types.not_null(each.type)
    size = each.size if each.size is not None else getattr(plain, "size", None) or getattr(plain, "count", None)
    if size is not None and (stated := types.stated(size)) is not None and not isinstance(stated, Literal):
        return f"{type_name(each.type)} [{text_of(stated)}]"
    return type_name(each.type)


def _bit_text(bit: Bit) -> str:
    return bit.name if bit.width == 1 else f"{bit.name} ({bit.low}-{bit.low + bit.width - 1})"


def _when(each: Field) -> str:
    said = [text_of(each.when)] if each.when is not None else []
    said += [f"since {each.since}"] if each.since else []
    said += [f"until {each.until}"] if each.until else []
    return ", ".join(said)
