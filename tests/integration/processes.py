"""Servers for tests, each in a process of its own, stopped even if the test itself is killed."""

import errno
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

STOP_SECONDS = 20
LIGHT = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # for short-lived JVMs: they start fast

DRAWN = Path("/proc/sys/net/ipv4/ip_local_port_range")  # the ports that the kernel chooses for outgoing connections
FIRST_PORT = 10_000  # below are well-known services

# Waits until the test that holds its standard input is gone, then ends the server.
WATCH = f"""
import os, signal, sys, time
sys.stdin.read()
for name in (signal.SIGTERM, signal.SIGKILL):
    try:
        os.kill(int(sys.argv[1]), name)
    except ProcessLookupError:
        break
    time.sleep({STOP_SECONDS})
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A running process, and its log."""

    process: subprocess.Popen[bytes]
    watch: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """Its id."""
        return self.process.pid

    def stop(self) -> None:
        """Terminate it; kill it if it does not end."""
        self.watch.kill()
        self.watch.communicate()
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def await_ready(self, ready: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until it is ready; raises RuntimeError with the end of its log otherwise."""
        end = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None or time.monotonic() > end:
                said = self.log.read_text(encoding="utf-8", errors="replace")[-4000:]
                raise RuntimeError(f"{self.log} does not answer, exit code {self.process.poll()}:\n{said}")
            time.sleep(0.1)


def serve(command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> Server:
    """Start a server whose output is appended to the log."""
    with ExitStack() as stack:
        output = stack.enter_context(log.open("ab"))
        given = {**os.environ, **(environment or {})}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=given)
        watch = subprocess.Popen([sys.executable, "-S", "-c", WATCH, str(process.pid)], stdin=subprocess.PIPE)
    return Server(process, watch, log)


def java() -> str:
    """The Java that Spark would use."""
    return str(Path(os.environ["JAVA_HOME"]) / "bin" / "java") if "JAVA_HOME" in os.environ else "java"


def free_ports(count: int) -> list[int]:
    """Distinct unused ports of the loopback interface; raises OSError if there are too few.

    They are outside of the range that the kernel uses for outgoing connections, so none of Spark's many connections
    takes one before the server listens on it.
    """
    low, high = map(int, DRAWN.read_text(encoding="ascii").split())
    candidates = [port for port in range(FIRST_PORT, 1 << 16) if not low <= port <= high]
    random.shuffle(candidates)  # parallel tests choose ports too
    free = list(islice(filter(_is_free, candidates), count))
    if len(free) < count:
        raise OSError(errno.EADDRINUSE, f"{count} ports are wanted outside of {low} to {high}, as {DRAWN} has it")
    return free


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def listens(port: int) -> bool:
    """Whether something listens on the port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def children(pid: int) -> dict[int, str]:
    """The command lines of a process's children, by id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            if parent == pid:
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
    return found


def kill(pid: int) -> None:
    """Kill a process."""
    os.kill(pid, signal.SIGKILL)
