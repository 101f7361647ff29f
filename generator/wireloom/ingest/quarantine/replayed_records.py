"""Decodes the records of a quarantine again. Incomplete records that cannot be completed stay as they are."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.ingest.files.values import DATA, decoded, values_of
from wireloom.ingest.job.format_modules import open_module
from wireloom.ingest.plan import Plan, Summary
from wireloom.ingest.quarantine.framed_values import framed_of
from wireloom.ingest.quarantine.from_source import Lost, source_chunks
from wireloom.ingest.quarantine.header_parameters import Headers
from wireloom.ingest.tables.schemas import bad_type, place_of, row_type
from wireloom.ingest.tables.splitting import Parted, parted


def replayed_of(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[Parted]:
    """The records of batches of quarantine rows."""
    headers = Headers(plan)
    for batch in batches:
        for known, rows in headers.parts(batch):
            if len(rows):
                yield from (_kept(plan, rows),) if known is None else _read(known, rows)


def _read(plan: Plan, batch: pa.RecordBatch) -> Iterator[Parted]:
    """The records of rows that are read with the same plan."""
    read = values_of if plan.framing in (None, "none") else framed_of
    raw, sizes = batch["raw"], batch["raw_size"]
    whole = pc.or_(raw.is_null(), pc.less_equal(sizes, pc.cast(pc.binary_length(raw), pa.int64())))
    whole = pc.fill_null(whole, False)  # noqa: FBT003 - Arrow's signature
    yield from read(plan, [_values(batch.filter(whole))])
    cut = batch.filter(pc.invert(whole))
    if len(cut) and not plan.from_source:
        yield _kept(plan, cut)
    for at in range(len(cut) if plan.from_source else 0):
        row = cut.slice(at, 1)
        lost = Lost.of(row)
        if lost is None:
            yield _kept(plan, row)
        elif (data := lost.unescaped(plan)) is not None:
            yield from read(plan, [_places(row).append_column(DATA, pa.array([data], pa.binary()))])
        else:
            yield from _from_source(plan, row, lost)


def _from_source(plan: Plan, row: pa.RecordBatch, lost: Lost) -> Iterator[Parted]:
    """An incomplete record, read from its file; if the file no longer has it, it stays."""
    if not lost.is_there(plan):
        yield _kept(plan, row)
        return
    for chunk in source_chunks(plan, open_module(plan), lost, _places(row)):
        yield parted(plan, chunk)


def _values(batch: pa.RecordBatch) -> pa.RecordBatch:
    return _places(batch).append_column(DATA, batch["raw"])


def _places(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(place_of(batch.schema).names)


def _kept(plan: Plan, cut: pa.RecordBatch) -> Parted:
    """Incomplete records with their old errors."""
    place = _places(cut).slice(0, 0)
    none = decoded(plan, open_module(plan), place.append_column(DATA, pa.array([], pa.binary())))
    rows = pa.array([], row_type(none.found.records.type, place.schema))
    tally = Summary(len(cut), 0, 0, 0, size=pc.sum(cut["raw_size"]).as_py() or 0)
    fields = list(bad_type(place.schema))
    columns = [cut[each.name] if each.name in cut.schema.names else pa.nulls(len(cut), each.type) for each in fields]
    bad = pa.StructArray.from_arrays(columns, fields=fields)
    return Parted(rows, bad, tally)
