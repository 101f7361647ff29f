"""What runs on the executors: files in, staged rows out, in batches of bounded size; `values` does it for columns.

A file becomes a task's input by its path alone where the path is local, so that a stream of any length is read piece
by piece; elsewhere Spark brings its content. Bounds: at most CHUNK_RECORDS records or CHUNK_BYTES bytes (or one record)
are decoded at once, at most KEPT bytes of a bad record are quarantined, and at most BATCH_ROWS rows or BATCH_BYTES raw
bytes leave in one Arrow batch, far below Arrow's limit of 2 GiB in one column.
"""

import importlib
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.runtime.columns import Decoded, Layout, View, decoded
from wireloom.runtime.errors import ContractError, DecodeError
from wireloom.runtime.streams import KEPT
from wireloom.spark.plan import OFFSET, RECORD, SOURCE, Plan, counts
from wireloom.spark.tables import BAD, TALLY, Staged, staged

CHUNK_RECORDS = 2_000
CHUNK_BYTES = 8 << 20
BATCH_ROWS = 10_000
BATCH_BYTES = 64 << 20
ERROR_NAMES = ("code", "path", "offset", "expected", "actual")


@dataclass(frozen=True, slots=True)
class Item:
    """A record as it was found, with its value or error where reading the stream told them.

    `size` counts the bytes that the record has in its source; of a bad one, `data` may be the first of them alone.
    """

    source: str
    record: int
    offset: int | None
    size: int
    data: bytes | None
    value: object
    error: DecodeError | None


@dataclass(slots=True)
class Chunk:
    """Records on their way to the decoder."""

    items: list[Item] = field(default_factory=list)
    size: int = 0

    def add(self, item: Item) -> None:
        """One more."""
        self.items.append(item)
        self.size += len(item.data or b"")

    def takes(self, item: Item) -> bool:
        """Whether there is room for one more; an empty chunk takes a record of any size."""
        small = self.size + len(item.data or b"") <= CHUNK_BYTES
        return not self.items or (small and len(self.items) < CHUNK_RECORDS)


