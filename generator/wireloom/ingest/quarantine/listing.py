"""Lists the rows of a quarantine for people: the record, its origin, and its error.

Rows are numbered in the order of their batches, files and offsets, so a row keeps its number until a replay moves rows.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from wireloom.failures import MisuseError
from wireloom.ingest.files.parquet import rows_of
from wireloom.ingest.files.storage import PlainStorage
from wireloom.ingest.job.status import origin
from wireloom.ingest.plan import DELTA_LOG, OFFSET, PARTITION, QUARANTINE, RECORD, SOURCE, TOPIC
from wireloom.ingest.quarantine.replay import refuse_no_table
from wireloom.ingest.quarantine.rows import RAW, FileQuarantine
from wireloom.ingest.tables.schemas import MEANING
from wireloom.runtime.display import bytes_html, fault_rows, table, text

_ERROR_COLUMNS = ("code", "path", "offset", "expected", "actual", MEANING, "format", "raw_size")
_PLACE = (SOURCE, RECORD, OFFSET, TOPIC, PARTITION)


@dataclass(frozen=True, slots=True)
class Row:
    """A record of a quarantine. `raw` has its bytes; of a large record, the first of `size` bytes."""

    number: int
    format: str
    code: str
    meaning: str
    path: str
    offset: int
    expected: str
    actual: str
    size: int
    origin: str
    raw: bytes = b""

    def _repr_html_(self) -> str:
        """The row for notebooks: the error, and the bytes around it."""
        rows = [*fault_rows(self), ("from", text(self.origin)), ("bytes", bytes_html(self.raw, self.offset))]
        return table(f"{self.format}: row {self.number} of the quarantine", rows)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of records with an error code, in one format."""

    format: str
    code: str
    meaning: str
    count: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The quarantine of an output."""

    path: str
    tables: tuple[FileQuarantine, ...]

    @classmethod
    def of(cls, folder: str) -> "Refused":
        """The quarantine of an output in all versions, or of a single folder; raises MisuseError if there is none."""
        storage, output = PlainStorage(), folder.rstrip("/")
        if not storage.exists(output):
            raise MisuseError(f"there is no {folder}; name the folder that ingest writes to")
        homes = [output, *(f"{output}/{name}" for name in storage.names(output) if re.fullmatch(r"v\d+", name))]
        found = [f"{home}/{QUARANTINE}" for home in homes if storage.exists(f"{home}/{QUARANTINE}")] or [output]
        return cls(folder, tuple(_table(storage, path) for path in found))

    def counts(self) -> list[Count]:
        """The number of records by error code, most frequent first."""
        found: Counter[tuple[str, str, str]] = Counter()
        for row in self._rows((*_ERROR_COLUMNS,)):
            found[row.format, row.code, row.meaning] += 1
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [Count(*which, count) for which, count in ordered]

    def rows(self, code: str | None = None) -> Iterator[Row]:
        """The rows, all or of one error code, without their bytes."""
        return (row for row in self._rows((*_ERROR_COLUMNS, *_PLACE)) if code in (None, row.code))

    def row(self, number: int) -> Row:
        """One row with its bytes; raises MisuseError for an unknown number."""
        last = -1
        for row in self._rows((RAW, *_ERROR_COLUMNS, *_PLACE)):
            last = row.number
            if last == number:
                return row
        count = "none" if last < 0 else f"{last + 1}, numbered from 0"
        raise MisuseError(f"{self.path} has no row {number} in its quarantine; it has {count}")

    def _rows(self, columns: tuple[str, ...]) -> Iterator[Row]:
        number = 0
        for each in self.tables:
            for group in each.groups():
                for batch in rows_of(group, columns):
                    for row in _listed(batch):
                        yield _row(number, row)
                        number += 1


def _listed(batch: pa.RecordBatch) -> list[dict[str, object]]:
    found: list[dict[str, object]] = batch.to_pylist()
    return found


def _table(storage: PlainStorage, path: str) -> FileQuarantine:
    names = storage.names(storage.absolute(path))
    if DELTA_LOG in names:
        raise MisuseError(f"{path} is a Delta table; read it with Spark: spark.read.format('delta').load('{path}')")
    refuse_no_table(path, names)
    return FileQuarantine.of(path, tuple(name for name in names if not name.startswith(("_", "."))))


def _row(number: int, row: dict[str, object]) -> Row:
    raw, size, offset = row.get(RAW), row.get("raw_size"), row.get("offset")
    texts = {name: str(row.get(name) or "") for name in ("format", "code", MEANING, "path", "expected", "actual")}
    return Row(
        number,
        **texts,
        offset=offset if isinstance(offset, int) else 0,
        size=size if isinstance(size, int) else 0,
        origin=origin(row),
        raw=raw if isinstance(raw, bytes) else b"",
    )
