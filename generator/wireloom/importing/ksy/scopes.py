"""Structs while they are made: what stands in them so far, and how an expression reaches a name from where it stands.

Names of specs are looked up from the inside out: `_parent.length` and `_root.length` are `length`, unless a struct
between has a `length`, too. Then the outer struct gets a hidden field of another name that says the same (an alias).
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from wireloom.importing.ksy.definitions import Definition
from wireloom.importing.ksy.kinds import Kind, Record, Said, Union, computed_type
from wireloom.names import EXPRESSION_WORDS, logical_name_flaw
from wireloom.problems import Location

AT_END = "is_at_end"
if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = ("check", "verify", "mark", "need", "frame", "end", "discard")
UNREAD, START, FILE_START, IO_SIZE = "unread", "stream_start", "file_start", "stream_size"


class NotCarriedError(Exception):
    """Something of the description has no words in a spec: of which kind, what, and what to write by hand."""

    def __init__(self, kind: str, message: str, hint: str = "write it by hand") -> None:
        super().__init__(message)
        self.kind, self.message, self.hint = kind, message, hint
        self.location: Location | None = None


@dataclass(slots=True)
class Entry:
    """An item of `fields`, and where it comes from."""

    name: str
    body: object
    origin: Location | None = None


@dataclass(eq=False)
class Scope:
    """A struct: its definition, where it stands, and its entries so far."""

    definition: Definition
    parent: "Scope | None"
    is_stream: bool
    byte_order: str | None
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    views: dict[str, Said] = field(default_factory=dict)
    """Names of what stands elsewhere: a struct that a parameter or a value instance says."""
    aliases: dict[str, str] = field(default_factory=dict)
    stated_parent: "View | Literal[False] | None" = None
    """What `_parent` is where a `parent` key says it; False where there is none."""
    is_cut: bool = False
    is_greedy: bool = False
    is_recursive: bool = False
    is_done: bool = False
    busy: set[str] = field(default_factory=set)
    make_instance: "Callable[[str], None] | None" = None

    @property
    def chain(self) -> "list[Scope]":
        """This one and those around, from the inside out."""
        return [self, *(self.parent.chain if self.parent else ())]

    @property
    def stream(self) -> "Scope":
        """The struct whose region the bytes are counted in."""
        return next(each for each in self.chain if each.is_stream or each.parent is None)

    @property
    def root(self) -> "Scope":
        """The outermost."""
        return self.chain[-1]

    def defines(self, name: str) -> bool:
        """Whether the name means something of this struct."""
        return name in {field_name(each) for each in self.definition.names} or any(
            each.name == name for each in self.entries
        )

    def free(self, name: str) -> str:
        """A name like this one that nothing has."""
        found, number = name, 2
        while any(scope.defines(found) for scope in self.chain):
            found, number = f"{name}_{number}", number + 1
        return found

    def entry(self, name: str) -> Entry | None:
        """The entry of that name."""
        return next((each for each in self.entries if each.name == name), None)


@dataclass(frozen=True, slots=True)
class View:
    """A struct as an expression sees it: by a path of members from `owner`, or directly."""

    scope: Scope
    owner: Scope
    prefix: str = ""
    up: "View | None" = None

    @property
    def parent(self) -> "View | None":
        """What `_parent` is."""
        if self.scope.stated_parent is not None:
            return self.scope.stated_parent or None
        if self.up is not None:
            return self.up
        if self.scope.parent is None:
            return None
        return View(self.scope.parent, self.scope.parent)


def direct(scope: Scope) -> View:
    """The view of the struct that an expression stands in."""
    return View(scope, scope)


def field_name(name: str) -> str:
    """The name that a field has in expressions; words of the language get an underscore."""
    taken = name in EXPRESSION_WORDS or name in STEPS or logical_name_flaw(name)
    return f"{name}_" if taken else name


def reach(place: Scope, owner: Scope, path: str, kind: Kind) -> str:
    """How an expression in `place` says a path of members of `owner`, a struct around it or itself."""
    first = path.partition(".")[0]
    shadowed = False
    for scope in place.chain:
        if scope is owner:
            break
        shadowed = shadowed or scope.defines(first)
    return aliased(owner, path, kind) if shadowed else path


def aliased(owner: Scope, path: str, kind: Kind) -> str:
    """The name of a hidden field of `owner` that says the path; it is made where there is none."""
    if path in owner.aliases:
        return owner.aliases[path]
    type = computed_type(kind)
    if type is None:
        raise NotCarriedError(
            "shadowed-name",
            f"{path} of a struct around is hidden by a member of that name",
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
    """The kind of a member as it is reached through `view`."""
    match kind:
        case Record():
            return Record(member_view(view, name, kind.view.scope))
        case Union():
            return Union(tuple(rebased(each, view, name) for each in kind.cases))
        case _:
            return kind
