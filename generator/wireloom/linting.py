"""The rules of `wireloom lint`: their families, the reasons for them, and automatic fixes.

`resolve` finds the problems: mistakes, warnings and advice.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import yaml

from wireloom.problems import ADVICE, DIAGNOSTICS, WARNINGS, Problem
from wireloom.reports import Finding, Level
from wireloom.spec.yaml import compose, raw_end

Family = Literal["mistake", "risk", "logic", "leftover", "documentation"]

_FAMILIES: Mapping[Family, tuple[str, ...]] = MappingProxyType(
    {
        "risk": (
            "unframed-stream",
            "no-size-limit",
            "case-collision",
            "untold-alternative",
            "true-when-missing",
        ),
        "logic": (
            "certain-condition",
            "unreachable-case",
            "useless-else",
            "unknown-code",
        ),
        "leftover": (
            "unused-code",
            "unused-import",
            "unused-parameter",
            "unreachable-type",
            "unused-allowance",
        ),
        "documentation": (
            "undocumented",
            "no-unit",
        ),
    }
)
_WHY: Mapping[str, str] = MappingProxyType(
    {
        "unframed-stream": "If a length or a type is damaged, the reader cannot find the next record, and the rest "
        "of the file is lost. A frame, a delimiter or a checksum over the header limits the "
        "loss to one record.",
        "no-size-limit": "A damaged or hostile length of four bytes can announce four gigabytes. Without a "
        "limit, the reader treats everything that follows as one record and reports `truncated` "
        "at the end of the file. With a limit, it reports `size_limit` at once.",
        "case-collision": "Spark, Hive and most warehouses ignore case in column names: a query for one of the "
        "columns fails as ambiguous, and a table with both cannot be written.",
        "untold-alternative": "Bytes that fit two alternatives are read as the first. Without `kind`, the table "
        "does not show which one it was, and a value may be written back as the other.",
        "true-when-missing": "A comparison with a missing field is not false: `flags != 3` is true if there are no "
        "flags. If that is not what you mean, write `present(flags) and flags != 3`.",
        "certain-condition": "The condition decides nothing. Usually a constant or a name is mistyped.",
        "unreachable-case": "No record selects the case. Usually its value is mistyped.",
        "useless-else": "The code can never be reported, because the check cannot fail.",
        "unknown-code": "The quarantine shows the code without a meaning. Declare it under `errors`.",
        "unused-code": "The code is documented, but nothing reports it.",
        "unused-import": "The spec uses nothing from the library.",
        "unused-parameter": "Every use of the type has to pass a value that changes nothing.",
        "unreachable-type": "The type is not part of the format, so no example tests it.",
        "unused-allowance": "The warning is gone. If it comes back for another reason, nobody will see it.",
        "undocumented": "`doc` becomes the comment of the Spark column, the description in the JSON Schema, and "
        "the text on the page of the format. People who query the table have nothing else.",
        "no-unit": "Readers have to guess the unit: seconds or milliseconds, bytes or words?",
    }
)


@dataclass(frozen=True, slots=True)
class Rule:
    """The id of a problem, with its explanation."""

    id: str
    level: Level
    family: Family
    meaning: str
    why: str

    @property
    def fixable(self) -> bool:
        """Whether `--fix` can fix it."""
        return self.id in FIXABLE


FIXABLE = frozenset(("unused-allowance", "unused-code", "unused-import"))
"""Rules whose fix removes the entry that the problem is at."""


def rule_of(id: str) -> Rule | None:
    """The rule with an id; None if there is none."""
    if id in DIAGNOSTICS:
        return Rule(id, "error", "mistake", DIAGNOSTICS[id], "The spec cannot be compiled, or would misbehave.")
    meaning = WARNINGS.get(id) or ADVICE.get(id)
    if meaning is None:
        return None
    family = next(family for family, ids in _FAMILIES.items() if id in ids)
    return Rule(id, "warning" if id in WARNINGS else "note", family, meaning, _WHY[id])


def rules() -> tuple[Rule, ...]:
    """All rules of `lint`, apart from mistakes."""
    return tuple(found for id in (*WARNINGS, *ADVICE) if (found := rule_of(id)) is not None)


def explained(rule: Rule) -> Iterator[str]:
    """The explanation of a rule, and how to silence it."""
    yield f"{rule.id} ({rule.level}, {rule.family}): {rule.meaning}"
    yield f"  {rule.why}"
    if rule.fixable:
        yield "  `wireloom lint --fix` removes the entry."
    if rule.level != "error":
        yield f"  To allow it, put into the spec: `lint: {{allow: [{{id: {rule.id}, at: PATH, why: ...}}]}}`"


def finding(problem: Problem) -> Finding:
    """A problem in the form of reports."""
    rule = rule_of(problem.id)
    assert rule is not None  # noqa: S101 - problems have no other ids
    at = problem.location
    record = {
        "rule": rule.id,
        "level": rule.level,
        "family": rule.family,
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "path": problem.path,
        "message": problem.message,
        "hint": problem.hint,
    }
    return Finding(
        rule.id,
        problem.text,
        at.file,
        record,
        at.line,
        at.column,
        name=problem.path,
        level=rule.level,
        others=problem.picture,
    )


# --- fixes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file before and after its fixes, and their number."""

    path: Path
    before: str
    after: str
    count: int

    def diff(self) -> list[str]:
        """The changes as a patch."""
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), str(self.path), str(self.path), lineterm=""
        )
        return list(lines)


