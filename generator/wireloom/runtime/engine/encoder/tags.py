"""Which case readers will choose for the written bytes, if the struct leaves the tag to the value.

`tells` gives the condition on the member under which readers choose the same case. If it does not hold, the next
struct is tried, as builders do. If the value does not show the tag, and several structs leave it open, `Uncovered` is
raised.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.compiler.switches import is_beyond
from wireloom.runtime.engine.encoder.certainty import is_same
from wireloom.runtime.engine.encoder.scope import Node
from wireloom.runtime.engine.programs.assembly import Uncovered
from wireloom.runtime.engine.programs.expressions import Tree, stated

_PLAIN = {"as", "code", "optional", "default", "member", "minimum", "maximum", "values"}
_AHEAD = {"as", "code", "minimum", "maximum", "const"}
_MANY = 2
_ABSENT = object()
_UNSTATED = object()  # the format does not state the member's value


@dataclass(frozen=True, slots=True)
class Tag:
    """The member that selects a case. `open` are the names of the structs that leave its value to the record."""

    member: str
    presence: bool
    default: Any
    cases: Sequence[nodes.Case]
    open: frozenset[str]
    resolved: Callable[[Node], Node]

    @classmethod
    def of(cls, choice: nodes.Tagged, structs: Sequence[nodes.Struct], resolved: Callable[[Node], Node]) -> "Tag":
        """The tag of a choice by a member, among these structs."""
        known = {each.name: _stated(each, choice.member, presence=choice.presence) for each in structs}
        unstated = frozenset(name for name, found in known.items() if found is _UNSTATED)
        return cls(choice.member, choice.presence, choice.default, choice.cases, unstated, resolved)

    def tells(self, case: Node, struct: nodes.Struct) -> list[tuple[str, Tree]]:
        """The member's name for readers, and the condition on it under which readers choose the struct's case.

        If the condition fails, builders try the next struct. If the value does not show the tag, there is no condition,
        and builders write the rows that do not fit. Raises Uncovered if several structs leave the tag open then.
        """
        if struct.name not in self.open:
            return []
        condition = self._condition(case, struct)
        if condition is None and len(self.open) >= _MANY:
            raise Uncovered("a choice among many structs by a member whose wire value the columns do not give")
        return [] if condition is None else [condition]

    def leads(self, case: Node, struct: nodes.Struct) -> bool:
        """Whether readers always choose this case for the struct's bytes."""
        value = _stated(struct, self.member, presence=self.presence)
        if value is _ABSENT and (self.presence or self.default is not None):
            value = False if self.presence else self.default
        return value not in (_ABSENT, _UNSTATED) and _takes(self.cases, case, value)

    def _condition(self, case: Node, struct: nodes.Struct) -> tuple[str, Tree] | None:
        fields = _fields(struct, self.member)
        if len(fields) > 1 or struct.form != "object":
            return None
        field, title = fields[0], fields[0].title
        given = self.resolved(field.type)
        plain = self.resolved(given.type) if isinstance(given, nodes.Nullable) else given
        allowed = _PLAIN - {"values"} if self.presence else _PLAIN
        if not isinstance(plain, nodes.Int | nodes.Bool | nodes.Text) or field.stated.keys() - allowed:
            return None
        if field.values is None:
            return title, self._selects(case, f"\0{title}", field, is_nullable=plain is not given)
        means = self._means(case, f"\0{title}", field)
        return None if means is None else (title, means)

    def _means(self, case: Node, given: str, field: nodes.Field) -> Tree:
        """Whether the given word means a wire value that selects the case; the first such wire value is written.

        None if the word does not determine what is written.
        """
        wires: dict[Any, Any] = {}
        for each in field.values or ():
            wires.setdefault(each.means, each.wire)
        if field.optional or not all(_is_word(meaning) for meaning in wires):
            return None
        words = tuple(meaning for meaning, wire in wires.items() if _takes(self.cases, case, wire))
        return nodes.Among(nodes.own(given), words) if words else False

    def _selects(self, case: Node, given: str, stated_field: nodes.Field, *, is_nullable: bool) -> Tree:
        """Whether the bytes written for a given value select the case."""
        field: Tree = nodes.own(given)
        is_present: Tree = nodes.present(field)
        default = stated_field.default if stated_field.has_default else None
        if default is not None:
            is_present = nodes.both(is_present, nodes.negated(nodes.Binary("==", field, stated(default))))
        is_written = not stated_field.optional or (is_nullable and default is not None)  # also if it is null
        if self.presence:
            has, lacks = (_takes(self.cases, case, each) for each in (True, False))
            return has if is_written else nodes.If(is_present, has, lacks)
        absent = not is_written and self.default is not None and _takes(self.cases, case, self.default)
        return nodes.If(is_present, _selecting(case, self.cases, field), absent)


