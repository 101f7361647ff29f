"""`inspect`: show what every byte of a record means."""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wireloom.catalog import FormatModule, parameter_values
from wireloom.cli.files.open_files import opened
from wireloom.cli.gc_pause import uncollected
from wireloom.cli.guard import PROBLEMS
from wireloom.cli.options import Format, FormatOrigin, Framing, Parameters, Root
from wireloom.cli.terminal.console import named_output, note, refuse_closed_output, waiting
from wireloom.escapes import visible
from wireloom.failures import MisuseError, unknown
from wireloom.runtime.streams.framing import framing_of

if TYPE_CHECKING:
    from wireloom.inspection.lines import SpecLines
    from wireloom.inspection.records import Found, Wanted
    from wireloom.inspection.text import Line
    from wireloom.runtime.spans import Explained, Span

STYLES: dict[str, dict[str, object]] = {
    "head": {"bold": True},
    "dim": {"dim": True},
    "bytes": {"fg": "cyan"},
    "name": {"bold": True},
    "value": {"fg": "green"},
    "space": {"fg": "magenta"},
    "fault": {"fg": "red", "bold": True},
    "removed": {"fg": "red"},
    "added": {"fg": "green"},
}
"""The terminal style of each kind of text."""

Input = Annotated[
    str | None,
    typer.Argument(metavar="[FILE]", help="The input; - reads standard input. Not with --diff, which names two."),
]
Record = Annotated[
    int | None,
    typer.Option(
        "--record",
        metavar="N",
        min=0,
        help="Record N, as messages number it; the first is 0. By default, the first bad record, else the first.",
    ),
]
At = Annotated[
    str | None, typer.Option("--at", metavar="OFFSET", help="Only the field that has this byte of the record.")
]
Path_ = Annotated[str | None, typer.Option("--path", metavar="PATH", help="Only this field, as messages name it.")]
Depth = Annotated[int | None, typer.Option("--depth", metavar="N", min=0, help="Only N levels of fields.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for tools.")]
Diff = Annotated[
    tuple[str, str] | None,
    typer.Option("--diff", metavar="A B", help="Compare two records: files, or FILE#N for record N."),
]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="PATH", help="Write a page for a browser: one file, no network.")
]


def inspect(
    format: Format,
    file: Input = None,
    record: Record = None,
    at: At = None,
    path: Path_ = None,
    depth: Depth = None,
    diff: Diff = None,
    html: Html = None,
    as_json: AsJson = False,
    framing: Framing = None,
    root: Root = None,
    parameter: Parameters = None,
    *,
    origin: FormatOrigin,
) -> None:
    """Show what every byte of a record is: offset, length, bytes, field, value and meaning.

    Hidden fields, constants, checksums and lengths are shown, too. If the record is bad, shows all that was read before
    the fault, the byte of the fault, what was expected there, and the line of the spec. The exit code is then 1.

    Offsets count from the start of the record. What a region unpacks to has offsets of its own.

    With --specs beside --out or --package, the package reads the record, and the specs only give the line.

    \b
    Examples:
      wireloom inspect heartbeat message.bin
      wireloom inspect heartbeat events.log --record 700            the record that messages call 700
      wireloom inspect heartbeat events.log --at 41                 the field that has byte 41 of the record
      wireloom inspect heartbeat events.log --path "points[3].x"    one field, with all its bytes
      wireloom inspect heartbeat --diff good.bin events.log#700     what differs between two records
      wireloom inspect heartbeat message.bin --html record.html     a page for a browser
    """
    refuse_closed_output()
    given = {"--diff": diff, "--record": record, "--at": at, "--path": path, "--depth": depth}
    _refuse_contradiction(file, {**given, "--html": html, "--json": as_json})
    if framing is not None:
        framing_of(framing)
    module = origin.module(format, beside=True)
    from wireloom.inspection.records import Wanted

    wanted = Wanted(module, root, framing, parameter_values(module, parameter or []))
    if diff is not None:
        show_difference(wanted, diff)
    else:
        found = _record(wanted, file or "-", record)
        show(module, found, origin.folder, at=at, path=path, depth=depth, html=html, as_json=as_json)


def _refuse_contradiction(file: str | None, given: dict[str, object]) -> None:
    """Raise MisuseError if two of the given options exclude each other."""
    options = {name for name, value in given.items() if value not in (None, False)}
    if "--diff" not in options and file is None:
        raise MisuseError("FILE is missing: name a file of records, or - for standard input")
    if "--diff" in options and file is not None:
        raise MisuseError(f"--diff names both records; drop {file}")
    for first, others, message in _APART:
        if first in options and (found := [each for each in others if each in options]):
            raise MisuseError(f"{message}; leave out {' and '.join(found)}")


_APART = (
    ("--diff", ("--record",), "--diff names records as FILE#N"),
    ("--diff", ("--at", "--path", "--depth"), "--diff compares whole records"),
    ("--diff", ("--html", "--json"), "--diff prints text"),
    ("--html", ("--json",), "--html writes a page"),
    ("--html", ("--at", "--path", "--depth"), "--html writes a page of the whole record, which folds and searches"),
    ("--json", ("--depth",), "--json prints all levels"),
    ("--at", ("--path",), "--at names a field"),
)
"""Options, the options that they exclude, and the reason."""


