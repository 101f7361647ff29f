"""Programs that write, while they are made: neighbouring constants become one instruction.

A label is a fence: no constant before it is extended after it, so a jump never skips part of a constant.
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
"""Instructions that read back as what they wrote, whatever that was, where they give no row up."""


class Assembly(_Assembly):
    """A program in the making."""

    points_to_texts = False  # registers hold the sizes of texts
    certain = True  # rows are only read back where an instruction puts them in doubt
    _fence = 0  # no constant before this place may be made longer

    def __init__(self, opcodes: dict[str, int], operations: dict[str, int]) -> None:
        super().__init__(opcodes, operations)
        self.doubts: list[str] = []

    def emit(self, name: str, *operands: Operand) -> list[Operand]:
        """One more instruction; one that is not exact puts the row in doubt."""
        if self.certain and name not in _EXACT:
            self.doubt(f"the instruction {name}")
        return super().emit(name, *operands)

    def doubt(self, reason: str) -> None:
        """Rows that come here have to be read back."""
        if self.certain:
            self.doubts.append(reason)
            super().emit("DOUBT")

    def place(self, label: Label) -> None:
        """The label stands here."""
        super().place(label)
        self._fence = len(self.rows)

    def jump(self, label: Label) -> None:
        """Go on elsewhere."""
        self.emit("JUMP", label)

    def arms(self, arms: Iterable[tuple[Label, Callable[[], object]]]) -> None:
        """What is written at each label, which some instruction before leads to; all go on behind the last."""
        end = Label()
        for label, write in arms:
            self.place(label)
            write()
            self.emit("JUMP", end)
        self.place(end)

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
