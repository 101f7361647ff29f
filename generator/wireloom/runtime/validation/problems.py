"""Problems and their positions: in a document by JSON pointers, in its text by lines and columns."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from wireloom.runtime.errors import Component, DecodeError, render_path
from wireloom.runtime.parsers.json.nodes import Member, Node

Path = tuple[Component, ...]

_CONTINUATIONS = bytes(range(0x80, 0xC0))  # the bytes of a UTF-8 character after its first


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a message.

    `path` has the usual form, `payload.bins[3].value` (empty: the message itself); `pointer` is the same as a JSON
    pointer, `/payload/bins/3/value`. `rule` is the keyword of the JSON Schema or, if no keyword expresses it, the
    decoder's error code. `offset` counts bytes; `line` and `column` (in characters) begin at 1. The last three are None
    if there is no text.
    """

    path: str
    rule: str
    message: str
    expected: str
    actual: str
    pointer: str = ""
    offset: int | None = None
    line: int | None = None
    column: int | None = None


def message(expected: str, actual: str) -> str:
    """The message of a problem."""
    detail = f"expected {expected}" if expected else "not what the format says"
    return f"{detail}, found {actual}" if actual else detail


def pointer(components: Iterable[Component]) -> str:
    """The JSON pointer (RFC 6901) of a path."""
    return "".join("/" + str(each).replace("~", "~0").replace("/", "~1") for each in components)


def problem(path: Path, rule: str, expected: str, actual: str, offset: int | None = None) -> Problem:
    """A problem at a path, without a line."""
    text = message(expected, actual)
    return Problem(render_path(path), rule, text, expected, actual, pointer(path), offset)


def of_error(error: DecodeError) -> Problem:
    """The decoder's error as a problem, at its own path."""
    return problem(error.components, error.code, error.expected, error.actual, error.offset)


class Wrong(NamedTuple):
    """A problem before the line and column of its offset are known."""

    offset: int
    path: Path
    rule: str
    expected: str
    actual: str


# --- places --------------------------------------------------------------------------------------------------------


def path_at(node: Node, offset: int) -> Path:
    """The path from a node to the innermost value at an offset."""
    names: list[Component] = []
    while (below := _child_at(node, offset)) is not None:
        name, node = below
        names.append(name)
    return tuple(names)


def path_found(node: Node, components: Sequence[Component], offset: int) -> Path:
    """The path, as far as it exists in the document.

    An error's path may name elements; the rest of the path is then found by the offset.
    """
    for place, component in enumerate(components):
        below = _child(node, component)
        if below is None:
            unfinished = place < len(components) - 1 or node.kind == "array"
            return (*components[:place], *(path_at(node, offset) if unfinished else ()))
        node = below
    return tuple(components)


def _child(node: Node, component: Component) -> Node | None:
    """The first member with that name, or the element at that index."""
    match node.kind:
        case "object":
            return next((child for name, _, child in node.members if name == component), None)
        case "array" if isinstance(component, int) and component < len(node.elements):
            return node.elements[component]
        case _:
            return None


def _child_at(node: Node, offset: int) -> tuple[Component, Node] | None:
    """The member or element at an offset."""
    if node.kind not in ("array", "object"):
        return None
    array = node.kind == "array"
    next_index = bisect_right(node.value, offset, key=_start_of_element if array else _start_of_member)
    if next_index == 0:
        return None
    last = node.value[next_index - 1]
    name, child = (next_index - 1, last) if array else (last[0], last[2])
    return (name, child) if offset < child.end else None


def _start_of_element(element: Node) -> int:
    return element.start


def _start_of_member(member: Member) -> int:
    return member[2].start


# --- lines ---------------------------------------------------------------------------------------------------------


def characters(data: bytes) -> int:
    """How many UTF-8 characters begin in the bytes."""
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


def placed(data: bytes, found: Iterable[Wrong]) -> list[Problem]:
    """The problems of a text, in its order, each with its line and column."""
    known = positions(data, (each.offset for each in found))
    return [
        replace(problem(path, rule, expected, actual, offset), line=known[offset][0], column=known[offset][1])
        for offset, path, rule, expected, actual in sorted(found, key=_order)
    ]


def _order(wrong: Wrong) -> tuple[int, str, str]:
    return wrong.offset, pointer(wrong.path), wrong.rule
