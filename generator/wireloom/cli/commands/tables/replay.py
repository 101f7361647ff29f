"""`replay`: decode a quarantine again, with the current package."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import (
    FRAMINGS,
    LOCAL,
    MASTER,
    OUT,
    PACKAGE,
    Drop,
    NewVersion,
    Out,
    Package,
    Parameters,
    Root,
    Workers,
    chosen,
    plan_of,
    refuse_no_java,
)
from wireloom.cli.terminal.console import say, waiting
from wireloom.failures import MisuseError
from wireloom.ingest.job.report import finished_lines, replay_lines
from wireloom.ingest.plan import DELTA_LOG, Plan, Replay
from wireloom.runtime.streams.framing import framing_of

if TYPE_CHECKING:
    from wireloom.ingest.quarantine.replay import Engine as Replays


def replay(
    quarantine: Annotated[str, typer.Argument(metavar="QUARANTINE", help="The quarantine table that ingest made.")],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="PATH", help="Folder with the records table; by default, the folder of QUARANTINE."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Format of the records; by default, that of the quarantine."),
    ] = None,
    framing: Annotated[
        str,
        typer.Option(
            "--framing",
            metavar=FRAMINGS,
            help="Split each quarantined piece into records, such as the rest of a file.",
        ),
    ] = "none",
    from_source: Annotated[
        bool,
        typer.Option(
            "--from-source", help="Read missing bytes from the original file, at the offset that the quarantine has."
        ),
    ] = False,
    resync: Annotated[
        bool, typer.Option("--resync", help="As in ingest; needs a --framing that can lose its place.")
    ] = False,
    root: Root = None,
    parameter: Parameters = None,
    drop: Drop = None,
    new_version: NewVersion = False,
    fail_on_error: Annotated[
        bool, typer.Option("--fail-on-error", help="Exit with 1 if a record is still bad.")
    ] = False,
    workers: Workers = Workers(),  # noqa: B008 - frozen
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Decode a quarantine with the current package, and move the records that decode to the records table.

    Records that are still bad stay in the quarantine, with the new error and spec digest. Records whose bytes were cut
    when they were quarantined stay unchanged (raw_size is their full size). Works for batches and for streams, also
    while the stream runs. If a replay is killed, the next one finishes it; no record is moved twice.

    \b
    Examples:
      wireloom replay tables/quarantine
      wireloom replay tables/quarantine --engine local
      wireloom replay tables/quarantine --drop no_data -p variant=legacy
      wireloom replay tables/quarantine --framing concatenated --from-source --resync
    """
    framing_of(framing)
    home = output or quarantine.rstrip("/").rpartition("/")[0] or "."
    workers.refuse_unfit()
    engine, configuration = workers.engine, workers.configuration()
    from wireloom.ingest.ledger.ownership import refuse_within  # imported here: both need pyarrow
    from wireloom.ingest.quarantine.replay import finish, formats, formats_of_batches
    from wireloom.ingest.quarantine.replay import replay as run

    def plan_for(name: str) -> Plan:
        module = chosen(name, package, out)
        module.CODEC.root(root)
        planned = plan_of(module, package, root, framing, parameter, drop)
        return replace(planned, resync=resync, from_source=from_source)

    plan = None if format is None else plan_for(format)
    refuse_within(home, of_version=True)
    if engine != LOCAL and _is_delta(quarantine):
        from wireloom.spark.ingest.delta import SETTINGS  # imported here: needs pyspark

        configuration = (*SETTINGS, *configuration)
    if engine != LOCAL:
        from wireloom.ingest.job.preflight import check_quarantine

        check_quarantine(quarantine)
        refuse_no_java()
    with waiting("Decoding"), _engine(workers, out, configuration) as replays:
        finished = tuple(finished_lines(finish(replays, quarantine)))
        found = formats(replays, quarantine)
        if not found:
            refuse_within(home, replays.storage, of_version=True)
            there = formats_of_batches(replays, quarantine)
            if there and format is not None and format not in there:
                raise MisuseError(f"the records next to {quarantine} are of {', '.join(there)}, not of {format}")
            if len(there) == 1 and (root is not None or parameter or drop):
                plan_for(there[0])
            _say((*finished, f"{quarantine} is empty; there is nothing to replay"))
            return
        plan = plan or plan_for(_only(found, quarantine))
        replayed = run(replays, Replay(plan, quarantine, home, new_version))
    _say((*finished, *replay_lines(replayed, quarantine, home)))
    if fail_on_error and replayed.summary.quarantined:
        raise typer.Exit(PROBLEMS)


def _is_delta(quarantine: str) -> bool:
    """Whether the session needs Delta. If only Spark can reach the table, --conf decides."""
    from wireloom.ingest.files.finding import reachable  # imported here: both need pyarrow
    from wireloom.ingest.files.storage import PlainStorage

    return reachable(quarantine) and PlainStorage().exists(f"{quarantine.rstrip('/')}/{DELTA_LOG}")


@contextmanager
def _engine(workers: Workers, out: Path, configuration: tuple[tuple[str, str], ...]) -> Iterator["Replays"]:
    """The engine that runs the replay."""
    if workers.engine == LOCAL:
        from wireloom.ingest.job.local import LocalEngine, cores  # imported here: these need pyarrow

        yield LocalEngine(workers.processes or cores())
        return
    from wireloom.spark.ingest.replay import SparkReplays  # imported here: these need pyspark
    from wireloom.spark.session import session

    with session((out,), workers.master or MASTER, configuration) as spark:
        yield SparkReplays(spark)


def _only(formats: tuple[str, ...], quarantine: str) -> str:
    if len(formats) > 1:
        raise MisuseError(f"{quarantine} has records of {', '.join(formats)}; replay one format at a time")
    return formats[0]


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
