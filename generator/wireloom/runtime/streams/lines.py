"""Lines of a stream as Arrow arrays, one window at a time: the same lines that `framed` finds one by one.

If all lines end in a line feed without a carriage return, which is the common case, no line is handled in Python.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from wireloom.runtime.streams import framed
from wireloom.runtime.streams.budget import Budget
from wireloom.runtime.streams.delimiters import passed
from wireloom.runtime.streams.framed import Extent, Reader

_BLANK = r"^[ \t\x0b\x0c\r]*$"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines without their ends, and the offset of each in the stream; blank lines are left out."""

    data: pa.Array
    offsets: pa.Int64Array

    @property
    def places(self) -> tuple[pa.Int64Array, pa.Int64Array]:
        """The offsets and the sizes in bytes."""
        return self.offsets, pc.binary_length(self.data).cast(pa.int64())


def windows(reader: Reader, file: BinaryIO, budget: Budget) -> Iterator[Lines | Extent]:
    """The lines of a stream, as many as the budget allows; one of more than `framed.LARGEST` bytes is an Extent."""
    held, base, more = b"", 0, True
    while more or held:
        wanted = max(budget.bytes, min(2 * len(held), framed.LARGEST))
        addition = framed.read_exactly(file, wanted - len(held))
        more = len(held) + len(addition) == wanted
        held += addition
        end = held.rfind(b"\n") + 1 if more else len(held)
        if end:
            lines = _split(held[:end], base)
            if len(lines.data):
                yield lines
            held, base = held[end:], base + end
        elif len(held) >= framed.LARGEST:
            size, rest, ended = passed(partial(framed.read_exactly, file), b"\n", held)
            yield framed.too_large(reader, base, size + ended, held.rstrip(b"\r\n"), last=False)
            held, base = rest, base + size + ended


def _split(text: bytes, base: int) -> Lines:
    """The lines of a text at offset `base`."""
    ended = text[:-1] if text.endswith(b"\n") else text
    lines = pc.split_pattern(pa.array([ended], pa.large_binary()), pattern="\n").values
    widths = pc.add(pc.binary_length(lines), 1)
    offsets = pc.add(pc.subtract(pc.cumulative_sum(widths), widths), pa.scalar(base, pa.int64()))
    if b"\r" in text:
        lines = pa.array([line.rstrip(b"\r") for line in lines.to_pylist()], pa.large_binary())
    blank = pc.match_substring_regex(lines, pattern=_BLANK)
    if pc.any(blank).as_py():
        kept = pc.invert(blank)
        lines, offsets = lines.filter(kept), offsets.filter(kept)
    return Lines(lines, offsets.cast(pa.int64()))
