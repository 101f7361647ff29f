"""What containers have besides the values of their fields: tags, lengths, keys, and bytes that nobody reads."""

from collections.abc import Iterator
from typing import Any

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import Component, DecodeError
from wireloom.runtime.parsers.json.nodes import Node as JsonNode
from wireloom.runtime.parsers.msgpack.heads import pass_over, read_head, take_body
from wireloom.runtime.parsers.protobuf.wire import (
    GROUP,
    GROUP_END,
    LENGTH,
    Rule,
    Schema,
    Tag,
    extent,
    group,
    skip,
    tag,
    unclosed,
)
from wireloom.runtime.spans.tracer import UNREAD, Traced, Tracer

REPLACED = "a later field of the message replaces it"


# --- protobuf ------------------------------------------------------------------------------------------------------


def note_message(  # noqa: PLR0913 - a message, and what of it is left out
    tracer: Tracer, data: bytes, schema: Schema, start: int, end: int, holes: dict[int, tuple[int, int, int]]
) -> None:
    """Note every field of a message and of those in it, in the order of the wire; of a broken one what is before that.

    The values are noted when they are read, at the offsets of their content. Elements in `holes` are folded, but for
    those that are traced, which are taken out of the holes.
    """
    try:
        _Message(tracer, data, schema, tracer.current, 0, holes).note(start, end)
    except DecodeError:
        tracer.current.failed = True


class _Message:
    """One message: the node that it is, and its fields by number."""

    def __init__(  # noqa: PLR0913 - a message, and what of it is left out
        self,
        tracer: Tracer,
        data: bytes,
        schema: Schema,
        node: Traced,
        depth: int,
        holes: dict[int, tuple[int, int, int]],
    ) -> None:
        self.tracer, self.data, self.schema, self.node, self.depth = tracer, data, schema, node, depth
        self.holes = holes
        self.node.form = "protobuf"
        self.counts: dict[int, int] = {}
        self.last: dict[int, Traced] = {}

    def note(self, start: int, end: int) -> int:
        """Note the fields from `start` to `end`."""
        while start < end:
            if start in self.holes and self._folds(start):
                start = self._fold(start)
                continue
            before = start
            start = self._field(tag(self.data, start, end), end)
            self._keep_out(before, start)
        return start

    def _folds(self, start: int) -> bool:
        """Whether the next element of a hole is folded, not traced."""
        return not self.tracer.keeps(self.counts.get(self.holes[start][0], 0))

    def _fold(self, start: int) -> int:
        number, count, behind = self.holes[start]
        first = self.counts.get(number, 0)
        node = self._add("folded", (self.schema[number].name, first), start, behind)
        node.first, node.entries = first, first + count
        self.counts[number] = first + count
        return behind

    def _keep_out(self, start: int, end: int) -> None:
        """The hole that began at an element that is traced begins after it."""
        hole = self.holes.pop(start, None)
        if hole is not None and hole[1] > 1:
            self.holes[end] = (hole[0], hole[1] - 1, hole[2])

    def _field(self, item: Tag, end: int) -> int:
        rule = self.schema.get(item.number)
        if rule is None or not rule.takes(item.wire_type):
            behind = group(self.data, item, end, self.depth) if item.wire_type == GROUP else skip(self.data, item, end)
            known = "" if rule is None else f", which the spec has with another wire type than {item.wire_type}"
            self._add("ignored", "", item.at, behind).note = f"field {item.number}{known or ' is not in the spec'}"
            return behind
        self._add("tag", "", item.at, item.behind).note = f"field {item.number}, wire type {item.wire_type}"
        return self._value(rule, item, end)

    def _add(self, kind: str, name: Component | tuple[Component, ...], start: int, end: int) -> Traced:
        base = self.tracer.base
        node = Traced(kind, name, base + start, base + end, self.tracer.space)
        node.form = "protobuf"
        self.node.children.append(node)
        return node

    def _named(self, rule: Rule, item: Tag) -> tuple[Component, ...]:
        for rival in (item.number, *rule.rivals):
            if not rule.repeated and (rule.message is None or rival != item.number) and rival in self.last:
                self._replace(self.last.pop(rival))
        index = self.counts.get(item.number, 0)
        self.counts[item.number] = index + 1
        return (rule.name, index) if rule.repeated else (rule.name,)

    def _replace(self, node: Traced) -> None:
        node.kind, node.note, node.children = "ignored", REPLACED, []

    def _value(self, rule: Rule, item: Tag, end: int) -> int:
        if item.wire_type == GROUP:
            return self._group(rule, item, end)
        content, behind = extent(self.data, item.wire_type, item.behind, end)
        if item.wire_type == LENGTH:
            self._add("length", "", item.behind, content).value = behind - content
        if rule.message is None and item.wire_type != rule.wire_type:
            self._packed(rule, item, content, behind)
            return behind
        node = self._kept(rule, item, content, behind)
        if rule.message is not None:
            self._within(rule, node).note(content, behind)
        return behind

    def _kept(self, rule: Rule, item: Tag, start: int, end: int) -> Traced:
        node = self._add("element" if rule.repeated else "field", self._named(rule, item), start, end)
        self.last[item.number] = node
        self.tracer.known[self.tracer.space, node.start] = node
        return node

    def _within(self, rule: Rule, node: Traced) -> "_Message":
        assert rule.message is not None
        return _Message(self.tracer, self.data, rule.message(), node, self.depth + 1, self.holes)

    def _packed(self, rule: Rule, item: Tag, start: int, end: int) -> None:
        while start < end:
            if start in self.holes and self._folds(start):
                start = self._fold(start)
                continue
            first, last = extent(self.data, rule.wire_type, start, end)
            self._kept(rule, item, first, last)
            self._keep_out(start, last)
            start = last

    def _group(self, rule: Rule, item: Tag, end: int) -> int:
        node = self._kept(rule, item, item.behind, item.behind)
        inner = self._within(rule, node)
        position = item.behind
        while position < end:
            closing = tag(self.data, position, end)
            if closing.wire_type == GROUP_END and closing.number == item.number:
                node.end = self.tracer.base + position
                self._add("tag", "", closing.at, closing.behind).note = f"end of the group {item.number}"
                return closing.behind
            position = inner._field(closing, end)
        raise unclosed(item)


