"""Records of files: whole files by their paths, or ranges of them that begin and end where records do.

A stream of any length is read piece by piece. Bounds: what a window of `parts` holds is decoded at once, at most KEPT
bytes of a bad record are quarantined, and what is gathered for one row group is bounded in `writing`.
"""

import importlib
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.catalog import FormatModule
from wireloom.ingest.files import unchanged
from wireloom.ingest.plan import Plan
from wireloom.ingest.ranges import Part, opened
from wireloom.ingest.staging import Chunk, Parted, parted
from wireloom.ingest.tables import FILE_PLACE
from wireloom.runtime.errors import ContractError
from wireloom.runtime.streams.parts import DecodedPart

SMALL = 1 << 18
"""Bytes of a file that is a record and is decoded together with others."""
TOGETHER = 8 << 20
"""Bytes of such files that are decoded at once."""


def open_module(plan: Plan) -> FormatModule:
    """The generated module, of the same spec as the driver's."""
    module = cast(FormatModule, importlib.import_module(plan.module))
    if plan.digest != module.DIGEST:
        raise ContractError(
            f"this worker has {plan.module} of spec {module.DIGEST[:12]}, the driver of spec {plan.digest[:12]}: "
            "ship the same package to both (`wireloom package` makes it) and start the session again"
        )
    return module


def files_of(plan: Plan, batches: Iterable[pa.RecordBatch]) -> Iterator[Parted]:
    """Every record of every file of batches of (path, content); a path without content is opened here."""
    module = open_module(plan)
    for batch in batches:
        for path, content in zip(batch["path"].to_pylist(), batch["content"], strict=True):
            with _open(path, content) as file:
                yield from _records(plan, module, file, Origin(path))


def ranges_of(plan: Plan, ranges: Iterable[Part]) -> Iterator[Parted]:
    """Every record of ranges of files; raises DataError where a file is not what it was when it was taken."""
    module = open_module(plan)
    framing = plan.framing or module.CODEC.framing
    small: list[Part] = []
    for part in ranges:
        unchanged(part.file)
        if framing == "none" and part.size <= SMALL:
            small.append(part)
            if sum(each.size for each in small) >= TOGETHER:
                yield _together(plan, module, small)
                small = []
            continue
        with part.file.place.open() as source:
            file, start = opened(source, part, framing)
            yield from _records(plan, module, file, Origin(part.file.path, part.record or 0, start))
    if small:
        yield _together(plan, module, small)


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


class Origin:
    """A file, and the number and the offset in it where records begin to be counted."""

    def __init__(self, path: str, record: int = 0, offset: int = 0) -> None:
        self._path, self._record, self._offset = pa.array([path]), record, offset

    def place(self, part: DecodedPart) -> pa.RecordBatch:
        """The place of each record of a part."""
        count = len(part.offsets)
        sources = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), self._path)
        first = self._record + part.first
        offsets = pc.add(part.offsets, self._offset) if self._offset else part.offsets
        return _placed(sources, pa.arange(first, first + count), offsets)


def _placed(sources: pa.Array, numbers: pa.Array, offsets: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([sources, numbers, offsets], schema=FILE_PLACE)


def _records(plan: Plan, module: FormatModule, file: BinaryIO, origin: Origin) -> Iterator[Parted]:
    for part in stream_parts(plan, module, file):
        yield parted(plan, Chunk(part, part.raw, part.sizes, origin.place(part)))


def _together(plan: Plan, module: FormatModule, files: list[Part]) -> Parted:
    """Small files, each of which is a record."""
    data = pa.array([_content(part) for part in files], pa.binary())
    found = module.CODEC.decode(
        data, None, root=plan.root, explode=True, on_error="null", open_values="variant", **dict(plan.parameters)
    )
    zeros = pa.repeat(pa.scalar(0, pa.int64()), len(files))
    place = _placed(pa.array([part.file.path for part in files]).dictionary_encode(), zeros, zeros)
    return parted(plan, Chunk(found, data, pc.cast(pc.binary_length(data), pa.int64()), place))


def _content(part: Part) -> bytes:
    with part.file.place.open() as source:
        return source.read()


def _open(path: str, content: pa.BinaryScalar) -> BinaryIO:
    if content.is_valid:
        return io.BytesIO(content.as_buffer())
    return Path(f"/{path.removeprefix('file:').lstrip('/')}").open("rb")  # Hadoop's form of a local path, never escaped
