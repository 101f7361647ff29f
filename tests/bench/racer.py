"""A contestant in a process of its own: it prepares, then runs a job for each line of its input."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from contest import Action

READY, DONE = "ready\n", "done\n"


class Racer:
    """The process, seen from outside; a context manager that ends it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._expect(READY)

    def run(self, job: str) -> None:
        """Run a job in the process."""
        assert self.process.stdin
        self.process.stdin.write(f"{job}\n")
        self.process.stdin.flush()
        self._expect(DONE)

    def _expect(self, word: str) -> None:
        assert self.process.stdout
        if self.process.stdout.readline() != word:
            raise RuntimeError(f"{self.command} ends with {self.process.wait()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def serve(jobs: Mapping[str, Action]) -> None:
    """Run the requested jobs until the input ends; other output goes to standard error."""
    with ExitStack() as stack:
        answers = stack.enter_context(os.fdopen(os.dup(1), "w"))
        os.dup2(2, 1)
        answers.write(READY)
        answers.flush()
        for line in sys.stdin:
            jobs[line.removesuffix("\n")]()
            answers.write(DONE)
            answers.flush()
