"""The lease of an output: one job of a kind at a time. `clean` uses it to know which files are in use.

A job creates a file beside the ledger before it looks at staged files, updates it every BEAT seconds, and removes it at
its end. The lease of a killed job does not block others: on the same machine, its process is looked up; from elsewhere,
the file is watched for a while, since a running job would update it. Clocks are not compared.

The lease keeps jobs from disturbing each other. That each batch is written exactly once is up to the ledger.
"""

import json
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import reachable
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.ledger.entries import LEDGER, Ledger, Storage

BEAT = 10.0
PATIENCE = 2.5 * BEAT
"""Seconds without an update after which a job on another machine counts as dead."""
POLL = 0.5
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Holder:
    """The job that holds a lease, as it describes itself."""

    work: str  # ingest, stream, replay or clean
    host: str
    place: str  # the boot of the machine, and its PID namespace
    process: int
    born: str  # when the process started, since PIDs are reused
    token: str
    since: str
    beat: int = 0

    def __str__(self) -> str:
        return f"{self.work} (process {self.process} on {self.host}, since {self.since})"

    @classmethod
    def own(cls, work: str) -> "Holder":
        """The holder for this process."""
        pid = os.getpid()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(work, platform.node(), _place(), pid, _born(pid), uuid.uuid4().hex, now)

    @property
    def lives(self) -> bool | None:
        """Whether the job is running; None if that is not visible from here."""
        if self.place != _place():
            return None
        if self.process == os.getpid():
            return any(thread.name == self.thread for thread in threading.enumerate())
        return bool(_born(self.process)) and _born(self.process) == self.born

    @property
    def thread(self) -> str:
        """The name of the thread that updates the lease."""
        return f"wireloom-{self.token}"


@contextmanager
def leased(
    storage: Storage, ledger: Ledger, work: str, notify: Callable[[str], None] = lambda _: None
) -> Iterator[None]:
    """Hold the lease within the block; raises MisuseError if another job holds it."""
    storage, path, own = storage_of(storage, ledger.home), lease_path(ledger), Holder.own(work)
    _claim(storage, ledger, own, notify)
    done = threading.Event()
    beating = threading.Thread(target=_beat, args=(storage, path, own, done), name=own.thread, daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join(BEAT)
        with suppress(Exception):  # a leftover lease blocks nobody
            found = _read(storage, path)
            if found is not None and found.token == own.token:
                storage.delete(path)


def holder(storage: Storage, ledger: Ledger) -> Holder | None:
    """The job that holds the lease, or held it when it was killed."""
    storage = storage_of(storage, ledger.home)
    return _read(storage, lease_path(ledger))


def storage_of(storage: Storage, home: str) -> Storage:
    """How to access leases: without Java if possible, since Java may end before the lease is released."""
    return PlainStorage() if reachable(home) else storage


def lease_path(ledger: Ledger) -> str:
    """The lease file for batches, or for replays, of an output."""
    return f"{ledger.home}/{LEDGER}/running-{ledger.kind}.json"


def awaited(storage: Storage, ledger: Ledger, found: Holder) -> bool:
    """Whether a job is running; if that is not visible from here, waits for an update of its lease."""
    if found.lives is not None:
        return found.lives
    storage, until = storage_of(storage, ledger.home), time.monotonic() + PATIENCE
    while time.monotonic() < until:
        time.sleep(POLL)
        if not storage.exists(lease_path(ledger)):
            return False
        if _read(storage, lease_path(ledger)) != found:
            return True
    return False


def _claim(storage: Storage, ledger: Ledger, own: Holder, notify: Callable[[str], None]) -> None:
    home, path = ledger.home, lease_path(ledger)
    for _ in range(ATTEMPTS):
        with suppress(FileExistsError):
            storage.write(path, json.dumps(asdict(own)))
            return
        found = _read(storage, path)
        if found is None:  # it was just removed, or is being written
            time.sleep(POLL / 10)
            continue
        if found.lives is None:
            notify(f"checking if {found} is still running")
        if awaited(storage, ledger, found):
            raise MisuseError(f"{home} is in use by {found}; wait until it ends, or choose another --output")
        _take_over(storage, path, found, own)
    raise MisuseError(f"{home} is in use: {path} was changed just now; try again")


def _take_over(storage: Storage, path: str, found: Holder, own: Holder) -> None:
    """Remove the lease of a dead job, unless another job has already replaced it."""
    aside = f"{path}.{own.token}"
    with suppress(OSError):
        storage.rename(path, aside)
        other = _read(storage, aside)
        if other is not None and other.token != found.token:
            storage.rename(aside, path)
        else:
            storage.delete(aside)


def _beat(storage: Storage, path: str, own: Holder, done: threading.Event) -> None:
    while not done.wait(BEAT):
        with suppress(Exception):  # for example a full disk, which the job itself reports
            found = _read(storage, path)
            if found is None or found.token != own.token:
                return
            own = replace(own, beat=own.beat + 1)
            storage.replace(path, json.dumps(asdict(own)))


def _read(storage: Storage, path: str) -> Holder | None:
    """The holder of a lease; None if there is none, or it is being written."""
    try:
        return Holder(**json.loads(storage.read(path))) if storage.exists(path) else None
    except (OSError, ValueError, TypeError):
        return None


@cache
def _place() -> str:
    """Identifies the boot of this machine and the PID namespace, which differs in containers."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    return platform.node()


def _born(pid: int) -> str:
    """When a process started, in clock ticks; empty if it does not exist or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return _alive(pid) if not Path("/proc/self/stat").exists() else ""
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _alive(pid: int) -> str:
    """Whether a process exists, on systems without /proc."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "running"
