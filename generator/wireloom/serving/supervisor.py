"""Runs the process that generates and decodes, for the server: one request at a time, and the newest wins.

If a request takes too long, or a newer one waits for it, the process is ended. The next request starts another process,
a copy of one that has already imported the generator.
"""

import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from wireloom.serving.work import Limits, serve

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PATIENCE = 1.0
"""Seconds that a request may continue while a newer one waits."""
CRASHED = 1
"""The exit code after an exception. Without memory, a process ends by a signal, or with OUT_OF_MEMORY."""
_STEP = 0.05


class Superseded(Exception):  # noqa: N818 - nothing is wrong: a newer request has come
    """A newer request has come."""


class OutOfBoundsError(Exception):
    """A request took more time or memory than it may, or the process ended."""


class Supervisor:
    """Answers requests in a separate process."""

    def __init__(
        self, specs: Path, limits: Limits, target: Callable[["Connection[bytes, bytes]", Path, Limits], None] = serve
    ) -> None:
        self._specs, self._limits, self._target = specs, limits, target
        self._turn, self._newest = threading.Lock(), 0
        self._counting = threading.Lock()
        self._running: tuple[BaseProcess, Connection[bytes, bytes]] | None = None
        self.started = 0
        """The number of processes started so far."""

    def start(self) -> None:
        """Start the process, so that the first request need not wait for it."""
        with self._turn:
            self._process()

    def answer(self, request: bytes) -> bytes:
        """The answer; raises Superseded or OutOfBoundsError."""
        with self._counting:
            self._newest += 1
            number = self._newest
        with self._turn:
            if number != self._newest:
                raise Superseded
            return self._answered(number, request)

    def _answered(self, number: int, request: bytes) -> bytes:
        process, connection = self._process()
        begun = time.monotonic()
        try:
            connection.send_bytes(request)
            while not connection.poll(_STEP):
                taken = time.monotonic() - begun
                if taken > self._limits.seconds:
                    self.end()
                    raise OutOfBoundsError(f"this takes more than {self._limits.seconds:g} seconds")
                if taken > PATIENCE and number != self._newest:
                    self.end()
                    raise Superseded
            return connection.recv_bytes()
        except (EOFError, OSError) as error:
            process.join(1)
            crashed = process.exitcode == CRASHED
            self.end()
            said = (
                "this is a mistake of Wireloom; the terminal of `wireloom serve` shows more"
                if crashed
                else f"this needs more than {self._limits.memory >> 20} MiB of memory"
            )
            raise OutOfBoundsError(said) from error

    def _process(self) -> tuple[BaseProcess, "Connection[bytes, bytes]"]:
        if self._running is None:
            context = _context()
            ours, theirs = context.Pipe()
            process = context.Process(target=self._target, args=(theirs, self._specs, self._limits), daemon=True)
            process.start()
            theirs.close()
            self._running = process, ours
            self.started += 1
        return self._running

    def end(self) -> None:
        """Kill the process."""
        if self._running is not None:
            process, connection = self._running
            self._running = None
            connection.close()
            process.kill()
            process.join()


def _context() -> "multiprocessing.context.ForkServerContext | multiprocessing.context.SpawnContext":
    """How processes start: as copies of one that has imported the generator, if the system can copy a process."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["wireloom.serving.work"])
    return context
