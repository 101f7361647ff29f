"""Peephole optimization of a complete writing program.

Each pass looks at a row and those after it; removed rows are None until the end. No pass joins across a label, so no
jump leads into the middle of a joined instruction.
"""

from collections.abc import Sequence

from wireloom.runtime.engine.programs.assembly import Assembly, Operand

_LEADS = {  # the index of the operand for the bytes before a value, in the instructions that write values
    "JSON_INTEGER": 5,
    "JSON_FLOAT": 3,
    "JSON_BOOLEAN": 2,
    "JSON_TEXT": 2,
    "JSON_BYTES": 4,
    "JSON_REPEAT": 5,
}


class Tightening:
    """Joins and removes rows of a program."""

    def __init__(self, assembly: Assembly, entries: Sequence[int]) -> None:
        self.assembly, self.entries = assembly, entries
        self.names = {number: name for name, number in assembly.opcodes.items()}
        self.rows: list[list[Operand] | None] = list(assembly.rows)
        self.landings = {label.at for label in assembly.labels} | set(entries)

    def apply(self) -> list[int]:
        """Apply all passes and renumber; returns the new positions of the entries."""
        for tighten in (self._jump, self._useless, self._lead, self._bits, self._integers):
            for at, row in enumerate(self.rows):
                if row is not None:
                    tighten(at, row)
        return self._renumbered()

    def _name(self, at: int | None) -> str:
        row = self.rows[at] if at is not None and at < len(self.rows) else None
        return "" if row is None else self.names[row[0]]

    def _kept(self, at: int) -> int:
        """The first row from `at` on that was not removed."""
        while at < len(self.rows) and self.rows[at] is None:
            at += 1
        return at

    def _after(self, at: int) -> int | None:
        """The next row, if nothing else jumps to it."""
        following = self._kept(at + 1)
        return None if any(place in self.landings for place in range(at + 1, following + 1)) else following

    def _jump(self, at: int, row: list[Operand]) -> None:
        """Redirect a jump to a jump; remove a jump to the next row."""
        if self._name(at) != "JUMP":
            return
        target = self._kept(row[1].at)
        while self._name(target) == "JUMP":
            row[1] = (self.rows[target] or row)[1]
            target = self._kept(row[1].at)
        following = self._after(at)
        if target == self._kept(at + 1):
            self.rows[at] = None
        elif self._name(target) == "RETURN":
            self.rows[at] = self.rows[target]
        elif following is not None and self._name(following) == "JUMP":
            self.rows[following] = None

    def _useless(self, at: int, row: list[Operand]) -> None:
        """Remove a row that only fills an unused register."""
        place = {"LOAD": 3, "COMPUTE": 2}.get(self._name(at))
        if place is not None and self.assembly.number(row[place]) == -1:
            self.rows[at] = None

    def _lead(self, at: int, row: list[Operand]) -> None:
        """Write a constant together with the value after it."""
        following = self._after(at)
        place = _LEADS.get(self._name(following)) if self._name(at) == "CONSTANT" else None
        found = self.rows[following] if following is not None and following < len(self.rows) else None
        if place is not None and found is not None:
            found[place : place + 2] = row[1:3]
            self.rows[at] = None

    def _bits(self, at: int, row: list[Operand]) -> None:
        """Load bits in the instruction that sets them."""
        following = self._after(at) if self._name(at) == "LOAD" else None
        found = self.rows[following] if following is not None and self._name(following) == "BITS" else None
        if found is not None and found[2] is row[3]:
            found[4:6] = row[1] + 1, row[2]
            self.rows[at] = None

    def _integers(self, at: int, row: list[Operand]) -> None:
        """Join consecutive integers of fixed width into one instruction."""
        run: list[int] = []
        place: int | None = at
        while place is not None and self._name(place) == "INTEGER":
            found = self.rows[place]
            assert found is not None
            if not found[2]:
                break
            run.append(place)
            place = self._after(place)
        if len(run) > 1:
            words = [word for each in run for word in (self.rows[each] or [])[1:5]]
            self.rows[at] = self.assembly.row("INTEGERS", self.assembly.table([len(run), *words]))
            for each in run[1:]:
                self.rows[each] = None

    def _renumbered(self) -> list[int]:
        places: list[int] = []
        kept: list[list[Operand]] = []
        for row in self.rows:
            places.append(len(kept))
            if row is not None:
                kept.append(row)
        places.append(len(kept))
        for label in self.assembly.labels:
            label.at = places[label.at]
        self.assembly.rows = kept
        return [places[entry] for entry in self.entries]
