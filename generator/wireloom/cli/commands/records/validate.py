"""`validate`: list all problems of the records in files."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Annotated, cast

import typer

from wireloom.cli.commands.records.transcode import Resync, remedy_of, request_of
from wireloom.cli.files.open_files import Opened, opened
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import (
    Format,
    FormatOrigin,
    Framing,
    Parameters,
    ReportForm,
    Root,
    one_of,
)
from wireloom.cli.terminal.console import note, refuse_closed_output, say
from wireloom.cli.terminal.record_counter import end_progress, progress
from wireloom.records import transcode, validating
from wireloom.records.validating import Bad, Part
from wireloom.reports import FORMS, Finding, Form, Report
from wireloom.runtime.streams.given_up import GivenUp
from wireloom.runtime.validation import Problem

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Files, folders or globs, also compressed; - reads standard input.",
    ),
]
MaxErrors = Annotated[int | None, typer.Option("--max-errors", metavar="N", min=1, help="Stop after N problems.")]


def validate(
    format: Format,
    files: Sources,
    report: ReportForm = "text",
    max_errors: MaxErrors = None,
    framing: Framing = None,
    resync: Resync = False,
    root: Root = None,
    parameter: Parameters = None,
    *,
    origin: FormatOrigin,
) -> None:
    """Check every record of files, and list the problems of each.

    A record is valid if the decoder accepts it. If the decoder refuses a record of a JSON format, `validate` lists all
    its problems by the JSON Schema, each with line and column. For other formats it prints the first error, with the
    record's number and byte.

    The counts of problems, in all and by rule, are on standard error. The exit code is 1 if a record is bad. Files may
    be larger than memory. If a format has one document on each line and you give no --framing, `validate` also reads
    arrays, and documents of several lines.

    \b
    Examples:
      wireloom validate kind_of_event events.log
      wireloom validate kind_of_event landing/ more/*.jsonl.gz
      wireloom validate kind_of_event events.jsonl --framing lines --max-errors 20
      wireloom validate kind_of_event events.log --resync                  go on after damage
      wireloom validate kind_of_event events.jsonl --report github         in a workflow
      wireloom validate kind_of_event - --report sarif < events.jsonl > problems.sarif
    """
    one_of("--report", report, FORMS)
    refuse_closed_output()
    request = request_of(origin.module(format), root, framing, parameter)
    written = Report(cast(Form, report), say)
    count, notes = _Count(), list[str]()
    for file in opened(files):
        own, hint = _as_it_looks(request, file)
        given_up = GivenUp(searched=resync)
        parts = validating.validate(own, file.source, given_up, resync=resync)
        for found, problem in _problems(parts, file, count):
            written.add(_finding(file.name, found, problem))
            if written.count == max_errors:
                break
        notes += [line for line in (given_up.line(file.name, remedy_of(own)), hint) if line]
        if written.count == max_errors:
            break
    written.end()
    end_progress()
    noun = "record" if count.records == 1 else "records"
    where = f" in {count.files} files" if count.files > 1 else ""
    note(f"{count.records} {noun}{where}, {count.bad} bad")
    for line in written.summary():
        note(line)
    if written.count == max_errors:
        problems = "problem" if max_errors == 1 else "problems"
        note(f"stopped after {max_errors} {problems}, the limit of --max-errors; the rest was not checked")
    for line in notes:
        note(line)
    if count.bad:
        raise typer.Exit(PROBLEMS)


def _finding(file: str, bad: Bad, problem: Problem) -> Finding:
    """One problem as a finding of reports. The message gives the JSON pointer if it differs from the path."""
    pointed = f" ({problem.pointer})" if problem.pointer != f"/{problem.path}" else ""
    text = f"{problem.path}{pointed}: {problem.message}" if problem.path else problem.message
    return Finding(
        problem.rule,
        text,
        file,
        {"file": file, "record": bad.index, **asdict(problem)},
        problem.line,
        problem.column,
        f"record {bad.index}, byte {problem.offset}",
        f"record {bad.index}{problem.pointer}",
        problem.offset,
    )


def _as_it_looks(request: transcode.Request, file: Opened) -> tuple[transcode.Request, str]:
    """Detect the framing of a file: the request to read it with, and a line that tells the user."""
    own = validating.framing_of_text(request, file.head)
    if own is not None:
        return replace(request, framing=own), f"{file.name} looks like {own}: it was read with --framing {own}"
    likely = transcode.likely(request, file.head, file.size) if file.head else None
    return request, "" if likely is None else f"{file.name} looks like {likely}: use --framing {likely}"


@dataclass(slots=True)
class _Count:
    """Totals so far."""

    files: int = 0
    records: int = 0
    bad: int = 0


def _problems(parts: Iterator[Part], file: Opened, count: _Count) -> Iterator[tuple[Bad, Problem]]:
    """Each problem of each bad record. Lazy: a caller who stops early has read no further record."""
    before, count.files = count.records, count.files + 1
    counted = 0
    for part in parts:
        for found in part.bad:
            count.records, count.bad = before + found.index + 1, count.bad + 1
            yield from ((found, problem) for problem in found.problems)
        counted += part.records
        count.records = before + counted
        progress(count.records, count.bad)
    damage = file.damage()
    if damage is not None:
        count.records, count.bad = count.records + 1, count.bad + 1
        lost = validating.damaged(counted, *damage)
        yield from ((lost, problem) for problem in lost.problems)
