"""Programs that write, while they are made: neighbouring constants become one instruction.

A label is a fence: no constant before it is extended after it, so a jump never skips part of a constant.
"""

from wireloom.runtime.engine.programs.assembly import Assembly as _Assembly
from wireloom.runtime.engine.programs.assembly import Label


class Assembly(_Assembly):
    """A program in the making."""

    _fence = 0  # no constant before this place may be made longer

    def place(self, label: Label) -> None:
        """The label stands here."""
        super().place(label)
        self._fence = len(self.rows)

    def jump(self, label: Label) -> None:
        """Go on elsewhere."""
        self.emit("JUMP", label)

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
