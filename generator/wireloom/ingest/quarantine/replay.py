"""A replay decodes a quarantine with a newer spec. Records that decode now move to the records table; the others stay.

Records that stay form a new generation of the quarantine: one batch, with the new errors and the digest of the new
spec, which replaces all batches that existed when the replay began. Like every batch, it is entered in a ledger (that
of the quarantine's output) and then moved. If a replay is killed, the next one finishes it first, on either engine. A
stream may add to the quarantine meanwhile; a second replay may not. For Delta tables, the moves are commits: one adds
to the records, one replaces the generation.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.job.diagnosis import End, diagnosed
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.ledger.entries import BATCHES, REPLAYS, Commit, Entry, Ledger, Move, Storage
from wireloom.ingest.ledger.lease import leased
from wireloom.ingest.ledger.ownership import refuse_within
from wireloom.ingest.ledger.publishing import Batch, ParquetTables, Tables
from wireloom.ingest.plan import BATCH, DELTA_LOG, QUARANTINE, RECORDS, Counts, Replay, Summary, counts
from wireloom.ingest.tables.agreement import Terms, agreed, folder, home_of, known, terms
from wireloom.ingest.tables.versions import close, show


@dataclass(frozen=True, slots=True)
class Refused:
    """The number of records that a spec of a format refused."""

    format: str
    digest: str
    count: int


class Quarantine(Protocol):
    """Reads the rows of a quarantine."""

    @property
    def place(self) -> pa.Schema:
        """The columns that say where each record came from."""

    def refused(self) -> tuple[Refused, ...]:
        """How many records each spec refused."""

    def cut(self) -> int:
        """How many records are incomplete."""

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Decode all records and write the results; returns the entry for the ledger. Raises DataError."""


class Arrangement(Protocol):
    """The layout of a quarantine and of the records table that a replay writes to."""

    def refuse_others(self, records: str) -> None:
        """Raise MisuseError if the records table has another layout."""

    def taken(self, records: str) -> Iterable[int]:
        """The numbers of replays that either table has rows of."""

    def tables(self, records: str, terms: Terms) -> Tables:
        """The tables to write decoded and still bad records to."""

    def retired(self, staging: str) -> tuple[Move, ...]:
        """The moves that remove the replayed batches, after the new ones were added."""


class Found(NamedTuple):
    """A quarantine, and its layout."""

    rows: Quarantine
    arrangement: Arrangement


