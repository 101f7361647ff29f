"""Fusion: neighbouring instructions become one that does the same.

Each pass looks at neighbouring rows and writes what they do into the first one; rows that are gone are None until the
end. No pass fuses across a label, so a jump never leads into the middle of a fused instruction.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine.compiler.fixed_runs import longest
from wireloom.runtime.engine.programs.assembly import NEXT, Assembly, Label, Operand
from wireloom.runtime.engine.programs.expressions import HELD

NIL_TOO = 2
"""The flag of instructions that take nil, too."""

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
_PLAIN = (  # instructions that read no register and always go on to the next
    "PACK_INTEGER",
    "PACK_TEXT",
    "PACK_BYTES",
    "PACK_BOOLEAN",
    "PACK_FLOAT",
    "PACK_CONSTANT",
    "PACK_MAPPED",
    "PACK_ARITY",
    "CONSTANT",
    "MAPPING",
    "RANGE",
    "BEGIN",
    "FINISH",
    "INTEGER",
    "BITS",
)
_SAFE = ("CONST", "LOAD", "HERE", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "not", "present", "in", "rangeName")
_HELD = min(HELD.values())
_OF_A_NUMBER = ("CONSTANT", "RANGE", "MAPPING", "BITS")  # what the last number read is held against


class Fusion:
    """The rows of a program on their way to fewer."""

    def __init__(self, assembly: Assembly, entries: Sequence[int], engine: Any) -> None:
        self.assembly, self.entries = assembly, entries
        self.places, self.writers = engine.PLACES, engine.WRITERS
        self.names = {number: name for name, number in assembly.opcodes.items()}
        self.rows: list[list[Operand] | None] = list(assembly.rows)
        self.before: dict[int, tuple[list[list[Operand]], Label]] = {}  # rows to put before a row, and the row's label
        self.landings = {label.at for label in assembly.labels} | set(entries)

    def apply(self) -> list[int]:
        """Fuse, and renumber; where the entries stand afterwards."""
        for fuse in (self._unused, self._constraint, self._alternative, self._nullable, self._opened, self._closed):
            for at, row in enumerate(self.rows):
                if row is not None:
                    fuse(at, row)
        for at, row in enumerate(self.rows):
            if row is not None and self._name(row) == "ENTER":
                self._entered(at, row)
        self._collect_runs()
        return self._renumbered()

    def _name(self, row: list[Operand]) -> str:
        return self.names[row[0]]

    def _after(self, at: int) -> int | None:
        """The row after, where only the one at hand leads to it."""
        behind = self._kept(at + 1)
        return None if any(place in self.landings for place in range(at + 1, behind + 1)) else behind

    def _kept(self, at: int) -> int:
        """The first row from a place on that is still there."""
        while at < len(self.rows) and self.rows[at] is None:
            at += 1
        return at

    def _is(self, at: int | None, *names: str) -> bool:
        row = self.rows[at] if at is not None and at < len(self.rows) else None
        return row is not None and self._name(row) in names

    def _place(self, at: int, name: str) -> int | None:
        """Where the operand of that name stands in a row; None where it has none."""
        row = self.rows[at] if at < len(self.rows) else None
        return None if row is None else self.places[row[0]].get(name)

    def _none(self, operand: Operand) -> bool:
        return self.assembly.number(operand) == -1

    def _unused(self, at: int, row: list[Operand]) -> None:
        """What is computed for nobody, where computing cannot fail."""
        name = self._name(row)
        counts = name in ("PACK_COUNT", "JSON_COUNT") and self._none(row[1])
        computes = name == "COMPUTE" and self._none(row[3]) and self._none(row[4]) and self._computes(row)
        if counts or computes:
            self.rows[at] = None

    def _computes(self, row: list[Operand]) -> bool:
        """Whether an expression has a value that its type holds, whatever it is computed with."""
        if row[2] == 1 and row[5:7] != [_LEAST, _GREATEST]:
            return False
        start, words, operations = row[1], self.assembly.expressions, self.assembly.operations
        safe = {operations[name] for name in _SAFE}
        while words[start] % _HELD in safe:
            start += 2
        return bool(words[start] == operations["END"])

    def _constraint(self, at: int, row: list[Operand]) -> None:
        """An integer that goes nowhere, and the constant or the mapping that it is held against."""
        behind = self._after(at)
        if self._name(row) != "PACK_INTEGER" or behind is None or not self._is(behind, "CONSTANT", "MAPPING"):
            return
        if row[1:3] != [_LEAST, _GREATEST] or row[3] or not self._none(row[5]) or not self._none(row[6]):
            return
        found = self.rows[behind]
        assert found is not None
        name = "PACK_CONSTANT" if self._name(found) == "CONSTANT" else "PACK_MAPPED"
        self.rows[at], self.rows[behind] = [self.assembly.opcodes[name], *found[1:]], None

    def _alternative(self, at: int, row: list[Operand]) -> None:
        """The struct of alternatives, opened and closed around one value."""
        value = self._after(at)
        if self._name(row) != "BEGIN" or value is None or (place := self._place(value, "struct")) is None:
            return
        end = self._after(value)
        found, closing = self.rows[value], self.rows[end] if end is not None and self._is(end, "FINISH") else None
        if found is None or closing is None or end is None or closing[1] != row[1]:
            return
        if self._none(found[place]):
            found[place] = row[1]
            self.rows[at], self.rows[value], self.rows[end] = found, None, None

    def _nullable(self, at: int, row: list[Operand]) -> None:
        """Nil, or one value."""
        value = self._after(at)
        if self._name(row) != "PACK_NIL_JUMP" or value is None or (flags := self._place(value, "flags")) is None:
            return
        found = self.rows[value]
        assert found is not None
        if self._kept(row[1].at) == self._kept(value + 1):
            found[flags] |= NIL_TOO
            self.rows[at], self.rows[value] = found, None

    def _opened(self, at: int, row: list[Operand]) -> None:
        """A struct that is opened, and the head of its array."""
        behind = self._after(at)
        if self._name(row) == "BEGIN" and behind is not None and self._is(behind, "PACK_ARITY"):
            found = self.rows[behind]
            assert found is not None
            found[3] = row[1]
            self.rows[at], self.rows[behind] = found, None

    def _closed(self, at: int, row: list[Operand]) -> None:
        """A struct that is closed, and the return."""
        behind = self._after(at)
        if self._name(row) == "FINISH" and behind is not None and self._is(behind, "RETURN"):
            found = self.rows[behind]
            assert found is not None
            if self._none(found[1]):
                found[1] = row[1]
                self.rows[at], self.rows[behind] = found, None

    def _entered(self, at: int, row: list[Operand]) -> None:
        """Registers that are written before anything can read them need not be made null first."""
        first, last = self.assembly.numbers(row[3:5])
        written = set(self._written(at))
        left = [register for register in range(first, last) if register not in written]
        row[3:5] = [left[0], left[-1] + 1] if left else [0, 0]
        if not left and self._none(row[1]) and self._none(row[2]):
            self.rows[at] = None

    def _written(self, at: int) -> Iterator[int]:
        behind = self._after(at)
        while behind is not None and self._is(behind, *_PLAIN):
            row = self.rows[behind]
            assert row is not None
            flags = self._place(behind, "flags")
            if flags is not None and row[flags] & NIL_TOO:
                return
            for place in self.writers[row[0]]:
                yield self.assembly.number(row[place])
            behind = self._after(behind)

    def _collect_runs(self) -> None:
        """Put what reads a whole run before the instructions of the run."""
        at = 0
        while at < len(self.rows):
            at = self._run(at) if self._is(at, "INTEGER") else at + 1

    def _run(self, at: int) -> int:
        """The run that begins at a row; where it ends."""
        places = self._straight(at)
        rows = [row for place in places if (row := self.rows[place]) is not None]
        count, run = longest(self.assembly, [self._name(row) for row in rows], rows)
        if count == 0:
            return at + 1
        slow, behind = Label(), Label(self._kept(places[count - 1] + 1))
        if not self._is(behind.at, *_OF_A_NUMBER) and (found := run.rows(slow)):
            jump = self.assembly.row("JUMP")
            jump[NEXT] = behind
            self.assembly.labels.append(behind)
            self.before[at] = [*(list(row) for row in found), jump], slow
            return behind.at
        return self._kept(at + 1)

    def _straight(self, at: int) -> list[int]:
        """The rows from one on that nothing jumps into."""
        places = [at]
        while (behind := self._after(places[-1])) is not None and behind < len(self.rows):
            places.append(behind)
        return places

    def _renumbered(self) -> list[int]:
        places = [0] * (len(self.rows) + 1)
        kept: list[list[Operand]] = []
        for at, row in enumerate(self.rows):
            places[at] = len(kept)
            if at in self.before:
                rows, slow = self.before[at]
                kept += rows
                slow.at = len(kept)
            if row is not None:
                kept.append(row)
        places[-1] = len(kept)
        for label in self.assembly.labels:
            label.at = places[label.at]
        for at, row in enumerate(kept):
            if row[NEXT] is None:
                row[NEXT] = Label(at + 1)
        self._follow(kept)
        self.assembly.rows = kept
        return [places[entry] for entry in self.entries]

    def _follow(self, rows: Sequence[list[Operand]]) -> None:
        """What leads to a jump leads to where it leads; later rows first, for jumps lead forward."""
        jump = self.assembly.opcodes["JUMP"]
        ends = list(range(len(rows) + 1))
        for at in range(len(rows) - 1, -1, -1):
            if rows[at][0] == jump:
                ends[at] = ends[rows[at][NEXT].at]
        for label in self.assembly.labels:
            label.at = ends[label.at]
        for row in rows:
            row[NEXT] = Label(ends[row[NEXT].at])
