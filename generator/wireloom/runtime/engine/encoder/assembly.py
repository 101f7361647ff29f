"""Programs that write, while they are made: constants that follow one another become one, loads nobody reads vanish."""

from collections.abc import Sequence

from wireloom.runtime.engine.assembly import Assembly as _Assembly
from wireloom.runtime.engine.assembly import Label, Operand


class Assembly(_Assembly):
    """A program in the making."""

    _fence = 0  # no constant before this place may be made longer

    def place(self, label: Label) -> None:
        """The label stands here."""
        super().place(label)
        self._fence = len(self.rows)

    def constant(self, data: bytes) -> None:
        """Write these bytes."""
        if len(self.rows) > self._fence and self.rows[-1][0] == self.opcodes["CONSTANT"]:
            *_, start, size = self.rows.pop()[:3]
            data = bytes(self.texts[start : start + size]) + data
        symbol = self.text(data)
        self.emit("CONSTANT", symbol >> 16, symbol & 0xFFFF)

    def symbols(self) -> list[int]:
        """The numbers of all texts."""
        return list(self._symbols.values())

    def tighten(self, entries: Sequence[int]) -> list[int]:
        """Drop what only fills registers that nothing reads; where the entries stand afterwards."""
        places: list[int] = []
        kept: list[list[Operand]] = []
        for row in self.rows:
            places.append(len(kept))
            if not self._useless(row):
                kept.append(row)
        places.append(len(kept))
        for label in self.labels:
            label.at = places[label.at]
        self.rows = kept
        return [places[entry] for entry in entries]

    def _useless(self, row: list[Operand]) -> bool:
        opcodes = self.opcodes
        if row[0] == opcodes["ENTER"]:
            start, first, last = self.numbers(row[1:4])
            return start < 0 and first == last
        if row[0] == opcodes["LOAD"]:
            return self.numbers(row[3:4]) == [-1]
        return row[0] == opcodes["COMPUTE"] and self.numbers(row[2:3]) == [-1]
