"""Reads the rows of a quarantine without Spark: Parquet files, a few rows at a time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import File, Listing
from wireloom.ingest.files.parquet import RowGroups, row_groups, rows_of
from wireloom.ingest.job.diagnosis import during
from wireloom.ingest.plan import Plan
from wireloom.ingest.quarantine.replay import Refused
from wireloom.ingest.quarantine.replayed_records import replayed_of
from wireloom.ingest.tables.schemas import ERROR, place_of, refuse_no_quarantine
from wireloom.ingest.tables.splitting import Parted

RAW = ERROR[0].name


@dataclass(frozen=True, slots=True)
class Rows:
    """Reads quarantine rows in a task: the given columns, with nulls for those that a file lacks."""

    columns: pa.Schema

    def __call__(self, plan: Plan, groups: Sequence[RowGroups]) -> Iterator[Parted]:
        """Decode all records of row groups again."""
        for group in groups:
            with during(group.file.path):
                yield from replayed_of(plan, self.batches(group))

    def batches(self, group: RowGroups) -> Iterator[pa.RecordBatch]:
        """The rows of row groups."""
        for batch in rows_of(group, self.columns.names):
            there = dict(zip(batch.schema.names, batch.columns, strict=True))
            columns = [
                there[field.name].cast(field.type) if field.name in there else pa.nulls(len(batch), field.type)
                for field in self.columns
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=self.columns)


@dataclass(frozen=True, slots=True)
class FileQuarantine:
    """The files of a quarantine, and the union of their columns."""

    files: tuple[File, ...]
    columns: pa.Schema

    @classmethod
    def of(cls, path: str, batches: tuple[str, ...]) -> "FileQuarantine":
        """The given batches of a quarantine; raises MisuseError if the path is not one."""
        files = Listing(tuple(f"{path}/{name}" for name in batches), recursive=True).files()
        columns = pa.unify_schemas([_schema(file) for file in files]) if files else pa.schema([])
        refuse_no_quarantine(path, columns.names)
        return cls(tuple(files), columns)

    @property
    def place(self) -> pa.Schema:
        """The columns that say where each record came from."""
        return place_of(self.columns)

    def groups(self) -> Iterator[RowGroups]:
        """All row groups."""
        for file in self.files:
            yield from row_groups(file, RAW)

    def refused(self) -> tuple[Refused, ...]:
        """How many records each spec refused."""
        found: Counter[tuple[str, str]] = Counter()
        for group in self.groups():
            for batch in rows_of(group, ("format", "spec_digest")):
                found.update(zip(batch["format"].to_pylist(), batch["spec_digest"].to_pylist(), strict=True))
        return tuple(Refused(*spec, count) for spec, count in found.items())

    def cut(self) -> int:
        """How many records are incomplete."""
        lost = 0
        for group in self.groups():
            for batch in rows_of(group, (RAW, "raw_size")):
                lost += pc.sum(pc.greater(batch["raw_size"], pc.binary_length(batch[RAW]))).as_py() or 0
        return lost


def _schema(file: File) -> pa.Schema:
    """The columns of a file, without dictionary types; raises MisuseError if it is not Parquet."""
    try:
        with file.place.open() as source:
            found = pq.read_schema(source)
    except pa.ArrowInvalid as error:
        raise MisuseError(f"cannot read {file.path} as Parquet: {error}") from error
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in found])


def _plain(type: pa.DataType) -> pa.DataType:
    return type.value_type if pa.types.is_dictionary(type) else type
