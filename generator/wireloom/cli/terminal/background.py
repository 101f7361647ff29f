"""Runs work in a process that can be ended at any time, and shows its output when it is done."""

import io
import multiprocessing
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING

import typer

from wireloom.cli.terminal.console import waiting

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkServerContext, SpawnContext


class Attempt:
    """One run, which starts when the object is made."""

    def __init__(self, work: Callable[[], None], text: str) -> None:
        """Start `work`, which must be picklable. A terminal shows `text` if it takes long."""
        context = _context()
        self.printed, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(sender, work), daemon=True)
        self._shown = ExitStack()
        self._shown.enter_context(waiting(text))
        self.process.start()
        sender.close()

    def show(self) -> None:
        """Print the output if the work is done and its output was not shown yet."""
        if self.printed.closed or not self.printed.poll():
            return
        try:
            output, errors = self.printed.recv()
        except EOFError:  # it crashed, and has printed the reason itself
            output = errors = ""
        self.end()
        typer.echo(output, nl=False)
        typer.echo(errors, nl=False, err=True)

    def end(self) -> None:
        """End the process if it still runs; its output is never shown. A file that it was writing stays unfinished."""
        self._shown.close()
        self.printed.close()
        self.process.terminate()
        self.process.join()


def _context() -> "ForkServerContext | SpawnContext":
    """How processes start: copied from one that has loaded the generator's libraries, if the system can do that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["wireloom.pipeline"])
    return context


def _work(sender: "Connection[object, object]", work: Callable[[], None]) -> None:
    """Run the work, and send its output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent process ends it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that `finally` blocks run
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        work()
    sender.send((output.getvalue(), errors.getvalue()))
