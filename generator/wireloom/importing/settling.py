"""Drafts of a spec, one after the other, until nothing of one is refused.

A draft is checked like any spec. What is refused goes back to the importer, place by place, which writes another draft
without it, and a finding in its stead.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.problems import Location, Problem

Refusals = Mapping[Location, tuple[str, str]]
SHALLOWER = "shallower"  # with the depth that an earlier draft would have had to have
BYTES_TOO = " (and it cannot be imported as bytes, either)"
_ROUNDS = 40
_PATH = re.compile(r"types\.(?P<type>[A-Za-z0-9_]+)(?:\.fields\[(?P<field>[0-9]+)\])?")


@dataclass(frozen=True, slots=True)
class Draft:
    """A spec, and what it lacks of the description."""

    format: str
    text: str
    findings: tuple[Finding, ...]
    origins: Mapping[tuple[str, int], Location]
    types: Mapping[str, Location]
    rounds: Mapping[str, Sequence[Location]]
    depth: int

    def blamed(self, problems: Iterable[Problem], known: Refusals) -> dict[Location, tuple[str, str]]:
        """The places of the description that problems of the spec come from, with what they say that is not known."""
        found: dict[Location, tuple[str, str]] = {}
        for problem in problems:
            match = _PATH.match(problem.path)
            if match is None:
                continue
            place = (match["type"], int(match["field"] or -1))
            location = self.origins.get(place)
            own = self.types.get(match["type"])
            for each in [location] if location else self.rounds.get(match["type"]) or ([own] if own else []):
                _add(found, each, _verdict(problem, self.depth))
        news = {each: _again(known[each], refusal) if each in known else refusal for each, refusal in found.items()}
        return {each: refusal for each, refusal in news.items() if refusal != known.get(each)}


def _add(found: dict[Location, tuple[str, str]], place: Location, refusal: tuple[str, str]) -> None:
    found[place] = _both(found.get(place), refusal)


def _again(known: tuple[str, str], refusal: tuple[str, str]) -> tuple[str, str]:
    """What is refused of a place that was before: its bytes, too, where something was refused as a whole."""
    if known[0] == SHALLOWER:
        return _both(known, refusal)
    return known if known[1].endswith(BYTES_TOO) else (known[0], f"{known[1]}{BYTES_TOO}")


def _both(known: tuple[str, str] | None, refusal: tuple[str, str]) -> tuple[str, str]:
    """What two refusals of one place come to: the smaller depth, unless something cannot be said at all."""
    if known is None or (known[0] == SHALLOWER and refusal[0] != SHALLOWER):
        return refusal
    return min(known, refusal, key=lambda each: int(each[1])) if refusal[0] == known[0] == SHALLOWER else known


def _verdict(problem: Problem, depth: int) -> tuple[str, str]:
    """What is refused and why; or the depth that types which hold themselves are to have instead."""
    if problem.id == "too-large" and depth > 1:
        return SHALLOWER, str(depth // 2)
    return f"a spec cannot express it: {problem.message}", problem.hint


@dataclass(frozen=True, slots=True)
class Settled:
    """A spec that nothing refuses, and what it lacks."""

    format: str
    text: str
    findings: tuple[Finding, ...]


def settle(file: Path, draft: Callable[[Refusals], Draft], check: Callable[[str], tuple[Problem, ...]]) -> Settled:
    """The spec that a file stands for; `check` says what is wrong with a text. Raises ImportRefusedError."""
    refused: dict[Location, tuple[str, str]] = {}
    for _ in range(_ROUNDS):
        found = draft(refused)
        problems = check(found.text)
        if not problems:
            return Settled(found.format, found.text, found.findings)
        blamed = found.blamed(problems, refused)
        if not blamed:
            break
        refused |= blamed
    raise ImportRefusedError(*found.findings, *(_refusal(each, file) for each in problems))


def _refusal(problem: Problem, file: Path) -> Finding:
    location = replace(problem.location, file=str(file), line=1, column=1)
    return Finding(
        location, "refused", f"the imported spec is not valid: {problem.path}: {problem.message}", problem.hint
    )
