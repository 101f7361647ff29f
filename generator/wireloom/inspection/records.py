"""Reads the records of a file, or one by its number, with the parameters to explain it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import BinaryIO

from wireloom.catalog import FormatModule
from wireloom.failures import MisuseError
from wireloom.runtime.engine import Request
from wireloom.runtime.errors import DecodeError
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.streams.framed import Extent, iterate
from wireloom.runtime.streams.framing import Headed, Whole, bare

LOOKED_AT = 1000
"""Without a number, the first bad one among so many records is chosen."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record: its bytes, its number and offset in the file, how to read it, and why it was chosen.

    `error` is why a record of a stream is bad. A record that is a whole file has not been decoded yet.
    """

    name: str
    data: bytes
    root: str
    parameters: Mapping[str, ParameterValue]
    index: int = 0
    offset: int = 0
    why: str = ""
    error: DecodeError | None = None
    is_alone: bool = False
    """Whether it was stored by itself, so that it has no number and place in a file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How to read the records."""

    module: FormatModule
    root: str | None
    framing: str | None
    parameters: dict[str, ParameterValue]


def records(wanted: Wanted, name: str, source: BinaryIO) -> Iterator[Found]:
    """The records of a file in order; if the file's header is bad, only the header."""
    codec = wanted.module.CODEC
    root = codec.root(wanted.root)
    chosen = codec.framing_of(root, wanted.framing)
    settings, base = codec.settings(wanted.parameters), 0
    label = wanted.root or codec.default_root
    if isinstance(chosen, Headed):
        head = codec.head(chosen, source, settings)
        if isinstance(head, Extent):
            why = "the header of the file, which is bad"
            yield Found(name, head.data, chosen.header, settings, why=why, error=head.error)
            return
        settings, base, source = dict(head.settings), head.size, head.file
    if isinstance(bare(chosen), Whole):
        yield Found(name, source.read(), label, settings, 0, base)
        return
    reader = codec.reader(Request(label, settings))
    for each in iterate(reader, source, bare(chosen), "skip", None, base):
        yield Found(name, each.data, label, settings, each.index, each.offset, error=each.error)


def record(wanted: Wanted, name: str, source: BinaryIO, number: int | None) -> Found:
    """The record with that number; without one, the first bad record, or the first.

    Raises MisuseError if there is none.
    """
    found = records(wanted, name, source)
    if number is None:
        return _first(name, found)
    last = -1
    for each in found:
        last = each.index
        if last == number or each.why:
            return each
    count = "no records" if last < 0 else f"{last + 1}, numbered from 0"
    raise MisuseError(f"{name} has no record {number}; it has {count}")


def _first(name: str, found: Iterator[Found]) -> Found:
    first = next(found, None)
    if first is None:
        raise MisuseError(f"{name} has no records")
    if first.error is not None:
        return first
    count = 1
    for each in islice(found, LOOKED_AT - 1):
        count += 1
        if each.error is not None:
            return replace(each, why="the first bad one")
    return first if count == 1 else replace(first, why=f"of {count}{' and more' * (count == LOOKED_AT)}, all good")
