"""Selects the files of the input that a job reads. Files whose rows are in the tables are read again only on request.

A file that changed since it was read is not read again by itself either: if it has grown, its rows would be duplicated;
if it was replaced, its old rows would be wrong. The job names it, and `--again` replaces its rows.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import File, Found, Listing, reachable
from wireloom.ingest.ledger.files_read import Known, identity
from wireloom.ingest.plan import Counts, Job, counts

NAMED = 3
"""Files that a message names."""
READ, CHANGED, NOT_ASKED = "already in the tables", "changed since it was read", "not named after --again"


@dataclass(frozen=True, slots=True)
class Selection:
    """The files to read. `again` has the identities of those whose old rows are replaced.

    `passed` counts the skipped files by reason. `alone` if no rows of other files stay in the tables.
    """

    found: Found
    again: frozenset[str] = frozenset()
    passed: Counts = ()
    alone: bool = False


def selected(job: Job, listed: Found, known: Known, notify: Callable[[str], None]) -> Selection:
    """The files of a job that adds to tables; raises MisuseError for a path that is not in its input."""
    asked = _asked(job, listed)
    why = {file: _passed(job, file, known, asked) for file in listed.files}
    taken = tuple(file for file in listed.files if not why[file])
    again = frozenset(identity(file.path) for file in taken if known.has(file))
    passed = counts((reason, 1) for reason in why.values() if reason)
    for line in _changed_lines(job, known, [file for file, reason in why.items() if reason == CHANGED]):
        notify(line)
    return Selection(replace(listed, files=taken), again, passed, known.states.keys() <= again)


def _asked(job: Job, listed: Found) -> frozenset[str] | None:
    """The identities of the files to read again; None for all."""
    if not job.again:
        return None
    there = {identity(file.path) for file in listed.files}
    found: set[str] = set()
    for path in job.again:
        theirs = {identity(file.path) for file in _of_path(path, listed)}
        if not theirs or not theirs <= there:
            raise MisuseError(f"--again {path} is not in --input {job.input}; name files or folders of the input")
        found |= theirs
    return frozenset(found)


def _of_path(path: str, listed: Found) -> Iterable[File]:
    if reachable(path):
        return Listing((path,), recursive=True).found().files
    home = path.rstrip("/")
    return [file for file in listed.files if file.path == home or file.path.startswith(f"{home}/")]


def _passed(job: Job, file: File, known: Known, asked: frozenset[str] | None) -> str:
    """Why a file is skipped; empty if it is read."""
    if job.again is not None and (asked is None or identity(file.path) in asked):
        return ""
    if not known.has(file):
        return "" if job.append else NOT_ASKED
    return CHANGED if known.changed(file) else READ


def _changed_lines(job: Job, known: Known, files: Iterable[File]) -> Iterator[str]:
    files = list(files)
    for file in files[:NAMED]:
        yield (
            f"{file.path} has changed since it was read ({known.changed(file)}), and was not read again; "
            f"--again {shell_path(file)} replaces its rows in {job.output}"
        )
    if len(files) > NAMED:
        yield f"{len(files) - NAMED} more files have changed since they were read; --again replaces the rows of all"


def shell_path(file: File) -> str:
    """The path of a file, quoted for a shell."""
    return shlex.quote(file.path if file.place.system else file.place.path)
