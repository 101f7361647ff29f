"""Programs under construction: instructions whose operands are objects instead of numbers.

Parts of a compiler emit rows, whose operands are registers, labels and columns. `Assembly` numbers them when the
program is finished. A register that nothing reads is never written. Bodies of lists and of tried alternatives are
assembled after the code that calls them, so calls lead forward, as the validator requires.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

IRREGULAR = 1
TRUNCATED = 2
FIRST_CODE = 5
BAD_SIZE = 5
WIDTH = 8
NEXT = 7
_TEXT_LIMIT = 1 << 16


class Uncovered(Exception):  # noqa: N818 - not an error: the construct parser does the work
    """The engine cannot compile something; construct serves the format, or at least this request."""


class Encodings(dict[str, Any]):
    """The compilers of encodings, by name; an unknown one raises Uncovered."""

    def __missing__(self, name: str) -> Any:
        raise Uncovered(f"the encoding {name}")


@dataclass(eq=False, slots=True)
class Register:
    """A register for the value of a field.

    `kind` is the kind of value: int, bool, text (a constant of the format), bytes (size and address), list (the count),
    position, made (the address of a computed text), mixed (only whether the value is present), null (never present), or
    several (unknown). For bytes, `named` is the register, if any, that tells which constant text they equal.
    """

    kind: str
    words: int = 1
    used: bool = False
    index: int = -1
    named: "Register | None" = None
    coded: bool = False  # for bytes: holds a column's bytes in its charset, which expressions do not see

    def read(self) -> "Register":
        """Mark the register as used, and return it."""
        self.used = True
        return self


@dataclass(eq=False, slots=True)
class Label:
    """A position in the program."""

    at: int = -1


@dataclass(frozen=True, slots=True)
class Edge:
    """The index of the first register after the first `count`."""

    count: int


Operand = Any  # a number, Register, Label, Edge or None


@dataclass(slots=True)
class Assembly:
    """A program under construction."""

    opcodes: dict[str, int]
    operations: dict[str, int]
    rows: list[list[Operand]] = field(default_factory=list)
    expressions: list[Operand] = field(default_factory=list)
    tables: list[Operand] = field(default_factory=list)
    texts: bytearray = field(default_factory=bytearray)
    registers: list[Register] = field(default_factory=list)
    register_count: int = 0
    slots: int = 0
    codes: dict[str, int] = field(default_factory=lambda: {"truncated": TRUNCATED, "bad_size": BAD_SIZE})
    _symbols: dict[bytes, int] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    regions: list[tuple[Register, int, int]] = field(default_factory=list)  # the rows that fill a register
    points_to_texts: ClassVar[bool] = True  # whether registers of texts hold their addresses
    decimals: frozenset[int] = frozenset()  # columns of numbers that may be beyond 64 bits
    deep: int = 0  # the number of enclosing protobuf messages
    _bodies: list[Callable[[], None]] = field(default_factory=list)

    def emit(self, name: str, *operands: Operand) -> list[Operand]:
        """Append an instruction."""
        self.rows.append(self.row(name, *operands))
        return self.rows[-1]

    def row(self, name: str, *operands: Operand) -> list[Operand]:
        """Make an instruction without appending it; its successor is open."""
        return [self.opcodes[name], *operands, *([0] * (NEXT - 1 - len(operands))), None]

    def jump(self, label: Label) -> None:
        """Append a jump."""
        self.emit("JUMP")[NEXT] = label

    def register(self, kind: str, words: int = 1) -> Register:
        """Make a register."""
        self.registers.append(Register(kind, words))
        return self.registers[-1]

    def place(self, label: Label) -> None:
        """Put the label at the current position."""
        label.at = len(self.rows)
        self.labels.append(label)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """The code assembled in this context, and its bodies, read a message inside another."""
        self.deep += 1
        yield
        self.deep -= 1

    def later(self, body: Callable[[], object], label: Label | None = None) -> Label:
        """Assemble `body` after the current code; returns its label."""
        label, deep = label or Label(), self.deep

        def assemble() -> None:
            self.deep = deep
            self.place(label)
            body()
            self.emit("RETURN", None)

        self._bodies.append(assemble)
        return label

    def complete(self) -> None:
        """Assemble the pending bodies."""
        while self._bodies:
            self._bodies.pop(0)()
        self.deep = 0

    def slot(self) -> int:
        """Make a slot for a value that a scan finds."""
        self.slots += 1
        return self.slots - 1

    def code(self, name: str) -> int:
        """The number of an error code."""
        return self.codes.setdefault(name, BAD_SIZE + len(self.codes) - 1)

    def refusal(self, name: str) -> int:
        """The number of a code that a check reports; codes that the engine itself uses are left to the parser."""
        number = self.code(name)
        return number if number >= FIRST_CODE else IRREGULAR

    def text(self, data: bytes) -> int:
        """The offset and length of a text constant, in one number; equal texts have equal numbers."""
        if len(data) >= _TEXT_LIMIT:
            raise Uncovered("a text constant of 64 KiB or more")
        if data not in self._symbols:
            self._symbols[data] = len(self.texts) << 16 | len(data)
            self.texts += data
        return self._symbols[data]

    def table(self, words: Sequence[Operand]) -> int:
        """Append a table; returns its address."""
        self.tables.extend(words)
        return len(self.tables) - len(words)

    # --- numbers ---

    def number_registers(self) -> int:
        """Number the registers that are read; returns how many words they take."""
        for register in self.registers:
            if register.used:
                register.index = self.register_count
                self.register_count += register.words
        return max(self.register_count, 1)

    def extra_register(self) -> int:
        """Make one more register after they are numbered; returns its index."""
        self.register_count += 1
        return self.register_count - 1

    def numbers(self, operands: Sequence[Operand]) -> list[int]:
        """Operands as numbers."""
        return [self.number(operand) for operand in operands]

    def number(self, operand: Operand) -> int:
        """An operand as a number."""
        match operand:
            case None:
                return -1
            case Register():
                return operand.index
            case Label():
                return operand.at
            case Edge(count):
                return sum(register.words for register in self.registers[:count] if register.used)
            case _:
                return int(operand)
