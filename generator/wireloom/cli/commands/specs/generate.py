"""`generate`, `formats`: generate the package from specs, and list its formats."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.commands.specs.test import REMEDY, verdict
from wireloom.cli.guard import PROBLEMS, translated
from wireloom.cli.options import (
    OUT,
    PACKAGE,
    SPECS,
    FormatOrigin,
    OutMade,
    PackageMade,
    Specs,
    refuse_no_folder,
    refuse_no_way,
)
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.failures import MisuseError
from wireloom.names import package_name_flaw
from wireloom.outcomes import Outcome, digest, in_place, keep, key_of_project
from wireloom.project import Changes, Project, is_spec

if TYPE_CHECKING:
    from wireloom.examples import Report
    from wireloom.pipeline import Specs as ReadSpecs
    from wireloom.runtime.parameters import Parameter


_TICK = 100  # milliseconds between checks whether a run is done


def generate(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a file is out of date.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep running, and generate again when a spec changes.")
    ] = False,
    specs: Specs = SPECS,
    out: OutMade = OUT,
    package: PackageMade = PACKAGE,
    docs: Annotated[
        Path | None,
        typer.Option("--docs", metavar="DIR", help="Also write a page with pictures for each format there."),
    ] = None,
    examples: Annotated[
        bool, typer.Option("--examples/--no-examples", help="Run the specs' examples too; exit with 1 if one fails.")
    ] = True,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove formats from the package that have no spec in the folder.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a spec has warnings.")] = False,
) -> None:
    """Generate the package from the specs.

    Writes a module for each spec, an index, and the JSON Schema of the spec language (beside the specs, for editors).
    Removes the files of deleted specs. If specs have problems, shows all of them and writes nothing.

    Then runs the specs' examples, as `wireloom test` does. If an example fails, shows it and exits with 1; the files
    are written all the same, so that you can inspect the result.

    Shows warnings: parts of a spec that work but are probably mistakes. With --strict they are problems as well.
    A spec silences a warning under `lint`, with the reason.

    \b
    Examples:
      wireloom generate
      wireloom generate --check                        in CI: are the files up to date?
      wireloom generate --watch                        while writing a spec
      wireloom generate --specs mine --out build --package my_formats
    """
    project = Project(specs, out, package, docs, remove)
    flaw = package_name_flaw(package)
    if flaw:
        raise MisuseError(f"--package {package}: {flaw}")
    if watch and check:
        raise MisuseError("--watch writes, but --check does not; drop one of them")
    if watch and strict:
        raise MisuseError("--watch continues after warnings; drop it, or drop --strict")
    refuse_no_folder(specs)
    refuse_no_way("--out", out)
    if docs is not None:
        refuse_no_way("--docs", docs)
    if watch:
        _watch(project, examples=examples)
    elif not (_check if check else _generate)(project, examples=examples, strict=strict):
        raise typer.Exit(PROBLEMS)


def formats(*, origin: FormatOrigin) -> None:
    """List the formats of the generated package, or of specs, their entry points and parameters.

    \b
    Examples:
      wireloom formats
      wireloom formats --package my_formats --out build
      wireloom formats --specs mine
    """
    refuse_closed_output()
    modules = origin.modules()
    from wireloom.runtime.parameters import parameter_text  # imported here: needs the runtime

    for module in modules:
        say(f"{module.FORMAT}: {module.TITLE}")
        say(f"    roots: {', '.join(module.CODEC.roots)}")
        for parameter in module.CODEC.parameters:
            default = parameter_text(parameter.default)
            say(f"    -p {parameter.name}={_choices(parameter)}: {parameter.doc} (default: {default})")


def _choices(parameter: "Parameter") -> str:
    return "|".join(parameter.options) if parameter.options else parameter.kind.upper()


def _generate(project: Project, *, examples: bool, strict: bool) -> bool:
    """Update the files and run the examples. Returns False if an example fails, or a warning does under `strict`."""
    key = key_of_project(project)
    if (kept := in_place(project, key)) is not None:
        _tell(Changes(unchanged=len(kept.files)), kept.notes)
        _warn(kept.warnings)
        if examples:
            note(verdict(kept))
        return not (strict and kept.warnings)
    with waiting(f"generating from {project.specs}"):
        from wireloom import pipeline  # imported here: the generator's libraries are slow

        specs = pipeline.read(project.specs)
        warnings = [str(warning) for warning in specs.warnings]
        changes = Changes() if strict and warnings else pipeline.generate(project, specs)
    if strict and warnings:
        _warn(warnings)
        return False
    notes = [
        *pipeline.large_formats(specs),
        *(
            f"{format} leaves the native engine ({reason}); see `wireloom explain {format}`"
            for format, reason in pipeline.slow_paths(specs).items()
        ),
    ]
    _tell(changes, notes)
    _warn(warnings)
    if not examples:
        return True
    report = _tried(specs)
    if not report.failures and key == key_of_project(project):  # no spec was saved meanwhile
        files = {str(path): digest(text.encode()) for path, text in changes.texts.items()}
        keep(key, Outcome(report.count, report.without_engine, files=files, notes=notes, warnings=warnings))
    return not report.failures


def _tell(changes: Changes, notes: Sequence[str]) -> None:
    for path in changes.written:
        say(f"wrote {path}")
    for path in changes.removed:
        say(f"removed {path}")
    say(f"{len(changes.written)} written, {len(changes.removed)} removed, {changes.unchanged} unchanged")
    for line in notes:
        note(line)


def _warn(warnings: Sequence[str]) -> None:
    """Print the warnings of the specs."""
    for warning in warnings:
        note(f"warning: {warning}")
    if warnings:
        count = "1 warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
        note(f"{count}: change the spec, or allow it there: `lint: {{allow: [{{id: ..., why: ...}}]}}`")


def _check(project: Project, *, examples: bool, strict: bool) -> bool:
    """Compare the files with the specs.

    Returns False if they are out of date, an example fails, or `strict` and a warning.
    """
    if (kept := in_place(project, key_of_project(project))) is not None:
        say(_all_up_to_date(len(kept.files)))
        _warn(kept.warnings)
        if examples:
            note(verdict(kept))
        return not (strict and kept.warnings)
    with waiting(f"generating from {project.specs}"):
        from wireloom import pipeline

        specs = pipeline.read(project.specs)
        changes = pipeline.check(project, specs)
    for path in changes.written:
        say(f"{'out of date' if path.exists() else 'missing'}: {path}")
    for path in changes.removed:
        say(f"its spec is gone: {path}")
    if changes.any:
        note(f"mend it with: {_command(project)}")
    else:
        say(_all_up_to_date(changes.unchanged))
    _warn([str(warning) for warning in specs.warnings])
    held = not examples or not _tried(specs).failures
    return held and not changes.any and not (strict and specs.warnings)


def _all_up_to_date(count: int) -> str:
    return f"{count} files, all up to date"


def _tried(specs: "ReadSpecs") -> "Report":
    """Run the examples, and print the failed ones."""
    from wireloom import pipeline

    with waiting("running the examples"):
        report = pipeline.try_examples(specs)
    for failure in report.failures:
        note(*str(failure).split("\n"))
    note(verdict(report), *([REMEDY] if report.failures else []))
    return report


def _watch(project: Project, *, examples: bool) -> None:
    """Generate now and after each save. A save ends the current run, whose results would be out of date."""
    from watchfiles import watch  # only --watch needs it

    from wireloom.cli.terminal.background import Attempt

    begin = partial(Attempt, partial(_attempt, project, examples=examples), f"generating from {project.specs}")
    saves = watch(
        project.specs,
        watch_filter=lambda _, path: is_spec(Path(path)),
        raise_interrupt=False,
        rust_timeout=_TICK,
        yield_on_timeout=True,
    )
    note(f"watching {project.specs}; Ctrl-C ends")
    attempt = None
    try:
        for saved in saves:
            if attempt is None:  # the watcher now reports every save
                attempt = begin()
            elif saved:
                attempt.end()
                attempt = begin()
            attempt.show()
    finally:
        if attempt is not None:
            attempt.end()


def _attempt(project: Project, *, examples: bool) -> None:
    """Generate once; print the problems, which the next save may fix."""
    with suppress(typer.Exit), translated():
        _generate(project, examples=examples, strict=False)


def _command(project: Project) -> str:
    default = Project()
    options = {
        "--specs": (project.specs, default.specs),
        "--out": (project.out, default.out),
        "--package": (Path(project.package), Path(default.package)),
        "--docs": (project.docs, default.docs),
    }
    return " ".join(
        ["wireloom generate", *(f"{option} {value}" for option, (value, usual) in options.items() if value != usual)]
    )
