"""Turns the trace into spans, so that every byte has exactly one span.

Spans claim their bytes in tree order. The bytes of a container that are left are its syntax, or no field reads them.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.msgpack.heads import family_at, head_of
from wireloom.runtime.spans.tracer import ABSENT, BODILESS, UNREAD, Fault, Space, Traced

_BASE64, _FOREIGN = "bad_base64", re.compile(rb"[^A-Za-z0-9+/=]")
IGNORED = "no field reads these bytes"
_OWN = frozenset(("field", "element", "entry", "record", "key"))
_WITH_PATH = _OWN | {*BODILESS, "folded", "ignored", "unread"}


class Claims:
    """The bytes of each space that have a span."""

    def __init__(self, spaces: Sequence[Space]) -> None:
        self._spaces = spaces
        self._claimed = [bytearray(len(space.data)) for space in spaces]
        self._cursors = [Cursor(space.data) for space in spaces]

    def settle(self, root: Traced, *, failed: bool) -> None:
        """Claim the bytes of all nodes, and add spans for the rest."""
        root.end = len(self._spaces[0].data)
        root.failed = failed
        self._claim(root)

    def _claim(self, node: Traced) -> None:
        self._split(node)
        for child in node.children:
            if child.kind not in BODILESS:
                self._claim(child)
        if node.scattered:
            parts = [each for each in node.children if each.start < each.end]
            parts = parts or [each for each in node.children if each.kind not in BODILESS][:1]
            node.start = min((each.start for each in parts), default=node.start)
            node.end = max((each.end for each in parts), default=node.start)
            return
        claimed = self._claimed[node.space]
        node.end = min(node.end, len(claimed))
        has_parts = any(child.kind not in BODILESS for child in node.children)
        is_cut = node.failed and node.start < node.end and node.wire is ABSENT and not _has_extent(node)
        if has_parts or node.struct or is_cut:
            self._fill(node, claimed)
            return
        for bit in node.children:
            if bit.kind == "bits":
                bit.start, bit.end = node.start, node.end
        node.shared = node.start < node.end and claimed.find(1, node.start, node.end) >= 0
        if not node.shared:
            self._take(node.space, node.start, node.end)
        else:
            self._fill(node, claimed)

    def _take(self, space: int, start: int, end: int) -> None:
        self._claimed[space][start:end] = b"\1" * max(end - start, 0)

    def _split(self, node: Traced) -> None:
        """Split off the head of a MessagePack value."""
        if node.form != "msgpack" or node.start >= node.end or node.kind in ("name", "packed"):
            return
        size, count = _head(self._cursors[node.space], node.start)
        if 0 < size < node.end - node.start + bool(node.children):
            head = Traced("head", "", node.start, node.start + size, node.space)
            head.value = count
            node.children.insert(0, head)

    def _fill(self, node: Traced, claimed: bytearray) -> None:
        """Add spans for the bytes of a container that its parts leave."""
        gaps, position = list[tuple[int, int]](), node.start
        while (first := claimed.find(0, position, node.end)) >= 0:
            last = claimed.find(1, first, node.end)
            position = node.end if last < 0 else last
            gaps.append((first, position))
        furthest = max((each.end for each in node.children if _is_in_order(each, node)), default=node.start)
        for first, last in gaps:
            self._take(node.space, first, last)
            gap = Traced(self._kind(node, first, furthest), "", first, last, node.space)
            gap.note = {"ignored": IGNORED, "unread": UNREAD}.get(gap.kind, "")
            node.children.append(gap)
        if gaps:
            node.children.sort(key=_place(node))

    def _kind(self, node: Traced, start: int, furthest: int) -> str:
        if node.failed and start >= furthest and node.wire is ABSENT:
            return "unread"
        if node.kind in ("packed", "ignored", "unread", "delimiter", "padding", "terminator"):
            return "content"
        if node.form == "json":
            return "syntax"
        if node.struct or node.kind == "record":
            return "ignored"
        has_elements = any(each.kind in ("element", "entry", "folded") for each in node.children)
        return "terminator" if has_elements or not node.children else "content"


def _is_in_order(child: Traced, node: Traced) -> bool:
    """Whether a part was read in order, not at an offset of its own."""
    return child.space == node.space and getattr(child.step, "at", None) is None


def _place(node: Traced) -> Callable[[Traced], int]:
    """A sort key: parts by offset; a part without bytes stays before the part that followed it."""
    places, here = dict[int, int](), node.start
    for each in reversed(node.children):
        if each.kind not in BODILESS and each.space == node.space and node.start <= each.start <= node.end:
            here = each.start
            places[id(each)] = here
        elif each.kind not in BODILESS:
            places[id(each)] = node.end
        else:
            places[id(each)] = each.start
    return lambda each: places[id(each)]


def _head(cursor: Cursor, start: int) -> tuple[int, Any]:
    """The size of a value's head in bytes (0 without a head), and the length or count in it."""
    cursor.seek(start)
    try:
        head = head_of(cursor, *family_at(cursor))
    except DecodeError:
        return 0, ABSENT
    return cursor.tell() - start, head.number


# --- faults --------------------------------------------------------------------------------------------------------


def fault_of(root: Traced, place: tuple[int, int], error: DecodeError, data: bytes) -> Fault:
    """The fault at a place: the bytes of the refused value, or the single byte."""
    space, offset = place
    node = root
    while inner := next((each for each in reversed(node.children) if each.failed), None):
        node = inner
    name = error.components[-1] if error.components else ""
    refused = [each for each in node.children if each.name == name and each.start == offset and each.kind == "field"]
    start, end = _wrong(refused[-1] if refused else node, offset, error, data)
    return Fault(space, offset, start, end) if node.space == space else Fault(space, offset, offset, offset + 1)


def _wrong(node: Traced, offset: int, error: DecodeError, data: bytes) -> tuple[int, int]:
    """The start and end of the bytes that an error of a node is about."""
    lengths = [each for each in node.children if each.kind == "length" and each.end == offset]
    if lengths and node.wire is ABSENT:  # the length exceeds the remaining bytes
        return lengths[-1].start, lengths[-1].end
    if error.code == _BASE64 and (foreign := _FOREIGN.search(data, offset + 1)):
        return foreign.span()
    if node.wire is ABSENT and node.start == offset and _has_extent(node):
        return offset, max(node.end, offset + 1)
    if node.wire is ABSENT or not node.start <= offset <= node.end:
        return offset, offset + 1
    first, last = _unlike(node.wire, getattr(node.step, "const", None))
    if last:
        start = node.end - len(_octets(node.wire))
        return start + first, start + last
    return node.start, max(node.end, offset + 1)


def _has_extent(node: Traced) -> bool:
    """Whether the end of a refused value is known: protobuf messages and JSON texts are scanned first."""
    return node.form == "protobuf" or (node.form == "json" and not node.struct and not node.children)


def _unlike(wire: Any, constant: Any) -> tuple[int, int]:
    """The start and end of the differing bytes of two texts of equal length; (0, 0) for other values."""
    found, wanted = _octets(wire), _octets(constant)
    places = [at for at, (one, other) in enumerate(zip(found, wanted, strict=False)) if one != other]
    return (places[0], places[-1] + 1) if places and len(found) == len(wanted) else (0, 0)


def _octets(value: Any) -> bytes:
    return (
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value if isinstance(value, bytes) else b""
    )
