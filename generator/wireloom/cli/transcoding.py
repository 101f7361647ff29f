"""`decode`, `encode`: bytes and their canonical JSON rendering."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from wireloom import transcode
from wireloom.catalog import FormatModule, parameter_values
from wireloom.cli.console import STANDARD_OUTPUT, complain, note, refuse_closed_output, say
from wireloom.cli.guard import BROKEN, PROBLEMS
from wireloom.cli.options import OUT, PACKAGE, Format, Framing, Out, Package, Parameters, Root, Source, chosen, one_of
from wireloom.escapes import visible_json
from wireloom.failures import MisuseError
from wireloom.runtime.streams.framing import framing_of
from wireloom.runtime.streams.likely import HEAD

OnError = Annotated[
    str,
    typer.Option(
        "--on-error",
        metavar="stop|skip",
        help="At a bad record: stop there, or skip it and go on behind it. What came before it is printed either way.",
    ),
]
Target = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write; else standard output.")
]


def decode(
    format: Format,
    file: Source,
    framing: Framing = None,
    on_error: OnError = "stop",
    root: Root = None,
    parameter: Parameters = None,
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Decode records and print each as one line of JSON.

    The JSON is the canonical rendering, which keeps every value: bytes are base64, 128-bit integers decimal text,
    alternatives and open values tagged with their kind, absent members left out. Bad records are reported on standard
    error with code, path and byte offset; any makes the exit code 1.

    \b
    Examples:
      wireloom decode kind_of_event message.bin
      wireloom decode kind_of_event events.log --framing concatenated --on-error skip
      cat message.bin | wireloom decode kind_of_event - -p byteOrder=little | jq .
    """
    policy = "stop" if on_error == "raise" else on_error  # to a command, raising is stopping with exit code 1
    one_of("--on-error", policy, ("stop", "skip"))
    refuse_closed_output()
    request = request_of(chosen(format, package, out), root, framing, parameter)
    failed = 0
    with opened_input(file) as source:
        likely = likely_framing(request, file, source)
        for outcome in transcode.decode(request, source, policy):
            if outcome.line is not None:
                say(visible_json(outcome.line))
            if outcome.error is not None:
                failed += 1
                complain(f"record {outcome.index}, at byte {outcome.offset} of {called(file)}: {outcome.error}")
    if likely is not None:
        note(f"{called(file)} looks like {likely}: use --framing {likely}")
    if failed:
        raise typer.Exit(PROBLEMS)


def encode(
    format: Format,
    file: Source,
    output: Target = None,
    framing: Framing = None,
    root: Root = None,
    parameter: Parameters = None,
    out: Out = OUT,
    package: Package = PACKAGE,
) -> None:
    """Encode lines of JSON, as `wireloom decode` prints them, to records.

    What is written reads back as the same values. After `wireloom decode` it is also the same bytes where the format
    leaves no choice of widths, order or spelling; MessagePack and JSON leave some. A line that is wrong ends it; then
    no output is written, and a file that was there stays.

    \b
    Examples:
      wireloom encode kind_of_event message.json -o message.bin
      wireloom decode kind_of_event events.log | wireloom encode kind_of_event - > copy.log
    """
    request = request_of(chosen(format, package, out), root, framing, parameter)
    refuse_target(output, file, binary=True)
    with opened_input(file) as source, opened_output(output) as target:
        for data in transcode.encode(request, source):
            target.write(data)


def request_of(
    module: FormatModule, root: str | None, framing: str | None, parameter: list[str] | None
) -> transcode.Request:
    """What the options ask for; raises MisuseError and ParameterError."""
    module.CODEC.root(root)
    if framing is not None:
        framing_of(framing)
    return transcode.Request(module, root, framing, parameter_values(module, parameter or []))


def called(path: Path) -> str:
    """What messages call the file, or standard input."""
    return "stdin" if str(path) == "-" else str(path)


def opened_input(path: Path) -> BinaryIO:
    """The file, or standard input."""
    if str(path) != "-":
        return path.open("rb")
    if sys.stdin is None:  # closed by whoever started us
        raise MisuseError("standard input is closed; name a file")
    return sys.stdin.buffer


def likely_framing(request: transcode.Request, file: Path, source: BinaryIO) -> str | None:
    """The framing that the first bytes fit, where it is another; the source is left where it is."""
    if file.is_file():
        with file.open("rb") as beginning:
            return transcode.likely(request, beginning.read(HEAD), file.stat().st_size)
    peek = getattr(source, "peek", None)
    return None if peek is None else transcode.likely(request, peek(HEAD), None)


def refuse_target(output: Path | None, file: Path, *, binary: bool) -> None:
    """Raises MisuseError where the output is the input, or bytes would go to a terminal."""
    if output is not None and output.exists() and file.exists() and output.samefile(file):
        raise MisuseError(f"{output} is the input; give --output another file")
    if binary and output is None and sys.stdout is not None and sys.stdout.isatty():
        raise MisuseError("bytes are not for a terminal; give --output FILE or a pipe")


@contextmanager
def opened_output(path: Path | None) -> Iterator[BinaryIO]:
    """The file, or standard output; no half-written file stays behind, and one that was there stays as it was."""
    if path is None:
        refuse_closed_output("; give --output FILE")
        with _named(STANDARD_OUTPUT):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if path.exists() and not path.is_file():  # a device, a pipe
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
    """Errors of a full or broken output, which Python does not give a name, say which it is."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in BROKEN:
            error.filename = output
        raise
