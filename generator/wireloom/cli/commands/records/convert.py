"""`convert`: convert records of one format to another."""

from pathlib import Path
from typing import Annotated

import typer

from wireloom.catalog import parameter_values
from wireloom.cli.commands.records.transcode import (
    Target,
    called,
    opened_input,
    opened_output,
    refuse_target,
    request_of,
)
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import FormatOrigin, Framing, Parameters, Root, listed
from wireloom.cli.terminal.console import complain, note, say
from wireloom.failures import MisuseError
from wireloom.records.converting import Refused, Tally
from wireloom.records.converting import convert as converted
from wireloom.records.transcode import beginning
from wireloom.runtime.conversion import conversion

From = Annotated[str, typer.Option("--from", metavar="FORMAT", help="The format of the input.")]
To = Annotated[str, typer.Option("--to", metavar="FORMAT", help="The format of the output.")]
Optionally = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="The input; - reads standard input.", allow_dash=True, dir_okay=False),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse records that would lose a value.")]
MayLose = Annotated[
    list[str] | None,
    typer.Option("--may-lose", metavar="PATH,...", help="Members that a record may lose with --strict."),
]
Explained = Annotated[bool, typer.Option("--explain", help="Show what will be lost, and convert nothing.")]
ToFraming = Annotated[
    str | None,
    typer.Option("--to-framing", metavar="FRAMING", help="The framing of the output; by default, as in its spec."),
]
ToRoot = Annotated[str | None, typer.Option("--to-root", metavar="NAME", help="Entry point of the output's format.")]
ToParameters = Annotated[
    list[str] | None, typer.Option("--to-parameter", metavar="NAME=VALUE", help="A parameter of the output's format.")
]


def convert(
    source: From,
    target: To,
    file: Optionally = None,
    output: Target = None,
    strict: Strict = False,
    may_lose: MayLose = None,
    explain: Explained = False,
    framing: Framing = None,
    to_framing: ToFraming = None,
    root: Root = None,
    to_root: ToRoot = None,
    parameter: Parameters = None,
    to_parameter: ToParameters = None,
    *,
    origin: FormatOrigin,
) -> None:
    """Convert records of one format to another with columns of the same names.

    --explain shows which columns match, and what will be lost. Members without a place in the output are left out, and
    counted on standard error. Derived members that converting back would restore do not count as lost. Records that the
    output cannot express are reported there, too, and make the exit code 1. If no record can be converted, no output is
    written, and an existing file stays.

    \b
    Examples:
      wireloom convert --from one_encoding --to other_encoding --explain
      wireloom convert --from one_encoding --to other_encoding events.bin -o events.jsonl
      wireloom convert --from one_encoding --to other_encoding events.bin --strict --may-lose checksum -o events.jsonl
    """
    if may_lose and not strict:
        raise MisuseError("--may-lose needs --strict")
    request = request_of(origin.module(source), root, framing, parameter)
    goal = origin.module(target)
    chosen_framing = goal.CODEC.framing_of(goal.CODEC.root(to_root), to_framing)
    begun, settings = beginning(goal.CODEC, chosen_framing, parameter_values(goal, to_parameter or []))
    plan = conversion(
        request.module,
        goal,
        root=root,
        target_root=to_root,
        parameters=request.parameters,
        target_parameters=settings,
        strict=strict,
        may_lose=listed(may_lose),
    )
    if explain:
        for line in plan.explain():
            say(line)
        return
    if file is None:
        raise MisuseError("name the file to convert, or - for standard input")
    refuse_target(output, file, binary=goal.ENCODING != "json")
    tally = Tally()
    with opened_input(file) as data, opened_output(output) as written:
        written.write(begun)
        for each in converted(plan, request, chosen_framing, data, tally):
            if isinstance(each, Refused):
                complain(f"record {each.index}, at byte {each.offset} of {called(file)}: {each.reason}")
            else:
                written.write(each)
        if tally.refused and not tally.converted:
            _print_tally(tally)
            raise typer.Exit(PROBLEMS)  # raised inside `with`, so that an existing output stays as it was
    _print_tally(tally)
    if tally.refused:
        raise typer.Exit(PROBLEMS)


def _print_tally(tally: Tally) -> None:
    noun = "record" if tally.converted == 1 else "records"
    note(f"{tally.converted} {noun} converted, {tally.refused} not")
    for path, count in sorted(tally.lost.items(), key=lambda entry: (-entry[1], entry[0])):
        note(f"  {path} is lost in {count}")
    for line in tally.slow():
        note(line)
