"""The summary of an ingest run as lines of text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wireloom.ingest.job.amount_texts import size_text
from wireloom.ingest.plan import BATCH, QUARANTINE, RECORDS, Counts, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wireloom.ingest.ledger.entries import Entry
    from wireloom.ingest.quarantine.replay import Replayed

DIGITS = 12  # of a spec's digest


def summary_lines(summary: Summary, output: str) -> Iterator[str]:
    """Lines with the counts (in = decoded + quarantined + dropped), the errors, and the paths of the tables."""
    sign = "=" if summary.reconciles else "!="
    dropped = f" + {summary.discarded} dropped on request" if summary.dropped else ""
    yield f"{summary.records} records in {sign} {summary.decoded} decoded + {summary.quarantined} quarantined{dropped}"
    yield f"{size_text(summary.size)} in, {size_text(summary.bad_size)} of them quarantined"
    yield from _codes(summary)
    if summary.reread > summary.quarantined + summary.discarded:  # the parser always reads bad records
        yield (
            f"{summary.reread} of the records were read by the parser, which is slow; `wireloom explain` and "
            "docs/internals/engine.md say why"
        )
    yield f"{summary.rows} rows in {output}/{RECORDS}"
    yield f"{summary.quarantined} rows in {output}/{QUARANTINE}"
    passed = sum(count for _, count in summary.passed)
    if passed:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.passed)
        yield f"{passed} file{'' if passed == 1 else 's'} skipped: {reasons}"


def finished_lines(finished: "Iterable[Entry]") -> Iterator[str]:
    """Lines about killed replays that were finished now."""
    for entry in finished:
        yield f"finished replay {entry.number} of {entry.time}: {_moved(entry.summary)}"


def replay_lines(replayed: "Replayed", quarantine: str, output: str) -> Iterator[str]:
    """Lines about a replay: moved records, and those still bad, by error code and by spec."""
    yield f"replay {replayed.number}: {_moved(replayed.summary)}"
    yield from _codes(replayed.summary)
    if replayed.cut:
        yield f"{replayed.cut} of them stay in the quarantine, which has only their first 16 MiB (see raw_size)"
    yield f"spec {_digests(replayed.before)} -> {replayed.digest[:DIGITS]}"
    home = output if replayed.version == 1 else f"{output}/v{replayed.version}"
    yield f"{replayed.summary.rows} rows added to {home}/{RECORDS} ({BATCH}=-{replayed.number})"
    yield f"{replayed.summary.quarantined} rows in {quarantine}"


def _moved(summary: Summary) -> str:
    sign = "=" if summary.reconciles else "!="
    dropped = f" + {summary.discarded} dropped on request" if summary.dropped else ""
    return f"{summary.records} records {sign} {summary.decoded} moved + {summary.quarantined} still bad{dropped}"


def _codes(summary: Summary) -> Iterator[str]:
    for code, count in summary.codes:
        yield f"    {count:>8}  {code}"
    for code, count in summary.dropped:
        yield f"    {count:>8}  {code} (dropped)"


def _digests(before: Counts) -> str:
    """The specs that refused the records; with counts if there are several."""
    if len(before) < 2:
        return "".join(digest[:DIGITS] for digest, _ in before) or "(no records)"
    return ", ".join(f"{digest[:DIGITS]} ({count})" for digest, count in before)
