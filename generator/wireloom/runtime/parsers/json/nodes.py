"""JSON between its text and its meaning: nodes to read from, slots to write to.

A `Node` is the stream of a construct that parses, a `Slot` that of one that builds. Both count how deep open values
nest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parsers.protocol import MISSING

Kind = Literal["null", "bool", "int", "float", "str", "array", "object"]
Member = tuple[str, int, "Node"]

WORDS: dict[Kind, str] = {
    "null": "null",
    "bool": "a boolean",
    "int": "an integer",
    "float": "a number with a fraction or an exponent",
    "str": "a string",
    "array": "an array",
    "object": "an object",
}


@dataclass(slots=True)
class Nesting:
    """How deep open values stand in one another, counted while they are read or written."""

    limit: int
    depth: int = 0

    def enter(self) -> bool:
        """One level deeper; false where that is beyond the limit."""
        if self.depth >= self.limit:
            return False
        self.depth += 1
        return True

    def leave(self) -> None:
        """One level up."""
        self.depth -= 1


@dataclass(slots=True)
class SourceText:
    """What the nodes of one text share: its bytes, the nesting of the open values in it, and how those are given."""

    data: bytes
    nesting: Nesting
    start: int = 0  # where the text begins
    keeps_open: bool = False  # whether open values are given as their text


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One JSON value and where it stands: bytes `start` to `end` of the text.

    `value` is the scalar's Python value, the list of elements of an array, or the list of `(key, offset of the key,
    node)` of an object. An integer literal of more than 400 digits has a stand-in of its sign that no range holds.
    """

    source: SourceText
    kind: Kind
    start: int
    end: int
    value: Any

    def tell(self) -> int:
        """The offset of the value, as of any stream that a value is read from."""
        return self.start

    @property
    def literal(self) -> str:
        """The value's text, as written."""
        return self.source.data[self.start : self.end].decode("utf-8")

    @property
    def elements(self) -> list["Node"]:
        """The elements of an array."""
        elements: list[Node] = self.value
        return elements

    @property
    def members(self) -> list[Member]:
        """The members of an object, in the order of the text."""
        members: list[Member] = self.value
        return members

    def __repr__(self) -> str:
        return f"Node({self.kind}, {self.start}..{self.end})"


def mismatch(node: Node, expected: str, code: str = "type_mismatch") -> DecodeError:
    """The error of a node of another kind than `expected`."""
    return DecodeError(code, offset=node.start, expected=expected, actual=WORDS[node.kind])


def too_deep(node: Node) -> DecodeError:
    """The error of a container beyond the limit on nesting."""
    limit = node.source.nesting.limit
    return DecodeError(
        "depth_limit", offset=node.start, expected=f"at most {limit} nested containers", actual="a deeper one"
    )


def expect(node: Node, kind: Kind) -> Any:
    """The value of a node of that kind; `type_mismatch` for any other."""
    if node.kind != kind:
        raise mismatch(node, WORDS[kind])
    return node.value


@dataclass(frozen=True, slots=True)
class Verbatim:
    """JSON text to be written as it is; whoever makes one has read it."""

    text: str


Tree = Verbatim | Mapping[str, "Tree"] | list["Tree"] | str | float | int | bool | None


@dataclass(slots=True)
class Slot:
    """Where a construct puts what it builds; `value` stays MISSING for what is left out."""

    nesting: Nesting
    value: Any = MISSING

    def within(self) -> "Slot":
        """A slot for a part of this one's value."""
        return Slot(self.nesting)
