"""`ingest`: raw bytes to tables, on Spark; once, or as a stream."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from wireloom.catalog import parameter_values
from wireloom.cli.console import note, say, waiting
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import (
    OUT,
    PACKAGE,
    SPECS,
    Conf,
    DriverMemory,
    Drop,
    Framing,
    Master,
    Out,
    Package,
    Packages,
    Parameters,
    Root,
    Specs,
    chosen,
    dropped_codes,
    session_configuration,
)
from wireloom.cli.streaming import Streaming, flow_of, refuse_stream_options, run_stream
from wireloom.failures import MisuseError
from wireloom.ingest.plan import Job, Plan, Summary
from wireloom.ingest.report import summary_lines
from wireloom.runtime.streams.framed import FRAMINGS

SPARK, LOCAL = ENGINES = ("spark", "local")

Stream = Annotated[bool, typer.Option("--stream", help="Go on: take what comes, batch by batch (see below).")]
Kafka = Annotated[str | None, typer.Option("--kafka", metavar="HOST:PORT,...", help="Stream from Kafka.")]
Topic = Annotated[list[str] | None, typer.Option("--topic", metavar="NAME", help="A topic; may be repeated.")]
SamplesRate = Annotated[
    int | None,
    typer.Option("--samples", metavar="RATE", min=1, help="Stream so many samples a second, without any source."),
]
Checkpoint = Annotated[
    str | None, typer.Option("--checkpoint", metavar="PATH", help="Where the stream stands; else OUTPUT/_checkpoint.")
]
Trigger = Annotated[
    str | None,
    typer.Option(
        "--trigger",
        metavar="once|available-now|INTERVAL",
        help="Take what is there and end, or a batch every '10 seconds'; else one after the other.",
    ),
]
MaxPerBatch = Annotated[
    int | None,
    typer.Option("--max-per-batch", metavar="N", min=1, help="Most messages of Kafka, or files, in one batch."),
]
SourceOptions = Annotated[
    list[str] | None,
    typer.Option("--source-option", metavar="NAME=VALUE", help="An option of Spark's source; may be repeated."),
]
Metrics = Annotated[
    Path | None,
    typer.Option("--metrics", metavar="FILE", dir_okay=False, help="A line of JSON for each batch; else to stderr."),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="spark|local", help="Who does it: Spark, or processes of this machine without Java."
    ),
]
Processes = Annotated[
    int | None,
    typer.Option("--processes", metavar="N", min=1, help="Processes of --engine local; else one a processor."),
]
TableFormat = Annotated[
    str, typer.Option("--table-format", metavar="parquet|delta", help="Format of the tables; delta with --stream.")
]


def ingest(
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="A format of the package.")],
    output: Annotated[str, typer.Option("--output", metavar="PATH", help="Folder for the two tables.")],
    input: Annotated[
        str | None, typer.Option("--input", metavar="PATH", help="A file or a folder, or any path that Spark reads.")
    ] = None,
    framing: Framing = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The input is Parquet; decode this binary column of it."),
    ] = None,
    root: Root = None,
    parameter: Parameters = None,
    drop: Drop = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace tables that are already there.")] = False,
    append: Annotated[bool, typer.Option("--append", help="Add a batch to tables that are already there.")] = False,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes", help="Add to tables that were written by another format, root, framing or parameter."
        ),
    ] = False,
    fail_on_error: Annotated[
        bool, typer.Option("--fail-on-error", help="Exit 1 where any record went to the quarantine.")
    ] = False,
    stream: Stream = False,
    kafka: Kafka = None,
    topic: Topic = None,
    samples: SamplesRate = None,
    specs: Specs = SPECS,
    checkpoint: Checkpoint = None,
    trigger: Trigger = None,
    max_per_batch: MaxPerBatch = None,
    source_option: SourceOptions = None,
    metrics: Metrics = None,
    table_format: TableFormat = "parquet",
    packages: Packages = None,
    conf: Conf = None,
    driver_memory: DriverMemory = None,
    master: Master = "local[2]",
    engine: Engine = "spark",
    processes: Processes = None,
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Decode raw bytes into a typed table, and what cannot be decoded into a quarantine table.

    Writes OUTPUT/records (the columns of the format, and _source, _record, _offset) and OUTPUT/quarantine (the raw
    bytes, at most 16 MiB of them, and how many there were; error code, path, offset, expected, actual, and where the
    record came from). Every record that comes in goes to exactly one of them, or is counted as dropped where --drop
    names its error code; the summary adds them up. Bad records do not make the job fail.

    A local master gets this interpreter and this package by itself. For a cluster use spark-submit with the zip that
    `wireloom package` makes, or set PYSPARK_PYTHON to an interpreter there that has both.

    With --engine local processes of this machine do the same without Spark: the same tables, ledger and summary.

    The input is files: each one record (--framing none), or a stream of records (concatenated, length-prefixed,
    lines); or, with --column, a binary column of Parquet.

    With --stream the input is a folder that files are moved into, Kafka topics (then _key, _topic, _partition, _offset
    and _timestamp say where a record came from), or samples made from the specs. The tables grow batch by batch, each
    batch in a folder wireloom_batch=N that appears whole, so that `spark.read.parquet` of a table is right at any time.
    A stream that was stopped or killed goes on by the same command. Ctrl-C finishes the batch in hand.

    \b
    Examples:
      wireloom ingest --format kind_of_event --input landing/ --output tables/
      wireloom ingest --format kind_of_event --input landing/ --output tables/ --engine local
      wireloom ingest --format kind_of_event --input events.log --framing concatenated --output tables/
      wireloom ingest --format kind_of_event --input topic.parquet --column value --output tables/ -p variant=legacy
      wireloom ingest --format kind_of_event --stream --input landing/ --output tables/ --trigger available-now
      wireloom ingest --format kind_of_event --stream --kafka broker:9092 --topic events --output tables/
      wireloom ingest --format kind_of_event --stream --samples 100 --output /tmp/tables
    """
    asked = Streaming(
        kafka, tuple(topic or ()), samples, checkpoint, trigger, max_per_batch, tuple(source_option or ()), metrics,
        table_format, accept_changes,
    )  # fmt: skip
    _check_engine(
        engine, processes, {"--packages": packages, "--conf": conf, "--driver-memory": driver_memory}, stream=stream
    )
    _check_shape(framing, column if column is not None else "value" if kafka else None)
    module = chosen(format, package, out)
    module.CODEC.root(root)
    given = tuple(parameter_values(module, parameter or []).items())
    dropped = dropped_codes(module, drop)
    plan = Plan(f"{package}.{module.FORMAT}", module.FORMAT, module.DIGEST, root, framing, given, dropped)
    configuration = session_configuration(packages, conf, driver_memory)
    if stream:
        if overwrite:
            raise MisuseError("--overwrite: a stream only adds; for a new beginning choose another --output")
        if append:
            raise MisuseError("--append: a stream always adds; leave it out")
        flow = flow_of(plan, asked, input, column, output, specs)
        summary = run_stream(flow, asked, out, master, configuration)
    else:
        refuse_stream_options(asked)
        if append and overwrite:
            raise MisuseError("--append and --overwrite exclude each other")
        if accept_changes and not append:
            raise MisuseError("--accept-changes is for what adds to tables: --append, or --stream")
        job = Job(plan, _input(input), output, column, overwrite, append, accept_changes)
        summary = _local(job, processes) if engine == LOCAL else _run(job, out, master, configuration)
    _tell(summary, output, fail_on_error=fail_on_error)