class Engine(Protocol):
    """Runs the tasks of a replay, and accesses files."""

    @property
    def storage(self) -> Storage:
        """Access to the files of ledger and tables."""

    def ended(self) -> End:
        """How the Java process ended, if it did."""

    def quarantine(self, path: str, batches: tuple[str, ...]) -> Quarantine:
        """The given batches of a quarantine; raises MisuseError if the path is not one."""

    def delta(self, path: str) -> Found:
        """A quarantine in a Delta table; raises MisuseError or MachineError if this engine cannot read it."""

    def commit(self, commit: Commit) -> None:
        """Make a commit of a Delta table, unless it exists."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Parquet files, with a folder for each batch."""

    storage: Storage
    quarantine: str
    batches: tuple[str, ...]

    def refuse_others(self, records: str) -> None:
        """Raise MisuseError if the table has Parquet files outside of a batch's folder."""
        for name in self.storage.names(records):
            if not name.startswith((f"{BATCH}=", "_", ".")):
                raise MisuseError(f"{records} has {name}, so another version made it; choose another --output")

    def taken(self, records: str) -> Iterable[int]:
        """The numbers of replay folders in the quarantine and in the records table, which quarantines may share."""
        mark = f"{BATCH}=-"
        names = (*self.storage.names(self.quarantine), *self.storage.names(records))
        return [int(name.removeprefix(mark)) for name in names if mark in name]

    def tables(self, records: str, terms: Terms) -> Tables:  # noqa: ARG002 - Arrangement's
        """Folders beside the existing ones."""
        return ParquetTables({RECORDS: records, QUARANTINE: self.quarantine}, "-")

    def retired(self, staging: str) -> tuple[Move, ...]:
        """The old batches go after the new one appears: for a moment readers see records twice, but never miss any."""
        return tuple((f"{self.quarantine}/{name}", f"{staging}/old/{name}") for name in self.batches)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay.

    `before` counts records by spec digest; `cut` is the number of incomplete ones, which stay.
    """

    number: int
    summary: Summary
    digest: str
    before: Counts = ()
    cut: int = 0
    version: int = 1  # of the records table's columns


def finish(engine: Engine, quarantine: str) -> tuple[Entry, ...]:
    """Finish killed replays; returns those. Raises MisuseError if there is no table."""
    refuse_no_table(quarantine, engine.storage.names(engine.storage.absolute(quarantine)))
    ledger = _ledger(engine, quarantine)
    with leased(engine.storage, ledger, "replay"):
        return ledger.recover()


def _ledger(engine: Engine, quarantine: str) -> Ledger:
    storage = engine.storage
    home = home_of(storage, storage.absolute(quarantine).rpartition("/")[0])
    return Ledger(storage, home, REPLAYS, engine.commit)


def formats(engine: Engine, quarantine: str) -> tuple[str, ...]:
    """The formats of the records in a quarantine; raises MisuseError if it is none."""
    found = _found(engine, quarantine)
    return tuple(sorted({each.format for each in found.rows.refused()}))


def formats_of_batches(engine: Engine, quarantine: str) -> tuple[str, ...]:
    """The formats of the batches beside a quarantine; empty if the ledger does not tell all of them."""
    ledger = Ledger(engine.storage, _ledger(engine, quarantine).home, BATCHES)
    entries = ledger.entries()
    found = {Terms.read(entry.terms).format if entry.terms else "" for entry in entries}
    return () if "" in found or ledger.total()[0] != len(entries) else tuple(sorted(found))


def replay(engine: Engine, run: Replay) -> Replayed:
    """Run the replay; raises MisuseError if the tables do not fit, DataError if the counts do not add up."""
    module = open_module(run.plan)  # raises if the package has another spec than the plan
    storage = engine.storage
    output = home_of(storage, storage.absolute(run.output))
    refuse_within(run.output, storage, of_version=True)
    ledger = _ledger(engine, run.quarantine)
    before = known(storage, ledger.home)
    taken = (before.framing if before is not None else "") or module.CODEC.framing
    run = replace(run, plan=replace(run.plan, taken=taken))
    with diagnosed(run.output, engine.ended), leased(storage, ledger, "replay"):
        _finish_replacement(storage, ledger.home)
        ledger.recover()
        try:
            return _run(engine, run, ledger, output)
        except BaseException:
            ledger.abandon()
            raise


def _finish_replacement(storage: Storage, home: str) -> None:
    """Finish the moves of a killed job that replaces rows."""
    batches = Ledger(storage, home, BATCHES)
    pending = (entry for entry in batches.staged().values() if entry is not None)
    if any(entry.anew or entry.removed.files for entry in pending):
        with leased(storage, batches, "replay"):
            batches.recover()


def _run(engine: Engine, run: Replay, ledger: Ledger, output: str) -> Replayed:
    storage = engine.storage
    found, arrangement = _found(engine, run.quarantine)
    arrangement.refuse_others(f"{output}/{RECORDS}")
    before = _before(found, run)
    cut = 0 if run.plan.from_source else found.cut()
    # a replay usually has other parameters, so changes are accepted
    agreement = agreed(storage, output, terms(run.plan, found.place), accept=True, new_version=run.new_version)
    close(storage, output, agreement)
    records = f"{folder(output, agreement.terms.version)}/{RECORDS}"
    number = max([ledger.last(), 0, *arrangement.taken(records)]) + 1
    batch = Batch(ledger, number, run.plan, agreement.terms, empty=(QUARANTINE,))
    entry = found.prepared(batch, arrangement.tables(records, agreement.terms))
    entry = replace(entry, moves=(*entry.moves, *arrangement.retired(entry.staging)))
    try:
        ledger.add(entry)
    except FileExistsError as error:
        raise MisuseError(f"another replay of {run.quarantine} has finished first; start again for the rest") from error
    ledger.settle(entry)
    show(storage, output, agreement.terms)
    return Replayed(number, entry.summary, run.plan.digest, before, cut, agreement.terms.version)


def _found(engine: Engine, named: str) -> Found:
    quarantine = engine.storage.absolute(named)
    names = engine.storage.names(quarantine)
    if DELTA_LOG in names:
        return engine.delta(quarantine)
    refuse_no_table(named, names)
    batches = tuple(name for name in names if not name.startswith(("_", ".")))
    return Found(engine.quarantine(named, batches), Folders(engine.storage, quarantine, batches))


def refuse_no_table(named: str, names: Iterable[str]) -> None:
    """Raise MisuseError if a folder with these names is not a table."""
    if QUARANTINE in names:
        raise MisuseError(f"{named} holds both tables; name the folder {named.rstrip('/')}/{QUARANTINE}")
    if DELTA_LOG not in names and all(name.startswith(("_", ".")) for name in names):
        raise MisuseError(f"{named} is not a table; name the folder `quarantine` that ingest made")


def _before(found: Quarantine, run: Replay) -> Counts:
    """How many records each spec refused; raises MisuseError if they are of another format."""
    refused = found.refused()
    others = sorted({each.format for each in refused} - {run.plan.format})
    if others:
        raise MisuseError(f"{run.quarantine} has records of {', '.join(others)}, not of {run.plan.format}")
    return counts((each.digest, each.count) for each in refused)
