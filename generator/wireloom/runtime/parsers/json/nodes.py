"""JSON between its text and its values: nodes to parse from, slots to build into.

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
    """How deep open values are nested, counted while they are read or written."""

    limit: int
    depth: int = 0

    def enter(self) -> bool:
        """Go one level deeper; False if that exceeds the limit."""
        if self.depth >= self.limit:
            return False
        self.depth += 1
        return True

    def leave(self) -> None:
        """Go one level up."""
        self.depth -= 1


@dataclass(slots=True)
class SourceText:
    """What the nodes of one text share: its bytes, the nesting of its open values, and how these are returned."""

    data: bytes
    nesting: Nesting
    start: int = 0  # where the text begins
    keeps_open: bool = False  # whether open values are returned as their text


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One JSON value and its position: bytes `start` to `end` of the text.

    `value` is the scalar's Python value, the list of elements of an array, or the list of `(key, offset of the key,
    node)` of an object. An integer literal of more than 400 digits is replaced by one of its sign that is out of every
    range.
    """

    source: SourceText
    kind: Kind
    start: int
    end: int
    value: Any

    def tell(self) -> int:
        """The offset of the value; every stream of a value has this method."""
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
    """The error of a node that is not of the `expected` kind."""
    return DecodeError(code, offset=node.start, expected=expected, actual=WORDS[node.kind])


def too_deep(node: Node) -> DecodeError:
    """The error of a container that is nested too deep."""
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
    """JSON text to write unchanged; it must be valid."""

    text: str


Tree = Verbatim | Mapping[str, "Tree"] | list["Tree"] | str | float | int | bool | None


@dataclass(slots=True)
class Slot:
    """Where a construct puts the value that it builds; `value` stays MISSING if the value is left out."""

    nesting: Nesting
    value: Any = MISSING

    def within(self) -> "Slot":
        """A slot for a part of this one's value."""
        return Slot(self.nesting)