def fixed(problems: Iterable[Problem]) -> Iterator[Fixed]:
    """The files with fixable problems, without the entries that the problems are at."""
    at: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.id in FIXABLE:
            at.setdefault(problem.location.file, []).append(problem)
    for file, found in at.items():
        path = Path(file)
        before = path.read_bytes().decode()
        after = before
        for problem in sorted(found, key=lambda each: each.location, reverse=True):
            after = _without(after, problem)
        yield Fixed(path, before, after, len(found))


def _without(text: str, problem: Problem) -> str:
    """The text without the entry or item of a problem; also without its parent if that would be empty."""
    chain = _chain(text, compose(text), problem.location.line - 1, problem.location.column - 1)
    while len(chain) > 1 and len(chain[-1].siblings) == 1:
        chain.pop()
    member = chain[-1]
    if member.flow:
        return _without_in_flow(text, member)
    start = text.rfind("\n", 0, member.start) + 1
    dash = text[start : member.start].strip()
    if dash and dash != "-":  # the first entry of a list item: keep the dash
        return text[: member.start] + text[member.end :].lstrip()
    end = text.find("\n", member.end)
    return text[:start] + ("" if end < 0 else text[end + 1 :])


@dataclass(frozen=True, slots=True)
class _Member:
    """An entry of a mapping or an item of a list: its lines, and its index among its siblings."""

    start: int
    end: int
    number: int
    siblings: tuple[tuple[int, int], ...]
    flow: bool


def _chain(text: str, node: yaml.Node | None, line: int, column: int) -> list[_Member]:
    """The entries and items around a place, outermost first."""
    match node:
        case yaml.MappingNode(value=pairs):
            parts = [(key.start_mark, value.end_mark, value) for key, value in pairs]
        case yaml.SequenceNode(value=items):
            parts = [(item.start_mark, item.end_mark, item) for item in items]
        case _:
            return []
    places = tuple((start.index, raw_end(value, text)) for start, _, value in parts)
    for number, (start, end, value) in enumerate(parts):
        if (start.line, start.column) <= (line, column) < (end.line, end.column) or (start.line, start.column) == (
            line,
            column,
        ):
            own = _Member(*places[number], number, places, bool(node.flow_style))
            return [own, *_chain(text, value, line, column)] if (start.line, start.column) != (line, column) else [own]
    return []


def _without_in_flow(text: str, member: _Member) -> str:
    places = member.siblings
    if member.number + 1 < len(places):
        return text[: member.start] + text[places[member.number + 1][0] :]
    if member.number:
        return text[: places[member.number - 1][1]] + text[member.end :]
    return text[: member.start] + text[member.end :]
