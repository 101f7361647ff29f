"""A replay: a quarantine is decoded again with a newer spec. What decodes now moves to the records, the rest stays.

What stays is a new generation of the quarantine: one batch, with the new errors and the digest of the new spec, in
place of all batches that existed when the replay began. Like every batch it is entered in a ledger (that of the
folder with the quarantine) and then moved. If a replay is killed, the next one finishes it first, on either engine.
A stream may add to the quarantine meanwhile; a second replay may not. For Delta tables the moves are commits: one
adds to the records, one replaces the generation.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.job.diagnosis import End, diagnosed
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.ledger.entries import BATCHES, REPLAYS, Commit, Entry, Ledger, Move, Storage
from wireloom.ingest.ledger.lease import held
from wireloom.ingest.ledger.ownership import refuse_within
from wireloom.ingest.ledger.publishing import Batch, ParquetTables, Tables
from wireloom.ingest.plan import BATCH, DELTA_LOG, QUARANTINE, RECORDS, Counts, Replay, Summary, counts
from wireloom.ingest.tables.agreement import Terms, agreed, folder, home_of, known, terms
from wireloom.ingest.tables.versions import close, show


@dataclass(frozen=True, slots=True)
class Refused:
    """So many records of a quarantine that a spec of a format had refused."""

    format: str
    digest: str
    count: int


class Quarantine(Protocol):
    """The rows of a quarantine, and who reads them."""

    @property
    def place(self) -> pa.Schema:
        """The columns that say where each record came from."""

    def refused(self) -> tuple[Refused, ...]:
        """What is in it."""

    def cut(self) -> int:
        """How many records have lost bytes."""

    def prepared(self, batch: Batch, tables: Tables) -> Entry:
        """Read all of it and write it; the entry that makes it so. Raises DataError."""


class Arrangement(Protocol):
    """How a quarantine lies in its folder, and the records that come of it in theirs."""

    def refuse_others(self, records: str) -> None:
        """Raises MisuseError where a table of records lies otherwise."""

    def taken(self, records: str) -> Iterable[int]:
        """Numbers of replays that one of the tables has rows of."""

    def tables(self, records: str, terms: Terms) -> Tables:
        """Where what is decoded goes, and what is still bad."""

    def retired(self, staging: str) -> tuple[Move, ...]:
        """What goes away after its successor."""


class Found(NamedTuple):
    """A quarantine, and how it lies."""

    rows: Quarantine
    arrangement: Arrangement


class Engine(Protocol):
    """Who runs the tasks of a replay, and how files are reached."""

    @property
    def storage(self) -> Storage:
        """The files of ledger and tables."""

    def ended(self) -> End:
        """How Java ended, where it has."""

    def quarantine(self, path: str, batches: tuple[str, ...]) -> Quarantine:
        """These batches of a quarantine; raises MisuseError where it is none."""

    def delta(self, path: str) -> Found:
        """A quarantine that is a Delta table; raises MisuseError or MachineError where it cannot be read here."""

    def commit(self, commit: Commit) -> None:
        """Make a commit of a Delta table, unless it is there."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Parquet files, in folders of batches."""

    storage: Storage
    quarantine: str
    batches: tuple[str, ...]

    def refuse_others(self, records: str) -> None:
        """Nothing can be added to Parquet files that lie in a table without the folder of a batch."""
        for name in self.storage.names(records):
            if not name.startswith((f"{BATCH}=", "_", ".")):
                raise MisuseError(f"{records} has {name}, so another version made it; choose another --output")

    def taken(self, records: str) -> Iterable[int]:
        """Folders of replays, in this output or in one that several quarantines are replayed to."""
        mark = f"{BATCH}=-"
        names = (*self.storage.names(self.quarantine), *self.storage.names(records))
        return [int(name.removeprefix(mark)) for name in names if mark in name]

    def tables(self, records: str, terms: Terms) -> Tables:  # noqa: ARG002 - Arrangement's
        """Folders beside those that are there."""
        return ParquetTables({RECORDS: records, QUARANTINE: self.quarantine}, "-")

    def retired(self, staging: str) -> tuple[Move, ...]:
        """What has been replayed goes, after its successor is there: better seen twice for a moment than not at all."""
        return tuple((f"{self.quarantine}/{name}", f"{staging}/old/{name}") for name in self.batches)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did: `before` counts records by their spec's digest; `cut` ones had lost bytes, and stay."""

    number: int
    summary: Summary
    digest: str
    before: Counts = ()
    cut: int = 0
    version: int = 1  # of the columns that the records have now


