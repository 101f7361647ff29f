"""Shows the progress of a job: a bar on a terminal, a line every ten seconds in a log, or nothing."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wireloom.cli.options import one_of
from wireloom.cli.terminal.console import note
from wireloom.ingest.job.amount_texts import size_text

if TYPE_CHECKING:
    from wireloom.ingest.ledger.publishing import Watcher

NONE, LINE, BAR = KINDS = ("none", "line", "bar")
INTERVAL = 10.0
"""Seconds between two lines."""


def kind_of(asked: str | None) -> str:
    """How to show progress; raises MisuseError for an unknown way."""
    if asked is None:
        return BAR if sys.stderr.isatty() else LINE
    one_of("--progress", asked, KINDS)
    return asked


@contextmanager
def shown(kind: str) -> Iterator["Watcher"]:
    """A watcher that shows the progress that it is told."""
    if kind == BAR:
        with _bar() as watcher:
            yield watcher
        return
    watcher, done = Line(), threading.Event()
    thread = threading.Thread(target=watcher.speak, args=(done,), daemon=True)
    if kind == LINE:
        thread.start()
    try:
        yield watcher
    finally:
        done.set()
        if kind == LINE:
            thread.join()


@dataclass(slots=True)
class Line:
    """Prints the current progress."""

    done: int = 0
    whole: int = 0
    unit: str = ""
    started: float = field(default_factory=time.monotonic)

    def at(self, done: int, whole: int, unit: str) -> None:
        """Record the progress."""
        self.done, self.whole, self.unit = done, whole, unit

    def speak(self, done: threading.Event) -> None:
        """Print a line at each interval, until the job is done."""
        while not done.wait(INTERVAL):
            note(str(self))

    def __str__(self) -> str:
        seconds = time.monotonic() - self.started
        if not self.whole:
            return f"looking at the input, {seconds:.0f} s"
        return f"{_amount(self.done, self.whole, self.unit)}, {seconds:.0f} s"


@contextmanager
def _bar() -> Iterator["Watcher"]:
    from rich.console import Console  # only a terminal needs it
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("Decoding"), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("looking at the input", total=None)

        @dataclass(frozen=True, slots=True)
        class Bar:
            def at(self, done: int, whole: int, unit: str) -> None:
                """Move the bar."""
                progress.update(task, completed=done, total=whole, description=_amount(done, whole, unit))

        yield Bar()


def _amount(done: int, whole: int, unit: str) -> str:
    share = f"{100 * done // whole if whole else 100} %"
    return (
        f"{share}, {size_text(done)} of {size_text(whole)}" if unit == "bytes" else f"{share}, {done} of {whole} {unit}"
    )
