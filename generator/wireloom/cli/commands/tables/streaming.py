"""`ingest --stream`: make a stream from options, run it, and show its progress."""

import math
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.catalog import open_format, open_package
from wireloom.cli.commands.tables.ingest_options import source_option
from wireloom.cli.options import SPECS, Specs, one_of
from wireloom.cli.terminal.console import CLEAR, clear, note, waiting
from wireloom.cli.terminal.job_progress import BAR, INTERVAL, LINE, NONE
from wireloom.failures import MisuseError
from wireloom.ingest.job.amount_texts import size_text
from wireloom.ingest.job.limits import Limits
from wireloom.ingest.job.metrics import Book, Lines, Listener
from wireloom.ingest.plan import NOTHING, Column, Files, Flow, Kafka, Plan, Samples, Source, Summary

if TYPE_CHECKING:
    from types import FrameType

    from wireloom.demo.samples import Samples as Made
    from wireloom.ingest.ledger.entries import Entry

TABLE_FORMATS = ("parquet", "delta")


@dataclass(frozen=True, slots=True)
class Streaming:
    """Options of streams."""

    stream: Annotated[bool, typer.Option("--stream", help="Keep reading new input, batch by batch (see above).")] = (
        False
    )
    kafka: Annotated[str | None, typer.Option("--kafka", metavar="HOST:PORT,...", help="Stream from Kafka.")] = None
    topic: Annotated[list[str] | None, typer.Option("--topic", metavar="NAME", help="A topic; may be repeated.")] = None
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples", metavar="RATE", min=1, help="Stream RATE sample records a second, without any source."
        ),
    ] = None
    specs: Specs = SPECS
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint", metavar="PATH", help="Folder of the stream's progress; by default OUTPUT/_checkpoint."
        ),
    ] = None
    trigger: Annotated[
        str | None,
        typer.Option(
            "--trigger",
            metavar="once|available-now|INTERVAL",
            help="Read what is there and end, or start a batch every '10 seconds'; by default, without pause.",
        ),
    ] = None
    max_per_batch: Annotated[
        int | None,
        typer.Option("--max-per-batch", metavar="N", min=1, help="At most N Kafka messages, or files, in one batch."),
    ] = None
    source_option: Annotated[
        list[str] | None,
        typer.Option("--source-option", metavar="NAME=VALUE", help="An option of Spark's source; may be repeated."),
    ] = None
    metrics: Annotated[
        Path | None,
        typer.Option(
            "--metrics",
            metavar="FILE",
            dir_okay=False,
            help="Write a line of JSON for each batch here; by default, to stderr.",
        ),
    ] = None
    table_format: Annotated[
        str, typer.Option("--table-format", metavar="parquet|delta", help="Format of the tables; delta needs --stream.")
    ] = "parquet"


def refuse_stream_options(asked: Streaming) -> None:
    """Raise MisuseError if an option of streams is given without --stream."""
    given = {
        "--kafka": asked.kafka,
        "--topic": asked.topic,
        "--samples": asked.samples,
        "--checkpoint": asked.checkpoint,
        "--trigger": asked.trigger,
        "--max-per-batch": asked.max_per_batch,
        "--source-option": asked.source_option,
        "--metrics": asked.metrics,
    }
    named = [name for name, value in given.items() if value]
    if named:
        raise MisuseError(f"{named[0]} is for streams; add --stream (--trigger available-now ends with what is there)")
    if asked.table_format != "parquet":
        raise MisuseError(f"--table-format {asked.table_format}: without --stream, it must be parquet")


def flow_of(plan: Plan, asked: Streaming, input: str | None, column: str | None, output: str) -> Flow:
    """The stream that the options describe; raises MisuseError if they contradict each other."""
    one_of("--table-format", asked.table_format, TABLE_FORMATS)
    plan, source = _source(plan, asked, input, column)
    options = tuple(source_option(source, text) for text in asked.source_option or ())
    return Flow(
        plan,
        source,
        output,
        asked.checkpoint or "",
        asked.trigger,
        asked.table_format,
        options=(*_limit(source, asked.max_per_batch), *options),
    )


def _source(plan: Plan, asked: Streaming, input: str | None, column: str | None) -> tuple[Plan, Source]:
    """The plan and the source of records. Samples with a header add the parameters that the header states."""
    given = {"--input": input, "--kafka": asked.kafka, "--samples": asked.samples}
    named = [name for name, value in given.items() if value]
    if len(named) != 1:
        found = " and ".join(named) or "nothing"
        raise MisuseError(f"a stream has one source: --input, --kafka or --samples; you gave {found}")
    if asked.topic and asked.kafka is None:
        raise MisuseError("--topic needs --kafka HOST:PORT with the brokers")
    if column is not None and input is None:
        raise MisuseError("--column is for --input of Parquet files")
    if asked.kafka is not None:
        if not asked.topic:
            raise MisuseError("--kafka needs a --topic")
        return plan, Kafka(asked.kafka, tuple(name for text in asked.topic for name in text.split(",")))
    if asked.samples is not None:
        made = _samples(plan, asked.specs)
        plan = replace(plan, parameters=tuple({**made.said, **dict(plan.parameters)}.items()))
        return plan, Samples(asked.samples, (*made.good, *made.damaged))
    path = input or ""
    return plan, Files(path) if column is None else Column(path, column)


