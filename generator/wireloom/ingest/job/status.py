"""The status of an output: ledger, running jobs, staged files, and the last refused records.

It reads only files, with pyarrow and without Spark, and changes nothing. `swept` removes staged files that no entry of
the ledger names; it never touches files of the tables.
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
from wireloom.ingest.ledger.lease import Holder, awaited, holder, leased
from wireloom.ingest.plan import OFFSET, PARTITION, QUARANTINE, RECORD, SOURCE, TOPIC, Summary
from wireloom.ingest.tables.agreement import Terms, compared
from wireloom.ingest.tables.schemas import MEANING

SHOWN = 5
"""Refused records that are shown."""
STOPS = 3
"""Failures of jobs that are shown."""
LOOKED_AT = 20
"""Most files of the quarantine that are searched for them."""
FIRST_BYTES = 32


@dataclass(frozen=True, slots=True)
class Failure:
    """A refused record in the quarantine."""

    code: str
    path: str
    offset: int | None
    expected: str
    actual: str
    meaning: str
    origin: str  # file and number, or topic, partition and offset
    size: int | None
    first: str  # the first bytes in hexadecimal


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec that wrote batches, and its changes of the columns."""

    digest: str
    batch: int
    time: str
    columns: int
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """A folder below `_staging`. `batch` is its batch if that is in the ledger, but not moved yet."""

    path: str
    kind: str
    files: int
    bytes: int
    batch: int | None
    in_use: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a job stopped, when (UTC), and the file with details."""

    path: str
    time: str
    said: str


@dataclass(frozen=True, slots=True)
class OutputStatus:
    """The status of an output."""

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
    partition: tuple[str, ...] = ()  # partition columns of the records
    stops: tuple[Stop, ...] = ()
    removed: Removed = field(default_factory=Removed)  # old rows of files that were read again


@dataclass(frozen=True, slots=True)
class Swept:
    """An action on a staged folder, done or planned. `settled` is the batch whose move was finished."""

    path: str
    files: int
    bytes: int
    settled: int | None = None


def output_status(output: str) -> OutputStatus:
    """The status of an output; raises MisuseError if there are no tables of ours."""
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
    """Remove staged folders without a batch, and finish the moves of batches; with `dry`, only list them.

    Raises MisuseError if a job works on the output, since its staged files are in use.
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
        with leased(ledger.storage, ledger, "clean"):
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
    """The job that works on the output, if any. A job on another machine is assumed to be alive."""
    found = holder(ledger.storage, ledger)
    return None if found is None or found.lives is False else found


def _specs(entries: list[Entry]) -> Iterator[Spec]:
    """Each change of the spec, with its changes of the columns."""
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
    """Incomplete ledger entries of killed processes."""
    folder = f"{ledger.home}/{LEDGER}"
    return [f"{folder}/{name}" for name in ledger.storage.names(folder) if name.startswith(f".{ledger.kind}-")]


def _stops(storage: PlainStorage, folder: str) -> Iterator[Stop]:
    """The last noted failures, newest first."""
    for name in reversed(storage.names(folder)[-STOPS:]):
        with suppress(OSError, ValueError):  # a file may disappear meanwhile
            second, _, part = name.partition("-")[0].partition(".")  # older names have no fraction of a second
            noted_at = datetime.strptime(f"{second}.{part or 0}", NOTED).replace(tzinfo=UTC)
            reason = storage.read(f"{folder}/{name}").partition("\n")[0]
            yield Stop(f"{folder}/{name}", noted_at.isoformat(), reason)


# --- what was refused ----------------------------------------------------------------------------------------------


def _failures(output: str) -> Iterator[Failure]:
    """The last refused records, preferring different codes and paths."""
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
    """Some of the last rows of a file, if it still exists. Only their own bytes are read."""
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
    """The origin of a quarantined record, as text."""
    if row.get(TOPIC) is not None:
        return f"{row[TOPIC]}, partition {row[PARTITION]}, offset {row[OFFSET]}"
    at = "" if row.get(OFFSET) is None else f", at byte {row[OFFSET]}"
    return f"{row.get(SOURCE)}, record {row.get(RECORD)}{at}"
