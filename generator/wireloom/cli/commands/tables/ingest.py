"""`ingest`: decode raw bytes into tables, on Spark or locally; once, or as a stream."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.commands.tables.ingest_options import FileReading, FileWriting
from wireloom.cli.commands.tables.streaming import Session, Streaming, flow_of, refuse_stream_options, run_stream
from wireloom.cli.gc_pause import uncollected
from wireloom.cli.guard import PROBLEMS, REFUSED
from wireloom.cli.options import (
    LOCAL,
    MASTER,
    OUT,
    PACKAGE,
    Drop,
    Framing,
    NewVersion,
    Out,
    Package,
    Parameters,
    Root,
    Workers,
    chosen,
    plan_of,
    refuse_no_java,
    size_of,
)
from wireloom.cli.terminal.console import note, say
from wireloom.cli.terminal.job_progress import kind_of, shown
from wireloom.failures import MisuseError
from wireloom.ingest.job.limits import Limits
from wireloom.ingest.job.report import summary_lines
from wireloom.ingest.job.skipped_imports import without_numpy
from wireloom.ingest.plan import Flow, Job, Plan, Source, Summary
from wireloom.runtime.streams.framing import framing_of

if TYPE_CHECKING:
    from wireloom.ingest.ledger.publishing import Watcher

PROGRAMS = ("wireloom", "__main__.py")
"""Program names of processes that run only this command. Other processes may need the imports that we skip."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Options about the input and how to decode it."""

    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="A format of the package.")]
    input: Annotated[
        str | None,
        typer.Option("--input", metavar="PATH", help="A file, a folder, a glob, or a URI such as s3://bucket/folder."),
    ] = None
    framing: Framing = None
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The input is Parquet; decode this binary column of it."),
    ] = None
    root: Root = None
    parameter: Parameters = None
    drop: Drop = None
    out: Out = OUT
    package: Package = PACKAGE

    def plan(self) -> Plan:
        """How to decode the input; raises MisuseError if that is impossible."""
        module = chosen(self.format, self.package, self.out)
        root = module.CODEC.root(self.root)
        framing = None if self.framing is None else module.CODEC.framing_of(root, self.framing).text
        return plan_of(module, self.package, self.root, framing, self.parameter, self.drop)


@dataclass(frozen=True, slots=True)
class Adding:
    """Options about the output, and about existing tables there."""

    output: Annotated[str, typer.Option("--output", metavar="PATH", help="Folder for the two tables.")]
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing tables.")] = False
    append: Annotated[
        bool, typer.Option("--append", help="Add to existing tables the files that they do not have.")
    ] = False
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Read known files again, and replace their rows: the given PATHs, or all of the input.",
        ),
    ] = False
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="With --again: files or folders of the input.", show_default=False),
    ] = None
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes", help="Add to tables that were written with another format, root, framing or parameter."
        ),
    ] = False
    new_version: NewVersion = False
    fail_on_error: Annotated[bool, typer.Option("--fail-on-error", help="Exit with 1 if a record was quarantined.")] = (
        False
    )
    fail_above: Annotated[
        float | None,
        typer.Option(
            "--fail-above",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Stop with exit code 4 if more of a batch's records or bytes are bad. The batch is not written.",
        ),
    ] = None
    max_quarantine: Annotated[
        str | None,
        typer.Option(
            "--max-quarantine",
            metavar="SIZE",
            help="Stop with exit code 4 before the quarantine exceeds SIZE, such as 2g.",
        ),
    ] = None

    def limits(self) -> Limits:
        """The limits for bad records."""
        size = self.max_quarantine
        return Limits(self.fail_above, None if size is None else size_of("--max-quarantine", size))


