"""Runs `wireloom ingest` as users do, in a process of its own, and counts its results."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.lib

from integration.numbered import Counts, number_in, number_of
from integration.processes import LIGHT, children, kill
from integration.sessions import environment

SECONDS = 600


@dataclass(frozen=True, slots=True)
class Ingest:
    """The command with its options. `home` has everything of a run: output, metrics, messages."""

    home: Path
    options: tuple[str, ...]
    jars: str = ""
    format: str = "aerospike_msgpack"

    @property
    def output(self) -> Path:
        """The folder of the tables."""
        return self.home / "tables"

    @property
    def metrics(self) -> Path:
        """The file of `--metrics`, if the options name it."""
        return self.home / "metrics.jsonl"

    def having(self, *options: str) -> "Ingest":
        """The same command with more options."""
        return replace(self, options=(*self.options, *options))

    @contextmanager
    def started(self) -> Iterator["Run"]:
        """The running command; killed at the end if it still runs."""
        command = [sys.executable, "-m", "wireloom", "ingest", "--format", self.format, "--output", self.output]
        submit = {"PYSPARK_SUBMIT_ARGS": f"--jars {self.jars} pyspark-shell"} if self.jars else {}
        log = self.home / "ingest.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*command, *self.options],
                env={**environment(), **submit, "JDK_JAVA_OPTIONS": LIGHT},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        run = Run(process, log)
        try:
            yield run
        finally:
            run.kill_all()

    def finished(self) -> str:
        """The output of the complete command; raises RuntimeError if it fails."""
        with self.started() as run:
            return run.finish()


@dataclass(frozen=True, slots=True)
class Run:
    """A process of the command, in a process group with its JVM and workers."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    @property
    def said(self) -> str:
        """Its output, and that of earlier runs in the same place."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def jvm(self) -> int | None:
        """The process id of its JVM, if it has one already."""
        return next((pid for pid, line in children(self.process.pid).items() if "java" in line.split(" ")[0]), None)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; raises RuntimeError if the run ends before, TimeoutError after a long time."""
        end = time.monotonic() + SECONDS
        while not condition():
            if not self.alive:
                raise RuntimeError(f"it has ended with code {self.process.returncode}:\n{self.said[-4000:]}")
            if time.monotonic() > end:
                raise TimeoutError(f"nothing after {SECONDS} s:\n{self.said[-4000:]}")
            time.sleep(0.1)

    def finish(self) -> str:
        """Wait for the end; raises RuntimeError if the command fails."""
        if self.process.wait(SECONDS):
            raise RuntimeError(f"it has ended with code {self.process.returncode}:\n{self.said[-4000:]}")
        return self.said

    def interrupt(self) -> str:
        """Stop it as Ctrl-C does, and wait for the end."""
        self.process.send_signal(signal.SIGINT)
        return self.finish()

    def kill(self) -> None:
        """Kill only the command; its JVM notices later."""
        kill(self.process.pid)
        self.process.wait()

    def kill_jvm(self) -> None:
        """Kill the JVM."""
        jvm = self.jvm()
        if jvm is not None:
            kill(jvm)

    def kill_all(self) -> None:
        """Kill the command and its JVM at once."""
        with suppress(ProcessLookupError):  # the process group may be gone
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def counts(output: Path) -> Counts:
    """The contents of the tables."""
    digests = column(output / "records", ("key", "digest"))
    raw = column(output / "quarantine", ("raw",))
    return Counts(Counter(map(number_of, digests)), Counter(map(number_in, raw)))


def column(table: Path, path: tuple[str, ...]) -> list[Any]:
    """The values of one column of a table; empty if there is no table yet."""
    if not table.is_dir():
        return []
    found = ds.dataset(table, partitioning="hive")
    return found.to_table(columns={"value": ds.field(*path)})["value"].to_pylist() if found.files else []


def rows(output: Path) -> int:
    """How many rows both tables have; may be called while they are written."""
    try:
        tables = [ds.dataset(output / name, partitioning="hive") for name in ("records", "quarantine")]
        return sum(table.count_rows() for table in tables)
    except (FileNotFoundError, pyarrow.lib.ArrowInvalid):
        return 0  # only one of the two exists so far


def begun(output: Path) -> int:
    """How many batches the checkpoint knows."""
    return sum(path.name.isdigit() for path in (output / "_checkpoint" / "offsets").glob("*"))


def staged(output: Path) -> frozenset[str]:
    """The batches that are being written."""
    return frozenset(path.name for path in (output / "_staging" / "batch").glob("*"))


def batches(ingest: Ingest, count: int) -> list[dict[str, Any]]:
    """The metrics of a stream: each batch once, in order, with sums that add up."""
    lines = [json.loads(line) for line in ingest.metrics.read_text(encoding="utf-8").splitlines()]
    assert [line["batch"] for line in lines] == list(range(len(lines)))
    assert sum(line["records"] for line in lines) == count
    assert sum(line["decoded"] + line["quarantined"] for line in lines) == count
    return lines
