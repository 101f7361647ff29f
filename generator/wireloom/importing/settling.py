"""Drafts of a spec, one after the other, until nothing of one is refused.

A draft is checked like any spec. What is refused goes back to the importer, place by place, which writes another draft
without it, and a finding in its stead.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.problems import Location, Problem

Refusals = Mapping[Location, tuple[str, str]]
_ROUNDS = 40


class Draft(Protocol):
    """A spec as an importer writes it."""

    @property
    def format(self) -> str:
        """The name of the format."""

    @property
    def text(self) -> str:
        """The text of the spec."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the spec lacks."""

    def blamed(self, problems: Iterable[Problem], known: Refusals) -> Refusals:
        """The places of the description that problems of the spec come from, if they are not known."""


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
    return Finding(location, "refused", f"no spec came of it: {problem.path}: {problem.message}", problem.hint)
