"""Converts files of records to lines of canonical JSON, and back.

Both directions are generators of batches, which the native engine reads and writes, so a stream of any length needs
limited memory. If the engine does not cover a format or a record, the parser does the work, and that is counted.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from wireloom.catalog import FormatModule
from wireloom.failures import DataError, MisuseError
from wireloom.runtime.codec import Codec
from wireloom.runtime.columns.canonical import loads
from wireloom.runtime.columns.logical import Record
from wireloom.runtime.columns.projection import project
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.streams.framed import Framed
from wireloom.runtime.streams.framing import Framing, Headed, Whole, bare
from wireloom.runtime.streams.framing_guess import likely_framing
from wireloom.runtime.streams.given_up import GivenUp
from wireloom.runtime.streams.writing import ending, frame

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.runtime.columns.arrow import OpenValues
    from wireloom.runtime.streams.parts import DecodedPart


_LINES, _BYTES = 2_000, 4 << 20
"""Most lines that are read at once, and most bytes, unless a single line has more."""


@dataclass(frozen=True, slots=True)
class Request:
    """How to read or write records: format, root, framing and parameters."""

    module: FormatModule
    root: str | None
    framing: str | None
    parameters: dict[str, ParameterValue]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records to read, by number, and which columns. `resync` continues after damage."""

    columns: tuple[str, ...] | None = None
    skip: int = 0
    limit: int | None = None
    on_error: str = "stop"
    resync: bool = False


