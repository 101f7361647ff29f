"""`ingest`: raw bytes to tables, on Spark."""

from typing import Annotated

import typer

from wireloom.catalog import parameter_values
from wireloom.cli.console import complain, say, waiting
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import OUT, PACKAGE, Framing, Out, Package, Parameters, Root, chosen
from wireloom.failures import MisuseError
from wireloom.runtime.streams import FRAMINGS
from wireloom.spark.plan import Job, Plan
from wireloom.spark.report import summary_lines


def ingest(
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="A format of the package.")],
    input: Annotated[
        str, typer.Option("--input", metavar="PATH", help="A file or a folder, or any path that Spark reads.")
    ],
    output: Annotated[str, typer.Option("--output", metavar="PATH", help="Folder for the two tables.")],
    framing: Framing = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The input is Parquet; decode this binary column of it."),
    ] = None,
    root: Root = None,
    parameter: Parameters = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace tables that are already there.")] = False,
    fail_on_error: Annotated[bool, typer.Option("--fail-on-error", help="Exit 1 where any record is bad.")] = False,
    output_format: Annotated[
        str, typer.Option("--output-format", metavar="parquet", help="Format of the tables.")
    ] = "parquet",
    master: Annotated[
        str, typer.Option("--master", help="Spark master; under spark-submit the submission decides.")
    ] = "local[2]",
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Decode raw bytes on Spark into a typed table, and what cannot be decoded into a quarantine table.

    Writes OUTPUT/records (the columns of the format, and _source, _record, _offset) and OUTPUT/quarantine (the raw
    bytes, at most 16 MiB of them, and how many there were; error code, path, offset, expected, actual, and where the
    record came from). Every record that comes in goes to exactly one of them; the summary adds them up. Bad records do
    not make the job fail.

    A local master gets this interpreter and this package by itself. For a cluster use spark-submit with the zip that
    `wireloom package` makes, or set PYSPARK_PYTHON to an interpreter there that has both.

    The input is files: each one record (--framing none), or a stream of records (concatenated, length-prefixed,
    lines); or, with --column, a binary column of Parquet.

    \b
    Examples:
      wireloom ingest --format kind_of_event --input landing/ --output tables/
      wireloom ingest --format kind_of_event --input events.log --framing concatenated --output tables/
      wireloom ingest --format kind_of_event --input topic.parquet --column value --output tables/ -p variant=legacy
    """
    if output_format != "parquet":
        raise MisuseError(f"--output-format {output_format}: only parquet so far")
    if framing is not None and framing not in FRAMINGS:
        raise MisuseError(f"--framing {framing}: it can be {', '.join(FRAMINGS)}")
    if column is not None and framing not in (None, "none"):
        raise MisuseError("--column takes each value as one record; leave --framing out")
    module = chosen(format, package, out)
    module.CODEC.root(root)
    given = tuple(parameter_values(module, parameter or []).items())
    plan = Plan(f"{package}.{module.FORMAT}", module.FORMAT, module.DIGEST, root, framing, given)
    from wireloom.spark.ingest import ingest as run  # here, because it imports pyspark
    from wireloom.spark.session import session

    with waiting("Decoding"), session((out,), master) as spark:
        summary = run(spark, Job(plan, input, output, column, overwrite))
    for line in summary_lines(summary, output):
        say(line)
    if not summary.reconciles:
        complain("the numbers do not add up: the input changed while it was read, or a table was written to by others")
        raise typer.Exit(PROBLEMS)
    if fail_on_error and summary.quarantined:
        raise typer.Exit(PROBLEMS)
