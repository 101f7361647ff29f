"""Leave out of a document what has the wrong shape, so that the rest of it can be checked as well.

The checker's findings become edits of the nodes: a key that is meant to be another is renamed, anything else that is at
fault is dropped, and what lacks a key is dropped as a whole. The nodes keep their places in the file, so problems that
are found in the rest are shown where they are.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from wireloom.spec.yaml import MappingNode, Node, Path, Scalar, ScalarNode, SequenceNode, find

_NAMING = ("types", "parameters", "errors", "checksums", "ranges", "roots", "bits")
_STAND_INS: Mapping[str, Scalar] = {"wireloom": 1, "title": "untitled"}
"""Keys of a document whose value nothing else depends on."""


@dataclass(frozen=True, slots=True)
class Rename:
    """The key was meant to be another."""

    key: str


@dataclass(frozen=True, slots=True)
class Drop:
    """The entry or item goes."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A key of the document gets a value that nothing depends on."""

    key: str


Edit = Rename | Drop | StandIn


def lacking(path: Path, key: str) -> tuple[Path, Edit]:
    """The edit for a mapping that lacks a key: without it, it is nothing."""
    return (path, StandIn(key)) if not path and key in _STAND_INS else (path, Drop())


def edited(node: Node, edits: Mapping[Path, Edit], path: Path = ()) -> Node | None:
    """The node after the edits; None where nothing is left of it."""
    edit = edits.get(path)
    match edit:
        case Drop():
            return None
        case StandIn(key) if isinstance(node, MappingNode):
            return _with(node, key, edits)
        case _:
            pass
    match node:
        case ScalarNode():
            return node
        case SequenceNode(items=items):
            kept = [(i, edited(item, edits, (*path, i))) for i, item in enumerate(items)]
            left = [(i, item) for i, item in kept if item is not None]
            numbers = tuple(node.number(i) for i, _ in left)
            return replace(node, items=tuple(item for _, item in left), numbers=numbers)
        case MappingNode():
            return replace(node, entries=tuple(_entries(node, edits, path)))
        case _:
            assert_never(node)


def _entries(node: MappingNode, edits: Mapping[Path, Edit], path: Path) -> Iterator[tuple[ScalarNode, Node]]:
    taken = {key.text for key, _ in node.entries}
    for key, value in node.entries:
        below = (*path, key.text)
        edit = edits.get(below)
        if isinstance(edit, Rename):
            if edit.key not in taken:
                taken.add(edit.key)
                yield replace(key, value=edit.key, text=edit.key), value
            continue
        kept = edited(value, edits, below)
        if kept is not None:
            yield key, kept


def _with(node: MappingNode, key: str, edits: Mapping[Path, Edit]) -> Node | None:
    """The document with a stand-in under that key."""
    added = ScalarNode(key, key, node.location), ScalarNode(_STAND_INS[key], str(_STAND_INS[key]), node.location)
    rest = {path: edit for path, edit in edits.items() if path}
    return edited(replace(node, entries=(*node.entries, added)), rest)


def names_dropped(node: Node, edits: Mapping[Path, Edit]) -> Iterator[str]:
    """The names that the edits take out of a document or leave half-defined; `errors:` for all of that mapping."""
    for path, edit in edits.items():
        if isinstance(edit, StandIn) or (isinstance(edit, Rename) and not _is_taken(node, path, edit.key)):
            continue
        yield from _innermost_name(path)
        if "flatten" in path[-3:] or _melts(find(node, path)[1]):
            yield "types:"  # what the struct would have lent is looked for everywhere
        if len(path) == 1:
            yield f"{path[0]}:"
            yield str(path[0])  # or a name that lost its indentation
        yield from _names(find(node, path)[1], path)


def _melts(node: Node) -> bool:
    """Whether it is a field whose members are members of the struct around."""
    entries = node.entries if isinstance(node, MappingNode) else ()
    return any(isinstance(value, MappingNode) and value.entry("flatten") is not None for _, value in entries)


def _is_taken(node: Node, path: Path, key: str) -> bool:
    """Whether the mapping at the path's end has that key, too."""
    around = find(node, path[:-1])[1]
    return isinstance(around, MappingNode) and around.entry(key) is not None


def _is_name(path: Path) -> bool:
    """Whether the last step is a name that the author gave, and no key of the language."""
    match path:
        case (*_, "fields", int(), str()):
            return True
        case (*_, str(above), str()):
            return above in _NAMING
        case _:
            return False


def _innermost_name(path: Path) -> Iterator[str]:
    for length in range(len(path), 0, -1):
        if _is_name(path[:length]):
            yield str(path[length - 1])
            return


def _names(node: Node, path: Path) -> Iterator[str]:
    match node:
        case ScalarNode(text=text) if path[-2:-1] == ("fields",):
            first, *others = re.findall(r"\w+", text) or [""]  # an item that is no mapping
            yield others[0] if first == "mark" and others else first
        case ScalarNode(text=text):
            yield from (text,) if path[-1:] == ("mark",) else ()
        case SequenceNode(items=items):
            for index, item in enumerate(items):
                yield from _names(item, (*path, index))
        case MappingNode(entries=entries) if path[-1:] == ("mark",):
            yield from (value.text for _, value in entries if isinstance(value, ScalarNode))
        case MappingNode(entries=entries):
            for key, value in entries:
                below = (*path, key.text)
                yield from (key.text,) if _is_name(below) else ()
                yield from _names(value, below)
        case _:
            assert_never(node)
