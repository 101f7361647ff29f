"""The summary of an ingest run as lines of text."""

from collections.abc import Iterator

from wireloom.spark.plan import QUARANTINE, RECORDS, Summary


def summary_lines(summary: Summary, output: str) -> Iterator[str]:
    """Records in = decoded + quarantined, the reasons, and where the tables are."""
    sign = "=" if summary.reconciles else "!="
    yield f"{summary.records} records in {sign} {summary.decoded} decoded + {summary.quarantined} quarantined"
    for code, count in summary.codes:
        yield f"    {count:>8}  {code}"
    yield f"{summary.rows} rows in {output}/{RECORDS}"
    yield f"{summary.quarantined} rows in {output}/{QUARANTINE}"