@dataclass(frozen=True, slots=True)
class Running(Workers):
    """Options about the engine and the progress display."""

    progress: Annotated[
        str | None,
        typer.Option(
            "--progress",
            metavar="none|line|bar",
            help="Show nothing, a line every ten seconds, or a bar; by default, a bar on terminals, lines in logs.",
        ),
    ] = None

    def check(self, *, stream: bool) -> None:
        """Raise MisuseError if the options contradict each other."""
        self.refuse_unfit()
        if self.engine == LOCAL and stream:
            raise MisuseError("--engine local reads only existing files; a stream runs on Spark (drop --engine)")
        kind_of(self.progress)


def ingest(
    reading: Reading, files: FileReading, adding: Adding, writing: FileWriting, streaming: Streaming, running: Running
) -> None:
    """Decode records into a table, and put bad records into a quarantine table.

    OUTPUT/records has the columns of the format, and _source, _record, _offset. OUTPUT/quarantine has the bytes of each
    bad record (at most 16 MiB, and the full size), its error, and where it came from. Each record goes to exactly one
    of them, or is only counted if --drop names its error code. The summary counts all three.

    Bad records do not make the job fail. If more than half of the records are bad, the job names the likely reason and
    exits with 5.

    The input is files or, with --column, a binary column of Parquet. A file is one record (--framing none) or many
    (concatenated, length-prefixed, lines ...). Compressed files are decompressed. Names that begin with _ or . and
    names that end in .tmp, .part or ._COPYING_ are skipped, and a message names them.

    With --engine local, processes of this machine write the same tables without Spark. On Spark, a local master needs
    no setup. For a cluster, use spark-submit with the zip of `wireloom package`, or set PYSPARK_PYTHON to a Python
    there that has wireloom and the package.

    With --stream, the input is a folder that you move files into, Kafka topics, or samples made from the specs. With
    Kafka, records have the columns _key, _topic, _partition, _offset and _timestamp. Each batch appears at once, as a
    folder wireloom_batch=N, so you can read the tables at any time. To continue a stopped or killed stream, run the
    same command again. Ctrl-C finishes the current batch first.

    Exit codes: 0 done, 1 --fail-on-error or the input changed, 2 the command was wrong, 3 something is missing or
    broken on this machine, 4 more data is bad than --fail-above or --max-quarantine allow, 5 most records are in
    the quarantine, 130 interrupted.

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
    running.check(stream=streaming.stream)
    if running.engine == LOCAL and Path(sys.argv[0]).name in PROGRAMS:
        without_numpy()
    _check_shape(
        reading.framing, reading.column if reading.column is not None else "value" if streaming.kafka else None
    )
    adding.limits()
    plan = files.on(reading.plan())
    summary, own = (_stream if streaming.stream else _once)(plan, reading, adding, writing, streaming, running)
    for line in summary_lines(summary, adding.output):
        say(line)
    if adding.fail_on_error and summary.quarantined:
        raise typer.Exit(PROBLEMS)
    if adding.fail_above is None and own.mostly_refused:
        raise typer.Exit(REFUSED)


def _stream(
    plan: Plan, reading: Reading, adding: Adding, writing: FileWriting, streaming: Streaming, running: Running
) -> tuple[Summary, Summary]:
    if adding.overwrite:
        raise MisuseError("--overwrite: a stream only adds; to start over, choose another --output")
    if adding.append:
        raise MisuseError("--append: a stream always adds; drop it")
    if adding.again:
        raise MisuseError("--again: a stream reads each file once; to read it again, use a batch with another --output")
    flow = flow_of(plan, streaming, reading.input, reading.column, adding.output)
    flow = replace(
        flow,
        accept_changes=adding.accept_changes,
        new_version=adding.new_version,
        sizes=writing.sizes(),
        partition=writing.partition(plan),
    )
    _refuse_overlap(flow.source, flow.output, flow.checkpoint)
    _refuse_early(flow)
    session = Session(
        reading.out, running.master or MASTER, running.configuration(), kind_of(running.progress), adding.limits()
    )
    summary, own = run_stream(flow, streaming, session)
    if own.mostly_refused:
        from wireloom.ingest.files.other_readings import verdict_of_stream  # imported here: needs pyarrow

        note(verdict_of_stream(flow, own))
    return summary, own


def _once(
    plan: Plan, reading: Reading, adding: Adding, writing: FileWriting, streaming: Streaming, running: Running
) -> tuple[Summary, Summary]:
    refuse_stream_options(streaming)
    _refuse_unfit(adding)
    job = Job(
        plan,
        _input(reading.input),
        adding.output,
        reading.column,
        adding.overwrite,
        adding.append,
        adding.accept_changes,
        writing.sizes(),
        adding.new_version,
        writing.partition(plan),
        tuple(adding.paths or ()) if adding.again else None,
    )
    _refuse_overlap(job.source, job.output)
    if running.engine == LOCAL:
        summary = _local(job, adding.limits(), running)
    else:
        _refuse_early(job)
        with shown(kind_of(running.progress)) as watcher:
            summary = _on_spark(job, adding.limits(), running, watcher, reading.out)
    return summary, summary


def _refuse_unfit(adding: Adding) -> None:
    """Raise MisuseError if options about existing tables exclude each other."""
    for option in ("--append",) * adding.append + ("--again",) * adding.again:
        if adding.overwrite:
            raise MisuseError(f"{option} and --overwrite exclude each other")
    for option in ("--accept-changes",) * adding.accept_changes + ("--new-version",) * adding.new_version:
        if not (adding.append or adding.again):
            raise MisuseError(f"{option} needs --append, --again or --stream")
    if adding.paths and not adding.again:
        raise MisuseError(
            f"unexpected argument {adding.paths[0]}: give the input with --input; only --again takes paths"
        )


def _check_shape(framing: str | None, column: str | None) -> None:
    if framing is not None:
        framing_of(framing)
    if column is not None and framing not in (None, "none"):
        raise MisuseError("in a column or a Kafka topic, each value is one record; drop --framing")


def _refuse_overlap(source: Source, output: str, checkpoint: str = "") -> None:
    """Refuse an input and output that overlap, before Java starts."""
    with uncollected():
        from wireloom.ingest.job.overlap import refuse_overlap  # imported here: both need pyarrow
        from wireloom.ingest.ledger.ownership import refuse_within

    refuse_overlap(source, output, checkpoint)
    refuse_within(output)


def _refuse_early(work: Job | Flow) -> None:
    """Check everything that needs no Spark before Spark starts."""
    with uncollected():
        from wireloom.ingest.job.local import LocalEngine  # imported here: both need pyarrow
        from wireloom.ingest.job.preflight import check_flow, check_job

    for line in check_job(LocalEngine(1), work) if isinstance(work, Job) else check_flow(work):
        note(line)
    refuse_no_java()


def _input(path: str | None) -> str:
    if path is None:
        raise MisuseError("there is no input; name it with --input, or use --stream with --kafka or --samples")
    return path


def _local(job: Job, limits: Limits, running: Running) -> Summary:
    with uncollected():
        from wireloom.ingest.job.batch import ingest as run  # imported here: these need pyarrow
        from wireloom.ingest.job.local import begun, cores
        from wireloom.ingest.job.preflight import refuse_unwritable

    refuse_unwritable(job.output)
    # before other threads start, such as the progress display
    processes = begun(job.plan, running.processes or cores())
    with processes as engine, shown(kind_of(running.progress)) as watcher:
        return run(engine, job, note, limits, watcher)


def _on_spark(job: Job, limits: Limits, running: Running, watcher: "Watcher", out: Path) -> Summary:
    from wireloom.ingest.job.batch import ingest as run  # imported here: needs pyarrow
    from wireloom.spark.ingest.batch import SparkEngine  # needs pyspark
    from wireloom.spark.session import session

    with session((out,), running.master or MASTER, running.configuration()) as spark:
        return run(SparkEngine(spark), job, note, limits, watcher)
