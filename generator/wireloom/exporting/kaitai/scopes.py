"""Types of a description under construction: their attributes, and the names that their expressions use."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from wireloom.exporting.kaitai import names
from wireloom.exporting.kaitai.expressions import EMPTY, Seen, UnsayableError
from wireloom.exporting.kaitai.needs import PARAMETERS, Outer, sorted_needs
from wireloom.exporting.values import Names
from wireloom.expr.ast import FieldRef, Kind
from wireloom.model.format import Ranges
from wireloom.model.types import Struct
from wireloom.spec.places import Site

Keys = dict[str, Any]
NO_NAME = ""  # the spec name of an attribute that exists only in Kaitai


def called(id: str, original: str) -> Keys:
    """The key that keeps the name in the spec, if the identifier differs."""
    return {} if original in (id, NO_NAME) else {"-orig-id": original}


@dataclass
class Scope:
    """A type of the description. Without a `struct`, it is a helper type around one value.

    A helper type does not count when outer fields are addressed: they are as many structs away as without it.
    """

    id: str
    struct: Struct | None
    ranges: tuple[Ranges, ...]
    site: Site
    seq: list[Keys] = field(default_factory=list)
    instances: dict[str, Keys] = field(default_factory=dict)
    params: dict[Outer, str] = field(default_factory=dict)
    taken: Names = field(default_factory=Names)
    ids: Mapping[str, str] = field(default_factory=dict)  # identifiers of the struct's fields
    seen: dict[str, Seen] = field(default_factory=dict)  # the fields so far
    holders: dict[str, str] = field(default_factory=dict)  # for fields that are structs: the name of the struct
    choices: set[str] = field(default_factory=set)  # fields whose type depends on the record
    lost: dict[str, str] = field(default_factory=dict)  # fields that are not described, with the reason
    lengths: dict[str, str] = field(default_factory=dict)  # sizes of text fields in bytes
    marks: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)  # identifiers of marks that expressions use
    at_start: bool = True  # whether it starts at the start of its stream
    end: str = ""  # its end; empty for the end of its stream
    in_list: bool = False
    jumps: bool = False  # whether fields at offsets are out of order
    assumed: str = ""  # the condition of the current attribute; fields with the same condition need no guard
    within: "Callable[[Scope, FieldRef], Seen] | None" = None  # resolves fields of inner structs

    def take(self, needs: Iterable[Outer]) -> None:
        """Add the outer fields that a type needs, as parameters."""
        for each in sorted_needs(set(needs)):
            self.params[each] = self.own("index" if each.is_index else "_".join((each.name, *each.members)))

    def own(self, name: str) -> str:
        """A new identifier within the type."""
        return names.free(self.taken, name)

    def field(self, reference: FieldRef) -> Seen:
        """Resolve a field that an expression names."""
        if self.struct is None or reference.up:
            if reference.kind not in PARAMETERS:
                raise UnsayableError(f"{reference.name} of an outer struct, which is no single value")
            return Seen(self.params[Outer(reference.up, reference.name, reference.members, reference.kind)])
        name = reference.name
        if name in self.lost:
            if not self.lost[name] and reference.kind in EMPTY:
                return Seen(EMPTY[reference.kind], "false")
            raise UnsayableError(f"{name}, which {self.lost[name] or 'is never present'}")
        if name in self.choices and reference.kind not in (Kind.RECORD, Kind.ANY):
            raise UnsayableError(f"{name}, whose type depends on the record")
        is_whole = not reference.members and (name not in self.holders or reference.kind in (Kind.RECORD, Kind.ANY))
        if is_whole and name in self.seen:
            seen = self.seen[name]
            return replace(seen, guard="") if self.assumed and seen.guard == f"({self.assumed})" else seen
        assert self.within is not None  # noqa: S101 - types of structs have it
        return self.within(self, reference)

    def mark(self, name: str) -> str:
        """The offset of a mark from the struct's start."""
        if name not in self.marks:
            raise UnsayableError(f"the mark {name}, which comes later")
        self.used.add(self.marks[name])
        return self._from_start(self.marks[name])

    def position(self, fact: str) -> str:
        """Translate `here`, `size` or `index`."""
        match fact:
            case "index":
                return "_index" if self.in_list else self.params[Outer(0)]
            case "here" if self.struct is not None:
                return self._from_start("_io.pos")
            case "size" if self.struct is not None:
                return self._from_start(self.end or "_io.size")
            case _:
                raise UnsayableError(f"`{fact}` of an outer struct")

    def start(self) -> str:
        """The offset of the struct in its stream."""
        if self.at_start:
            return "0"
        self.used.add("begin")
        return "begin"

    def _from_start(self, text: str) -> str:
        return text if self.at_start else f"({text} - {self.start()})"

    def length(self, reference: FieldRef) -> str:
        """The number of bytes of a field."""
        if reference.kind is Kind.BYTES:
            seen = self.field(reference)
            if seen.charset:
                raise UnsayableError("the bytes of a text, of which Kaitai knows the characters")
            return seen.guarded(f"{seen.text}.length", "0")
        if reference.up or reference.members or reference.name not in self.lengths:
            raise UnsayableError("the bytes of a text, of which Kaitai knows the characters")
        return self.field(reference).guarded(self.lengths[reference.name], "0")

    def made(self, doc: str = "") -> Keys:
        """The type as a mapping for YAML."""
        made: Keys = {"doc": doc} if doc else {}
        if self.params:
            made["params"] = [
                {"id": id, "type": "s4" if outer.is_index else PARAMETERS[outer.kind]}
                for outer, id in self.params.items()
            ]
        unused = {id for id in ("begin", *self.marks.values()) if id not in self.used}
        seq = [each for each in self.seq if each.get("-at") not in unused]
        made["seq"] = [{key: value for key, value in each.items() if key != "-at"} for each in seq]
        instances = {id: each for id, each in self.instances.items() if id not in unused}
        return made | ({"instances": instances} if instances else {})


@dataclass(slots=True)
class Element:
    """The scope of the condition of the last element: `_` is the element; other structs are one step further out."""

    around: Scope
    ids: Mapping[str, str]
    ranges: tuple[Ranges, ...]

    def field(self, reference: FieldRef) -> Seen:
        """Resolve a field of the element or of an outer struct."""
        if reference.up:
            return self.around.field(replace(reference, up=reference.up - 1))
        if reference.name not in self.ids or reference.members:
            raise UnsayableError(f"{reference.name} of an element")
        return Seen(f"_.{self.ids[reference.name]}")

    def mark(self, name: str) -> str:
        """Resolve a mark of the element."""
        raise UnsayableError(f"the mark {name} of an element")

    def position(self, fact: str) -> str:
        """Translate `here`, `size` or `index` for the element."""
        raise UnsayableError(f"`{fact}` of an element")

    def length(self, reference: FieldRef) -> str:
        """The number of bytes of a field of the element."""
        if reference.kind is Kind.BYTES:
            return f"{self.field(reference).text}.length"
        raise UnsayableError("the bytes of a text, of which Kaitai knows the characters")
