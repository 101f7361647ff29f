"""The lease of an output: one job of a kind at a time. `clean` uses it to know what is in use.

A job makes a file beside the ledger before it looks at staged files, changes it every BEAT seconds, and removes it at
its end. The lease of a killed job is no obstacle: on the same machine its process is looked up; from elsewhere the
file is watched for a while, since a running job changes it. No clocks are compared.

The lease keeps jobs from disturbing each other. It is the ledger, not the lease, that makes a batch exactly-once.
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
"""Seconds without a change after which a job of another machine is taken for dead."""
POLL = 0.5
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Holder:
    """A job that works on an output, as it says of itself."""

    work: str  # what it does: ingest, stream, replay, clean
    host: str
    place: str  # the machine since its start, and the numbering of processes there
    process: int
    born: str  # when the process began, since numbers of processes come again
    token: str
    since: str
    beat: int = 0

    def __str__(self) -> str:
        return f"{self.work} (process {self.process} on {self.host}, since {self.since})"

    @classmethod
    def own(cls, work: str) -> "Holder":
        """This process."""
        pid = os.getpid()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(work, platform.node(), _place(), pid, _born(pid), uuid.uuid4().hex, now)

    @property
    def lives(self) -> bool | None:
        """Whether it does; None where that cannot be seen from here."""
        if self.place != _place():
            return None
        if self.process == os.getpid():
            return any(thread.name == self.thread for thread in threading.enumerate())
        return bool(_born(self.process)) and _born(self.process) == self.born

    @property
    def thread(self) -> str:
        """The name of the thread that gives signs of life."""
        return f"wireloom-{self.token}"


@contextmanager
def held(storage: Storage, ledger: Ledger, work: str, notify: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Nobody else works on the output meanwhile; raises MisuseError where somebody does already."""
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
        with suppress(Exception):  # nothing that is left here stops anybody
            found = _read(storage, path)
            if found is not None and found.token == own.token:
                storage.delete(path)


def holder(storage: Storage, ledger: Ledger) -> Holder | None:
    """Who works on the output, or did until it was killed."""
    storage = storage_of(storage, ledger.home)
    return _read(storage, lease_path(ledger))


def storage_of(storage: Storage, home: str) -> Storage:
    """How leases are reached: without Java where that can be, so that its end is not that of the lease."""
    return PlainStorage() if reachable(home) else storage


def lease_path(ledger: Ledger) -> str:
    """The file that says who works on batches, or replays, of an output."""
    return f"{ledger.home}/{LEDGER}/running-{ledger.kind}.json"


def awaited(storage: Storage, ledger: Ledger, found: Holder) -> bool:
    """Whether a job lives; where that cannot be seen from here, its signs of life are waited for."""
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
        if found is None:  # it has just gone, or is about to be written
            time.sleep(POLL / 10)
            continue
        if found.lives is None:
            notify(f"checking if {found} is still running")
        if awaited(storage, ledger, found):
            raise MisuseError(f"{home} is in use by {found}; wait until it ends, or choose another --output")
        _take_over(storage, path, found, own)
    raise MisuseError(f"{home} is in use: {path} was changed just now; try again")


def _take_over(storage: Storage, path: str, found: Holder, own: Holder) -> None:
    """Remove the lease of the dead, and only that: somebody may have been faster."""
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
        with suppress(Exception):  # a full disk, say: the job itself will tell
            found = _read(storage, path)
            if found is None or found.token != own.token:
                return
            own = replace(own, beat=own.beat + 1)
            storage.replace(path, json.dumps(asdict(own)))


def _read(storage: Storage, path: str) -> Holder | None:
    """Who holds it; None where nobody does, or where it is just being written."""
    try:
        return Holder(**json.loads(storage.read(path))) if storage.exists(path) else None
    except (OSError, ValueError, TypeError):
        return None


@cache
def _place() -> str:
    """This machine since its start, and its numbering of processes, which containers have of their own."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    return platform.node()


def _born(pid: int) -> str:
    """When a process began, in the machine's own terms; empty where there is none, or only its corpse."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return _alive(pid) if not Path("/proc/self/stat").exists() else ""
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _alive(pid: int) -> str:
    """Where processes are no files."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return "running"
