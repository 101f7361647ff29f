"""What a schema demands, and what violates it: at which node, and in which words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from wireloom.runtime.errors import shown
from wireloom.runtime.parsers.json.nodes import WORDS, Kind, Node

MOST = 1000
"""The most problems to find in one part of a message."""
CONSTANTS = ("const", "enum")
CLOSING = "additionalProperties"


class Demand(NamedTuple):
    """What a keyword of a schema demands; `allowed` are the words of the options, if there are several.

    `tag` is true if the keyword is about a member that tells alternatives apart: a text or a flag with another value in
    each.
    """

    rule: str
    expected: str
    allowed: tuple[str, ...] = ()
    tag: bool = False


class Finding(NamedTuple):
    """A node that violates a demand; `said` describes the node, if neither its value nor its name does.

    `name` is the name of a member that must be absent.
    """

    node: Node
    demand: Demand
    offset: int
    said: str | None = None
    name: str | None = None

    @property
    def actual(self) -> str:
        """What was found, in words."""
        node = self.node
        if self.said is not None:
            return self.said
        if self.name is not None:
            return shown(self.name)
        return WORDS[node.kind] if node.kind in ("array", "object") else shown(node.value)


Findings = Sequence[Finding]
Known = dict[object, Findings]
"""The findings in one document so far, by judge and node."""
Judge = Callable[[Node, Known], Findings]
"""Finds the problems of a node of one kind by one part of a schema."""
Judges = Mapping[Kind, Judge | None]
"""The judges of one part of a schema, by the kind of value; None: every value of the kind is valid."""

NOTHING: Findings = ()


def choice(words: Sequence[str]) -> str:
    """The words as a choice: `a, b or c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def one_of(rule: str, findings: Sequence[Finding]) -> Finding:
    """One finding in place of several alternatives' findings at the same node."""
    first = findings[0]
    allowed = tuple(dict.fromkeys(text for finding in findings for text in finding.demand.allowed))
    return first._replace(demand=first.demand._replace(rule=rule, expected=choice(allowed), allowed=allowed))


# --- judges --------------------------------------------------------------------------------------------------------


def together(judges: Iterable[Judge | None]) -> Judge | None:
    """A judge that joins the findings of all judges; None if there are none."""
    match [judge for judge in judges if judge is not None]:
        case []:
            return None
        case [judge]:
            return judge
        case several:
            return lambda node, known: [finding for judge in several for finding in judge(node, known)]


def once(judge: Judge) -> Judge:
    """A judge that caches its findings, as all alternatives around a node ask it."""

    def remembering(node: Node, known: Known) -> Findings:
        key = judge, node
        found = known.get(key)
        if found is None:
            found = known[key] = judge(node, known)
        return found

    return remembering


def found_by(judges: Judges, node: Node, known: Known) -> Findings:
    """The problems of a node of any kind."""
    judge = judges[node.kind]
    return NOTHING if judge is None else judge(node, known)
