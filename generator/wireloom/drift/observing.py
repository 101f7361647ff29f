"""Counts over the records of files: the values of each column, errors, and bytes that no column shows."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.model.format import Format
from wireloom.model.traversal import columns
from wireloom.records.transcode import Request
from wireloom.runtime.columns.logical import Meant, Named, Text
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.streams.parts import DecodedPart

_INDEX = re.compile(r"\[\d+\]")
_WORDS = 256
"""Most distinct values kept for a column; beyond that, their number is only a lower bound."""
_TRACED = 200  # good records of a file whose bytes are examined one by one


@dataclass(slots=True)
class Values:
    """Statistics of a column: the count, distinct values, and the least and greatest number or size."""

    present: int = 0
    null: int = 0
    distinct: set[Any] = field(default_factory=set)
    overflow: bool = False
    least: Any = None
    greatest: Any = None
    sized: bool = False

    @property
    def constant(self) -> bool:
        """Whether all values are equal."""
        return self.present > 1 and len(self.distinct) == 1 and not self.overflow

    def add(self, array: pa.Array) -> None:
        """Add the values of more records."""
        self.null += array.null_count
        array = array.drop_null()
        if not len(array):
            return
        self.present += len(array)
        if not self.overflow:
            self.distinct |= set(_unique(array))
            self.overflow = len(self.distinct) > _WORDS
        self.sized = _has_size(array.type)
        measured = pc.binary_length(array) if self.sized else array
        if not pa.types.is_boolean(array.type):
            limits = pc.min_max(measured).as_py()
            self.least = limits["min"] if self.least is None else min(self.least, limits["min"])
            self.greatest = limits["max"] if self.greatest is None else max(self.greatest, limits["max"])


@dataclass(slots=True)
class Refused:
    """The records that one check refused: the count, the first record, and what was found there."""

    error: DecodeError
    file: str
    record: int
    data: bytes
    count: int = 0
    found: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Observed:
    """All statistics. `words` has numbers without a word in columns with `raw`; `unnamed` has hidden bytes by field."""

    records: int = 0
    columns: dict[str, Values] = field(default_factory=dict)
    refused: dict[tuple[str, str], Refused] = field(default_factory=dict)
    words: dict[str, Counter[Any]] = field(default_factory=dict)
    unnamed: dict[tuple[str, str], Counter[bytes]] = field(default_factory=dict)

    @property
    def bad(self) -> int:
        """The number of refused records."""
        return sum(each.count for each in self.refused.values())


def observe(observed: Observed, format: Format, request: Request, source: BinaryIO, name: str) -> Iterator[int]:
    """Add the records of a source; yields the number of records after each part."""
    codec = request.module.CODEC
    raw = dict(_raw_names(format))
    parts = codec.decode_stream(
        source, root=request.root, framing=request.framing, on_error="skip", **_keywords(request)
    )
    for part in parts:
        observed.records += len(part.offsets)
        _add_columns(observed, part.records, raw)
        _add_errors(observed, part, name)
        yield observed.records


def trace(observed: Observed, request: Request, data: bytes) -> None:
    """Add the hidden bytes of the first good records of a stream."""
    codec, traced = request.module.CODEC, 0
    for part in codec.decode_stream(data, (), root=request.root, framing=request.framing, **_keywords(request)):
        bad = part.refusals()
        for place, (offset, size) in enumerate(zip(part.offsets.to_pylist(), part.sizes.to_pylist(), strict=True)):
            if place in bad or offset + size > len(data):
                continue
            _add_bytes(observed, request, data[offset : offset + size])
            traced += 1
            if traced == _TRACED:
                return


def _keywords(request: Request) -> dict[str, Any]:
    return dict(request.parameters)


def _add_bytes(observed: Observed, request: Request, record: bytes) -> None:
    try:
        found = request.module.CODEC.explain_bytes(record, root=request.root, **_keywords(request))
    except DecodeError:  # a framing that removes bytes of a record
        return
    for span in found.span.walk():
        data = found.spaces[span.space].data[span.start : span.end]
        hides = span.hidden and not span.constant and isinstance(span.value, bytes)
        if data.strip(b"\0") and (span.kind == "ignored" or (span.kind == "field" and hides)):
            key = (_INDEX.sub("[]", span.path) or "the record", "ignored" if span.kind == "ignored" else "hidden")
            observed.unnamed.setdefault(key, Counter())[bytes(data[:32])] += 1


def words(format: Format, root: str | None) -> Mapping[str, tuple[str, ...]]:
    """The possible words of columns, by column path."""
    logical = next(each.logical for each in format.roots if root in (None, each.name))
    return {path: type.symbols for path, type in columns(logical) if isinstance(type, Text) and type.symbols}


def _raw_names(format: Format) -> Iterator[tuple[str, str]]:
    """Columns with raw numbers, each with the column of their words."""
    for root in format.roots:
        for path, type in columns(root.logical):
            shown = type.shown if isinstance(type, Meant) else None
            if isinstance(shown, Named) and shown.raw:
                yield shown.raw, path.rpartition(".")[2]


def _add_errors(observed: Observed, part: DecodedPart, name: str) -> None:
    for place, error in part.refusals().items():
        key = error.code, _INDEX.sub("[]", error.path)
        if key not in observed.refused:
            observed.refused[key] = Refused(error, name, part.first + place, part.raw[place].as_py() or b"")
        refused = observed.refused[key]
        refused.count += 1
        if len(refused.found) < _WORDS or error.actual in refused.found:
            refused.found[error.actual] += 1


def _add_columns(observed: Observed, array: pa.Array, raw: dict[str, str], path: str = "") -> None:
    """Add the columns of a struct, of list elements and of map values, by path."""
    kind = array.type
    if pa.types.is_struct(kind):
        array = array.drop_null()
        members = {kind.field(index).name: pc.struct_field(array, index) for index in range(kind.num_fields)}
        for name, member in members.items():
            inner = f"{path}.{name}" if path else name
            _add_columns(observed, member, raw, inner)
            shown = members.get(raw.get(name, ""))
            if shown is not None:
                unknown = member.filter(pc.and_(pc.is_null(shown), pc.is_valid(member)))
                if len(unknown):
                    observed.words.setdefault(inner, Counter()).update(unknown.to_pylist())
    elif pa.types.is_map(kind):
        _add_columns(observed, array.items, raw, f"{path}[]")
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        _add_columns(observed, array.flatten(), raw, f"{path}[]")
    else:
        observed.columns.setdefault(path, Values()).add(array)


def _has_size(type: pa.DataType) -> bool:
    return any(
        check(type)
        for check in (
            *(pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary),
            pa.types.is_fixed_size_binary,
        )
    )


def _unique(array: pa.Array) -> list[Any]:
    return list(pc.unique(array)[: _WORDS + 1].to_pylist())
