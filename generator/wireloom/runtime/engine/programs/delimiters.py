"""Values that end at a delimiter or contain escapes: the table that their instructions read.

It holds: the escape (-1: none); a form, 1 if the escape is the delimiter itself, 2 if the delimiter is part of the
value; the address of 256 bytes (the meaning of each byte after the escape, or what to write for it); the number of
bytes to search for, the number of delimiters, and then all of these.
"""

from wireloom.runtime.engine import nodes
from wireloom.runtime.engine.programs.assembly import Assembly
from wireloom.runtime.primitives.delimiters import Ending

_KEPT = 2


def ending(amount: nodes.Delimited) -> Ending:
    """How a value ends."""
    return Ending(amount.delimiters, amount.unit, amount.escape, amount.escaped, amount.kept)


def read(assembly: Assembly, ending: Ending) -> int:
    """The table for readers: they search for delimiters and the escape."""
    stops = {*ending.firsts} if ending.escape is None else {*ending.firsts, ending.escape}
    return _table(assembly, ending, stops, ending.meanings)


def written(assembly: Assembly, ending: Ending) -> int:
    """The table for writers: they search for bytes to escape or, without an escape, for delimiters."""
    if ending.escape is None:
        return read(assembly, ending)
    codes = bytes(ending.codes.get(byte, byte) for byte in range(256))
    return _table(assembly, ending, {*ending.codes}, codes)


def _table(assembly: Assembly, ending: Ending, stops: set[int], meanings: bytes) -> int:
    delimiters = [assembly.text(delimiter) for delimiter in ending.longest]
    place = assembly.text(meanings) >> 16
    form = _KEPT if ending.kept else int(ending.doubled)
    head = [ending.escape, form, place, len(stops), len(delimiters)]
    return assembly.table([*head, *sorted(stops), *delimiters])
