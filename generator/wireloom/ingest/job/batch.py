"""The ingest job: raw bytes in, a records table and a quarantine table out, and a summary whose counts add up.

The data are decoded once. Both tables appear completely, as one batch of the output's ledger, or not at all. An
`Engine` runs the tasks. The files do not depend on the engine, and either engine can resume what the other began.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Protocol

import pyarrow as pa

from wireloom.failures import LimitError, MisuseError
from wireloom.ingest.files.finding import Found
from wireloom.ingest.files.framing_hints import framing_hints
from wireloom.ingest.files.other_readings import verdict
from wireloom.ingest.files.selection import NAMED, Selection, selected, shell_path
from wireloom.ingest.job.diagnosis import End, diagnosed
from wireloom.ingest.job.limits import NONE, Limits
from wireloom.ingest.job.overlap import refuse_overlap
from wireloom.ingest.ledger.entries import (
    BATCHES,
    IDENTITY,
    LEDGER,
    OLD,
    REPLAYS,
    Entry,
    Ledger,
    Move,
    Storage,
    in_tables,
)
from wireloom.ingest.ledger.files_read import identities, known, look_again, recorded
from wireloom.ingest.ledger.lease import leased
from wireloom.ingest.ledger.ownership import VERSION, is_ours, refuse_foreign, refuse_within
from wireloom.ingest.ledger.publishing import TABLES, Batch, ParquetTables, Tables, Watcher
from wireloom.ingest.plan import NOTHING, QUARANTINE, RECORDS, Column, Files, Job, Summary
from wireloom.ingest.tables.agreement import Agreement, Terms, agreed, left_out_notes, terms
from wireloom.ingest.tables.replacing import replacement, sources
from wireloom.ingest.tables.schemas import PLACE
from wireloom.ingest.tables.versions import VIEW, close, show, view_note


class Engine(Protocol):
    """Runs the tasks of a job, and accesses files."""

    @property
    def storage(self) -> Storage:
        """Access to the files of ledger and tables."""

    def ended(self) -> End:
        """How the Java process ended, if it did."""

    def listed(self, source: Files | Column) -> Found:
        """The files of a source; raises MisuseError if the path does not exist."""

    def prepared(self, job: Job, found: Found, batch: Batch, tables: Tables) -> Entry:
        """Read files of the input and write the tables' files; returns the entry for the ledger.

        Raises MisuseError and DataError.
        """


def ingest(
    engine: Engine,
    job: Job,
    notify: Callable[[str], None] = lambda _: None,
    limits: Limits = NONE,
    watcher: Watcher | None = None,
) -> Summary:
    """Run the job. `notify` gets messages: changes of tables, skipped files, files that changed.

    Raises MisuseError if input or output do not fit, MachineError if something is missing, full or broken, DataError if
    files change meanwhile or the counts do not add up.
    """
    refuse_overlap(job.source, job.output)
    refuse_within(job.output, engine.storage)
    with diagnosed(job.output, engine.ended):
        return _Run(engine, job, notify, limits, watcher).ended()


def refuse_early(engine: Engine, job: Job) -> None:
    """Raise the MisuseErrors that the job would raise, as far as they can be found without changing anything."""
    _Run(engine, job, lambda _: None, NONE, None).refuse()


@dataclass(frozen=True, slots=True)
class _Run:
    engine: Engine
    job: Job
    notify: Callable[[str], None]
    limits: Limits
    watcher: Watcher | None

    def ended(self) -> Summary:
        """Run the job, unless an earlier run already did its work."""
        job, listed = self.job, self._listed()
        name = _name(job, listed)
        storage = self.engine.storage
        ledger = Ledger(storage, storage.absolute(job.output), BATCHES)
        self._refuse_foreign(ledger)
        with leased(storage, ledger, "ingest", self.notify), self._without_replay(ledger):
            done = _done(ledger, job, name, ledger.recover())
            if done is not None:
                batch = f"batch {done.number} of {done.time}"
                self._refuse_other_folders(done)
                self.notify(f"{job.output} is complete: {batch} has the same files and spec, so there is nothing to do")
                return done.summary
            taken = self._selected(ledger, listed)
            agreement = self._agreement(ledger, taken)
            if not taken.found.files and job.adds and _has_tables(ledger):
                self.notify(f"no file in {job.input} is new to {job.output}, so there is nothing to do")
                return replace(NOTHING, passed=taken.passed)
            try:
                summary = replace(self._written(ledger, name, taken, agreement), passed=taken.passed)
            except BaseException:
                ledger.abandon()
                raise
            if summary.mostly_refused:
                again = _again(taken, all_of_it=len(taken.found.files) == len(listed.files))
                self.notify(verdict(job.plan, job.source, taken.found, summary, again=again))
            return summary

    def refuse(self) -> None:
        """Raise MisuseError if the job would not run."""
        storage, listed = self.engine.storage, self._listed()
        ledger = Ledger(storage, storage.absolute(self.job.output), BATCHES)
        self._refuse_foreign(ledger)
        if _done(ledger, self.job, _name(self.job, listed), ()) is None:
            self._agreement(ledger, self._selected(ledger, listed))

    def _listed(self) -> Found:
        """The files of the input; raises MisuseError if there are none, unless the job adds to tables."""
        look_again()
        found = self.engine.listed(self.job.source)
        if not found.files and not self.job.adds:
            hidden = "".join(f"; {line}" for line in found.passed_over())
            raise MisuseError(f"--input {self.job.input} has no files{hidden}; name files, or a folder that has some")
        return found

    @contextmanager
    def _without_replay(self, ledger: Ledger) -> Iterator[None]:
        """Keep replays from moving rows while rows of single files are replaced."""
        if self.job.again is None:
            yield
            return
        replays = Ledger(ledger.storage, ledger.home, REPLAYS)
        with leased(ledger.storage, replays, "ingest --again", self.notify):
            replays.recover()
            yield

    def _refuse_foreign(self, ledger: Ledger) -> None:
        """Refuse to replace or add to files that no job wrote; called before a ledger is created."""
        job, storage = self.job, self.engine.storage
        if not is_ours(storage, ledger.home):
            _refuse_existing(storage, job)
        if (job.overwrite or job.adds) and not storage.exists(f"{ledger.home}/{LEDGER}/{IDENTITY}"):
            refuse_foreign(storage, ledger.home, job.output.rstrip("/"), all_goes=job.overwrite)

    def _selected(self, ledger: Ledger, listed: Found) -> Selection:
        """The files to read: all of them, unless the job adds to tables."""
        job, storage = self.job, ledger.storage
        if not job.adds:
            return Selection(listed, alone=True)
        batches = ledger.read() if _has_tables(ledger) else ()
        return selected(job, listed, known(batches, partial(sources, storage, ledger.home)), self.notify)

    def _refuse_other_folders(self, done: Entry) -> None:
        there = Terms.read(done.terms).partition if done.terms else ()
        if self.job.partition and self.job.partition != there:
            raise MisuseError(
                f"{self.job.output} has these files already, partitioned by {', '.join(there) or 'nothing'}; replace "
                "the tables with --overwrite, or choose another --output"
            )

    def _agreement(self, ledger: Ledger, taken: Selection) -> Agreement:
        """The terms of the new batch; raises MisuseError if they do not fit the existing tables."""
        job = self.job
        _refuse_existing(ledger.storage, job)
        own = terms(job.plan, pa.schema(list(PLACE)), partition=job.partition)
        if not job.adds:
            return Agreement(own)
        accept = job.accept_changes or taken.alone
        return agreed(ledger.storage, ledger.home, own, accept=accept, new_version=job.new_version)

    def _written(self, ledger: Ledger, name: str, taken: Selection, own: Agreement) -> Summary:
        storage, job, found = ledger.storage, self.job, taken.found
        for line in framing_hints(job.plan, job.source):
            self.notify(line)
        close(storage, ledger.home, own)
        for line in (*own.notes, *left_out_notes(job.plan)):
            self.notify(line)
        batch = Batch(
            ledger, ledger.last() + 1, job.plan, own.terms, TABLES, self.notify, self.limits, job.overwrite,
            self.watcher, job.sizes,
        )  # fmt: skip
        tables = ParquetTables.below(ledger, own.terms.version)
        entry = replace(self._prepared(found, batch, tables), job=name, files=tuple(map(recorded, found.files)))
        entry = self._replacing(ledger, entry, taken)
        try:
            ledger.add(entry)
        except FileExistsError as error:
            raise MisuseError(f"another job has already written batch {entry.number} of {job.output}") from error
        ledger.settle(entry)
        if view := show(storage, ledger.home, own.terms):
            self.notify(view_note(view, own.terms))
        return entry.summary

    def _prepared(self, found: Found, batch: Batch, tables: Tables) -> Entry:
        """Run the tasks; if too much is bad, raises LimitError with the likely reason."""
        try:
            return self.engine.prepared(self.job, found, batch, tables)
        except LimitError as error:
            if error.summary is None or not error.summary.records:
                raise
            why = verdict(self.job.plan, self.job.source, found, error.summary, again="")
            raise LimitError(f"{error}; {why}", error.summary) from error

    def _replacing(self, ledger: Ledger, entry: Entry, taken: Selection) -> Entry:
        """The entry, with the moves that remove old rows."""
        storage, home = ledger.storage, ledger.home
        if self.job.overwrite:
            return replace(entry, moves=(*_replaced(storage, home, entry.staging), *entry.moves))
        if not taken.again:
            return entry
        away = replacement(storage, home, entry.staging, taken.again, _files_of_batches(ledger))
        removed = away.removed
        files = f"{removed.files} file{'' if removed.files == 1 else 's'}"
        self.notify(
            f"read {files} again: {removed.rows} rows and {removed.quarantined} quarantined records are replaced"
        )
        return replace(entry, moves=(*entry.moves, *away.moves), removed=removed)


def _files_of_batches(ledger: Ledger) -> Mapping[int, frozenset[str]]:
    """The identities of the files of each batch, if its entry lists them."""
    return {
        entry.number: identities(entry.files)
        for entry in ledger.entries()
        if entry.files and all("-" in file for file in entry.files)
    }


def _again(taken: Selection, *, all_of_it: bool) -> str:
    """The options that read the files of a batch once more."""
    paths = "" if all_of_it else "".join(f" {shell_path(file)}" for file in taken.found.files[:NAMED])
    more = " ..." if not all_of_it and len(taken.found.files) > NAMED else ""
    return f"--again{paths}{more}" + ("" if taken.alone else " --accept-changes")


def _name(job: Job, found: Found) -> str:
    """A digest of what the job reads and how: the state of the files, and the plan."""
    again = [] if job.again is None else [[job.append, *job.again]]
    return _hash([*_manner(job), [(file.path, file.size, file.modified) for file in found.files], *again])


def _manner(job: Job) -> list[object]:
    """How a job reads its input."""
    plan = asdict(replace(job.plan, module=""))
    del plan["taken"]  # only replays use it
    return [plan, job.column]


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()


def _done(ledger: Ledger, job: Job, name: str, finished: Sequence[Entry]) -> Entry | None:
    """The batch with the result of this job: one that `recover` finished, or one from an earlier run.

    A job that replaces tables or rows accepts only the former. A job that adds to tables checks each file instead.
    """
    if not _has_tables(ledger):
        return None
    entries = finished if job.overwrite or job.adds else in_tables(ledger.entries())
    for place, entry in enumerate(entries):
        later = {file.partition("-")[0] for each in entries[place + 1 :] if each.removed.files for file in each.files}
        if entry.job == name and not any(file.partition("-")[0] in later for file in entry.files):
            return entry
    return None


def _has_tables(ledger: Ledger) -> bool:
    """Whether the tables exist."""
    return ledger.storage.exists(f"{ledger.home}/{RECORDS}")


def _refuse_existing(storage: Storage, job: Job) -> None:
    """Refuse existing tables unless the options allow adding or replacing."""
    if storage.exists(f"{job.output}/{LEDGER}/{IDENTITY}"):
        raise MisuseError(
            f"a stream writes to {job.output}; move files into the folder that it watches, or choose another --output"
        )
    if job.overwrite or job.adds:
        return
    for name in (RECORDS, QUARANTINE):
        if storage.exists(f"{job.output}/{name}"):
            ways = "add to both tables with --append, or replace them with --overwrite"
            if not is_ours(storage, job.output):
                ways = "or move it away, since wireloom did not write it"
            raise MisuseError(f"{job.output}/{name} exists; choose another --output, {ways}")


def _replaced(storage: Storage, home: str, staging: str) -> tuple[Move, ...]:
    """Moves of all existing files of the tables, in all versions, to the staging folder of the new batch."""
    others = [name for name in storage.names(home) if name == VIEW or VERSION.fullmatch(name)]
    return tuple((f"{home}/{name}", f"{staging}{OLD}{name}") for name in others) + tuple(
        (f"{home}/{name}/{each}", f"{staging}{OLD}{name}/{each}")
        for name in (RECORDS, QUARANTINE)
        for each in storage.names(f"{home}/{name}")
    )
