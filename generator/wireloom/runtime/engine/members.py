"""Members that are read one after the other: one instruction, and a table of what is read.

A member of an object or an element of an array is found, null is looked for, a struct is opened, the value read, the
struct closed. All that becomes one row of a table, and neighbours become one table, as long as nobody from elsewhere
jumps between them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wireloom.runtime.engine.assembly import NEXT, Assembly, Label, Operand

REQUIRED, NULL_TOO, ELEMENT = 1, 2, 4
"""Flags of a row."""
_STRUCTS = (8, 32)  # the bits of a row's flags from which on the structs around the value stand, plus 1
_SLOT, _FLAGS = 6, 7  # words of a row that no instruction for a value has
_VALUES = ("JSON_INTEGER", "JSON_FLOAT", "JSON_BOOLEAN", "JSON_TEXT", "JSON_BYTES", "JSON_RAW", "JSON_OPEN")

Rows = Sequence[list[Operand] | None]


@dataclass(slots=True)
class Reading:
    """A row of a table in the making."""

    places: list[int]  # the instructions that it stands for
    row: list[Operand]
    behind: int  # the instruction behind them
    leaving: list[Label]  # where they jump


class Members:
    """Finds members in the rows of a program."""

    def __init__(self, assembly: Assembly, rows: Rows, entries: Sequence[int]) -> None:
        self.assembly, self.rows = assembly, rows
        self.names = {number: name for name, number in assembly.opcodes.items()}
        self.landings = Counter(self._kept(label.at) for label in self._labels())
        self.landings.update(self._kept(entry) for entry in entries)

    def runs(self) -> Iterator[tuple[list[int], list[Operand]]]:
        """The instructions that become one, and that one."""
        at = 0
        while at < len(self.rows):
            run = self._run(at)
            if run:
                words = [len(run), *(word for reading in run for word in reading.row)]
                yield [place for reading in run for place in reading.places], self._fields(words)
            at = run[-1].behind if run else at + 1

    def _fields(self, words: Sequence[Operand]) -> list[Operand]:
        return self.assembly.row("JSON_FIELDS", self.assembly.table(words))

    def _labels(self) -> Iterator[Label]:
        for row in self.rows:
            yield from (operand for operand in row or () if isinstance(operand, Label))
        yield from (word for word in self.assembly.tables if isinstance(word, Label))

    def _kept(self, at: int) -> int:
        while at < len(self.rows) and self.rows[at] is None:
            at += 1
        return at

    def _run(self, at: int) -> list[Reading]:
        """The readings that begin at a row and lead to one another alone."""
        run: list[Reading] = []
        own: Counter[int] = Counter()
        while (reading := self._reading(at)) is not None and (not run or self.landings[at] == own[at]):
            run.append(reading)
            own.update(self._kept(label.at) for label in reading.leaving)
            at = reading.behind
        return run

    def _reading(self, at: int) -> Reading | None:
        """What is read from a row on, if it is the value of a member or an element."""
        places, structs, flags, behind = [at], list[int](), self._found(at), self._kept(at + 1)
        if flags is None:
            return None
        leaving = [] if flags & ELEMENT else [self._row(at)[2]]
        if self._name(behind) == "JSON_NULL_JUMP":
            leaving.append(self._row(behind)[1])
            flags |= NULL_TOO
            behind = self._behind(places, behind)
        while self._name(behind) == "BEGIN" and len(structs) < len(_STRUCTS):
            structs.append(self.assembly.number(self._row(behind)[1]))
            behind = self._behind(places, behind)
        if self._name(behind) not in _VALUES:
            return None
        row = [*self._row(behind)[:NEXT], 0]
        behind = self._behind(places, behind)
        for struct in reversed(structs):
            if self._name(behind) != "FINISH" or self.assembly.number(self._row(behind)[1]) != struct:
                return None
            behind = self._behind(places, behind)
        if not self._is_straight(places) or not self._lead(leaving[flags & REQUIRED :], behind):
            return None
        row[_SLOT] = self._row(at)[1]
        row[_FLAGS] = flags | sum(struct + 1 << bits for struct, bits in zip(structs, _STRUCTS, strict=False))
        return Reading(places, row, behind, leaving)

    def _found(self, at: int) -> int | None:
        """The flags of a member or an element that is looked for; None: it is none."""
        match self._name(at):
            case "JSON_MEMBER":
                return REQUIRED if self._row(at)[3] else 0
            case "JSON_ELEMENT":
                return ELEMENT
            case _:
                return None

    def _behind(self, places: list[int], at: int) -> int:
        """The instruction behind one, which is of the reading."""
        places.append(at)
        return self._kept(at + 1)

    def _is_straight(self, places: Sequence[int]) -> bool:
        """Whether nobody jumps between some instructions, and each goes on to the next."""
        return not any(self.landings[place] for place in places[1:]) and all(
            self._row(place)[NEXT] is None for place in places
        )

    def _lead(self, labels: Sequence[Label], to: int) -> bool:
        """Whether all jumps are to one instruction; the first of a member that must be there is never made."""
        return all(self._kept(label.at) == to for label in labels)

    def _row(self, at: int) -> list[Operand]:
        row = self.rows[at]
        assert row is not None
        return row

    def _name(self, at: int) -> str:
        row = self.rows[at] if at < len(self.rows) else None
        return "" if row is None else self.names[row[0]]
