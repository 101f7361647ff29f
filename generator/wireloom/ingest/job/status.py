"""The status of an output: what its ledger lists, which jobs are running, what is staged, and what was refused last.

It is read from files alone, with pyarrow, without Spark, and changes nothing. `swept` removes staged files that no
entry of the ledger names, and nothing else: files of the tables are never touched.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import File, Listing, place
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.diagnosis import FAILURES, NOTED
from wireloom.ingest.ledger.entries import BATCHES, IDENTITY, KINDS, LEDGER, REPLAYS, Entry, Ledger, Removed
from wireloom.ingest.ledger.lease import Holder, awaited, held, holder
from wireloom.ingest.plan import OFFSET, PARTITION, QUARANTINE, RECORD, SOURCE, TOPIC, Summary
from wireloom.ingest.tables.agreement import Terms, compared
from wireloom.ingest.tables.schemas import MEANING

SHOWN = 5
"""Refused records that are shown."""
STOPS = 3
"""Failures of jobs that are shown."""
LOOKED_AT = 20
"""Files of the quarantine in which they are looked for."""
FIRST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Failure:
    """A record of the quarantine."""

    code: str
    path: str
    offset: int | None
    expected: str
    actual: str
    meaning: str
    origin: str  # file and number, or topic, partition and offset
    size: int | None
    first: str  # its first bytes, hexadecimal


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec by which batches were written, and what it brought."""

    digest: str
    batch: int
    time: str
    columns: int
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """A folder below `_staging`; `batch` is the one that is entered and not moved yet."""

    path: str
    kind: str
    files: int
    bytes: int
    batch: int | None
    in_use: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """What stopped a job, when (UTC), and the file that has the details."""

    path: str
    time: str
    said: str


@dataclass(frozen=True, slots=True)
class OutputStatus:
    """How an output stands."""

    output: str
    stream: str | None
    running: tuple[Holder, ...]
    batches: int
    first: str
    last: str
    summary: Summary
    replays: tuple[Entry, ...]
    specs: tuple[Spec, ...]
    failures: tuple[Failure, ...]
    staged: tuple[Staged, ...]
    partition: tuple[str, ...] = ()  # columns of the records that are folders
    stops: tuple[Stop, ...] = ()
    removed: Removed = field(default_factory=Removed)  # what files that were read again had in the tables before


@dataclass(frozen=True, slots=True)
class Swept:
    """What was done, or would be, about one thing that was staged; `settled` is the batch that was moved."""

    path: str
    files: int
    bytes: int
    settled: int | None = None


def output_status(output: str) -> OutputStatus:
    """How it stands; raises MisuseError where no tables of ours are there."""
    storage = PlainStorage()
    ledgers = _ledgers(output)
    entries = sorted(ledgers[BATCHES].entries(), key=lambda entry: entry.time)
    count, summary = ledgers[BATCHES].total()
    stream = f"{output}/{LEDGER}/{IDENTITY}"
    return OutputStatus(
        output,
        storage.read(stream) if storage.exists(stream) else None,
        tuple(found for ledger in ledgers.values() if (found := _alive(ledger)) is not None),
        count,
        entries[0].time if entries else "",
        entries[-1].time if entries else "",
        summary,
        ledgers[REPLAYS].entries(),
        tuple(_specs(entries)),
        tuple(_failures(output)),
        tuple(staged for ledger in ledgers.values() for staged in _staged(ledger)),
        Terms.read(entries[-1].terms).partition if entries and entries[-1].terms else (),
        tuple(_stops(storage, f"{output}/{FAILURES}")),
        ledgers[BATCHES].removed(),
    )


def swept(output: str, *, dry: bool) -> Iterator[Swept]:
    """Remove what is staged and belongs to no batch, move what does; nothing is done where `dry`.

    Raises MisuseError where a job works on the output: what it stages is its own.
    """
    for ledger in _ledgers(output).values():
        if dry:
            found = holder(ledger.storage, ledger)
            if found is not None and awaited(ledger.storage, ledger, found):
                raise MisuseError(f"{output} is in use: {found}; its staged files are kept")
            yield from _sweeping(ledger)
            continue
        if not ledger.staged() and not _drafts(ledger):
            continue
        with held(ledger.storage, ledger, "clean"):
            found_here = list(_sweeping(ledger))
            ledger.recover()
            for path in _drafts(ledger):
                ledger.storage.delete(path)
        yield from found_here


def _ledgers(output: str) -> dict[str, Ledger]:
    storage = PlainStorage()
    if not storage.exists(output):
        raise MisuseError(f"there is no {output}")
    if not storage.exists(f"{output}/{LEDGER}"):
        raise MisuseError(f"{output} has no tables of ingest; name the folder that ingest writes to")
    return {kind: Ledger(storage, storage.absolute(output), kind) for kind in KINDS}


def _alive(ledger: Ledger) -> Holder | None:
    """Who works there; a job on another machine is believed."""
    found = holder(ledger.storage, ledger)
    return None if found is None or found.lives is False else found


