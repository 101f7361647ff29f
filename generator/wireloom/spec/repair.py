"""Remove the parts of a document that have the wrong shape, so that the rest can be checked too.

The findings of the shape check become edits of the nodes. A misspelled key is renamed, any other faulty part is
dropped, and so is a mapping that lacks a required key. Nodes keep their locations in the file, so problems found in the
rest are shown at the right place.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from wireloom.spec.yaml import MappingNode, Node, Path, Scalar, ScalarNode, SequenceNode, find

_NAMING = ("types", "parameters", "errors", "checksums", "ranges", "roots", "bits")
_STAND_INS: Mapping[str, Scalar] = {"wireloom": 1, "title": "untitled"}
"""Required keys of a document whose value nothing else depends on, with a replacement."""


@dataclass(frozen=True, slots=True)
class Rename:
    """Rename a misspelled key."""

    key: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Remove the entry or item."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """Give a missing key of the document its replacement value."""

    key: str


Edit = Rename | Drop | StandIn


def lacking(path: Path, key: str) -> tuple[Path, Edit]:
    """The edit for a mapping that lacks a required key: add a replacement, else drop the mapping."""
    return (path, StandIn(key)) if not path and key in _STAND_INS else (path, Drop())


def edited(node: Node, edits: Mapping[Path, Edit], path: Path = ()) -> Node | None:
    """Apply the edits; None if nothing remains."""
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
    """The document with the replacement value of a key added."""
    added = ScalarNode(key, key, node.location), ScalarNode(_STAND_INS[key], str(_STAND_INS[key]), node.location)
    rest = {path: edit for path, edit in edits.items() if path}
    return edited(replace(node, entries=(*node.entries, added)), rest)


def names_dropped(node: Node, edits: Mapping[Path, Edit]) -> Iterator[str]:
    """The names that the edits remove or leave half-defined; `errors:` stands for all names of that mapping."""
    for path, edit in edits.items():
        if isinstance(edit, StandIn) or (isinstance(edit, Rename) and not _is_taken(node, path, edit.key)):
            continue
        yield from _innermost_name(path)
        if "flatten" in path[-3:] or _is_flattened(find(node, path)[1]):
            yield "types:"  # any name may have been a member of the flattened struct
        if len(path) == 1:
            yield f"{path[0]}:"
            yield str(path[0])  # or the key is a name that lost its indentation
        yield from _names(find(node, path)[1], path)


def _is_flattened(node: Node) -> bool:
    """Whether the node is a field with `flatten`."""
    entries = node.entries if isinstance(node, MappingNode) else ()
    return any(isinstance(value, MappingNode) and value.entry("flatten") is not None for _, value in entries)


def _is_taken(node: Node, path: Path, key: str) -> bool:
    """Whether the mapping that contains the path's last key also has the key `key`."""
    around = find(node, path[:-1])[1]
    return isinstance(around, MappingNode) and around.entry(key) is not None


def _is_name(path: Path) -> bool:
    """Whether the last step is a name chosen by the author, not a key of the language."""
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
            first, *others = re.findall(r"\w+", text) or [""]  # an item that is not a mapping
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
