"""`test`: run the examples of specs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import OUT, PACKAGE, SPECS, OutMade, PackageMade, SpecFormats, Specs, refuse_no_folder
from wireloom.cli.terminal.console import note, say
from wireloom.failures import MisuseError, refuse_unknown
from wireloom.outcomes import Outcome, keep, key_of_folder, recall
from wireloom.project import Project, stale

if TYPE_CHECKING:
    from wireloom.examples import Report
    from wireloom.pipeline import Specs as Read

Change = Callable[["Read", list[str] | None], list[str]]
"""A step before the examples run: takes the specs and format names (None for all), returns lines to print."""

REMEDY = (
    "if the spec is right, `wireloom test --update` writes the actual results into the examples; check the difference"
)


def test(
    formats: SpecFormats = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="Write the result into examples that have neither a value nor an error."),
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Update every failed example to the new result, and show the difference.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what --update would change.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also run examples that passed before and have not changed.")
    ] = False,
    specs: Specs = SPECS,
    out: OutMade = OUT,
    package: PackageMade = PACKAGE,
) -> None:
    """Run the examples in the specs.

    Parses, decodes, builds and encodes each example, and checks it against the JSON Schema. You need not run `wireloom
    generate` first. A failed example is shown with its place in the spec and each member that differs, and the exit
    code is 1.

    An example that passed is not run again until it or wireloom changes; --again runs it.

    To add an example, write its name and bytes, and run with --record, which writes the value. Then check that the
    value is right.

    If you changed a spec on purpose, --update writes the new values and errors into its examples, and prints the
    difference. Check that difference: a wrong result is written too. Passed examples, comments and layout stay as they
    are. With --dry-run, nothing is written.

    \b
    Examples:
      wireloom test
      wireloom test heartbeat --record
      wireloom test heartbeat --update --dry-run
      wireloom test heartbeat --update
      wireloom test --specs mine
    """
    refuse_no_folder(specs)
    if dry_run and not update:
        raise MisuseError("--dry-run shows what --update would change; give --update, too")
    change = _differences if dry_run else _updated if update else _recorded if record else None
    began = time.perf_counter()
    key = key_of_folder(specs, formats or ())
    outcome = None if again or change else recall(key)
    held = outcome is not None
    if outcome is None:
        outcome = _tried(specs, formats or [], again=again, change=change)
        if not outcome.failed and not change:
            keep(key, outcome)
    before = ", as before" if held and outcome.count else ""
    say(f"{verdict(outcome)}{before} ({time.perf_counter() - began:.2f} s)")
    _note_stale(Project(specs, out, package), outcome)
    if outcome.failed:
        if not update:
            note(REMEDY)
        raise typer.Exit(PROBLEMS)


def _tried(specs: Path, formats: list[str], *, again: bool, change: Change | None) -> Outcome:
    """Run the examples, and print the failed ones."""
    from wireloom import pipeline  # imported here: the generator's libraries are slow

    read = pipeline.read(specs, outcomes=change not in (_differences, _updated))
    known = [format.name for format in read.formats]
    refuse_unknown("format", formats, known)
    if change:
        for line in change(read, formats or None):
            say(line)
        read = pipeline.read(specs)
    report = pipeline.try_examples(read, formats or None, again=again)
    for failure in report.failures:
        say(*str(failure).split("\n"))
    digests = {format.name: format.digest for format in read.formats}
    return Outcome(report.count, report.without_engine, digests, read.meanings, report.failed)


def _note_stale(project: Project, outcome: Outcome) -> None:
    """Say which generated modules are of other specs, and which only of another text of the same."""
    changed = stale(project, "MEANING", outcome.meanings)
    reworded = [name for name in stale(project, "DIGEST", outcome.digests) if name not in changed]
    if changed:
        note(f"{', '.join(changed)} in {project.out / project.package}: out of date: run `wireloom generate`")
    if reworded:
        note(
            f"{', '.join(reworded)} in {project.out / project.package}: of an earlier text of the spec, which means "
            "the same; `wireloom generate` updates comments and digest"
        )


def _recorded(read: "Read", names: list[str] | None) -> list[str]:
    """Write the actual results into examples that state none; returns lines about them."""
    from wireloom import pipeline  # as above

    return [str(recorded) for recorded in pipeline.record_examples(read, names)]


def _differences(read: "Read", names: list[str] | None) -> list[str]:
    """The changes that `--update` would make, as lines."""
    from wireloom import pipeline  # as above

    return [line for revision in pipeline.example_revisions(read, names) for line in revision.diff()]


def _updated(read: "Read", names: list[str] | None) -> list[str]:
    """Write the actual results into examples that state others; returns the changes as lines."""
    from wireloom import pipeline  # as above

    revisions = pipeline.example_revisions(read, names)
    for revision in revisions:
        revision.write()
    return [line for revision in revisions for line in revision.diff()]


def verdict(report: "Report | Outcome") -> str:
    """The result in one line: `212 examples, all hold` or `2 of 212 examples do not hold`."""
    if not report.count:
        return "no examples"
    said = (
        f"{report.failed} of {_counted(report.count)} {'does' if report.failed == 1 else 'do'} not hold"
        if report.failed
        else f"{_counted(report.count)}, all hold"
    )
    if report.without_engine:
        said += "; not run through the native engine, which is not compiled here"
    return said


def _counted(count: int) -> str:
    return f"{count} example{'' if count == 1 else 's'}"
