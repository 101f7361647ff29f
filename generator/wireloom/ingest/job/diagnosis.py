"""Explains in one line what stopped a job: what failed, on which file or record, and what to do. A log has the rest.

Tasks run in other processes and languages, so a failure is known only as text: of exceptions, tracebacks of workers, or
Java. The text is matched against SIGNS, the most specific first. A failure without a match is a bug if it comes from
our own code, and crashes; if it comes from Spark, its most informative line is shown.
"""

import re
import shutil
import tempfile
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wireloom.failures import DataError, LimitError, MachineError, MisuseError
from wireloom.ingest.files.finding import place, reachable
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.amount_texts import size_text
from wireloom.problems import SpecProblems
from wireloom.runtime.errors import WireloomError

FAILURES = "_failures"
NOTED = "%Y%m%dT%H%M%S.%f"  # the time in the names of detail files
KEPT = 20
"""Detail files that are kept for an output."""
READING = "while reading "
AGAIN = "start it again to continue"
HEAP_EXIT = 52  # exit code of Spark's Java process if its heap is full
SIGNALS = {9: "killed (SIGKILL), perhaps because memory ran out", 11: "ended by a bug in native code (SIGSEGV)"}
SIGNALS |= {7: "ended by SIGBUS, perhaps because a disk is full or a file became shorter", 15: "ended by SIGTERM"}

FROM_MACHINES = ("pyspark", "py4j", "pyarrow")
"""Libraries whose exceptions are not bugs of ours."""


