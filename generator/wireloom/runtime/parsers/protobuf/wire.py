"""The wire of a protobuf message: one pass over the whole tree of messages, by schema, before values are decoded.

A field that the schema does not know, or knows with another wire type, is skipped, but must be complete: a broken item
anywhere makes the record `undecodable`. Known fields are kept by number, with the offset of each value. A known group
is a message whose end is found while it is scanned. Every byte is read once, so time and memory are bounded by the
input.
"""

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wireloom.runtime.checkpoints import Passed
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.primitives import leb128

VARINT, FIXED64, LENGTH, GROUP, GROUP_END, FIXED32 = range(6)

MAX_DEPTH = 100  # nested messages and groups, as in protobuf's own readers
MAX_FIELD_NUMBER = (1 << 29) - 1
_WIDTHS = {FIXED32: 4, FIXED64: 8}


class Occurrence(NamedTuple):
    """A scalar of a message: the offset of its content, and the content."""

    start: int
    value: Any  # the number of a varint, else bytes; a bytearray if they may be in pieces


@dataclass(slots=True)
class Scanned:
    """The fields of one message that a scan found. A singular message that occurs twice is merged into one."""

    start: int
    size: int = 0
    found: dict[int, Any] = field(default_factory=dict)  # Occurrence or Scanned, or a list of them

    @property
    def limit(self) -> int:
        """The end of the message, if it is in one piece."""
        return self.start + self.size

    def tell(self) -> int:
        """The offset of the message's first byte."""
        return self.start

    def lacks(self, name: str, number: int) -> DecodeError:
        """The error of a missing required field."""
        return DecodeError(
            "missing_required", offset=self.start, expected=f"{name} (field {number})", actual="no such field"
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """The schema of one field number. `message` returns the schema of a field that is a message."""

    name: str
    wire_type: int
    repeated: bool = False
    required: bool = False
    message: Callable[[], "Schema"] | None = None
    rivals: tuple[int, ...] = ()  # the other fields of its oneof, which this one replaces
    whole: bool = False  # whether its values depend on one another, as map entries do
    pieces: bool = False  # whether it is a message kept as bytes, joined from all its pieces

    def takes(self, wire_type: int) -> bool:
        """Whether the field may have `wire_type`: its own, or packed, which messages cannot be."""
        return wire_type == self.wire_type or (wire_type == LENGTH and self.repeated and self.message is None)


Schema = Mapping[int, Rule]  # by field number, in the order of the spec
Holes = dict[int, tuple[int, int, int]]  # see `Checkpoints.holes`


def words_of(schema: Schema) -> "array[int]":
    """A schema and all inner ones as integers, for the engine."""
    schemas, places, place = [schema], {id(schema): 0}, 0
    for each in schemas:
        place += 1 + 4 * len(each)
        for rule in each.values():
            if rule.message is not None and id(within := rule.message()) not in places:
                schemas.append(within)
                places[id(within)] = -1
    place = 0
    for each in schemas:
        places[id(each)] = place
        place += 1 + 4 * len(each)
    words = array("q")
    for each in schemas:
        words.append(len(each))
        for number, rule in each.items():
            is_what = rule.repeated | rule.required << 1 | rule.whole << 2 | bool(rule.rivals) << 3
            within_at = -1 if rule.message is None else places[id(rule.message())]
            words.extend((number, rule.wire_type, is_what, within_at))
    return words


# --- items ---------------------------------------------------------------------------------------------------------


def undecodable(offset: int, expected: str, actual: str) -> DecodeError:
    """The error of a message that is not protobuf."""
    return DecodeError("undecodable", offset=offset, expected=expected, actual=actual)


def varint(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The number at `start` and the offset after it; bits above the 64th are dropped."""
    found = leb128.decoded(data, start, end)
    if found is not None:
        return found[0] & 0xFFFF_FFFF_FFFF_FFFF, found[1]
    if start + leb128.LONGEST <= end:
        raise undecodable(start, "a varint of at most 10 bytes", "an 11th byte")
    raise undecodable(start, "the end of the varint", f"{end - start} bytes left")


class Tag(NamedTuple):
    """A tag: its offset, field number, wire type, and the offset of the value after it."""

    at: int
    number: int
    wire_type: int
    behind: int


def tag(data: bytes, start: int, end: int) -> Tag:
    """The tag at `start`; an invalid field number is `undecodable`."""
    number, position = varint(data, start, end)
    if not 1 <= number >> 3 <= MAX_FIELD_NUMBER:
        raise undecodable(start, f"a field number from 1 to {MAX_FIELD_NUMBER}", f"field number {number >> 3}")
    return Tag(start, number >> 3, number & 7, position)


def extent(data: bytes, wire_type: int, start: int, end: int) -> tuple[int, int]:
    """The start and end of the content of the value at `start`; a length is not part of the content."""
    match wire_type:
        case 0:
            return start, varint(data, start, end)[1]
        case 1 | 5:
            return start, _checked_end(start, start, _WIDTHS[wire_type], end)
        case 2:
            # The length is compared as an unsigned 64-bit number, before it is added to anything.
            length, content = varint(data, start, end)
            return content, _checked_end(start, content, length, end)
        case _:
            raise AssertionError(wire_type)


def _checked_end(item: int, start: int, length: int, end: int) -> int:
    if length > end - start:
        raise undecodable(item, f"{length} bytes", f"{end - start} left")
    return start + length


def occurrence(data: bytes, wire_type: int, start: int, end: int) -> Occurrence:
    """The scalar with this content."""
    return Occurrence(start, varint(data, start, end)[0] if wire_type == VARINT else data[start:end])


def group(data: bytes, opening: Tag, end: int, depth: int) -> int:
    """The offset after a group at a depth of `depth` messages.

    Inner groups are kept on an explicit stack, so that no input reaches Python's recursion limit.
    """
    opened, position = [opening], opening.behind
    while opened:
        if depth + len(opened) > MAX_DEPTH:
            raise too_deep(opened[-1].at)
        if position == end:
            raise unclosed(opened[-1])
        item = tag(data, position, end)
        match item.wire_type:
            case 3:
                opened.append(item)
                position = item.behind
            case 4 if item.number == opened[-1].number:
                opened.pop()
                position = item.behind
            case _:
                position = skip(data, item, end)
    return position


def skip(data: bytes, item: Tag, end: int) -> int:
    """The offset after a value that is not a group; a group end, and the wire types 6 and 7, are errors here."""
    if item.wire_type == GROUP_END:
        raise undecodable(item.at, "a field", f"the end of a group {item.number} that is not open")
    if item.wire_type > FIXED32:
        raise undecodable(item.at, "a wire type from 0 to 5", f"wire type {item.wire_type}")
    return extent(data, item.wire_type, item.behind, end)[1]


def unclosed(opening: Tag) -> DecodeError:
    """The error of a group without an end."""
    return undecodable(opening.at, "the end of the group", "the end of the message")


def too_deep(offset: int) -> DecodeError:
    """The error of exceeding MAX_DEPTH."""
    return undecodable(offset, f"at most {MAX_DEPTH} nested messages and groups", "a deeper one")


# --- messages ------------------------------------------------------------------------------------------------------


class Scan:
    """The scan of one message at a depth of `depth`, with all inner ones; elements in `holes` become None."""

    __slots__ = ("data", "depth", "holes", "message", "schema")

    def __init__(self, data: bytes, message: Scanned, schema: Schema, depth: int, holes: Holes) -> None:
        self.data, self.message, self.schema, self.depth, self.holes = data, message, schema, depth, holes

    def _within(self, number: int, message: Scanned, schema: Schema) -> "Scan":
        """The scan of an inner message, in a field."""
        return Scan(self.data, message, schema, self.depth + 1, self.holes)

    def add(self, start: int, end: int) -> int:
        """Add the fields from `start` to `end` to the message; returns `end`."""
        self.message.size += end - start
        position = start
        while position < end:
            if self.holes and self._leaves_out(position):
                position = self._leave_out(position)
            else:
                position = self._pass(tag(self.data, position, end), end)
        return end

    def _leaves_out(self, start: int) -> bool:
        """Whether the elements that begin there are skipped."""
        return start in self.holes

    def _leave_out(self, start: int) -> int:
        """Skip some elements of a list; the offset after them."""
        number, count, end = self.holes[start]
        elements = self.message.found[number]
        if not isinstance(elements, Passed):
            elements = self.message.found[number] = Passed(elements)
        elements.extend([None] * count)
        return end

    def read(self, item: Tag, start: int, end: int) -> int:
        """Add the fields of a message, or of the group that `item` opens; the offset after it."""
        return self._add_group(item, end) if item.wire_type == GROUP else self.add(start, end)

    def _add_group(self, opening: Tag, end: int) -> int:
        position = opening.behind
        while position < end:
            item = tag(self.data, position, end)
            if item.wire_type == GROUP_END and item.number == opening.number:
                self.message.size += position - opening.behind
                return item.behind
            position = self._pass(item, end)
        raise unclosed(opening)

    def _pass(self, item: Tag, end: int) -> int:
        """Keep or skip the value after a tag; the offset after it."""
        rule = self.schema.get(item.number)
        if rule is None or not rule.takes(item.wire_type):
            is_group = item.wire_type == GROUP
            return group(self.data, item, end, self.depth) if is_group else skip(self.data, item, end)
        try:
            return self._keep(rule, item, end)
        except DecodeError as error:
            raise error.at(rule.name) from None

    def _keep(self, rule: Rule, item: Tag, end: int) -> int:
        found = self.message.found
        if rule.message is not None:
            return self._descend(rule, rule.message(), item, end)
        start, end = extent(self.data, item.wire_type, item.behind, end)
        self._drive_out(rule)
        if not rule.repeated:
            self._found(rule, item.number, occurrence(self.data, item.wire_type, start, end))
        elif item.wire_type == rule.wire_type:
            found.setdefault(item.number, []).append(occurrence(self.data, item.wire_type, start, end))
        else:
            found.setdefault(item.number, [])
            self._unpack(item.number, rule.wire_type, start, end)
        return end

    def _found(self, rule: Rule, number: int, value: Occurrence) -> None:
        """Keep a value, replacing an earlier one; a piece is appended to the earlier ones."""
        found = self.message.found
        if not rule.pieces:
            found[number] = value
        elif number in found:
            found[number].value.extend(value.value)
        else:
            found[number] = Occurrence(value.start, bytearray(value.value))

    def _unpack(self, number: int, wire_type: int, start: int, end: int) -> None:
        while start < end:
            if self.holes and self._leaves_out(start):
                start = self._leave_out(start)
            else:
                first, start = extent(self.data, wire_type, start, end)
                self.message.found[number].append(occurrence(self.data, wire_type, first, start))

    def _drive_out(self, rule: Rule) -> None:
        for rival in rule.rivals:
            self.message.found.pop(rival, None)

    def _descend(self, rule: Rule, schema: Schema, item: Tag, end: int) -> int:
        """Scan the message after a tag, or the group that the tag opens; the offset after it."""
        in_group = item.wire_type == GROUP
        start, end = (item.behind, end) if in_group else extent(self.data, item.wire_type, item.behind, end)
        self._drive_out(rule)
        if self.depth == MAX_DEPTH:
            raise too_deep(item.at)
        found = self.message.found
        if not rule.repeated:
            message = found.setdefault(item.number, Scanned(start))
            return self._within(item.number, message, schema).read(item, start, end)
        messages = found.setdefault(item.number, [])
        message = Scanned(start)
        messages.append(message)
        try:
            return self._within(item.number, message, schema).read(item, start, end)
        except DecodeError as error:
            raise error.at(len(messages) - 1) from None


def require(schema: Schema, message: Scanned) -> None:
    """Check that all required fields of the message and of inner ones are present, in the order of the schema."""
    for number, rule in schema.items():
        found = message.found.get(number)
        if found is None and rule.required:
            raise message.lacks(rule.name, number).at(rule.name)
        if found is not None and rule.message is not None:
            try:
                _require_within(rule.message(), found)
            except DecodeError as error:
                raise error.at(rule.name) from None


def _require_within(schema: Schema, found: Scanned | list[Scanned]) -> None:
    if isinstance(found, Scanned):
        require(schema, found)
        return
    for index, message in enumerate(list.__iter__(found)):
        try:
            if message is not None:
                require(schema, message)
        except DecodeError as error:
            raise error.at(index) from None
