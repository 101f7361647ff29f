"""Prints results to standard output, everything else to standard error; shows a spinner only on a terminal."""

import sys
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

import typer

from wireloom.escapes import visible
from wireloom.failures import MisuseError

T = TypeVar("T")
STANDARD_OUTPUT = "standard output"
PATIENCE = 2.0  # seconds before the spinner appears
CLEAR = "\r\x1b[K"
"""Moves to the start of the line of a terminal, and clears it."""


def say(*lines: str) -> None:
    """Print lines of the result; control characters are escaped."""
    with named_output():
        typer.echo("\n".join(map(visible, lines)))


@contextmanager
def named_output() -> Iterator[None]:
    """Name standard output in errors of writing to it."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or STANDARD_OUTPUT
        raise


def refuse_closed_output(hint: str = "") -> None:
    """Raise MisuseError if standard output is closed."""
    if sys.stdout is None:  # the parent process closed it
        raise MisuseError(f"{STANDARD_OUTPUT} is closed{hint}")


def note(*lines: str) -> None:
    """Print lines that are not part of the result, to standard error; control characters are escaped."""
    typer.echo("\n".join(map(visible, lines)), err=True)


def differing(kinds: Collection[str], source: str) -> str:
    """How many things differ from a source, and the kinds of difference."""
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(kinds).items()))
    return f"{len(kinds)} {'thing differs' if len(kinds) == 1 else 'things differ'} from the {source}: {counts}"


def complain(*message: str, remedy: str = "") -> None:
    """Print what is wrong, one thing per line, and the command that fixes it."""
    first, *others = message
    note(f"wireloom: {first}", *others)
    if remedy:
        note(f"  mend it with: {remedy}")


def clear() -> None:
    """Clear the progress line of a terminal."""
    if sys.stderr.isatty():
        typer.echo(CLEAR, nl=False, err=True)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a spinner on a terminal while the block runs longer than PATIENCE."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # only a terminal needs it

    status = Console(stderr=True).status(text)
    timer = threading.Timer(PATIENCE, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()


def awaited(results: Iterator[T], text: str) -> Iterator[T]:
    """The results, with `waiting` around the wait for each."""
    while True:
        with waiting(text):
            result = next(results, None)
        if result is None:
            return
        yield result
