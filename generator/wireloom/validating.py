"""The problems of every record of a stream, in constant memory, each with its place in the stream."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from wireloom.runtime.errors import DecodeError, ParameterError
from wireloom.runtime.streams.framed import KEPT
from wireloom.runtime.validation.problems import Problem, characters, of_error, positions
from wireloom.transcode import Request

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.runtime.streams.parts import DecodedPart

_COMPONENT = re.compile(r"\[(\d+)\]|([^.\[]+)")


@dataclass(frozen=True, slots=True)
class Bad:
    """A record that is not valid: its number, the offset where it begins, its problems, which stand in the stream."""

    index: int
    offset: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """How many records were looked at together, and the bad ones."""

    records: int
    bad: Iterator[Bad]


def validate(request: Request, source: BinaryIO) -> Iterator[Part]:
    """The records of a source, part by part; those of a part are judged as they are asked for."""
    framing = request.framing or request.module.CODEC.framing
    lines = _Lines(source)
    parameters: dict[str, Any] = dict(request.parameters)
    parts = request.module.CODEC.decode_stream(
        cast(BinaryIO, lines), (), root=request.root, framing=framing, on_error="skip", **parameters
    )
    texts = request.module.VALIDATOR.of_documents
    for part in parts:
        known = lines if texts and framing in ("lines", "array") else None
        yield Part(len(part.offsets), _bad(request, part, known, framing))
        if len(part.offsets):
            lines.place(part.offsets[-1].as_py())  # nobody asks for those before


def _bad(request: Request, part: "DecodedPart", lines: "_Lines | None", framing: str) -> Iterator[Bad]:
    errors = _errors(part)
    own = request if part.settings is None else replace(request, parameters=dict(part.settings))
    for row, error in errors.items():
        offset = part.offsets[row].as_py()
        size = part.sizes[row].as_py()
        problems = _problems(own, part.raw[row], error, is_whole=size <= KEPT)
        place = lines.place(offset) if lines is not None else (1, 1) if framing == "none" else None
        if place is not None and framing == "lines":
            place = place[0], 1
        yield Bad(part.first + row, offset, tuple(_in_stream(each, offset, place) for each in problems))


def _errors(part: "DecodedPart") -> dict[int, Any]:
    """The error of each bad record, by its place in the part."""
    places = range(len(part.errors)) if part.parents is None else part.parents.to_pylist()
    found: dict[int, Any] = {}
    for place, error in zip(places, part.errors, strict=True):
        if error.is_valid:
            found.setdefault(place, error.as_py())
    return found


def _problems(
    request: Request,
    raw: "pa.BinaryScalar",
    error: Any,  # noqa: ANN401 - a row of Arrow
    *,
    is_whole: bool,
) -> list[Problem]:
    """What is wrong with the bytes of a record, and the stream's own error where they alone do not have it.

    Where not all of them were kept the error is all that is known.
    """
    own, data = _own(error), raw.as_py() or b""
    if not is_whole:
        return [own]
    validator = request.module.VALIDATOR
    try:
        found = validator.validate(data, root=request.root, **request.parameters)
    except ParameterError:
        return [own]
    if any((each.rule, each.offset) == (own.rule, own.offset) for each in found):
        return found
    if not validator.of_documents:
        return [own]
    return found if found and _is_refused_alike(request, data, own) else _with_own(found, own, data)


def _is_refused_alike(request: Request, data: bytes, own: Problem) -> bool:
    """Whether the decoder refuses the bytes alone for the same: then the problems of the schema stand for it."""
    codec = request.module.CODEC
    refusal = codec.refusal(data, request.root, codec.settings(dict(request.parameters)))
    return refusal is not None and (refusal[0].code, refusal[0].offset) == (own.rule, own.offset)


def _with_own(found: list[Problem], own: Problem, data: bytes) -> list[Problem]:
    """The problems before the place where the stream is wrong, and what is wrong there."""
    at = own.offset or 0
    line, column = positions(data, [at])[at] if at <= len(data) else (None, None)
    return [*(each for each in found if (each.offset or 0) < at), replace(own, line=line, column=column)]


def _own(error: Any) -> Problem:  # noqa: ANN401 - the same
    refusal = DecodeError(
        error["code"],
        offset=error["offset"],
        expected=error["expected"] or "",
        actual=error["actual"] or "",
        meaning=error["meaning"],
    )
    parts = [int(place) if place else name for place, name in _COMPONENT.findall(error["path"] or "")]
    for component in reversed(parts):
        refusal.at(component)
    return of_error(refusal)


def _in_stream(problem: Problem, offset: int, place: tuple[int, int] | None) -> Problem:
    """The problem at its place in the stream, whose record begins at that line and column, as far as they are known."""
    moved = replace(problem, offset=offset + (problem.offset or 0))
    if problem.line is None or problem.column is None or place is None:
        return replace(moved, line=None, column=None)
    line, column = place
    before = column - 1 if problem.line == 1 else 0
    return replace(moved, line=line + problem.line - 1, column=problem.column + before)


class _Lines:
    """A file that knows the lines and columns (in characters) of what was read of it."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._read: deque[tuple[int, bytes]] = deque()  # what lines are to be counted in, and where it begins
        self._line = self._column = 1  # of `counted`
        self._counted = 0
        self._offset = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the file has
        return getattr(self._source, name)

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        return self._kept(self._source.read(size))

    def readline(self, size: int = -1) -> bytes:
        """The next line."""
        return self._kept(self._source.readline(size))

    def _kept(self, data: bytes) -> bytes:
        self._read.append((self._offset, data))
        self._offset += len(data)
        return data

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column at an offset, which must not be before one that was asked for."""
        while self._read and self._counted < offset:
            start, data = self._read[0]
            here, there = max(self._counted - start, 0), min(offset - start, len(data))
            feeds = data.count(b"\n", here, there)
            if feeds:
                self._line, self._column = self._line + feeds, 1
                here = data.rindex(b"\n", here, there) + 1
            self._column += characters(data[here:there])
            self._counted = start + there
            if start + len(data) <= offset:
                self._read.popleft()
        return self._line, self._column
