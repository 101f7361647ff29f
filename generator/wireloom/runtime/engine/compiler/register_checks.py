"""The proof that each register is filled before it is read, made before the program is finished.

While the compiler reads the value of a field, it notes the rows that do so. The proof follows each path through these
rows until it writes the register, refuses the record, or finds nil. On any other path, the register would still say
"absent", and a condition on it would be wrong without an error. So such a program is refused.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from wireloom.runtime.engine.programs.assembly import NEXT, Assembly, Label, Operand, Register, Uncovered

_NIL = ("PACK_NIL_JUMP", "PROTO_ABSENT", "JSON_NULL_JUMP", "JSON_MEMBER")  # their jump means that there is no value
_ENDS = ("RETURN", "FAIL", "PACK_NIL", "JSON_NULL")
_SWITCHED, _TARGETS = 5, {"G": 9, "?": 7}  # table lengths: the head of a switch, and tables of targets


def check(assembly: Assembly, engine: Any) -> None:
    """Raises Uncovered if some path leaves a register without its value although it is read."""
    proof = _Proof(assembly, engine)
    for register, first, last in assembly.regions:
        if register.used and not proof.fills(register, first, last):
            raise Uncovered("an expression with a field whose value the engine does not keep")


class _Proof:
    """Follows the paths of a program."""

    def __init__(self, assembly: Assembly, engine: Any) -> None:
        self.assembly, self.operands, self.writers = assembly, engine.OPERANDS, engine.WRITERS
        self.names = {number: name for name, number in assembly.opcodes.items()}

    def fills(self, register: Register, first: int, last: int) -> bool:
        """Whether each path from the first row to after the last one fills the register."""
        waiting, seen = [first], set[int]()
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if not first <= at < last:
                return False
            row = self.assembly.rows[at]
            if not self._writes(row, register) and self.names[row[0]] not in _ENDS:
                waiting.extend(self._following(at, row))
        return True

    def _writes(self, row: Sequence[Operand], register: Register) -> bool:
        return any(row[place] is register for place in self.writers.get(row[0], ()))

    def _following(self, at: int, row: Sequence[Operand]) -> Iterator[int]:
        """The rows that may follow a row, without the jumps for a missing value."""
        name = self.names[row[0]]
        yield at + 1 if row[NEXT] is None else row[NEXT].at
        if name in _NIL:
            return
        for letter, operand in zip(self.operands[row[0]], row[1:NEXT], strict=False):
            if letter == "T" and isinstance(operand, Label):
                yield operand.at
            elif letter in ("W", *_TARGETS):
                yield from self._targets(letter, operand)

    def _targets(self, letter: str, start: int) -> Iterator[int]:
        tables = self.assembly.tables
        count = _TARGETS[letter] if letter in _TARGETS else _SWITCHED + 2 * tables[start + 4]
        yield from (word.at for word in tables[start : start + count] if isinstance(word, Label))
