"""The terms of an output: the format, options and columns of its batches.

A job's terms must fit before it adds a batch.

Each Parquet file has columns of its own. Without this check, readers would see numbers of another width, or nulls in a
renamed column. Each entry of the ledger has its terms; an output without terms is described by its newest files.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.parquet as pq

from wireloom.failures import MisuseError
from wireloom.ingest.files.finding import Listing, place, reachable
from wireloom.ingest.files.values import flat_type, table_types
from wireloom.ingest.ledger.entries import KINDS, LEDGER, Entry, Ledger, Storage
from wireloom.ingest.plan import BATCH, DELTA_LOG, QUARANTINE, RECORDS, Column, Files, Kafka, Plan, Samples, Source
from wireloom.ingest.tables.parquet_files import SPARK_COLUMNS
from wireloom.ingest.tables.partitions import refuse_unfit
from wireloom.ingest.tables.schemas import PLACE
from wireloom.ingest.tables.spark_columns import spark_columns
from wireloom.ingest.tables.storable_columns import left_out, refuse_unreadable

Columns = Mapping[str, Any]
"""A struct type in Spark's JSON."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How an output is written. `source` is empty for batches, which may have any source."""

    format: str
    root: str
    framing: str
    parameters: Mapping[str, Any]
    source: str
    records: Columns
    quarantine: Columns
    version: int = 1  # of the columns, which decides the folder of the tables
    partition: tuple[str, ...] = ()  # partition columns of the records

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> "Terms":
        """Parse terms from a JSON object."""
        return cls(**{**found, "partition": tuple(found.get("partition", ()))})


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between terms: `notes` are harmless (older files have nulls there), the others are not."""

    notes: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()  # changes of format, root, framing, parameters or source
    refused: tuple[str, ...] = ()  # columns with other types


def terms(plan: Plan, place: pa.Schema, source: str = "", partition: tuple[str, ...] = ()) -> Terms:
    """The terms of a plan with the given place columns.

    Raises MisuseError if a partition column is unfit, or readers would confuse columns.
    """
    types = {name: json.loads(spark_columns(pa.schema(list(type)))) for name, type in table_types(plan, place).items()}
    given = json.loads(json.dumps(dict(plan.parameters), default=str))
    own = types[RECORDS]["fields"][: -len(place)]
    refuse_unreadable(own)
    refuse_unfit(own, partition)
    return Terms(
        plan.format, plan.root or "", plan.framing or "", given, source, types[RECORDS], types[QUARANTINE], 1, partition
    )


def refuse_unfit_columns(plan: Plan, partition: tuple[str, ...]) -> None:
    """Raise MisuseError if tables cannot store the columns of the plan, or be partitioned this way."""
    terms(plan, pa.schema(list(PLACE)), partition=partition)


def left_out_notes(plan: Plan) -> tuple[str, ...]:
    """A line about columns that tables cannot store."""
    names = list(left_out(flat_type(plan), ""))
    if not names:
        return ()
    columns, have = ("column", "it has") if len(names) == 1 else ("columns", "they have")
    return (f"without the {columns} {', '.join(names)}: {have} no values",)


def named(source: Source) -> str:
    """A source in words."""
    match source:
        case Files(path):
            return f"files of {path}"
        case Column(path, name):
            return f"column {name} of {path}"
        case Kafka(topics=topics):
            return f"topics {', '.join(sorted(topics))} of Kafka"
        case Samples():
            return "samples"
        case _:
            assert_never(source)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Terms that fit an output, with their version, and lines about what is new.

    `closed` are the terms of the previous version, if a new one begins.
    """

    terms: Terms
    notes: tuple[str, ...] = ()
    closed: Terms | None = None


def folder(home: str, version: int) -> str:
    """The folder for the tables of a version."""
    return home if version == 1 else f"{home}/v{version}"


def home_of(storage: Storage, path: str) -> str:
    """The output that a folder of tables belongs to: the folder itself, or its parent if it is that of a version."""
    around, _, name = path.rstrip("/").rpartition("/")
    return around if re.fullmatch(r"v\d+", name) and storage.exists(f"{around}/{LEDGER}") else path


