"""Resolves names for expressions in structs under construction.

Specs look names up from the inside out: `_parent.length` and `_root.length` both become `length`, unless a struct in
between has a `length` too. Then the outer struct gets a hidden field with another name and the same value (an alias).
"""

import re
from typing import TYPE_CHECKING

from wireloom.importing.ksy.kinds import Entry, Kind, Record, Scope, Union, View, computed_type

if TYPE_CHECKING:
    from wireloom.problems import Location

AT_END = "is_at_end"

UNREAD, START, FILE_START, IO_SIZE = "unread", "stream_start", "file_start", "stream_size"


class UntranslatableError(Exception):
    """A part of the description that a spec cannot express: its kind, a message, and what to write by hand."""

    def __init__(self, kind: str, message: str, hint: str = "write it by hand") -> None:
        super().__init__(message)
        self.kind, self.message, self.hint = kind, message, hint
        self.location: Location | None = None


def direct(scope: Scope) -> View:
    """The view of the struct that contains the expression."""
    return View(scope, scope)


def reach(place: Scope, owner: Scope, path: str, kind: Kind) -> str:
    """The text with which an expression in `place` refers to a path in `owner`, the same struct or an outer one."""
    first = path.partition(".")[0]
    shadowed = False
    for scope in place.chain:
        if scope is owner:
            break
        shadowed = shadowed or scope.defines(first)
    return aliased(owner, path, kind) if shadowed else path


def aliased(owner: Scope, path: str, kind: Kind) -> str:
    """The name of a hidden field of `owner` with the value of a path; adds the field if it is missing."""
    if path in owner.aliases:
        return owner.aliases[path]
    type = computed_type(kind)
    if type is None:
        raise UntranslatableError(
            "shadowed-name",
            f"{path} of an outer struct is hidden by a member of that name",
            "give one of them another name",
        )
    name = owner.free(f"outer_{re.sub('[^A-Za-z0-9]+', '_', path).strip('_')[:40]}")
    owner.aliases[path] = name
    owner.entries.append(Entry(name, {"compute": path, "type": type, "hidden": True}))
    owner.kinds[name] = kind
    return name


def member_view(view: View, name: str, scope: Scope) -> View:
    """The view of a struct that is a member of another."""
    return View(scope, view.owner, f"{view.prefix}{name}.", view)


def rebased(kind: Kind, view: View, name: str) -> Kind:
    """The kind of a member that is reached through `view`."""
    match kind:
        case Record():
            return Record(member_view(view, name, kind.view.scope))
        case Union():
            return Union(tuple(rebased(each, view, name) for each in kind.cases))
        case _:
            return kind
