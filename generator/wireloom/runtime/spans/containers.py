"""Parts of containers besides field values: tags, lengths, keys, and bytes that no field reads."""

from collections.abc import Iterator
from typing import Any

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import Component, DecodeError
from wireloom.runtime.parsers.json.nodes import Node as JsonNode
from wireloom.runtime.parsers.msgpack.heads import pass_over, read_head, take_body
from wireloom.runtime.parsers.protobuf.wire import GROUP, LENGTH, Rule, Scan, Scanned, Schema, Tag, extent
from wireloom.runtime.spans.tracer import UNREAD, Traced, Tracer

REPLACED = "a later field of the message replaces it"


# --- protobuf ------------------------------------------------------------------------------------------------------


class MessageNotes(Scan):
    """A scan that notes the fields of a message at its node, in wire order, with the offsets of their content.

    The values are noted later, when they are read. Elements in `holes` are folded, except those that are traced, which
    are taken out of the holes.
    """

    __slots__ = ("last", "node", "tracer")

    def __init__(self, tracer: Tracer, node: Traced, *scanned: Any) -> None:
        super().__init__(*scanned)
        self.tracer, self.node = tracer, node
        self.last: dict[int, Traced] = {}  # the last node of each field
        node.form = "protobuf"

    def _within(self, number: int, message: Scanned, schema: Schema) -> Scan:
        node = self.last[number]
        return MessageNotes(self.tracer, node, self.data, message, schema, self.depth + 1, self.holes)

    def _index(self, number: int) -> int:
        """The index of the next element of a list."""
        return len(self.message.found.get(number, ()))

    def _leaves_out(self, start: int) -> bool:
        return start in self.holes and not self.tracer.keeps(self._index(self.holes[start][0]))

    def _leave_out(self, start: int) -> int:
        number, count, end = self.holes[start]
        first = self._index(number)
        node = self._add("folded", (self.schema[number].name, first), start, end)
        node.first, node.entries = first, first + count
        return super()._leave_out(start)

    def _keep_out(self, start: int, end: int) -> None:
        """Take a traced element out of the hole that begins at it."""
        hole = self.holes.pop(start, None)
        if hole is not None and hole[1] > 1:
            self.holes[end] = (hole[0], hole[1] - 1, hole[2])

    def _pass(self, item: Tag, end: int) -> int:
        rule = self.schema.get(item.number)
        if rule is not None and rule.takes(item.wire_type):
            self._add("tag", "", item.at, item.behind).note = f"field {item.number}, wire type {item.wire_type}"
            after = super()._pass(item, end)
        else:
            after = super()._pass(item, end)
            known = "" if rule is None else f", which the spec has with another wire type than {item.wire_type}"
            self._add("ignored", "", item.at, after).note = f"field {item.number}{known or ' is not in the spec'}"
        self._keep_out(item.at, after)
        return after

    def _keep(self, rule: Rule, item: Tag, end: int) -> int:
        if item.wire_type == GROUP:
            node = self._note(rule, item.number, item.behind, item.behind)
            after = super()._keep(rule, item, end)
            self._add("tag", "", node.end - self.tracer.base, after).note = f"end of the group {item.number}"
            return after
        start, after = extent(self.data, item.wire_type, item.behind, end)
        if item.wire_type == LENGTH:
            self._add("length", "", item.behind, start).value = after - start
        if rule.message is not None or item.wire_type == rule.wire_type:
            self._note(rule, item.number, start, after)
        return super()._keep(rule, item, end)

    def _add_group(self, opening: Tag, end: int) -> int:
        before = self.message.size
        after = super()._add_group(opening, end)
        self.node.end = self.node.start + self.message.size - before
        return after

    def _unpack(self, number: int, wire_type: int, start: int, end: int) -> None:
        while start < end:
            if self._leaves_out(start):
                start = self._leave_out(start)
                continue
            after = extent(self.data, wire_type, start, end)[1]
            self._note(self.schema[number], number, start, after)
            super()._unpack(number, wire_type, start, after)
            self._keep_out(start, after)
            start = after

    def _add(self, kind: str, name: Component | tuple[Component, ...], start: int, end: int) -> Traced:
        base = self.tracer.base
        node = Traced(kind, name, base + start, base + end, self.tracer.space)
        node.form = "protobuf"
        self.node.children.append(node)
        return node

    def _note(self, rule: Rule, number: int, start: int, end: int) -> Traced:
        """Note a value; it replaces earlier ones if only the last one counts."""
        for rival in (number, *rule.rivals):
            if not rule.repeated and (rule.message is None or rival != number) and rival in self.last:
                replaced = self.last.pop(rival)
                replaced.kind, replaced.note, replaced.children = "ignored", REPLACED, []
        name = (rule.name, self._index(number)) if rule.repeated else (rule.name,)
        node = self._add("element" if rule.repeated else "field", name, start, end)
        self.last[number] = self.tracer.known[self.tracer.space, node.start] = node
        return node


# --- MessagePack ---------------------------------------------------------------------------------------------------


def note_map(tracer: Tracer, stream: Any, start: int) -> None:
    """Note the keys of a MessagePack map whose members are fields, and the members that no field reads."""
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
    """The offsets of the values in a container that a field reads."""
    for each in node.children:
        if each.scattered:
            yield from _starts(each)
        elif each.kind not in ("computed", "mark", "bits"):
            yield each.start


def _unread(tracer: Tracer, node: Traced, name: str, start: int, end: int) -> None:
    kind, note = ("unread", UNREAD) if node.failed else ("ignored", "no field reads it")
    tracer.add(kind, name, start, end).note = note
