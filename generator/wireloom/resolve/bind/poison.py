"""Collect the problems of one format without follow-on errors, so that each mistake has one message.

Nodes are the named types, and the steps of structs. A node with a problem is poisoned, and so is every node that uses
it: a step that mentions a poisoned type, or the name of a poisoned step of its struct. Problems that later passes find
at poisoned nodes are not reported; `settle` ends a pass. Within a pass, a problem of a whole key hides those below it,
and each value has one problem at most.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from wireloom.model.traversal import closure
from wireloom.problems import Location, Problem, Problems

Node = tuple[str, int | None]
"""A named type, and the index of one of its steps; None stands for the whole type."""

_NODE = re.compile(r"types\.(?P<type>[^.\[]+)(?:\.fields\[(?P<step>[0-9]+)\](?P<key>\.[^.\[]+\..+)?)?.*")


def node_of(path: str) -> Node | None:
    """The node that contains a path; None for the top-level keys of a format."""
    found = _NODE.fullmatch(path)
    return None if found is None else (found["type"], None if found["step"] is None else int(found["step"]))


@dataclass(slots=True)
class Poison(Problems):
    """Collects the problems of one format; `uses` gives the nodes that use each node.

    `shape` has the problems of the document's shape, which are already reported. `marked` has the places that depend on
    reported mistakes.
    """

    uses: Callable[[], Mapping[Node, Iterable[Node]]] = dict
    nodes: set[Node] = field(default_factory=set)
    shape: tuple[Problem, ...] = ()
    marked: list[str] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    values: set[tuple[str, Location]] = field(default_factory=set)

    def add(self, problem: Problem) -> None:
        """Report a problem of a value, unless it is a follow-on error."""
        if not self._follows(problem):
            self._note(problem)

    def add_entry(self, problem: Problem) -> None:
        """Report a problem of a whole entry, unless it is a follow-on error; it hides problems below it."""
        if not self._follows(problem):
            found = _NODE.fullmatch(problem.path)
            if found is not None and found["key"]:
                self.keys.add(problem.path)
            self._note(problem)

    def _note(self, problem: Problem) -> None:
        self.values.add((problem.path, problem.location))
        Problems.add(self, problem)

    def _follows(self, problem: Problem) -> bool:
        if (problem.path, problem.location) in self.values or any(problem.location == at.location for at in self.shape):
            return True
        if any(problem.path == key or problem.path.startswith((f"{key}.", f"{key}[")) for key in self.keys):
            return True
        node = node_of(problem.path)
        return node in self.nodes

    def settle(self) -> None:
        """End a pass: poison the nodes that use a node with a problem."""
        paths = (*(problem.path for problem in (*self.shape, *self.found)), *self.marked)
        waiting = [node for path in paths if (node := node_of(path)) is not None]
        uses = self.uses() if waiting and not self.nodes.issuperset(waiting) else {}
        self.nodes.update(closure(waiting, lambda node: uses.get(node, ())))

    def is_poisoned(self, path: str) -> bool:
        """Whether the type at a path, or one of its steps, has a problem or depends on something that has one."""
        node = node_of(path)
        return node is not None and any(name == node[0] for name, _ in self.nodes)

    def is_first(self, type: str) -> bool:
        """Whether no wrong use of the type was reported yet; always true without a type."""
        if type in self.told:
            return False
        self.told |= {type} - {""}
        return True
