"""`compat`: show what a change to specs breaks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, ReportForm, SpecFormats, Specs, one_of, refuse_no_folder
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.reports import FORMS, Form, Report

if TYPE_CHECKING:
    from wireloom.compat import Compared, Mode

Against = Annotated[
    str,
    typer.Option("--against", metavar="git:REVISION|DIR", help="The old specs: a revision of --specs, or a folder."),
]
Modes = Annotated[
    str,
    typer.Option(
        "--mode",
        metavar="backward|forward|full",
        help="Old data read by the new specs, new data read by the old ones, or both.",
    ),
]


def compat(
    against: Against,
    formats: SpecFormats = None,
    mode: Modes = "backward",
    report: ReportForm = "text",
    specs: Specs = SPECS,
) -> None:
    """Show what a change to specs breaks: data, tables, JSON documents and programs.

    Each finding names its rule, both places, what breaks, and the way out. If a record shows it, its bytes are printed
    with what each spec reads. Errors break something; a warning may. The exit code is 1 if there is an error, 0 if
    there is none, 2 if the command is wrong.

    `wireloom.yaml` lists findings that you accept, each with the reason:

    \b
      compat:
        accept:
          - {rule: column-renamed, format: heartbeat, at: sentAt, why: No query used the old name.}

    \b
    Examples:
      wireloom compat --against git:main
      wireloom compat --against git:v1.4 heartbeat --mode full
      wireloom compat --against ../released/specs --specs specs --report github
    """
    from wireloom import compat as comparing
    from wireloom.compat.reports import notes, reported

    one_of("--report", report, FORMS)
    one_of("--mode", mode, comparing.MODES)
    refuse_closed_output()
    refuse_no_folder(specs)
    known = comparing.acceptances(specs)
    with waiting("comparing specs"):
        compared = _compared(against, specs, formats or [], cast("Mode", mode))
    found = comparing.sort(compared.findings, known)
    written = Report(cast(Form, report), say)
    doubts = [each for each in found.counted if each.severity == "note"]
    for each in found.counted:
        if each.severity != "note" or report in ("json", "sarif"):
            written.add(reported(each))
    written.end()
    if report == "text" and doubts:
        say(*notes(doubts))
    for entry in found.unused:
        note(f"{entry.location}: no finding {entry.rule} to accept; remove the entry")
    errors = sum(each.breaks for each in found.counted)
    warnings = sum(each.severity == "warning" for each in found.counted)
    counts = [_counted(errors, "error"), _counted(warnings, "warning")]
    counts += [f"{len(found.accepted)} accepted"] if found.accepted else []
    verdict = "the change breaks something" if errors else "nothing breaks"
    looked = f"{_counted(compared.formats, 'format')}, {compared.same} of them unchanged"
    note(f"{verdict}: {', '.join(counts)} ({looked})")
    if errors:
        raise typer.Exit(PROBLEMS)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _compared(against: str, specs: Path, names: list[str], mode: "Mode") -> "Compared":
    from wireloom import compat as comparing
    from wireloom import pipeline

    today = pipeline.read(specs, outcomes=False)
    with comparing.against(against, specs, today) as old:
        return comparing.compare(old, comparing.Source(today, str(specs), str(specs)), names, mode)
