"""A description in another language -> a spec that the resolver accepts.

A draft of the spec is checked like any spec. What is refused goes back to the importer, place by place, which writes
another draft without it and a finding in its stead, until nothing is refused.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wireloom import pipeline
from wireloom.importing.findings import Finding, ImportRefusedError
from wireloom.importing.ksy import Draft, draft
from wireloom.problems import Location, Problem, SpecProblems

_ROUNDS = 40


def from_ksy(file: Path, folders: Sequence[Path] = ()) -> Draft:
    """The spec that a .ksy file stands for; raises ImportRefusedError where there is none."""
    refused: dict[Location, tuple[str, str]] = {}
    for _ in range(_ROUNDS):
        found = draft(file, folders, refused)
        problems = _problems(found)
        if not problems:
            return found
        blamed = found.blamed(problems, refused)
        if not blamed:
            raise ImportRefusedError(*found.findings, *(_finding(each, file) for each in problems))
        refused |= blamed
    raise ImportRefusedError(*found.findings, *(_finding(each, file) for each in problems))


def _problems(found: Draft) -> tuple[Problem, ...]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{found.format}.yaml").write_text(found.text, encoding="utf-8")
        try:
            pipeline.read(Path(folder))
        except SpecProblems as problems:
            return problems.problems
    return ()


def _finding(problem: Problem, file: Path) -> Finding:
    location = replace(problem.location, file=str(file), line=1, column=1)
    return Finding(location, "refused", f"no spec came of it: {problem.path}: {problem.message}", problem.hint)
