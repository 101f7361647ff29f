"""Problems of one format, of which those that follow from others are left out: one slip, one message.

Nodes are the named types, and the steps of structs. A node that has a problem is poisoned, and so is what uses it: the
steps that mention a poisoned type, or the name of a poisoned step of their struct. What a later pass finds of a
poisoned node is not reported; `settle` ends a pass. Within a pass a key that is reported as a whole hides what is
wrong below it, and a value that is reported hides what else is wrong with it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from wireloom.model.traversal import closure
from wireloom.problems import Location, Problem, Problems

Node = tuple[str, int | None]
"""A named type, and the number of one of its steps; None where it is the type as a whole."""

_NODE = re.compile(r"types\.(?P<type>[^.\[]+)(?:\.fields\[(?P<step>[0-9]+)\](?P<key>\.[^.\[]+\..+)?)?.*")


def node_of(path: str) -> Node | None:
    """The node that a path leads into; None for the head of a format."""
    found = _NODE.fullmatch(path)
    return None if found is None else (found["type"], None if found["step"] is None else int(found["step"]))


@dataclass(slots=True)
class Poison(Problems):
    """Collects the problems of one format; `uses` gives the nodes that use each node.

    `shape` are those of the shape of its document, which were reported; `marked` are places that use what is wrong.
    """

    uses: Callable[[], Mapping[Node, Iterable[Node]]] = dict
    nodes: set[Node] = field(default_factory=set)
    shape: tuple[Problem, ...] = ()
    marked: list[str] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    values: set[tuple[str, Location]] = field(default_factory=set)

    def add(self, problem: Problem) -> None:
        """Note a problem of a value, unless it follows from another."""
        if not self._follows(problem):
            self._note(problem)

    def add_entry(self, problem: Problem) -> None:
        """Note a problem of an entry as a whole, unless it follows from another: nothing below it is right then."""
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
        """End a pass: what has a problem poisons what uses it."""
        paths = (*(problem.path for problem in (*self.shape, *self.found)), *self.marked)
        waiting = [node for path in paths if (node := node_of(path)) is not None]
        uses = self.uses() if waiting and not self.nodes.issuperset(waiting) else {}
        self.nodes.update(closure(waiting, lambda node: uses.get(node, ())))

    def is_poisoned(self, path: str) -> bool:
        """Whether the type at a path, or one of its steps, has a problem or uses what has one."""
        node = node_of(path)
        return node is not None and any(name == node[0] for name, _ in self.nodes)

    def is_first(self, type: str) -> bool:
        """Whether nothing was reported yet of how a type is used; without a type always."""
        if type in self.told:
            return False
        self.told |= {type} - {""}
        return True
