"""Fusion: neighbouring instructions become one that does the same.

Each pass looks at neighbouring rows and merges them into the first one; removed rows are None until the end. No pass
fuses across a label, so no jump leads into the middle of a fused instruction.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine.compiler.fixed_runs import longest
from wireloom.runtime.engine.programs.assembly import NEXT, Assembly, Label, Operand
from wireloom.runtime.engine.programs.expressions import HELD

NIL_TOO = 2
"""The flag of instructions that also accept nil."""

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
_OF_A_NUMBER = ("CONSTANT", "RANGE", "MAPPING", "BITS")  # instructions that check the last number read


class Fusion:
    """Fuses the rows of a program."""

    def __init__(self, assembly: Assembly, entries: Sequence[int], engine: Any) -> None:
        self.assembly, self.entries = assembly, entries
        self.places, self.writers = engine.PLACES, engine.WRITERS
        self.names = {number: name for name, number in assembly.opcodes.items()}
        self.rows: list[list[Operand] | None] = list(assembly.rows)
        self.before: dict[int, tuple[list[list[Operand]], Label]] = {}  # rows to put before a row, and the row's label
        self.landings = {label.at for label in assembly.labels} | set(entries)

    def apply(self) -> list[int]:
        """Fuse and renumber; returns the new positions of the entries."""
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
        """The next row, if nothing else jumps to it."""
        following = self._kept(at + 1)
        return None if any(place in self.landings for place in range(at + 1, following + 1)) else following

    def _kept(self, at: int) -> int:
        """The first row from `at` on that was not removed."""
        while at < len(self.rows) and self.rows[at] is None:
            at += 1
        return at

    def _is(self, at: int | None, *names: str) -> bool:
        row = self.rows[at] if at is not None and at < len(self.rows) else None
        return row is not None and self._name(row) in names

    def _place(self, at: int, name: str) -> int | None:
        """The index of a named operand in a row; None if it has none."""
        row = self.rows[at] if at < len(self.rows) else None
        return None if row is None else self.places[row[0]].get(name)

    def _none(self, operand: Operand) -> bool:
        return self.assembly.number(operand) == -1

    def _unused(self, at: int, row: list[Operand]) -> None:
        """Remove a computation whose result is unused and that cannot fail."""
        name = self._name(row)
        counts = name in ("PACK_COUNT", "JSON_COUNT") and self._none(row[1])
        computes = name == "COMPUTE" and self._none(row[3]) and self._none(row[4]) and self._computes(row)
        if counts or computes:
            self.rows[at] = None

    def _computes(self, row: list[Operand]) -> bool:
        """Whether an expression never fails and its value fits its type, whatever the operands are."""
        if row[2] == 1 and row[5:7] != [_LEAST, _GREATEST]:
            return False
        start, words, operations = row[1], self.assembly.expressions, self.assembly.operations
        safe = {operations[name] for name in _SAFE}
        while words[start] % _HELD in safe:
            start += 2
        return bool(words[start] == operations["END"])

    def _constraint(self, at: int, row: list[Operand]) -> None:
        """An integer without a sink, followed by its constant or mapping: PACK_CONSTANT or PACK_MAPPED."""
        following = self._after(at)
        if self._name(row) != "PACK_INTEGER" or following is None or not self._is(following, "CONSTANT", "MAPPING"):
            return
        if row[1:3] != [_LEAST, _GREATEST] or row[3] or not self._none(row[5]) or not self._none(row[6]):
            return
        found = self.rows[following]
        assert found is not None
        name = "PACK_CONSTANT" if self._name(found) == "CONSTANT" else "PACK_MAPPED"
        self.rows[at], self.rows[following] = [self.assembly.opcodes[name], *found[1:]], None

    def _alternative(self, at: int, row: list[Operand]) -> None:
        """BEGIN and FINISH of a column with alternatives around one value: an operand of the value's instruction."""
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
        """A jump over one value if it is nil: a flag of the value's instruction."""
        value = self._after(at)
        if self._name(row) != "PACK_NIL_JUMP" or value is None or (flags := self._place(value, "flags")) is None:
            return
        found = self.rows[value]
        assert found is not None
        if self._kept(row[1].at) == self._kept(value + 1):
            found[flags] |= NIL_TOO
            self.rows[at], self.rows[value] = found, None

    def _opened(self, at: int, row: list[Operand]) -> None:
        """BEGIN of a struct followed by its array header: an operand of PACK_ARITY."""
        following = self._after(at)
        if self._name(row) == "BEGIN" and following is not None and self._is(following, "PACK_ARITY"):
            found = self.rows[following]
            assert found is not None
            found[3] = row[1]
            self.rows[at], self.rows[following] = found, None

    def _closed(self, at: int, row: list[Operand]) -> None:
        """FINISH of a struct followed by RETURN: an operand of RETURN."""
        following = self._after(at)
        if self._name(row) == "FINISH" and following is not None and self._is(following, "RETURN"):
            found = self.rows[following]
            assert found is not None
            if self._none(found[1]):
                found[1] = row[1]
                self.rows[at], self.rows[following] = found, None

    def _entered(self, at: int, row: list[Operand]) -> None:
        """Registers that are written before anything can read them need not be cleared by ENTER."""
        first, last = self.assembly.numbers(row[3:5])
        written = set(self._written(at))
        left = [register for register in range(first, last) if register not in written]
        row[3:5] = [left[0], left[-1] + 1] if left else [0, 0]
        if not left and self._none(row[1]) and self._none(row[2]):
            self.rows[at] = None

    def _written(self, at: int) -> Iterator[int]:
        following = self._after(at)
        while following is not None and self._is(following, *_PLAIN):
            row = self.rows[following]
            assert row is not None
            flags = self._place(following, "flags")
            if flags is not None and row[flags] & NIL_TOO:
                return
            for place in self.writers[row[0]]:
                yield self.assembly.number(row[place])
            following = self._after(following)

    def _collect_runs(self) -> None:
        """Insert the fused instruction of each run before the run's own instructions."""
        at = 0
        while at < len(self.rows):
            at = self._run(at) if self._is(at, "INTEGER") else at + 1

    def _run(self, at: int) -> int:
        """Fuse the run that begins at a row; returns the row after it."""
        places = self._straight(at)
        rows = [row for place in places if (row := self.rows[place]) is not None]
        count, run = longest(self.assembly, [self._name(row) for row in rows], rows)
        if count == 0:
            return at + 1
        slow, following = Label(), Label(self._kept(places[count - 1] + 1))
        if not self._is(following.at, *_OF_A_NUMBER) and (found := run.rows(slow)):
            jump = self.assembly.row("JUMP")
            jump[NEXT] = following
            self.assembly.labels.append(following)
            self.before[at] = [*(list(row) for row in found), jump], slow
            return following.at
        return self._kept(at + 1)

    def _straight(self, at: int) -> list[int]:
        """The rows from `at` on that nothing jumps into."""
        places = [at]
        while (following := self._after(places[-1])) is not None and following < len(self.rows):
            places.append(following)
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
        """Redirect jumps to a JUMP to its target; later rows first, because jumps lead forward."""
        jump = self.assembly.opcodes["JUMP"]
        ends = list(range(len(rows) + 1))
        for at in range(len(rows) - 1, -1, -1):
            if rows[at][0] == jump:
                ends[at] = ends[rows[at][NEXT].at]
        for label in self.assembly.labels:
            label.at = ends[label.at]
        for row in rows:
            row[NEXT] = Label(ends[row[NEXT].at])
