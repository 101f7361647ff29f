"""The judge of alternatives: if a value fits none of them, it reports the problems of the intended alternative.

That is the alternative named by the tag (a member with another text in each), else the one that the value is closest
to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wireloom.runtime.parsers.json.nodes import Node
from wireloom.runtime.validation.findings import (
    CLOSING,
    CONSTANTS,
    NOTHING,
    Demand,
    Finding,
    Findings,
    Judges,
    Known,
    found_by,
    one_of,
)


@dataclass(frozen=True)
class Tag:
    """The member whose text tells alternatives apart, and the index of the alternative for each text."""

    name: str
    places: Mapping[str, int]

    def place(self, node: Node) -> int | None:
        """The index of the only alternative that can match; None if the tag does not decide."""
        values = [child for name, _, child in node.members if name == self.name]
        return self.places.get(values[0].value) if len(values) == 1 and values[0].kind == "str" else None


@dataclass(frozen=True)
class Alternatives:
    """Parts of which one must match (exactly one for `oneOf`); `names` are the members that each part mentions."""

    keyword: str
    parts: Sequence[Judges]
    names: Sequence[frozenset[str]]
    tag: Tag | None

    @cached_property
    def _elsewhere(self) -> Sequence[frozenset[str]]:
        """For each part, the members that the other parts mention."""
        return [
            frozenset[str]().union(
                *(names for part, names in zip(self.parts, self.names, strict=True) if part is not own)
            )
            for own in self.parts
        ]

    def judge(self, node: Node, known: Known) -> Findings:
        """The problems of a node."""
        chosen = None if self.tag is None else self.tag.place(node)
        if chosen is not None:
            return self._kept(chosen, found_by(self.parts[chosen], node, known))
        each = [found_by(part, node, known) for part in self.parts]
        holding = sum(not found for found in each)
        if holding == 1 or (holding and self.keyword == "anyOf"):
            return NOTHING
        if holding:
            demand = Demand(self.keyword, "exactly one alternative")
            return (Finding(node, demand, node.start, f"{holding} that hold"),)
        return self._meant(each, node)

    def _meant(self, each: Sequence[Findings], node: Node) -> Findings:
        """The problems of the intended alternative: the one that the value is closest to."""
        if all(len(found) == 1 and _of_kind(found[0], node) for found in each):
            return (one_of("type", [found[0] for found in each]),)
        inside = {node, *_children(node)}
        distances = [_distance(found, node, inside) for found in each]
        best = distances.index(min(distances))
        kept = self._kept(best, each[best])
        tag = _common_tag(each, each[best])
        if tag is None:
            return kept
        constants = [finding for found in each if (finding := _constant_at(found, tag)) is not None]
        return [
            one_of("enum", constants),
            *(finding for finding in kept if finding.node is not tag and finding.demand.rule != CLOSING),
        ]

    def _kept(self, best: int, found: Findings) -> Findings:
        """The problems of an alternative, without unexpected members that other alternatives mention.

        Such a member may belong to an alternative that was refused for another reason. If unexpected members are the
        only problems, all of them are kept.
        """
        closing = sum(finding.demand.rule == CLOSING for finding in found)
        if closing in (0, len(found)):
            return found
        return [finding for finding in found if finding.name not in self._elsewhere[best]]


def _of_kind(finding: Finding, node: Node) -> bool:
    return finding.demand.rule == "type" and finding.node is node


def _is_constant(finding: Finding) -> bool:
    return finding.demand.rule in CONSTANTS


def _common_tag(each: Sequence[Findings], best: Findings) -> Node | None:
    """A member whose value no alternative accepts."""
    if len(each) == 1:
        return None
    wrong = (finding.node for finding in best if _is_constant(finding))
    return next((node for node in wrong if all(_constant_at(found, node) for found in each)), None)


def _constant_at(found: Findings, node: Node) -> Finding | None:
    """The finding that a node is none of the constants of an alternative."""
    return next((finding for finding in found if finding.node is node and _is_constant(finding)), None)


def _distance(found: Findings, node: Node, inside: set[Node]) -> tuple[bool, int, int]:
    """How far a value is from an alternative: first by kind, then by wrong tags, then by the number of problems."""
    kind, tags = False, 0
    for finding in found:
        if finding.demand.tag:
            tags += finding.node in inside
        elif finding.node is node:
            kind = kind or finding.demand.rule == "type"
    return kind, tags, len(found)


def _children(node: Node) -> Iterable[Node]:
    match node.kind:
        case "object":
            return (child for _, _, child in node.members)
        case "array":
            return node.elements
        case _:
            return ()
