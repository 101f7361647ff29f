"""The summary of an ingest run as lines of text."""

from collections.abc import Iterator

from wireloom.spark.plan import QUARANTINE, RECORDS, Summary


def summary_lines(summary: Summary, output: str) -> Iterator[str]:
    """Records in = decoded + quarantined + dropped, the reasons, and where the tables are."""
    sign = "=" if summary.reconciles else "!="
    dropped = f" + {summary.discarded} dropped on request" if summary.dropped else ""
    yield f"{summary.records} records in {sign} {summary.decoded} decoded + {summary.quarantined} quarantined{dropped}"
    for code, count in summary.codes:
        yield f"    {count:>8}  {code}"
    for code, count in summary.dropped:
        yield f"    {count:>8}  {code} (dropped)"
    yield f"{summary.rows} rows in {output}/{RECORDS}"
    yield f"{summary.quarantined} rows in {output}/{QUARANTINE}"