def agreed(storage: Storage, home: str, now: Terms, *, accept: bool = False, new_version: bool = False) -> Agreement:
    """Fit the terms of a job to an output.

    Raises MisuseError if columns have other types, unless `new_version` is set; and for other changes, unless `accept`
    is.
    """
    before = known(storage, home)
    if before is None:
        return Agreement(now)
    asked = now.partition
    now = replace(now, version=before.version, partition=asked or before.partition)
    _refuse_lost(home, now)
    changes = compared(before, now)
    if changes.refused:
        before = _altered(storage, home, before)
        changes = compared(before, now)
    otherwise = "" if now.partition == before.partition else f"partitioned by {_by(before)} -> {_by(now)}"
    if (changes.refused or otherwise) and new_version:
        now = replace(now, version=before.version + 1)
        begun = f"version {now.version} of the columns begins, in {folder(home, now.version)}"
        news = (begun, *((otherwise,) if otherwise else ()), *changes.refused, *changes.notes)
        return Agreement(now, news, closed=before)
    if otherwise:
        raise MisuseError(
            f"{home} is partitioned by {_by(before)}, but --partition-by says {_by(now)}: drop it, begin the next "
            "version of its tables with --new-version, or choose another --output"
        )
    if changes.refused:
        wider = [f"  {line}" for line in _widening(storage, home, before, changes)]
        raise MisuseError(
            f"{home} has columns of other types than {now.format} has now:",
            *(f"  {line}" for line in changes.refused),
            "begin the next version of its tables with --new-version, choose another --output, or generate with the "
            f"spec as it was{'; or widen them in Delta:' if wider else ''}",
            *wider,
        )
    if changes.settings and not accept:
        raise MisuseError(
            f"{home} was written with other options:",
            *(f"  {line}" for line in changes.settings),
            "choose another --output, or use --accept-changes if that is intended",
        )
    return Agreement(now, (*changes.settings, *changes.notes))


def _by(terms: Terms) -> str:
    return ", ".join(terms.partition) or "nothing"


def _refuse_lost(home: str, now: Terms) -> None:
    """Raise MisuseError if a partition column of the existing table no longer fits."""
    try:
        refuse_unfit(now.records["fields"], now.partition)
    except MisuseError as error:
        raise MisuseError(
            f"{home} is partitioned by {_by(now)}, but {now.format} cannot be: {error}; begin the next version of its "
            "tables with --new-version and --partition-by, or choose another --output"
        ) from error


def known(storage: Storage, home: str) -> Terms | None:
    """The terms of an output; None if it has neither terms nor tables.

    Replays count for the columns only: their framing and parameters are their own.
    """
    batches, replays = ([entry for entry in Ledger(storage, home, kind).entries() if entry.terms] for kind in KINDS)
    if batches or replays:
        newest = _newest((*batches, *replays))
        return _added_as(newest, _newest(batches)) if batches else replace(newest, format="")
    found = {name: _columns_of_files(storage, f"{home}/{name}") for name in (RECORDS, QUARANTINE)}
    records, quarantine = found[RECORDS], found[QUARANTINE]
    if records is None and quarantine is None:
        return None
    nothing: Columns = {"type": "struct", "fields": []}
    return Terms("", "", "", {}, "", records or nothing, quarantine or nothing)


def _newest(entries: Sequence[Entry]) -> Terms:
    return Terms.read(max(entries, key=lambda entry: entry.time).terms)


def _added_as(terms: Terms, batch: Terms) -> Terms:
    """The terms, with the format and options of a batch."""
    return replace(
        terms,
        format=batch.format,
        root=batch.root,
        framing=batch.framing,
        parameters=batch.parameters,
        source=batch.source,
    )


def _altered(storage: Storage, home: str, before: Terms) -> Terms:
    """The terms with the current columns of a Delta table, which users may have widened."""
    log = f"{folder(home, before.version)}/{RECORDS}/{DELTA_LOG}"
    for name in reversed([name for name in storage.names(log) if re.fullmatch(r"\d{20}\.json", name)]):
        for line in storage.read(f"{log}/{name}").splitlines():
            metadata = json.loads(line).get("metaData")
            if metadata is not None:
                columns = json.loads(metadata["schemaString"])
                fields = [field for field in columns["fields"] if field["name"] != BATCH]
                return replace(before, records={"type": "struct", "fields": fields})
    return before


_WIDER = {
    "tinyint": ("smallint", "int", "bigint", "double"),
    "smallint": ("int", "bigint", "double"),
    "int": ("bigint", "double"),
    "float": ("double",),
}
"""Types that Delta can widen in place."""