@dataclass(slots=True)
class Tally:
    """How many records were read, how many good ones the parser had to read and why, and what was given up."""

    records: int = 0
    reread: int = 0
    reason: str = ""
    given_up: GivenUp = field(default_factory=GivenUp)

    def add(self, part: "DecodedPart", bad: "Collection[int]") -> None:
        """Add a part, with the indices of its bad records."""
        self.records += len(part.offsets)
        self.reread += max(part.reread - len(bad), 0)  # the parser always reads bad records
        self.reason = self.reason or part.reason
        self.given_up.add(part, bad)

    def slow(self) -> str:
        """A line about good records that the parser had to read, with the reason; empty if there were none."""
        if not self.reread:
            return ""
        why = self.reason or "the engine leaves some of their values to the parser, see docs/internals/engine.md"
        return f"{self.reread} of {self.records} records were read by the parser, which is slow: {why}"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some records of a stream, and the errors of the bad ones, by index."""

    part: "DecodedPart"
    errors: "dict[int, DecodeError]"


def decode(
    request: Request, source: BinaryIO, selection: Selection, tally: Tally, open_values: "OpenValues" = "json"
) -> Iterator[Piece]:
    """The columns of the selected records, in pieces; `stop` ends with the first bad record among them."""
    codec, parameters = request.module.CODEC, cast("dict[str, Any]", request.parameters)
    tally.given_up.searched = selection.resync
    start, stop = selection.skip, None if selection.limit is None else selection.skip + selection.limit
    if stop == start:
        return
    for whole in codec.decode_stream(
        source,
        selection.columns,
        root=request.root,
        framing=request.framing,
        on_error="skip",
        open_values=open_values,
        resync=selection.resync,
        **parameters,
    ):
        errors = whole.refusals()
        tally.add(whole, errors)
        first, last = max(start - whole.first, 0), len(whole.offsets)
        last = last if stop is None else min(last, stop - whole.first)
        bad = sorted(place for place in errors if first <= place < last)
        if bad and selection.on_error == "stop":
            last = bad[0] + 1
        if first < last:
            found = {place - first: _labelled(codec, errors[place]) for place in bad if place < last}
            yield Piece(whole.between(first, last), found)
        if (bad and selection.on_error == "stop") or (stop is not None and whole.first + last >= stop):
            return


def _labelled(codec: Codec, error: DecodeError) -> DecodeError:
    error.format, error.version = codec.format, codec.digest
    return error


def shown_type(request: Request, columns: "Sequence[str] | None") -> Record:
    """The type of a record with these columns for readers; for a root that is a list, of an element."""
    return project(request.module.CODEC.root(request.root).logical, columns)


def lines(request: Request, columns: "Sequence[str] | None", part: "DecodedPart") -> "pa.LargeStringArray":
    """A line of JSON for each record of a part; null for bad records."""
    from wireloom.runtime.columns import rendering  # noqa: PLC0415 - needs pyarrow, which help texts do not

    shown = shown_type(request, columns)
    if part.parents is None:
        return rendering.rendered(part.records, shown)
    return rendering.rendered_lists(part.records, shown, part.parents, len(part.offsets))


@dataclass(slots=True)
class Written:
    """How many records were written, how many of them one by one instead of in columns, and why."""

    records: int = 0
    rebuilt: int = 0
    reason: str = ""

    def slow(self) -> str:
        """A line about records that were built one by one, with the reason; empty if there were none."""
        if not self.rebuilt:
            return ""
        return f"{self.rebuilt} of {self.records} records were built by the parser, which is slow: {self.reason}"


def encode(request: Request, source: Iterable[bytes], tally: Written) -> Iterator[bytes]:
    """The framed bytes of the records in lines of JSON, in pieces."""
    codec = request.module.CODEC
    framing = codec.framing_of(codec.root(request.root), request.framing)
    begun, settings = beginning(codec, framing, request.parameters)
    yield begun
    request = replace(request, parameters=settings)
    path = codec.encode_path(root=request.root, **settings)
    for batch in _batches(source):
        values, error = _values(request, batch)
        made = _in_columns(request, values) if path.native else None
        tally.reason = tally.reason or path.reason or "a value that the columns or the format refuse"
        tally.rebuilt += 0 if made else len(values)
        records = made or (_built(request, number, value) for number, value in values)
        for (number, _), data in zip(values, records, strict=True):
            tally.records += 1
            if tally.records > 1 and isinstance(bare(framing), Whole):
                raise MisuseError("more than one record, and the format has no framing; choose one with --framing")
            yield written(framing, data, number, first=tally.records == 1)
        if error is not None:
            raise error
    yield ending(framing, tally.records)


def _batches(source: Iterable[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """The lines that are not blank, with their numbers, in batches."""
    held: list[tuple[int, bytes]] = []
    size = 0
    for number, line in enumerate(source, start=1):
        if line.strip():
            held.append((number, line))
            size += len(line)
        if len(held) >= _LINES or size >= _BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


def _values(request: Request, batch: Sequence[tuple[int, bytes]]) -> tuple[list[tuple[int, object]], DataError | None]:
    """The values of lines, with their numbers, up to the first bad line; and the error of that line."""
    found: list[tuple[int, object]] = []
    for number, line in batch:
        try:
            found.append((number, _value(request, number, line)))
        except DataError as error:
            return found, error
    return found, None


def _in_columns(request: Request, values: "Sequence[tuple[int, object]]") -> list[bytes] | None:
    """Encode records together in columns; None if they do not fit into columns, or one of them is bad."""
    from wireloom.runtime.columns import arrow  # noqa: PLC0415 - the same

    codec = request.module.CODEC
    try:
        structs = arrow.to_struct_array([value for _, value in values], codec.root(request.root).logical)
        made: list[bytes | None] = codec.encode(structs, root=request.root, **request.parameters).to_pylist()
    except (EncodeError, NotImplementedError, TypeError, ValueError, ArithmeticError):  # includes Arrow's errors
        return None  # encoding them one by one shows which is bad
    return None if None in made else cast("list[bytes]", made)


def likely(request: Request, head: bytes, size: int | None) -> str | None:
    """The framing that the first bytes of a source fit, if they do not fit the requested one."""
    framing = request.framing or request.module.CODEC.framing
    return likely_framing(
        lambda data, other: _framed(replace(request, framing=other), data, "stop"), head, size, framing
    )


def _framed(request: Request, source: bytes | BinaryIO, on_error: str) -> Iterator[Framed]:
    parameters: dict[str, Any] = dict(request.parameters)
    return request.module.CODEC.iter_parse(
        source, framing=request.framing, on_error=on_error, root=request.root, **parameters
    )


def _value(request: Request, number: int, line: bytes) -> object:
    try:
        return request.module.CODEC.from_canonical(loads(line), root=request.root)
    except EncodeError as error:
        # its text has the place, the reason and the advice
        raise DataError(f"line {number}: {error.actual}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"line {number}: not UTF-8, so not JSON") from error
    except json.JSONDecodeError as error:
        raise DataError(f"line {number}: not JSON: {error}") from error
    except ValueError as error:  # valid JSON, but no value of the format
        raise DataError(f"line {number}: {error}") from error
    except RecursionError as error:
        raise DataError(f"line {number}: nested too deep") from error


def _built(request: Request, number: int, value: object) -> bytes:
    try:
        return request.module.CODEC.build(value, root=request.root, **request.parameters)
    except EncodeError as error:
        raise DataError(f"line {number}: {error}") from error


def beginning(
    codec: Codec, framing: Framing, parameters: Mapping[str, object]
) -> tuple[bytes, dict[str, ParameterValue]]:
    """The file header, and the parameters for the records after it."""
    try:
        return codec.beginning(framing, parameters)
    except EncodeError as error:
        where = "the header of the stream"
        raise DataError(f"{where}: {error}; {_header_hint(framing, error)}") from error


def _header_hint(framing: Framing, error: EncodeError) -> str:
    """The advice for a header member that has no value."""
    for parameter, member in framing.gives if isinstance(framing, Headed) else ():
        if member == error.path:
            return f"give it as the parameter {parameter} (-p {parameter}=...; in Spark an option)"
    return "no parameter has it, so such streams can be read but not written; add it to `gives` in the spec's framing"


def written(framing: Framing, data: bytes, number: int, *, first: bool) -> bytes:
    """The record of a line with its framing; the first one of a stream may differ."""
    try:
        return frame(framing, data, first=first)
    except EncodeError as error:
        raise DataError(f"line {number}: {error}; choose another framing with --framing") from error