def _samples(plan: Plan, specs: Path) -> "Made":
    """Samples of the format, made from its spec."""
    if not specs.is_dir():
        raise MisuseError(f"samples are made from the specs, but there is no folder {specs}; name it with --specs")
    from wireloom import pipeline  # imported here: executors may lack the generator's libraries
    from wireloom.demo.samples import samples

    found = {format.name: format for format in pipeline.formats(specs)}
    if plan.format not in found:
        raise MisuseError(f"{specs} has no spec of {plan.format} to make samples from")
    package, _, name = plan.module.rpartition(".")
    return samples(found[plan.format], open_format(open_package(package, specs), name))


def _limit(source: Source, most: int | None) -> tuple[tuple[str, str], ...]:
    """Spark's option for the size limit of a batch, if there is one."""
    if most is None:
        return ()
    match source:
        case Kafka():
            return (("maxOffsetsPerTrigger", str(most)),)
        case Files() | Column():
            return (("maxFilesPerTrigger", str(most)),)
        case Samples():
            raise MisuseError(
                "--max-per-batch: samples come at their own rate, so a batch has those of one --trigger interval"
            )


@dataclass(frozen=True, slots=True)
class Session:
    """How a stream runs: package folder, Spark master and configuration, progress display, limits."""

    out: Path
    master: str
    configuration: tuple[tuple[str, str], ...]
    progress: str
    limits: Limits


def run_stream(flow: Flow, asked: Streaming, on: Session) -> tuple[Summary, Summary]:
    """Run the stream until it ends, or until SIGINT or SIGTERM stops it.

    Returns the sums of all batches and of this run's.
    """
    from wireloom.spark.ingest.delta import SETTINGS  # imported here: these need pyspark
    from wireloom.spark.ingest.stream import stream
    from wireloom.spark.session import session

    starting = ExitStack()
    listener = _listener(on.progress, asked.metrics, starting)
    if asked.metrics is not None:
        listener = Both(Book(asked.metrics), listener)
    own = Tally()
    listener = Both(own, listener)
    configuration = on.configuration
    if flow.table_format == "delta":
        configuration = (*configuration, *SETTINGS)
    starting.enter_context(waiting("Starting the stream"))
    with starting, session((on.out,), on.master, configuration) as spark, _stopping() as stopping:
        try:
            return stream(spark, flow, listener, stopping, on.limits), own.sum
        finally:
            if on.progress == BAR:
                note("")  # end the progress line


def _listener(progress: str, metrics: Path | None, starting: ExitStack) -> Listener:
    """The listener that shows progress. In a log, it writes the metrics unless they go to a file."""
    if progress == BAR:
        return Progress(starting)
    if progress == LINE and metrics is None:
        return Lines(sys.stderr)
    return Sums(math.inf if progress == NONE else INTERVAL)


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets. A second signal has its default effect."""
    stopping = threading.Event()

    def stop(number: int, _frame: "FrameType | None") -> None:
        stopping.set()
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Progress(Listener):
    """Shows the last batch on one line of a terminal.

    `starting` is the spinner of the start, closed by the first batch.
    """

    def __init__(self, starting: ExitStack) -> None:
        self._sum, self._starting = NOTHING, starting

    def resumed(self, stream: str, entries: "Iterable[Entry]") -> None:  # noqa: ARG002 - a Listener's
        """Say after which batch the stream continues."""
        self._starting.close()
        last = max((entry.number for entry in entries), default=-1)
        note(f"continuing after batch {last}")

    def noted(self, line: str) -> None:
        """Print a line above the progress line."""
        clear()
        note(line)

    def wrote(self, stream: str, entry: "Entry") -> None:  # noqa: ARG002 - a Listener's
        """Show a batch that was written."""
        self._starting.close()
        self._sum += entry.summary
        rate = entry.summary.records / entry.seconds if entry.seconds else 0
        text = f"batch {entry.number}: {entry.summary.records:,} records in {entry.seconds:.1f} s ({rate:,.0f}/s)"
        bad = f"{self._sum.records:,} so far, {self._sum.quarantined:,} quarantined"
        line = f"{text}; {bad}"[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"{CLEAR}{line}")
        sys.stderr.flush()


@dataclass(slots=True)
class Sums(Listener):
    """Prints the totals of this run after a batch, at most once per `interval` seconds."""

    interval: float
    _sum: Summary = NOTHING
    _told: float = field(default_factory=time.monotonic)

    def noted(self, line: str) -> None:
        """Print a line."""
        note(line)

    def wrote(self, stream: str, entry: "Entry") -> None:  # noqa: ARG002 - a Listener's
        """Add a batch that was written."""
        self._sum += entry.summary
        if time.monotonic() - self._told >= self.interval:
            self._told = time.monotonic()
            bad = f"{self._sum.quarantined} quarantined"
            note(f"batch {entry.number}: {self._sum.records} records ({size_text(self._sum.size)}) so far, {bad}")


@dataclass(slots=True)
class Tally(Listener):
    """Adds up the batches of this run."""

    sum: Summary = NOTHING

    def wrote(self, stream: str, entry: "Entry") -> None:  # noqa: ARG002 - a Listener's
        """Add a batch that was written."""
        self.sum += entry.summary


@dataclass(frozen=True, slots=True)
class Both(Listener):
    """Passes each event to two listeners."""

    first: Listener
    second: Listener

    def resumed(self, stream: str, entries: "Iterable[Entry]") -> None:
        """Tell both."""
        entries = tuple(entries)
        self.first.resumed(stream, entries)
        self.second.resumed(stream, entries)

    def noted(self, line: str) -> None:
        """Tell both."""
        self.first.noted(line)
        self.second.noted(line)

    def wrote(self, stream: str, entry: "Entry") -> None:
        """Tell both."""
        self.first.wrote(stream, entry)
        self.second.wrote(stream, entry)
