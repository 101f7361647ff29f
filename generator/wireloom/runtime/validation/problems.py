"""What a problem is, and where problems stand: in a document by JSON pointers, in its text by lines and columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wireloom.runtime.errors import Component, DecodeError
from wireloom.runtime.parsers.json.nodes import Node

_CONTINUATIONS = bytes(range(0x80, 0xC0))  # the bytes of a character of UTF-8 behind its first


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a message.

    `path` is a JSON pointer (empty: the message itself); of bytes that are no JSON it names fields as the decoder's
    path does. `rule` is the keyword of the JSON Schema or, where that has no words for it, the decoder's error code.
    `offset` counts bytes, `line` and `column` (in characters) begin at 1; they are None where no text is known.
    """

    path: str
    rule: str
    message: str
    expected: str
    actual: str
    offset: int | None = None
    line: int | None = None
    column: int | None = None


def message(expected: str, actual: str) -> str:
    """The sentence about what is wrong."""
    detail = f"expected {expected}" if expected else "not what the format says"
    return f"{detail}, found {actual}" if actual else detail


def pointer(components: Iterable[Component]) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join("/" + str(each).replace("~", "~0").replace("/", "~1") for each in components)


def of_error(error: DecodeError) -> Problem:
    """The decoder's error, at the path that it names itself."""
    text = message(error.expected, error.actual)
    return Problem(pointer(error.components), error.code, text, error.expected, error.actual, error.offset)


class Places:
    """Where the nodes of one document are."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._within: dict[int, tuple[Node, Component]] = {}
        pending = [root]
        while pending:
            node = pending.pop()
            for name, child in children(node):
                self._within[id(child)] = node, name
                pending.append(child)

    def path(self, node: Node) -> tuple[Component, ...]:
        """The path of a node of the document."""
        names: list[Component] = []
        while (entry := self._within.get(id(node))) is not None:
            node, name = entry
            names.append(name)
        return tuple(reversed(names))

    def found(self, components: Sequence[Component], offset: int) -> tuple[Component, ...]:
        """The path as far as it is one of the document.

        Elements may have names in an error; the rest is then found by the offset.
        """
        node = self._root
        for place, component in enumerate(components):
            below = next((child for name, child in children(node) if name == component), None)
            if below is None:
                rest = self._at(node, offset) if place < len(components) - 1 or node.kind == "array" else node
                return self.path(rest)
            node = below
        return self.path(node)

    def _at(self, node: Node, offset: int) -> Node:
        """The innermost node at an offset, of those in `node`."""
        while True:
            below = next((child for _, child in children(node) if child.start <= offset < child.end), None)
            if below is None:
                return node
            node = below


def children(node: Node) -> Iterable[tuple[Component, Node]]:
    """The members or elements of a node, by name or place."""
    match node.kind:
        case "object":
            return [(name, child) for name, _, child in node.members]
        case "array":
            return list(enumerate(node.elements))
        case _:
            return ()


def characters(data: bytes) -> int:
    """How many characters of a text begin in a part of it."""
    return len(data.translate(None, _CONTINUATIONS))


def positions(data: bytes, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column of each offset of a text, in one pass over it."""
    found: dict[int, tuple[int, int]] = {}
    line, column, here = 1, 1, 0
    for offset in sorted(set(offsets)):
        feeds = data.count(b"\n", here, offset)
        if feeds:
            line, column, here = line + feeds, 1, data.rindex(b"\n", here, offset) + 1
        column += characters(data[here:offset])
        here = offset
        found[offset] = line, column
    return found
