"""`demo`: decode sample records of every format."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import OUT, PACKAGE, SPECS, OutMade, PackageMade, Specs, refuse_no_way
from wireloom.cli.terminal.console import awaited, complain, note, say
from wireloom.failures import MisuseError
from wireloom.ingest.job.report import summary_lines
from wireloom.project import Project

PIPE_WIDTH = 160  # columns of text if the output is not a terminal


def demo(
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="Folder for samples and tables.")] = Path(
        "demo-output"
    ),
    samples: Annotated[
        Path | None,
        typer.Option("--samples", metavar="DIR", help="Only write a few samples of every format there, without Spark."),
    ] = None,
    specs: Specs = SPECS,
    out: OutMade = OUT,
    package: PackageMade = PACKAGE,
) -> None:
    """Try it: generate, make sample records of every format, decode them on Spark, show the tables.

    The samples are made from the examples in the specs. Some are damaged on purpose, and the quarantine shows why each
    was refused. Works for your own specs too. Takes about a minute.

    \b
    Examples:
      wireloom demo
      wireloom demo --samples samples
      wireloom demo --specs mine --out build --package my_formats --output /tmp/seen
    """
    if not specs.is_dir():
        raise MisuseError(f"there is no folder {specs}; run this in a clone of wireloom, or name one with --specs")
    refuse_no_way("--out", out)
    refuse_no_way("--output", output)
    project = Project(specs, out, package)
    if samples is not None:
        refuse_no_way("--samples", samples)
        from wireloom.demo.files import write_samples

        for folder in write_samples(project, samples):
            say(str(folder))
        return
    from rich.console import Console  # slow to import; only this command needs it

    from wireloom.demo.road import run
    from wireloom.demo.tables import quarantine_table, records_table

    console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
    reconciled = True
    for shown in awaited(run(project, output), "Working"):
        say("", f"{shown.format}: {shown.title} ({shown.framing}, {shown.input})")
        for line in summary_lines(shown.summary, str(shown.output)):
            say(f"  {line}")
        console.print(records_table(shown, console.width))
        if shown.quarantine:
            console.print(quarantine_table(shown, console.width))
        reconciled = reconciled and shown.summary.reconciles
    note(
        "", f"The tables are Parquet, below {output}/tables. Next: edit a spec in {specs}/, then `wireloom demo` again."
    )
    if not reconciled:
        complain("the numbers of a format do not add up")
        raise typer.Exit(PROBLEMS)
