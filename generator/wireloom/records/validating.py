"""Lists the problems of every record of a stream, in constant memory, each with its offset in the stream."""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from wireloom.records.transcode import Request
from wireloom.runtime.errors import DecodeError, ParameterError
from wireloom.runtime.streams.framed import KEPT
from wireloom.runtime.streams.given_up import GivenUp
from wireloom.runtime.validation.problems import Problem, characters, of_error, positions

if TYPE_CHECKING:
    import pyarrow as pa

    from wireloom.runtime.streams.parts import DecodedPart


_LAST_OF_A_LINE = 2
"""A reader that continues after a document that was cut off within its line is at most in this line."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A bad record: its number, its offset, and its problems with places in the stream."""

    index: int
    offset: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """How many records a part has, and the bad ones."""

    records: int
    bad: Iterator[Bad]


def validate(
    request: Request, source: BinaryIO, given_up: GivenUp | None = None, *, resync: bool = False
) -> Iterator[Part]:
    """The records of a source in parts; bad records are validated when they are asked for."""
    framing = request.framing or request.module.CODEC.framing
    lines = _Lines(source)
    parameters: dict[str, Any] = dict(request.parameters)
    parts = request.module.CODEC.decode_stream(
        cast(BinaryIO, lines), (), root=request.root, framing=framing, on_error="skip", resync=resync, **parameters
    )
    texts = request.module.VALIDATOR.of_documents
    for part in parts:
        known = lines if texts and framing in ("lines", "array") else None
        errors = part.refusals()
        if given_up is not None:
            given_up.add(part, errors)
        yield Part(len(part.offsets), _bad(request, part, errors, known, framing))
        if len(part.offsets):
            lines.place(part.offsets[-1].as_py())  # earlier places are not needed any more


def damaged(record: int, offset: int, error: DecodeError) -> Bad:
    """The record that is lost because a compressed file is damaged."""
    return Bad(record, offset, (replace(of_error(error), offset=offset),))


def _bad(
    request: Request, part: "DecodedPart", errors: Mapping[int, DecodeError], lines: "_Lines | None", framing: str
) -> Iterator[Bad]:
    own = request if part.settings is None else replace(request, parameters=dict(part.settings))
    for row, error in errors.items():
        offset = part.offsets[row].as_py()
        size = part.sizes[row].as_py()
        problems = _problems(own, part.raw[row], error, is_whole=size <= KEPT)
        place = lines.place(offset) if lines is not None else (1, 1) if framing == "none" else None
        if place is not None and framing == "lines":
            place = place[0], 1
        yield Bad(part.first + row, offset, tuple(_in_stream(each, offset, place) for each in problems))


def _problems(
    request: Request,
    raw: "pa.BinaryScalar",
    error: DecodeError,
    *,
    is_whole: bool,
) -> list[Problem]:
    """The problems of a record's bytes, and the stream's own error if the bytes alone do not show it.

    If not all bytes were kept, only the stream's error is known.
    """
    own, data = of_error(error), raw.as_py() or b""
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
    """Whether the decoder gives the same error for the bytes alone, so that the schema's problems cover it."""
    codec = request.module.CODEC
    refusal = codec.refusal(data, request.root, codec.settings(dict(request.parameters)))
    return refusal is not None and (refusal[0].code, refusal[0].offset) == (own.rule, own.offset)


def _with_own(found: list[Problem], own: Problem, data: bytes) -> list[Problem]:
    """The problems before the stream's error, and that error."""
    at = own.offset or 0
    line, column = positions(data, [at])[at] if at <= len(data) else (None, None)
    return [*(each for each in found if (each.offset or 0) < at), replace(own, line=line, column=column)]


def _in_stream(problem: Problem, offset: int, place: tuple[int, int] | None) -> Problem:
    """A problem moved to its place in the stream. The record begins at `offset` and, if known, at `place`."""
    moved = replace(problem, offset=offset + (problem.offset or 0))
    if problem.line is None or problem.column is None or place is None:
        return replace(moved, line=None, column=None)
    line, column = place
    before = column - 1 if problem.line == 1 else 0
    return replace(moved, line=line + problem.line - 1, column=problem.column + before)


def framing_of_text(request: Request, head: bytes) -> str | None:
    """The framing of a JSON file by its first bytes, if it is not one document per line.

    Used only for JSON without a given framing. It looks only at brackets and line feeds, since records may be bad.
    """
    codec = request.module.CODEC
    root = codec.root(request.root)
    if request.framing is not None or codec.framing != "lines" or not root.is_text:
        return None
    text = head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text[:1] == "[" and not root.elements and text[1:].lstrip()[:1] in ("{", "]"):
        return "array"
    if _is_document(text.partition("\n")[2].partition("\n")[0]):
        return None
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        return "none" if error.lineno > _LAST_OF_A_LINE else None
    except RecursionError:
        return None
    return "none" if "\n" in text[:end] else None


def _is_document(line: str) -> bool:
    """Whether a line is a complete object or array."""
    try:
        return isinstance(json.loads(line), dict | list)
    except (json.JSONDecodeError, RecursionError):
        return False


class _Lines:
    """A file that records the lines and columns (in characters) of what was read."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._read: deque[tuple[int, bytes]] = deque()  # data whose lines are not counted yet, with their offsets
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
        """The line and column at an offset, which must not be before an earlier one."""
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