@dataclass(frozen=True, slots=True)
class Ahead:
    """The integer read ahead that selects a case; it may be the first field of a struct."""

    type: Node
    encoding: str  # of the enclosing struct; empty for a whole record
    cases: Sequence[nodes.Case]
    resolved: Callable[[Node], Node]

    def tells(self, case: Node, struct: nodes.Struct) -> list[tuple[str, Tree]]:
        """The first field's name for readers, and the condition on it under which readers choose the struct's case.

        If the condition fails, builders try the next struct.
        """
        first = self._first(struct)
        if first is None or first.stated.keys() - _AHEAD:
            return []
        if any(is_beyond(value) for each in self.cases for value in each.values):
            return []  # registers have no number beyond 63 bits
        title = first.title
        given: Tree = nodes.own(f"\0{title}")
        selects = _selecting(case, self.cases, given)
        return [(title, nodes.Binary("or", nodes.negated(nodes.present(given)), selects))]

    def leads(self, case: Node, struct: nodes.Struct) -> bool:
        """Whether readers always choose this case for the struct's bytes."""
        first = self._first(struct)
        const = None if first is None or first.when is not None else first.const
        return isinstance(const, int) and _takes(self.cases, case, const)

    def _first(self, struct: nodes.Struct) -> nodes.Field | None:
        """The first field of a struct, if it is the integer that is read ahead."""
        first = struct.steps[0] if struct.steps else None
        if {self.encoding or struct.encoding, struct.encoding} != {"binary"} or not isinstance(self.type, nodes.Int):
            return None
        return first if isinstance(first, nodes.Field) and self.resolved(first.type) == self.type else None


def _fields(struct: nodes.Struct, name: str) -> list[nodes.Field]:
    """The fields of a struct that are written as a member with that name."""
    return [field for field in struct.fields if field.wire_member == name and field.compute is None]


def _stated(struct: nodes.Struct, name: str, *, presence: bool) -> Any:
    """The value of a member in all bytes written for a struct; _UNSTATED if it depends on the record."""
    written = _fields(struct, name)
    if not written:
        return _ABSENT
    if len(written) > 1 or struct.form != "object" or written[0].when is not None:
        return _UNSTATED
    match written[0]:
        case nodes.Field(optional=True, hidden=True, const=const, default=default) if is_same(const, default):
            return _ABSENT
        case nodes.Field(optional=True):
            return _UNSTATED
        case _ if presence:
            return True
        case nodes.Field(const=const) if const is not None:
            return const
        case nodes.Field(values=(nodes.Meaning(wire),)):
            return wire
        case _:
            return _UNSTATED


def _takes(cases: Sequence[nodes.Case], case: Node, wire: Any) -> bool:
    """Whether a wire value selects the case."""
    if any(not each.values for each in cases if each.type == case):
        return not any(_is_in(wire, each.values) for each in cases if each.type != case)
    return any(_is_in(wire, each.values) for each in cases if each.type == case)


def _selecting(case: Node, cases: Sequence[nodes.Case], field: Tree) -> Tree:
    """The condition that a value selects a case."""
    takes_rest = any(not each.values for each in cases if each.type == case)
    listed = [value for each in cases if (each.type == case) != takes_rest for value in each.values]
    among: Tree = nodes.Among(field, tuple(stated(value) for value in listed)) if listed else False
    return nodes.negated(among) if takes_rest else among


def _is_in(value: Any, options: Sequence[Any]) -> bool:
    return any(is_same(value, each) for each in options)


def _is_word(meaning: Tree) -> bool:
    """Whether a meaning is a constant other than null."""
    return isinstance(meaning, bool | int | nodes.TextConstant)
