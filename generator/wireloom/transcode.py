"""Files of records and lines of canonical JSON, each into the other.

Both directions are generators: a stream of any length passes through in constant memory.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from wireloom.catalog import FormatModule
from wireloom.failures import DataError, MisuseError
from wireloom.runtime.codec import Codec
from wireloom.runtime.columns.canonical import dumps, loads
from wireloom.runtime.errors import DecodeError, EncodeError
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.streams.framed import Framed
from wireloom.runtime.streams.framing import Framing, Headed, Whole, bare
from wireloom.runtime.streams.likely import likely_framing
from wireloom.runtime.streams.writing import ending, frame


@dataclass(frozen=True, slots=True)
class Request:
    """What to read or write: the format, one of its roots, how records follow one another, and the parameters."""

    module: FormatModule
    root: str | None
    framing: str | None
    parameters: dict[str, ParameterValue]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A record as a line of JSON, or what is wrong with it."""

    index: int
    offset: int
    line: str | None
    error: DecodeError | None


def decode(request: Request, source: BinaryIO, on_error: str = "stop") -> Iterator[Outcome]:
    """Every record of the source; `stop` ends behind the first bad one, `skip` goes on behind it."""
    for framed in _framed(request, source, on_error):
        line = _line(request, framed) if framed.error is None else None
        yield Outcome(framed.index, framed.offset, line, framed.error)


def encode(request: Request, source: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of every line's record, framed."""
    codec = request.module.CODEC
    framing = codec.framing_of(codec.root(request.root), request.framing)
    begun, settings = beginning(codec, framing, request.parameters)
    yield begun
    request = replace(request, parameters=settings)
    count = 0
    for number, line in enumerate(source, start=1):
        if line.strip():
            count += 1
            if count > 1 and isinstance(bare(framing), Whole):
                raise MisuseError("more than one record, and the format has no framing; choose one with --framing")
            yield written(framing, _encoded(request, number, line), number, first=count == 1)
    yield ending(framing, count)


def likely(request: Request, head: bytes, size: int | None) -> str | None:
    """The framing that a source which begins so fits, where it does not fit the one that is asked for."""
    framing = request.framing or request.module.CODEC.framing
    return likely_framing(
        lambda data, other: _framed(replace(request, framing=other), data, "stop"), head, size, framing
    )


def _line(request: Request, framed: Framed) -> str:
    return dumps(request.module.CODEC.to_canonical(framed.value, root=request.root))


def _framed(request: Request, source: bytes | BinaryIO, on_error: str) -> Iterator[Framed]:
    parameters: dict[str, Any] = dict(request.parameters)
    return request.module.CODEC.iter_parse(
        source, framing=request.framing, on_error=on_error, root=request.root, **parameters
    )


def _encoded(request: Request, number: int, line: bytes) -> bytes:
    codec = request.module.CODEC
    try:
        value = codec.from_canonical(loads(line), root=request.root)
    except EncodeError as error:
        raise DataError(f"line {number}: {error.actual}") from error  # it says where, what and what would be right
    except UnicodeDecodeError as error:
        raise DataError(f"line {number}: not UTF-8, so no JSON") from error
    except json.JSONDecodeError as error:
        raise DataError(f"line {number}: not JSON: {error}") from error
    except ValueError as error:  # JSON, but no value
        raise DataError(f"line {number}: {error}") from error
    except RecursionError as error:
        raise DataError(f"line {number}: nested too deep") from error
    try:
        return codec.build(value, root=request.root, **request.parameters)
    except EncodeError as error:
        raise DataError(f"line {number}: {error}") from error


def beginning(
    codec: Codec, framing: Framing, parameters: Mapping[str, object]
) -> tuple[bytes, dict[str, ParameterValue]]:
    """What stands before all records, and the parameters that these are written with."""
    try:
        return codec.beginning(framing, parameters)
    except EncodeError as error:
        where = "the header that stands before the records"
        raise DataError(f"{where}: {error}; {_header_hint(framing, error)}") from error


def _header_hint(framing: Framing, error: EncodeError) -> str:
    """What to do about a member of a header that has no value."""
    for parameter, member in framing.gives if isinstance(framing, Headed) else ():
        if member == error.path:
            return f"say it as the parameter {parameter} (-p {parameter}=...; in Spark an option)"
    return "no parameter says it, so that such streams are read and not written; `gives` in the spec's framing would"


def written(framing: Framing, data: bytes, number: int, *, first: bool) -> bytes:
    """A record of a line as it stands in a stream, whose first it may be."""
    try:
        return frame(framing, data, first=first)
    except EncodeError as error:
        raise DataError(f"line {number}: {error}; choose another framing with --framing") from error