@dataclass(frozen=True, slots=True)
class End:
    """How the Java process that runs the tasks ended, if it did, and its log."""

    exit: int | None = None
    log: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What went wrong, the advice, and the exception to raise: DataError if the input is at fault, not the machine."""

    what: str
    advice: str
    error: type[Exception] = MachineError


@dataclass(frozen=True, slots=True)
class Case:
    """Everything known about a failure: its text, the output of the job, and how Java ended."""

    text: str
    output: str
    java: int | None = None
    found: re.Match[str] | None = None

    @property
    def path(self) -> str:
        """The path in the text; without one, the output."""
        named = re.search(r"(?:Errno \d+\][^\n]*?|Error )'([^'\n]+)'", self.text)
        return named[1] if named else self.output

    @property
    def group(self) -> str:
        """The text that the first group of the sign matched."""
        return self.found[1] if self.found else ""


def _full(case: Case) -> Verdict:
    free = ""
    with suppress(OSError):
        at = Path(place(case.output).path)
        usage = shutil.disk_usage(next(each for each in (at, *at.parents) if each.exists()))
        free = f" ({size_text(usage.free)} free of {size_text(usage.total)})"
    return Verdict(
        f"there is no space left for {case.output}{free}",
        "free some space there, or in the folder of temporary files, then start it again",
    )


def _denied(case: Case) -> Verdict:
    return Verdict(
        f"permission is denied: {case.path}",
        "allow this user to read the input and to write to the output, also on executors, or choose another --output",
    )


def _heap(_: Case) -> Verdict:
    return Verdict(
        "the memory of Spark's Java process is full",
        "raise it with --driver-memory (default 2g; on a cluster spark.executor.memory), or make batches "
        "smaller with --max-per-batch",
    )


def _memory(case: Case) -> Verdict:
    return Verdict(
        f"memory ran out{_where(case)}",
        "run fewer tasks at a time (--processes, --master local[1]), or give it more memory",
    )


def _worker(case: Case) -> Verdict:
    return Verdict(
        f"a decoding process was killed{_where(case)}, perhaps because memory ran out",
        "run fewer tasks at a time (--master local[1]), or give the machine or container more memory",
    )


def _executor(case: Case) -> Verdict:
    return Verdict(f"an executor was lost: {_short(case.group)}", f"{AGAIN}; if it happens again, look at its log")


def _connector(case: Case) -> Verdict:
    return Verdict(
        f"the Spark session lacks {case.group}",
        "add its package, for your version of Spark, with --packages GROUP:NAME:VERSION",
    )


def _scheme(case: Case) -> Verdict:
    return Verdict(
        f"this Spark session has no file system for {case.group}://",
        "use --engine local, which needs none, or add Hadoop's file system with --packages; if it is the input, first "
        "check the path and the credentials: pyarrow could not open it",
    )


def _kafka(case: Case) -> Verdict:
    return Verdict(f"Kafka does not answer: {_short(case.group)}", f"check --kafka and the network, then {AGAIN}")


def _gone_offsets(case: Case) -> Verdict:
    return Verdict(
        f"Kafka no longer has what the stream has not read yet: {_short(case.group)}",
        "to continue after the gap: --source-option failOnDataLoss=false",
    )


def _java(case: Case) -> Verdict:
    if case.java == HEAP_EXIT:
        return _heap(case)
    if case.java is None:
        return Verdict("Spark's Java process does not answer", AGAIN)
    signal = -case.java if case.java < 0 else case.java - 128
    if signal == 9:
        return Verdict(
            f"Spark's Java process is gone: {SIGNALS[9]}",
            f"if the machine has too little memory, lower --driver-memory; {AGAIN}",
        )
    how = SIGNALS.get(signal, f"exit code {case.java}")
    return Verdict(f"Spark's Java process is gone: {how}", AGAIN)


SIGNS: tuple[tuple[str, Callable[[Case], Verdict]], ...] = (
    (r"LimitError: (.+)", lambda case: Verdict(case.group, "", LimitError)),
    (r"(?:DataError|MisuseError|ContractError): (.+)", lambda case: Verdict(case.group, "", DataError)),
    (r"No space left on device|Errno 28\b|Disk quota exceeded|Errno 122\b", _full),
    (
        r"Not a directory|Errno 20\b",
        lambda case: Verdict(
            f"{case.path} cannot be made: a file is in its path", "choose another --output", MisuseError
        ),
    ),
    (
        r"Read-only file system|Errno 30\b",
        lambda case: Verdict(
            f"{case.path} is on a read-only file system", "mount it writable, or choose another --output"
        ),
    ),
    (
        r"File too large|Errno 27\b",
        lambda case: Verdict(
            f"{case.path} is too large for a file", "raise the limit (ulimit -f) and start the job again"
        ),
    ),
    (
        r"Too many open files|Errno 24\b",
        lambda _: Verdict("too many files are open", "raise the limit (ulimit -n) and start the job again"),
    ),
    (r"OutOfMemoryError: (.+)", _heap),
    (r"\bMemoryError\b|ArrowMemoryError|malloc of size \d+ failed|Cannot allocate memory", _memory),
    (r"Permission denied|AccessControlException|Errno 13\b|Errno 1\b|AccessDenied|Operation not permitted", _denied),
    (r"(?:Failed to find (?:the )?data source: |DATA_SOURCE_NOT_FOUND\] [^:]*: )([\w.]+)", _connector),
    (
        r"(?:ClassNotFoundException|NoClassDefFoundError): ((?:org[./]apache[./]|io[./]delta|com[./])[\w./$]+)",
        _connector,
    ),
    (r"No FileSystem for scheme \"?(\w+)", _scheme),
    (r"(ExecutorLostFailure[^\n]*|Lost executor[^\n]*)", _executor),
    (r"(?:OffsetOutOfRangeException|Some data may have been lost|offset was changed from)([^\n]*)", _gone_offsets),
    (r"org\.apache\.kafka\.common\.errors\.(\w+Exception[^\n]*|[^\n]*No resolvable bootstrap[^\n]*)", _kafka),
    (r"(No resolvable bootstrap urls[^\n]*)", _kafka),
    (r"Python worker exited unexpectedly|Python worker .*crashed", _worker),
    (r"Py4JNetworkError|ConnectionRefusedError|ConnectionResetError|Answer from Java side is empty", _java),
    (r"Py4JError: An error occurred while calling \S+\s*$", _java),
    (
        r"Errno 2\] Cannot create directory",
        lambda case: Verdict(f"cannot make the folder {case.path}", "choose another --output", MisuseError),
    ),
    (
        r"FileNotFoundError: (.+)|FileNotFoundException: (.+)",
        lambda case: Verdict(f"a file is gone: {_short(case.group)}", "do not remove files before they are read"),
    ),
    (r"Errno 5\b|Input/output error", lambda case: Verdict(f"a disk error: {case.path}", "check the disk")),
)


def diagnosis(text: str, output: str, java: int | None = None) -> Verdict | None:
    """The verdict on the text of a failure; None if no sign matches."""
    if java == HEAP_EXIT:
        return _heap(Case(text, output, java))
    for sign, verdict in SIGNS:
        found = re.search(sign, text)
        if found:
            return verdict(Case(text, output, java, found))
    return None if java is None else _java(Case(text, output, java))


@contextmanager
def diagnosed(output: str, ended: Callable[[], End] = End) -> Iterator[None]:
    """Turn failures in the block into one line each; `ended` tells how Java ended.

    Raises MachineError, or DataError if the data are at fault. Our own errors pass unchanged, and so do bugs.
    """
    try:
        yield
    except (MisuseError, MachineError, DataError, SpecProblems, WireloomError, FileExistsError):
        raise
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        end = ended()
        verdict = diagnosis(text, output, end.exit)
        if verdict is None:
            if type(error).__module__.partition(".")[0] not in FROM_MACHINES and not isinstance(error, OSError):
                raise
            verdict = Verdict(f"the job has stopped: {telling_line(error)}", "")
        summary = f"{verdict.what}; {verdict.advice}" if verdict.advice else verdict.what
        where = noted(output, f"{summary}\n\n{text}\n{end.log}")
        details = f" (details: {where})" if where else ""
        raise verdict.error(f"{summary}{details}") from error


@contextmanager
def during(what: str) -> Iterator[None]:
    """Add the name of what is being read to exceptions in the block."""
    try:
        yield
    except Exception as error:
        error.add_note(f"{READING}{what}")
        raise


def noted(output: str, text: str) -> str:
    """Write a file with details below the output, or in the temporary folder; returns its path, or "" if both fail."""
    name = f"{datetime.now(UTC).strftime(NOTED)}-{uuid.uuid4().hex[:12]}.txt"
    with suppress(Exception):
        if reachable(output):
            folder = f"{output.rstrip('/')}/{FAILURES}"
            storage = PlainStorage()
            storage.write(f"{folder}/{name}", text)
            for old in storage.names(folder)[:-KEPT]:
                storage.delete(f"{folder}/{old}")
            return f"{folder}/{name}"
    with suppress(OSError):
        path = Path(tempfile.gettempdir()) / f"wireloom-{name}"
        path.write_text(text, encoding="utf-8")
        return str(path)
    return ""


def telling_line(error: BaseException) -> str:
    """The most informative line: the last exception in a worker's traceback, otherwise the first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    line = (raised or lines or [""])[-1 if raised else 0]
    return line if raised or type(error).__module__.startswith("pyspark") else f"{type(error).__name__}: {line}"


def _where(case: Case) -> str:
    found = re.search(rf"^\s*{READING}(.+)$", case.text, re.MULTILINE)
    return f", {READING}{found[1]}" if found else ""


def _short(text: str) -> str:
    return text.strip().rstrip(".")[:200]
