"""The result of a traced parse: a tree of spans, each a range of bytes with its place, name, value and meaning."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from wireloom.runtime.checkpoints import Passed
from wireloom.runtime.columns.logical import Alternatives, List, LogicalField, Map, Meant
from wireloom.runtime.columns.logical import Record as LogicalRecord
from wireloom.runtime.columns.meanings import meaning
from wireloom.runtime.errors import Component, DecodeError, render_path
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.protocol import MISSING
from wireloom.runtime.parsers.steps import Computed
from wireloom.runtime.spans.tracer import ABSENT, BODILESS, Covered, Fault, Space, Traced
from wireloom.runtime.values import Extension, OpenBytes, Pairs, meant

_OWN = frozenset(("field", "element", "entry", "record", "key"))
_WITH_PATH = _OWN | {*BODILESS, "folded", "ignored", "unread"}


class Span:
    """Bytes `start` to `end` of a space, and what they are.

    `kind` is one of:

    | kind | bytes that are |
    |---|---|
    | `record`, `field`, `element`, `entry`, `key` | a value that has a path |
    | `bits` | some bits of the enclosing integer: `low` is the lowest, `width` their number |
    | `computed`, `mark` | none: a value derived from others, or a named offset |
    | `length`, `head`, `tag`, `name`, `pointer` | the size, position, type or name of other bytes |
    | `content`, `delimiter`, `terminator`, `padding`, `syntax` | the rest of a value |
    | `packed` | a region whose content is another space; its one child has the content |
    | `folded` | the elements `elements` of a list, or entries of a map, as one |
    | `ignored` | read by no field |
    | `unread` | bytes after a fault |

    `value` is what readers see, and `wire` the number or text on the wire if it differs. `space` 0 is the record; every
    unpacked region has a space of its own, with offsets from 0. `shared` spans have bytes that an earlier span has too.
    `leads` is the target offset of a pointer. `struct` is the spec's type of the fields within, and `holder` the type
    that the span itself is a field of. `covers` are the bytes that a checksum covers. `note` is a remark: why no field
    reads the bytes, or which alternative was chosen.

    The properties are computed on demand, as a record of a megabyte has a hundred thousand spans.
    """

    def __init__(self, node: Traced, type: Any, around: "Span | None" = None, holder: str = "") -> None:
        self._node, self._around, self.holder = node, around, holder
        self.kind, self.start, self.end, self.space = node.kind, node.start, node.end, node.space
        self.shared, self.failed, self.struct, self.note = node.shared, node.failed, node.struct, node.note
        self.leads: int | None = node.leads
        self.covers: Covered | None = node.covers
        self._has_path = node.name != "" and node.kind in _WITH_PATH
        self._field = None if node.step is None else _field(type, node.step)
        self._type = None if self._field is None else self._field.type
        if self._field is None and (node.kind in _OWN or (node.children and node.kind in ("packed", "content"))):
            self._type = _within(type, node)

    def __repr__(self) -> str:
        return f"Span({self.kind} {self.path or self.name!r}, {self.start}..{self.end}, space {self.space})"

    @property
    def _own(self) -> tuple[Component, ...]:
        """The components that it adds to the path."""
        if not self._has_path:
            return ()
        return self._node.name if isinstance(self._node.name, tuple) else (self._node.name,)

    @property
    def _components(self) -> tuple[Component, ...]:
        """The components of the path, or of the path of the value that it is part of."""
        before = () if self._around is None else self._around._components
        return (*(before[:-1] if self.kind == "bits" and self._node.scattered else before), *self._own)

    @cached_property
    def name(self) -> str:
        """The field's name, or the index of an element; empty if it has no path of its own."""
        return str(self._own[-1]) if self._has_path else ""

    @cached_property
    def path(self) -> str:
        """The path, as errors have it; empty for the record itself, and for a span that is not a value."""
        return render_path(self._components) if self._has_path else ""

    @cached_property
    def _values(self) -> tuple[Any, Any]:
        value, wire = _scalar(self._node.value), _scalar(self._node.wire)
        if isinstance(self._type, Meant) and value is not None and value is not ABSENT and not self.failed:
            with suppress(ArithmeticError, ValueError):  # readers never see it, as the record is bad
                value, wire = meaning(value, self._type), value
        return value, ABSENT if wire is value or (type(wire) is type(value) and wire == value) else wire

    @property
    def value(self) -> Any:
        """The value for readers; ABSENT if there is none, as for containers."""
        return self._values[0]

    @property
    def wire(self) -> Any:
        """The wire value, if it differs from `value`; else ABSENT."""
        return self._values[1]

    @property
    def doc(self) -> str:
        """The spec's description of the field, without its unit."""
        text = getattr(self._node.step, "doc", "") or (self._field.doc if self._field else "")
        if self.unit and text == self.unit:
            return ""
        return str(text.removesuffix(f" ({self.unit})") if self.unit else text)

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return self._field.unit if self._field else ""

    @property
    def measures(self) -> frozenset[str]:
        """The names of the fields from which its size, count, offset or computed value is derived."""
        step = self._node.step
        if isinstance(step, Computed):
            return frozenset(_names(step.compute))
        if not isinstance(step, Field):
            return frozenset()
        sizes = (step.size, step.at, getattr(step.subcon, "size", None), getattr(step.subcon, "count", None))
        return frozenset(chain.from_iterable(map(_names, sizes)))

    @property
    def bounds(self) -> frozenset[str]:
        """The names of the fields that determine where a struct ends."""
        return frozenset(_names(self._node.frame))

    @property
    def hidden(self) -> bool:
        """Whether readers do not see the field."""
        return bool(getattr(self._node.step, "hidden", False))

    @property
    def seen(self) -> str:
        """The readers' name of the member; empty if it is hidden or flattened."""
        return "" if self.hidden or getattr(self._node.step, "flatten", False) else _title(self._node.step)

    @property
    def constant(self) -> bool:
        """Whether the spec fixes the value."""
        return isinstance(self._node.step, Field) and self._node.step.const is not MISSING

    @property
    def elements(self) -> range:
        """The indices of the elements in a folded span."""
        return range(self._node.first, self._node.entries)

    @property
    def low(self) -> int:
        """The lowest of its bits."""
        return self._node.bits[0] if self._node.bits else 0

    @property
    def width(self) -> int:
        """The number of its bits; 0 for whole bytes."""
        return self._node.bits[1] if self._node.bits else 0

    @cached_property
    def children(self) -> tuple["Span", ...]:
        """The inner spans."""
        holding = self.struct or self.holder
        return tuple([Span(each, self._type, self, holding) for each in self._node.children])

    def walk(self) -> Iterator["Span"]:
        """This span and all inner ones, in order."""
        waiting = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(span.children))

    @property
    def owns(self) -> bool:
        """Whether it is a leaf: each byte of a space has exactly one."""
        if self.kind in BODILESS or self.shared or self.start == self.end:
            return False
        return all(
            each.start == each.end or each.kind in BODILESS or each.space != self.space for each in self.children
        )


