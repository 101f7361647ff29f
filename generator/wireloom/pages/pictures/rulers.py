"""Draws a binary struct: a ruler of bytes, and the bits of its integers.

Fields at fixed offsets are on a grid of eight bytes per row. A field with a condition, of variable size, or of many
bytes, has a row of its own. Below are the bits of each integer with named bits. Arrows lead from a length, count or
offset to its field.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from wireloom.expr.ast import Expression, fields_in
from wireloom.model import types
from wireloom.model.format import Format
from wireloom.model.types import Field, Struct, Type
from wireloom.pages.offsets import Offset, offsets
from wireloom.pages.pictures.labels import bit_label, condition, form, title
from wireloom.pages.pictures.svg import WIDTH, Drawing, cut, halves, width_of
from wireloom.resolve.facts.sizes import fixed_size, from_end

LEFT, _COLUMN, _COLUMNS = 78, 78, 8
RIGHT = LEFT + _COLUMN * _COLUMNS
HEIGHT, _GAP = 36, 8
_LANES, _LANE = 5, 9
_BIT, _MOST_BITS = 26, 16
_WORDS = {"plain": "value", "constant": "constant", "derived": "computed", "checksum": "checksum", "open": "any size"}


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a field was drawn: the middle of its lower edge, and of its right edge."""

    x: float
    below: float
    right: float
    middle: float


@dataclass(slots=True)
class Ruler:
    """Draws one binary struct."""

    struct: Struct
    format: Format
    drawing: Drawing
    spots: dict[str, _Spot] = field(default_factory=dict)
    y: float = 26
    reached: Offset | None = None  # the next byte of the grid; None starts a new grid
    row: int = 0  # the first byte of the last drawn row
    kinds: dict[str, None] = field(default_factory=dict)

    def drawn(self) -> str:
        """Draw the whole struct; returns the description in words."""
        begins = offsets(self.struct, self.format)
        words: list[str] = []
        ruled = False
        for step in sorted(self.struct.steps, key=_is_drawn_last):
            if isinstance(step, types.Mark) and begins.get(step.name):
                self._mark(step.name)
            if not isinstance(step, Field) or not step.on_wire:
                continue
            start, size = _start(step, begins), fixed_size(step, self.format.named)
            fixed = start is not None and not start.base
            words.append(f"{title(step)} at {start.bytes}" if start and fixed else f"then {title(step)}")
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
        """Draw the column numbers once."""
        if not ruled:
            for column in range(_COLUMNS):
                self.drawing.text(LEFT + _COLUMN * (column + 0.5), 16, f"+{column}", "small", "middle")
        return True

    def _grid(self, each: Field, start: Offset, size: int) -> None:
        """Draw a field at a fixed offset: one box, or one for each row that it spans."""
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
            pieces.append((LEFT + _COLUMN * column, self.y - HEIGHT - _GAP, _COLUMN * count))
            left -= count
        self.reached = replace(start, bytes=start.bytes + size)
        widest = max(pieces, key=lambda piece: piece[2])
        for x, y, width in pieces:
            self.drawing.box(x, y, width, HEIGHT, self._kind(each), title(each))
            if (x, y, width) == widest:
                self._label(each, x, y, width)
            else:
                self.drawing.text(x + width / 2, y + 22, "…", "small", "middle")
        x, y, width = pieces[-1]
        self.spots[each.wire_name] = _Spot(x + width / 2, y + HEIGHT, x + width, y + HEIGHT / 2)
        self._note_bits(each)

    def _next_row(self, start: Offset) -> None:
        self.row = start.bytes
        self.drawing.text(LEFT - 8, self.y + 22, cut(_start_text(start), LEFT - 12, "small"), "small", "end")
        self.y += HEIGHT + _GAP

    def _label(self, each: Field, x: float, y: float, width: float) -> None:
        lines = halves(title(each), width - 6)
        second = lines[1] if len(lines) > 1 else cut(form(each), width - 6, "small")
        self.drawing.text(x + width / 2, y + 15, lines[0], "name", "middle")
        self.drawing.text(x + width / 2, y + 29, second, "name" if len(lines) > 1 else "small", "middle")

    def _own_row(self, each: Field, place: str, size: int | None) -> None:
        """Draw a field in a row of its own, with its condition."""
        self.reached = None
        y, width = self.y, _COLUMN * (_COLUMNS if size is None else min(max(size, 2), _COLUMNS))
        self.drawing.text(LEFT - 8, y + 22, cut(place, LEFT - 12, "small"), "small", "end")
        maybe = " maybe" if each.is_conditional else ""
        self.drawing.box(LEFT, y, width, HEIGHT, f"{self._kind(each)}{maybe}", title(each))
        bytes_ = "" if size is None else f", {size} byte{'' if size == 1 else 's'}"
        said = f"{form(each)}{bytes_}"
        self.drawing.text(LEFT + 8, y + 15, cut(title(each), width - 12))
        when = f"if {condition(each)}" if each.is_conditional else ""
        second = said if width < _COLUMN * 4 or not when else f"{said}; {when}"
        self.drawing.text(LEFT + 8, y + 29, cut(second, width - 14, "small"), "small")
        if when and second == said:
            self.drawing.text(LEFT + width + 8, y + 22, cut(when, RIGHT - LEFT - width - 10, "small"), "small")
        self.spots[each.wire_name] = _Spot(LEFT + width / 2, y + HEIGHT, LEFT + width, y + HEIGHT / 2)
        self.y += HEIGHT + _GAP
        self._note_bits(each)

    def _note_bits(self, each: Field) -> None:
        for bit in each.bits:
            self.spots.setdefault(bit.name, self.spots[each.wire_name])

    def _mark(self, name: str) -> None:
        self.drawing.path(f"M{LEFT - 6} {self.y - _GAP / 2} H{RIGHT}", "back")
        self.drawing.text(RIGHT, self.y + 8, name, "small", "end")
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
        """Draw the bits of an integer, sixteen per row from the highest, each with a line to its name."""
        self.y += 18
        heading = "bits" if each.shared else f"{each.wire_name}: bits"
        self.drawing.text(LEFT, self.y, heading, "small")
        self.y += 6
        for top in range(width - 1, -1, -_MOST_BITS):
            self._bit_row(each, top, max(top - _MOST_BITS + 1, 0))

    def _bit_row(self, each: Field, top: int, low: int) -> None:
        y, count = self.y + 12, top - low + 1
        for place in range(count):
            self.drawing.text(LEFT + _BIT * (place + 0.5), y - 3, str(top - place), "small", "middle")
        named = [bit for bit in each.bits if bit.low <= top and bit.low + bit.width > low]
        used = {place for bit in named for place in range(bit.low, bit.low + bit.width)}
        for place in range(low, top + 1):
            if place not in used:
                self.drawing.box(LEFT + _BIT * (top - place), y, _BIT, 18, "plain maybe")
        for turn, bit in enumerate(sorted(named, key=lambda one: one.low)):
            last, first = min(bit.low + bit.width - 1, top), max(bit.low, low)
            x, wide = LEFT + _BIT * (top - last), _BIT * (last - first + 1)
            self.drawing.box(x, y, wide, 18, "derived" if bit.derive is not None else "plain", bit.name)
            line, right = y + 32 + turn * 15, LEFT + _BIT * count + 14
            self.drawing.path(f"M{x + wide / 2:g} {y + 18:g} V{line:g} H{right}")
            self.drawing.text(right + 5, line + 4, cut(bit_label(bit), WIDTH - right - 12))
        self.y = y + 26 + 15 * len(named)

    def _arrows(self) -> None:
        """Draw arrows from lengths, counts and offsets to their fields."""
        lanes = 0
        for each in self.struct.fields:
            target = self.spots.get(each.wire_name)
            if target is None:
                continue
            if _jumps(each.type) and lanes < _LANES:
                self._back(target, lanes)
                lanes += 1
            for name in dict.fromkeys(_measuring_fields(each)):
                source = self.spots.get(name)
                if source is not None and source is not target and lanes < _LANES:
                    self._arrow(source, target, lanes)
                    lanes += 1

    def _arrow(self, source: _Spot, target: _Spot, lane: int) -> None:
        x, below = RIGHT + 12 + _LANE * lane, source.below + 3
        self.drawing.path(
            f"M{source.x:g} {source.below:g} V{below:g} H{x:g} V{target.middle:g} H{target.right + 5:g}", "arrow"
        )
        self._head(target.right, target.middle)

    def _back(self, target: _Spot, lane: int) -> None:
        """Draw a pointer to earlier bytes."""
        x = RIGHT + 12 + _LANE * lane
        self.drawing.path(f"M{target.right:g} {target.middle:g} H{x:g} V22 H{RIGHT + 5:g}", "back")
        self._head(RIGHT, 22)

    def _head(self, x: float, y: float) -> None:
        self.drawing.path(f"M{x:g} {y:g} l8 -4 v8 z", "head")

    def _legend(self) -> None:
        self.y = max(self.y, self.drawing.bottom) + 16
        x = float(LEFT)
        for kind, word in _WORDS.items():
            if kind in self.kinds:
                self.drawing.box(x, self.y - 10, 12, 12, kind)
                self.drawing.text(x + 18, self.y, word, "small")
                x += 34 + width_of(word, "small")
        if any(each.is_conditional for each in self.struct.fields):
            self.drawing.box(x, self.y - 10, 12, 12, "plain maybe")
            self.drawing.text(x + 18, self.y, "only under a condition", "small")


