"""The trace of a parse: nested nodes, each with the bytes from its start to its end.

The constructs of `traced` report here. A node is open while its construct reads. Offsets count in the current space,
which is the record or an unpacked region.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wireloom.runtime.checkpoints import Checkpoint
from wireloom.runtime.cursor import Cursor
from wireloom.runtime.errors import Component, DecodeError
from wireloom.runtime.parsers.json.nodes import Node as JsonNode
from wireloom.runtime.parsers.json.text import read_partly
from wireloom.runtime.parsers.protobuf.wire import Scanned

ABSENT: Any = object()
"""The value of a span that has none, such as a container."""

BODILESS = ("computed", "mark", "bits")
"""Kinds of spans that have no bytes of their own."""
UNREAD = "not read, because of the fault"
TRACER = "_tracer"
"""The name of the parameter that holds the tracer."""
Name = Component | tuple[Component, ...]
"""The components that a node adds to the path."""


class Fault(NamedTuple):
    """The byte that an error is about, by its space and its offset there, and the bytes that are wrong.

    The wrong bytes, from `start` to `end`, are all of a refused value, or the ones that differ from a constant.
    """

    space: int
    offset: int
    start: int
    end: int


class Covered(NamedTuple):
    """The bytes that a checksum covers, and whether it matched; None if it was not verified.

    `fits` tells whether the checksum would match other bytes in their place.
    """

    start: int
    end: int
    holds: bool | None
    fits: Callable[[bytes], bool] | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes with their own offsets: the record, or an unpacked region of another space."""

    number: int
    data: bytes
    codec: str = ""
    parent: int = 0
    start: int = 0
    end: int = 0


@dataclass(slots=True, eq=False)
class Traced:
    """A node of the growing tree: what is known of some bytes so far."""

    kind: str
    name: Name
    start: int
    end: int
    space: int
    step: Any = None
    children: list["Traced"] = field(default_factory=list)
    value: Any = ABSENT
    wire: Any = ABSENT
    struct: str = ""
    form: str = ""
    note: str = ""
    frame: Any = None  # the expression for the end of a struct
    bits: tuple[int, int] | None = None
    leads: int | None = None
    covers: Covered | None = None
    failed: bool = False
    shared: bool = False
    first: int = 0  # the index of the first folded element
    entries: int = 0  # the entries of a map so far, or the index after the folded elements
    scattered: bool = False  # whether its bytes are those of its children, with others between


@dataclass(frozen=True, slots=True)
class Folding:
    """The list elements that get their own spans: the first ones, and those at requested indices."""

    first: int
    indices: set[int]


@dataclass(frozen=True, slots=True)
class _Before:
    """The notes before alternatives were tried."""

    node: Traced
    children: int
    spaces: int
    known: dict[tuple[int, int], Traced]