def _record(wanted: "Wanted", name: str, number: int | None) -> "Found":
    from wireloom.inspection import records

    for file in opened([name]):
        with waiting(f"reading {file.name}"):
            return records.record(wanted, file.name, file.source, number)
    raise MisuseError(f"{name} has no files")


def explained(module: FormatModule, found: "Found") -> "Explained":
    """Explain every byte of a record."""
    with waiting(f"reading record {found.index}"), uncollected():
        return module.CODEC.explain_bytes(found.data, root=found.root, **found.parameters)


def summarized(module: FormatModule, found: "Found", path: str | None) -> "Explained":
    """The same for a terminal: long lists are folded, except for elements on the given path."""
    indices = frozenset(int(each) for each in re.findall(r"\[(\d+)\]", path or ""))
    with waiting(f"reading record {found.index}"), uncollected():
        return module.CODEC.summarize_bytes(found.data, found.root, found.parameters, indices)


def show(
    module: FormatModule,
    found: "Found",
    specs: Path,
    *,
    at: str | None = None,
    path: str | None = None,
    depth: int | None = None,
    html: Path | None = None,
    as_json: bool = False,
) -> None:
    """Print an explained record, or write its page. Exits with 1 if the record is bad."""
    from wireloom.inspection import text
    from wireloom.inspection.rows import fault_of

    is_whole = html is not None or as_json or at is not None
    known = explained(module, found) if is_whole else summarized(module, found, path)
    span, lines = _span(known, at, path), cache(lambda: _spec_lines(specs, module))
    fault = None if known.error is None else fault_of(known, lines())
    if html is not None:
        from wireloom.inspection.page import page

        _write_page(html, lambda: page(module, found, known, fault, lines()))
    elif as_json:
        from wireloom.inspection.document import document

        echo((((json.dumps(document(found, known, fault, lines(), span), ensure_ascii=True), ""),),))
    else:
        is_one = span is not known.span
        view = text.View(span, depth, whole=is_one)
        echo((((text.summary(found, module.FORMAT), ""),),))
        echo(text.lines(known, fault, view))
    if fault is not None:
        raise typer.Exit(PROBLEMS)


def _spec_lines(specs: Path, module: FormatModule) -> "SpecLines":
    """The lines of the spec of a module. Loading them imports the spec language, so only bad records need it."""
    from wireloom.inspection.lines import SpecLines

    return SpecLines(specs, module.FORMAT)


def _span(known: "Explained", at: str | None, path: str | None) -> "Span":
    """The span at the offset or path that the user asked for; raises MisuseError if the record has none."""
    if at is not None:
        return _span_at(known, at)
    if path is None:
        return known.span
    from wireloom.inspection.rows import paths

    span = known.find(path)
    if span is None:
        raise unknown("path of this record", path, dict.fromkeys(paths(known)))
    return span


def _span_at(known: "Explained", at: str) -> "Span":
    try:
        offset = int(at, 0)
    except ValueError:
        raise MisuseError(
            f"--at {at}: write a number of bytes from the start of the record, such as 41 or 0x29"
        ) from None
    found = known.at(offset) if offset >= 0 else None
    if found is None:
        size = len(known.data)
        raise MisuseError(
            f"--at {at}: the record has {size} bytes, numbered 0 to {size - 1}"
            if size
            else f"--at {at}: the record is empty"
        )
    from wireloom.inspection.rows import chain

    if found.kind in ("unread", "ignored"):
        return found
    around = chain(known.span, found)
    named: Span = next(span for span in reversed(around) if span.path or span is known.span)
    return named


def _write_page(path: Path, write: Callable[[], str]) -> None:
    from wireloom.cli.commands.records.transcode import opened_output

    if path.is_dir():
        raise MisuseError(f"--html {path} is a folder; name a file")
    with waiting(f"writing {path}"), opened_output(path) as target:
        target.write(write().encode())
    note(f"wrote {path}")


def show_difference(wanted: "Wanted", names: tuple[str, str]) -> None:
    """Print the difference between two records; exits with 1 if they differ."""
    from wireloom.inspection import difference

    sides = []
    for name in names:
        file, mark, number = name.rpartition("#")
        if mark and number.isdecimal() and not Path(name).exists():
            sides.append((name, _record(wanted, file, int(number))))
        else:
            sides.append((name, _record(wanted, name, 0)))
    left, right = (explained(wanted.module, found) for _, found in sides)
    echo(difference.lines((sides[0][0], sides[1][0]), left, right))
    if left.data != right.data:
        raise typer.Exit(PROBLEMS)


def echo(lines: "Iterable[Line]") -> None:
    """Print lines, in colours on a terminal; control characters are escaped."""
    with named_output():
        for line in lines:
            typer.echo("".join(_styled(visible(text), style) for text, style in line))


def _styled(text: str, style: str) -> str:
    return typer.style(text, **STYLES[style]) if style and text else text  # type: ignore[arg-type]
