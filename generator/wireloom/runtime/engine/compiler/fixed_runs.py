"""Runs of numbers at fixed distances: one check that all bytes are there, then one table of loads.

A run becomes FIXED, followed by the checks of the numbers that it loads. The single instructions follow: if there are
too few bytes, FIXED jumps to them, and they report what is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from wireloom.runtime.engine.programs.assembly import Assembly, Operand, Register
from wireloom.runtime.engine.programs.expressions import HELD

_WORTHWHILE = 4  # the fewest loads of a run
_MAPPED, _WHOLE = 3, 64  # the form of bits with `values`; a width that may exceed 63 bits
_SHIFTS = {1: 56, 2: 48, 4: 32, 8: 0}  # the right shift of an eight-byte load, by width


@dataclass(slots=True)
class Run:
    """A run under construction: the tables of FIXED, and the instructions that follow it."""

    assembly: Assembly
    big: int | None = None
    size: int = 0
    loads: int = 0
    columns: list[list[Operand]] = field(default_factory=list)  # offset, shift, signed, column
    registers: list[list[Operand]] = field(default_factory=list)  # offset, shift, signed, register
    constants: list[list[Operand]] = field(default_factory=list)  # offset, shift, signed, value, code
    bits: list[list[Operand]] = field(default_factory=list)  # offset, shift, lowest, width, form, register, column
    bytes: list[list[Operand]] = field(default_factory=list)  # offset, size, column
    after: list[list[Operand]] = field(default_factory=list)
    _number: list[Operand] | None = None  # the load of the last value
    _register: Operand = None

    def takes(self, name: str, row: list[Operand]) -> bool:
        """Add an instruction to the run, if it can be part of one."""
        match name:
            case "INTEGER":
                return self._integer(*row[1:6])
            case "BYTES":
                return self._bytes(*row[1:6])
            case "CONSTANT" if self._number is not None and not self.after:
                self.constants.append([*self._number, *row[1:3]])
                return True
            case "BITS" if self._number is not None and row[2] < _MAPPED and (row[2] != 1 or row[1] & 0xFF < _WHOLE):
                offset, shift, _ = self._number
                self.bits.append([offset, shift, row[1] >> 8, row[1] & 0xFF, row[2], row[5], row[6]])
                return True
            case "CONSTANT" | "BITS" | "MAPPING" | "RANGE" if self._number is not None:
                self.after += [self._value(), row]
                return True
            case "COMPUTE" if not self._uses_position(row[1]):
                self.after.append(row)
                return True
            case _:
                return False

    def _integer(self, size: int, signed: int, big: int, register: Operand, column: Operand) -> bool:
        if size not in _SHIFTS or (size == 8 and not signed) or self.big not in (None, big):
            return False
        if self.assembly.number(column) in self.assembly.decimals:
            return False
        self.big, self._register = big, None
        self._number = [self.size, _SHIFTS[size], signed]
        if self.assembly.number(column) >= 0:
            self.columns.append([*self._number, column])
        if self.assembly.number(register) >= 0:
            self.registers.append([*self._number, register])
            self._register = register
        self.size += size
        self.loads += 1
        return True

    def _bytes(self, form: int, size: int, text: int, register: Operand, column: Operand) -> bool:
        if form != 1 or size > 1 << 16 or text or self.assembly.number(register) >= 0:
            return False
        if self.assembly.number(column) >= 0:
            self.bytes.append([self.size, size, column])
        self.size += size
        self._number = None
        return True

    def _value(self) -> list[Operand]:
        """The instruction that makes the last number loaded the machine's last value again."""
        assert self._number is not None
        if self._register is None:
            self._register = Register("int", used=True, index=self.assembly.extra_register())
            self.registers.append([*self._number, self._register])
        return self.assembly.row("VALUE", self._register)

    def _uses_position(self, start: int) -> bool:
        """Whether an expression uses the current position."""
        words, end = self.assembly.expressions, self.assembly.operations["END"]
        while words[start] != end:
            if words[start] == self.assembly.operations["HERE"] or words[start] >= HELD["HERE"]:
                return True
            start += 2
        return False

    def rows(self, otherwise: Operand) -> list[list[Operand]]:
        """FIXED and the instructions after it; empty if the run is too short."""
        if self.loads < _WORTHWHILE:
            return []
        parts = (self.columns, self.registers, self.constants, self.bits, self.bytes)
        words = [self.big, *map(len, parts), *(word for part in parts for entry in part for word in entry)]
        table = self.assembly.table(words)
        return [self.assembly.row("FIXED", table, self.size, otherwise), *self.after]


def longest(assembly: Assembly, names: Sequence[str], rows: Sequence[list[Operand]]) -> tuple[int, Run]:
    """The run that the first rows form, and how many rows it takes."""
    run = Run(assembly)
    for count, (name, row) in enumerate(zip(names, rows, strict=True)):
        if not run.takes(name, row):
            return count, run
    return len(rows), run