def _is_drawn_last(step: types.Step) -> bool:
    """Whether a field is drawn after all others: its offset counts from the end, or from an outer struct."""
    return isinstance(step, Field) and (bool(step.base) or from_end(step) is not None)


def _start(each: Field, begins: Mapping[str, tuple[Offset, ...]]) -> Offset | None:
    """The offset of a field, if it is the same in all cases."""
    found = begins.get(each.wire_name, ())
    return found[0] if len(found) == 1 and from_end(each) is None and not each.base else None


def _place(each: Field, start: Offset | None) -> str:
    """The label left of a row."""
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
    """The fill style of a field's box."""
    if each.checksum is not None:
        return "checksum"
    if each.const is not None:
        return "constant"
    if each.derive is not None:
        return "derived"
    return "plain" if fixed_size(each, format.named) is not None else "open"


def _measuring_fields(each: Field) -> Iterator[str]:
    """The fields that hold the size, count or offset of a field."""
    plain = types.not_null(each.type)
    amounts = [each.size, each.at]
    amounts += [plain.size] if isinstance(plain, types.Text | types.Bytes) else []
    amounts += [plain.count] if isinstance(plain, types.Array) else []
    for amount in amounts:
        found = types.stated(amount)
        if found is not None:
            yield from _fields(found)


def _fields(expression: Expression) -> Iterator[str]:
    yield from (each.name for each in fields_in(expression) if not each.up)


def _jumps(type: Type) -> bool:
    count = type.count if isinstance(type, types.Array) else None
    return isinstance(count, types.Terminator) and count.jump is not None
