"""`status`, `clean`: show the state of an output, and remove the leftovers of killed jobs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.terminal.console import note, refuse_closed_output, say
from wireloom.ingest.job.amount_texts import size_text
from wireloom.ingest.job.metrics import counted
from wireloom.ingest.job.report import DIGITS

if TYPE_CHECKING:
    from wireloom.ingest.job.status import Failure, OutputStatus, Spec, Staged

Output = Annotated[str, typer.Argument(metavar="OUTPUT", help="The folder that ingest writes to.")]


def status(
    output: Output,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is in the tables of an ingest, which jobs are running, and what was refused last.

    Shows batches, records, rows and bytes; errors by code; the last refused records with their first bytes; the specs
    that wrote, and which columns each changed; what is staged; and the last failures. Needs no Java, and changes
    nothing.

    \b
    Examples:
      wireloom status tables/
      wireloom status tables/ --json | jq .summary
    """
    refuse_closed_output()
    from wireloom.ingest.job.status import output_status  # imported here: needs pyarrow

    found = output_status(output.rstrip("/"))
    if as_json:
        say(*json.dumps(_object(found), indent=2).split("\n"))
        return
    for line in _lines(found):
        say(line)


def clean(
    output: Output,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")] = False,
) -> None:
    """Remove the staged files of killed jobs, and finish moving the files of completed batches.

    Removes staged files that no entry of the ledger names. Never touches the tables, and removes nothing while a job
    runs. The next ingest or replay does the same by itself. Needs no Java.

    \b
    Examples:
      wireloom clean tables/ --dry-run
      wireloom clean tables/
    """
    from wireloom.ingest.job.status import swept  # imported here: needs pyarrow

    found = list(swept(output.rstrip("/"), dry=dry_run))
    for each in found:
        if each.settled is not None:
            say(f"{'would finish' if dry_run else 'finished'} batch {each.settled}: {each.path}")
        else:
            size = f"{each.files} file{'' if each.files == 1 else 's'}, {size_text(each.bytes)}"
            say(f"{'would remove' if dry_run else 'removed'} {each.path} ({size})")
    if not found:
        note(f"{output} has nothing to remove")


def _object(found: "OutputStatus") -> dict[str, object]:
    """The status as one JSON object, with the names of the metrics."""
    return {
        "output": found.output,
        "stream": json.loads(found.stream) if found.stream else None,
        "running": [
            {"work": each.work, "host": each.host, "process": each.process, "since": each.since}
            for each in found.running
        ],
        "partition": found.partition,
        "batches": found.batches,
        "first": found.first,
        "last": found.last,
        "summary": counted(found.summary),
        "replaced": asdict(found.removed),
        "replays": [
            {
                "replay": each.number,
                "time": each.time,
                "records": each.summary.records,
                "moved": each.summary.decoded,
                "quarantined": each.summary.quarantined,
            }
            for each in found.replays
        ],
        "specs": [asdict(each) for each in found.specs],
        "failures": [asdict(each) for each in found.failures],
        "staged": [asdict(each) for each in found.staged],
        "stops": [asdict(each) for each in found.stops],
    }


def _lines(found: "OutputStatus") -> Iterator[str]:
    summary = found.summary
    yield f"{found.output}: {'a stream' if found.stream else 'batches'}"
    yield from (f"  running: {each}" for each in found.running)
    if not found.running:
        yield "  no job is running"
    if found.partition:
        yield f"  partitioned by {', '.join(found.partition)}"
    count = "1 batch" if found.batches == 1 else f"{found.batches} batches"
    yield count + (f", {found.first} to {found.last}" if found.batches else "")
    dropped = f" + {summary.discarded} dropped" if summary.dropped else ""
    parts = f"{summary.decoded} decoded + {summary.quarantined} quarantined{dropped}"
    yield f"  {summary.records} records ({size_text(summary.size)}) = {parts} ({size_text(summary.bad_size)})"
    yield f"  {summary.rows - found.removed.rows} rows"
    if (again := found.removed).files:
        files = f"{again.files} file{'' if again.files == 1 else 's'}"
        yield f"  {files} read again; replaced were {again.rows} rows and {again.quarantined} quarantined"
    yield from (f"  {count:>10}  {code}" for code, count in summary.codes)
    for entry in found.replays:
        moved = f"{entry.summary.decoded} moved + {entry.summary.quarantined} still bad"
        yield f"replay {entry.number}, {entry.time}: {entry.summary.records} records = {moved}"
    for title, lines in (
        ("specs", [line for spec in found.specs for line in _of_spec(spec)]),
        ("last refused", [line for failure in found.failures for line in _of_failure(failure)]),
        ("staged", [_of_staged(staged) for staged in found.staged]),
        (
            "last stopped by",
            [line for stop in found.stops for line in (f"{stop.time}: {stop.said}", f"    {stop.path}")],
        ),
    ):
        if lines:
            yield title
            yield from (f"  {line}" for line in lines)


def _of_spec(spec: "Spec") -> Iterator[str]:
    yield f"{spec.digest[:DIGITS]} since batch {spec.batch}, {spec.time}: {spec.columns} columns"
    yield from (f"    {change}" for change in spec.changes)


def _of_staged(staged: "Staged") -> str:
    state = "left behind; the next start or `wireloom clean` removes it"
    if staged.in_use:
        state = "in use"
    elif staged.batch is not None:
        state = f"batch {staged.batch} is in the ledger; the next start or `wireloom clean` moves it into the tables"
    return f"{staged.path} ({staged.files} files, {size_text(staged.bytes)}): {state}"


def _of_failure(failure: "Failure") -> Iterator[str]:
    where = f" at {failure.path}" if failure.path else ""
    yield f"{failure.code}{where}: {failure.expected}; found {failure.actual} (byte {failure.offset})"
    if failure.meaning:
        yield f"    {failure.meaning}"
    yield f"    {failure.origin}"
    if failure.first:
        cut = " ..." if (failure.size or 0) > len(bytes.fromhex(failure.first)) else ""
        yield f"    {failure.first}{cut}"