class Tracer:
    """The trace of one record. `roots` has a tree for each reading of it (one per byte order), with its error."""

    def __init__(self, data: bytes, folding: Folding | None = None) -> None:
        self.data, self.folding = data, folding
        self.roots: list[tuple[Traced, list[Space], tuple[int, int] | None, DecodeError | None]] = []
        self.begin()

    def begin(self) -> None:
        """Start reading the record from its start."""
        self.spaces = [Space(0, self.data)]
        self.space, self.base = 0, 0
        self.root = Traced("record", "", 0, 0, 0)
        self.stack = [self.root]
        self.fault: tuple[int, int] | None = None  # a space, and an offset in it
        self._fault_of: DecodeError | None = None
        self._attempts: list[_Before] = []
        self.refused: list[Traced] = []  # wrong checksums that made the parser try the next alternative
        self.known: dict[tuple[int, int], Traced] = {}

    @property
    def current(self) -> Traced:
        """The innermost open node."""
        return self.stack[-1]

    def cursor(self, data: bytes) -> Cursor:
        """A cursor over the bytes of a space; its JSON texts are noted even if they are broken."""
        cursor = Cursor(data)
        cursor.reader = self.read_text
        return cursor

    def add(self, kind: str, name: Name, start: int, end: int, step: Any = None) -> Traced:
        """Add a node to the open one."""
        node = Traced(kind, name, start, end, self.space, step)
        self.current.children.append(node)
        return node

    def keeps(self, index: int) -> bool:
        """Whether an element is traced; otherwise it may be folded."""
        return self.folding is None or index < self.folding.first or index in self.folding.indices

    def fold(self, first: int, count: int, start: int, end: int, within: Traced | None = None) -> None:
        """Fold `count` elements of a node, the open one by default, into one span; joins a folded span right before."""
        node = within or self.current
        before = node.children[-1] if node.children else None
        if before is None or before.kind != "folded" or before.entries != first:
            before = Traced("folded", first, start, end, self.space)
            before.first = first
            node.children.append(before)
        before.entries, before.end = first + count, max(end, before.end)

    def reading(self, node: Traced, stream: Any, read: Callable[..., Any], *given: Any) -> Any:
        """Read with a node open, and note its value and its end."""
        self.stack.append(node)
        try:
            value = read(*given)
        except DecodeError:
            text = stream.document if type(stream) is Cursor else stream
            if isinstance(text, JsonNode) and text.kind == "object" and not node.children:
                self._leave(text, node)
            elif isinstance(stream, JsonNode) and stream.kind not in ("object", "array"):
                node.end = self.base + stream.end
            fail(node, self._end(stream, node))
            raise
        finally:
            del self.stack[-1]
        node.end = max(self._end(stream, node), node.start)
        if node.value is ABSENT:
            node.value = value
        return value

    def _end(self, stream: Any, node: Traced) -> int:
        """The end of what was read from a stream."""
        if type(stream) is Cursor:
            return self.base + stream.tell()
        if isinstance(stream, JsonNode):
            return self.base + stream.end
        return self.base + stream.limit if isinstance(stream, Scanned) else node.end

    @contextmanager
    def within(self, space: int, base: int) -> Iterator[None]:
        """Note the following reads in a space; the first byte of their stream is at `base`."""
        outer = self.space, self.base
        self.space, self.base = space, base
        try:
            yield
        except DecodeError as error:
            if self._fault_of is not error:
                self.fault, self._fault_of = (space, base + error.offset), error
            raise
        finally:
            self.space, self.base = outer

    @contextmanager
    def attempting(self) -> Iterator[None]:
        """Remember the notes so far, while alternatives are tried."""
        self._attempts.append(_Before(self.current, len(self.current.children), len(self.spaces), dict(self.known)))
        try:
            yield
        finally:
            del self._attempts[-1]

    def go_back(self) -> None:
        """Discard the notes of the alternative before."""
        before = self._attempts[-1]
        gone = before.node.children[before.children :]
        self.refused += [each for each in gone if each.covers is not None and each.covers.holds is False]
        del before.node.children[before.children :]
        del self.spaces[before.spaces :]
        self.known = dict(before.known)
        self.fault = self._fault_of = None

    def unpacked(self, data: bytes, codec: str, start: int, end: int) -> Space:
        """A space for an unpacked region."""
        space = Space(len(self.spaces), data, codec, self.space, start, end)
        self.spaces.append(space)
        return space

    def read_text(self, data: bytes, depth: int, start: int, known: Mapping[int, Checkpoint] | None = None) -> JsonNode:
        """The nodes of a JSON text. If it is broken, the part before the fault is noted."""
        root, error = read_partly(data, depth, start, known, 0 if self.folding is None else self.folding.first)
        if error is None:
            assert root is not None
            return root
        if root is not None:
            self._note(root, self.current)
        raise error

    def _leave(self, stream: JsonNode, node: Traced) -> None:
        """Add the names of the members of an object that was refused before any member was read."""
        for name, _, child in stream.members:
            made = Traced("unread", name, self.base + child.start, self.base + child.end, self.space)
            made.note = UNREAD
            node.children.append(made)

    def _note(self, node: JsonNode, into: Traced) -> None:
        """The values of a text that is not read further, by their names in it."""
        members: Sequence[tuple[Component, JsonNode | None]] = ()
        if node.kind == "object":
            members = [(key, child) for key, _, child in node.members]
        elif node.kind == "array":
            members = list(enumerate(list[JsonNode | None].__iter__(node.value)))
        end = self.base + node.start + 1
        for name, child in members:
            if child is None:
                assert isinstance(name, int)
                self.fold(name, 1, end, end, into)
                continue
            kind = "element" if isinstance(name, int) else "field"
            made = Traced(kind, name, self.base + child.start, self.base + child.end, self.space)
            made.form = into.form = "json"
            into.children.append(made)
            if child.kind in ("object", "array"):
                self._note(child, made)
                made.end = max([made.end, *(each.end for each in made.children)])
                made.failed = child.end == child.start
            else:
                made.value = child.value
            if into.children[-2:-1] and into.children[-2].kind == "folded":
                into.children[-2].end = made.start
            end = made.end


def fail(node: Traced, end: int) -> None:
    """Mark a node that has a fault at or within it, and set its end to where reading ended, if that is known."""
    node.failed = True
    last = max((each.end for each in node.children if each.space == node.space), default=node.start)
    known = end if node.wire is not ABSENT or node.kind in ("content", "packed") else node.start
    known = max(known, node.end) if node.form in ("protobuf", "json") else known  # known before it is read
    node.end = max(node.start, last, known)
