"""Values that end at a delimiter, or have escapes: the table that their instructions read.

It holds: the escape (-1: none); whether the escape is the delimiter itself (1), or the delimiter is part of the value
(2); where 256 bytes are in the texts (what each byte means after the escape, or is escaped as); how many
bytes to look for, how many delimiters there are, and then all of these.
"""

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.programs.assembly import Assembly
from wireloom.runtime.primitives.delimiters import Ending

_KEPT = 2


def ending(amount: nodes.Delimited) -> Ending:
    """How a value ends."""
    return Ending(amount.delimiters, amount.unit, amount.escape, amount.escaped, amount.kept)


def read(assembly: Assembly, ending: Ending) -> int:
    """The table of who reads: it looks for delimiters and the escape."""
    stops = {*ending.firsts} if ending.escape is None else {*ending.firsts, ending.escape}
    return _table(assembly, ending, stops, ending.meanings)


def written(assembly: Assembly, ending: Ending) -> int:
    """The table of who writes: it looks for what is to be escaped, or else for delimiters."""
    if ending.escape is None:
        return read(assembly, ending)
    codes = bytes(ending.codes.get(byte, byte) for byte in range(256))
    return _table(assembly, ending, {*ending.codes}, codes)


def _table(assembly: Assembly, ending: Ending, stops: set[int], said: bytes) -> int:
    delimiters = [assembly.text(delimiter) for delimiter in ending.longest]
    place = assembly.text(said) >> 16
    form = _KEPT if ending.kept else int(ending.doubled)
    head = [ending.escape, form, place, len(stops), len(delimiters)]
    return assembly.table([*head, *sorted(stops), *delimiters])
