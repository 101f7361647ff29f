"""Which nodes of a format use which other nodes, to recognize follow-on errors."""

import re
from collections.abc import Iterable, Mapping

from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import all_mentioned, direct_names
from wireloom.resolve.bind.poison import Node, node_of
from wireloom.spec.documents import Document
from wireloom.spec.yaml import texts

_WORD = re.compile(r"[A-Za-z]\w*")


def uses_of(draft: Draft) -> Mapping[Node, Iterable[Node]]:
    """The users of each node: for a step its struct and all steps that mention its name.

    For a type each step that names it.
    """
    types = draft.content.types
    uses: dict[Node, set[Node]] = {}
    places = {(name, at): draft.place / "types" / name / "fields" / at for name, at, _ in draft.entries}
    numbered = {step: node_of(place.shown_path) or step for step, place in places.items()}
    for name, form in types.items():
        for mentioned, position in direct_names(draft, form):
            uses.setdefault((mentioned, None), set()).add(numbered.get((name, position), (name, None)))
    words = {
        numbered[step]: {word for text in texts(place.node) for word in _WORD.findall(text)}
        for step, place in places.items()
    }
    near = {name: all_mentioned(draft, [name]) for name in dict.fromkeys(name for name, _ in places)}
    beside = {name: [each for each in words if each[0] in near[name] or name in near[each[0]]] for name in near}
    for name, position, entry in draft.entries:
        own = {entry.key} if entry.is_field else {entry.mark} if entry.mark is not None else set()
        own |= set(entry.full.bits or ())
        node = numbered[name, position]
        found = uses.setdefault(node, set())
        found.add((name, None))
        found |= {each for each in beside[name] if each != node and own & words[each]}
    return uses


def without_follow_ons(problems: Iterable[Problem], document: Document, dropped: frozenset[str]) -> list[Problem]:
    """Drop the problems that mention names of parts that were removed because of their shape.

    If a whole mapping such as `errors:` was removed, only its own problem is reported.
    """
    if any(name.endswith(":") for name in dropped):
        return []
    lines = document.data.decode("utf-8").splitlines()
    dropped |= {name.partition("(")[0] for name in dropped if "(" in name}  # types with parameters
    return [each for each in problems if not dropped & _named(each, document, lines)]


def _named(problem: Problem, document: Document, lines: list[str]) -> set[str]:
    """The words of a problem's message, and those of the value at its location."""
    found = set(re.findall(r"\w+", problem.message))
    if problem.location.file == document.file:  # other files are libraries
        line, column = lines[problem.location.line - 1], problem.location.column - 1
        written = re.split(r"[{,:-] ", line[:column])[-1] + re.split(r", |}", line[column:])[0]
        found |= set(re.findall(r"\w+", written))
    return found
