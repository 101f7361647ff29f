"""`generate`, `formats`: from specs to modules."""

from pathlib import Path
from typing import Annotated

import typer

from wireloom.catalog import open_format, open_package
from wireloom.cli.console import note, say
from wireloom.cli.guard import PROBLEMS, report_problems
from wireloom.cli.options import OUT, PACKAGE, SPECS, Out, Package, Specs
from wireloom.failures import MisuseError
from wireloom.names import package_name_flaw
from wireloom.problems import SpecProblems
from wireloom.project import Project
from wireloom.runtime.parameters import Parameter


def generate(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where a file is out of date.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay, and generate again whenever a spec changes.")] = False,
    specs: Specs = SPECS,
    out: Out = OUT,
    package: Package = PACKAGE,
    docs: Annotated[
        Path | None, typer.Option("--docs", metavar="DIR", help="Also write a Markdown page for each format there.")
    ] = None,
) -> None:
    """Generate the package from the specs.

    Writes one module for each spec, the index and the JSON Schema of the spec language (beside the specs, for
    editors). Files of specs that are gone are removed. All problems of all specs are shown at once, and then nothing
    is written.

    \b
    Examples:
      wireloom generate
      wireloom generate --check                        in CI: are the files up to date?
      wireloom generate --watch                        while writing a spec
      wireloom generate --specs mine --out build --package my_formats
    """
    project = Project(specs, out, package, docs)
    flaw = package_name_flaw(package)
    if flaw:
        raise MisuseError(f"--package {package}: {flaw}")
    if not specs.is_dir():
        raise MisuseError(f"there is no folder {specs}; `wireloom new NAME` starts one, --specs names another")
    if watch:
        _watch(project)
    elif check:
        _check(project)
    else:
        _generate(project)


def formats(out: Out = OUT, package: Package = PACKAGE) -> None:
    """List the formats of the generated package, their entry points and parameters.

    \b
    Examples:
      wireloom formats
      wireloom formats --package my_formats --out build
    """
    opened = open_package(package, out)
    for name in opened.FORMATS:
        module = open_format(opened, name)
        say(f"{name}: {module.TITLE}")
        say(f"    roots: {', '.join(module.CODEC.roots)}")
        for parameter in module.CODEC.parameters:
            say(f"    -p {parameter.name}={_choices(parameter)}: {parameter.doc} (default: {_default(parameter)})")


def _choices(parameter: Parameter) -> str:
    return "|".join(parameter.options) if parameter.options else parameter.kind.upper()


def _default(parameter: Parameter) -> str:
    match parameter.default:
        case None:
            return "none"
        case bool():
            return "true" if parameter.default else "false"
        case _:
            return str(parameter.default)


def _generate(project: Project) -> None:
    from wireloom import pipeline  # the generator's libraries, which no other command waits for

    changes = pipeline.generate(project)
    for path in changes.written:
        say(f"wrote {path}")
    for path in changes.removed:
        say(f"removed {path}")
    say(f"{len(changes.written)} written, {len(changes.removed)} removed, {changes.unchanged} unchanged")


def _check(project: Project) -> None:
    from wireloom import pipeline

    changes = pipeline.check(project)
    if not changes.any:
        say(f"{changes.unchanged} files, all up to date")
        return
    for path in changes.written:
        say(f"{'out of date' if path.exists() else 'missing'}: {path}")
    for path in changes.removed:
        say(f"its spec is gone: {path}")
    note(f"mend it with: {_command(project)}")
    raise typer.Exit(PROBLEMS)


def _watch(project: Project) -> None:
    from watchfiles import watch  # only here

    _attempt(project)
    note(f"watching {project.specs}; Ctrl-C ends")
    for _ in watch(project.specs, watch_filter=lambda _, path: path.endswith(".yaml"), raise_interrupt=False):
        _attempt(project)


def _attempt(project: Project) -> None:
    try:
        _generate(project)
    except SpecProblems as problems:
        report_problems(problems)


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
