"""Findings of `compat` in the form that reports print."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from wireloom import reports
from wireloom.compat.findings import Finding, Witness

_BYTES = 64  # most bytes of a witness shown on a terminal
_READERS = {"backward": "old data", "forward": "new data, old spec"}


def reported(finding: Finding) -> reports.Finding:
    """A finding at its place in the new specs, or in the old ones if the part was removed."""
    at = finding.new or finding.old
    return reports.Finding(
        rule=finding.rule,
        text=f"{finding.subject}: {finding.message}",
        file=finding.format if at is None else at.file,
        record=_plain(finding),
        line=None if at is None else at.line,
        column=None if at is None else at.column,
        name=f"{finding.format}: {finding.subject}",
        level=finding.severity,
        others=tuple(_others(finding)),
        related=finding.old if finding.new else None,
    )


def notes(findings: Sequence[Finding]) -> Iterator[str]:
    """One line for each format whose differences no record shows."""
    for name in dict.fromkeys(each.format for each in findings):
        own = dict.fromkeys(f"{each.subject} [{each.rule}]" for each in findings if each.format == name)
        yield f"{name}: no record is read differently because of {', '.join(own)}; check whether yours could be"


def _others(finding: Finding) -> Iterator[str]:
    """Lines below a finding: its old place, what breaks, a record, and the way out."""
    if finding.old is not None and finding.new is not None:
        yield f"before: {finding.old.file}:{finding.old.line}"
    yield f"{_READERS[finding.direction] if finding.part == 'wire' else finding.part}: {finding.consequence}"
    if finding.witness is not None:
        yield from _witness(finding.witness)
    yield f"way out: {finding.way_out}"


def _witness(witness: Witness) -> Iterator[str]:
    more = " ..." if len(witness.data) > _BYTES else ""
    given = "".join(f", {name}={value}" for name, value in witness.parameters)
    yield f"record: {witness.data[:_BYTES].hex()}{more} ({len(witness.data)} bytes, root {witness.root}{given})"
    yield f"  old spec: {witness.old}"
    yield f"  new spec: {witness.new}"


def _plain(finding: Finding) -> dict[str, object]:
    """A finding as JSON."""
    found = asdict(finding) | {"part": finding.part, "way_out": finding.way_out}
    witness = finding.witness
    if witness is not None:
        found["witness"] = asdict(witness) | {"data": witness.data.hex(), "parameters": dict(witness.parameters)}
    return found