def _specs(entries: list[Entry]) -> Iterator[Spec]:
    """Each change of spec, with what it meant for the columns."""
    before: Terms | None = None
    digest = ""
    for entry in entries:
        now = Terms.read(entry.terms) if entry.terms else None
        if entry.digest == digest:
            continue
        digest = entry.digest
        changes = () if before is None or now is None else _changes(before, now)
        columns = len(now.records["fields"]) if now else 0
        yield Spec(digest, entry.number, entry.time, columns, changes)
        before = now or before


def _changes(before: Terms, now: Terms) -> tuple[str, ...]:
    found = compared(before, now)
    return (*found.settings, *found.notes, *found.refused)


def _staged(ledger: Ledger) -> Iterator[Staged]:
    in_use = _alive(ledger) is not None
    for path, entry in ledger.staged().items():
        files, size = PlainStorage().extent(path)
        yield Staged(path, ledger.kind, files, size, None if entry is None else entry.number, in_use)


def _sweeping(ledger: Ledger) -> Iterator[Swept]:
    for path, entry in ledger.staged().items():
        yield Swept(path, *PlainStorage().extent(path), None if entry is None else entry.number)
    for path in _drafts(ledger):
        yield Swept(path, 1, 0)


def _drafts(ledger: Ledger) -> list[str]:
    """Entries of the ledger that were being written when their process was killed."""
    folder = f"{ledger.home}/{LEDGER}"
    return [f"{folder}/{name}" for name in ledger.storage.names(folder) if name.startswith(f".{ledger.kind}-")]


def _stops(storage: PlainStorage, folder: str) -> Iterator[Stop]:
    """The last failures that were noted, the newest first."""
    for name in reversed(storage.names(folder)[-STOPS:]):
        with suppress(OSError, ValueError):  # one may go meanwhile
            second, _, part = name.partition("-")[0].partition(".")  # older ones are of a second
            noted_at = datetime.strptime(f"{second}.{part or 0}", NOTED).replace(tzinfo=UTC)
            reason = storage.read(f"{folder}/{name}").partition("\n")[0]
            yield Stop(f"{folder}/{name}", noted_at.isoformat(), reason)


# --- what was refused ----------------------------------------------------------------------------------------------


def _failures(output: str) -> Iterator[Failure]:
    """The last records that were refused, of different codes and paths first."""
    storage = PlainStorage()
    homes = [output, *(f"{output}/{name}" for name in storage.names(output) if re.fullmatch(r"v\d+", name))]
    there = tuple(place(f"{home}/{QUARANTINE}").shown for home in homes if storage.exists(f"{home}/{QUARANTINE}"))
    if not there:
        return
    files = Listing(there, "*.parquet", recursive=True).files()
    newest = sorted(files, key=lambda file: file.modified, reverse=True)[:LOOKED_AT]
    kinds: dict[tuple[str, str], Failure] = {}
    more: list[Failure] = []
    for file in newest:
        for failure in _last_of(file):
            if (failure.code, failure.path) in kinds:
                more.append(failure)
            else:
                kinds[failure.code, failure.path] = failure
        if len(kinds) >= SHOWN:
            break
    yield from (*kinds.values(), *more)[:SHOWN]


def _last_of(file: File) -> Iterator[Failure]:
    """Some of the last rows of a file, which may go meanwhile; their bytes are read of these alone."""
    with suppress(OSError, pa.ArrowException), file.place.open() as source:
        parquet = pq.ParquetFile(source)
        group = parquet.num_row_groups - 1
        if group < 0 or not parquet.metadata.row_group(group).num_rows:
            return
        names = [name for name in parquet.schema_arrow.names if name != "raw"]
        rows = parquet.read_row_group(group, names)
        kinds: dict[tuple[str, str], list[int]] = {}
        for at, kind in reversed([*enumerate(zip(rows["code"].to_pylist(), rows["path"].to_pylist(), strict=True))]):
            kinds.setdefault(kind, []).append(at)
        chosen = [each[0] for each in kinds.values()][:SHOWN]
        chosen += [at for each in kinds.values() for at in each[1:SHOWN]][: SHOWN - len(chosen)]
        raw = parquet.read_row_group(group, ["raw"])["raw"].take(chosen)
        first = pc.binary_slice(raw.combine_chunks(), 0, FIRST_BYTES)
        for row, data in zip(rows.take(chosen).to_pylist(), first.to_pylist(), strict=True):
            yield Failure(
                row["code"],
                row["path"],
                row["offset"],
                row["expected"],
                row["actual"],
                row.get(MEANING) or "",
                origin(row),
                row["raw_size"],
                (data or b"").hex(" "),
            )


def origin(row: dict[str, object]) -> str:
    """Where a record of a quarantine came from."""
    if row.get(TOPIC) is not None:
        return f"{row[TOPIC]}, partition {row[PARTITION]}, offset {row[OFFSET]}"
    at = "" if row.get(OFFSET) is None else f", at byte {row[OFFSET]}"
    return f"{row.get(SOURCE)}, record {row.get(RECORD)}{at}"