@dataclass(frozen=True, slots=True)
class Explained:
    """One record: its bytes, the tree of its spans, and its value, or its error with the bytes at fault.

    `refused` are wrong checksums that made the parser choose another alternative. If the engine has read elements of
    the record, there is no value.
    """

    format: str
    spaces: tuple[Space, ...]
    span: Span
    value: Any
    error: DecodeError | None
    fault: Fault | None
    refused: tuple[Span, ...] = ()

    @property
    def data(self) -> bytes:
        """The bytes of the record."""
        return self.spaces[0].data

    def leaves(self, space: int = 0) -> list[Span]:
        """The leaf spans of a space, one per byte, in byte order."""
        found = [span for span in self.span.walk() if span.space == space and span.owns]
        return sorted(found, key=lambda span: span.start)

    def at(self, offset: int, space: int = 0) -> Span | None:
        """The innermost span at an offset."""
        return next((span for span in self.leaves(space) if span.start <= offset < span.end), None)

    def find(self, path: str) -> Span | None:
        """The first span with that path; None if there is none."""
        return next((span for span in self.span.walk() if span.path == path), None)

    def member(self, name: str) -> Span | None:
        """The span of a member of the record, by its readers' name; None if there is none."""
        return next((span for span in _members(self.span) if span.seen == name), None)

    def bytes_of(self, span: Span) -> bytes:
        """The bytes of a span."""
        return self.spaces[span.space].data[span.start : span.end]


def _members(span: Span) -> Iterator[Span]:
    """The members of a struct, including those of flattened structs and the bits of its integers."""
    for each in span.children:
        if each.seen:
            yield each
            yield from (part for part in each.children if part.kind == "bits")
        else:
            yield from _members(each)


def _names(expression: Any) -> Iterator[str]:
    """The names that an expression uses: they are string constants in its code."""
    code = getattr(expression, "__code__", None)
    return (each for each in (code.co_consts if code else ()) if isinstance(each, str))


def _field(type: Any, step: Any) -> LogicalField | None:
    """The record member that readers see for a field."""
    if not isinstance(type, LogicalRecord) or getattr(step, "flatten", False):
        return None
    return next((each for each in type.fields if each.name == _title(step)), None)


def _title(step: Any) -> str:
    return str(getattr(step, "title", "") or getattr(step, "name", "") or "")


def _scalar(value: Any) -> Any:
    """A value without parts; other values have spans for their parts, and are ABSENT here."""
    value = meant(value) if isinstance(value, OpenBytes) else value
    if isinstance(value, Extension):
        value = value.value
    if isinstance(value, Passed):
        return ABSENT
    return ABSENT if isinstance(value, dict | Pairs) or (isinstance(value, list) and not _is_flat(value)) else value


def _is_flat(value: list[Any]) -> bool:
    return all(isinstance(each, bool | int | float) for each in value)


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
