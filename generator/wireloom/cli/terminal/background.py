"""Work in a process of its own, which can be ended at any time. Its output is shown once it is done, or never."""

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
    """One run, begun when this is made."""

    def __init__(self, work: Callable[[], None], text: str) -> None:
        """`work` can be pickled; `text` is shown on a terminal where it takes long."""
        context = _context()
        self.printed, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(sender, work), daemon=True)
        self._shown = ExitStack()
        self._shown.enter_context(waiting(text))
        self.process.start()
        sender.close()

    def show(self) -> None:
        """Show what it printed, where it is done and that was not shown."""
        if self.printed.closed or not self.printed.poll():
            return
        try:
            output, errors = self.printed.recv()
        except EOFError:  # it crashed, and has said so itself
            output = errors = ""
        self.end()
        typer.echo(output, nl=False)
        typer.echo(errors, nl=False, err=True)

    def end(self) -> None:
        """End it where it still runs; from now on it shows nothing. A file that it was writing is left as it was."""
        self._shown.close()
        self.printed.close()
        self.process.terminate()
        self.process.join()


def _context() -> "ForkServerContext | SpawnContext":
    """How processes begin: with the generator's libraries loaded, where the system can copy a process."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["wireloom.pipeline"])
    return context


def _work(sender: "Connection[object, object]", work: Callable[[], None]) -> None:
    """Do the work, and send what it printed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever began it ends it
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # what is begun is cleaned up
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        work()
    sender.send((output.getvalue(), errors.getvalue()))
