"""Reads the accepted findings from `wireloom.yaml`: changes that a team wants, each with the reason.

    compat:
      accept:
        - {rule: column-renamed, format: kind_of_event, at: lastUpdate, why: All queries were changed in June.}

`format` and `at` (the field, column or name of the finding) may be omitted. The file is in the working directory, or
beside the folder of specs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wireloom.compat.findings import Finding
from wireloom.compat.rules import RULES
from wireloom.failures import MisuseError
from wireloom.problems import Location, nearest
from wireloom.spec.yaml import MappingNode, Node, SequenceNode, child, entries, items, parse, scalar

NAME = "wireloom.yaml"
_KEYS = ("rule", "format", "at", "why")


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An entry of `accept`: findings of one rule, in one format or all, at one field or any."""

    rule: str
    format: str
    at: str
    why: str
    location: Location

    def covers(self, finding: Finding) -> bool:
        """Whether the entry accepts a finding."""
        same = self.rule == finding.rule and self.format in ("", finding.format)
        return same and (not self.at or finding.subject == self.at or finding.subject.endswith(f".{self.at}"))


@dataclass(frozen=True, slots=True)
class Sorted:
    """Findings that count, accepted findings, and entries that accept nothing."""

    counted: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, Acceptance], ...]
    unused: tuple[Acceptance, ...]


def acceptances(specs: Path) -> tuple[Acceptance, ...]:
    """The entries of the file, or none without a file; raises MisuseError for a mistake in it."""
    path = next((each for each in (Path(NAME), specs.parent / NAME) if each.is_file()), None)
    if path is None:
        return ()
    try:
        node, problems = parse(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError:
        raise MisuseError(f"{path}: it is not UTF-8") from None
    if problems:
        raise MisuseError(*(f"{each.location}: {each.text}" for each in problems))
    if node is None:
        return ()
    _refuse_others(node, ("compat",))
    section = child(node, "compat")
    if section is None:
        return ()
    _refuse_others(section, ("accept",))
    accept = child(section, "accept")
    if accept is not None and not isinstance(accept, SequenceNode):
        raise _mistake(accept, "accept is a list: `accept: [{rule: column-renamed, why: ...}]`")
    return tuple(map(_acceptance, items(accept)))


def _acceptance(node: Node) -> Acceptance:
    _refuse_others(node, _KEYS)
    rule, format, at, why = (scalar(child(node, key)) for key in _KEYS)
    if rule not in RULES:
        raise _mistake(node, f"{rule!r} is no rule; {nearest(rule, RULES) or 'docs/howto/compat.md lists them'}")
    if not why.strip():
        raise _mistake(node, "it lacks `why`, the reason that the change is wanted")
    return Acceptance(rule, format, at, why, node.location)


def _refuse_others(node: Node, keys: Iterable[str]) -> None:
    if not isinstance(node, MappingNode):
        raise _mistake(node, f"expected a mapping with the keys {', '.join(keys)}")
    for key, _ in entries(node):
        if key.text not in keys:
            raise MisuseError(f"{key.location}: there is no key {key.text}; {nearest(key.text, keys)}")


def _mistake(node: Node, message: str) -> MisuseError:
    return MisuseError(f"{node.location}: {message}")


def sort(findings: Iterable[Finding], known: Iterable[Acceptance]) -> Sorted:
    """Separate accepted findings from those that count."""
    counted, accepted, used = list[Finding](), list[tuple[Finding, Acceptance]](), set[Acceptance]()
    for finding in findings:
        by = next((each for each in known if each.covers(finding)), None)
        if by is None:
            counted.append(finding)
        else:
            used.add(by)
            accepted.append((finding, by))
    return Sorted(tuple(counted), tuple(accepted), tuple(each for each in known if each not in used))
