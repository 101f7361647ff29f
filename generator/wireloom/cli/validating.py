"""`validate`: everything that is wrong with the records of a file."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, cast

import typer

from wireloom import validating
from wireloom.cli.console import CLEAR, clear, note, refuse_closed_output, say
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import OUT, PACKAGE, Format, Framing, Out, Package, Parameters, Root, Source, chosen, one_of
from wireloom.cli.transcoding import called, likely_framing, opened_input, request_of
from wireloom.runtime.validation import Problem
from wireloom.validating import Bad, Part
from wireloom.validation_reports import FORMS, Form, Report

Shown = Annotated[
    str, typer.Option("--report", metavar="|".join(FORMS), help="Lines for people, lines of JSON, or SARIF 2.1.0.")
]
MaxErrors = Annotated[
    int | None, typer.Option("--max-errors", metavar="N", min=1, help="Stop behind that many problems; else never.")
]


def validate(
    format: Format,
    file: Source,
    report: Shown = "text",
    max_errors: MaxErrors = None,
    framing: Framing = None,
    root: Root = None,
    parameter: Parameters = None,
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Check every record of a file and say everything that is wrong with each.

    What the decoder accepts is valid. A record of a JSON format that it refuses is held to the JSON Schema of its root
    under the given parameters, which finds all problems where the decoder stops at its first; each is printed with
    line and column, or with the record's number and the byte. The counts, also by rule, are printed on standard error.
    The exit code is 1 where a record is bad. The file is read once and may be larger than memory.

    \b
    Examples:
      wireloom validate kind_of_event events.log
      wireloom validate kind_of_event events.jsonl --framing lines --max-errors 20
      wireloom validate kind_of_event - --report sarif < events.jsonl > problems.sarif
    """
    one_of("--report", report, FORMS)
    refuse_closed_output()
    request = request_of(chosen(format, package, out), root, framing, parameter)
    written = Report(cast(Form, report), called(file), say)
    count = _Count()
    with opened_input(file) as source:
        likely = likely_framing(request, file, source)
        for found, problem in _problems(validating.validate(request, source), count):
            written.add(found, problem)
            if written.count == max_errors:
                break
    written.end()
    noun = "record" if count.records == 1 else "records"
    clear()
    note(f"{count.records} {noun}, {count.bad} bad")
    for line in written.summary():
        note(line)
    if written.count == max_errors:
        problems = "problem" if max_errors == 1 else "problems"
        note(f"stopped behind {max_errors} {problems}, as --max-errors says; the rest was not looked at")
    if likely is not None:
        note(f"{called(file)} looks like {likely}: use --framing {likely}")
    if count.bad:
        raise typer.Exit(PROBLEMS)


@dataclass(slots=True)
class _Count:
    """How far the work is."""

    records: int = 0
    bad: int = 0

    def show(self) -> None:
        """One line of a terminal, always the same."""
        if sys.stderr.isatty():
            sys.stderr.write(f"{CLEAR}{self.records:,} records, {self.bad:,} bad")
            sys.stderr.flush()


def _problems(parts: Iterator[Part], count: _Count) -> Iterator[tuple[Bad, Problem]]:
    """Every problem of every bad record; whoever stops there has looked at no record behind it."""
    behind = 0
    for part in parts:
        for found in part.bad:
            count.records, count.bad = found.index + 1, count.bad + 1
            yield from ((found, problem) for problem in found.problems)
        count.records = behind = behind + part.records
        count.show()
