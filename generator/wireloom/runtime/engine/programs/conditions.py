"""Conditions as jumps: each comparison of a field becomes a branch, which needs no stack machine.

A condition is compiled from its outermost operator inward. Each part knows where to jump if it does not have the
wanted outcome. Null counts as false for the whole condition, and as true below a `not`; so each part has two outcomes,
although there are three truth values. Computed operands get registers of their own. A condition, or a part of one,
that branches cannot express stays an expression.
"""

from collections.abc import Callable
from typing import Any

from wireloom.runtime.engine.programs.assembly import Assembly, Label, Operand, Register
from wireloom.runtime.engine.programs.expressions import Code, Term

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
_LONGEST = 40  # the most instructions; beyond that an expression is shorter
_ARITHMETIC = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
_RESULTS = 4  # the most numbers that a condition may compute
_WIDE_RESULTS = 2  # the most 128-bit numbers that a condition may make from texts
_HALF = 64  # the bits in each of the two registers of such a number


class _Intricate(Exception):  # noqa: N818 - not an error: the condition stays an expression
    """Branches cannot express the condition."""


class Conditions:
    """Compiles conditions to branches; with `place`, parts that branches cannot express become expressions."""

    def __init__(self, assembly: Assembly, place: Callable[[Code], int] | None = None) -> None:
        self.assembly, self.place = assembly, place
        self.results = [assembly.register("int") for _ in range(_RESULTS)]
        self.wide = [assembly.register("wide", 2) for _ in range(_WIDE_RESULTS)]

    def branch(self, code: Code, otherwise: Label) -> bool:
        """Continue if the condition holds, else jump to `otherwise`; returns False, emitting nothing, if it cannot."""
        path = _Path(list(self.results), list(self.wide), evaluates=self.place is not None)
        try:
            path.follow(code.term, otherwise, wanted=True, null=False)
        except _Intricate:
            return False
        for row in path.rows:
            match row:
                case ("BRANCH" | "BRANCH_IN" as name, *operands):
                    self.assembly.emit(name, *operands)
                case ("WIDE_BRANCH" as name, relation, left, right, int(number), *labels):
                    halves = [_signed(number), _signed(number >> _HALF)]
                    self.assembly.emit(name, relation, left, right, self.assembly.table(halves), *labels)
                case ("WIDE_DECIMAL" | "WIDE_MD5" as name, *operands):
                    self.assembly.emit(name, *operands)
                case ("ARITHMETIC" as name, str(word), Register() as result, *operands):
                    self.assembly.emit(name, self.assembly.operations[word], result.read(), *operands)
                case ("WHEN" as name, Term() as term, Label() as label):
                    assert self.place is not None
                    self.assembly.emit(name, self.place(Code("bool", term)), label)
                case ("JUMP", Label() as label):
                    self.assembly.jump(label)
                case ("PLACE", Label() as label):
                    self.assembly.place(label)
                case _:
                    raise AssertionError(row)
        return True


def _signed(number: int) -> int:
    """The low 64 bits as a signed number."""
    return int.from_bytes((number & (1 << _HALF) - 1).to_bytes(8, "little"), "little", signed=True)


