"""The ingest job: raw bytes in, a typed table and a quarantine table out, and a summary that adds up.

The data are decoded once, and both tables appear whole, as one batch of the output's ledger, or not at all. Who runs
the tasks is an `Engine`; the files on the disk do not tell which it was, and either goes on where the other stopped.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Protocol

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.apart import refuse_overlap
from wireloom.ingest.diagnosis import End, diagnosed
from wireloom.ingest.files import Found, reachable
from wireloom.ingest.framing_hints import framing_hints
from wireloom.ingest.inputs import listing
from wireloom.ingest.lease import held
from wireloom.ingest.ledger import BATCHES, IDENTITY, LEDGER, Entry, Ledger, Move, Storage
from wireloom.ingest.limits import NONE, Limits
from wireloom.ingest.ownership import VERSION, is_ours, refuse_foreign, refuse_within
from wireloom.ingest.plan import NOTHING, QUARANTINE, RECORDS, Job, Summary
from wireloom.ingest.publishing import TABLES, Batch, ParquetTables, Tables, Watcher
from wireloom.ingest.tables import PLACE
from wireloom.ingest.terms import Agreement, Terms, agreed, terms, told_of_columns
from wireloom.ingest.versions import VIEW, close, show, told_of

_DIGITS = 16
_OLD = "/old-"  # before the names of what a batch replaced, where it was staged


class Engine(Protocol):
    """Who runs the tasks of a job, and how files are reached."""

    @property
    def storage(self) -> Storage:
        """The files of ledger and tables."""

    def ended(self) -> End:
        """How Java ended, where it has."""

    def prepared(self, job: Job, found: Found | None, batch: Batch, tables: Tables) -> Entry:
        """Read the job's input and write it; the entry that makes it so. Raises MisuseError and DataError.

        `found` is the input where it can be listed here.
        """


def ingest(
    engine: Engine,
    job: Job,
    told: Callable[[str], None] = lambda _: None,
    limits: Limits = NONE,
    watcher: Watcher | None = None,
) -> Summary:
    """Run the job; `told` is told what is new to a table that it adds to, and what was passed over.

    Raises MisuseError where input or output do not fit, MachineError where something is missing, full or broken,
    DataError where files change meanwhile or the books do not balance.
    """
    refuse_overlap(job.source, job.output)
    refuse_within(job.output, engine.storage)
    with diagnosed(job.output, engine.ended):
        return _Run(engine, job, told, limits, watcher).ended()


@dataclass(frozen=True, slots=True)
class _Run:
    engine: Engine
    job: Job
    told: Callable[[str], None]
    limits: Limits
    watcher: Watcher | None

    def ended(self) -> Summary:
        """Run it, unless it was run before."""
        job = self.job
        listed = listing(job.source) if reachable(job.input) else None
        name = _name(job, listed)
        storage = self.engine.storage
        ledger = Ledger(storage, storage.absolute(job.output), BATCHES)
        self._refuse_foreign(ledger)
        with held(storage, ledger, "ingest", self.told):
            done = _done(ledger, job, name, ledger.recover())
            if done is not None:
                batch = f"batch {done.number} of {done.time}"
                self._refuse_other_folders(done)
                self.told(f"{job.output} has it: {batch}, of the same files and spec; nothing to do")
                return done.summary
            left = self._left(ledger, listed)
            if left is not None and listed is not None and listed.files and not left.files:
                return NOTHING
            try:
                return self._written(ledger, name, left)
            except BaseException:
                ledger.abandon()
                raise

    def _refuse_foreign(self, ledger: Ledger) -> None:
        """Never replace, or mix with batches, what no job has written; before there is a ledger."""
        job, storage = self.job, self.engine.storage
        if not is_ours(storage, ledger.home):
            _refuse_existing(storage, job)
        if (job.overwrite or job.append) and not storage.exists(f"{ledger.home}/{LEDGER}/{IDENTITY}"):
            refuse_foreign(storage, ledger.home, job.output.rstrip("/"), all_goes=job.overwrite)

    def _left(self, ledger: Ledger, listed: Found | None) -> Found | None:
        """What no batch of the tables was made from in the same way, where the job adds to them."""
        if listed is None or not self.job.append or not _is_there(ledger):
            return listed
        known = {each for entry in _standing(ledger.entries()) for each in entry.files}
        digests = zip(listed.files, _digests(self.job, listed), strict=True)
        left = tuple(file for file, digest in digests if digest not in known)
        count, whole = len(listed.files) - len(left), len(listed.files)
        if count:
            noun = "file" if whole == 1 else "files"
            rest = "left out" if left else "nothing to do"
            self.told(f"{self.job.output} has {count} of {whole} {noun} already, of the same spec: {rest}")
        return replace(listed, files=left)

    def _refuse_other_folders(self, done: Entry) -> None:
        there = Terms.read(done.terms).partition if done.terms else ()
        if self.job.partition and self.job.partition != there:
            raise MisuseError(
                f"{self.job.output} has these files already, partitioned by {', '.join(there) or 'nothing'}; make the "
                "tables anew with --overwrite, or choose another --output"
            )

    def _written(self, ledger: Ledger, name: str, found: Found | None) -> Summary:
        storage, job = ledger.storage, self.job
        _refuse_existing(storage, job)
        for line in framing_hints(job.plan, job.source):
            self.told(line)
        own = Agreement(terms(job.plan, pa.schema(list(PLACE)), partition=job.partition))
        if job.append:
            own = agreed(storage, ledger.home, own.terms, accept=job.accept_changes, new_version=job.new_version)
        close(storage, ledger.home, own)
        for line in (*own.told, *told_of_columns(job.plan)):
            self.told(line)
        batch = Batch(
            ledger, ledger.last() + 1, job.plan, own.terms, TABLES, self.told, self.limits, job.overwrite, self.watcher,
            job.sizes,
        )  # fmt: skip
        tables = ParquetTables.below(ledger, own.terms.version)
        entry = replace(self.engine.prepared(job, found, batch, tables), job=name, files=_digests(job, found))
        if job.overwrite:
            entry = replace(entry, moves=(*_replaced(storage, ledger.home, entry.staging), *entry.moves))
        try:
            ledger.add(entry)
        except FileExistsError as error:
            raise MisuseError(f"another job was faster, and batch {entry.number} of {job.output} is its") from error
        ledger.settle(entry)
        if view := show(storage, ledger.home, own.terms):
            self.told(told_of(view, own.terms))
        return entry.summary


def _name(job: Job, found: Found | None) -> str:
    """What a job reads and how: the files as they are, and the plan. Empty where the files cannot be listed here."""
    if found is None:
        return ""
    return _hash([*_manner(job), [(file.path, file.size, file.modified) for file in found.files]])


def _digests(job: Job, found: Found | None) -> tuple[str, ...]:
    """The same of each of its files, in few characters: the ledger has those of all."""
    manner = _hash(_manner(job))
    files = () if found is None else found.files
    return tuple(_hash([manner, file.path, file.size, file.modified])[:_DIGITS] for file in files)


def _manner(job: Job) -> list[object]:
    """How a job reads."""
    plan = asdict(replace(job.plan, module=""))
    del plan["taken"]  # a replay's
    return [plan, job.column]


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()


def _done(ledger: Ledger, job: Job, name: str, finished: Sequence[Entry]) -> Entry | None:
    """The batch that has what the job would write: one that was killed behind its entry, or all of it.

    Who asks for tables to be replaced gets them replaced, unless that was what was killed.
    """
    if not name or not _is_there(ledger):
        return None
    entries = finished if job.overwrite else _standing(ledger.entries())
    return next((entry for entry in reversed(entries) if entry.job == name), None)


def _is_there(ledger: Ledger) -> bool:
    """Whether there are tables."""
    return ledger.storage.exists(f"{ledger.home}/{RECORDS}")


def _standing(entries: Sequence[Entry]) -> Sequence[Entry]:
    """The batches that are in the tables: those from the last one on that replaced what was there."""
    anew = [place for place, entry in enumerate(entries) if any(_OLD in target for _, target in entry.moves)]
    return entries[anew[-1] :] if anew else entries


def _refuse_existing(storage: Storage, job: Job) -> None:
    """Never add to, or replace, tables unless somebody said so."""
    if storage.exists(f"{job.output}/{LEDGER}/{IDENTITY}"):
        raise MisuseError(f"a stream writes to {job.output}; choose another --output")
    if job.overwrite or job.append:
        return
    for name in (RECORDS, QUARANTINE):
        if storage.exists(f"{job.output}/{name}"):
            ways = "add to both tables with --append, or replace them with --overwrite"
            if not is_ours(storage, job.output):
                ways = "or move it away: wireloom did not write it"
            raise MisuseError(f"{job.output}/{name} exists; choose another --output, {ways}")


def _replaced(storage: Storage, home: str, staging: str) -> tuple[Move, ...]:
    """Everything that the two tables have now goes away, to where the new batch was staged; other versions, too."""
    others = [name for name in storage.names(home) if name == VIEW or VERSION.fullmatch(name)]
    return tuple((f"{home}/{name}", f"{staging}{_OLD}{name}") for name in others) + tuple(
        (f"{home}/{name}/{each}", f"{staging}{_OLD}{name}/{each}")
        for name in (RECORDS, QUARANTINE)
        for each in storage.names(f"{home}/{name}")
    )
