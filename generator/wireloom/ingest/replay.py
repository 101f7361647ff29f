"""A quarantine table once more, through a newer spec: what decodes now moves to the records, the rest stays.

What stays is a new generation of the quarantine: one batch, with the new errors and the new spec's digest, in place of
all batches that were there when the replay began. Like every batch it is entered in a ledger (that of the folder which
has the quarantine) and then moved; whatever is killed, the next replay finishes it first, on either engine. A stream
may add to the quarantine meanwhile; a second replay may not.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.diagnosis import End, diagnosed
from wireloom.ingest.lease import held
from wireloom.ingest.ledger import REPLAYS, Entry, Ledger, Move, Storage
from wireloom.ingest.modules import open_module
from wireloom.ingest.plan import BATCH, QUARANTINE, RECORDS, Counts, Replay, Summary, counts
from wireloom.ingest.publishing import Batch, ParquetTables, Tables
from wireloom.ingest.terms import agreed, folder, home_of, terms
from wireloom.ingest.versions import close, show


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


class Engine(Protocol):
    """Who runs the tasks of a replay, and how files are reached."""

    @property
    def storage(self) -> Storage:
        """The files of ledger and tables."""

    def ended(self) -> End:
        """How Java ended, where it has."""

    def quarantine(self, path: str, batches: tuple[str, ...]) -> Quarantine:
        """These batches of a quarantine; raises MisuseError where it is none."""


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
    """Finish replays that were killed; which those are."""
    ledger = _ledger(engine.storage, quarantine)
    with held(engine.storage, ledger, "replay"):
        return ledger.recover()


def _ledger(storage: Storage, quarantine: str) -> Ledger:
    return Ledger(storage, home_of(storage, storage.absolute(quarantine).rpartition("/")[0]), REPLAYS)


def formats(engine: Engine, quarantine: str) -> tuple[str, ...]:
    """The formats of the records in a quarantine; raises MisuseError where it is none."""
    found = engine.quarantine(quarantine, _batches(engine.storage, quarantine))
    return tuple(sorted({each.format for each in found.refused()}))


def replay(engine: Engine, run: Replay) -> Replayed:
    """Run it; raises MisuseError where the tables do not fit, DataError where the books do not balance."""
    open_module(run.plan)  # which must be of the plan's spec
    storage = engine.storage
    quarantine, output = storage.absolute(run.quarantine), home_of(storage, storage.absolute(run.output))
    ledger = _ledger(storage, quarantine)
    with diagnosed(run.output, engine.ended), held(storage, ledger, "replay"):
        ledger.recover()
        try:
            return _run(engine, run, ledger, quarantine, output)
        except BaseException:
            ledger.abandon()
            raise


def _run(engine: Engine, run: Replay, ledger: Ledger, quarantine: str, output: str) -> Replayed:
    storage = engine.storage
    old = _batches(storage, quarantine)
    _refuse_other_folders(storage, f"{output}/{RECORDS}")
    found = engine.quarantine(run.quarantine, old)
    before = _before(found, run)
    cut = 0 if run.plan.from_source else found.cut()
    # other parameters are why there are replays
    agreement = agreed(storage, output, terms(run.plan, found.place), accept=True, new_version=run.new_version)
    close(storage, output, agreement)
    records = f"{folder(output, agreement.terms.version)}/{RECORDS}"
    tables = ParquetTables({RECORDS: records, QUARANTINE: quarantine}, "-")
    number = _free(ledger, quarantine, records)
    entry = found.prepared(Batch(ledger, number, run.plan, agreement.terms, empty=(QUARANTINE,)), tables)
    entry = replace(entry, moves=(*entry.moves, *_retired(quarantine, old, entry.staging)))
    try:
        ledger.add(entry)
    except FileExistsError as error:
        raise MisuseError(f"another replay of {run.quarantine} was faster; start again for what is left") from error
    ledger.settle(entry)
    show(storage, output, agreement.terms)
    return Replayed(number, entry.summary, run.plan.digest, before, cut, agreement.terms.version)


def _free(ledger: Ledger, *tables: str) -> int:
    """A number that no replay has had, in this ledger or in a table that several quarantines are replayed to."""
    mark = f"{BATCH}=-"
    taken = [int(name.removeprefix(mark)) for table in tables for name in ledger.storage.names(table) if mark in name]
    return max([ledger.last(), 0, *taken]) + 1


def _refuse_other_folders(storage: Storage, records: str) -> None:
    """Nothing can be added to Parquet files that lie in a table without the folder of a batch."""
    for name in storage.names(records):
        if not name.startswith((f"{BATCH}=", "_", ".")):
            raise MisuseError(f"{records} has {name}, so this version did not make it; choose another --output")


def _batches(storage: Storage, quarantine: str) -> tuple[str, ...]:
    names = storage.names(quarantine)
    if "_delta_log" in names:
        raise MisuseError(f"{quarantine} is a Delta table; a replay reads Parquet so far")
    found = tuple(name for name in names if not name.startswith(("_", ".")))
    if not found:
        raise MisuseError(f"{quarantine} is no table; name the folder `quarantine` that ingest made")
    return found


def _before(found: Quarantine, run: Replay) -> Counts:
    """How many records each spec refused; raises MisuseError where they are of another format."""
    refused = found.refused()
    others = sorted({each.format for each in refused} - {run.plan.format})
    if others:
        raise MisuseError(f"{run.quarantine} has records of {', '.join(others)}, not of {run.plan.format}")
    return counts((each.digest, each.count) for each in refused)


def _retired(quarantine: str, batches: tuple[str, ...], staging: str) -> tuple[Move, ...]:
    """What has been replayed goes, after its successor is there: better seen twice for a moment than not at all."""
    return tuple((f"{quarantine}/{name}", f"{staging}/old/{name}") for name in batches)