class _Path:
    """One condition, as rows to be emitted."""

    def __init__(self, results: list[Register], wide: list[Register], *, evaluates: bool) -> None:
        self.results, self.wide, self.evaluates = results, wide, evaluates
        self.rows: list[tuple[Any, ...]] = []

    def follow(self, term: Term, otherwise: Label, *, wanted: bool, null: bool) -> None:
        """Continue if the term equals `wanted`, with null counting as `null`; else jump to `otherwise`."""
        rows, results, wide = len(self.rows), list(self.results), list(self.wide)
        try:
            self._follow(term, otherwise, wanted=wanted, null=null)
        except _Intricate:
            if not self.evaluates or not wanted or null:
                raise
            self.rows[rows:], self.results, self.wide = [], results, wide
            self._emit("WHEN", term, otherwise)

    def _follow(self, term: Term, otherwise: Label, *, wanted: bool, null: bool) -> None:
        match term.word, term.parts:
            case "not", (part,):
                self.follow(part, otherwise, wanted=not wanted, null=not null)
            case "and" | "or" as word, (left, right):
                self._joined(word, (left, right), otherwise, wanted=wanted, null=null)
            case "if", (condition, Term("CONST") as then, Term("CONST") as other) if then.argument != other.argument:
                self.follow(condition, otherwise, wanted=wanted == bool(then.argument), null=False)
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
            case word, (left, right) if word.startswith("wide "):
                self._wide_relation(word.removeprefix("wide "), left, right, otherwise, wanted=wanted, null=null)
            case _:
                raise _Intricate

    def _known(self, otherwise: Label, *, good: bool) -> None:
        if not good:
            self._emit("JUMP", otherwise)

    def _joined(self, word: str, parts: tuple[Term, Term], otherwise: Label, *, wanted: bool, null: bool) -> None:
        """Require both parts if only that gives the wanted outcome; else either part suffices."""
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
        """Branch on membership in a list; null is in no list."""
        if wanted:
            self._emit("BRANCH_IN", self._operand(part, otherwise), table, otherwise)
            return
        after = Label()
        self._emit("BRANCH_IN", self._operand(part, after), table, after)
        self._emit("JUMP", otherwise)
        self._emit("PLACE", after)

    def _relation(  # noqa: PLR0913 - both sides of a comparison, and where it leads
        self, word: str, left: Term, right: Term, otherwise: Label, *, wanted: bool, null: bool
    ) -> None:
        if left.word in ("CONST", "NULL"):
            word, left, right = _MIRRORED[word], right, left
        if word in ("==", "!="):  # these treat null as a value
            if right.word == "NULL" and left.word == "LOAD":
                wanted = wanted == (word == "!=")
                self._compared(_ALWAYS, left.argument, 0, otherwise, wanted=wanted, null=False)
                return
            if right.word != "CONST":
                self._equality(word, left, right, otherwise, wanted=wanted)
                return
            null = word == "!="
        after = Label()
        absent = after if null == wanted else otherwise
        first = self._operand(left, absent)
        second = right.argument if right.word == "CONST" else self._operand(right, absent)
        self._compared(_RELATIONS[word], first, second, otherwise, wanted=wanted, null=null)
        self._emit("PLACE", after)

    def _wide_relation(  # noqa: PLR0913 - both sides of a comparison, and where it leads
        self, word: str, left: Term, right: Term, otherwise: Label, *, wanted: bool, null: bool
    ) -> None:
        """Like `_relation`, for 128-bit numbers."""
        if left.word in ("CONST", "NULL"):
            word, left, right = _MIRRORED[word], right, left
        if right.word == "NULL" and word not in ("==", "!="):
            self._known(otherwise, good=null == wanted)
            return
        first = self._wide_operand(left)
        if right.word == "NULL":
            self._compared(_ALWAYS, first, 0, otherwise, wanted=wanted == (word == "!="), null=False)
            return
        relation, second, number = _RELATIONS[word], None, right.argument
        if right.word != "CONST":
            if word in ("==", "!="):
                raise _Intricate
            second, number = self._wide_operand(right), 0
        elif number < 0 or number >> 2 * _HALF:  # no such number exists: the outcome is known
            relation, number = _ALWAYS if relation & (_GREATER if number < 0 else _LESS) else 0, 0
        if word in ("==", "!="):  # these treat null as a value
            null = word == "!="
        after = Label()
        relation = relation if wanted else _ALWAYS & ~relation
        absent = after if null == wanted else otherwise
        self._emit("WIDE_BRANCH", relation, first, second, number, otherwise, absent)
        self._emit("PLACE", after)

    def _wide_operand(self, term: Term) -> Register:
        """The registers of a 128-bit number."""
        match term.word, term.parts:
            case "LOAD", _:
                register = term.argument
            case "DECIMAL" | "MD5" as word, (Term("LOAD", _, text),) if self.wide:
                register = self.wide.pop(0).read()
                bits = (term.argument,) if word == "DECIMAL" else ()
                self._emit(f"WIDE_{word}", text, *bits, register)
            case _:
                raise _Intricate
        assert isinstance(register, Register)
        return register

    def _equality(self, word: str, left: Term, right: Term, otherwise: Label, *, wanted: bool) -> None:
        """Compare a computed number with a register; two nulls are equal."""
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
        """The register of a number; jumps to `absent` if it is computed from a null."""
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
        after = Label()
        operands: list[Operand] = [relation if wanted else _ALWAYS & ~relation, left, None, right]
        if isinstance(right, Register):
            operands[2:] = [right, 0]
        self._emit("BRANCH", *operands, otherwise, after if null == wanted else otherwise)
        self._emit("PLACE", after)

    def _emit(self, *row: Operand) -> None:
        self.rows.append(row)
        if len(self.rows) > _LONGEST:
            raise _Intricate
