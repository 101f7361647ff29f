"""Judges of single values: kind, constants, ranges, sizes, patterns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from wireloom.runtime.errors import shown
from wireloom.runtime.parsers.json.nodes import WORDS, Kind, Node
from wireloom.runtime.validation.findings import NOTHING, Demand, Finding, Findings, Judge, Known, choice

_TYPES = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}
_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "null": ("null",),
    "boolean": ("bool",),
    "integer": ("int",),
    "number": ("int", "float"),
    "string": ("str",),
    "array": ("array",),
    "object": ("object",),
}


def refuses(demand: Demand) -> Judge:
    """A judge that refuses every value."""
    return lambda node, _: (Finding(node, demand, node.start),)


# --- kinds ---------------------------------------------------------------------------------------------------------


def of_type(types: Sequence[str], kind: Kind, rest: Judge | None) -> Judge | None:
    """Judge a value of one of the types by `rest`; a float without a fraction is an integer, too."""
    if any(kind in _KINDS[each] for each in types):
        return rest
    allowed = tuple(_TYPES[each] for each in types)
    demand = Demand("type", choice(allowed), allowed)

    def other(node: Node, _: Known) -> Findings:
        return (Finding(node, demand, node.start, WORDS[kind]),)

    def fraction(node: Node, known: Known) -> Findings:
        if not node.value.is_integer():
            return other(node, known)
        return NOTHING if rest is None else rest(node, known)

    return fraction if kind == "float" and "integer" in types else other


# --- values --------------------------------------------------------------------------------------------------------


def scalars(keywords: Mapping[str, Any], kind: Kind) -> Iterator[Judge]:
    """The judges of a value of one kind, without those for its parts."""
    if "const" in keywords:
        yield _constant("const", [keywords["const"]], kind)
    if "enum" in keywords:
        yield _constant("enum", keywords["enum"], kind)
    if kind in ("int", "float") and ("minimum" in keywords or "maximum" in keywords):
        yield _within(keywords.get("minimum", -inf), keywords.get("maximum", inf))
    if kind == "str" and ("minLength" in keywords or "maxLength" in keywords):
        yield _long(keywords.get("minLength", 0), keywords.get("maxLength", inf))
    if kind == "str" and "pattern" in keywords:
        yield _spelled(keywords["pattern"], keywords.get("$comment", "text that matches the pattern of the schema"))


def _constant(rule: str, values: Sequence[Any], kind: Kind) -> Judge:
    """One of the constants: true is not 1, but 1.0 is."""
    allowed = tuple(map(shown, values))
    demand = Demand(rule, choice(allowed), allowed, tag=kind in ("str", "bool"))
    if kind in ("array", "object"):
        return lambda node, _: (
            NOTHING if any(_equal(node, value) for value in values) else (Finding(node, demand, node.start),)
        )
    same = frozenset(
        value for value in values if not isinstance(value, list | dict) and isinstance(value, bool) is (kind == "bool")
    )
    return lambda node, _: NOTHING if node.value in same else (Finding(node, demand, node.start),)


def _equal(node: Node, value: object) -> bool:
    match node.kind:
        case "array":
            return (
                isinstance(value, list) and len(value) == len(node.elements) and all(map(_equal, node.elements, value))
            )
        case "object":
            members = {name: child for name, _, child in node.members}
            same = isinstance(value, dict) and value.keys() == members.keys()
            return same and all(_equal(child, value[name]) for name, child in members.items())  # type: ignore[index]
        case _:
            return isinstance(node.value, bool) == isinstance(value, bool) and bool(node.value == value)


def _within(low: float, high: float) -> Judge:
    least, most = Demand("minimum", f"at least {low}"), Demand("maximum", f"at most {high}")

    def judge(node: Node, _: Known) -> Findings:
        if low <= node.value <= high:
            return NOTHING
        wrong = (least, node.value < low), (most, node.value > high)
        return [Finding(node, demand, node.start) for demand, holds in wrong if holds]

    return judge


def _long(low: float, high: float) -> Judge:
    least, most = Demand("minLength", f"at least {low} characters"), Demand("maxLength", f"at most {high} characters")

    def judge(node: Node, _: Known) -> Findings:
        wrong = (least, len(node.value) < low), (most, len(node.value) > high)
        return [Finding(node, demand, node.start) for demand, holds in wrong if holds]

    return judge


def _spelled(pattern: str, expected: str) -> Judge:
    """The pattern; `expected` describes it in words, as a generated pattern is unreadable."""
    demand, search = Demand("pattern", expected), re.compile(pattern).search
    return lambda node, _: NOTHING if search(node.value) else (Finding(node, demand, node.start),)
