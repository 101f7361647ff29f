"""`quarantine`: list the rows of a quarantine, and the error of each record."""

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.catalog import parameter_values
from wireloom.cli.commands.records.inspect import Depth, Html, show
from wireloom.cli.options import FormatOrigin, Parameters, Root
from wireloom.cli.terminal.console import note, refuse_closed_output, say, waiting
from wireloom.failures import MisuseError, unknown

if TYPE_CHECKING:
    from wireloom.ingest.quarantine.listing import Refused, Row

SHOWN = 20
"""The default number of rows to list."""


def quarantine(
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="The folder that ingest writes to, or a quarantine.")],
    code: Annotated[str | None, typer.Option("--code", metavar="CODE", help="Only rows with this error code.")] = None,
    inspect: Annotated[
        int | None, typer.Option("--inspect", metavar="N", min=0, help="Show row N as `wireloom inspect` does.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="List at most N rows.")] = SHOWN,
    depth: Depth = None,
    html: Html = None,
    root: Root = None,
    parameter: Parameters = None,
    *,
    origin: FormatOrigin,
) -> None:
    """List the records that ingest refused: how many of each error code, then the rows.

    Rows are numbered from 0, with or without --code. --inspect shows one of them byte by byte, as the current package,
    or the format in --specs, reads it. Needs no Java, and changes nothing.

    \b
    Examples:
      wireloom quarantine tables/
      wireloom quarantine tables/ --code truncated --limit 100
      wireloom quarantine tables/ --inspect 3
      wireloom quarantine tables/ --inspect 3 --html row.html
    """
    refuse_closed_output()
    if inspect is None and (html is not None or depth is not None):
        raise MisuseError("--html and --depth show one row; name it with --inspect N")
    from wireloom.ingest.quarantine.listing import Refused  # imported here: needs pyarrow

    with waiting(f"reading {output}"):
        found = Refused.of(output)
        if inspect is not None:
            row = found.row(inspect)
    if inspect is None:
        _list(found, code, limit)
        return
    _show(row, root, parameter, origin, depth=depth, html=html)


def _list(found: "Refused", code: str | None, limit: int) -> None:
    counts = found.counts()
    if not counts:
        say(f"{found.path}: the quarantine is empty")
        return
    if code is not None and code not in {each.code for each in counts}:
        raise unknown(f"error code in the quarantine of {found.path}", code, [each.code for each in counts])
    total = sum(each.count for each in counts)
    say(f"{found.path}: {total} record{'' if total == 1 else 's'} in the quarantine")
    formats = {each.format for each in counts}
    for each in counts:
        of = f" ({each.format})" if len(formats) > 1 else ""
        say(f"  {each.count:>10}  {each.code}{of}{f': {each.meaning}' if each.meaning else ''}")
    shown = 0
    for row in islice(found.rows(code), limit):
        shown += 1
        say(*_lines(row))
    wanted = sum(each.count for each in counts if code in (None, each.code))
    if shown < wanted:
        note(f"{wanted - shown} more; --limit shows more, --inspect N looks into one")


def _lines(row: "Row") -> tuple[str, str]:
    where = f" at {row.path}" if row.path else ""
    expectation = f": expected {row.expected}, found {row.actual}" if row.expected else ""
    return f"row {row.number}: {row.code}{where}, byte {row.offset}{expectation}", f"    {row.origin}, {row.size} bytes"


def _show(
    row: "Row",
    root: str | None,
    parameter: list[str] | None,
    origin: FormatOrigin,
    *,
    depth: int | None,
    html: Path | None,
) -> None:
    from wireloom.inspection.records import Found

    module = origin.module(row.format, beside=True)
    codec = module.CODEC
    codec.root(root)
    settings = codec.settings(parameter_values(module, parameter or []))
    if row.size > len(row.raw):
        note(f"row {row.number} has {row.size} bytes, but the quarantine kept only {len(row.raw)}")
    why = f"refused as {row.code}{f' at {row.path}' if row.path else ''}, byte {row.offset}"
    name = f"row {row.number} of the quarantine"
    found = Found(name, row.raw, root or codec.default_root, settings, row.number, why=why, is_alone=True)
    note(f"row {row.number} is {row.origin}")
    show(module, found, origin.folder, depth=depth, html=html)