def _check_engine(engine: str, processes: int | None, of_spark: Mapping[str, object], *, stream: bool) -> None:
    if engine not in ENGINES:
        raise MisuseError(f"--engine {engine}: it can be {' or '.join(ENGINES)}")
    if engine == SPARK and processes is not None:
        raise MisuseError("--processes is for --engine local; on Spark --master says it: local[4]")
    if engine == LOCAL and stream:
        raise MisuseError("--engine local takes what is there; a stream runs on Spark (leave --engine out)")
    for name, value in of_spark.items():
        if engine == LOCAL and value:
            raise MisuseError(f"{name} is Spark's; leave it out, or --engine local")


def _check_shape(framing: str | None, column: str | None) -> None:
    if framing is not None and framing not in FRAMINGS:
        raise MisuseError(f"--framing {framing}: it can be {', '.join(FRAMINGS)}")
    if column is not None and framing not in (None, "none"):
        raise MisuseError("a column, and a topic of Kafka, has one record in each value; leave --framing out")


def _input(path: str | None) -> str:
    if path is None:
        raise MisuseError("what is to be read? name it with --input, or --stream with --kafka or --samples")
    return path


def _local(job: Job, processes: int | None) -> Summary:
    from wireloom.ingest.batch import ingest as run  # here, because they import pyarrow
    from wireloom.ingest.local import LocalEngine, cores

    with waiting("Decoding"):
        return run(LocalEngine(processes or cores()), job, note)


def _run(job: Job, out: Path, master: str, configuration: tuple[tuple[str, str], ...]) -> Summary:
    from wireloom.spark.ingest.batch import ingest as run  # here, because it imports pyspark
    from wireloom.spark.session import session

    with waiting("Decoding"), session((out,), master, configuration) as spark:
        return run(spark, job, note)


def _tell(summary: Summary, output: str, *, fail_on_error: bool) -> None:
    for line in summary_lines(summary, output):
        say(line)
    if fail_on_error and summary.quarantined:
        raise typer.Exit(PROBLEMS)
