"""Decodes parts of files. Each record appears in the result, as a row or as a bad record with the reason.

A file is compared with its state at listing, before and after it is read. If it changed or disappeared, the job fails
or, if the plan says so, the file becomes a bad record. A compressed file that ends too early also gives a bad record.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import pyarrow as pa

from wireloom.catalog import FormatModule
from wireloom.failures import DataError
from wireloom.ingest.files.compression import Bounds, Unpacked
from wireloom.ingest.files.finding import FileChangedError, unchanged
from wireloom.ingest.files.ranges import Part, opened
from wireloom.ingest.plan import FAIL, OTHER, Plan
from wireloom.runtime.columns.arrow import OpenValues, errors_array
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams.framing import Headed, framing_of
from wireloom.runtime.streams.headers import Head
from wireloom.runtime.streams.parts import DecodedPart


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments for the decoder."""

    columns: Sequence[str] | None = None
    explode: bool = True
    open_values: OpenValues = "variant"


ALL = Asked()
"""All columns, in the form that the tables have."""


def part_records(plan: Plan, module: FormatModule, part: Part, asked: Asked = ALL) -> Iterator[tuple[DecodedPart, int]]:
    """The records of a part, and the offset of the part in its file; raises DataError if the file changed."""
    framing = plan.framing or module.CODEC.framing
    count = start = 0
    try:
        unchanged(part.file)
        with part.file.place.open() as source:
            own = plan_after_header(plan, module, source) if part.start else plan
            file, start = opened(source, part, framing, bounds(plan))
            for found in records_in(own, module, file, asked, part.file.size):
                count += len(found.offsets)
                yield found, start
        unchanged(part.file)
    except FileChangedError as error:
        if plan.changed == FAIL:
            raise DataError(str(error)) from error
        decode_error = error.error()
        if count:
            decode_error.code = OTHER  # `file_gone` means that nothing of the file was read
        yield unreadable(plan, module, asked, decode_error, Missing(count, 0, part.size)), start


def plan_after_header(plan: Plan, module: FormatModule, source: BinaryIO) -> Plan:
    """The plan for a part of a file after its header: with the values of the header as parameters."""
    named = framing_of(plan.framing or module.CODEC.framing)
    if not isinstance(named, Headed):
        return plan
    head = module.CODEC.head(named, source, module.CODEC.settings(dict(plan.parameters)))
    if not isinstance(head, Head):
        return plan  # the file changed; reading it reports that
    return replace(plan, framing=named.records.text, parameters=tuple(head.settings.items()))


def records_in(plan: Plan, module: FormatModule, file: BinaryIO, asked: Asked, size: int) -> Iterator[DecodedPart]:
    """The records of an open file of `size` bytes; the last one is bad if compressed data are damaged."""
    count = 0
    for found in stream_parts(plan, module, file, asked):
        count += len(found.offsets)
        yield found
    if isinstance(file, Unpacked) and file.failure is not None:
        missing = Missing(count, file.reached, max(size - file.consumed, 1))
        yield unreadable(plan, module, asked, file.failure, missing)


def bounds(plan: Plan) -> Bounds:
    """How to decompress files."""
    return Bounds(plan.compression, plan.expansion)


def stream_parts(plan: Plan, module: FormatModule, source: BinaryIO, asked: Asked = ALL) -> Iterator[DecodedPart]:
    """The decoded parts of a stream of records, including bad ones."""
    return module.CODEC.decode_stream(
        source, asked.columns, framing=plan.framing, on_error="skip", resync=plan.resync, **keywords(plan, asked)
    )


def keywords(plan: Plan, asked: Asked = ALL) -> Mapping[str, Any]:
    """The keyword arguments of every decoding call."""
    return {"root": plan.root, "explode": asked.explode, "open_values": asked.open_values, **dict(plan.parameters)}


@dataclass(frozen=True, slots=True)
class Missing:
    """Data that could not be read: the number and offset of the record in their place, and their size if known."""

    record: int
    offset: int
    size: int


def unreadable(plan: Plan, module: FormatModule, asked: Asked, error: DecodeError, missing: Missing) -> DecodedPart:
    """A bad record in place of data that could not be read. It has their size, but no bytes."""
    nothing = module.CODEC.decode(pa.nulls(1, pa.binary()), asked.columns, on_error="null", **keywords(plan, asked))
    module.CODEC.label(error)
    return DecodedPart(
        nothing.records,
        errors_array([error] * len(nothing.records)),
        nothing.parents,
        first=missing.record,
        offsets=pa.array([missing.offset], pa.int64()),
        sizes=pa.array([max(missing.size, 1)], pa.int64()),
        raw=pa.array([b""], pa.binary()),
    )
