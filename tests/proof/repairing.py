"""Repairs a refused spec by removing what its diagnostics name, until it is accepted.

So most random specs are close to the limits of the language, where its authors looked least.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from proof.chance import Chance
from proof.modules import documents, resolved
from proof.pruning import pruned
from wireloom.problems import SpecProblems

_TURNS = 12
_PLACE = re.compile(r"\[(\d+)\]")
_CERTAIN = ("certain-condition", "impossible-value", "bad-pattern", "useless-else", "bad-case")
_IN_VAIN = ("invalidText", "unknownMembers")  # keys of the head that are useless if nothing below uses them
_NEEDED = frozenset(
    (
        *("wireloom", "format", "title", "encoding", "types", "root", "type", "fields", "cases", "select", "oneOf"),
        *("attempt", "name", "that", "else", "record"),
    )
)


def repaired(document: Mapping[str, Any], chance: Chance) -> dict[str, Any]:
    """The document without its mistakes, or as far as they can be removed."""
    found = dict(document)
    for _ in range(_TURNS):
        try:
            resolved(documents({"proof.yaml": found}))
        except SpecProblems as error:
            smaller = _without(found, chance.one(list(error.problems)).path)
            if smaller is None:
                break
            found = pruned(smaller)
        else:
            break
    return found


def with_doubts(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without conditions and cases that are always true or false: chance makes many of them."""
    found = dict(document)
    for _ in range(_TURNS):
        try:
            resolved(documents({"proof.yaml": found}))
        except SpecProblems as error:
            certain = {each.path for each in error.problems if each.id in _CERTAIN or each.path in _IN_VAIN}
        except Exception:  # noqa: BLE001 - whoever examines the spec sees it
            break
        else:
            break
        smaller = found
        # later ones first, so that the paths of earlier ones stay valid
        for path in sorted(certain, key=_places, reverse=True):
            smaller = _without(smaller, path) or smaller
        if smaller == found:
            break
        found = pruned(smaller)
    return found


def _places(path: str) -> list[tuple[str, int]]:
    return [(name, int(place or 0)) for name, place in re.findall(r"([^.\[]+)(?:\[(\d+)\])?", path)]


def _without(document: Mapping[str, Any], path: str) -> dict[str, Any] | None:
    """The document without the innermost removable part at the path; None if there is none."""
    edited = deepcopy(dict(document))
    for part, key in reversed(_steps(edited, path)):
        needed = key in _NEEDED or "lost" in part  # all keys of a salvage are needed
        if len(part) > 1 and (isinstance(part, list) or not needed):
            del part[key]
            if key == "derive":
                part.pop("hidden", None)  # then builders get it from the value
            return edited
    return None


def _steps(document: dict[str, Any], path: str) -> list[tuple[Any, Any]]:
    """The lists and mappings along a path, each with the index or key."""
    found: list[tuple[Any, Any]] = []
    part: Any = document
    while path:
        path = path.removeprefix(".")
        place = _PLACE.match(path)
        if isinstance(part, list) and place is not None and int(place[1]) < len(part):
            key: Any = int(place[1])
            path = path[place.end() :]
        else:
            keys = [each for each in part if path.startswith(str(each))] if isinstance(part, dict) else []
            if not keys:
                break
            key = max(keys, key=lambda each: len(str(each)))
            path = path[len(str(key)) :]
        found.append((part, key))
        part = part[key]
    return found
