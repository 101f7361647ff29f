"""What a schema demands, and what is wrong by it: at which node, and in which words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from wireloom.runtime.errors import shown
from wireloom.runtime.parsers.json.nodes import WORDS, Kind, Node

MOST = 1000
"""Problems that one part of a message is searched for."""
CONSTANTS = ("const", "enum")
CLOSING = "additionalProperties"


class Demand(NamedTuple):
    """What a keyword of a schema demands; `allowed` are the words of several things that are.

    `tag` is whether it is of what tells alternatives apart: a text or a flag that has other values in this one.
    """

    rule: str
    expected: str
    allowed: tuple[str, ...] = ()
    tag: bool = False


class Finding(NamedTuple):
    """A node that is not as demanded; `said` is what it is, where that is neither its value nor its name.

    `name` is that of a member that must not be there.
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
"""What has been found of the nodes of one document, by who judged them and the node."""
Judge = Callable[[Node, Known], Findings]
"""What is wrong with a node of one kind by one part of a schema."""
Judges = Mapping[Kind, Judge | None]
"""Who judges the values of each kind by one part of a schema; None: there is nothing to be wrong."""

NOTHING: Findings = ()


def choice(words: Sequence[str]) -> str:
    """One of these."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def one_of(rule: str, findings: Sequence[Finding]) -> Finding:
    """One finding about what several alternatives each want at one node."""
    first = findings[0]
    allowed = tuple(dict.fromkeys(text for finding in findings for text in finding.demand.allowed))
    return first._replace(demand=first.demand._replace(rule=rule, expected=choice(allowed), allowed=allowed))


# --- judges --------------------------------------------------------------------------------------------------------


def together(judges: Iterable[Judge | None]) -> Judge | None:
    """What all of them find; None: they have nothing to say."""
    match [judge for judge in judges if judge is not None]:
        case []:
            return None
        case [judge]:
            return judge
        case several:
            return lambda node, known: [finding for judge in several for finding in judge(node, known)]


def once(judge: Judge) -> Judge:
    """A judge that remembers what it found: all alternatives around a node ask of it."""

    def remembering(node: Node, known: Known) -> Findings:
        key = judge, node
        found = known.get(key)
        if found is None:
            found = known[key] = judge(node, known)
        return found

    return remembering


def found_by(judges: Judges, node: Node, known: Known) -> Findings:
    """What is wrong with a node of any kind."""
    judge = judges[node.kind]
    return NOTHING if judge is None else judge(node, known)
