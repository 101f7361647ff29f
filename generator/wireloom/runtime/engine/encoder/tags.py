"""Which case readers come to by what tells, where structs leave it to the value what that says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wireloom.runtime.engine.assembly import Uncovered
from wireloom.runtime.engine.compiler.switches import is_beyond
from wireloom.runtime.engine.encoder.certainty import UNSTATED, fields_of, is_same, stated_tag
from wireloom.runtime.engine.encoder.scope import Node
from wireloom.runtime.engine.expressions import Tree, stated

_PLAIN = {"as", "code", "optional", "default", "member", "minimum", "maximum", "values"}
_AHEAD = {"as", "code", "minimum", "maximum", "const"}
_MANY = 2


@dataclass(frozen=True, slots=True)
class Tag:
    """The member that tells cases apart. `open` are the names of structs that leave it to the value what it says."""

    member: str
    presence: bool
    default: Any
    cases: Sequence[Any]
    open: frozenset[str]
    resolved: Callable[[Node], Node]

    @classmethod
    def of(cls, told: Sequence[Any], structs: Sequence[Node], resolved: Callable[[Node], Node]) -> "Tag":
        """That of a choice by a member, among these structs."""
        member, presence, default, _, cases, _ = told
        known = {each[1]: stated_tag(each, member, presence=presence) for each in structs}
        unstated = frozenset(name for name, found in known.items() if found is UNSTATED)
        return cls(member, presence, default, cases, unstated, resolved)

    def tells(self, case: Node, struct: Node) -> list[tuple[str, Tree]]:
        """The member, as readers call it, and what must hold of it for readers to come to the struct of a case.

        Builders try the next struct where it does not hold. Where the value does not say it plainly there is nothing to
        hold, and rows that come to a struct which they do not fit are the builders'; raises Uncovered where that may be
        one of several.
        """
        if struct[1] not in self.open:
            return []
        told = self._told(case, struct)
        if told is None and len(self.open) >= _MANY:
            raise Uncovered("a case that is told by a member of which the value does not say what stands on the wire")
        return [] if told is None else [told]

    def _told(self, case: Node, struct: Node) -> tuple[str, Tree] | None:
        fields = fields_of(struct, self.member)
        if len(fields) > 1 or struct[3] != "object":
            return None
        _, name, type, attributes = fields[0]
        given = self.resolved(type)
        plain = self.resolved(given[1]) if given[0] == "nullable" else given
        said = _PLAIN - {"values"} if self.presence else _PLAIN
        if plain[0] not in ("int", "bool", "text") or attributes.keys() - said:
            return None
        title = attributes.get("as", name)
        if "values" not in attributes:
            return title, self._selects(case, f"\0{title}", attributes, is_nullable=plain is not given)
        means = self._means(case, f"\0{title}", attributes)
        return None if means is None else (title, means)

    def _means(self, case: Node, given: str, attributes: Mapping[str, Any]) -> Tree | None:
        """Whether the word that is given stands for a value that selects the case; of several the first is written.

        None where the value does not say plainly what is written.
        """
        wires: dict[Any, Any] = {}
        for wire, meaning in attributes["values"]:
            wires.setdefault(meaning, wire)
        if "optional" in attributes or not all(_is_word(meaning) for meaning in wires):
            return None
        words = tuple(meaning for meaning, wire in wires.items() if self._takes(case, wire))
        return ("in", ("field", 0, given), words) if words else False

    def _takes(self, case: Node, wire: Any) -> bool:
        """Whether a value of the member selects the case."""
        if any(not values for values, node in self.cases if node == case):
            return not any(_is_in(wire, values) for values, node in self.cases if node != case)
        return any(_is_in(wire, values) for values, node in self.cases if node == case)

    def _selects(self, case: Node, given: str, attributes: Mapping[str, Any], *, is_nullable: bool) -> Tree:
        """Whether what is written for a given value selects the case."""
        field: Tree = ("field", 0, given)
        there: Tree = ("present", field)
        default = attributes.get("default")
        if default is not None:
            there = ("and", there, ("not", ("==", field, stated(default))))
        is_written = not attributes.get("optional") or (is_nullable and default is not None)  # also where it is null
        if self.presence:
            has, lacks = (self._takes(case, each) for each in (True, False))
            return has if is_written else ("if", there, has, lacks)
        absent = not is_written and self.default is not None and self._takes(case, self.default)
        return ("if", there, _selecting(case, self.cases, field), absent)


@dataclass(frozen=True, slots=True)
class Ahead:
    """The integer read ahead that tells cases apart, of which the first field of a struct may be the value."""

    type: Node
    encoding: str  # around the choice; empty around a record
    cases: Sequence[Any]
    resolved: Callable[[Node], Node]

    def tells(self, case: Node, struct: Node) -> list[tuple[str, Tree]]:
        """The first field, as readers call it, and what must hold of it for readers to come to the struct of a case.

        Builders try the next struct where it does not hold.
        """
        steps = struct[5]
        if {self.encoding or struct[2], struct[2]} != {"binary"} or self.type[0] != "int":
            return []
        if not steps or steps[0][0] != "field":
            return []
        _, name, type, attributes = steps[0]
        if self.resolved(type) != self.type or attributes.keys() - _AHEAD:
            return []
        if any(is_beyond(value) for values, _ in self.cases for value in values):
            return []  # registers have no number beyond 63 bits
        title = attributes.get("as", name)
        given: Tree = ("field", 0, f"\0{title}")
        selects = _selecting(case, self.cases, given)
        return [(title, ("or", ("not", ("present", given)), selects))]


def _selecting(case: Node, cases: Sequence[Any], field: Tree) -> Tree:
    """Whether a value is one of those that select a case, or of none where that is all the others."""
    takes_rest = any(not values for values, node in cases if node == case)
    listed = [value for values, node in cases if (node == case) != takes_rest for value in values]
    among: Tree = ("in", field, tuple(stated(value) for value in listed)) if listed else False
    return ("not", among) if takes_rest else among


def _is_in(value: Any, options: Sequence[Any]) -> bool:
    return any(is_same(value, each) for each in options)


def _is_word(meaning: Tree) -> bool:
    """Whether what a value means is stated, and no null."""
    return isinstance(meaning, bool | int) or (isinstance(meaning, tuple) and meaning[0] == "text")
