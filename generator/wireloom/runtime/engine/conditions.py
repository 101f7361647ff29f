"""Conditions as jumps: each comparison of a field becomes one branch, and no expression is evaluated.

A condition is followed from its outermost word inward, always with one question: where to go on when it does not come
out as wanted. Null comes out as false where the whole is asked for, as true below a `not`; so every part of a condition
has two outcomes, though there are three values. What is computed goes to registers of the conditions' own. Where that
does not suffice, the condition stays an expression.
"""

from typing import Any

from wireloom.runtime.engine.assembly import Assembly, Label, Operand, Register
from wireloom.runtime.engine.expressions import Code, Term

_LESS, _EQUAL, _GREATER = 1, 2, 4
_RELATIONS = {
    "<": _LESS,
    "<=": _LESS | _EQUAL,
    "==": _EQUAL,
    "!=": _LESS | _GREATER,
    ">=": _GREATER | _EQUAL,
    ">": _GREATER,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_ALWAYS = _LESS | _EQUAL | _GREATER
_LONGEST = 40  # instructions; beyond that an expression is shorter
_ARITHMETIC = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
_RESULTS = 4  # numbers that a condition may have computed


class _Intricate(Exception):  # noqa: N818 - not an error: the condition stays an expression
    """The condition does what branches cannot."""


class Conditions:
    """Makes the branches of conditions."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.results = [assembly.register("int") for _ in range(_RESULTS)]

    def branch(self, code: Code, otherwise: Label) -> bool:
        """Go on where the condition holds, else to `otherwise`; False, and nothing emitted, where that cannot be."""
        path = _Path(list(self.results))
        try:
            path.follow(code.term, otherwise, wanted=True, null=False)
        except _Intricate:
            return False
        for row in path.rows:
            match row:
                case ("BRANCH" | "BRANCH_IN" as name, *operands):
                    self.assembly.emit(name, *operands)
                case ("ARITHMETIC" as name, str(word), Register() as result, *operands):
                    self.assembly.emit(name, self.assembly.operations[word], result.read(), *operands)
                case ("JUMP", Label() as label):
                    self.assembly.jump(label)
                case ("PLACE", Label() as label):
                    self.assembly.place(label)
                case _:
                    raise AssertionError(row)
        return True


class _Path:
    """One condition, as rows to be emitted."""

    def __init__(self, results: list[Register]) -> None:
        self.results = results
        self.rows: list[tuple[Any, ...]] = []

    def follow(self, term: Term, otherwise: Label, *, wanted: bool, null: bool) -> None:
        """Go on where the term comes out as `wanted`, null counting as `null`; else to `otherwise`."""
        match term.word, term.parts:
            case "not", (part,):
                self.follow(part, otherwise, wanted=not wanted, null=not null)
            case "and" | "or" as word, (left, right):
                self._joined(word, (left, right), otherwise, wanted=wanted, null=null)
            case "if", (condition, then, other):
                no, end = Label(), Label()
                self.follow(condition, no, wanted=True, null=False)
                self.follow(then, otherwise, wanted=wanted, null=null)
                self._emit("JUMP", end)
                self._emit("PLACE", no)
                self.follow(other, otherwise, wanted=wanted, null=null)
                self._emit("PLACE", end)
            case "CONST", _:
                self._known(otherwise, good=bool(term.argument) == wanted)
            case "NULL", _:
                self._known(otherwise, good=null == wanted)
            case "LOAD", _:
                self._compared(_LESS | _GREATER, term.argument, 0, otherwise, wanted=wanted, null=null)
            case "present", (Term("LOAD", _, register),):
                self._compared(_ALWAYS, register, 0, otherwise, wanted=wanted, null=False)
            case "in", (part,):
                self._member(part, term.argument, otherwise, wanted=wanted)
            case word, (left, right) if word in _RELATIONS:
                self._relation(word, left, right, otherwise, wanted=wanted, null=null)
            case _:
                raise _Intricate

    def _known(self, otherwise: Label, *, good: bool) -> None:
        if not good:
            self._emit("JUMP", otherwise)

    def _joined(self, word: str, parts: tuple[Term, Term], otherwise: Label, *, wanted: bool, null: bool) -> None:
        """Both parts must come out as wanted where only that makes the whole come out so, else either suffices."""
        left, right = parts
        if wanted == (word == "and"):
            self.follow(left, otherwise, wanted=wanted, null=null)
            self.follow(right, otherwise, wanted=wanted, null=null)
            return
        end = Label()
        self.follow(left, end, wanted=not wanted, null=null)
        self.follow(right, otherwise, wanted=wanted, null=null)
        self._emit("PLACE", end)

    def _member(self, part: Term, table: int, otherwise: Label, *, wanted: bool) -> None:
        """Null is in no list."""
        if wanted:
            self._emit("BRANCH_IN", self._operand(part, otherwise), table, otherwise)
            return
        behind = Label()
        self._emit("BRANCH_IN", self._operand(part, behind), table, behind)
        self._emit("JUMP", otherwise)
        self._emit("PLACE", behind)

    def _relation(  # noqa: PLR0913 - both sides of a comparison, and where it leads
        self, word: str, left: Term, right: Term, otherwise: Label, *, wanted: bool, null: bool
    ) -> None:
        if left.word in ("CONST", "NULL"):
            word, left, right = _MIRRORED[word], right, left
        if word in ("==", "!="):  # these take null for a value
            if right.word == "NULL" and left.word == "LOAD":
                wanted = wanted == (word == "!=")
                self._compared(_ALWAYS, left.argument, 0, otherwise, wanted=wanted, null=False)
                return
            if right.word != "CONST":
                self._equality(word, left, right, otherwise, wanted=wanted)
                return
            null = word == "!="
        behind = Label()
        absent = behind if null == wanted else otherwise
        first = self._operand(left, absent)
        second = right.argument if right.word == "CONST" else self._operand(right, absent)
        self._compared(_RELATIONS[word], first, second, otherwise, wanted=wanted, null=null)
        self._emit("PLACE", behind)

    def _equality(self, word: str, left: Term, right: Term, otherwise: Label, *, wanted: bool) -> None:
        """A number that is computed, and one that is there or not: two that are absent are equal."""
        if left.word == "LOAD":
            left, right = right, left
        if left.word not in _ARITHMETIC or right.word != "LOAD":
            raise _Intricate
        absent, end = Label(), Label()
        first = self._operand(left, absent)
        self._compared(_RELATIONS[word], first, right.argument, otherwise, wanted=wanted, null=word == "!=")
        self._emit("JUMP", end)
        self._emit("PLACE", absent)
        wanted = wanted == (word == "!=")
        self._compared(_ALWAYS, right.argument, 0, otherwise, wanted=wanted, null=False)
        self._emit("PLACE", end)

    def _operand(self, term: Term, absent: Label) -> Register:
        """The register of a number; where it is computed from one that is absent, to `absent`."""
        match term.word, term.parts:
            case "LOAD", _:
                register = term.argument
            case word, (left, right) if word in _ARITHMETIC:
                first = self._operand(left, absent)
                operands = (None, right.argument) if right.word == "CONST" else (self._operand(right, absent), 0)
                if not self.results:
                    raise _Intricate
                register = self.results.pop(0)
                self._emit("ARITHMETIC", word, register, first, *operands, absent)
            case _:
                raise _Intricate
        assert isinstance(register, Register)
        return register

    def _compared(  # noqa: PLR0913 - a branch has so many sides
        self, relation: int, left: Register, right: Register | int, otherwise: Label, *, wanted: bool, null: bool
    ) -> None:
        behind = Label()
        operands: list[Operand] = [relation if wanted else _ALWAYS & ~relation, left, None, right]
        if isinstance(right, Register):
            operands[2:] = [right, 0]
        self._emit("BRANCH", *operands, otherwise, behind if null == wanted else otherwise)
        self._emit("PLACE", behind)

    def _emit(self, *row: Operand) -> None:
        self.rows.append(row)
        if len(self.rows) > _LONGEST:
            raise _Intricate