def decode_files(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over (path, content): every record of every file."""
    module = open_module(plan)
    items = (item for batch in batches for item in _file_items(plan, module, batch))
    return _staged(plan, module, items)


def open_module(plan: Plan) -> FormatModule:
    """The generated module, of the same spec as the driver's."""
    module = cast(FormatModule, importlib.import_module(plan.module))
    if plan.digest != module.DIGEST:
        raise ContractError(
            f"this worker has {plan.module} of spec {module.DIGEST[:12]}, the driver of spec {plan.digest[:12]}: "
            "ship the same package to both (`wireloom package` makes it) and start the session again"
        )
    return module


def row_type(module: FormatModule, plan: Plan) -> pa.StructType:
    """The type of a decoded row, found by decoding nothing."""
    nothing = module.CODEC.decode(
        pa.array([], pa.binary()),
        None,
        root=plan.root,
        explode=True,
        on_error="null",
        open_values="variant",
        **dict(plan.parameters),
    )
    return cast(pa.StructType, nothing.records.type)


# --- where records come from ---------------------------------------------------------------------------------------


def _file_items(plan: Plan, module: FormatModule, batch: pa.RecordBatch) -> Iterator[Item]:
    for path, content in zip(batch["path"].to_pylist(), batch["content"], strict=True):
        with _open(path, content) as file:
            for framed in module.CODEC.iter_parse(
                file, framing=plan.framing, on_error="skip", root=plan.root, **dict(plan.parameters)
            ):
                yield Item(path, framed.index, framed.offset, framed.size, framed.data, framed.value, framed.error)


def _open(path: str, content: pa.BinaryScalar) -> BinaryIO:
    if content.is_valid:
        return io.BytesIO(content.as_buffer())
    return Path(f"/{path.removeprefix('file:').lstrip('/')}").open("rb")  # Hadoop's form of a local path, never escaped


# --- decoding ------------------------------------------------------------------------------------------------------


def _chunks(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    chunk = Chunk()
    for item in items:
        if not chunk.takes(item):
            yield chunk.items
            chunk = Chunk()
        chunk.add(item)
    if chunk.items:
        yield chunk.items


def _decode_values(module: FormatModule, plan: Plan, items: Sequence[Item]) -> Decoded:
    """The columns of values that were parsed while the stream was taken apart."""
    root, values = module.CODEC.root(plan.root), [item.value for item in items]
    layout = Layout(root.logical, root.rows, root.elements)
    return decoded(values, [None] * len(values), layout, View(explode=True))


def _staged(plan: Plan, module: FormatModule, items: Iterable[Item]) -> Iterator[pa.RecordBatch]:
    types = staged(row_type(module, plan))
    for chunk in _chunks(items):
        good = [item for item in chunk if item.error is None]
        found = _decode_values(module, plan, good)
        rows = _rows(types, good, found)
        refused = [*_refused(plan, chunk), *_undecoded(plan, good, found)]
        bad = [row for row in refused if row["code"] not in plan.drop]
        dropped = [row for row in refused if row["code"] in plan.drop]
        for start in range(0, len(rows), BATCH_ROWS):
            yield types.batch("row", rows.slice(start, BATCH_ROWS))
        for part in _bounded(bad):
            yield types.batch("bad", pa.array(part, BAD))
        tally = {
            "records": len(chunk),
            "size": sum(item.size for item in chunk),
            "decoded": len(chunk) - len(bad) - len(dropped),
            "rows": len(rows),
            "dropped": counts((str(row["code"]), 1) for row in dropped),
        }
        yield types.batch("tally", pa.array([tally], TALLY))


def _rows(types: Staged, items: Sequence[Item], found: Decoded) -> pa.StructArray:
    """The rows of the records that are right, each with its place."""
    right = pc.is_null(found.errors)
    records, parents = found.records.filter(right), _parents(found).filter(right)
    places = (
        pa.array([item.source for item in items], pa.string()),
        pa.array([item.record for item in items], pa.int64()),
        pa.array([item.offset for item in items], pa.int64()),
    )
    children = [*records.flatten(), *(place.take(parents) for place in places)]
    return pa.StructArray.from_arrays(children, fields=list(types.row))


def _parents(found: Decoded) -> pa.Array:
    return found.parents if found.parents is not None else pa.array(range(len(found.records)), pa.int32())


# --- quarantine ----------------------------------------------------------------------------------------------------


def _refused(plan: Plan, items: Iterable[Item]) -> Iterator[dict[str, object]]:
    """The records that were bad when they were read."""
    for item in items:
        if item.error is not None:
            yield _quarantined(plan, item, {name: getattr(item.error, name) for name in ERROR_NAMES})


def _undecoded(plan: Plan, items: Sequence[Item], found: Decoded) -> Iterator[dict[str, object]]:
    """The records that the decoder refused."""
    for parent, error in zip(_parents(found).to_pylist(), found.errors.to_pylist(), strict=True):
        if error is not None:
            yield _quarantined(plan, items[parent], error)


def _quarantined(plan: Plan, item: Item, error: dict[str, object]) -> dict[str, object]:
    place = {SOURCE: item.source, RECORD: item.record, OFFSET: item.offset}
    raw = None if item.data is None else item.data[:KEPT]
    kept = {"raw": raw, "raw_size": None if raw is None else item.size}
    return {**kept, **error, "format": plan.format, "spec_digest": plan.digest, **place}


def _bounded(rows: Iterable[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """The quarantine's rows in parts of at most BATCH_ROWS rows and, but for a row on its own, BATCH_BYTES bytes."""
    part: list[dict[str, object]] = []
    held = 0
    for row in rows:
        size = len(cast(bytes | None, row["raw"]) or b"")
        if part and (len(part) >= BATCH_ROWS or held + size > BATCH_BYTES):
            yield part
            part, held = [], 0
        part.append(row)
        held += size
    if part:
        yield part
