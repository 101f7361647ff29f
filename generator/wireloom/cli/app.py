"""The program `wireloom` and its commands."""

from collections.abc import Callable
from typing import Annotated

import typer

from wireloom import __version__
from wireloom.cli.beginnings import new, pipeline, spec
from wireloom.cli.bundling import package
from wireloom.cli.converting import convert
from wireloom.cli.demonstration import demo
from wireloom.cli.examination import doctor
from wireloom.cli.explaining import explain
from wireloom.cli.generation import formats, generate
from wireloom.cli.grouping import ungrouped
from wireloom.cli.guard import Guarded
from wireloom.cli.ingestion import ingest
from wireloom.cli.replaying import replay
from wireloom.cli.standing import clean, status
from wireloom.cli.transcoding import decode, encode
from wireloom.cli.trying import test
from wireloom.cli.validating import validate

EXIT_CODES = """\b
Exit codes:
  0  done
  1  problems found, in specs or data or by a check
  2  the call was wrong
  3  something is missing or broken on this machine (see `wireloom doctor`)
  4  more is bad than --fail-above or --max-quarantine allow; nothing is lost

\b
Examples:
  wireloom demo                               see it work
  wireloom new heartbeat                      start a spec of your own
  wireloom generate                           specs/ -> generated/
  wireloom test                               do the specs' examples hold?
  wireloom decode heartbeat message.bin       bytes -> JSON lines
  wireloom validate heartbeat events.log      what is wrong with which record?
  wireloom ingest --format heartbeat --input landing/ --output tables/
"""

app = typer.Typer(
    name="wireloom",
    cls=Guarded,
    help="Wireloom: one YAML spec in; parser, schemas, Spark columns and documents out.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer passes the value of the option
    if wanted:
        typer.echo(f"wireloom {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Wireloom: one YAML spec in; parser, schemas, Spark columns and documents out."""


def _add(to: typer.Typer, *commands: Callable[..., None]) -> None:
    """Commands, the examples of each below its options."""
    for command in commands:
        description, _, examples = (command.__doc__ or "").partition("\b")
        to.command(help=description, epilog=f"\b{examples}")(ungrouped(command))


_add(app, generate, test, formats, explain)
app.add_typer(new, name="new", help="Start a spec, or a pipeline of Spark; `new NAME` starts a spec.")
_add(new, spec, pipeline)
_add(app, decode, encode, validate, convert, ingest, status, clean, replay, package, demo, doctor)
