"""Measures the cost of a command, or of a job in a running process: that of all its processes, Java and Python."""

import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from racer import Racer

POLL = 0.02  # seconds
ADOPTS = 36  # Linux: PR_SET_CHILD_SUBREAPER
PAGE, TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
TIMES = slice(11, 15)  # of the fields after a process's name: its own time, and that of ended children


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of wall and of processors, and bytes at the peak."""

    wall: float
    cpu: float
    peak: int = 0


Measured = Callable[[], Cost]
"""Runs something and returns its cost."""


def adopt() -> None:
    """Adopt orphaned processes, so that the time of Java processes counts, for which nobody waits."""
    ctypes.CDLL(None, use_errno=True).prctl(ADOPTS, 1, 0, 0, 0)


def command(arguments: Sequence[str], folder: Path) -> Cost:
    """Run a command in an empty folder; raises CalledProcessError if it fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    others = set(_children(os.getpid()))
    begun, before = time.perf_counter(), os.times()
    environment = {**os.environ, "TMPDIR": str(folder)}
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(arguments, stdout=said, stderr=said, cwd=folder, env=environment)
        peak = 0
        while process.poll() is None:
            peak = max(peak, sum(map(_memory, _tree(process.pid))))
            time.sleep(POLL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments, (folder / "said").read_bytes()[-2000:])
    wall = time.perf_counter() - begun
    while adopted := set(_children(os.getpid())) - others:
        for child in adopted:
            os.waitpid(child, 0)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(wall, cpu, peak)


def job(racer: Racer, name: str) -> Cost:
    """Run a job in a running process; returns the cost of the process and all that it started."""
    before, begun = _spent(racer.process.pid), time.perf_counter()
    racer.run(name)
    wall = time.perf_counter() - begun
    return Cost(wall, _spent(racer.process.pid) - before)


def _spent(pid: int) -> float:
    """Processor seconds of a process and of its children, running or ended."""
    ticks = 0
    for each in _tree(pid):
        with suppress(OSError):
            behind_name = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, behind_name[TIMES]))
    return ticks / TICKS


def _memory(pid: int) -> int:
    """Resident bytes of a process."""
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    return 0


def _tree(pid: int) -> Iterator[int]:
    """A process, and those that it started."""
    yield pid
    for child in _children(pid):
        yield from _tree(child)


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                yield from map(int, (task / "children").read_text().split())
