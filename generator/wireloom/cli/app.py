"""The program `wireloom` and its commands. The module of a command is imported when the command is used."""

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from wireloom import __version__
from wireloom.cli import gc_pause
from wireloom.cli.grouping import ungrouped
from wireloom.cli.guard import Guarded
from wireloom.cli.option_presence import Stated

COMMANDS = {
    "generate": ("specs.generate", "Generate the package from the specs."),
    "test": ("specs.test", "Run the examples in the specs."),
    "lint": ("specs.lint", "Show mistakes, risks and missing documentation in specs."),
    "compat": ("specs.compat", "Show what a change to specs breaks: data, tables, documents, programs."),
    "docs": ("project.docs", "Make a site that describes the formats."),
    "formats": ("specs.generate", "List formats, their entry points and parameters."),
    "explain": ("specs.explain", "Show which formats run on the native engine, and why others do not."),
    "decode": ("records.transcode", "Decode records to lines of JSON."),
    "inspect": ("records.inspect", "Show what every byte of a record means, and where a bad record is wrong."),
    "serve": ("specs.serve", "Edit a spec in a browser, and see records decode."),
    "encode": ("records.transcode", "Encode lines of JSON to records."),
    "validate": ("records.validate", "Check every record, and list its problems."),
    "convert": ("records.convert", "Convert records to another format with the same columns."),
    "ingest": ("tables.ingest", "Decode files or streams into tables."),
    "status": ("tables.status", "Show the tables of an ingest, its running jobs and its failures."),
    "clean": ("tables.status", "Remove the staged files that killed jobs left behind."),
    "quarantine": ("tables.quarantine", "List the records in a quarantine, or show one byte by byte."),
    "replay": ("tables.replay", "Decode a quarantine again, with the current specs."),
    "package": ("project.package", "Make a wheel and a zip of the generated package."),
    "drift": ("records.drift", "Compare a spec with real records."),
    "vectors": ("specs.vectors", "Write test vectors, to test other readers and writers with."),
    "demo": ("project.demo", "Try it: decode sample records of every format."),
    "doctor": ("project.doctor", "Check that this machine has everything that Wireloom needs."),
    "import": ("specs.import_", "Make a spec from a .ksy, .proto or .avsc file."),
    "export": ("specs.export", "Describe a format as a .ksy, .proto or .avsc file."),
    "new": ("project.new", "Start a spec, a project, or a Spark pipeline."),
}
"""For each command: its module below `cli/commands`, and its line in the list of commands."""

EXIT_CODES = """\b
Exit codes:
  0  done
  1  specs or data have problems, or a check failed
  2  the command was wrong
  3  something is missing or broken on this machine (see `wireloom doctor`)
  4  more data is bad than --fail-above or --max-quarantine allow; nothing is lost
  5  ingest: most records are bad; they are in the quarantine
  130  interrupted (Ctrl-C)

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


class Program(Guarded):
    """The group of all commands; imports the module of a command when it is asked for."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - as typer has it
        super().__init__(**given)
        self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002
        """Import and return the command of that name."""
        if cmd_name in COMMANDS and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _command(cmd_name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(
    name="wireloom",
    cls=Program,
    help="Wireloom generates codecs from YAML specs of wire formats, and runs them.",
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Wireloom generates codecs from YAML specs of wire formats, and runs them."""


def _command(name: str) -> Any:  # noqa: ANN401 - typer's own
    """Import a command, with its examples moved below the options in its help; or a group of commands."""
    module = import_module(f"wireloom.cli.commands.{COMMANDS[name][0]}")
    functions = getattr(module, "COMMANDS", None)
    if functions is None:
        group, functions = typer.Typer(rich_markup_mode=None, add_completion=False), (getattr(module, name),)
    else:
        cls = getattr(module, "GROUP", TyperGroup)
        group = typer.Typer(
            cls=cls, no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=module.HELP
        )
    for function in functions:
        description, _, examples = (function.__doc__ or "").partition("\b")
        group.command(cls=Stated, help=description, epilog=f"\b{examples}")(ungrouped(function))
    command = typer.main.get_command(group)
    command.name = name
    gc_pause.begin()
    return command
