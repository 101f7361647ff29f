"""`doctor`: check this machine, and print the commands that fix what is missing."""

from collections.abc import Iterator
from typing import Annotated

import typer

from wireloom.cli.guard import MACHINE
from wireloom.cli.options import OUT, PACKAGE, Out, Package
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.spark.doctor import examine
from wireloom.spark.machine import Finding


def doctor(
    spark: Annotated[bool, typer.Option("--spark", help="Also start Spark, and check its executors.")] = False,
    master: Annotated[str, typer.Option("--master", help="Spark master; spark-submit sets its own.")] = "local[2]",
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Check Python, Java, PySpark, Arrow, the Python of Spark's workers, and the generated package.

    Shows what it found, what is wrong, and the command that fixes it. The exit code is 3 if anything is wrong.

    With --spark, runs a job that compares Python, libraries, engine and specs of the executors with the driver's.

    \b
    Examples:
      wireloom doctor
      wireloom doctor --spark
      wireloom doctor --spark --master spark://host:7077
    """
    refuse_closed_output()
    with waiting("Examining"):
        findings = list(examine(package, out, master if spark else None))
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        say(*_lines(finding, width))
    bad = [finding for finding in findings if not finding.good]
    if bad:
        note(f"{len(bad)} of {len(findings)} to mend")
        raise typer.Exit(MACHINE)


def _lines(finding: Finding, width: int) -> Iterator[str]:
    yield f"{'ok   ' if finding.good else 'WRONG'} {finding.subject:<{width}}  {finding.detail}"
    if not finding.good:
        yield f"      {' ' * width}  mend it with: {finding.remedy}"
    if finding.advice:
        yield f"      {' ' * width}  faster with: {finding.advice}"
