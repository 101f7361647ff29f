"""Makes drafts of a spec until the check accepts one.

Each draft is checked like any spec. The refused places go back to the importer. The next draft leaves them out, and has
a finding for each instead.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.problems import Location, Problem

Refusals = Mapping[Location, tuple[str, str]]
SHALLOWER = "shallower"  # the hint of such a refusal is the depth to use
BYTES_TOO = " (and it cannot be imported as bytes, either)"
_ROUNDS = 40
_PATH = re.compile(r"types\.(?P<type>[A-Za-z0-9_]+)(?:\.fields\[(?P<field>[0-9]+)\])?")


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft of a spec, with the findings about it."""

    format: str
    text: str
    findings: tuple[Finding, ...]
    origins: Mapping[tuple[str, int], Location]
    types: Mapping[str, Location]
    rounds: Mapping[str, Sequence[Location]]
    depth: int

    def blamed(self, problems: Iterable[Problem], known: Refusals) -> dict[Location, tuple[str, str]]:
        """The places of the description that caused problems, with refusals that are new."""
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
    """The refusal of a place that is refused again: now also as bytes, if its type was refused before."""
    if known[0] == SHALLOWER:
        return _both(known, refusal)
    return known if known[1].endswith(BYTES_TOO) else (known[0], f"{known[1]}{BYTES_TOO}")


def _both(known: tuple[str, str] | None, refusal: tuple[str, str]) -> tuple[str, str]:
    """Merge two refusals of one place: the smaller depth, unless one refuses the place itself."""
    if known is None or (known[0] == SHALLOWER and refusal[0] != SHALLOWER):
        return refusal
    return min(known, refusal, key=lambda each: int(each[1])) if refusal[0] == known[0] == SHALLOWER else known


def _verdict(problem: Problem, depth: int) -> tuple[str, str]:
    """The refusal for a problem, as message and hint; or the smaller depth to try for recursive types."""
    if problem.id == "too-large" and depth > 1:
        return SHALLOWER, str(depth // 2)
    return f"a spec cannot express it: {problem.message}", problem.hint


@dataclass(frozen=True, slots=True)
class Settled:
    """A spec that the check accepts, and the findings about it."""

    format: str
    text: str
    findings: tuple[Finding, ...]


def settle(file: Path, draft: Callable[[Refusals], Draft], check: Callable[[str], tuple[Problem, ...]]) -> Settled:
    """Make drafts from a file until `check` has no problems with the text; raises ImportRefusedError."""
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
