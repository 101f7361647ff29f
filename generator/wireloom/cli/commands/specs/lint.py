"""`lint`: list mistakes, risks and missing documentation in specs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import SPECS, ReportForm, SpecFormats, Specs, one_of, refuse_no_folder
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.failures import MisuseError, refuse_unknown, unknown
from wireloom.reports import FORMS, Form, Report

if TYPE_CHECKING:
    from wireloom import linting
    from wireloom.problems import Problem


def lint(
    formats: SpecFormats = None,
    specs: Specs = SPECS,
    report: ReportForm = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for notes too.")] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="ID", help="Explain an id: what it means, and why it matters; `all` for all ids."
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Remove unused imports, codes and allowances from the specs.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what --fix would change.")] = False,
) -> None:
    """Show mistakes, risks and missing documentation in specs.

    There are three levels. Errors stop `generate`. Warnings are parts of a spec that work but are probably wrong;
    `generate` shows them too. Notes are suggestions: records without a size limit, columns that differ only in case,
    columns without `doc` or `unit`. Gaps and overlaps between fields are drawn byte by byte.

    To silence a warning or a note, list it under `lint` in the spec, with the reason. The exit code is 1 if there is
    an error or a warning; with --strict, also if there is a note.

    \b
    Examples:
      wireloom lint
      wireloom lint heartbeat --strict
      wireloom lint --explain unframed-stream
      wireloom lint --fix --dry-run
      wireloom lint --report github            in a workflow
    """
    one_of("--report", report, FORMS)
    if dry_run and not fix:
        raise MisuseError("--dry-run shows what --fix would change; give --fix, too")
    refuse_closed_output()
    from wireloom import linting  # imported here: the generator's libraries are slow

    if explain is not None:
        for rule in linting.rules() if explain == "all" else [_rule(explain)]:
            say(*linting.explained(rule))
        return
    refuse_no_folder(specs)
    found = _found(specs, formats or ())
    if fix:
        for change in linting.fixed(found):
            say(*change.diff())
            if not dry_run:
                change.path.write_bytes(change.after.encode())
            note(f"{change.path}: {change.count} {'would be ' if dry_run else ''}fixed")
        found = tuple(each for each in found if each.id not in linting.FIXABLE)
    levels = _reported(found, cast(Form, report))
    if levels["error"] or levels["warning"] or (strict and levels["note"]):
        raise typer.Exit(PROBLEMS)


def _found(specs: Path, formats: Sequence[str]) -> "tuple[Problem, ...]":
    """The errors of the specs; if there are none, the warnings and notes of the given formats or of all."""
    from wireloom import pipeline
    from wireloom.problems import SpecProblems

    try:
        with waiting(f"reading {specs}"):
            read = pipeline.read(specs, advise=True)
    except SpecProblems as problems:
        return problems.problems
    known = {format.name: document.file for format, document in zip(read.formats, read.documents, strict=True)}
    refuse_unknown("format", formats, known)
    files = {known[name] for name in formats}
    return tuple(each for each in read.warnings if each.location.file in files or not formats)


def _reported(found: "Sequence[Problem]", form: Form) -> Counter[str]:
    """Write the report; returns the number of findings by level."""
    from wireloom import linting

    written = Report(form, say)
    levels: Counter[str] = Counter()
    for problem in found:
        finding = linting.finding(problem)
        written.add(finding)
        levels[finding.level] += 1
    written.end()
    counts = [f"{count} {level}{'' if count == 1 else 's'}" for level, count in levels.items()]
    note(", ".join(counts) or "nothing found", *written.summary())
    if written.rules and form == "text":
        note("for details: wireloom lint --explain ID")
    return levels


def _rule(id: str) -> "linting.Rule":
    from wireloom import linting
    from wireloom.problems import ADVICE, DIAGNOSTICS, WARNINGS

    rule = linting.rule_of(id)
    if rule is None:
        error = unknown("id", id, [*WARNINGS, *ADVICE, *DIAGNOSTICS])
        raise MisuseError(f"{error}; `wireloom lint --explain all` lists the warnings and notes")
    return rule
