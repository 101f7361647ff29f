"""One record out of a file, by its number, with the parameters that it is read with."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from wireloom.catalog import FormatModule
from wireloom.failures import MisuseError
from wireloom.runtime.engine import Request
from wireloom.runtime.parameters import ParameterValue
from wireloom.runtime.streams.framed import Extent, Framed, iterate
from wireloom.runtime.streams.framing import Headed, Whole, bare

LOOKED_AT = 1000
"""Records among which the first bad one is looked for, where no record is named."""


@dataclass(frozen=True, slots=True)
class Found:
    """A record: its bytes, its number and place in the file, what it is read with, and why it was chosen."""

    name: str
    data: bytes
    root: str
    parameters: Mapping[str, ParameterValue]
    index: int = 0
    offset: int = 0
    why: str = ""


_Choice = Callable[[Framed, str], Found]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read records by."""

    module: FormatModule
    root: str | None
    framing: str | None
    parameters: dict[str, ParameterValue]


def record(wanted: Wanted, name: str, source: BinaryIO, number: int | None) -> Found:
    """The record of that number; of none the first bad one, else the first. Raises MisuseError where there is none."""
    codec = wanted.module.CODEC
    root = codec.root(wanted.root)
    chosen = codec.framing_of(root, wanted.framing)
    settings, base = codec.settings(wanted.parameters), 0
    label = wanted.root or codec.default_root
    if isinstance(chosen, Headed):
        head = codec.head(chosen, source, settings)
        if isinstance(head, Extent):
            return Found(name, head.data, chosen.header, settings, why="the header of the file, which is bad")
        settings, base, source = dict(head.settings), head.size, head.file
    if isinstance(bare(chosen), Whole) and not number:
        return Found(name, source.read(), label, settings, 0, base)
    reader = codec.reader(Request(label, settings))
    framed = iterate(reader, source, bare(chosen), "skip", None, base)

    def found(each: Framed, why: str = "") -> Found:
        return Found(name, each.data, label, settings, each.index, each.offset, why)

    if number is None:
        return _first(name, framed, found)
    last = -1
    for each in framed:
        last = each.index
        if last == number:
            return found(each)
    count = "no records" if last < 0 else f"{last + 1}, numbered from 0"
    raise MisuseError(f"{name} has no record {number}; it has {count}")


def _first(name: str, framed: Iterator[Framed], found: _Choice) -> Found:
    seen = list(islice(framed, 1))
    if not seen:
        raise MisuseError(f"{name} has no records")
    first = seen[0]
    if first.error is not None:
        return found(first, "")
    count = 1
    for each in islice(framed, LOOKED_AT - 1):
        count += 1
        if each.error is not None:
            return found(each, "the first bad one")
    return found(first, "" if count == 1 else f"of {count}{' and more' if count == LOOKED_AT else ''}, all good")
