"""Replaces the rows of files that are read again: one ledger entry removes the old rows and adds the new ones.

Each Parquet file with such rows is staged again without them. The moves of the entry put the new file beside the old
one and remove the old one, in both tables and every version. So if a job is killed in between, the next one finishes.
"""

import re
import uuid
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import File, Listing, place, reachable
from wireloom.ingest.ledger.entries import Move, Removed, Storage
from wireloom.ingest.ledger.files_read import identity
from wireloom.ingest.plan import BATCH, QUARANTINE, RECORDS, SOURCE
from wireloom.ingest.tables.parquet_files import SPARK_COLUMNS, parquet_writer

AWAY, KEPT = "replaced", "kept"
"""Folders of the staged batch: for removed files, and for those that replace them."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The moves that replace rows, and the number of those rows."""

    moves: tuple[Move, ...]
    removed: Removed


def sources(storage: Storage, home: str) -> Iterator[str]:
    """The source files in the rows of the tables; some occur several times."""
    for _, file in _files(storage, home):
        yield from _sources(file)


def replacement(
    storage: Storage, home: str, staging: str, gone: Collection[str], batches: Mapping[int, Collection[str]]
) -> Replacement:
    """Remove the rows of the files `gone` (identities) from the tables; raises MisuseError.

    `batches` has the files of batches that list them; in these, a path may have led to another file.
    """
    added: list[Move] = []
    away: list[Move] = []
    removed = Removed()
    for folder, file in _files(storage, home):
        batch = re.search(rf"/{BATCH}=(-?\d+)/", file.path)
        own = gone if batch is None else set(batches.get(int(batch[1]), gone)) & set(gone)
        theirs = [path for path in _sources(file) if identity(path) in own] if own else []
        if not theirs:
            continue
        name = file.path.removeprefix(f"{place(folder).shown}/")
        within = f"{folder.removeprefix(home).strip('/')}/{name.rpartition('/')[0]}".rstrip("/")
        other = f"{within}/part-{uuid.uuid4().hex}.snappy.parquet"
        counted, left = _without(file, theirs, f"{staging}/{KEPT}/{other}")
        removed += counted
        if left:
            added.append((f"{staging}/{KEPT}/{other}", f"{home}/{other}"))
        away.append((f"{folder}/{name}", f"{staging}/{AWAY}/{within}/{name.rpartition('/')[2]}"))
    return Replacement((*added, *away), Removed(len(gone)) + removed)


def _files(storage: Storage, home: str) -> Iterator[tuple[str, File]]:
    """The Parquet files of both tables in every version, each with its table's folder."""
    if not reachable(home):
        raise MisuseError(
            f"only Spark can open {home}, but --again works without Spark; use --overwrite, or another --output"
        )
    versions = [name for name in storage.names(home) if re.fullmatch(r"v\d+", name)]
    for around in (home, *(f"{home}/{version}" for version in versions)):
        for table in (RECORDS, QUARANTINE):
            folder = f"{around}/{table}"
            if storage.exists(folder):
                shown = place(folder).shown
                yield from ((folder, file) for file in Listing((shown,), "*.parquet", recursive=True).files())


def _sources(file: File) -> list[str]:
    """The source files of a file's rows; empty if the rows do not come from files."""
    with file.place.open() as stream:
        parquet = pq.ParquetFile(stream, read_dictionary=[SOURCE])
        if SOURCE not in parquet.schema_arrow.names:
            return []
        found: dict[str, None] = {}
        for group in range(parquet.num_row_groups):
            found |= dict.fromkeys(parquet.read_row_group(group, [SOURCE])[SOURCE].unique().drop_null().to_pylist())
        return list(found)


def _without(file: File, theirs: list[str], target: str) -> tuple[Removed, int]:
    """Copy a file without the rows of some sources; returns what was removed, and the number of remaining rows."""
    removed, left = Removed(), 0
    values = pa.array(theirs, pa.string())
    with file.place.open() as stream:
        parquet = pq.ParquetFile(stream)
        writer: Any = None
        for group in range(parquet.num_row_groups):
            rows = parquet.read_row_group(group)
            going = pc.is_in(rows[SOURCE], value_set=values)
            removed += _counted(rows.filter(going))
            rows = rows.filter(pc.invert(going))
            left += len(rows)
            if len(rows):
                writer = writer or _begun(parquet, target)
                writer[0].write_table(rows)
        if writer is not None:
            writer[0].close()
            writer[1].close()
    return removed, left


def _begun(parquet: pq.ParquetFile, target: str) -> tuple[Any, Any]:
    """Start a file with the same columns, as readers see them."""
    at = place(target)
    at.file_system.create_dir(at.path.rpartition("/")[0], recursive=True)
    stream = at.file_system.open_output_stream(at.path)
    columns = (parquet.metadata.metadata or {}).get(SPARK_COLUMNS, b"")
    return parquet_writer(stream, parquet.schema_arrow, columns), stream


def _counted(rows: pa.Table) -> Removed:
    if "raw_size" in rows.column_names and "spec_digest" in rows.column_names:
        return Removed(quarantined=len(rows), bad_size=pc.sum(rows["raw_size"]).as_py() or 0)
    return Removed(rows=len(rows))