def _widening(storage: Storage, home: str, before: Terms, changes: Changes) -> tuple[str, ...]:
    """SQL that makes a Delta table fit for the new columns, if that is possible."""
    table = f"{folder(home, before.version)}/{RECORDS}"
    wider = [line.replace(": ", " -> ", 1).split(" -> ") for line in changes.refused]
    if DELTA_LOG not in storage.names(table) or any(now not in _WIDER.get(was, ()) for _, was, now in wider):
        return ()
    property = f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    alter = [f"ALTER TABLE delta.`{table}` ALTER COLUMN {name} TYPE {now}" for name, _, now in wider]
    return property, *alter


def _columns_of_files(storage: Storage, table: str) -> Columns | None:
    """The columns that Spark sees in a file of a table's newest batch."""
    batches = [name for name in storage.names(table) if name.startswith(f"{BATCH}=")]
    if not batches or not reachable(table):
        return None
    newest = max(batches, key=lambda name: int(name.partition("=")[2]))
    files = Listing((place(f"{table}/{newest}").shown,)).files()
    if not files:
        return None
    with files[-1].place.open() as source:
        found = (pq.ParquetFile(source).metadata.metadata or {}).get(SPARK_COLUMNS)
    columns: Columns | None = json.loads(found) if found else None
    return columns


# --- comparing -----------------------------------------------------------------------------------------------------


def compared(before: Terms, now: Terms) -> Changes:
    """The differences between terms; unknown (empty) ones are not compared."""
    settings = []
    if before.format:
        for name in ("format", "root", "framing", "source"):
            was, is_now = getattr(before, name), getattr(now, name)
            if was != is_now and (name != "source" or (was and is_now)):
                settings.append(f"{name}: {was or 'as the spec says'} -> {is_now or 'as the spec says'}")
        for name in sorted({*before.parameters, *now.parameters}):
            values = [each.parameters.get(name, "the default") for each in (before, now)]
            if values[0] != values[1]:
                settings.append(f"parameter {name}: {values[0]} -> {values[1]}")
    differences = [
        *_different("", before.records, now.records),
        *(replace(each, path=f"quarantine {each.path}") for each in _different("", before.quarantine, now.quarantine)),
    ]
    notes = tuple(str(each) for each in differences if each.harmless)
    return Changes(notes, tuple(settings), tuple(str(each) for each in differences if not each.harmless))


@dataclass(frozen=True, slots=True)
class _Difference:
    path: str
    was: str
    now: str

    @property
    def harmless(self) -> bool:
        """Whether the only effect is that some rows have nulls."""
        return not self.was or not self.now

    def __str__(self) -> str:
        if not self.was:
            return f"new column {self.path}: {self.now}"
        if not self.now:
            return f"column {self.path} is gone; it stays in older rows"
        return f"{self.path}: {self.was} -> {self.now}"


def _different(path: str, was: Any, now: Any) -> Iterator[_Difference]:
    """Columns that are on one side only, or have other types; comments do not count."""
    match was, now:
        case {"type": "struct", "fields": old}, {"type": "struct", "fields": new}:
            before, after = ({field["name"]: field["type"] for field in fields} for fields in (old, new))
            others = {name.lower(): name for name in after}  # Spark ignores case in names
            for name in dict.fromkeys((*before, *after)):
                place = f"{path}.{name}" if path else name
                if name in before and name in after:
                    yield from _different(place, before[name], after[name])
                    continue
                yield _Difference(place, _shown(before.get(name)), _shown(after.get(name)))
                if name in before and (other := others.get(name.lower())):
                    yield from _different(place, before[name], after[other])
        case {"type": "array", "elementType": old}, {"type": "array", "elementType": new}:
            yield from _different(f"{path}[]", old, new)
        case {"type": "map"}, {"type": "map"}:
            for part in ("keyType", "valueType"):
                yield from _different(f"{path}.{part.removesuffix('Type')}", was[part], now[part])
        case _:
            if was != now:
                yield _Difference(path, _shown(was), _shown(now))


def _shown(type: Any) -> str:
    match type:
        case None:
            return ""
        case str():
            return {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}.get(type, type)
        case {"type": "array", "elementType": element}:
            return f"array<{_shown(element)}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"map<{_shown(key)},{_shown(value)}>"
        case {"fields": fields}:
            return f"struct<{', '.join(field['name'] for field in fields)}>"
        case _:
            return str(type)
