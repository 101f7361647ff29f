"""Programs while they are made: instructions with names in place of numbers.

Parts of a compiler emit rows, whose operands are registers, labels and columns. `Assembly` gives them numbers when the
program is finished. A register that nothing reads is never written. Bodies of lists and of tried alternatives are
assembled after the code that calls them, so calls lead forward, which is what the validator demands.
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
    """What this engine does not do: the construct parser reads the format, or it under these parameters."""


class Encodings(dict[str, Any]):
    """What compiles each encoding, by name; of another one the construct parser does the work."""

    def __missing__(self, name: str) -> Any:
        raise Uncovered(f"the encoding {name}")


@dataclass(eq=False, slots=True)
class Register:
    """A place for the value of a field.

    `kind` is int, bool, text (of the format), bytes (the size, and where they stand), list (the count), position,
    made (of what expressions make: what tells where it stands), mixed (a value is there), null (there is never one), or
    several (nothing is known of it). `named`, of bytes, is the register of the text of the format that they are, where
    there is one for that.
    """

    kind: str
    words: int = 1
    used: bool = False
    index: int = -1
    named: "Register | None" = (
        None  # of bytes: the register, if there is one, of the number that the format has for them
    )
    coded: bool = False  # of bytes: they are those of a column, not those that expressions know

    def read(self) -> "Register":
        """The register, which somebody reads."""
        self.used = True
        return self


@dataclass(eq=False, slots=True)
class Label:
    """A place in the program."""

    at: int = -1


@dataclass(frozen=True, slots=True)
class Edge:
    """The index of the first register that comes after the first `count`."""

    count: int


Operand = Any  # a number, Register, Label, Edge or None


@dataclass(slots=True)
class Assembly:
    """A program in the making."""

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
    regions: list[tuple[Register, int, int]] = field(default_factory=list)  # rows that give a register a value
    points_to_texts: ClassVar[bool] = True  # registers of texts say where they stand
    decimals: frozenset[int] = frozenset()  # columns of numbers that may be beyond 64 bits
    deep: int = 0  # the messages of protobuf in which it stands
    _bodies: list[Callable[[], None]] = field(default_factory=list)

    def emit(self, name: str, *operands: Operand) -> list[Operand]:
        """One more instruction."""
        self.rows.append(self.row(name, *operands))
        return self.rows[-1]

    def row(self, name: str, *operands: Operand) -> list[Operand]:
        """An instruction that stands nowhere yet; what comes next is open."""
        return [self.opcodes[name], *operands, *([0] * (NEXT - 1 - len(operands))), None]

    def jump(self, label: Label) -> None:
        """Go on elsewhere."""
        self.emit("JUMP")[NEXT] = label

    def register(self, kind: str, words: int = 1) -> Register:
        """One more register."""
        self.registers.append(Register(kind, words))
        return self.registers[-1]

    def place(self, label: Label) -> None:
        """The label stands here."""
        label.at = len(self.rows)
        self.labels.append(label)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is assembled within reads a message that is a field of another, and so do its bodies."""
        self.deep += 1
        yield
        self.deep -= 1

    def later(self, body: Callable[[], object], label: Label | None = None) -> Label:
        """A body to be assembled after the code at hand, and its label."""
        label, deep = label or Label(), self.deep

        def assemble() -> None:
            self.deep = deep
            self.place(label)
            body()
            self.emit("RETURN", None)

        self._bodies.append(assemble)
        return label

    def complete(self) -> None:
        """Assemble the bodies that wait."""
        while self._bodies:
            self._bodies.pop(0)()
        self.deep = 0

    def slot(self) -> int:
        """One more slot for what a scan of a message finds."""
        self.slots += 1
        return self.slots - 1

    def code(self, name: str) -> int:
        """The number of an error code."""
        return self.codes.setdefault(name, BAD_SIZE + len(self.codes) - 1)

    def refusal(self, name: str) -> int:
        """The number of a code that a check reports; those that the engine itself reports are the parser's to say."""
        number = self.code(name)
        return number if number >= FIRST_CODE else IRREGULAR

    def text(self, data: bytes) -> int:
        """Where a text of the format stands and how long it is, in one number: equal texts have equal numbers."""
        if len(data) >= _TEXT_LIMIT:
            raise Uncovered("a text constant of 64 KiB or more")
        if data not in self._symbols:
            self._symbols[data] = len(self.texts) << 16 | len(data)
            self.texts += data
        return self._symbols[data]

    def table(self, words: Sequence[Operand]) -> int:
        """Where a table of these words stands."""
        self.tables.extend(words)
        return len(self.tables) - len(words)

    # --- numbers ---

    def number_registers(self) -> int:
        """Give an index to each register that is read; how many words they take."""
        for register in self.registers:
            if register.used:
                register.index = self.register_count
                self.register_count += register.words
        return max(self.register_count, 1)

    def extra_register(self) -> int:
        """The index of one more register, after those that are numbered."""
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
