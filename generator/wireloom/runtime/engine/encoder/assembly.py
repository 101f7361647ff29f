"""Writing programs under construction: neighbouring constants become one instruction.

A label is a fence: no constant before it is extended after it, so no jump skips part of a constant.
"""

from collections.abc import Callable, Iterable

from wireloom.runtime.engine.programs.assembly import Assembly as _Assembly
from wireloom.runtime.engine.programs.assembly import Label, Operand

_WORDS = """
    RETURN ENTER LOAD COMPUTE WHEN BRANCH BRANCH_IN ARITHMETIC MARK PRESENT ABSENT ONLY KINDS SWITCH JUMP FAIL
    ACCEPT CHOOSE NULL MAP DOUBT NOTHING UNIQUE AGREES AGREES_HELD CONSTANT INTEGER PUT FLOAT BOOLEAN BYTES HOLD
    PATCH CHECKSUMS REPEAT SIZE_BEGIN SIZE_END BITS BITS_MAPPED PACK_INTEGER PACK_PUT PACK_FLOAT PACK_BOOLEAN
    PACK_BYTES PACK_REPEAT PACK_MEMBERS JSON_INTEGER JSON_PUT JSON_FLOAT JSON_BOOLEAN JSON_TEXT JSON_BYTES
    JSON_RAW JSON_REPEAT JSON_OPEN JSON_CLOSE
"""
_EXACT = frozenset(_WORDS.split())
"""Instructions whose output always reads back as what they wrote, unless they give the row up."""


class Assembly(_Assembly):
    """A writing program under construction."""

    points_to_texts = False  # registers hold the sizes of texts, not their addresses
    certain = True  # rows are read back only if an instruction puts them in doubt
    _fence = 0  # no constant before this row may be extended

    def __init__(self, opcodes: dict[str, int], operations: dict[str, int]) -> None:
        super().__init__(opcodes, operations)
        self.doubts: list[str] = []

    def emit(self, name: str, *operands: Operand) -> list[Operand]:
        """Append an instruction; one that is not exact puts the row in doubt."""
        if self.certain and name not in _EXACT:
            self.doubt(f"the instruction {name}")
        return super().emit(name, *operands)

    def doubt(self, reason: str) -> None:
        """Note that the rows that come here must be read back."""
        if self.certain:
            self.doubts.append(reason)
            super().emit("DOUBT")

    def place(self, label: Label) -> None:
        """Put the label at the current position."""
        super().place(label)
        self._fence = len(self.rows)

    def jump(self, label: Label) -> None:
        """Append a jump."""
        self.emit("JUMP", label)

    def arms(self, arms: Iterable[tuple[Label, Callable[[], object]]]) -> None:
        """Emit the code at each label; all arms continue after the last."""
        end = Label()
        for label, write in arms:
            self.place(label)
            write()
            self.emit("JUMP", end)
        self.place(end)

    def constant(self, data: bytes) -> None:
        """Append bytes to the output."""
        if len(self.rows) > self._fence and self.rows[-1][0] == self.opcodes["CONSTANT"]:
            *_, start, size = self.rows.pop()[:3]
            data = bytes(self.texts[start : start + size]) + data
        symbol = self.text(data)
        self.emit("CONSTANT", symbol >> 16, symbol & 0xFFFF)

    def symbols(self) -> list[int]:
        """The numbers of all text constants."""
        return list(self._symbols.values())
