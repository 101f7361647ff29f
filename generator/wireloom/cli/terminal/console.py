"""Lines for people: results on standard output, everything else on standard error, a spinner only on a terminal."""

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
PATIENCE = 2.0  # seconds without a sign of life
CLEAR = "\r\x1b[K"
"""Back to the start of a line of a terminal, and empty it."""


def say(*lines: str) -> None:
    """Lines of the result; what terminals would obey is shown escaped."""
    with named_output():
        typer.echo("\n".join(map(visible, lines)))


@contextmanager
def named_output() -> Iterator[None]:
    """Errors of a full or broken standard output say which it is."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or STANDARD_OUTPUT
        raise


def refuse_closed_output(hint: str = "") -> None:
    """Raises MisuseError where nobody takes the lines of the result."""
    if sys.stdout is None:  # closed by whoever started us
        raise MisuseError(f"{STANDARD_OUTPUT} is closed{hint}")


def note(*lines: str) -> None:
    """Lines about the work, apart from the result; what terminals would obey is shown escaped."""
    typer.echo("\n".join(map(visible, lines)), err=True)


def differing(kinds: Collection[str], source: str) -> str:
    """How many things differ from a source, and of which kinds they are."""
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(kinds).items()))
    return f"{len(kinds)} {'thing differs' if len(kinds) == 1 else 'things differ'} from the {source}: {counts}"


def complain(*message: str, remedy: str = "") -> None:
    """What is wrong, a line each, and the command that mends it."""
    first, *others = message
    note(f"wireloom: {first}", *others)
    if remedy:
        note(f"  mend it with: {remedy}")


def clear() -> None:
    """Empty the line of a terminal that shows progress."""
    if sys.stderr.isatty():
        typer.echo(CLEAR, nl=False, err=True)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show that work goes on, on a terminal, once it has taken longer than PATIENCE."""
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
    """The results as they come, with `waiting` before each."""
    while True:
        with waiting(text):
            result = next(results, None)
        if result is None:
            return
        yield result
