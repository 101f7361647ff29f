"""`new`: start a spec, a project, or a pipeline."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wireloom import scaffold
from wireloom.cli.options import OUT, PACKAGE, SPECS, Out, Package, Specs, chosen, refuse_no_way
from wireloom.cli.terminal.console import note, say
from wireloom.failures import MisuseError
from wireloom.project import Project
from wireloom.scaffold import Encoding

SPEC, PIPELINE = "spec", "pipeline"

EncodingOption = Annotated[
    Encoding, typer.Option("--encoding", help="How the values of a record are written, one after another.")
]


class NameOrKind(TyperGroup):
    """The group of `new`.

    A first word that is no subcommand is the name of a spec: `new heartbeat` is `new spec heartbeat`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as typer has it
        """Insert `spec` before the arguments if they name no subcommand."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [SPEC, *args]
        return super().parse_args(ctx, args)


def spec(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The format's id: lower case, digits and underscores.")],
    encoding: EncodingOption = "binary",
    specs: Specs = SPECS,
) -> None:
    """Start a spec: a small one that already works, with examples, to be changed into yours.

    `wireloom new NAME` is short for it.

    \b
    Examples:
      wireloom new heartbeat                           writes specs/heartbeat/heartbeat.yaml
      wireloom new heartbeat && wireloom generate
      wireloom new heartbeat --encoding protobuf       the same of a protobuf message
    """
    refuse_no_way("--specs", specs)
    path = scaffold.create(name, specs, encoding)
    say(f"wrote {path}")
    say("next: edit it, then `wireloom generate`")


def pipeline(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="The pipeline's folder, which is made.")],
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="A format of the package.")],
    source: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="kafka|parquet|files",
            help="Where records come from: a topic, a binary column `value`, or files of one record each.",
        ),
    ] = "kafka",
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Start a Declarative Pipeline of Spark: a project that `spark-pipelines run` can run unchanged.

    Three tables: bronze (raw records), silver (good records, decoded), quarantine (bad records, with their bytes and
    the reason). Every record of bronze is in exactly one of the other two.

    \b
    Examples:
      wireloom new pipeline heartbeats --format heartbeat
      wireloom new pipeline heartbeats --format heartbeat --source parquet
      cd heartbeats && spark-pipelines run --conf spark.sql.catalogImplementation=hive
    """
    from wireloom import medallion  # imported here: needs jinja2

    refuse_no_way("NAME", name.parent)
    for path in medallion.create(name, package, chosen(format, package, out), source):
        say(f"wrote {path}")
    note(f"next: read {name / 'README.md'}, which says how to run it")


def project(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The project's folder, which is made, and its first format.")
    ],
    encoding: EncodingOption = "binary",
) -> None:
    """Start a project of your own: a folder with a first spec, and a package of its own name made from it.

    Commands that run in the folder find the package by themselves. Programs can import it after it is installed, with
    the command in the last line of the output.

    \b
    Examples:
      wireloom new project heartbeat                   makes heartbeat/ with specs and the package heartbeat_formats
      wireloom new project heartbeat --encoding json   the same, and the first spec is of JSON messages
    """
    from wireloom import pipeline as stages  # imported here: needs jinja2 and yaml

    home = Path(name)
    if home.exists():
        raise MisuseError(f"{home} exists; choose another name")
    path = scaffold.create(name, home / "specs", encoding)
    made = Project(home / "specs", home / "generated", f"{name}_formats")
    stages.generate(made)
    say(f"wrote {path}")
    say(f"wrote {made.out / made.package}, the package {made.package}")
    note(f"next: cd {name}, edit the spec, `wireloom generate`; programs import {made.package} after")
    note("      pip install --editable ./generated")


COMMANDS = (spec, pipeline, project)
HELP = "Start a spec, a project of your own, or a pipeline of Spark; `new NAME` starts a spec."
GROUP = NameOrKind
