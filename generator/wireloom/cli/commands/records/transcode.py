"""`decode`, `encode`: convert records to lines of canonical JSON, and back."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from wireloom.catalog import FormatModule, parameter_values
from wireloom.cli.files.sinks import OPEN, form_of, sink
from wireloom.cli.guard import BROKEN, PROBLEMS
from wireloom.cli.options import (
    Format,
    FormatOrigin,
    Framing,
    Parameters,
    Root,
    Source,
    listed,
    one_of,
)
from wireloom.cli.terminal.console import STANDARD_OUTPUT, complain, note, refuse_closed_output
from wireloom.cli.terminal.record_counter import end_progress, progress
from wireloom.failures import MisuseError
from wireloom.records import transcode
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams.framing import framing_of
from wireloom.runtime.streams.framing_guess import HEAD

if TYPE_CHECKING:
    from wireloom.runtime.streams.parts import DecodedPart

OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="stop|skip",
        help="At a bad record: stop, or skip it if its end is known (see --resync). "
        "The records before it are printed either way.",
    ),
]
Decoded = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Output file: .jsonl, .parquet or .arrow (Arrow IPC), with a row for each record, also if the root has "
        "`rows` (`ingest` makes those). By default, JSON to standard output.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="NAME,...", help="Only these columns, or members of them such as key.id."),
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="Stop after N records, bad ones included.")
]
Record = Annotated[
    int | None,
    typer.Option("--record", metavar="N", min=0, help="Only record N, as messages number it; the first is 0."),
]
Skip = Annotated[int | None, typer.Option("--skip", metavar="N", min=0, help="Skip the first N records.")]
Resync = Annotated[
    bool,
    typer.Option(
        "--resync",
        help="After a bad record whose end is unknown, search for the next record by a checksum or constant. "
        "`decode` also needs --on-error skip.",
    ),
]
Target = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file; by default, standard output.")
]


def decode(
    format: Format,
    file: Source,
    output: Decoded = None,
    columns: Columns = None,
    limit: Limit = None,
    record: Record = None,
    skip: Skip = None,
    framing: Framing = None,
    on_error: OnError = "stop",
    resync: Resync = False,
    root: Root = None,
    parameter: Parameters = None,
    *,
    origin: FormatOrigin,
) -> None:
    """Decode records and print each as one line of JSON.

    The JSON keeps every value: bytes are base64, 128-bit integers are decimal text, alternatives and values of any type
    are tagged with their type, and missing members are omitted.

    Each bad record is reported on standard error with code, path and byte offset, and the exit code is 1. The file may
    be larger than memory.

    \b
    Examples:
      wireloom decode kind_of_event message.bin
      wireloom decode kind_of_event events.log --framing concatenated --on-error skip
      wireloom decode kind_of_event events.log --on-error skip --resync     go on after damage
      wireloom decode kind_of_event events.log --columns key.id,time        these columns alone
      wireloom decode kind_of_event events.log --skip 1000 --limit 10       records 1000 to 1009
      wireloom decode kind_of_event events.log --record 700                 the record that messages call 700
      wireloom decode kind_of_event events.log -o events.parquet
      wireloom decode kind_of_event message.bin --specs mine                without a generated package
      cat message.bin | wireloom decode kind_of_event - -p byteOrder=little | jq .
    """
    policy = "stop" if on_error == "raise" else on_error  # a command raises by stopping with exit code 1
    one_of("--on-error", policy, ("stop", "skip"))
    form = form_of(output)
    selection = _selection(columns, limit, record, skip, policy, resync=resync)
    if output is None:
        refuse_closed_output("; give --output FILE")
    request = request_of(origin.module(format), root, framing, parameter)
    refuse_target(output, file, binary=False)
    tally, failed, left = transcode.Tally(), 0, False
    with opened_input(file) as source, opened_output(output) as target:
        likely = likely_framing(request, file, source)
        with sink(form, target, request, selection.columns) as write:
            for piece in transcode.decode(request, source, selection, tally, OPEN[form]):
                for part, bad in _between(piece):
                    write(part)
                    if bad is not None:
                        failed += 1
                        target.flush()
                        complain(f"record {bad[0]}, at byte {bad[1]} of {called(file)}: {bad[2]}")
                left = not piece.part.rest
                progress(tally.records, failed, quiet=output is None)
    end_progress(quiet=output is None)
    if failed and policy == "stop" and left:
        ways_out = "--on-error skip continues after it; `wireloom inspect` shows its bytes"
        note(f"{called(file)}: stopped at the first bad record; {ways_out}")
    for line in (tally.given_up.line(called(file), remedy_of(request)), tally.slow()):
        if line:
            note(line)
    if not tally.records and (limit, skip, record) == (None, None, None):
        note(f"{called(file)} has no records")
    if record is not None and tally.records <= record:
        raise MisuseError(f"{called(file)} has no record {record}; it has {tally.records}, numbered from 0")
    if likely is not None:
        note(f"{called(file)} looks like {likely}: use --framing {likely}")
    if failed and (kind := compression(file)) is not None:
        ways = "decompress it first, or use `validate`, `inspect` or `ingest`, which decompress"
        note(f"{called(file)} is compressed with {kind}, and was read as it is; {ways}")
    if failed:
        raise typer.Exit(PROBLEMS)


def _selection(
    columns: list[str] | None,
    limit: int | None,
    record: int | None,
    skip: int | None,
    on_error: str,
    *,
    resync: bool,
) -> transcode.Selection:
    """The selection that the options describe; raises MisuseError if they contradict each other."""
    if record is not None and (limit is not None or skip is not None):
        raise MisuseError("--record excludes --skip and --limit; drop those, or use --skip N --limit 1")
    if record is not None:
        skip, limit = record, 1
    return transcode.Selection(listed(columns) or None, skip or 0, limit, on_error, resync)


def _between(piece: transcode.Piece) -> Iterator[tuple["DecodedPart", tuple[int, int, DecodeError] | None]]:
    """Split a piece at its bad records.

    Each item has good records, and the number, offset and error of the bad record after them; None after the last ones.
    """
    part, start = piece.part, 0
    for place, error in piece.errors.items():
        yield part.between(start, place), (part.first + place, part.offsets[place].as_py(), error)
        start = place + 1
    yield part.between(start, len(part.offsets)), None


def encode(
    format: Format,
    file: Source,
    output: Target = None,
    framing: Framing = None,
    root: Root = None,
    parameter: Parameters = None,
    *,
    origin: FormatOrigin,
) -> None:
    """Encode lines of JSON, as `wireloom decode` prints them, to records.

    The records decode to the same values. Decoding and encoding also gives the same bytes, unless the format allows
    several ways to write a value, as MessagePack and JSON do.

    If a line is wrong, the command stops and writes no output; an existing file stays as it was.

    \b
    Examples:
      wireloom encode kind_of_event message.json -o message.bin
      wireloom decode kind_of_event events.log | wireloom encode kind_of_event - > copy.log
    """
    request = request_of(origin.module(format), root, framing, parameter)
    refuse_target(output, file, binary=True)
    tally = transcode.Written()
    with opened_input(file) as source, opened_output(output) as target:
        for data in transcode.encode(request, source, tally):
            target.write(data)
    if slow := tally.slow():
        note(slow)


def request_of(
    module: FormatModule, root: str | None, framing: str | None, parameter: list[str] | None
) -> transcode.Request:
    """The request that the options describe; raises MisuseError and ParameterError."""
    module.CODEC.root(root)
    if framing is not None:
        framing_of(framing)
    return transcode.Request(module, root, framing, parameter_values(module, parameter or []))


def remedy_of(request: transcode.Request) -> str:
    """The advice for going on after a record whose end is unknown."""
    return request.module.CODEC.remedy(request.root, request.framing, request.parameters)


def called(path: Path) -> str:
    """The name of a file, or of standard input, in messages."""
    return "stdin" if str(path) == "-" else str(path)


def opened_input(path: Path) -> BinaryIO:
    """Open the file, or return standard input."""
    if str(path) != "-":
        return path.open("rb")
    if sys.stdin is None:  # the parent process closed it
        raise MisuseError("standard input is closed; name a file")
    return sys.stdin.buffer


def likely_framing(request: transcode.Request, file: Path, source: BinaryIO) -> str | None:
    """A better framing if the first bytes fit one; None if not. Does not move the position of `source`."""
    if file.is_file():
        with file.open("rb") as beginning:
            return transcode.likely(request, beginning.read(HEAD), file.stat().st_size)
    peek = getattr(source, "peek", None)
    return None if peek is None else transcode.likely(request, peek(HEAD), None)


def compression(file: Path) -> str | None:
    """The compression that the first bytes of a file show; None if they show none."""
    from wireloom.ingest.files.compression import compression_of

    if not file.is_file():
        return None
    with file.open("rb") as source:
        return compression_of(source.read(HEAD), "")


def refuse_target(output: Path | None, file: Path, *, binary: bool) -> None:
    """Raise MisuseError if the output is the input, or if bytes would go to a terminal."""
    if output is not None and output.exists() and file.exists() and output.samefile(file):
        raise MisuseError(f"{output} is the input; give --output another file")
    if binary and output is None and sys.stdout is not None and sys.stdout.isatty():
        raise MisuseError("bytes are not for a terminal; give --output FILE or a pipe")


@contextmanager
def opened_output(path: Path | None) -> Iterator[BinaryIO]:
    """Open the output file, or standard output. A file is replaced only at the end, so a failure leaves the old one."""
    if path is None:
        refuse_closed_output("; give --output FILE")
        with _named(STANDARD_OUTPUT):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():  # a device or a pipe
        with _named(str(path)), path.open("wb") as file:
            yield file
        return
    whole = path.resolve()
    half = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        with _named(str(path)), half.open("wb") as file:
            yield file
        half.replace(whole)
    except OSError as error:
        if error.filename == str(half):
            error.filename = str(path)
        raise
    finally:
        half.unlink(missing_ok=True)


@contextmanager
def _named(output: str) -> Iterator[None]:
    """Add the name of the output to its errors, which Python leaves out."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in BROKEN:
            error.filename = output
        raise
