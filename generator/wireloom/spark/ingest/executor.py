"""What runs on the executors: files in, staged rows out, in batches of bounded size; `values` does it for columns.

A file becomes a task's input by its path alone where the path is local, so that a stream of any length is read piece
by piece; elsewhere Spark brings its content. Bounds: what a window of `parts` holds is decoded at once, at most KEPT
bytes of a bad record are quarantined, and what leaves is bounded in `staging`.
"""

import importlib
import io
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.runtime.columns.arrow import Decoded
from wireloom.runtime.errors import ContractError
from wireloom.runtime.streams.framed import KEPT
from wireloom.runtime.streams.parts import DecodedPart
from wireloom.spark.ingest.plan import Plan
from wireloom.spark.ingest.staging import Chunk, staged_batches
from wireloom.spark.ingest.tables import PLACE

GATHERED = 10_000
"""Records of small files that are staged together."""


def decode_files(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For mapInArrow over (path, content): every record of every file."""
    module = open_module(plan)
    chunks = (chunk for batch in batches for chunk in _file_chunks(plan, module, batch))
    for chunk in _gathered(chunks):
        yield from staged_batches(plan, chunk)


def open_module(plan: Plan) -> FormatModule:
    """The generated module, of the same spec as the driver's."""
    module = cast(FormatModule, importlib.import_module(plan.module))
    if plan.digest != module.DIGEST:
        raise ContractError(
            f"this worker has {plan.module} of spec {module.DIGEST[:12]}, the driver of spec {plan.digest[:12]}: "
            "ship the same package to both (`wireloom package` makes it) and start the session again"
        )
    return module


def stream_parts(plan: Plan, module: FormatModule, source: BinaryIO) -> Iterator[DecodedPart]:
    """The rows of a stream of records, part by part, bad ones among them."""
    return module.CODEC.decode_stream(
        source,
        None,
        root=plan.root,
        framing=plan.framing,
        explode=True,
        on_error="skip",
        open_values="variant",
        **dict(plan.parameters),
    )


# --- where records come from ---------------------------------------------------------------------------------------


def _file_chunks(plan: Plan, module: FormatModule, batch: pa.RecordBatch) -> Iterator[Chunk]:
    for path, content in zip(batch["path"].to_pylist(), batch["content"], strict=True):
        with _open(path, content) as file:
            for part in stream_parts(plan, module, file):
                yield Chunk(part, part.raw, part.sizes, _place(path, part))


def _place(path: str, part: DecodedPart) -> pa.RecordBatch:
    count = len(part.offsets)
    sources = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), [path]).cast(pa.string())
    numbers = pa.array(range(part.first, part.first + count), pa.int64())
    return pa.RecordBatch.from_arrays([sources, numbers, part.offsets], schema=pa.schema(list(PLACE)))


def _open(path: str, content: pa.BinaryScalar) -> BinaryIO:
    if content.is_valid:
        return io.BytesIO(content.as_buffer())
    return Path(f"/{path.removeprefix('file:').lstrip('/')}").open("rb")  # Hadoop's form of a local path, never escaped


# --- small files ---------------------------------------------------------------------------------------------------


def _gathered(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The same records in chunks that are worth a batch."""
    held: list[Chunk] = []
    for chunk in chunks:
        held.append(chunk)
        if sum(len(each.sizes) for each in held) >= GATHERED or sum(each.raw.nbytes for each in held) >= KEPT:
            yield _joined(held)
            held = []
    if held:
        yield _joined(held)


def _joined(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    starts = accumulate((len(chunk.sizes) for chunk in chunks[:-1]), initial=0)
    found = Decoded(
        pa.concat_arrays([chunk.found.records for chunk in chunks]),
        pa.concat_arrays([chunk.found.errors for chunk in chunks]),
        pa.concat_arrays(
            [pc.add(chunk.parents, pa.scalar(start, pa.int32())) for chunk, start in zip(chunks, starts, strict=True)]
        ),
        sum(chunk.found.reread for chunk in chunks),
        next((chunk.found.reason for chunk in chunks if chunk.found.reason), ""),
    )
    raw, sizes = (pa.concat_arrays([getattr(chunk, name) for chunk in chunks]) for name in ("raw", "sizes"))
    return Chunk(found, raw, sizes, pa.concat_batches([chunk.place for chunk in chunks]))
