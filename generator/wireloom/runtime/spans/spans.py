"""What a traced parse gives: a tree of spans, each a range of bytes with its place, name, value and meaning."""

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

    `kind` says what the span is:

    | kind | bytes that are |
    |---|---|
    | `record`, `field`, `element`, `entry`, `key` | a value that has a path |
    | `bits` | some bits of the integer around, `low` the lowest of them and `width` their number |
    | `computed`, `mark` | none: a value derived from others, or a named offset |
    | `length`, `head`, `tag`, `name`, `pointer` | what tells where or how large other bytes are, or their name |
    | `content`, `delimiter`, `terminator`, `padding`, `syntax` | the rest of a value |
    | `packed` | a region whose content is another space; its one child has the content |
    | `folded` | the elements `elements` of a list, or entries of a map, as one |
    | `ignored` | read by no field |
    | `unread` | what follows a fault |

    `value` is what readers see and `wire` the number or text on the wire, where that is another. `space` 0 is the
    record; every unpacked region has a space of its own, with offsets from 0. `shared` spans have bytes that an earlier
    span has too. `leads` is the offset that a pointer leads to. `struct` is the type of the spec that the fields within
    belong to, and `holder` the type that the span itself is a field of. `covers` are the bytes that a checksum covers,
    and `note` what else is to be said: why nobody reads it, which alternative holds.

    What a span says is worked out when it is asked for: a record of a megabyte has a hundred thousand of them.
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
        """What it adds to the path."""
        if not self._has_path:
            return ()
        return self._node.name if isinstance(self._node.name, tuple) else (self._node.name,)

    @property
    def _components(self) -> tuple[Component, ...]:
        """The components of the path, or of that of the value that this is part of."""
        before = () if self._around is None else self._around._components
        return (*(before[:-1] if self.kind == "bits" and self._node.scattered else before), *self._own)

    @cached_property
    def name(self) -> str:
        """The field's name, or the index of an element; empty where it has no path of its own."""
        return str(self._own[-1]) if self._has_path else ""

    @cached_property
    def path(self) -> str:
        """The path, as errors have it; empty for the record itself, and for what is no value."""
        return render_path(self._components) if self._has_path else ""

    @cached_property
    def _values(self) -> tuple[Any, Any]:
        value, wire = _scalar(self._node.value), _scalar(self._node.wire)
        if isinstance(self._type, Meant) and value is not None and value is not ABSENT and not self.failed:
            with suppress(ArithmeticError, ValueError):  # what no reader gets to see, for the record is bad
                value, wire = meaning(value, self._type), value
        return value, ABSENT if wire is value or (type(wire) is type(value) and wire == value) else wire

    @property
    def value(self) -> Any:
        """The value for readers; ABSENT where there is none, as for containers."""
        return self._values[0]

    @property
    def wire(self) -> Any:
        """What is on the wire, where that is another value; else ABSENT."""
        return self._values[1]

    @property
    def doc(self) -> str:
        """What the spec says of the field, without its unit."""
        said = getattr(self._node.step, "doc", "") or (self._field.doc if self._field else "")
        if self.unit and said == self.unit:
            return ""
        return str(said.removesuffix(f" ({self.unit})") if self.unit else said)

    @property
    def unit(self) -> str:
        """The unit of the value."""
        return self._field.unit if self._field else ""

    @property
    def measures(self) -> frozenset[str]:
        """The names of the fields from which the size, count or offset, or a computed value, is derived."""
        step = self._node.step
        if isinstance(step, Computed):
            return frozenset(_names(step.compute))
        if not isinstance(step, Field):
            return frozenset()
        sizes = (step.size, step.at, getattr(step.subcon, "size", None), getattr(step.subcon, "count", None))
        return frozenset(chain.from_iterable(map(_names, sizes)))

    @property
    def bounds(self) -> frozenset[str]:
        """The names of the fields of a struct that say where it ends."""
        return frozenset(_names(self._node.frame))

    @property
    def hidden(self) -> bool:
        """Whether readers do not see the field."""
        return bool(getattr(self._node.step, "hidden", False))

    @property
    def seen(self) -> str:
        """What readers call the member; empty for what they do not see, and what melts into the struct around."""
        return "" if self.hidden or getattr(self._node.step, "flatten", False) else _title(self._node.step)

    @property
    def constant(self) -> bool:
        """Whether the spec fixes the value."""
        return isinstance(self._node.step, Field) and self._node.step.const is not MISSING

    @property
    def elements(self) -> range:
        """The indices of what a folded span stands for."""
        return range(self._node.first, self._node.entries)

    @property
    def low(self) -> int:
        """The lowest of the bits."""
        return self._node.bits[0] if self._node.bits else 0

    @property
    def width(self) -> int:
        """How many bits there are; 0 for what is whole bytes."""
        return self._node.bits[1] if self._node.bits else 0

    @cached_property
    def children(self) -> tuple["Span", ...]:
        """The spans within."""
        holding = self.struct or self.holder
        return tuple([Span(each, self._type, self, holding) for each in self._node.children])

    def walk(self) -> Iterator["Span"]:
        """This span and all within it, in order."""
        waiting = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(span.children))

    @property
    def owns(self) -> bool:
        """Whether it is one of the spans of which each byte of a space has exactly one."""
        if self.kind in BODILESS or self.shared or self.start == self.end:
            return False
        return all(
            each.start == each.end or each.kind in BODILESS or each.space != self.space for each in self.children
        )


@dataclass(frozen=True, slots=True)
class Explained:
    """One record: its bytes, the tree of its spans, and its value, or the error of the first byte that is wrong.

    `refused` are checksums that were wrong, so that the record is read as something else. A record of which the engine
    has read elements has no value.
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
        """The spans of which each byte of a space has exactly one, in the order of the bytes."""
        found = [span for span in self.span.walk() if span.space == space and span.owns]
        return sorted(found, key=lambda span: span.start)

    def at(self, offset: int, space: int = 0) -> Span | None:
        """The innermost span of a byte."""
        return next((span for span in self.leaves(space) if span.start <= offset < span.end), None)

    def find(self, path: str) -> Span | None:
        """The first span of a path; None where the record has none."""
        return next((span for span in self.span.walk() if span.path == path), None)

    def member(self, name: str) -> Span | None:
        """The span of a member of the record, as readers call it; None where the record has none."""
        return next((span for span in _members(self.span) if span.seen == name), None)

    def bytes_of(self, span: Span) -> bytes:
        """The bytes of a span."""
        return self.spaces[span.space].data[span.start : span.end]


def _members(span: Span) -> Iterator[Span]:
    """The members of a struct, those that melt into it and the bits of its integers among them."""
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
    """The member of a record that readers see of a field."""
    if not isinstance(type, LogicalRecord) or getattr(step, "flatten", False):
        return None
    return next((each for each in type.fields if each.name == _title(step)), None)


def _title(step: Any) -> str:
    return str(getattr(step, "title", "") or getattr(step, "name", "") or "")


def _scalar(value: Any) -> Any:
    """A value that has no parts; those of others are spans of their own."""
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
