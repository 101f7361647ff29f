"""From what was noted to spans: every byte gets one span of its own, and every span its path and its meaning.

Spans claim their bytes in the order of the tree. What is left of a container's bytes is what holds its parts together,
or what nobody reads.
"""

from collections.abc import Callable, Sequence
from typing import Any

from wireloom.runtime.columns.logical import Alternatives, List, LogicalField, Map, Meant
from wireloom.runtime.columns.logical import Record as LogicalRecord
from wireloom.runtime.columns.meanings import meaning
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import Component, DecodeError, render_path
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.msgpack.heads import family_at, head_of
from wireloom.runtime.parsers.protocol import MISSING
from wireloom.runtime.spans.spans import ABSENT, BODILESS, Space, Span
from wireloom.runtime.spans.tracer import Traced
from wireloom.runtime.values import Extension, OpenBytes, Pairs, meant

IGNORED, UNREAD = "no field reads these bytes", "not read, because of the fault"
_OWN = ("field", "element", "entry", "record", "key")


class Claims:
    """Which bytes of each space have a span of their own."""

    def __init__(self, spaces: Sequence[Space]) -> None:
        self._spaces = spaces
        self._claimed = [bytearray(len(space.data)) for space in spaces]

    def settle(self, root: Traced, *, failed: bool) -> None:
        """Claim the bytes of all nodes, and add what they leave."""
        root.end = len(self._spaces[0].data)
        root.failed = failed
        self._claim(root)

    def _claim(self, node: Traced) -> None:
        self._split(node)
        for child in node.children:
            if child.kind not in BODILESS:
                self._claim(child)
        if node.scattered:
            node.start = min((each.start for each in node.children), default=node.start)
            node.end = max((each.end for each in node.children), default=node.start)
            return
        claimed = self._claimed[node.space]
        node.end = min(node.end, len(claimed))
        has_parts = any(child.kind not in BODILESS for child in node.children)
        if has_parts or node.struct or (node.failed and node.start < node.end and node.wire is ABSENT):
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
        """Set the head of a value of MessagePack apart."""
        if node.form != "msgpack" or node.start >= node.end or node.kind in ("name", "packed"):
            return
        size = _head_size(self._spaces[node.space].data, node.start)
        if 0 < size < node.end - node.start:
            head = Traced("head", "", node.start, node.start + size, node.space)
            node.children.insert(0, head)

    def _fill(self, node: Traced, claimed: bytearray) -> None:
        """Spans for the bytes of a container that its parts leave."""
        gaps, position = list[tuple[int, int]](), node.start
        while (first := claimed.find(0, position, node.end)) >= 0:
            last = claimed.find(1, first, node.end)
            position = node.end if last < 0 else last
            gaps.append((first, position))
        furthest = max((each.end for each in node.children if each.space == node.space), default=node.start)
        for first, last in gaps:
            self._take(node.space, first, last)
            gap = Traced(self._kind(node, first, furthest), "", first, last, node.space)
            gap.note = {"ignored": IGNORED, "unread": UNREAD}.get(gap.kind, "")
            node.children.append(gap)
        if gaps:
            node.children.sort(key=_place(node))

    def _kind(self, node: Traced, start: int, furthest: int) -> str:
        if node.failed and start >= furthest:
            return "unread"
        if node.kind in ("packed", "ignored", "unread", "delimiter", "padding", "terminator"):
            return "content"
        if node.form == "json":
            return "syntax"
        if node.struct or node.kind == "record":
            return "ignored"
        has_elements = any(each.kind in ("element", "entry") for each in node.children)
        return "terminator" if has_elements or not node.children else "content"


def _place(node: Traced) -> Callable[[Traced], int]:
    """Parts by their places; what has no bytes stays before the part that it was noted before."""
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


def _head_size(data: bytes, start: int) -> int:
    """The bytes of a value's head; 0 where there is none."""
    cursor = Cursor(data)
    cursor.seek(start)
    try:
        head_of(cursor, *family_at(cursor))
    except DecodeError:
        return 0
    return cursor.tell() - start


# --- spans ---------------------------------------------------------------------------------------------------------


def span_of(node: Traced, type: Any, path: tuple[Component, ...] = (), holder: str = "") -> Span:
    """The span of a node, and of all within it. `type` is what readers see of its value."""
    step, own = node.step, node.name if isinstance(node.name, tuple) else (node.name,)
    base = path[:-1] if node.kind == "bits" and node.scattered else path
    has_path = node.kind in (*_OWN, *BODILESS, "ignored", "unread") and node.name != ""
    whole = (*base, *own) if has_path else path
    field = _field(type, step)
    has_value = node.kind in (*_OWN, "packed", "content") and not (node.kind == "content" and not node.children)
    within = field.type if field is not None else _within(type, node) if has_value else None
    kind = "record" if node.kind == "record" else node.kind
    holding = node.struct or holder
    children = tuple(span_of(each, within, whole, holding) for each in node.children)
    value, wire = _scalar(node.value), _scalar(node.wire)
    if isinstance(within, Meant) and value is not None and value is not ABSENT and not node.failed:
        value, wire = meaning(value, within), value
    doc, unit = getattr(step, "doc", "") or (field.doc if field else ""), field.unit if field else ""
    return Span(
        kind,
        str(own[-1]) if has_path else "",
        render_path(whole) if has_path or node.kind == "record" else "",
        node.start,
        node.end,
        node.space,
        value,
        ABSENT if _same(value, wire) else wire,
        _without(doc, unit),
        unit,
        bool(getattr(step, "hidden", False)),
        isinstance(step, Field) and step.const is not MISSING,
        node.struct,
        holder,
        *(node.bits or (0, 0)),
        node.leads,
        node.covers,
        node.shared,
        node.failed,
        node.note,
        children,
    )


def _scalar(value: Any) -> Any:
    """A value that has no parts; those of others are spans of their own."""
    value = meant(value) if isinstance(value, OpenBytes) else value
    if isinstance(value, Extension):
        value = value.value
    return ABSENT if isinstance(value, dict | Pairs) or (isinstance(value, list) and not _is_flat(value)) else value


def _is_flat(value: list[Any]) -> bool:
    return all(isinstance(each, bool | int | float) for each in value)


def _same(value: Any, wire: Any) -> bool:
    return wire is value or (type(wire) is type(value) and wire == value)


def _without(doc: str, unit: str) -> str:
    """A document without the unit that it ends in."""
    if unit and doc == unit:
        return ""
    return doc.removesuffix(f" ({unit})") if unit else doc


def _field(type: Any, step: Any) -> LogicalField | None:
    """The member of a record that readers see of a field."""
    if not isinstance(type, LogicalRecord) or step is None or getattr(step, "flatten", False):
        return None
    title = getattr(step, "title", "") or getattr(step, "name", "")
    return next((each for each in type.fields if each.name == title), None)


def _within(type: Any, node: Traced) -> Any:
    match type:
        case List(element=element) if node.kind == "element":
            return element
        case Map(value=value) if node.kind == "entry":
            return value
        case Alternatives(options=options):
            return next((each for each in options if isinstance(each, LogicalRecord)), type)
        case _:
            return type