# --- MessagePack ---------------------------------------------------------------------------------------------------


def note_map(tracer: Tracer, stream: Any, start: int) -> None:
    """Note the keys of a map of MessagePack whose members are fields, and the members that no field reads."""
    node, base = tracer.current, tracer.base
    read = set(_starts(node))
    cursor = Cursor(stream.getvalue())
    cursor.limit = stream.limit
    cursor.seek(start)
    try:
        for _ in range(read_head(cursor, ("map",)).number):
            first = cursor.tell()
            name = take_body(cursor, read_head(cursor, ("str",))).decode("utf-8", "replace")
            value = cursor.tell()
            if base + first not in read:
                tracer.add("name", "", base + first, base + value).value = name
            pass_over(cursor)
            if base + value not in read:
                _unread(tracer, node, name, base + value, base + cursor.tell())
    except DecodeError:
        node.failed = True


# --- JSON ----------------------------------------------------------------------------------------------------------


def note_object(tracer: Tracer, stream: JsonNode) -> None:
    """Note the members of an object that no field reads."""
    node, base = tracer.current, tracer.base
    read = set(_starts(node))
    for name, _, child in stream.members:
        if base + child.start not in read:
            _unread(tracer, node, name, base + child.start, base + child.end)


def _starts(node: Traced) -> Iterator[int]:
    """Where the values of a container begin that some field reads."""
    for each in node.children:
        if each.scattered:
            yield from _starts(each)
        elif each.kind not in ("computed", "mark", "bits"):
            yield each.start


def _unread(tracer: Tracer, node: Traced, name: str, start: int, end: int) -> None:
    kind, note = ("unread", UNREAD) if node.failed else ("ignored", "no field reads it")
    tracer.add(kind, name, start, end).note = note
