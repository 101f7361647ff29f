"""Which nodes of a format use which: what follows from a problem is left out by it."""

import re
from collections.abc import Iterable, Mapping

from wireloom.problems import Problem
from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import all_mentioned, direct_names
from wireloom.resolve.bind.poison import Node, node_of
from wireloom.spec.documents import Document
from wireloom.spec.language import StructType
from wireloom.spec.yaml import texts

_WORD = re.compile(r"[A-Za-z]\w*")


def uses_of(draft: Draft) -> Mapping[Node, Iterable[Node]]:
    """What uses each node: a step its struct and what names it, a type each step that mentions it."""
    types = draft.content.types
    uses: dict[Node, set[Node]] = {}
    steps = {name: form.fields for name, form in types.items() if isinstance(form, StructType)}
    numbered = {
        (name, position): node_of((draft.place / "types" / name / "fields" / position).shown_path) or (name, position)
        for name, entries in steps.items()
        for position in range(len(entries))
    }
    for name, form in types.items():
        for mentioned, position in direct_names(draft, form):
            uses.setdefault((mentioned, None), set()).add(numbered.get((name, position), (name, None)))
    words = {
        numbered[name, position]: {
            word
            for text in texts((draft.place / "types" / name / "fields" / position).node)
            for word in _WORD.findall(text)
        }
        for name, position in numbered
    }
    near = {name: all_mentioned(draft, [name]) for name in steps}
    for name, entries in steps.items():
        beside = [each for each in words if each[0] in near[name] or name in near[each[0]]]
        for position, entry in enumerate(entries):
            own = {entry.key} if entry.is_field else {entry.mark} if entry.mark is not None else set()
            own |= set(entry.full.bits or ())
            node = numbered[name, position]
            found = uses.setdefault(node, set())
            found.add((name, None))
            found |= {each for each in beside if each != node and own & words[each]}
    return uses


def without_follow_ons(problems: Iterable[Problem], document: Document, dropped: frozenset[str]) -> list[Problem]:
    """Of a document that lacks parts, since their shape was wrong: the problems that name nothing of what is lacking.

    Where a whole mapping is lacking (`errors:`), nothing but that is reported.
    """
    if any(name.endswith(":") for name in dropped):
        return []
    lines = document.data.decode("utf-8").splitlines()
    dropped |= {name.partition("(")[0] for name in dropped if "(" in name}  # types with parameters
    return [each for each in problems if not dropped & _named(each, document, lines)]


def _named(problem: Problem, document: Document, lines: list[str]) -> set[str]:
    """The words of a message, and of the value at its place, from where that begins."""
    found = set(re.findall(r"\w+", problem.message))
    if problem.location.file == document.file:  # else of a library
        line, column = lines[problem.location.line - 1], problem.location.column - 1
        written = re.split(r"[{,:-] ", line[:column])[-1] + re.split(r", |}", line[column:])[0]
        found |= set(re.findall(r"\w+", written))
    return found