def finish(engine: Engine, quarantine: str) -> tuple[Entry, ...]:
    """Finish replays that were killed; which those are. Raises MisuseError where there is no table."""
    refuse_no_table(quarantine, engine.storage.names(engine.storage.absolute(quarantine)))
    ledger = _ledger(engine, quarantine)
    with held(engine.storage, ledger, "replay"):
        return ledger.recover()


def _ledger(engine: Engine, quarantine: str) -> Ledger:
    storage = engine.storage
    home = home_of(storage, storage.absolute(quarantine).rpartition("/")[0])
    return Ledger(storage, home, REPLAYS, engine.commit)


def formats(engine: Engine, quarantine: str) -> tuple[str, ...]:
    """The formats of the records in a quarantine; raises MisuseError where it is none."""
    found = _found(engine, quarantine)
    return tuple(sorted({each.format for each in found.rows.refused()}))


def formats_of_batches(engine: Engine, quarantine: str) -> tuple[str, ...]:
    """The formats that the batches beside a quarantine are of; none where the ledger does not tell of all of them."""
    ledger = Ledger(engine.storage, _ledger(engine, quarantine).home, BATCHES)
    entries = ledger.entries()
    found = {Terms.read(entry.terms).format if entry.terms else "" for entry in entries}
    return () if "" in found or ledger.total()[0] != len(entries) else tuple(sorted(found))


def replay(engine: Engine, run: Replay) -> Replayed:
    """Run it; raises MisuseError where the tables do not fit, DataError where the books do not balance."""
    module = open_module(run.plan)  # which must be of the plan's spec
    storage = engine.storage
    output = home_of(storage, storage.absolute(run.output))
    refuse_within(run.output, storage, of_version=True)
    ledger = _ledger(engine, run.quarantine)
    before = known(storage, ledger.home)
    taken = (before.framing if before is not None else "") or module.CODEC.framing
    run = replace(run, plan=replace(run.plan, taken=taken))
    with diagnosed(run.output, engine.ended), held(storage, ledger, "replay"):
        _finish_replacement(storage, ledger.home)
        ledger.recover()
        try:
            return _run(engine, run, ledger, output)
        except BaseException:
            ledger.abandon()
            raise


def _finish_replacement(storage: Storage, home: str) -> None:
    """Where a job that takes rows out of the tables was killed while it moved files, move the others."""
    batches = Ledger(storage, home, BATCHES)
    pending = (entry for entry in batches.staged().values() if entry is not None)
    if any(entry.anew or entry.removed.files for entry in pending):
        with held(storage, batches, "replay"):
            batches.recover()


def _run(engine: Engine, run: Replay, ledger: Ledger, output: str) -> Replayed:
    storage = engine.storage
    found, arrangement = _found(engine, run.quarantine)
    arrangement.refuse_others(f"{output}/{RECORDS}")
    before = _before(found, run)
    cut = 0 if run.plan.from_source else found.cut()
    # other parameters are why there are replays
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
    """Raises MisuseError where a folder with these names is no table."""
    if QUARANTINE in names:
        raise MisuseError(f"{named} holds both tables; name the folder {named.rstrip('/')}/{QUARANTINE}")
    if DELTA_LOG not in names and all(name.startswith(("_", ".")) for name in names):
        raise MisuseError(f"{named} is not a table; name the folder `quarantine` that ingest made")


def _before(found: Quarantine, run: Replay) -> Counts:
    """How many records each spec refused; raises MisuseError where they are of another format."""
    refused = found.refused()
    others = sorted({each.format for each in refused} - {run.plan.format})
    if others:
        raise MisuseError(f"{run.quarantine} has records of {', '.join(others)}, not of {run.plan.format}")
    return counts((each.digest, each.count) for each in refused)
