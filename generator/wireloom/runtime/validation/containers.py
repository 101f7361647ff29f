"""Judges of objects and arrays: their members and elements, missing or unknown ones, and their number."""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter

from wireloom.runtime.errors import shown
from wireloom.runtime.parsers.json.nodes import Member, Node
from wireloom.runtime.validation.findings import (
    CLOSING,
    MOST,
    Demand,
    Finding,
    Findings,
    Judge,
    Judges,
    Known,
    found_by,
)

_NO_MEMBER = Demand(CLOSING, "no such member")
_name = itemgetter(0)


def members(properties: Mapping[str, Judges | None], others: Judges | None, required: Mapping[str, Demand]) -> Judge:
    """Judge members by their names; None: the member must be absent."""
    needed = frozenset(required)

    def judge(node: Node, known: Known) -> Findings:
        found: list[Finding] = []
        for member in node.members:
            name, _, child = member
            part = properties.get(name, others)
            if part is None:
                found.append(stranger(member))
            elif (inner := part[child.kind]) is not None:
                found += inner(child, known)
            if len(found) >= MOST:
                return found
        lacking = needed.difference(map(_name, node.members))
        found += [Finding(node, required[name], node.start, "no such member") for name in required if name in lacking]
        return found

    return judge


def names(judges: Judges) -> Judge:
    """Judge the names of members, each as a text at its offset."""

    def judge(node: Node, known: Known) -> Findings:
        found: list[Finding] = []
        for name, offset, _ in node.members:
            found += found_by(judges, Node(node.source, "str", offset, offset, name), known)
            if len(found) >= MOST:
                break
        return found

    return judge


def missing(name: str, *, tag: bool) -> Demand:
    """The demand that a member is present."""
    return Demand("required", f"a member {shown(name)}", tag=tag)


def stranger(member: Member) -> Finding:
    """The finding that a member must be absent."""
    name, offset, child = member
    return Finding(child, _NO_MEMBER, offset, None, name)


def elements(first: Sequence[Judges], rest: Judges | None, least: int, most: int | None) -> Judge:
    """Judge the first elements by their index, then the rest; None: there must be no more."""
    if rest is None:
        most = len(first) if most is None else min(most, len(first))
    few, many = Demand("minItems", f"at least {_count(least)}"), Demand("maxItems", f"at most {_count(most or 0)}")

    def judge(node: Node, known: Known) -> Findings:
        size = len(node.elements)
        found = [Finding(node, few, node.start, _count(size))] if size < least else []
        if most is not None and size > most:
            found.append(Finding(node, many, node.start, _count(size)))
        limit = MOST + len(found)
        for child, part in zip(node.elements[:most], chain(first, repeat(rest)), strict=False):
            assert part is not None
            inner = part[child.kind]
            if inner is not None:
                found += inner(child, known)
            if len(found) >= limit:
                break
        return found

    return judge


def _count(number: int) -> str:
    return f"{number} element{'' if number == 1 else 's'}"
